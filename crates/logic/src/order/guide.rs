//! Guesses: where nothing is known, the last reads first, each from the last write.
//!
//! A core decides first what has been in conflicts, and then in the order in which variables were made. For reads that
//! is often thread by thread, and then it finds an execution only after many conflicts. We propose to go back through
//! the execution from its end: of the last open reads of each chain the one that comes last, or has few writes left;
//! and for it the last write that is left. It is not known when an event happens; how far along its chain it is, is our
//! guess.
//!
//! A guess finds an execution almost at once, or gets lost after one wrong choice, and then it stays lost: everything
//! that is decided after the choice would have to be undone. So an *attempt* is short, and the next one starts from
//! nothing, with chains that run a little faster or slower, and another weight of the writes that are left. It is the
//! variety that counts: no single setting is good on all instances. Attempts and the core take turns, which get longer,
//! because on some instances the guesses lead nowhere. New reads are a new question: we begin again, with the attempt
//! that found the last solution.
//!
//! To start from the last solution instead (its line, or its sources) was tried, and is worse than to start from
//! nothing.

use super::{Node, Order, Read};
use crate::literal::Lit;

/// Conflicts of an attempt, and of our first turn; and how many times longer the core's turns are than ours.
const ATTEMPT: u64 = 20;
const FIRST_TURN: u64 = 200;
const CORE_SHARE: u64 = 16;

/// A write that is left to a read counts as much as so many events that come after it; attempt by attempt.
const WRITE_WEIGHTS: [u64; 3] = [32, 16, 64];

/// By how many percent a chain may be faster or slower; attempt by attempt.
const SPREADS: [u64; 2] = [5, 10];

/// Times are in fractions of an event.
const TICKS: u64 = 1 << 10;

#[derive(Default)]
pub(super) struct Guide {
    /// By chain: how many of its reads, from the first, may be open.
    open: Vec<usize>,
    /// Even ones are ours.
    turn: u32,
    /// Conflicts that are left of this turn.
    left: u64,
    attempt: u64,
    reads: usize,
}

impl Guide {
    /// The search has undone levels.
    pub(super) fn step_back(&mut self) {
        self.open.clear();
    }

    fn is_ours(&self) -> bool {
        self.turn.is_multiple_of(2)
    }

    /// The pace of a chain in this attempt, in percent.
    fn pace(&self, chain: u32) -> u64 {
        let spread = SPREADS[self.attempt as usize % SPREADS.len()];
        match self.attempt {
            0 => 100,
            _ => 100 - spread + scramble((self.attempt << 32) | u64::from(chain)) % (2 * spread + 1),
        }
    }
}

/// The mixing function of splitmix64.
fn scramble(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

impl Order {
    /// How many conflicts the core may spend before it asks again; as many as it likes where there is nothing to guess.
    pub(crate) fn next_turn(&mut self) -> Option<u64> {
        let reads = self.reads.len();
        let guide = &mut self.guide;
        guide.open.clear();
        if reads > guide.reads {
            (guide.reads, guide.turn, guide.left) = (reads, 0, FIRST_TURN);
        }
        if guide.left == 0 {
            guide.turn += 1;
            let ours = FIRST_TURN << (guide.turn / 2).min(32);
            guide.left = if guide.is_ours() { ours } else { ours * CORE_SHARE };
        }
        let turn = if guide.is_ours() { guide.left.min(ATTEMPT) } else { guide.left };
        (reads > 0).then_some(turn)
    }

    /// The core has spent so many conflicts, and found nothing if it `gave_up`.
    pub(crate) fn turn_ended(&mut self, conflicts: u64, gave_up: bool) {
        self.guide.left = self.guide.left.saturating_sub(conflicts);
        if gave_up && self.guide.is_ours() {
            self.guide.attempt += 1;
        }
    }

    /// A literal to decide, if it is our turn and some read is open.
    pub(super) fn guess(&mut self) -> Option<Lit> {
        if !self.guide.is_ours() {
            return None;
        }
        let mut open = std::mem::take(&mut self.guide.open);
        if open.is_empty() {
            open.extend(self.index.reads.iter().map(Vec::len));
        }
        let mut latest = None;
        for (chain, open) in open.iter_mut().enumerate() {
            let Some(read) = self.last_open_read(chain, open) else { continue };
            let urgency = self.urgency(read);
            if latest.is_none_or(|(other, _)| urgency > other) {
                latest = Some((urgency, read));
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

    /// When the read happens, if its chain keeps this attempt's pace, less the weight of the writes that it may still
    /// come from.
    fn urgency(&self, read: Read) -> i64 {
        let node = self.node_of(read);
        let time = self.place(node) * self.guide.pace(self.clocks.chain_of(node)) / 100;
        let weight = WRITE_WEIGHTS[self.guide.attempt as usize % WRITE_WEIGHTS.len()];
        let writes = self.open_candidates(read).count() as u64;
        time as i64 - (writes * weight * TICKS) as i64
    }

    /// When `node` happens, if all chains take the same time.
    fn place(&self, node: Node) -> u64 {
        let length = self.clocks.chains()[self.clocks.chain_of(node) as usize].len() as u64;
        u64::from(self.clocks.position(node) + 1) * TICKS * self.nodes() as u64 / (length + 1)
    }
}
