//! Programs as trees.
//!
//! Every tree is a valid program: what a statement names (variables, locks, …) comes from fixed families, and the
//! printer declares those that occur. Where something would not make sense (a `break` outside of a loop, an index
//! without a loop) the printer writes something harmless. So whatever is cut off, the rest is a program.

/// A list of statements.
pub type Block = Vec<Statement>;

#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Program {
    /// The shared integers `g0`, `g1`, …
    pub scalars: Vec<Scalar>,
    /// What the semaphores start with.
    pub semaphore: u8,
    /// `f0`, `f1`, …: each calls only later ones.
    pub functions: Vec<Function>,
    /// What threads do: `t0`, `t1`, …: each creates only later ones.
    pub threads: Vec<Thread>,
    pub main: Block,
}

/// A shared integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Scalar {
    pub ty: IntType,
    /// `_Atomic`
    pub atomic: bool,
    pub initial: i8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum IntType {
    Int,
    Unsigned,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Long,
}

impl IntType {
    pub const ALL: [IntType; 7] = [
        IntType::Int,
        IntType::Unsigned,
        IntType::SignedChar,
        IntType::UnsignedChar,
        IntType::Short,
        IntType::UnsignedShort,
        IntType::Long,
    ];
}

/// Takes an `int`, or a `struct pair` by value, and perhaps the address of an `int`; returns an `int`.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Function {
    pub takes_pair: bool,
    pub takes_address: bool,
    pub body: Block,
    pub result: Expr,
}

#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Thread {
    pub body: Block,
}

/// What has a value.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Expr {
    Constant(i8),
    Read(Place),
    /// One of the local variables `r0`, `r1`.
    Local(u8),
    /// The variable of the innermost loop.
    Turn,
    /// What the thread was given, as a number.
    Argument,
    /// The parameter of the function.
    Parameter,
    /// Any of 0 and 1.
    NondetBool,
    /// Any of 0, 1 and 2, by an assumption about a character.
    NondetSmall,
    /// Whether a shared float is more than so many halves.
    FloatAbove(u8, i8),
    Binary(Binary, Box<Expr>, Box<Expr>),
}

impl Default for Expr {
    fn default() -> Expr {
        Expr::Constant(0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    And,
    Xor,
    ShiftLeft,
    Equal,
    Unequal,
    Less,
    /// Evaluates the right side only if the left one is true.
    AndThen,
}

/// What is done to a shared float, with an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum FloatUpdate {
    Assign,
    /// Adds half of it.
    Add,
    Multiply,
    Divide,
}

/// A shared integer in memory.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Place {
    Scalar(u8),
    /// Of `a0`, `a1`, …, which have two elements.
    Element(u8, Index),
    /// `s0.first` or `s0.second`
    Field(u8, bool),
    /// `*p0`
    Pointee(u8),
    /// `p0[1]`
    PointeeNext(u8),
    /// What the thread's argument points to.
    Argument,
    /// What the function was given the address of.
    Given,
}

#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Index {
    Constant(bool),
    /// Computed, and in bounds whatever the value is.
    Masked(Box<Expr>),
    /// Computed.
    Any(Box<Expr>),
    /// Far beyond the end: where another object would be if addresses had no owner.
    Far(Far),
}

/// A distance in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Far {
    /// 64 KiB
    Near,
    /// 4 GiB
    Distant,
    /// 4 GiB before the beginning.
    Before,
}

/// What a pointer can be made to point to.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Target {
    Null,
    /// The first shared integer, which is an `int`.
    Scalar,
    Element(u8, bool),
    Field(u8, bool),
    Pointer(u8),
    /// A new block of this many (1 or 2) integers.
    New(u8),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Lock {
    Mutex(u8),
    /// A read-write lock, for reading.
    Reading(u8),
    /// A read-write lock, for writing.
    Writing(u8),
}

/// What becomes of a thread that was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Fate {
    /// Its creator waits for it.
    Joined,
    /// It is not joined.
    Left,
    Detached,
    /// Its handle is kept in `kept0`, …, for anybody.
    Kept(u8),
}

/// What a thread is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Argument {
    Nothing,
    Number(u8),
    /// How many were created before it in the same loop.
    Turn,
    /// The address of the first shared integer.
    Shared,
    /// The address of a local variable of its creator.
    Local(u8),
}

/// A thread to be created.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Child {
    pub thread: usize,
    pub argument: Argument,
    pub fate: Fate,
}

/// An operation of the `__atomic` family, on a scalar. Results go to a local variable.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Atomic {
    Load { scalar: u8, local: u8 },
    Store { scalar: u8, value: Expr },
    FetchAdd { scalar: u8, value: Expr, local: u8 },
    Exchange { scalar: u8, value: Expr, local: u8 },
    CompareExchange { scalar: u8, expected: i8, desired: Expr, local: u8 },
    Fence,
}

/// How an atomic operation orders others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Order {
    Relaxed,
    /// Loads acquire, stores release, and what does both does both.
    AcquireRelease,
}

