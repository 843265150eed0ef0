//! The control-flow graph of one function: edges both ways, orders, dominators, loops.
//!
//! Generated code has functions of a million blocks, so nothing here recurses, and everything is
//! (nearly) linear. Blocks that control cannot reach have no place in the orders and no dominators; engines skip them.

mod dominators;
mod loops;

pub use dominators::Dominators;
pub use loops::{Loop, LoopId, Loops};

use crate::graph::Rows;
use crate::index::{Idx, IndexVec};
use crate::program::{Block, BlockId, Body, Function};

/// The control-flow graph of a function with a body.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: Rows<BlockId>,
    predecessors: Rows<BlockId>,
    order: Vec<BlockId>,
    /// Where in the order a block is; `UNREACHABLE` when nowhere.
    position: Vec<u32>,
}

const UNREACHABLE: u32 = u32::MAX;

impl Cfg {
    /// None for an external function.
    pub fn of(function: &Function) -> Option<Cfg> {
        match &function.body {
            Body::Blocks(blocks) => Some(Cfg::new(blocks)),
            Body::External(_) => None,
        }
    }

    pub fn new(blocks: &IndexVec<BlockId, Block>) -> Cfg {
        let mut edges = Vec::new();
        // A switch names a block many times; the graph has one edge. The stamp says who named it last.
        let mut named_by = vec![None; blocks.len()];
        for (id, block) in blocks.iter_enumerated() {
            block.terminator.kind.for_each_target(|target| {
                if named_by[target.index()].replace(id) != Some(id) {
                    edges.push((id, target));
                }
            });
        }
        Cfg::from_edges(blocks.len(), &edges)
    }

    /// A graph of `blocks` blocks with these edges, of which block 0 is the entry.
    pub fn from_edges(blocks: usize, edges: &[(BlockId, BlockId)]) -> Cfg {
        let successors = Rows::new(blocks, edges);
        let predecessors = successors.reversed();
        let order = if blocks == 0 { Vec::new() } else { successors.reverse_post_order(BlockId(0)) };
        let mut position = vec![UNREACHABLE; blocks];
        for (index, block) in order.iter().enumerate() {
            position[block.index()] = index as u32;
        }
        Cfg { successors, predecessors, order, position }
    }

    /// How many blocks there are, reachable or not.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Each once, in the order in which the terminator names them first.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block]
    }

    /// In ascending order; unreachable ones too.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block]
    }

    /// The reachable blocks, each before its successors but for the edges that close loops.
    pub fn reverse_post_order(&self) -> &[BlockId] {
        &self.order
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.index()] != UNREACHABLE
    }

    /// The place of a block in the reverse post-order.
    pub fn position(&self, block: BlockId) -> Option<usize> {
        Some(self.position[block.index()]).filter(|position| *position != UNREACHABLE).map(|position| position as usize)
    }

    /// Whether an edge goes backwards in the reverse post-order: every cycle has one.
    pub fn is_retreating(&self, from: BlockId, to: BlockId) -> bool {
        self.is_reachable(from) && self.position[to.index()] <= self.position[from.index()]
    }

    /// For each block, whether control may come back to it.
    pub fn repeated(&self) -> Vec<bool> {
        let mut repeated = vec![false; self.len()];
        for component in self.successors.components().iter() {
            let first = component[0];
            let is_cycle = component.len() > 1 || self.successors[first].contains(&first);
            component.iter().for_each(|block| repeated[block.index()] = is_cycle);
        }
        repeated
    }

    /// On every path from the entry.
    pub fn dominators(&self) -> Dominators {
        if self.is_empty() {
            return Dominators::none();
        }
        Dominators::new(BlockId(0), &self.successors, &self.predecessors, self.len())
    }

    /// On every path to an end of the function. A block from which no end can be reached (a loop for ever) has
    /// none, and does not count for the others.
    pub fn post_dominators(&self) -> Dominators {
        let exit = BlockId::new(self.len());
        let mut backward = Vec::new();
        for block in (0..self.len()).map(BlockId::new) {
            let successors = &self.successors[block];
            backward.extend(successors.iter().map(|successor| (*successor, block)));
            if successors.is_empty() {
                backward.push((exit, block));
            }
        }
        let backward = Rows::new(self.len() + 1, &backward);
        Dominators::new(exit, &backward, &backward.reversed(), self.len())
    }

    pub fn loops(&self, dominators: &Dominators) -> Loops {
        Loops::new(self, dominators)
    }
}
