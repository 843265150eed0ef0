//! Wake-up trees: what must still be explored from a place in the search, and in which order.
//!
//! A tree of sequences of events (Abdulla, Aronis, Jonsson, Sagonas: *Optimal Dynamic Partial Order Reduction*, POPL
//! 2014, section 6). Inserting a sequence that the tree covers already, up to the order of independent events, changes
//! nothing; that is what makes the search explore every class of executions exactly once.

use crate::event::Step;
use leno_ir::interp::ThreadId;
use std::rc::Rc;

/// Steps in order, with what there is to see of them at a glance.
#[derive(Clone, Debug)]
pub struct Sequence<'a> {
    pub steps: Vec<&'a Rc<Step>>,
    /// Bits of the threads, and of what they touch: a step that shares none is independent of all.
    threads: u64,
    touched: u64,
}

impl<'a> Sequence<'a> {
    pub fn new(steps: impl Iterator<Item = &'a Rc<Step>>) -> Sequence<'a> {
        let capacity = steps.size_hint().1.unwrap_or(0);
        let mut sequence = Sequence { steps: Vec::with_capacity(capacity), threads: 0, touched: 0 };
        steps.for_each(|step| sequence.push(step));
        sequence
    }

    fn push(&mut self, step: &'a Rc<Step>) {
        self.steps.push(step);
        self.threads |= thread_bit(step.thread);
        self.touched |= step.summary();
    }

    /// The same, with one more step.
    pub fn followed_by<'b>(&self, last: &'b Rc<Step>) -> Sequence<'b>
    where
        'a: 'b,
    {
        let mut steps: Vec<&'b Rc<Step>> = Vec::with_capacity(self.steps.len() + 1);
        steps.extend_from_slice(&self.steps);
        let mut sequence = Sequence { steps, threads: self.threads, touched: self.touched };
        sequence.push(last);
        sequence
    }

    fn position(&self, thread: ThreadId) -> Option<usize> {
        let may_be_there = self.threads & thread_bit(thread) != 0;
        may_be_there.then(|| self.steps.iter().position(|step| step.thread == thread)).flatten()
    }

    /// Whether a step is independent of the first so many.
    fn is_independent(&self, first: &Step, end: usize) -> bool {
        let is_certain = self.threads & thread_bit(first.thread) == 0 && self.touched & first.summary() == 0;
        is_certain || self.steps[..end].iter().all(|step| !step.is_dependent(first))
    }

    /// Whether `first`, an event of `thread`, may begin the sequence: whether it is one of its *weak initials*.
    fn start(&self, thread: ThreadId, first: &Step) -> Option<Start> {
        match self.position(thread) {
            Some(index) => {
                let step = self.steps[index];
                let is_initial = step.choices.starts_with(&first.choices) && self.is_independent(step, index);
                is_initial.then_some(Start::At(index))
            }
            // (With a certain value it stands for that one only.)
            None => {
                let is_independent = first.choices.is_empty() && self.is_independent(first, self.steps.len());
                is_independent.then_some(Start::Independent)
            }
        }
    }
}

fn thread_bit(thread: ThreadId) -> u64 {
    1 << (thread.0 % 64)
}

/// How an event may begin a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    /// It is the one at this index, and independent of those before it.
    At(usize),
    /// Its thread is not in the sequence, and it is independent of all that is.
    Independent,
}

/// Ordered branches; a tree without any is a leaf. As long as there is nothing to choose, the steps to come are a path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WakeupTree {
    /// The steps to come, the last one first. Then there are no branches.
    path: Vec<Rc<Step>>,
    branches: Vec<Branch>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Branch {
    /// Of the step: most branches are passed over because of it.
    thread: ThreadId,
    step: Rc<Step>,
    tree: WakeupTree,
}

impl WakeupTree {
    pub fn is_empty(&self) -> bool {
        self.path.is_empty() && self.branches.is_empty()
    }

