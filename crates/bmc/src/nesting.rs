//! The nest of loops of a function, as an order to execute its blocks in (Bourdoncle's weak topological order).
//!
//! Blocks come before their successors, except along edges back to the head of a loop that both ends lie in. Executing the
//! elements of a loop again and again until no state waits in it anymore, and everything else once, unrolls the function;
//! states that meet at a block are merged before it is executed. Irreducible loops are no exception: a loop's head
//! need not be its only entry.

use leno_ir::cfg::Cfg;
use leno_ir::program::BlockId;

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

/// The elements of a function.
pub fn nesting(cfg: &Cfg) -> Vec<Element> {
    order(cfg, cfg.reverse_post_order(), None)
}

/// The elements of some blocks, given in reverse post-order, without the edges to `head`.
fn order(cfg: &Cfg, blocks: &[BlockId], head: Option<BlockId>) -> Vec<Element> {
    let mut inside = vec![false; cfg.len()];
    blocks.iter().for_each(|block| inside[block.0 as usize] = true);
    let follows = |block: BlockId| {
        let successors = cfg.successors(block).iter().copied();
        successors.filter(|next| inside[next.0 as usize] && Some(*next) != head).collect::<Vec<_>>()
    };
    components(blocks, &follows)
        .into_iter()
        .map(|mut component| {
            component.sort_by_key(|block| cfg.position(*block));
            let first = component[0];
            if component.len() == 1 && !follows(first).contains(&first) {
                return Element::Block(first);
            }
            let mut elements = vec![Element::Block(first)];
            elements.extend(order(cfg, &component[1..], Some(first)));
            component.sort();
            let inside = |next: &BlockId| component.binary_search(next).is_ok();
            let has_exit = component.iter().any(|block| !cfg.successors(*block).iter().all(inside));
            Element::Loop(Loop { head: first, elements, blocks: component, has_exit })
        })
        .collect()
}

/// Strongly connected components in topological order (Tarjan's algorithm, with a stack of its own).
fn components(blocks: &[BlockId], follows: &dyn Fn(BlockId) -> Vec<BlockId>) -> Vec<Vec<BlockId>> {
    #[derive(Clone, Copy, Default)]
    struct Mark {
        number: u32,
        low: u32,
        on_stack: bool,
    }
    let size = blocks.iter().map(|block| block.0 as usize + 1).max().unwrap_or(0);
    let mut marks = vec![Mark::default(); size];
    let (mut count, mut stack, mut found) = (0, Vec::new(), Vec::new());
    for &root in blocks {
        if marks[root.0 as usize].number != 0 {
            continue;
        }
        let mut path: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(block) = next.take() {
                count += 1;
                marks[block.0 as usize] = Mark { number: count, low: count, on_stack: true };
                stack.push(block);
                path.push((block, follows(block)));
            }
            let Some((block, rest)) = path.last_mut() else { break };
            let block = *block;
            if let Some(successor) = rest.pop() {
                let mark = marks[successor.0 as usize];
                if mark.number == 0 {
                    next = Some(successor);
                } else if mark.on_stack {
                    marks[block.0 as usize].low = marks[block.0 as usize].low.min(mark.number);
                }
                continue;
            }
            path.pop();
            let mark = marks[block.0 as usize];
            if let Some((parent, _)) = path.last() {
                let low = &mut marks[parent.0 as usize].low;
                *low = (*low).min(mark.low);
            }
            if mark.low == mark.number {
                let at = stack.iter().position(|other| *other == block).unwrap_or(0);
                let component = stack.split_off(at);
                component.iter().for_each(|member| marks[member.0 as usize].on_stack = false);
                found.push(component);
            }
        }
    }
    found.reverse();
    found
}
