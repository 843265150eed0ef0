//! What generated programs promise.

mod native;
