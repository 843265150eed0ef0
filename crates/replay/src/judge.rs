//! From what the run reported to a verdict.
//!
//! The runtime reports facts, a line each; here they are held against the claim. Only the promised thing counts:
//! another assertion that fails, or the right one in another thread, confirms nothing.

use crate::Outcome;
use crate::goal::{called_at, failure_at, span_at};
use crate::process::Run;
use crate::watch::{Ending, needs};
use leno_ir::interp::{Place, ViolationKind};
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Racer, Witness};

/// `asking`: what in the program's text asks for inputs.
pub(crate) fn judge(program: &Program, places: &[Place], witness: &Witness, asking: &[String], run: &Run) -> Outcome {
    let facts: Vec<Fact> = run.report.iter().filter_map(|line| Fact::read(line)).collect();
    let (aside, facts): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(Fact::is_aside);
    let judge = Judge { program, places, witness, facts: &facts, aside: &aside };
    match judge.conclude(run) {
        Ok(how) => Ok(how + &judge.sources(asking)),
        Err(why) => Err(judge.explain(why)),
    }
}

/// A few names; of more, how many.
fn listed(names: &[String]) -> String {
    const MOST: usize = 4;
    match names.len() {
        0..=MOST => names.join(", "),
        count => format!("{} and {} more", names[..MOST].join(", "), count - MOST),
    }
}

/// A result, as C's `int` if it could be one.
fn number(bits: i64) -> String {
    match u32::try_from(bits) {
        Ok(low) => (low as i32).to_string(),
        Err(_) => format!("{bits:#x}"),
    }
}

fn said(mut why: String, complaint: &str) -> String {
    if !complaint.is_empty() {
        why.push_str(": ");
        why.push_str(complaint);
    }
    why
}

/// One line of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Fact {
    Followed,
    Diverged {
        step: usize,
        text: String,
    },
    Exited {
        step: usize,
        text: String,
    },
    Failed {
        thread: String,
        place: usize,
    },
    Passes,
    Survived {
        thread: String,
        place: usize,
    },
    At(Standing),
    Made(Standing),
    Interleaved,
    Away {
        text: String,
    },
    Section {
        thread: String,
        place: usize,
    },
    Invalid {
        kind: String,
        thread: String,
        place: usize,
        text: String,
    },
    Crashed {
        thread: String,
        place: usize,
        how: String,
    },
    Race,
    Free {
        thread: String,
        place: usize,
    },
    Open {
        thread: String,
        place: usize,
        text: String,
    },
    Returned {
        thread: String,
        place: usize,
    },
    Blind {
        text: String,
    },
    Deadlock {
        others: usize,
    },
    Leaks {
        thread: String,
        place: usize,
        count: usize,
    },
    /// It asked for something that is not given to a confined program, and cannot go on.
    Needs {
        text: String,
    },
    /// A library function was called, and the system refused what it asked for.
    Refused {
        place: usize,
        text: String,
    },
    /// A function that nothing is known of was really called, or not, because none is linked.
    Called {
        name: String,
        is_real: bool,
    },
    /// It did not return what the witness has.
    Differs {
        name: String,
        given: i64,
        got: i64,
    },
    Unconfined {
        text: String,
    },
}

/// A thread that stands at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Standing {
    thread: String,
    place: usize,
    address: u64,
    bytes: u64,
    writes: bool,
    atomic: bool,
    /// Frees the object, which is an ordinary write to those whom nothing orders before it.
    frees: bool,
}

