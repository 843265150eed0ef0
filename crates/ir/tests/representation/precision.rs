//! How much the facts know: small C programs with what is expected of locksets and may-happen-in-parallel, at the lines
//! that it is about.
//!
//! `//~ held: a b(shared)` says which locks are held at every access of that line, no more and no fewer; locks inside
//! of objects are `object+offset`. `//~ with: f g` says which start functions the other threads have that may run at
//! the same time as an access of that line, and `//~ parallel: 3 7` which lines have accesses that may happen in
//! parallel with one of that line. Soundness is tested elsewhere; here a change that loses precision is seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use leno_ir::analysis::Facts;
use leno_ir::analysis::locksets::Mode;
use leno_ir::analysis::points_to::{AbstractObject, for_each_op};
use leno_ir::program::*;
use leno_ir::text::Names;

use crate::compile::compiled_with_declarations;

#[derive(Default)]
struct Line {
    held: Option<BTreeSet<String>>,
    with: BTreeSet<String>,
    places: Vec<Place>,
    parallel: BTreeSet<String>,
}

/// What is known at the lines of a program that access memory other than synchronisation objects.
fn known(program: &Program) -> BTreeMap<u32, Line> {
    let facts = Facts::new(program);
    let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
    for (id, function) in program.functions.iter_enumerated() {
        let Body::Blocks(blocks) = &function.body else { continue };
        for_each_op(id, function, |place, op| {
            let span = blocks[place.block].instrs[place.index as usize].span;
            if op.access().is_none() || program.files[span.file] != "facts.c" {
                return;
            }
            let line = lines.entry(span.line).or_default();
            line.places.push(place);
            let held = held_at(program, &facts, place);
            line.held = Some(match line.held.take() {
                Some(known) => known.intersection(&held).cloned().collect(),
                None => held,
            });
            for &root in facts.threads().running(id) {
                let overlaps = |other| facts.parallel().may_overlap_thread(root, place, other);
                let others = facts.threads().roots().ids().filter(|other| overlaps(*other));
                line.with.extend(others.map(|other| name_of(program, facts.threads().roots()[other].function)));
            }
        });
    }
    let places: Vec<(u32, Place)> =
        lines.iter().flat_map(|(number, line)| line.places.iter().map(|place| (*number, *place))).collect();
    for line in lines.values_mut() {
        let is_parallel =
            |place: &Place| line.places.iter().any(|own| facts.parallel().may_happen_in_parallel(*own, *place));
        line.parallel =
            places.iter().filter(|(_, place)| is_parallel(place)).map(|(line, _)| line.to_string()).collect();
    }
    lines
}

fn name_of(program: &Program, function: FuncId) -> String {
    let name = &program.functions[function].name;
    if program.entry == Some(function) { "main".to_string() } else { name.clone() }
}

fn held_at(program: &Program, facts: &Facts, place: Place) -> BTreeSet<String> {
    let names = Names::new(program);
    let held = facts.locksets().held_at(place);
    let name = |(lock, mode): (leno_ir::analysis::locksets::Lock, Mode)| {
        let object = match facts.points_to().objects()[lock.address.object] {
            AbstractObject::Static(id) => names.object(id).to_string().trim_start_matches('@').to_string(),
            AbstractObject::Slot(function, slot) => program.functions[function].slots[slot].name.clone(),
            AbstractObject::Site(_) => "heap".to_string(),
            other => format!("{other:?}"),
        };
        let offset = if lock.address.offset == 0 { String::new() } else { format!("+{}", lock.address.offset) };
        let mode = if mode == Mode::Shared { "(shared)" } else { "" };
        format!("{object}{offset}{mode}")
    };
    held.iter().map(name).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_string).collect()
}

#[test]
fn expected_facts_are_known() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/representation/facts");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut expectations = 0;
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let known = known(&compiled_with_declarations("facts.c", &text));
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, expected)) = line.split_once("//~") else { continue };
            expectations += 1;
            let Some(found) = known.get(&number) else {
                failures.push(format!("{name}:{number}: no access"));
                continue;
            };
            for part in expected.split("//~") {
                let (what, found) = match part.trim().split_once(':') {
                    Some(("held", locks)) => (words(locks), found.held.clone().unwrap_or_default()),
                    Some(("with", threads)) => (words(threads), found.with.clone()),
                    Some(("parallel", lines)) => (words(lines), found.parallel.clone()),
                    _ => panic!("{name}:{number}: {part}"),
                };
                if what != found {
                    failures.push(format!("{name}:{number}: expected {part}, found {found:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(expectations > 80, "{expectations}");
}
