//! What things are called in the textual form, and how one expression or instruction is written.
//!
//! A name serves as a reference when it reads as an identifier; it needs its number beside it when something
//! else of the same sort has it too. That is decided once for a whole program, in [`Names`], which then shows
//! any piece of the program as a `Display`. Showing never fails: ids out of range appear as bare numbers, and
//! an expression nested too deep is cut, so that an invalid program can be looked at too.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter, Write};

use crate::index::Idx;
use crate::program::{
    Access, Callee, Expr, FloatKind, FuncId, LocalId, MAX_EXPR_DEPTH, ObjectId, Op, Order, Program, SlotId, Span,
    Storage, TerminatorKind, TextId, Type,
};
use crate::text::words::{Word, sync_parts};

/// How a thing is referred to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Name,
    NameAndNumber,
    Number,
}

/// The names of everything in one program.
pub struct Names<'p> {
    program: &'p Program,
    functions: Vec<Style>,
    objects: Vec<Style>,
    locals: Vec<Vec<Style>>,
    slots: Vec<Vec<Style>>,
    files: Vec<bool>,
    texts: Vec<bool>,
}

impl<'p> Names<'p> {
    pub fn new(program: &'p Program) -> Names<'p> {
        let functions = &program.functions;
        Names {
            program,
            functions: styles(functions.iter().map(|f| f.name.as_str())),
            objects: styles(program.objects.iter().map(|o| o.name.as_str())),
            locals: functions.iter().map(|f| styles(f.locals.iter().map(|l| l.name.as_str()))).collect(),
            slots: functions.iter().map(|f| styles(f.slots.iter().map(|s| s.name.as_str()))).collect(),
            files: first_of_their_content(program.files.as_slice()),
            texts: first_of_their_content(program.texts.as_slice()),
        }
    }

    /// Writes an [`Expr`], [`Access`], [`Op`] or [`TerminatorKind`] of `function` when displayed.
    pub fn show<'a, T>(&'a self, function: FuncId, item: &'a T) -> Shown<'a, T> {
        Shown { names: self, function, item, depth: 0 }
    }

    pub fn program(&self) -> &'p Program {
        self.program
    }

    pub fn function(&self, id: FuncId) -> impl Display {
        let name = self.program.functions.get(id).map(|f| f.name.as_str());
        Reference::new('&', id, self.functions.get(id.index()), name)
    }

    pub fn object(&self, id: ObjectId) -> impl Display {
        let name = self.program.objects.get(id).map(|o| o.name.as_str());
        Reference::new('@', id, self.objects.get(id.index()), name)
    }

    pub fn local(&self, function: FuncId, id: LocalId) -> impl Display {
        let name = self.program.functions.get(function).and_then(|f| f.locals.get(id)).map(|l| l.name.as_str());
        Reference::new('%', id, self.locals.get(function.index()).and_then(|styles| styles.get(id.index())), name)
    }

    pub fn slot(&self, function: FuncId, id: SlotId) -> impl Display {
        let name = self.program.functions.get(function).and_then(|f| f.slots.get(id)).map(|s| s.name.as_str());
        Reference::new('$', id, self.slots.get(function.index()).and_then(|styles| styles.get(id.index())), name)
    }

    /// `main.c:12:5 "counter"`, as far as it is there.
    pub fn span(&self, span: Span) -> impl Display {
        ShownSpan { names: self, span }
    }

    pub(super) fn text(&self, id: TextId) -> impl Display {
        ShownText { names: self, id }
    }
}

fn styles<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<Style> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for name in names.clone() {
        *counts.entry(name).or_insert(0) += 1;
    }
    let style = |name: &str| match counts.get(name) {
        _ if !is_identifier(name) => Style::Number,
        Some(1) => Style::Name,
        _ => Style::NameAndNumber,
    };
    names.map(style).collect()
}

pub(super) fn first_of_their_content(strings: &[String]) -> Vec<bool> {
    let mut seen = std::collections::HashSet::new();
    strings.iter().map(|string| seen.insert(string.as_str())).collect()
}

pub(super) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

struct Reference<'a> {
    sigil: char,
    number: usize,
    style: Style,
    name: &'a str,
}

