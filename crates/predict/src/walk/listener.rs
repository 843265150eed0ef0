//! What the walk reports: the accesses and synchronisation steps of each thread, in the thread's order.
//!
//! Two listeners exist. The first pass ([`SharingPass`](crate::walk::sharing_pass::SharingPass)) only finds out which
//! memory threads share; the second ([`EventBuilder`](crate::program::builder::EventBuilder)) makes the events of the
//! concurrent trace program. Steps that are events whatever memory is shared are reported as the [`Kind`] of that
//! event; accesses are not, since only the listener knows whether they become events.

use crate::program::event::{Choice, Kind};
use crate::walk::concolic::ConcolicValue;
use crate::walk::objects::InstanceId;
use leno_ir::interp::ViolationKind;
use leno_ir::program::{BlockId, Order, Place, Span};
use leno_logic::term::{Term, Terms};
use leno_trace::ThreadIndex;

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub thread: ThreadIndex,
    pub place: Place,
    pub span: Span,
    /// On the recorded clock.
    pub clock: u64,
    /// How many schedule points the thread has passed.
    pub point: u32,
}

/// A memory location, by the object it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    pub instance: InstanceId,
    pub offset: u64,
}

/// The bytes that one access reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct MemoryAccess {
    pub at: Location,
    pub bytes: u32,
    pub atomic: bool,
}

/// Where a region of a thread's path begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boundary {
    /// An atomic section, which no other thread interrupts.
    BeginSection,
    EndSection,
    /// A block that is marked as atomic in the program: whether it is has to be checked.
    BeginBlock,
    EndBlock,
}

/// A property that may be violated at some position.
#[derive(Clone, Debug)]
pub struct PossibleViolation {
    pub kind: ViolationKind,
    /// Where the violation is, which may be on a branch that was not taken.
    pub span: Span,
    pub message: String,
    /// Whether the thread makes a step there that it did not make in the recorded run, and that others could notice.
    pub is_beyond_path: bool,
}

/// An access of a library function, and the contents of the memory, if they were kept.
#[derive(Clone, Debug)]
pub struct LibraryAccess {
    pub access: MemoryAccess,
    pub writes: bool,
    pub contents: Option<Vec<u8>>,
}

/// Why some reorderings are not looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LeftOut {
    /// A branch would be decided in another way.
    Branch,
    /// A thread had not ended when the run was over.
    Unfinished,
    /// An address would be another one.
    Address,
    /// Floating-point arithmetic would compute with other values.
    Float,
    /// A function that is not part of the program would get other values.
    Argument,
    /// It is not known what a function accesses.
    Unknown,
    /// Calls by which threads may wait for each other keep their order.
    OutsideOrder,
}

/// What a step does to the counter of a synchronisation object.
pub struct CounterUpdate {
    /// What has to hold of the counter for the step to be possible.
    pub guard: Option<Term>,
    pub new: Option<Term>,
    /// When it is written; always, if there is no condition.
    pub condition: Option<Term>,
}

/// Is told what threads do, in the order of each thread.
pub trait Listener {
    /// The value of a load. `recorded` is the one that it returned in the recorded run.
    fn load(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, recorded: u128) -> ConcolicValue;
    fn store(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, value: ConcolicValue);
    /// The read of an atomic read-modify-write.
    fn update_load(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, recorded: u128) -> ConcolicValue;
    /// The write of an atomic read-modify-write, which happens if `condition` (1 bit) holds.
    fn update_store(
        &mut self,
        terms: &mut Terms,
        at: &Position,
        access: MemoryAccess,
        condition: ConcolicValue,
        value: ConcolicValue,
    );
    /// An atomic update of the counter of a synchronisation object. Gives the value before it, if it is symbolic.
    fn update_counter(
        &mut self,
        terms: &mut Terms,
        at: &Position,
        counter: Location,
        update: &mut dyn FnMut(&mut Terms, Term) -> CounterUpdate,
    ) -> Option<Term>;
    /// The accesses of a library function, all at once. Gives what holds if it read what it read in the recorded run.
    fn library_call(&mut self, terms: &mut Terms, at: &Position, accesses: &[LibraryAccess]) -> Vec<Term>;
    /// A step on a synchronisation object: what it is to others who access the same bytes.
    fn object(&mut self, terms: &mut Terms, at: &Position, access: MemoryAccess, makes: bool);
    /// The contents of memory of one thread alone. `recorded` are those of the recorded run.
    fn private_contents(&mut self, terms: &mut Terms, at: Location, bytes: u32, recorded: u128) -> ConcolicValue;
    /// What holds if memory that threads do not share has its recorded contents.
    fn private_pins(&mut self, terms: &mut Terms, at: Location, bytes: u64) -> Vec<Term>;
    /// Something that another order may change.
    fn choice(&mut self, terms: &mut Terms, recorded: bool) -> Choice;
    /// The thread continues on the recorded path only if this holds.
    fn assume(&mut self, terms: &mut Terms, at: &Position, condition: Term);
    /// The thread goes on to `other`, where it did not go in the recorded run, if the condition holds.
    fn untaken_branch(&mut self, terms: &mut Terms, at: &Position, other: BlockId, condition: Term);
    /// The property is violated here if `bad` holds.
    fn check(&mut self, terms: &mut Terms, at: &Position, bad: Term, violation: PossibleViolation);
    /// A step that is an event, and no access.
    fn event(&mut self, terms: &mut Terms, at: &Position, kind: Kind);
    fn fence(&mut self, at: &Position, order: Order);
    fn boundary(&mut self, at: &Position, boundary: Boundary);
    /// A new thread-private object, in memory that another one may have used.
    fn new_private_object(&mut self, at: Location, bytes: u64);
}
