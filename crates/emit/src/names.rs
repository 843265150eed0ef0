//! Names: what things are called in the emitted C.
//!
//! A reader should find their variables again, and nothing may ever clash: with a keyword, with a name or a macro
//! of the system's headers, with the runtime, or with another name of the same program. So every name keeps what
//! the programmer wrote and ends in its id, with a letter for its sort: `i_3` is a register, `buffer_s0` a stack
//! object, `counter_o5` a static object, `worker_f2` a function. Temporaries are `t7`. No header and no part of the
//! runtime has names that end like this, apart from those that `readable` steers around (a test looks).

use leno_ir::program::{FuncId, Function, LocalId, ObjectId, Program, SlotId};

/// Long names (of C++ origin, or hostile) are cut: the id alone makes them unique.
const LONGEST: usize = 60;

pub(crate) fn local(function: &Function, id: LocalId) -> String {
    match function.locals[id].name.as_str() {
        "" => format!("t{}", id.0),
        name => format!("{}_{}", readable(name), id.0),
    }
}

pub(crate) fn slot(function: &Function, id: SlotId) -> String {
    format!("{}_s{}", readable(&function.slots[id].name), id.0)
}

pub(crate) fn object(program: &Program, id: ObjectId) -> String {
    format!("{}_o{}", readable(&program.objects[id].name), id.0)
}

pub(crate) fn function(program: &Program, id: FuncId) -> String {
    format!("{}_f{}", readable(&program.functions[id].name), id.0)
}

/// The declaration by which an external function's wrapper reaches the real one.
pub(crate) fn real(program: &Program, id: FuncId) -> String {
    format!("{}_r{}", readable(&program.functions[id].name), id.0)
}

/// The beginning of a C identifier that looks like `name`.
fn readable(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let text: String =
        name.trim_start_matches(|c: char| c.is_ascii_punctuation() && c != '_').chars().map(word).collect();
    let text = &text[..text.len().min(LONGEST)];
    let taken_by_headers = text.starts_with('_') || text.starts_with("M_");
    match text.chars().next() {
        None => "v".to_string(),
        Some(first) if first.is_ascii_digit() || taken_by_headers => format!("v{text}"),
        Some(_) => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_stay_readable_and_become_identifiers() {
        let cases = [
            ("counter", "counter"),
            ("", "v"),
            (".str", "str"),
            ("__func__", "v__func__"),
            ("M_PI", "vM_PI"),
            ("3d", "v3d"),
            ("a$b", "a_b"),
            ("größe", "gr__e"),
            ("*/ #error", "v__error"),
        ];
        for (name, expected) in cases {
            assert_eq!(readable(name), expected, "{name:?}");
        }
        assert_eq!(readable(&"x".repeat(1000)).len(), super::LONGEST);
    }
}
