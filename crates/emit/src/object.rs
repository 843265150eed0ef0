//! Static objects: exact bytes, exact addresses, and no more text than they have contents.
//!
//! An object that begins as zeros, or as some bytes followed by zeros, is an array. Any other is a packed structure
//! of byte arrays, pointers and gaps, so that an address can stand at any offset and is still a constant for the
//! linker. A gap costs one field, however long it is.

use crate::comment;
use crate::names;
use leno_ir::program::{DataModel, Datum, Object, ObjectId, ObjectKind, Program};
use std::collections::BTreeSet;
use std::fmt::Write;

/// So many zeros amid bytes are a gap.
const GAP: usize = 64;

/// External objects that the C library really has. The linker finds them.
const IN_LIBC: &[&str] = &[
    "__daylight",
    "__environ",
    "__progname",
    "__progname_full",
    "__timezone",
    "__tzname",
    "_environ",
    "daylight",
    "environ",
    "getdate_err",
    "in6addr_any",
    "in6addr_loopback",
    "optarg",
    "opterr",
    "optind",
    "optopt",
    "program_invocation_name",
    "program_invocation_short_name",
    "signgam",
    "stderr",
    "stdin",
    "stdout",
    "sys_siglist",
    "timezone",
    "tzname",
];

/// All objects of a program. Functions have been declared before.
pub(crate) fn define_all(program: &Program, comments: bool, out: &mut String) {
    let (external, own): (Vec<_>, Vec<_>) =
        program.objects.iter_enumerated().partition(|(_, object)| object.kind == ObjectKind::External);
    for (id, object) in external {
        declare_external(program, id, object, out);
    }
    for (id, object) in &own {
        if let Contents::Structure(pieces) = contents(object, program.model) {
            let fields: Vec<String> = pieces.iter().enumerate().map(|(index, piece)| piece.field(index)).collect();
            let name = names::object(program, *id);
            let _ = writeln!(out, "struct {name} {{ {} }} __attribute__((packed));", fields.join(" "));
        }
    }
    for id in targets_of_earlier_objects(program) {
        let _ = writeln!(out, "{};", declarator(program, id));
    }
    for (id, object) in own {
        let marker = if comments { comment::marker(program, object.span) } else { String::new() };
        let _ = writeln!(out, "{}{};{marker}", declarator(program, id), initializer(program, object));
    }
}

/// With another file that defines it, the linker takes that; without any, it is there and holds zeros.
fn declare_external(program: &Program, id: ObjectId, object: &Object, out: &mut String) {
    let (name, size, align) = (names::object(program, id), object.size.max(1), object.align.max(1));
    let Some(label) = comment::linker_name(&object.name) else {
        let _ = writeln!(out, "static unsigned char {name}[{size}] __attribute__((aligned({align})));");
        return;
    };
    if IN_LIBC.contains(&object.name.as_str()) {
        let _ = writeln!(out, "extern unsigned char {name}[{size}] {label};");
        return;
    }
    let _ = writeln!(
        out,
        "unsigned char {name}[{size}] {label} __attribute__((weak, aligned({align}))); \
         /* not defined in the program: zeros, unless it is linked with a definition */"
    );
}

/// Objects that have to be declared before they are defined. (A thread-local one has no constant address.)
fn targets_of_earlier_objects(program: &Program) -> BTreeSet<ObjectId> {
    let mut targets = BTreeSet::new();
    for (id, object) in program.objects.iter_enumerated() {
        targets.extend(object.init.iter().filter_map(|(_, datum)| match datum {
            Datum::Object(target, _) if *target > id => Some(*target),
            _ => None,
        }));
    }
    targets.retain(|id| matches!(program.objects[*id].kind, ObjectKind::Global | ObjectKind::Constant));
    targets
}

