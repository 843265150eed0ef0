//! Which models a program needs.
//!
//! A model is needed if it defines a name that the program refers to and does not define, or a name that another needed
//! model mentions. What a model mentions is read off its text: every identifier in it that is some model's function.

use super::Options;
use super::catalog::{MODELS, Model, REAL_PROCESS, WITH_REAL_PROCESS, model_of, real_model_of};
use crate::typed::{Callee, Definition, ExprKind, StaticValue, Unit};
use std::collections::BTreeSet;

/// The models of these names, and those that they need in turn; in the order of [`MODELS`].
pub fn models_for<'n>(undefined: impl IntoIterator<Item = &'n str>, options: Options) -> Vec<&'static Model> {
    let model_of = if options.real_process { real_model_of } else { model_of };
    let mut needed = BTreeSet::new();
    let mut work: Vec<&'static Model> = undefined.into_iter().filter_map(model_of).collect();
    while let Some(model) = work.pop() {
        if needed.insert(model.name) {
            work.extend(identifiers(model.text).filter_map(model_of));
            if options.real_process && WITH_REAL_PROCESS.contains(&model.name) {
                work.push(&REAL_PROCESS);
            }
        }
    }
    MODELS.iter().chain([&REAL_PROCESS]).filter(|model| needed.contains(model.name)).collect()
}

/// The models that a program of these units needs.
pub fn needed_models<'u>(units: impl IntoIterator<Item = &'u Unit> + Clone, options: Options) -> Vec<&'static Model> {
    let mut defined = BTreeSet::new();
    let mut used = BTreeSet::new();
    for unit in units {
        defined.extend(unit.functions.iter().filter(|f| f.definition.is_some()).map(|f| f.name.as_str()));
        used.extend(used_functions(unit));
    }
    models_for(used.difference(&defined).copied(), options)
}

/// Names of the functions that some expression, initialiser or cleanup of the unit mentions.
fn used_functions(unit: &Unit) -> impl Iterator<Item = &str> {
    let in_expressions = unit.exprs.iter().filter_map(|expr| match &expr.kind {
        ExprKind::Function(id) | ExprKind::Call { callee: Callee::Direct(id), .. } => Some(*id),
        _ => None,
    });
    let in_initialisers = unit.globals.iter().flat_map(|global| match &global.definition {
        Definition::Static { init, .. } => init.as_slice(),
        _ => &[],
    });
    let in_initialisers = in_initialisers.filter_map(|(_, value)| match value {
        StaticValue::Function(id) => Some(*id),
        _ => None,
    });
    let bodies = unit.functions.iter().filter_map(|function| function.definition.as_ref());
    let in_cleanups = bodies.flat_map(|body| body.vars.iter().filter_map(|var| var.cleanup));
    in_expressions.chain(in_initialisers).chain(in_cleanups).map(|id| unit.functions[id].name.as_str())
}

/// The identifiers of a model's text, comments left out.
fn identifiers(text: &'static str) -> impl Iterator<Item = &'static str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    let words = code.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.map(|word| if word.starts_with(IF_LOADED) { "" } else { word }).filter(|word| !word.is_empty())
}

/// A call of such a name does not make a model needed.
pub(super) const IF_LOADED: &str = "__leno_if_loaded_";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::catalog::DEFINED_IN;

    fn names(undefined: &[&str]) -> Vec<&'static str> {
        models_for(undefined.iter().copied(), Options::default()).iter().map(|model| model.name).collect()
    }

    #[test]
    fn the_table_is_sorted_and_complete() {
        assert!(DEFINED_IN.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(DEFINED_IN.iter().all(|(name, _)| model_of(name).is_some()));
        assert!(MODELS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn a_model_brings_what_it_uses_and_nothing_else() {
        assert_eq!(names(&["strlen"]), ["<leno>/string_length.c"]);
        assert_eq!(names(&["malloc", "printf", "pthread_create"]), [""; 0]);
        assert_eq!(names(&["strdup"]), ["<leno>/copy.c", "<leno>/string_duplicate.c", "<leno>/string_length.c"]);
        assert_eq!(names(&["pthread_getspecific"]), ["<leno>/keys.c", "<leno>/thread.c"]);
        assert_eq!(names(&["pthread_cancel"]), ["<leno>/cancel.c", "<leno>/thread.c"]);
    }

    #[test]
    fn a_process_that_is_real_has_no_models() {
        let options = Options { real_process: true, ..Options::default() };
        let names = |name| models_for([name], options).iter().map(|model| model.name).collect::<Vec<_>>();
        assert_eq!(names("sigaction"), ["<leno>/errno.c", "<leno>/real_process.c"]);
        assert_eq!(names("sleep"), names("sigaction"));
        assert_eq!(names("sigaddset"), ["<leno>/errno.c", "<leno>/signal_sets.c"]);
        assert_eq!([names("getpid"), names("rand"), names("alarm")], [const { Vec::<&str>::new() }; 3]);
    }
}
