//! Functions without a body: the real ones, by their real names.
//!
//! A declaration with an assembler label gives the linker the real name and C another one, so that no header's
//! prototype and no compiler's idea of a builtin is in the way. A variadic function gets its variable arguments as one
//! area in memory; a wrapper makes of it what the real one wants: a `va_list` for its `v…` sibling, or a few words.
//! A `va_list` of the program is known to hold the address of such an area, and no more: it is made anew.
//! Of a function that Leno does not know, it is not known whether the linker will find it: its reference is weak, and
//! without it the call gives 0. In a program that is recorded it has to be there, as in the program itself.

use crate::Mode;
use crate::call;
use crate::comment;
use crate::hooks;
use crate::names;
use crate::types;
use leno_ir::program::{External, FuncId, Function, LocalId, Program, Type};
use std::fmt::Write;

/// How the last argument becomes what the real function wants.
#[derive(Clone, PartialEq, Eq)]
enum Last {
    /// It is as any other, or there is none.
    AsItIs,
    /// A `va_list`, whose area is passed on.
    List,
    /// The area, for the function of this name that takes a `va_list`.
    AreaAsList(String),
    /// The area, of which the first words are passed on.
    AreaAsWords(usize),
}

fn last_argument(function: &Function, external: &External) -> Last {
    match takes_list(&function.name) {
        _ if types::parameters(function).len() == 0 => Last::AsItIs,
        Some(sibling) if external.variadic => Last::AreaAsList(sibling),
        None if external.variadic => Last::AreaAsWords(words(&function.name)),
        _ if gets_list(&function.name) => Last::List,
        _ => Last::AsItIs,
    }
}

/// What stands before all objects: declarations.
pub(crate) fn declare(program: &Program, id: FuncId, external: &External, mode: Mode<'_>, out: &mut String) {
    let function = &program.functions[id];
    let last = last_argument(function, external);
    if external.known && last == Last::AsItIs {
        let _ = writeln!(out, "extern {} {};", call::prototype(program, id), label(&function.name));
        return;
    }
    let all: Vec<Type> = types::parameters(function).collect();
    let (symbol, parameters) = match last {
        Last::AsItIs | Last::List => (function.name.clone(), types::list(&all)),
        Last::AreaAsList(sibling) => (sibling, types::list(&all)),
        Last::AreaAsWords(_) if all.len() == 1 => (function.name.clone(), String::new()),
        Last::AreaAsWords(_) => (function.name.clone(), format!("{}, ...", types::list(&all[..all.len() - 1]))),
    };
    let (ret, real) = (function.ret.map_or("void", types::value), names::real(program, id));
    let weak = if may_be_missing(function, external, mode) { " __attribute__((weak))" } else { "" };
    let _ = writeln!(out, "extern {ret} {real}({parameters}) {}{weak};", label(&symbol));
    let _ = writeln!(out, "static {};", call::prototype(program, id));
}

/// What stands among the functions: the wrapper, if there has to be one.
pub(crate) fn define(program: &Program, id: FuncId, external: &External, mode: Mode<'_>, out: &mut String) {
    let function = &program.functions[id];
    let last = last_argument(function, external);
    if external.known && last == Last::AsItIs {
        return;
    }
    let real = names::real(program, id);
    let names: Vec<String> =
        (0..types::parameters(function).len()).map(|index| names::local(function, LocalId(index as u32))).collect();
    let args = match (last, names.split_last()) {
        (Last::AsItIs, _) | (_, None) => names,
        (Last::List, Some((list, fixed))) => with(fixed, [format!("leno_va_list(leno_va_area({list}))")]),
        (Last::AreaAsList(_), Some((area, fixed))) => with(fixed, [format!("leno_va_list({area})")]),
        (Last::AreaAsWords(count), Some((area, fixed))) => {
            with(fixed, (0..count).map(|index| format!("leno_va_word({area}, {index})")))
        }
    };
    let _ = writeln!(out, "static {} {{", call::prototype(program, id));
    let call = format!("{real}({})", args.join(", "));
    if !external.known && mode.numbers().is_some() {
        hooks::unknown_body(program, id, &call, out);
        out.push_str("}\n\n");
        return;
    }
    if may_be_missing(function, external, mode) {
        let nothing = if function.ret.is_some() { "return 0" } else { "return" };
        let name = comment::inside_comment(&function.name);
        let _ =
            writeln!(out, "    if (!{real}) {nothing}; /* {name} is unknown, and is called only if it is linked */");
    }
    let give = if function.ret.is_some() { "return " } else { "" };
    let _ = writeln!(out, "    {give}{call};\n}}\n");
}

/// Whether the linker need not find it.
fn may_be_missing(function: &Function, external: &External, mode: Mode<'_>) -> bool {
    let is_our_own = function.name.starts_with("__leno_");
    !external.known && (is_our_own || !matches!(mode, Mode::Recording(_)))
}

fn with(fixed: &[String], more: impl IntoIterator<Item = String>) -> Vec<String> {
    fixed.iter().cloned().chain(more).collect()
}

/// What cannot be linked is declared by a name that is not in use.
fn label(name: &str) -> String {
    comment::linker_name(name).unwrap_or_else(|| "__asm__(\"leno_missing\")".to_string())
}

const PRINT_AND_SCAN: &[&str] = &[
    "asprintf", "dprintf", "err", "errx", "fprintf", "fscanf", "fwprintf", "fwscanf", "printf", "scanf", "snprintf",
    "sprintf", "sscanf", "swprintf", "swscanf", "syslog", "warn", "warnx", "wprintf", "wscanf",
];

/// The standard that a header asks for, and the function.
fn without_standard(name: &str) -> (&str, &str) {
    let prefix = ["__isoc99_", "__isoc23_"].into_iter().find(|prefix| name.starts_with(prefix)).unwrap_or("");
    name.split_at(prefix.len())
}

/// The function that does the same with a `va_list`.
fn takes_list(name: &str) -> Option<String> {
    let (standard, base) = without_standard(name);
    PRINT_AND_SCAN.contains(&base).then(|| format!("{standard}v{base}"))
}

/// Whether the last parameter is a `va_list`.
fn gets_list(name: &str) -> bool {
    without_standard(name).1.strip_prefix('v').is_some_and(|base| PRINT_AND_SCAN.contains(&base))
}

/// How many words a function with a few variable arguments may want. Of an unknown one, six: what fits into
/// registers, and more than most have.
fn words(name: &str) -> usize {
    match name {
        "open" | "openat" | "fcntl" | "ioctl" | "open64" | "openat64" => 1,
        _ => 6,
    }
}