impl Fact {
    fn read(line: &str) -> Option<Fact> {
        let mut words = line.split(' ');
        let verb = words.next()?;
        let rest = |count: usize| line.splitn(count + 2, ' ').nth(count + 1).unwrap_or("").to_string();
        let mut word = || words.next();
        Some(match verb {
            "followed" => Fact::Followed,
            "diverged" => Fact::Diverged { step: word()?.parse().ok()?, text: rest(1) },
            "ended" => Fact::Exited { step: word()?.parse().ok()?, text: rest(1) },
            "failed" => Fact::Failed { thread: word()?.to_string(), place: word()?.parse().ok()? },
            "passes" => Fact::Passes,
            "survived" => Fact::Survived { thread: word()?.to_string(), place: word()?.parse().ok()? },
            "at" | "made" => {
                let (thread, place) = (word()?.to_string(), word()?.parse().ok()?);
                let address = word()?;
                let address = u64::from_str_radix(address.strip_prefix("0x").unwrap_or(address), 16).ok()?;
                let (bytes, flags): (u64, u32) = (word()?.parse().ok()?, word()?.parse().ok()?);
                let [writes, atomic, frees] = [1, 2, 4].map(|flag| flags & flag != 0);
                let standing = Standing { thread, place, address, bytes, writes, atomic, frees };
                if verb == "at" { Fact::At(standing) } else { Fact::Made(standing) }
            }
            "away" => Fact::Away { text: rest(0) },
            "section" => Fact::Section { thread: word()?.to_string(), place: word()?.parse().ok()? },
            "invalid" => Fact::Invalid {
                kind: word()?.to_string(),
                thread: word()?.to_string(),
                place: word()?.parse().ok()?,
                text: rest(3),
            },
            "crashed" => {
                let (thread, place) = (word()?.to_string(), word()?.parse().ok()?);
                word()?;
                Fact::Crashed { thread, place, how: rest(3) }
            }
            "race" => Fact::Race,
            "interleaved" => Fact::Interleaved,
            "free" => Fact::Free { thread: word()?.to_string(), place: word()?.parse().ok()? },
            "open" => Fact::Open { thread: word()?.to_string(), place: word()?.parse().ok()?, text: rest(2) },
            "returned" => Fact::Returned { thread: word()?.to_string(), place: word()?.parse().ok()? },
            "blind" => Fact::Blind { text: rest(0) },
            "leaks" => {
                Fact::Leaks { thread: word()?.to_string(), place: word()?.parse().ok()?, count: word()?.parse().ok()? }
            }
            "needs" => Fact::Needs { text: rest(0) },
            "refused" => Fact::Refused { place: word()?.parse().ok()?, text: rest(1) },
            "real" | "given" => Fact::Called { name: rest(0), is_real: verb == "real" },
            "differs" => {
                Fact::Differs { name: word()?.to_string(), given: word()?.parse().ok()?, got: word()?.parse().ok()? }
            }
            "unconfined" => Fact::Unconfined { text: rest(0) },
            "deadlock" => Fact::Deadlock { others: word()?.parse().ok()? },
            _ => return None,
        })
    }
}

impl Fact {
    /// About calls on the way, not about how the run ended.
    fn is_aside(&self) -> bool {
        matches!(self, Fact::Refused { .. } | Fact::Called { .. } | Fact::Differs { .. })
    }
}

struct Judge<'a> {
    program: &'a Program,
    places: &'a [Place],
    witness: &'a Witness,
    facts: &'a [Fact],
    aside: &'a [Fact],
}

