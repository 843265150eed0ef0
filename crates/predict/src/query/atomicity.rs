//! Blocks that are expected to be atomic, and orders in which they are not.
//!
//! A block is broken if an access of another thread comes between two of its accesses to one piece of memory, and the
//! result is not that of an order in which it comes before or after both. There are four ways (local, remote, local):
//!
//! | | |
//! |---|---|
//! | read, write, read | the two reads differ |
//! | write, write, read | the read does not return what the block wrote |
//! | read, write, write | the remote write is lost: check-then-act |
//! | write, read, write | the remote read returns an intermediate value |
//!
//! Blocks are *marked*, by calls of `leno_expect_atomic_begin` and `leno_expect_atomic_end`, which do nothing; or
//! *inferred*. A block is inferred where a thread reads a piece under a lock, releases the lock, acquires it again and
//! writes to the piece without having read it again, though the value that it writes, or that it writes at all, depends
//! on what it read. The terms say whether it does. Of an inferred block only the third way counts.

use crate::program::event::{EventId, Kind, MarkedBlockId, TraceProgram};
use crate::query::question::INSTANCES;
use crate::walk::listener::Location;
use crate::walk::sharing_pass::PieceId;
use leno_ir::program::Place;
use leno_logic::term::Term;
use std::collections::{BTreeMap, BTreeSet};

/// Which blocks are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AtomicBlocks {
    None,
    /// Those that are marked.
    #[default]
    Marked,
    /// The inferred ones, too.
    All,
}

/// Why two accesses are expected to be one atomic step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Block {
    Marked(MarkedBlockId),
    /// The lock is released here, in between.
    Inferred(EventId),
}

/// Two accesses of a block to one piece, and one of another thread that would break it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Interference {
    pub first: EventId,
    pub between: EventId,
    pub second: EventId,
    /// Whether `first` and `between` count as writes.
    pub writes: [bool; 2],
    pub piece: PieceId,
    pub block: Block,
}

/// Two accesses of a block to one piece, and whether those that would break it are writes.
#[derive(Clone, Copy)]
struct BlockAccesses {
    first: EventId,
    second: EventId,
    first_writes: bool,
    broken_by_write: bool,
    piece: PieceId,
    block: Block,
}

/// All accesses that could break a block; and whether some were left out because there were too many.
pub(crate) fn interferences(ctp: &TraceProgram, which: AtomicBlocks) -> (Vec<Interference>, bool) {
    let mut pairs = Vec::new();
    if which != AtomicBlocks::None {
        ctp.threads.values().for_each(|thread| marked_pairs(ctp, &thread.events, &mut pairs));
    }
    if which == AtomicBlocks::All {
        ctp.threads.values().for_each(|thread| inferred_pairs(ctp, &thread.events, &mut pairs));
    }
    if pairs.is_empty() {
        return (Vec::new(), false);
    }
    let others = by_piece(ctp);
    let mut found: BTreeMap<[Place; 3], BTreeSet<(u64, Interference)>> = BTreeMap::new();
    let mut left_out = false;
    for pair in pairs {
        for &between in others.get(&pair.piece).into_iter().flatten() {
            if !may_come_between(ctp, &pair, between) {
                continue;
            }
            let BlockAccesses { first, second, piece, block, .. } = pair;
            let writes = [pair.first_writes, pair.broken_by_write];
            let places = [first, between, second].map(|id| ctp.event(id).place);
            let distance = ctp.event(between).clock.abs_diff(ctp.event(first).clock);
            let near = found.entry(places).or_default();
            near.insert((distance, Interference { first, between, second, writes, piece, block }));
            if near.len() > INSTANCES {
                near.pop_last();
                left_out = true;
            }
        }
    }
    (found.into_values().flatten().map(|(_, interference)| interference).collect(), left_out)
}

/// What an event reads, with the values; and what it writes, and whether that is certain.
type Accesses = (Vec<(PieceId, Term)>, Vec<(PieceId, bool)>);

fn accesses(ctp: &TraceProgram, id: EventId) -> Accesses {
    let Kind::Access { reads, writes, is_plain: true, .. } = &ctp.event(id).kind else { return Default::default() };
    let is_certain = |condition| ctp.terms.as_bool(condition) == Some(true);
    let reads = reads.iter().map(|read| (read.piece, read.value)).collect();
    (reads, writes.iter().map(|write| (write.piece, is_certain(write.condition))).collect())
}

fn by_piece(ctp: &TraceProgram) -> BTreeMap<PieceId, BTreeSet<EventId>> {
    let mut found: BTreeMap<PieceId, BTreeSet<EventId>> = BTreeMap::new();
    for id in ctp.events.ids() {
        let (reads, writes) = accesses(ctp, id);
        let pieces = reads.into_iter().map(|(piece, _)| piece).chain(writes.into_iter().map(|(piece, _)| piece));
        for piece in pieces {
            found.entry(piece).or_default().insert(id);
        }
    }
    found
}

