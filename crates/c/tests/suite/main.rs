//! From C text to the representation: each pass by itself, and against the machine's own compiler.

mod hostile;
mod layout;
mod library;
mod lower;
mod models;
mod parse;
mod preprocess;
mod tree;
