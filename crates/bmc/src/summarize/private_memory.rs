//! Memory that only one thread uses: it stays in the thread's symbolic state and makes no events.

use crate::skeleton::layout::InstanceId;
use leno_logic::term::Term;
use leno_symbolic::cells::Cells;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The private memory of a thread at some place.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub objects: FxHashMap<InstanceId, Rc<Cells>>,
    /// The condition under which an object's life has ended; those that are not here live.
    pub dead: Rc<BTreeMap<InstanceId, Term>>,
}
