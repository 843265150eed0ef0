//! How large programs are, and what is in them.
//!
//! A program that uses everything at once has too many states to be searched, so each one uses a few features only,
//! chosen by its seed among those that are allowed.

/// Something that programs may contain, beyond assignments, branches and assertions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Feature {
    Arrays,
    Pointers,
    Structs,
    Heap,
    Mutexes,
    /// Locks taken with `trylock`, never given back, or given back by those who do not hold them.
    OddLocking,
    Conditions,
    Atomics,
    Semaphores,
    ReadWriteLocks,
    Barriers,
    /// `__VERIFIER_atomic_begin` and `__VERIFIER_atomic_end`.
    Sections,
    /// Steps that may wait inside of atomic sections. (Their meaning is Leno's; no compiled program behaves so.)
    WaitingSections,
    Nondeterminism,
    Assumptions,
    Loops,
    Calls,
    /// Threads that create threads, are never joined, are joined by others, are created in a loop or given an argument.
    OddThreads,
    /// `return` before the end: of a thread, or of `main`, which ends the process.
    Leaving,
    Division,
    /// Loops that wait for another thread. A program with them need not end.
    Awaiting,
    // What follows is not among the usual ones, so that the programs of all seeds stay as they are.
    /// Shared floats.
    Floats,
    /// Calls of the C library on shared text.
    Text,
    /// Local variables of inner blocks whose addresses leave the block.
    Blocks,
    /// Indices far beyond an array.
    FarIndices,
    /// Signals that the program sends to itself.
    Signals,
    /// Freed memory that may be given out again, and whose address is compared.
    Recycling,
    /// Atomic operations with weaker orders, and compare-exchanges that may fail without a reason.
    WeakOrders,
    /// Mutexes that are initialised again or destroyed.
    Renewal,
    Shifts,
}

impl Feature {
    /// The usual ones.
    pub const ALL: [Feature; 21] = [
        Feature::Arrays,
        Feature::Pointers,
        Feature::Structs,
        Feature::Heap,
        Feature::Mutexes,
        Feature::OddLocking,
        Feature::Conditions,
        Feature::Atomics,
        Feature::Semaphores,
        Feature::ReadWriteLocks,
        Feature::Barriers,
        Feature::Sections,
        Feature::WaitingSections,
        Feature::Nondeterminism,
        Feature::Assumptions,
        Feature::Loops,
        Feature::Calls,
        Feature::OddThreads,
        Feature::Leaving,
        Feature::Division,
        Feature::Awaiting,
    ];
}

/// What programs are made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// How many threads there may be besides `main`.
    pub threads: u32,
    /// How many statements a thread may have (those inside of others count, too).
    pub statements: u32,
    /// What programs may contain.
    pub features: Vec<Feature>,
    /// How many of these one program uses.
    pub features_at_once: usize,
    /// What each program uses besides.
    pub always: Vec<Feature>,
}

impl Default for Shape {
    /// Programs that end, with up to three threads.
    fn default() -> Shape {
        let features = Feature::ALL.into_iter().filter(|feature| *feature != Feature::Awaiting).collect();
        Shape { threads: 3, statements: 4, features, features_at_once: 5, always: Vec::new() }
    }
}

impl Shape {
    /// Two short threads: for engines that are slow, and for searches that are plain.
    pub fn small() -> Shape {
        Shape { threads: 2, statements: 3, features_at_once: 4, ..Shape::default() }
    }

    /// Small programs, most of which compute with floats.
    pub fn floating() -> Shape {
        let features = vec![Feature::Floats, Feature::Mutexes, Feature::Nondeterminism, Feature::Loops, Feature::Calls];
        Shape { features, ..Shape::small() }
    }

    /// Small programs with what a verdict is most easily wrong about: lifetimes, addresses, what library functions read
    /// and write, misuse of locks, memory orders, signals.
    pub fn pitfalls() -> Shape {
        use Feature::*;
        let features = vec![Text, Blocks, FarIndices, Signals, Recycling, WeakOrders, Renewal, Shifts];
        let usual = vec![OddLocking, Mutexes, Pointers, Heap, Arrays, Atomics, OddThreads, Leaving];
        let features = features.into_iter().chain(usual).collect();
        Shape { features, features_at_once: 5, ..Shape::small() }
    }

    /// Two threads that mostly call functions, the same ones again and again.
    pub fn calling() -> Shape {
        let always = vec![Feature::Calls; 3];
        Shape { statements: 4, features_at_once: 3, always, ..Shape::small() }.without(Feature::Calls)
    }

    /// Two threads with atomic sections, most of which may have to wait in the middle.
    pub fn waiting() -> Shape {
        use Feature::*;
        let features = [Mutexes, Conditions, Semaphores, ReadWriteLocks, Barriers, OddThreads, OddLocking];
        let features =
            features.into_iter().chain([Assumptions, Heap, Pointers, Nondeterminism, Loops, Leaving]).collect();
        Shape { features, features_at_once: 2, always: vec![Sections, Sections, WaitingSections], ..Shape::small() }
    }

    /// The same without a feature.
    pub fn without(mut self, feature: Feature) -> Shape {
        self.features.retain(|one| *one != feature);
        self
    }

    /// The same with a feature.
    pub fn with(mut self, feature: Feature) -> Shape {
        self = self.without(feature);
        self.features.push(feature);
        self
    }
}
