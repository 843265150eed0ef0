//! Places for people: where something goes wrong inside of a model of the library, the call in the program is what they
//! know.
//!
//! A claim has the place itself, which a replay needs. The interpreter follows the witness, and the activations of the threads
//! say who called.

use leno_engine::machine_options;
use leno_engine::witness::{Follower, follow};
use leno_ir::interp::Image;
use leno_ir::program::{Program, Span};
use leno_ir::witness::{Claim, Witness};

/// The same claim with places in the program's own text, and which places took which ones' places.
pub(crate) fn shown(program: &Program, witness: &Witness) -> (Claim, Vec<(Span, Span)>) {
    let mut claim = witness.claim.clone();
    let mut moved = Vec::new();
    if !places(&mut claim).iter().any(|(_, span)| is_in_model(program, **span)) {
        return (claim, moved);
    }
    let image = Image::new(program);
    let Some(follower) = followed(witness, &image) else { return (claim, moved) };
    for (thread, span) in places(&mut claim) {
        if let Some(call) = call_site(program, &follower, &thread, *span) {
            moved.push((*span, call));
            *span = call;
        }
    }
    (claim, moved)
}

/// The state in which a witness ends, if the interpreter can follow it.
pub(crate) fn followed<'p>(witness: &Witness, image: &'p Image<'p>) -> Option<Follower<'p>> {
    let mut follow = |spurious| follow(witness, image, &machine_options(spurious)).ok();
    [true, false].into_iter().find_map(&mut follow).map(|(follower, _)| follower)
}

pub(crate) fn is_in_model(program: &Program, span: Span) -> bool {
    program.files.get(span.file).is_some_and(|file| file.starts_with("<leno>"))
}

/// The threads and places of a claim.
fn places(claim: &mut Claim) -> Vec<(String, &mut Span)> {
    match claim {
        Claim::Violation { thread, span, .. } => vec![(thread.clone(), span)],
        Claim::Race { first, second, .. } => {
            [first, second].into_iter().map(|racer| (racer.thread.clone(), &mut racer.span)).collect()
        }
        Claim::Deadlock { waiting } => {
            waiting.iter_mut().map(|waiting| (waiting.thread.clone(), &mut waiting.span)).collect()
        }
        Claim::Atomicity { first, between, second, .. } => {
            [first, between, second].into_iter().map(|racer| (racer.thread.clone(), &mut racer.span)).collect()
        }
    }
}

/// The innermost call in the program's own text that a thread has made which stands at a place of a model.
fn call_site(program: &Program, follower: &Follower<'_>, thread: &str, span: Span) -> Option<Span> {
    let machine = &follower.machine;
    let calls = machine.backtrace(follower.thread(thread)?);
    let spans: Vec<Span> = calls.into_iter().map(|(_, pc)| machine.image().span(pc)).collect();
    let stands_there = is_in_model(program, span) && spans.first().is_some_and(|first| is_in_model(program, *first));
    spans.into_iter().find(|span| !is_in_model(program, *span) && span.line > 0).filter(|_| stands_there)
}