impl Judge<'_> {
    fn conclude(&self, run: &Run) -> Outcome {
        match self.facts.last() {
            Some(Fact::Followed | Fact::Section { .. } | Fact::At(_) | Fact::Made(_) | Fact::Passes) | None => {
                match &run.ending {
                    // A test that ends with where a thread stands has found it at the wrong place.
                    Ending::Ended(status) if status.success() && !self.facts.is_empty() => self.last(self.facts),
                    ending => Err(said(ending.describe(), &run.complaint)),
                }
            }
            Some(_) => self.last(self.facts),
        }
    }

    /// A run may have gone another way because a function does not return what the witness has, or because it is
    /// confined.
    fn explain(&self, why: String) -> String {
        let differs = self.aside.iter().find_map(|fact| match fact {
            Fact::Differs { name, given, got } => {
                Some(format!("; `{name}` really returned {}, where the witness has {}", number(*got), number(*given)))
            }
            _ => None,
        });
        let refused = self.aside.iter().find_map(|fact| match fact {
            Fact::Refused { place, text } => {
                let call = self.places.get(*place).and_then(|place| called_at(self.program, *place));
                let what = format!("what `{}` at {} asks for", call.unwrap_or("a call"), self.position(*place));
                Some(format!("; perhaps it {} ({text})", needs(&what)))
            }
            _ => None,
        });
        why + &differs.unwrap_or_default() + &refused.unwrap_or_default()
    }

    /// What was real in a run, and what was given to it.
    fn sources(&self, asking: &[String]) -> String {
        let called = |which: bool| {
            self.aside.iter().filter_map(move |fact| match fact {
                // What the recorder's own functions gave was real when it was recorded.
                Fact::Called { name, is_real } if *is_real == which && !name.starts_with("__leno_") => Some(name),
                _ => None,
            })
        };
        let given: Vec<String> = asking.iter().chain(called(false)).map(|name| format!("`{name}`")).collect();
        let real: Vec<String> = called(true).map(|name| format!("`{name}`")).collect();
        let mut text = String::new();
        if !given.is_empty() {
            text += &format!("; given to it: what {} returned", listed(&given));
        }
        if !real.is_empty() {
            text += &format!("; really called, though Leno does not know it: {}", listed(&real));
        }
        text
    }

    fn last(&self, facts: &[Fact]) -> Outcome {
        let Some(last) = facts.last() else { return Err("the run reported nothing".to_string()) };
        let at = |place: &usize| self.position(*place);
        match last {
            Fact::Diverged { step, text } => Err(self.in_step(*step, &self.with_positions(text))),
            Fact::Exited { step, text } => Err(self.in_step(*step, text)),
            Fact::Failed { thread, place } => self.failed(thread, *place),
            Fact::Crashed { thread, place, how } => self.crashed(thread, *place, how),
            Fact::Invalid { kind, thread, place, text } => self.invalid(kind, thread, *place, text),
            Fact::Survived { thread, place } => {
                Err(format!("{thread} makes its step at {}, and nothing goes wrong", at(place)))
            }
            Fact::At(standing) => Err(self.elsewhere(standing)),
            Fact::Away { text } => Err(format!("after the last step, {text}")),
            Fact::Race => self.race(),
            Fact::Interleaved if matches!(self.witness.claim, Claim::Race { .. }) => self.unordered(),
            Fact::Interleaved => self.interleaved(),
            Fact::Made(_) => Err("the run ended too early".to_string()),
            Fact::Free { thread, place } => Err(format!("{thread} does not have to wait at {}", at(place))),
            Fact::Open { thread, place, text } => Err(format!("{thread} waits at {}, but {text}", at(place))),
            Fact::Returned { thread, place } => {
                Err(format!("{thread} was let into its wait at {}, and came back from it", at(place)))
            }
            Fact::Blind { text } => Err(format!("the deadlock cannot be observed: {text}")),
            Fact::Deadlock { others } => self.deadlock(*others),
            Fact::Leaks { thread, place, count } => self.leaks(thread, *place, *count),
            Fact::Needs { text } => Err(format!("it {}", needs(text))),
            Fact::Unconfined { text } => {
                Err(format!("the replay cannot be confined here ({text}); --replay-unconfined does without"))
            }
            Fact::Followed
            | Fact::Passes
            | Fact::Section { .. }
            | Fact::Refused { .. }
            | Fact::Called { .. }
            | Fact::Differs { .. } => Err("the run ended too early".to_string()),
        }
    }

    fn in_step(&self, step: usize, text: &str) -> String {
        let count = self.witness.steps.len();
        match step < count {
            true => format!("step {} of {count} cannot be made: {text}", step + 1),
            false => format!("after the last of {count} steps, {text}"),
        }
    }

    fn elsewhere(&self, standing: &Standing) -> String {
        format!(
            "after the last step, {} goes on to {}, and nothing goes wrong",
            standing.thread,
            self.position(standing.place)
        )
    }

    fn position(&self, place: usize) -> String {
        let span = self.places.get(place).and_then(|place| span_at(self.program, *place));
        span.map_or("an unknown place".to_string(), |span| self.show(span))
    }

    fn show(&self, span: Span) -> String {
        match self.program.files.get(span.file) {
            Some(file) if span.line > 0 => format!("{file}:{}", span.line),
            _ => "a place without a line".to_string(),
        }
    }

    /// Numbers of places, as `@17`, become places.
    fn with_positions(&self, text: &str) -> String {
        let shown = |word: &str| match word.strip_prefix('@').and_then(|number| number.parse().ok()) {
            Some(number) => self.position(number),
            None => word.to_string(),
        };
        text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
    }

    fn has_span(&self, place: usize, span: Span) -> bool {
        self.places.get(place).and_then(|place| span_at(self.program, *place)) == Some(span)
    }

    /// The violation that was promised.
    fn promised(&self) -> Option<(ViolationKind, &str, Span)> {
        match &self.witness.claim {
            Claim::Violation { kind, thread, span, .. } => Some((*kind, thread, *span)),
            _ => None,
        }
    }

    fn steps(&self) -> String {
        match self.witness.steps.len() {
            1 => "1 step".to_string(),
            count => format!("{count} steps"),
        }
    }

    fn failed(&self, thread: &str, place: usize) -> Outcome {
        let kind = self.places.get(place).and_then(|place| failure_at(self.program, *place));
        let title = kind.map_or("a failure", ViolationKind::title);
        let happened = format!("{title} in {thread} at {}", self.position(place));
        match self.promised() {
            Some((promised, who, span)) if Some(promised) == kind && who == thread && self.has_span(place, span) => {
                Ok(format!("{happened}, in the compiled program after {}", self.steps()))
            }
            _ => Err(format!("something else happened: {happened}")),
        }
    }

    fn crashed(&self, thread: &str, place: usize, how: &str) -> Outcome {
        let happened = format!("{how} in {thread} at {}", self.position(place));
        match self.promised() {
            Some((kind, who, span)) if who == thread && shows_as(kind, how) => {
                match kind == ViolationKind::StackOverflow || self.has_span(place, span) {
                    true => Ok(format!("AddressSanitizer reports {happened}, after {}", self.steps())),
                    false => Err(format!("the program crashed at another place: {happened}")),
                }
            }
            _ => Err(format!("the program crashed otherwise: {happened}")),
        }
    }

    fn invalid(&self, kind: &str, thread: &str, place: usize, text: &str) -> Outcome {
        let happened = format!("{} by {thread} at {}: {text}", title_of(kind), self.position(place));
        match self.promised() {
            Some((promised, who, span))
                if format!("{promised:?}") == kind && who == thread && self.has_span(place, span) =>
            {
                Ok(format!("{happened}, after {}", self.steps()))
            }
            _ => Err(format!("something else went wrong: {happened}")),
        }
    }

    fn leaks(&self, thread: &str, place: usize, count: usize) -> Outcome {
        let objects = if count == 1 { "1 object is".to_string() } else { format!("{count} objects are") };
        let state = match self.promised() {
            Some((ViolationKind::LostMemory, ..)) => "allocated, and nothing points there",
            _ => "allocated",
        };
        let happened = format!("{objects} still {state}, when {thread} ends the program at {}", self.position(place));
        match self.promised() {
            Some((ViolationKind::Leak | ViolationKind::LostMemory, who, _)) if who == thread && count > 0 => {
                Ok(format!("{happened}, after {}", self.steps()))
            }
            _ => Err(happened),
        }
    }

    fn race(&self) -> Outcome {
        let Claim::Race { first, second, .. } = &self.witness.claim else {
            return Err("a race was not promised".to_string());
        };
        let one = self.racer(first)?;
        let other = self.racer(second)?;
        if !(one.writes || other.writes) {
            return Err("both threads only read".to_string());
        }
        if one.atomic && other.atomic {
            return Err("both accesses are atomic".to_string());
        }
        let common = overlap(one, other);
        if common == 0 {
            return Err(format!(
                "both threads stand at their accesses, but these do not overlap: {} bytes at {:#x} and {} at {:#x}",
                one.bytes, one.address, other.bytes, other.address
            ));
        }
        let shown = |standing: &Standing| {
            let verb = if standing.writes { "write" } else { "read" };
            format!("{} stands before its {verb} at {}", standing.thread, self.position(standing.place))
        };
        let bytes = if common == 1 { "the same byte".to_string() } else { format!("the same {common} bytes") };
        Ok(format!("{} while {}, of {bytes}, after {}", shown(one), shown(other), self.steps()))
    }

    /// One access was made and the other is about to be, of the same memory. That nothing orders them is known from the
    /// steps, which are the same as the witness's.
    fn unordered(&self) -> Outcome {
        let Claim::Race { first, second, .. } = &self.witness.claim else {
            return Err("a race was not promised".to_string());
        };
        let last = self.racer(second)?;
        let is_first = |standing: &&Standing| {
            standing.thread == first.thread && self.has_span(standing.place, first.span) && overlap(standing, last) > 0
        };
        let made: Vec<&Standing> = self.facts.iter().filter_map(made).collect();
        let Some(one) = made.into_iter().rev().find(is_first) else {
            return Err(format!("{} does not access the same memory before", first.thread));
        };
        if !(one.writes || last.writes) {
            return Err("both threads only read".to_string());
        }
        if one.atomic && last.atomic && !last.frees {
            return Err("both accesses are atomic".to_string());
        }
        let verb = |standing: &Standing| if standing.writes { "write" } else { "read" };
        Ok(format!(
            "{} makes its {} at {}, and {} stands before its {} at {}, of the same memory, after {}; \
             none of these steps orders the two in C11",
            first.thread,
            verb(one),
            self.position(one.place),
            second.thread,
            verb(last),
            self.position(last.place),
            self.steps()
        ))
    }

    /// Of one place: an access of the block, one of another thread, and the block's next one about to be made.
    fn interleaved(&self) -> Outcome {
        let Claim::Atomicity { first, between, second, .. } = &self.witness.claim else {
            return Err("a block was not promised".to_string());
        };
        let last = self.racer(second)?;
        let made: Vec<&Standing> = self.facts.iter().filter_map(made).collect();
        let is = |standing: &Standing, racer: &Racer| {
            standing.thread == racer.thread && self.has_span(standing.place, racer.span) && overlap(standing, last) > 0
        };
        let one = made.iter().rposition(|standing| is(standing, first));
        let Some(one) = one else { return Err(format!("{} does not make its first access", first.thread)) };
        let other = made[one..].iter().find(|standing| is(standing, between));
        let Some(other) = other else { return Err(format!("{} does not come between", between.thread)) };
        if !(other.writes || (made[one].writes && last.writes)) {
            return Err("the accesses do not conflict".to_string());
        }
        let verb = |standing: &Standing| if standing.writes { "write" } else { "read" };
        Ok(format!(
            "{} makes its {} at {}, then {} its {} at {}, and then {} stands before its {} at {}, of the same memory, after {}",
            first.thread,
            verb(made[one]),
            self.position(made[one].place),
            between.thread,
            verb(other),
            self.position(other.place),
            second.thread,
            verb(last),
            self.position(last.place),
            self.steps()
        ))
    }

    /// Where a racer stands; it must be where the claim says.
    fn racer(&self, racer: &Racer) -> Result<&Standing, String> {
        let standing = self.facts.iter().find_map(|fact| match fact {
            Fact::At(standing) if standing.thread == racer.thread => Some(standing),
            _ => None,
        });
        let Some(standing) = standing else {
            let away = self.facts.iter().find_map(|fact| match fact {
                Fact::Away { text } if text.split(' ').next() == Some(&racer.thread) => Some(text.as_str()),
                _ => None,
            });
            return Err(format!("after the last step, {}", away.unwrap_or("a thread is missing")));
        };
        let by_section = self.facts.iter().any(|fact| match fact {
            Fact::Section { thread, place } => *thread == racer.thread && self.has_span(*place, racer.span),
            _ => false,
        });
        match by_section || self.has_span(standing.place, racer.span) {
            true => Ok(standing),
            false => Err(format!("{} stands at {} instead", standing.thread, self.position(standing.place))),
        }
    }

    fn deadlock(&self, others: usize) -> Outcome {
        let Claim::Deadlock { waiting } = &self.witness.claim else {
            return Err("a deadlock was not promised".to_string());
        };
        let waits: Vec<String> =
            waiting.iter().map(|waiting| format!("{} at {}", waiting.thread, self.show(waiting.span))).collect();
        let why = match others {
            0 => "and no thread is left to wake them",
            _ => "each for what another of them holds, or a thread that has ended",
        };
        let steps = self.steps();
        Ok(format!(
            "after {steps} all of these are blocked for ever in the compiled program, {why}: {}",
            waits.join(", ")
        ))
    }
}

