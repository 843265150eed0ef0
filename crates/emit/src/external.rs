//! Functions without a body: the real ones, by their real names.
//!
//! A declaration with an assembler label gives the linker the real name and C another one, so that no header's
//! prototype and no compiler's idea of a builtin is in the way. A variadic function gets its variable arguments as one
//! area in memory; a wrapper makes of it what the real one wants: a `va_list` for its `v…` sibling, or a few words.
//! A `va_list` of the program is known to hold the address of such an area, and no more: it is made anew.
//! Of a function that Leno does not know, nobody can say whether the linker will find it: its reference is weak, and
//! without it the call gives 0.

use crate::call;
use crate::comment;
use crate::names;
use crate::types;
use leno_ir::program::{External, FuncId, LocalId, Program, Type};
use std::fmt::Write;

/// Whether the function can be called as it is.
fn is_direct(name: &str, external: &External) -> bool {
    external.known && !external.variadic && !gets_list(name)
}

/// What stands before all objects: declarations.
pub(crate) fn declare(program: &Program, id: FuncId, external: &External, out: &mut String) {
    let function = &program.functions[id];
    if is_direct(&function.name, external) {
        let _ = writeln!(out, "extern {} {};", call::prototype(program, id), label(&function.name));
        return;
    }
    let parameters: Vec<Type> = types::parameters(function).collect();
    let fixed = &parameters[..parameters.len() - usize::from(external.variadic && !parameters.is_empty())];
    let (symbol, parameters) = match (external.variadic, takes_list(&function.name)) {
        (false, _) => (function.name.clone(), types::list(fixed)),
        (true, Some(sibling)) => (sibling, types::list(&parameters)),
        (true, None) if fixed.is_empty() => (function.name.clone(), String::new()),
        (true, None) => (function.name.clone(), format!("{}, ...", types::list(fixed))),
    };
    let (ret, real) = (function.ret.map_or("void", types::value), names::real(program, id));
    let weak = if external.known { "" } else { " __attribute__((weak))" };
    let _ = writeln!(out, "extern {ret} {real}({parameters}) {}{weak};", label(&symbol));
    let _ = writeln!(out, "static {};", call::prototype(program, id));
}

/// What stands among the functions: the wrapper, if there has to be one.
pub(crate) fn define(program: &Program, id: FuncId, external: &External, out: &mut String) {
    let function = &program.functions[id];
    if is_direct(&function.name, external) {
        return;
    }
    let real = names::real(program, id);
    let mut args: Vec<String> =
        (0..types::parameters(function).len()).map(|index| names::local(function, LocalId(index as u32))).collect();
    if external.variadic || gets_list(&function.name) {
        let last = args.pop().unwrap_or("0".to_string());
        match (external.variadic, takes_list(&function.name)) {
            (false, _) => args.push(format!("leno_va_list(leno_va_area({last}))")),
            (true, Some(_)) => args.push(format!("leno_va_list({last})")),
            (true, None) => {
                args.extend((0..words(&function.name)).map(|index| format!("leno_va_word({last}, {index})")))
            }
        }
    }
    let _ = writeln!(out, "static {} {{", call::prototype(program, id));
    if !external.known {
        let nothing = if function.ret.is_some() { "return 0" } else { "return" };
        let name = comment::inside_comment(&function.name);
        let _ =
            writeln!(out, "    if (!{real}) {nothing}; /* {name} is unknown, and is called only if it is linked */");
    }
    let give = if function.ret.is_some() { "return " } else { "" };
    let _ = writeln!(out, "    {give}{real}({});\n}}\n", args.join(", "));
}

/// What nobody can link is declared by a name that nobody has.
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

/// How many words a function with a few variable arguments may want. Of one that nobody knows, six: what fits into
/// registers, and more than most have.
fn words(name: &str) -> usize {
    match name {
        "open" | "openat" | "fcntl" | "ioctl" | "open64" | "openat64" => 1,
        _ => 6,
    }
}
