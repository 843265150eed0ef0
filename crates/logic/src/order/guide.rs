//! Guesses: where nothing is known, the last reads first, each from the last write.
//!
//! A core decides first what has been in conflicts, and then in the order in which variables were made. For reads that is often
//! thread by thread, and then it finds an execution only after many conflicts. We propose to go back through the
//! execution from its end: of the last open reads of each chain the one that comes last, and for it the last write that is
//! left. Nobody tells us when an event happens; two things are guesses at it, how many events come before it as far as is
//! known now, and how far along its chain it is. For writes only the second was of use.
//!
//! Guesses that lead nowhere do harm, because the core cannot turn to what causes the conflicts. So the two take turns, which
//! get longer; and our turns use one guess for reads after the other. New reads are a new question: we begin again. The
//! lengths of turns are those that did best on a few instances of the benchmark; nothing else speaks for them.

use super::{Node, Order, Read};
use crate::literal::Lit;

/// How many steps back our first turn lasts, and how many times longer the core's turns are than ours.
const FIRST_TURN: u64 = 200;
const CORE_SHARE: u64 = 16;

#[derive(Default)]
pub(super) struct Guide {
    /// By chain: how many of its reads, from the first, may be open.
    open: Vec<usize>,
    steps_back: u64,
    /// Even ones are ours.
    turn: u32,
    turn_ends: u64,
    reads: usize,
}

impl Guide {
    /// The search has undone levels.
    pub(super) fn step_back(&mut self) {
        self.steps_back += 1;
        self.open.clear();
    }

    /// Begins anew for a structure of so many reads, if there are more than there were.
    pub(super) fn begin(&mut self, reads: usize) {
        self.open.clear();
        if reads > self.reads {
            (self.reads, self.turn) = (reads, 0);
            self.turn_ends = self.steps_back + FIRST_TURN;
        }
    }

    fn is_ours(&mut self) -> bool {
        if self.steps_back >= self.turn_ends {
            self.turn += 1;
            let ours = FIRST_TURN << (self.turn / 2).min(32);
            self.turn_ends = self.steps_back + if self.turn.is_multiple_of(2) { ours } else { ours * CORE_SHARE };
        }
        self.turn.is_multiple_of(2)
    }
}

impl Order {
    /// A literal to decide, if it is our turn and some read is open.
    pub(super) fn guess(&mut self) -> Option<Lit> {
        if !self.guide.is_ours() {
            return None;
        }
        let by_clock = self.guide.turn.is_multiple_of(4);
        let mut open = std::mem::take(&mut self.guide.open);
        if open.is_empty() {
            open.extend(self.index.reads.iter().map(Vec::len));
        }
        let mut latest = None;
        for (chain, open) in open.iter_mut().enumerate() {
            let Some(read) = self.last_open_read(chain, open) else { continue };
            let node = self.node_of(read);
            let time = if by_clock { self.known_before(node) } else { self.place(node) };
            if latest.is_none_or(|(other, _)| time > other) {
                latest = Some((time, read));
            }
        }
        self.guide.open = open;
        let (_, read) = latest?;
        self.open_candidates(read).max_by_key(|&(lit, writer)| (self.place(writer), lit)).map(|(lit, _)| lit)
    }

    fn last_open_read(&self, chain: usize, open: &mut usize) -> Option<Read> {
        let reads = &self.index.reads[chain];
        while let Some(last) = open.checked_sub(1) {
            let (_, read) = reads[last];
            if self.source[read.0 as usize].is_none() && self.open_candidates(read).next().is_some() {
                return Some(read);
            }
            *open = last;
        }
        None
    }

    fn open_candidates(&self, read: Read) -> impl Iterator<Item = (Lit, Node)> + '_ {
        let candidates = self.reads[read.0 as usize].candidates.iter();
        candidates
            .filter(|candidate| self.value(candidate.lit).is_none())
            .map(|candidate| (candidate.lit, candidate.node))
    }

    /// How many nodes are known to come before `node`.
    fn known_before(&self, node: Node) -> u64 {
        self.clocks.row(node).iter().copied().map(u64::from).sum()
    }

    /// How far along its chain `node` is.
    fn place(&self, node: Node) -> u64 {
        let length = self.clocks.chains()[self.clocks.chain_of(node) as usize].len() as u64;
        (u64::from(self.clocks.position(node) + 1) << 32) / (length + 1)
    }
}