/// The pairs of accesses in marked blocks: each with the last read and the last write before it. Other pairs need not
/// be checked: an access that comes between them comes between two that follow each other.
fn marked_pairs(ctp: &TraceProgram, events: &[EventId], pairs: &mut Vec<BlockAccesses>) {
    let mut current = None;
    let (mut last_read, mut last_write) = (BTreeMap::new(), BTreeMap::new());
    for &second in events {
        let number = ctp.event(second).block;
        if number != current {
            (last_read, last_write) = (BTreeMap::new(), BTreeMap::new());
            current = number;
        }
        let Some(number) = number else { continue };
        let block = Block::Marked(number);
        let (reads, writes) = accesses(ctp, second);
        let mut add = |first: Option<&EventId>, first_writes, broken_by_write, piece| {
            let first = first.copied().filter(|first| !is_one_step(ctp, *first, second));
            pairs.extend(first.map(|first| BlockAccesses {
                first,
                second,
                first_writes,
                broken_by_write,
                piece,
                block,
            }));
        };
        for (piece, _) in &reads {
            add(last_read.get(piece), false, true, *piece);
            add(last_write.get(piece), true, true, *piece);
        }
        for (piece, is_certain) in &writes {
            add(last_read.get(piece), false, true, *piece);
            if *is_certain {
                add(last_write.get(piece), true, false, *piece);
            }
        }
        last_read.extend(reads.into_iter().map(|(piece, _)| (piece, second)));
        last_write.extend(writes.into_iter().map(|(piece, _)| (piece, second)));
    }
}

/// Whether two events are in one atomic section, which no other thread interrupts.
fn is_one_step(ctp: &TraceProgram, first: EventId, second: EventId) -> bool {
    let section = ctp.event(first).section;
    section.is_some() && section == ctp.event(second).section
}

/// A read under a lock, and the thread's next access to the same piece: a write that depends on it, under the same
/// lock, which has been released in between.
fn inferred_pairs(ctp: &TraceProgram, events: &[EventId], pairs: &mut Vec<BlockAccesses>) {
    let mut releases: BTreeMap<Location, Vec<EventId>> = BTreeMap::new();
    let mut last_read: BTreeMap<PieceId, (EventId, Term)> = BTreeMap::new();
    for &second in events {
        if let Kind::Release { lock } = ctp.event(second).kind {
            releases.entry(lock).or_default().push(second);
        }
        let (reads, writes) = accesses(ctp, second);
        for (piece, value) in reads {
            last_read.insert(piece, (second, value));
        }
        for (piece, _) in writes {
            let Some((first, value)) = last_read.remove(&piece) else { continue };
            let release = released_between(ctp, &releases, first, second);
            if let (Some(release), true) = (release, first != second && depends(ctp, events, first, second, value)) {
                let block = Block::Inferred(release);
                pairs.push(BlockAccesses { first, second, first_writes: false, broken_by_write: true, piece, block });
            }
        }
    }
}

/// Where a lock that a thread holds at both events is released in between.
fn released_between(
    ctp: &TraceProgram,
    releases: &BTreeMap<Location, Vec<EventId>>,
    first: EventId,
    second: EventId,
) -> Option<EventId> {
    let (before, after) = (ctp.event(first), ctp.event(second));
    let common = before.locks.iter().filter(|(lock, _)| after.locks.iter().any(|(other, _)| other == lock));
    let released = common.filter_map(|(lock, _)| {
        let list = releases.get(lock)?;
        list.get(list.partition_point(|id| *id < first)).copied().filter(|release| *release < second)
    });
    released.min()
}

/// Whether the value of a write, or that it is executed, depends on what was read.
fn depends(ctp: &TraceProgram, events: &[EventId], first: EventId, second: EventId, value: Term) -> bool {
    let (from, to) = (ctp.event(first).index as usize + 1, ctp.event(second).index as usize);
    let mut roots: Vec<Term> = events.get(from..=to).into_iter().flatten().map(|id| ctp.event(*id).guard).collect();
    if let Kind::Access { writes, .. } = &ctp.event(second).kind {
        roots.extend(writes.iter().flat_map(|write| [write.value, write.condition]));
    }
    ctp.terms.variables_of(&roots).contains(&value)
}

/// Whether another thread's access is one that breaks the pair, and is not always before or after it.
fn may_come_between(ctp: &TraceProgram, pair: &BlockAccesses, between: EventId) -> bool {
    let other = ctp.event(between);
    if other.thread == ctp.event(pair.first).thread
        || ctp.must_precede(between, pair.first)
        || ctp.must_precede(pair.second, between)
    {
        return false;
    }
    let (reads, writes) = accesses(ctp, between);
    match pair.broken_by_write {
        true => writes.iter().any(|(piece, _)| *piece == pair.piece),
        false => reads.iter().any(|(piece, _)| *piece == pair.piece),
    }
}

impl Interference {
    /// The two accesses of the block and the one between them, in order.
    pub fn events(&self) -> [EventId; 3] {
        [self.first, self.between, self.second]
    }

    /// Why the two accesses are a block, for the report. `show` gives the place of a span.
    pub fn reason(&self, ctp: &TraceProgram, show: &dyn Fn(leno_ir::program::Span) -> String) -> String {
        match self.block {
            Block::Marked(number) => {
                let begin = ctp.blocks.get(number).map_or(String::new(), |span| show(*span));
                format!("the block that begins at {begin} is expected to be atomic")
            }
            Block::Inferred(release) => {
                let given_up = show(ctp.event(release).span);
                format!(
                    "inferred: what is written last depends on what was read first, and the lock under which both are \
                     done is given up in between, at {given_up}"
                )
            }
        }
    }
}
