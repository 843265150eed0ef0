//! What can go wrong in an execution, and how to say it to a person.
//!
//! Memory finds a [`Fault`]: a few numbers. Only when it ends the execution does it become a [`Violation`], with the
//! names of objects and the places where they were allocated and freed.

use super::{Instance, Kind};
use crate::interp::thread::machine::{Machine, ThreadId};
use crate::program::{FuncId, ObjectId, ObjectKind, Property, SlotId, Span};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum ViolationKind {
    /// `assert`, `reach_error` and their like.
    Assertion,
    DivisionByZero,
    /// The least number divided by -1, which traps.
    QuotientOverflow,
    SignedOverflow,
    /// An index beyond an array that is a part of an object, or so far away that it would lead to another object.
    IndexOutOfBounds,
    /// Two accesses to one object, one of them a write, between which nothing says what comes first (C11 6.5p2).
    Unsequenced,
    /// Something is copied to where it partly is already: by `memcpy`, by an assignment.
    OverlappingCopy,
    NullDereference,
    OutOfBounds,
    /// An address that belongs to no object, or to a function.
    InvalidPointer,
    UseAfterFree,
    /// A stack object after its function has returned, or a thread-local one after its thread has ended.
    UseAfterScope,
    WriteToConstant,
    DoubleFree,
    /// `free` of something that `malloc` did not return.
    InvalidFree,
    /// A decision on an undefined value.
    Uninitialised,
    /// Unlocking what this thread has not locked.
    InvalidUnlock,
    /// Destroying a lock that is held, or an object that threads wait at.
    InvalidDestroy,
    /// Using a lock that was destroyed.
    UseAfterDestroy,
    /// Calling an address that is not a function's.
    InvalidCall,
    /// Joining or detaching what is not a thread, or no longer joinable.
    InvalidThread,
    /// Control reached a place that the program promised it would not.
    Unreachable,
    StackOverflow,
    /// A library function was used against its contract (a format it does not have, a stream that is closed).
    InvalidArgument,
    /// A heap object that is never freed.
    Leak,
    /// A heap object that was not freed, and to which nothing points any more.
    LostMemory,
}

impl ViolationKind {
    pub fn of(property: Property) -> ViolationKind {
        match property {
            Property::Assertion => ViolationKind::Assertion,
            Property::DivisionByZero => ViolationKind::DivisionByZero,
            Property::QuotientOverflow => ViolationKind::QuotientOverflow,
            Property::SignedOverflow => ViolationKind::SignedOverflow,
            Property::IndexOutOfBounds => ViolationKind::IndexOutOfBounds,
            Property::Unsequenced => ViolationKind::Unsequenced,
            Property::OverlappingCopy => ViolationKind::OverlappingCopy,
            Property::InvalidArgument => ViolationKind::InvalidArgument,
        }
    }

    /// Whether it is about what is left when the program ends.
    pub fn is_leak(self) -> bool {
        matches!(self, ViolationKind::Leak | ViolationKind::LostMemory)
    }

    /// A few words for a headline.
    pub fn title(self) -> &'static str {
        match self {
            ViolationKind::Assertion => "assertion violated",
            ViolationKind::DivisionByZero => "division by zero",
            ViolationKind::QuotientOverflow => "quotient that does not fit",
            ViolationKind::SignedOverflow => "signed overflow",
            ViolationKind::IndexOutOfBounds => "index out of bounds",
            ViolationKind::Unsequenced => "unsequenced accesses",
            ViolationKind::OverlappingCopy => "copy between overlapping objects",
            ViolationKind::NullDereference => "null dereference",
            ViolationKind::OutOfBounds => "access out of bounds",
            ViolationKind::InvalidPointer => "access through an invalid pointer",
            ViolationKind::UseAfterFree => "use after free",
            ViolationKind::UseAfterScope => "use of a dead local object",
            ViolationKind::WriteToConstant => "write to a constant",
            ViolationKind::DoubleFree => "double free",
            ViolationKind::InvalidFree => "invalid free",
            ViolationKind::Uninitialised => "use of an uninitialised value",
            ViolationKind::InvalidUnlock => "invalid unlock",
            ViolationKind::InvalidDestroy => "destroy of what is in use",
            ViolationKind::UseAfterDestroy => "use of a destroyed lock",
            ViolationKind::InvalidCall => "call of what is not a function",
            ViolationKind::InvalidThread => "invalid thread handle",
            ViolationKind::Unreachable => "unreachable place reached",
            ViolationKind::StackOverflow => "stack overflow",
            ViolationKind::InvalidArgument => "invalid argument of a library function",
            ViolationKind::Leak => "memory leak",
            ViolationKind::LostMemory => "lost memory",
        }
    }
}

/// What an access wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Intent {
    Read,
    Write,
    Free,
}

impl Intent {
    pub(in crate::interp) fn writes(self) -> bool {
        self == Intent::Write
    }
}

