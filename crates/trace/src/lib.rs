//! Recorded runs: what the recorder writes and prediction reads.
//!
//! A trace is one run of a program, as each of its threads saw it: every value that came into the thread from outside
//! of it, and the order of the synchronisation steps. The recorder (`leno-record`) runs the program natively and writes
//! the file; the engine (`leno-predict`) walks each thread's path again from the records. Both need the same two
//! things, which are here:
//!
//! | file | what |
//! |---|---|
//! | `file` | the trace file: header, chunks, checksums, and what is left of a damaged one |
//! | `record` | the records of a thread, and how they are decoded |
//! | `private` | which memory only its own thread accesses, so that accesses to it need no records |
//!
//! ```
//! use leno_trace::{Trace, TraceError};
//!
//! let (header, _) = leno_trace::header(b"how the program was built");
//! assert_eq!(Trace::read(&header)?.description, b"how the program was built");
//! assert_eq!(Trace::read(b"anything else").unwrap_err(), TraceError::NotATrace);
//! # Ok::<(), TraceError>(())
//! ```

mod file;
mod outside;
mod private;
mod record;

pub use file::{MAGIC, Trace, TraceError, VERSION, checksum, header};
pub use outside::Communication;
pub use private::{Callbacks, ThreadPrivate, Unrecorded, errno_object};
pub use record::{LOAD_TABLE_BYTES, Record, Records, RecordsEnd};

leno_ir::index_type!(
    /// A thread of the recorded run: its number in the order of creation. The main thread is 0.
    ThreadIndex,
    "T"
);

impl ThreadIndex {
    pub const MAIN: ThreadIndex = ThreadIndex(0);
}
