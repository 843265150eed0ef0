//! What is left out, in words.

use crate::walk::Walk;
use leno_ir::index::Idx;
use leno_ir::program::{Program, Span};
use std::collections::BTreeMap;

pub use crate::walk::listener::LeftOut;

/// So many places are named.
const MOST_PLACES: usize = 4;

/// Why some reorderings are not looked at, and at which lines.
#[derive(Clone, Debug, Default)]
pub struct AllLeftOut {
    places: BTreeMap<LeftOut, BTreeMap<(usize, u32), Span>>,
}

impl AllLeftOut {
    pub fn add(&mut self, why: LeftOut, span: Span) {
        self.places.entry(why).or_default().entry((span.file.index(), span.line)).or_insert(span);
    }

    pub fn extend(&mut self, other: &AllLeftOut) {
        for (why, spans) in &other.places {
            spans.values().for_each(|span| self.add(*why, *span));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether something is left out for this reason.
    pub fn contains(&self, why: LeftOut) -> bool {
        self.places.contains_key(&why)
    }

    /// Whether something is left out for another reason.
    pub fn contains_others(&self, why: LeftOut) -> bool {
        self.places.keys().any(|other| *other != why)
    }

    /// One line for each reason.
    pub fn in_words(&self, program: &Program) -> Vec<String> {
        let line = |(why, spans): (&LeftOut, &BTreeMap<_, Span>)| format!("{} ({})", words(*why), show(program, spans));
        self.places.iter().map(line).collect()
    }
}

fn show(program: &Program, spans: &BTreeMap<(usize, u32), Span>) -> String {
    let mut places: Vec<String> = Vec::new();
    for span in spans.values() {
        let file = program.files.get(span.file).map_or("", String::as_str);
        places.push(format!("{file}:{}", span.line));
    }
    let more = places.len().saturating_sub(MOST_PLACES);
    places.truncate(MOST_PLACES);
    match more {
        0 => places.join(", "),
        _ => format!("{} and {more} more", places.join(", ")),
    }
}

fn words(reason: LeftOut) -> &'static str {
    match reason {
        LeftOut::Branch => "what follows a branch that another order decides in another way",
        LeftOut::Unfinished => "what threads do later that had not ended when the run was over",
        LeftOut::Address => "orders in which an address would be another one",
        LeftOut::Float => "orders in which floating-point arithmetic would compute with other values",
        LeftOut::Argument => "orders in which a function outside of the program would get other values",
        LeftOut::Unknown => "what functions that Leno does not know do to memory",
        LeftOut::OutsideOrder => {
            "orders in which calls of the outside, by which threads may wait for each other, come in another order"
        }
    }
}

impl<L> Walk<'_, '_, L> {
    /// That code of the program was called from outside, where it is not followed.
    pub(crate) fn callback_gap(&self) -> Option<String> {
        let names: Vec<&str> = self.callbacks.iter().map(String::as_str).collect();
        (!names.is_empty())
            .then(|| format!("what functions of the program do that are called from outside, by {}", names.join(", ")))
    }
}