impl<'a> Reference<'a> {
    fn new(sigil: char, id: impl Idx, style: Option<&Style>, name: Option<&'a str>) -> Reference<'a> {
        Reference {
            sigil,
            number: id.index(),
            style: style.copied().unwrap_or(Style::Number),
            name: name.unwrap_or_default(),
        }
    }
}

impl Display for Reference<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char(self.sigil)?;
        match self.style {
            Style::Name => f.write_str(self.name),
            Style::NameAndNumber => write!(f, "{}.{}", self.name, self.number),
            Style::Number => write!(f, "{}", self.number),
        }
    }
}

/// A piece of a program, to be displayed. Made by [`Names::show`].
pub struct Shown<'a, T> {
    names: &'a Names<'a>,
    function: FuncId,
    item: &'a T,
    depth: usize,
}

impl<'a, T> Shown<'a, T> {
    fn with<U>(&self, item: &'a U) -> Shown<'a, U> {
        Shown { names: self.names, function: self.function, item, depth: self.depth }
    }

    fn inner(&self, item: &'a Expr) -> Shown<'a, Expr> {
        Shown { depth: self.depth + 1, ..self.with(item) }
    }

    fn local(&self, id: LocalId) -> impl Display {
        self.names.local(self.function, id)
    }
}

impl Display for Shown<'_, Expr> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Deeper than any valid program goes, and not so deep that showing it could exhaust the stack.
        if self.depth > 4 * MAX_EXPR_DEPTH {
            return f.write_str("...");
        }
        match self.item {
            Expr::Const { ty, bits } => write_constant(f, *ty, *bits),
            Expr::Local(id) => self.local(*id).fmt(f),
            Expr::Object(id) => self.names.object(*id).fmt(f),
            Expr::Slot(id) => self.names.slot(self.function, *id).fmt(f),
            Expr::Function(id) => self.names.function(*id).fmt(f),
            Expr::Unary(op, operand) => write!(f, "{}({})", op.as_word(), self.inner(operand)),
            Expr::Binary(op, operands) => {
                write!(f, "{}({}, {})", op.as_word(), self.inner(&operands[0]), self.inner(&operands[1]))
            }
            Expr::Cast(op, ty, operand) => write!(f, "{}({} to {ty})", op.as_word(), self.inner(operand)),
            Expr::Select(parts) => {
                write!(f, "select({}, {}, {})", self.inner(&parts[0]), self.inner(&parts[1]), self.inner(&parts[2]))
            }
        }
    }
}

impl Display for Shown<'_, Access> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.item.volatile {
            f.write_str("volatile ")?;
        }
        if self.item.order != Order::NotAtomic {
            write!(f, "{} ", self.item.order.as_word())?;
        }
        write!(f, "{} {}", self.item.ty, self.with(&self.item.ptr))
    }
}

impl Display for Shown<'_, Vec<Expr>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, expr) in self.item.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{}", self.with(expr))?;
        }
        Ok(())
    }
}

