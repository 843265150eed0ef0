//! Bourdoncle's weak topological order of the blocks of a function: the nest of its loops, as an order to visit blocks
//! in.
//!
//! Blocks come before their successors, except along edges back to the head of a loop that both ends lie in. So an
//! iteration that repeats each loop until nothing changes at its head, inner loops first, and visits everything else
//! once, is complete: every cycle of the graph goes through the head of the innermost loop that contains the cycle.
//! Heads are where to widen. Irreducible loops are no exception: a loop's head need not be its only entry.
//!
//! How it is found: the strongly connected components in topological order; then, within each, the same again without
//! the edges to its head (its first block in reverse post-order).

use crate::analysis::cfg::Cfg;
use crate::index::Idx;
use crate::program::BlockId;

/// A block, or a loop.
#[derive(Clone, Debug)]
pub enum Element {
    Block(BlockId),
    Loop(Loop),
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub head: BlockId,
    /// What is in it, the head first.
    pub elements: Vec<Element>,
    /// All blocks in it, ascending.
    pub blocks: Vec<BlockId>,
    /// Whether it can be left at all, other than by calls and ends.
    pub has_exit: bool,
}

/// The elements of a function: its reachable blocks, each once.
pub fn weak_topological_order(cfg: &Cfg) -> Vec<Element> {
    let mut marks = Marks { inside: vec![0; cfg.len()], round: 0, visits: vec![Visit::default(); cfg.len()] };
    order(cfg, cfg.reverse_post_order(), None, &mut marks)
}

/// What is noted about blocks, in one table for all levels of the nest.
struct Marks {
    /// In which round a block was last among those to be ordered.
    inside: Vec<u32>,
    round: u32,
    visits: Vec<Visit>,
}

#[derive(Clone, Copy, Default)]
struct Visit {
    number: u32,
    low: u32,
    on_stack: bool,
}

/// The elements of some blocks, given in reverse post-order, without the edges to `head`.
fn order(cfg: &Cfg, blocks: &[BlockId], head: Option<BlockId>, marks: &mut Marks) -> Vec<Element> {
    marks.round += 1;
    for block in blocks {
        marks.inside[block.index()] = marks.round;
        marks.visits[block.index()] = Visit::default();
    }
    let mut elements = Vec::new();
    for mut component in components(cfg, blocks, head, marks) {
        component.sort_by_key(|block| cfg.position(*block));
        let first = component[0];
        let is_loop = component.len() > 1 || (Some(first) != head && cfg.successors(first).contains(&first));
        if !is_loop {
            elements.push(Element::Block(first));
            continue;
        }
        let mut inner = vec![Element::Block(first)];
        inner.extend(order(cfg, &component[1..], Some(first), marks));
        component.sort();
        let inside = |next: &BlockId| component.binary_search(next).is_ok();
        let has_exit = component.iter().any(|block| !cfg.successors(*block).iter().all(inside));
        elements.push(Element::Loop(Loop { head: first, elements: inner, blocks: component, has_exit }));
    }
    elements
}

/// Strongly connected components in topological order (Tarjan's algorithm, with a stack of its own).
fn components(cfg: &Cfg, blocks: &[BlockId], head: Option<BlockId>, marks: &mut Marks) -> Vec<Vec<BlockId>> {
    let Marks { inside, round, visits } = marks;
    let follows = |block: BlockId| {
        let successors = cfg.successors(block).iter().copied();
        successors.filter(|next| inside[next.index()] == *round && Some(*next) != head).collect::<Vec<_>>()
    };
    let (mut count, mut stack, mut found) = (0, Vec::new(), Vec::new());
    for &root in blocks {
        if visits[root.index()].number != 0 {
            continue;
        }
        let mut path: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(block) = next.take() {
                count += 1;
                visits[block.index()] = Visit { number: count, low: count, on_stack: true };
                stack.push(block);
                path.push((block, follows(block)));
            }
            let Some((block, rest)) = path.last_mut() else { break };
            let block = *block;
            if let Some(successor) = rest.pop() {
                let visit = visits[successor.index()];
                if visit.number == 0 {
                    next = Some(successor);
                } else if visit.on_stack {
                    visits[block.index()].low = visits[block.index()].low.min(visit.number);
                }
                continue;
            }
            path.pop();
            let visit = visits[block.index()];
            if let Some((parent, _)) = path.last() {
                let low = &mut visits[parent.index()].low;
                *low = (*low).min(visit.low);
            }
            if visit.low == visit.number {
                let at = stack.iter().rposition(|other| *other == block).unwrap_or(0);
                let component = stack.split_off(at);
                component.iter().for_each(|member| visits[member.index()].on_stack = false);
                found.push(component);
            }
        }
    }
    found.reverse();
    found
}
