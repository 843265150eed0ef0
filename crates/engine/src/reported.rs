//! Violations that have been reported already: by their places, so that the next one that is found is another one.

use leno_ir::program::Span;
use leno_ir::witness::Claim;

/// File, line and column.
type Spot = (u32, u32, u32);

/// What was reported, and where it is in the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reported {
    Violation(Spot),
    /// The smaller place first.
    Race(Spot, Spot),
    Deadlock,
}

fn spot(span: Span) -> Spot {
    (span.file.0, span.line, span.column)
}

impl Reported {
    pub fn violation(span: Span) -> Reported {
        Reported::Violation(spot(span))
    }

    pub fn race(first: Span, second: Span) -> Reported {
        let (a, b) = (spot(first), spot(second));
        Reported::Race(a.min(b), a.max(b))
    }

    pub fn of(claim: &Claim) -> Reported {
        match claim {
            Claim::Violation { span, .. } => Reported::violation(*span),
            Claim::Race { first, second, .. } => Reported::race(first.span, second.span),
            Claim::Deadlock { .. } => Reported::Deadlock,
            // (This engine does not look for them.)
            Claim::Atomicity { second, .. } => Reported::violation(second.span),
        }
    }
}
