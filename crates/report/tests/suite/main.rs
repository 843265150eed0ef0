//! Results as files.

mod text;
mod witness_file;