impl Display for Shown<'_, Op> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.item {
            Op::Assign { dst, value } => write!(f, "{} = {}", self.local(*dst), self.with(value)),
            Op::Load { dst, from } => write!(f, "{} = load {}", self.local(*dst), self.with(from)),
            Op::Store { to, value } => write!(f, "store {} = {}", self.with(to), self.with(value)),
            Op::ReadModifyWrite { dst, at, op, value } => {
                self.write_result(f, *dst)?;
                write!(f, "rmw {} {}, {}", op.as_word(), self.with(at), self.with(value))
            }
            Op::CompareExchange { .. } => self.write_compare_exchange(f),
            Op::Fence { order } => write!(f, "fence {}", order.as_word()),
            Op::Allocate { dst, size, align, storage, zeroed } => {
                let zeroed = if *zeroed { "zeroed " } else { "" };
                let (dst, size) = (self.local(*dst), self.with(size));
                write!(f, "{dst} = allocate {zeroed}{} {size} align {align}", storage.as_word())
            }
            Op::Free { ptr, storage: Storage::Heap } => write!(f, "free {}", self.with(ptr)),
            Op::Free { ptr, storage: Storage::Stack } => write!(f, "free_stack {}", self.with(ptr)),
            Op::BeginLife { slot } => write!(f, "begin_life {}", self.names.slot(self.function, *slot)),
            Op::EndLife { slot } => write!(f, "end_life {}", self.names.slot(self.function, *slot)),
            Op::CheckMove { from, to } => write!(f, "check_move {}, {}", self.with(from), self.with(to)),
            Op::ObjectSize { dst, ptr } => write!(f, "{} = object_size {}", self.local(*dst), self.with(ptr)),
            Op::Assume { cond } => write!(f, "assume {}", self.with(cond)),
            Op::Assert { cond, property, message } => {
                write!(f, "assert {}, {}", self.with(cond), property.as_word())?;
                match message.0 {
                    0 => Ok(()),
                    _ => write!(f, ", {}", self.names.text(*message)),
                }
            }
            Op::Nondet { dst } => write!(f, "{} = nondet", self.local(*dst)),
            Op::Undefine { dst } => write!(f, "{} = undefined", self.local(*dst)),
            Op::Call { dst, callee, args } => {
                self.write_result(f, *dst)?;
                match callee {
                    Callee::Direct(id) => write!(f, "call {}", self.names.function(*id))?,
                    Callee::Indirect(pointer) => write!(f, "call *{}", self.with(pointer))?,
                }
                write!(f, "({})", self.with(args))
            }
            Op::Spawn { handle, func, args } => {
                write!(f, "spawn {}({})", self.with(func), self.with(args))?;
                match handle {
                    Some(access) => write!(f, " -> {}", self.with(access)),
                    None => Ok(()),
                }
            }
            Op::Join { dst, thread } => {
                self.write_result(f, *dst)?;
                write!(f, "join {}", self.with(thread))
            }
            Op::Detach { thread } => write!(f, "detach {}", self.with(thread)),
            Op::ThreadSelf { dst } => write!(f, "{} = thread_self", self.local(*dst)),
            Op::Sync { dst, op, at } => {
                let (word, operands) = sync_parts(op);
                self.write_result(f, *dst)?;
                write!(f, "{word} {}", self.with(at))?;
                operands.into_iter().try_for_each(|operand| write!(f, ", {}", self.with(operand)))
            }
            Op::AtomicBegin => f.write_str("atomic_begin"),
            Op::AtomicEnd => f.write_str("atomic_end"),
            Op::Yield => f.write_str("yield"),
        }
    }
}

impl Shown<'_, Op> {
    fn write_result(&self, f: &mut Formatter<'_>, dst: Option<LocalId>) -> fmt::Result {
        match dst {
            Some(dst) => write!(f, "{} = ", self.local(dst)),
            None => Ok(()),
        }
    }

    fn write_compare_exchange(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Op::CompareExchange { ok, old, at, expected, desired, failure, weak } = self.item else { return Ok(()) };
        let weak = if *weak { "weak " } else { "" };
        write!(f, "{}, {} = cmpxchg {weak}{}", self.local(*ok), self.local(*old), self.with(at))?;
        write!(f, ", {}, {}, failure {}", self.with(expected), self.with(desired), failure.as_word())
    }
}

impl Display for Shown<'_, TerminatorKind> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.item {
            TerminatorKind::Goto(target) => write!(f, "goto {target}"),
            TerminatorKind::Branch { cond, then, otherwise } => {
                write!(f, "branch {}, {then}, {otherwise}", self.with(cond))
            }
            TerminatorKind::Switch { value, cases, default } => {
                write!(f, "switch {} {{ ", self.with(value))?;
                for (case, target) in cases {
                    write!(f, "{case} => {target}, ")?;
                }
                write!(f, "default => {default} }}")
            }
            TerminatorKind::Return(None) => f.write_str("return"),
            TerminatorKind::Return(Some(value)) => write!(f, "return {}", self.with(value)),
            TerminatorKind::ThreadExit(value) => write!(f, "thread_exit {}", self.with(value)),
            TerminatorKind::Exit(status) => write!(f, "exit {}", self.with(status)),
            TerminatorKind::Abort => f.write_str("abort"),
            TerminatorKind::Unreachable => f.write_str("unreachable"),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(bits) => write!(f, "i{bits}"),
            Type::Ptr => f.write_str("ptr"),
            Type::Float(kind) => f.write_str(kind.as_word()),
        }
    }
}

fn write_constant(f: &mut Formatter<'_>, ty: Type, bits: u128) -> fmt::Result {
    match ty {
        Type::Int(1) if bits <= 1 => f.write_str(if bits == 1 { "true" } else { "false" }),
        Type::Int(width) => write_integer(f, width, bits),
        Type::Ptr if bits == 0 => f.write_str("null"),
        Type::Ptr => write!(f, "ptr {bits:#x}"),
        Type::Float(kind) => write_float(f, kind, bits),
    }
}