/// `static const unsigned char name[6]`
fn declarator(program: &Program, id: ObjectId) -> String {
    let object = &program.objects[id];
    let name = names::object(program, id);
    let storage = match object.kind {
        ObjectKind::Global | ObjectKind::External => "static",
        ObjectKind::Constant => "static const",
        ObjectKind::ThreadLocal => "static _Thread_local",
    };
    let align = if object.align > 1 { format!(" __attribute__((aligned({})))", object.align) } else { String::new() };
    let variable = match contents(object, program.model) {
        Contents::Array(_) => format!("unsigned char {name}[{}]", object.size.max(1)),
        Contents::Structure(_) => format!("struct {name} {name}"),
    };
    format!("{storage} {variable}{align}")
}

fn initializer(program: &Program, object: &Object) -> String {
    match contents(object, program.model) {
        Contents::Array([]) => String::new(),
        Contents::Array(bytes) => format!(" = {}", byte_array(bytes)),
        Contents::Structure(pieces) => {
            let values: Vec<String> = pieces.iter().map(|piece| piece.value(program)).collect();
            format!(" = {{{}}}", values.join(", "))
        }
    }
}

enum Contents<'a> {
    /// These bytes, then zeros.
    Array(&'a [u8]),
    /// The whole object, piece by piece.
    Structure(Vec<Piece<'a>>),
}

enum Piece<'a> {
    Zeros(u64),
    Bytes(&'a [u8]),
    /// Never [`Datum::Bytes`].
    Address(&'a Datum),
}

impl Piece<'_> {
    fn field(&self, index: usize) -> String {
        match self {
            Piece::Zeros(size) => format!("unsigned char z{index}[{size}];"),
            Piece::Bytes(bytes) => format!("unsigned char b{index}[{}];", bytes.len()),
            Piece::Address(_) => format!("const void *p{index};"),
        }
    }

    fn value(&self, program: &Program) -> String {
        match self {
            Piece::Zeros(_) => "{0}".to_string(),
            Piece::Bytes(bytes) => byte_array(bytes),
            Piece::Address(Datum::Object(target, 0)) => format!("&{}", names::object(program, *target)),
            Piece::Address(Datum::Object(target, offset)) => {
                format!("(const char *)&{} + ({offset})", names::object(program, *target))
            }
            Piece::Address(Datum::Function(target)) => format!("(const void *){}", names::function(program, *target)),
            Piece::Address(Datum::Bytes(_)) => "0".to_string(),
        }
    }
}

fn contents(object: &Object, model: DataModel) -> Contents<'_> {
    let mut pieces = Vec::new();
    let mut end = 0;
    let mut add = |offset: u64, piece, size: u64| {
        if offset > end {
            pieces.push(Piece::Zeros(offset - end));
        }
        pieces.push(piece);
        end = offset + size;
    };
    for (offset, datum) in &object.init {
        match datum {
            Datum::Bytes(bytes) => {
                for (start, run) in runs(bytes) {
                    add(offset + start as u64, Piece::Bytes(run), run.len() as u64);
                }
            }
            address => add(*offset, Piece::Address(address), model.pointer_bytes()),
        }
    }
    match pieces[..] {
        [] => return Contents::Array(&[]),
        [Piece::Bytes(bytes)] => return Contents::Array(bytes),
        _ => {}
    }
    if end < object.size {
        pieces.push(Piece::Zeros(object.size - end));
    }
    Contents::Structure(pieces)
}

/// The parts of `bytes` between gaps, each from its first to its last byte that is not zero.
fn runs(bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
        match runs.last_mut() {
            Some((_, last)) if at - *last <= GAP => *last = at,
            _ => runs.push((at, at)),
        }
    }
    runs.into_iter().map(|(first, last)| (first, &bytes[first..=last])).collect()
}

/// As text, where it is mostly text.
fn byte_array(bytes: &[u8]) -> String {
    let readable = bytes.iter().filter(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')).count();
    if bytes.len() >= 2 && readable * 4 >= bytes.len() * 3 {
        return comment::string_literal(bytes);
    }
    let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn bytes_are_split_at_gaps() {
        let mut bytes = vec![0; 1000];
        (bytes[3], bytes[60], bytes[700]) = (1, 2, 3);
        let found: Vec<_> = runs(&bytes).into_iter().map(|(at, run)| (at, run.len())).collect();
        assert_eq!(found, [(3, 58), (700, 1)]);
        assert!(runs(&[0; 100]).is_empty());
    }
}