/// A memory access that cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Fault {
    pub kind: ViolationKind,
    pub address: u64,
    pub len: u64,
    pub intent: Intent,
}

/// The end of an execution that violates a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub kind: ViolationKind,
    pub thread: ThreadId,
    /// By creation path: `main.1.2`.
    pub thread_name: String,
    pub span: Span,
    pub message: String,
}

impl Machine<'_> {
    /// `file:line`, or the function when there is no place in the user's source.
    pub(in crate::interp) fn place_of(&self, pc: u32) -> String {
        let image = self.image();
        let span = image.span(pc);
        match image.program.files.get(span.file) {
            Some(file) if span.line > 0 => format!("{file}:{}", span.line),
            _ => format!("`{}`", image.program.functions[image.place(pc).func].name),
        }
    }

    pub(in crate::interp) fn message_for(&self, fault: Fault) -> String {
        let what = match fault.intent {
            Intent::Read => format!("read of {}", bytes(fault.len)),
            Intent::Write => format!("write of {}", bytes(fault.len)),
            Intent::Free => "free".to_string(),
        };
        let Some((instance, offset)) = self.memory().nearest(fault.address) else {
            return match fault.kind {
                ViolationKind::NullDereference if fault.address == 0 => format!("{what} through a null pointer"),
                ViolationKind::NullDereference => format!("{what} at offset {} of a null pointer", fault.address),
                _ => format!("{what} at {:#x}, which is the address of no object", fault.address),
            };
        };
        let object = self.describe_instance(instance);
        let mut message = match (fault.intent, offset) {
            (Intent::Free, 0) => format!("free of {object}"),
            _ => format!("{what} at offset {offset} of {object}"),
        };
        if !instance.alive {
            let (thread, pc) = instance.ended;
            let verb = if instance.kind == Kind::Heap { "freed at" } else { "dead since" };
            message += &format!(", {verb} {} by {}", self.place_of(pc), self.thread_name(ThreadId(thread)));
        }
        message
    }

    /// The object that an address points into, and the offset, for people: `a+8`, `null`, ….
    pub fn describe_address(&self, address: u64) -> String {
        match self.memory().find(address) {
            None if address == 0 => "null".to_string(),
            None => format!("{address:#x}"),
            Some((instance, offset)) => {
                let name = self.instance_name(instance);
                let name = if name.is_empty() { self.describe_instance(instance) } else { name };
                if offset == 0 { name } else { format!("{name}+{offset}") }
            }
        }
    }

    /// A pointer, for people: `&a`, `&a + 8 bytes`, `work` (a function), `null`, ….
    pub fn describe_pointer(&self, address: u64) -> String {
        let Some((instance, offset)) = self.memory().find(address) else {
            return if address == 0 { "null".to_string() } else { format!("{address:#x}") };
        };
        let name = self.instance_name(instance);
        let base = match instance.kind {
            Kind::Function => return name,
            Kind::Heap => format!("heap object of {}", self.place_of(instance.origin)),
            _ if name.is_empty() => self.describe_instance(instance),
            _ => format!("&{name}"),
        };
        if offset == 0 { base } else { format!("{base} + {}", bytes(offset)) }
    }

    pub(in crate::interp) fn describe_instance(&self, instance: &Instance) -> String {
        let name = self.instance_name(instance);
        let size = bytes(instance.size);
        match instance.kind {
            Kind::Function => format!("function `{name}`"),
            Kind::Heap => {
                let thread = self.thread_name(ThreadId(instance.made_by));
                format!("the heap object of {size} allocated at {} by {thread}", self.place_of(instance.origin))
            }
            Kind::Stack if name.is_empty() => format!("a local object of {size}"),
            Kind::Constant if name.is_empty() => format!("a constant of {size}"),
            Kind::Library => format!("a library object of {size}"),
            _ => format!("`{name}` ({size})"),
        }
    }

    fn instance_name(&self, instance: &Instance) -> String {
        let program = self.image().program;
        match instance.kind {
            Kind::Function => program.functions[FuncId(instance.origin)].name.clone(),
            Kind::Global | Kind::Constant | Kind::ThreadLocal | Kind::External => {
                program.objects.get(ObjectId(instance.origin)).map(|object| object.name.clone()).unwrap_or_default()
            }
            Kind::Stack => {
                let function = &program.functions[FuncId(instance.origin)];
                function.slots.get(SlotId(instance.slot)).map(|slot| slot.name.clone()).unwrap_or_default()
            }
            Kind::Heap | Kind::Library | Kind::Nothing | Kind::Continued => String::new(),
        }
    }
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_string() } else { format!("{count} bytes") }
}

/// What a static object of this kind is in memory.
pub(in crate::interp) fn kind_of(kind: ObjectKind) -> Kind {
    match kind {
        ObjectKind::Global => Kind::Global,
        ObjectKind::External => Kind::External,
        ObjectKind::Constant => Kind::Constant,
        ObjectKind::ThreadLocal => Kind::ThreadLocal,
    }
}