fn made(fact: &Fact) -> Option<&Standing> {
    match fact {
        Fact::Made(standing) => Some(standing),
        _ => None,
    }
}

/// How many bytes two accesses have in common.
fn overlap(one: &Standing, other: &Standing) -> u64 {
    let end = |standing: &Standing| standing.address.saturating_add(standing.bytes);
    end(one).min(end(other)).saturating_sub(one.address.max(other.address))
}

/// The runtime calls kinds as the code does.
fn title_of(kind: &str) -> &'static str {
    use ViolationKind::{InvalidDestroy, InvalidThread, InvalidUnlock, UseAfterDestroy};
    let known = [InvalidUnlock, InvalidDestroy, UseAfterDestroy, InvalidThread];
    known.into_iter().find(|known| format!("{known:?}") == kind).map_or("a violation", ViolationKind::title)
}

/// Whether AddressSanitizer calls a violation of this kind so.
fn shows_as(kind: ViolationKind, how: &str) -> bool {
    use ViolationKind::*;
    match kind {
        DoubleFree => how == "double-free",
        InvalidFree => matches!(how, "bad-free" | "double-free"),
        StackOverflow => how == "stack-overflow",
        // What is wrong with an address depends on what happens to lie there; that it is wrong, does not.
        _ => {
            !matches!(how, "double-free" | "bad-free" | "stack-overflow" | "out-of-memory" | "allocation-size-too-big")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_report_are_understood() {
        assert_eq!(
            Fact::read("diverged 3 main.1 is at another place: @7"),
            Some(Fact::Diverged { step: 3, text: "main.1 is at another place: @7".to_string() })
        );
        assert_eq!(
            Fact::read("at main.2 17 0x7f00 4 1"),
            Some(Fact::At(Standing {
                thread: "main.2".to_string(),
                place: 17,
                address: 0x7f00,
                bytes: 4,
                writes: true,
                atomic: false,
                frees: false
            }))
        );
        assert_eq!(
            Fact::read("crashed main 2 9 heap-use-after-free"),
            Some(Fact::Crashed { thread: "main".to_string(), place: 2, how: "heap-use-after-free".to_string() })
        );
        for broken in ["", "at main", "failed main x", "nonsense 1 2", "deadlock"] {
            assert_eq!(Fact::read(broken), None, "{broken}");
        }
    }
}
