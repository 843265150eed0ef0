//! Where operations take effect: every choice of one step for each operation is tried, until one proves it.
//!
//! A choice that is wrong can only cost the proof, never make it wrong: the observer then sees an error, or an
//! operation returns without having taken effect, or twice. Most wrong choices fail at once when operations run one after the
//! other, which is tried first because it is cheap.

use super::code::{Code, StepKind};
use super::explore::Failed;
use super::machine::Method;
use super::memory::{Memory, Region, Stop};
use super::{GoesOn, NoProof, Point, Proof, Question, explore_all, initial, machine, reason, show};
use leno_ir::program::{Expr, Op};
use std::collections::BTreeSet;

pub enum Searched {
    Proved(Proof),
    /// A version counter has been found.
    Counter(Region, i64),
    Failed(NoProof),
}

pub fn search(
    question: &Question,
    methods: &[Method],
    memory: Memory,
    counters: &BTreeSet<(Region, i64)>,
    goes_on: GoesOn,
) -> Searched {
    let start = match initial::shared_at_start(question, memory, counters) {
        Ok(start) => start,
        Err(stop) => return Searched::Failed(NoProof::because(reason(&stop))),
    };
    let candidates: Vec<Vec<usize>> = methods.iter().map(|method| candidates(&method.code)).collect();
    if let Some(at) = candidates.iter().position(Vec::is_empty) {
        let reason = format!("`{}` never writes what is shared", methods[at].code.function);
        return Searched::Failed(NoProof::because(reason));
    }
    let mut best: Option<(bool, NoProof)> = None;
    for choice in choices(&candidates) {
        let mut chosen = methods.to_vec();
        for (method, step) in chosen.iter_mut().zip(&choice) {
            method.takes_effect = Some(*step);
        }
        for interference in [false, true] {
            let machine = machine(question, chosen.clone(), memory, counters);
            match explore_all(&machine, start.clone(), interference, goes_on, question.most_views) {
                Ok(_) if !interference => {}
                Ok(explored) => {
                    let points = chosen.iter().zip(&choice).map(|(method, step)| Point {
                        operation: method.code.function.clone(),
                        line: method.code.steps[*step].span.line,
                    });
                    return Searched::Proved(Proof {
                        memory,
                        views: explored.views,
                        mimicked: explored.mimicked,
                        points: points.collect(),
                        weak_orders: false,
                        ignores_free: false,
                        counters: counters.len(),
                    });
                }
                Err(Failed { stop: Stop::Counter(region, offset), .. }) => return Searched::Counter(region, offset),
                Err(failed) => {
                    let is_better =
                        best.as_ref().is_none_or(|(with, known)| (interference, failed.views) > (*with, known.views));
                    if is_better {
                        let view = failed.view.as_ref();
                        let view = view.map(|view| (show::text(&machine, view), show::dot(&machine, view)));
                        best =
                            Some((interference, NoProof { reason: reason(&failed.stop), view, views: failed.views }));
                    }
                    break;
                }
            }
        }
        if !goes_on() {
            break;
        }
    }
    Searched::Failed(best.map_or_else(|| NoProof::because("there is nothing to try"), |(_, failed)| failed))
}

/// The steps that may be seen by others: comparisons first, then exchanges, then stores.
fn candidates(code: &Code) -> Vec<usize> {
    let mut all = Vec::new();
    for (at, step) in code.steps.iter().enumerate() {
        let StepKind::Instruction(op) = &step.kind else { continue };
        let is_slot = |expr: &Expr| match expr {
            Expr::Slot(_) => true,
            Expr::Binary(_, operands) => matches!(operands[0], Expr::Slot(_)),
            _ => false,
        };
        match op {
            Op::CompareExchange { .. } => all.push((0, at)),
            Op::ReadModifyWrite { .. } => all.push((1, at)),
            Op::Store { to, .. } if !is_slot(&to.ptr) => all.push((2, at)),
            _ => {}
        }
    }
    all.sort_unstable();
    all.into_iter().map(|(_, at)| at).collect()
}

/// One step for each operation, in every combination, early ones first.
fn choices(candidates: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for steps in candidates {
        let longer = all.iter().flat_map(|choice: &Vec<usize>| {
            steps.iter().map(move |step| choice.iter().copied().chain([*step]).collect::<Vec<usize>>())
        });
        all = longer.collect();
    }
    all
}