    /// Takes out the first branch.
    pub fn take_first(&mut self) -> Option<(Rc<Step>, WakeupTree)> {
        if let Some(step) = self.path.pop() {
            return Some((step, WakeupTree { path: std::mem::take(&mut self.path), branches: Vec::new() }));
        }
        if self.branches.is_empty() {
            return None;
        }
        let Branch { step, tree, .. } = self.branches.remove(0);
        Some((step, tree))
    }

    /// Adds a branch of one step, if there is none of this thread yet.
    pub fn add_thread(&mut self, step: Step) {
        self.split_path();
        if self.branches.iter().all(|branch| branch.thread != step.thread) {
            self.branches.push(Branch { thread: step.thread, step: Rc::new(step), tree: WakeupTree::default() });
        }
    }

    /// Makes sure that the tree leads to an execution that starts like `sequence`, up to the order of independent
    /// events; unless that cannot be made, which is asked only if the tree does not do so already.
    pub fn insert(&mut self, mut sequence: Sequence<'_>, can_be_made: impl FnOnce() -> bool) {
        let mut node = self;
        loop {
            node.split_path();
            let Some((index, start)) = node.matching_branch(&sequence) else { break };
            if let Start::At(index) = start {
                sequence.steps.remove(index);
            }
            node = &mut node.branches[index].tree;
            // At a leaf, whatever is explored from there covers it.
            if node.is_empty() || sequence.steps.is_empty() {
                return;
            }
        }
        if can_be_made() {
            let mut path: Vec<Rc<Step>> = sequence.steps.into_iter().rev().map(Rc::clone).collect();
            if let Some(step) = path.pop() {
                let tree = WakeupTree { path, branches: Vec::new() };
                node.branches.push(Branch { thread: step.thread, step, tree });
            }
        }
    }

    /// Makes the first step of the path a branch.
    fn split_path(&mut self) {
        if let Some((step, tree)) = self.path.pop().map(|step| (step, std::mem::take(&mut self.path))) {
            let tree = WakeupTree { path: tree, branches: Vec::new() };
            self.branches.push(Branch { thread: step.thread, step, tree });
        }
    }

    /// The first branch that may begin `sequence`.
    fn matching_branch(&self, sequence: &Sequence<'_>) -> Option<(usize, Start)> {
        let start = |(index, branch): (usize, &Branch)| Some((index, sequence.start(branch.thread, &branch.step)?));
        self.branches.iter().enumerate().find_map(start)
    }
}

/// Whether all that a sequence leads to has been explored, for sequences that differ in their last step only. That is
/// so if a sleeping event may begin it.
pub struct SleepCheck<'a> {
    /// Sleeping events whose threads are not among the other steps, and whether they are independent of those.
    undecided: Vec<(&'a Step, bool)>,
}

impl<'a> SleepCheck<'a> {
    /// None if a sleeping event may begin the sequence whatever its last step is.
    pub fn new(sleep: &'a [Rc<Step>], sequence: &Sequence<'_>) -> Option<SleepCheck<'a>> {
        let mut undecided = Vec::new();
        for sleeping in sleep {
            match sequence.start(sleeping.thread, sleeping) {
                Some(Start::At(_)) => return None,
                Some(Start::Independent) => undecided.push((&**sleeping, true)),
                // The last step may be its own.
                None if sequence.position(sleeping.thread).is_none() => undecided.push((&**sleeping, false)),
                None => {}
            }
        }
        Some(SleepCheck { undecided })
    }

    /// Whether it has been explored with this last step.
    pub fn is_redundant(&self, sequence: &Sequence<'_>, last: &Step) -> bool {
        self.undecided.iter().any(|(sleeping, is_independent)| {
            if sleeping.thread == last.thread {
                last.choices.starts_with(&sleeping.choices) && sequence.is_independent(last, sequence.steps.len())
            } else {
                *is_independent && !sleeping.conflicts(last)
            }
        })
    }
}
