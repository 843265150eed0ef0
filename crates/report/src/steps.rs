//! The steps of a witness, one a line: who, where, and what.
//!
//! A long execution is folded. What is kept is what leads to its end, and what a person needs to find the way: the last
//! steps, where threads take over from each other, where they start and synchronise.

use crate::call_sites;
use crate::text::place;
use leno_ir::program::{Op, Program};
use leno_ir::witness::{Step, Witness};
use std::fmt::Write;

/// Which steps a report shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Steps {
    /// As many as fit on a screen.
    #[default]
    Folded,
    All,
}

/// More lines than these are folded.
const LONGEST: usize = 40;
/// Of a folded execution, so many lines are kept: between any two of them there may be one about those that were not.
const KEPT: usize = 24;
/// The last ones of them, whatever they are.
const LAST: usize = 10;

struct Line<'w> {
    step: &'w Step,
    place: String,
}

/// The steps in the user's own code.
pub(crate) fn add(out: &mut String, program: &Program, witness: &Witness, steps: Steps) {
    let lines: Vec<Line<'_>> = witness.steps.iter().filter_map(|step| line(program, step)).collect();
    let is_kept = match steps {
        Steps::Folded if lines.len() > LONGEST => kept(program, &lines),
        _ => vec![true; lines.len()],
    };
    let thread_width = lines.iter().map(|line| line.step.thread.len()).max().unwrap_or(0);
    let place_width = lines.iter().map(|line| line.place.len()).max().unwrap_or(0);
    let (mut last, mut folded) = ("", 0);
    for (line, is_kept) in lines.iter().zip(is_kept) {
        if !is_kept {
            folded += 1;
            continue;
        }
        if folded > 0 {
            let _ = writeln!(out, "  {:thread_width$}  … {}", "", counted(folded));
            (last, folded) = ("", 0);
        }
        let thread = if line.step.thread == last { "" } else { line.step.thread.as_str() };
        let _ = writeln!(out, "  {thread:thread_width$}  {:place_width$}  {}", line.place, line.step.effect);
        last = &line.step.thread;
    }
}

fn line<'w>(program: &Program, step: &'w Step) -> Option<Line<'w>> {
    let place = place(program, step.span).filter(|_| !call_sites::is_in_model(program, step.span))?;
    Some(Line { step, place })
}

fn counted(steps: usize) -> String {
    if steps == 1 { "1 step".to_string() } else { format!("{steps} steps") }
}

/// Which lines are kept: the most important ones, and of those that matter equally the last ones.
fn kept(program: &Program, lines: &[Line<'_>]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..lines.len()).rev().collect();
    order.sort_by_key(|index| importance(program, lines, *index));
    let mut is_kept = vec![false; lines.len()];
    order.into_iter().take(KEPT).for_each(|index| is_kept[index] = true);
    is_kept
}

/// The smaller, the more important.
fn importance(program: &Program, lines: &[Line<'_>], index: usize) -> u8 {
    let thread = |index: usize| lines.get(index).map(|line| line.step.thread.as_str());
    let here = thread(index);
    match program.op(lines[index].step.place) {
        _ if index + LAST >= lines.len() => 0,
        Some(Op::Spawn { .. }) => 1,
        _ if thread(index + 1) != here => 2,
        _ if index.checked_sub(1).and_then(thread) != here => 3,
        Some(Op::Sync { .. } | Op::Join { .. } | Op::Free { .. }) => 4,
        Some(Op::Store { .. } | Op::ReadModifyWrite { .. } | Op::CompareExchange { .. }) => 5,
        _ => 6,
    }
}
