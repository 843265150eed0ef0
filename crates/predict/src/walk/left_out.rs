//! What the walk leaves out, in words.

use crate::walk::Walk;
use crate::walk::listener::LeftOut;
use leno_ir::program::Span;

/// So many places are named.
const MOST_PLACES: usize = 4;

impl<L> Walk<'_, '_, L> {
    /// That code of the program was called from outside, where it is not followed.
    pub(crate) fn callback_gap(&self) -> Option<String> {
        let names: Vec<&str> = self.callbacks.iter().map(String::as_str).collect();
        (!names.is_empty())
            .then(|| format!("what functions of the program do that are called from outside, by {}", names.join(", ")))
    }

    pub(crate) fn left_out_in_words(&self) -> Vec<String> {
        let reasons = self.left_out.iter();
        reasons.map(|(reason, spans)| format!("{} ({})", words(*reason), self.places(spans.values()))).collect()
    }

    fn places<'s>(&self, spans: impl Iterator<Item = &'s Span>) -> String {
        let mut places: Vec<String> = Vec::new();
        for span in spans {
            let file = self.program.files.get(span.file).map_or("", String::as_str);
            places.push(format!("{file}:{}", span.line));
        }
        let more = places.len().saturating_sub(MOST_PLACES);
        places.truncate(MOST_PLACES);
        match more {
            0 => places.join(", "),
            _ => format!("{} and {more} more", places.join(", ")),
        }
    }
}

fn words(reason: LeftOut) -> &'static str {
    match reason {
        LeftOut::Address => "orders in which an address would be another one",
        LeftOut::Float => "orders in which floating-point arithmetic would compute with other values",
        LeftOut::Argument => "orders in which a function outside of the program would get other values",
        LeftOut::Unknown => "what functions that Leno does not know do to memory",
        LeftOut::OutsideOrder => {
            "orders in which calls of the outside, by which threads may wait for each other, come in another order"
        }
    }
}