/// A call of the C library that reads or writes the shared text `b0`, `b1`, … of four bytes.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum TextCall {
    /// `puts`
    Show(u8),
    /// `strlen` into a local variable.
    Length { text: u8, local: u8 },
    /// `atoi` into a local variable.
    Number { text: u8, local: u8 },
    /// `memset` of this many bytes (5 are one too many).
    Fill { text: u8, bytes: u8 },
    /// `strcpy`, or `memcpy` of this many bytes.
    Copy { to: u8, from: u8, bytes: Option<u8> },
    /// `sprintf` of a digit.
    Format { text: u8, value: Expr },
}

/// A loop that waits for another thread.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Await {
    /// Until a scalar is not 0, by atomic loads.
    NonZero { scalar: u8, yields: bool },
    /// Until an exchange takes the spin lock; then the block, then it is given back.
    SpinLock(Block),
    /// Until a scalar is not 0, read under a mutex.
    Polled { mutex: u8, scalar: u8 },
}

#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Statement {
    Assign(Place, Expr),
    /// `place op= value`
    Update(Place, Binary, Expr),
    SetLocal(u8, Expr),
    /// Of the shared `double` `d0` and `float` `d1`.
    UpdateFloat(u8, FloatUpdate, Expr),
    /// `s0 = s1`
    CopyPair {
        to: u8,
        from: u8,
    },
    Point(u8, Target),
    Free(u8),
    If {
        condition: Expr,
        then: Block,
        otherwise: Block,
    },
    Loop {
        times: u8,
        body: Block,
    },
    Break,
    Leave,
    Assert(Expr),
    Assume(Expr),
    Locked {
        lock: Lock,
        /// Takes the lock only if it is free, and does nothing otherwise.
        tries: bool,
        gives_back: bool,
        body: Block,
    },
    /// Gives back what it may not have.
    Unlock(Lock),
    /// Waits on `c0`, … until its flag is set.
    Wait {
        condition: u8,
        /// Looks at the flag again after waking up.
        looks_again: bool,
    },
    /// Sets the flag of `c0`, … and tells one waiter, or all.
    Signal {
        condition: u8,
        all: bool,
        /// Under the mutex.
        locked: bool,
    },
    Atomic(Atomic),
    /// With a weaker order; a compare-exchange is a weak one, which may fail without a reason.
    Ordered(Order, Atomic),
    Text(TextCall),
    /// A block with a local variable to which `p0`, … points within it, and after it.
    Published {
        pointer: u8,
        body: Block,
    },
    /// Frees what a pointer points to, allocates again, and sets a local variable to whether the address is the same.
    Recycle {
        pointer: u8,
        local: u8,
    },
    /// Sends the process a signal, whose handler adds to the first shared integer.
    Raise,
    /// Initialises a mutex again, or destroys it.
    Renew {
        mutex: u8,
        destroys: bool,
    },
    SemWait(u8),
    SemTryWait(u8, u8),
    SemPost(u8),
    /// At the one barrier, which is for two.
    BarrierWait,
    Section(Block),
    Await(Await),
    Call {
        function: usize,
        argument: Expr,
        /// The structure to pass, if the function takes one.
        pair: u8,
        /// The local whose address to pass; otherwise what the caller was given, or the first shared integer.
        address: Option<u8>,
        local: u8,
    },
    /// Creates threads, does something, and waits for those it should wait for.
    Fork {
        children: Vec<Child>,
        /// Creates them all so often, in a loop.
        times: u8,
        between: Block,
    },
    /// Waits for the thread whose handle was kept.
    JoinKept(u8),
}

impl Statement {
    /// The blocks inside of a statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Loop { body, .. }
            | Statement::Locked { body, .. }
            | Statement::Section(body)
            | Statement::Published { body, .. }
            | Statement::Await(Await::SpinLock(body))
            | Statement::Fork { between: body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Statement::If { then, otherwise, .. } => vec![then, otherwise],
            Statement::Loop { body, .. }
            | Statement::Locked { body, .. }
            | Statement::Section(body)
            | Statement::Published { body, .. }
            | Statement::Await(Await::SpinLock(body))
            | Statement::Fork { between: body, .. } => vec![body],
            _ => Vec::new(),
        }
    }
}

impl Program {
    /// The outermost blocks: of functions, threads, and `main`.
    pub fn bodies(&self) -> impl Iterator<Item = &Block> {
        let functions = self.functions.iter().map(|function| &function.body);
        functions.chain(self.threads.iter().map(|thread| &thread.body)).chain([&self.main])
    }

    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let functions = self.functions.iter_mut().map(|function| &mut function.body);
        functions.chain(self.threads.iter_mut().map(|thread| &mut thread.body)).chain([&mut self.main])
    }

    /// How many statements there are, those inside of others included.
    pub fn size(&self) -> usize {
        self.bodies().map(size_of).sum()
    }
}

fn size_of(block: &Block) -> usize {
    block.iter().map(|statement| 1 + statement.blocks().into_iter().map(size_of).sum::<usize>()).sum()
}