/// Whether it is signed is not known; readers expect -1 and 0x80000000 all the same.
fn write_integer(f: &mut Formatter<'_>, width: u16, bits: u128) -> fmt::Result {
    if !(1..=128).contains(&width) {
        return write!(f, "i{width} {bits:#x}");
    }
    let top = 1u128 << (width - 1);
    let negated = bits.wrapping_neg() & (top | (top - 1));
    let fits = bits & !(top | (top - 1)) == 0;
    if fits && bits & top != 0 && negated <= 1 << (width / 2) {
        write!(f, "i{width} -{negated}")
    } else if fits && bits & top == 0 && bits <= u128::from(u32::MAX) {
        write!(f, "i{width} {bits}")
    } else {
        write!(f, "i{width} {bits:#x}")
    }
}

/// As a decimal number where that gives back the same bits.
fn write_float(f: &mut Formatter<'_>, kind: FloatKind, bits: u128) -> fmt::Result {
    let word = kind.as_word();
    match kind {
        FloatKind::F32 => match u32::try_from(bits).map(f32::from_bits) {
            Ok(value) if value.is_finite() => write!(f, "{word} {value:?}"),
            Ok(value) => write!(f, "{word} {bits:#x} /* {value} */"),
            Err(_) => write!(f, "{word} {bits:#x}"),
        },
        FloatKind::F64 => match u64::try_from(bits).map(f64::from_bits) {
            Ok(value) if value.is_finite() => write!(f, "{word} {value:?}"),
            Ok(value) => write!(f, "{word} {bits:#x} /* {value} */"),
            Err(_) => write!(f, "{word} {bits:#x}"),
        },
        FloatKind::F80 => write!(f, "{word} {bits:#x} /* {} */", extended_as_double(bits)),
    }
}

/// Roughly the value of an x87 number, for people.
fn extended_as_double(bits: u128) -> f64 {
    let sign = if bits >> 79 & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = (bits >> 64 & 0x7fff) as i32;
    let significand = bits as u64;
    match exponent {
        0x7fff if significand << 1 == 0 => sign * f64::INFINITY,
        0x7fff => f64::NAN,
        _ => {
            // In two steps, as the power alone may be out of range where the product is not.
            let power = exponent - 16383 - 63;
            sign * significand as f64 * 2f64.powi(power / 2) * 2f64.powi(power - power / 2)
        }
    }
}

struct ShownSpan<'a> {
    names: &'a Names<'a>,
    span: Span,
}

impl Display for ShownSpan<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Span { file, line, column, text } = self.span;
        let has_place = (file, line, column) != (Span::NONE.file, 0, 0);
        if has_place {
            match self.names.program.files.get(file) {
                Some(path) if self.names.files[file.index()] => write_path(f, path)?,
                _ => write!(f, "#{}", file.0)?,
            }
            write!(f, ":{line}:{column}")?;
        }
        if text.0 != 0 {
            let separator = if has_place { " " } else { "" };
            write!(f, "{separator}{}", self.names.text(text))?;
        }
        Ok(())
    }
}

struct ShownText<'a> {
    names: &'a Names<'a>,
    id: TextId,
}

impl Display for ShownText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.names.program.texts.get(self.id) {
            Some(text) if self.names.texts[self.id.index()] => write_quoted(f, text),
            _ => write!(f, "#{}", self.id.0),
        }
    }
}

fn write_path(f: &mut Formatter<'_>, path: &str) -> fmt::Result {
    if !path.is_empty() && !path.starts_with("//") && !path.starts_with("/*") && path.bytes().all(is_path_byte) {
        f.write_str(path)
    } else {
        write_quoted(f, path)
    }
}

/// What a path may consist of to be written without quotes.
pub(super) fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+')
}

pub(super) fn write_quoted(f: &mut impl Write, string: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in string.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            ' '..='~' => f.write_char(c)?,
            // Printable, that is: nothing that hides or turns what is around it.
            _ if !c.is_ascii() && c.escape_debug().len() == 1 => f.write_char(c)?,
            _ => write!(f, "\\u{{{:x}}}", u32::from(c))?,
        }
    }
    f.write_char('"')
}
