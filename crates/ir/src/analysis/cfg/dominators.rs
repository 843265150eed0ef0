//! Dominators, by the Semi-NCA algorithm (Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems").
//!
//! The iterative algorithm of Cooper, Harvey and Kennedy is shorter, but where two chains of dominators meet it
//! walks them: a long function in which every call is followed by `if (error) goto out;` makes it quadratic, and
//! generated code has hundreds of thousands of these. Here, semidominators are found first, backwards over a
//! depth-first numbering with path compression; then each immediate dominator is the nearest common ancestor of
//! parent and semidominator in the tree built so far. The same code gives post-dominators, on the reversed
//! graph with one exit added. For questions of the form "does a dominate b?" the tree is numbered once, after
//! which each answer is two comparisons.

use crate::graph::Rows;
use crate::index::Idx;
use crate::program::BlockId;

/// A dominator tree (or post-dominator tree).
#[derive(Clone, Debug)]
pub struct Dominators {
    immediate: Vec<Option<BlockId>>,
    /// For each block in the tree, when a walk through the tree enters and leaves it.
    interval: Vec<Option<(u32, u32)>>,
}

impl Dominators {
    pub(super) fn none() -> Dominators {
        Dominators { immediate: Vec::new(), interval: Vec::new() }
    }

    /// Blocks from `blocks` on (the added exit) are part of the computation, not of the result.
    pub(super) fn new(
        root: BlockId,
        successors: &Rows<BlockId>,
        predecessors: &Rows<BlockId>,
        blocks: usize,
    ) -> Dominators {
        let tree = DepthFirst::new(root, successors);
        let parents = immediate_dominators(&tree, predecessors);
        let interval = intervals(&parents);
        let mut result = Dominators { immediate: vec![None; blocks], interval: vec![None; blocks] };
        for (number, block) in tree.order.iter().enumerate().filter(|(_, block)| block.index() < blocks) {
            let parent = tree.order[parents[number] as usize];
            result.immediate[block.index()] = Some(parent).filter(|id| *id != *block && id.index() < blocks);
            result.interval[block.index()] = Some(interval[number]);
        }
        result
    }

    /// The closest block other than itself that dominates `block`. None for a root (post-dominance has many), and
    /// for a block that is not connected to one.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.index()]
    }

    /// Whether `above` is on every path from the root to `below`. A block dominates itself; a block that is not
    /// connected to the root neither dominates nor is dominated.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        match (self.interval[above.index()], self.interval[below.index()]) {
            (Some((enter, leave)), Some((inner, _))) => enter <= inner && inner < leave,
            _ => false,
        }
    }
}

const UNREACHED: u32 = u32::MAX;

/// A depth-first tree; its nodes are called by their number, ancestors before descendants.
struct DepthFirst {
    order: Vec<BlockId>,
    number: Vec<u32>,
    parent: Vec<u32>,
}

impl DepthFirst {
    fn new(root: BlockId, successors: &Rows<BlockId>) -> DepthFirst {
        let mut tree = DepthFirst { order: vec![root], number: vec![UNREACHED; successors.len()], parent: vec![0] };
        tree.number[root.index()] = 0;
        let mut stack = vec![(root, 0)];
        while let Some((block, next)) = stack.last_mut() {
            let Some(&target) = successors[*block].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if tree.number[target.index()] == UNREACHED {
                tree.number[target.index()] = tree.order.len() as u32;
                tree.parent.push(tree.number[block.index()]);
                tree.order.push(target);
                stack.push((target, 0));
            }
        }
        tree
    }
}

/// For each number, that of the immediate dominator, which is smaller; the root is its own.
fn immediate_dominators(tree: &DepthFirst, predecessors: &Rows<BlockId>) -> Vec<u32> {
    let count = tree.order.len() as u32;
    let mut forest = Forest {
        ancestor: tree.parent.clone(),
        label: (0..count).collect(),
        semidominator: (0..count).collect(),
        path: Vec::new(),
    };
    for number in (1..count).rev() {
        let mut semidominator = tree.parent[number as usize];
        for predecessor in &predecessors[tree.order[number as usize]] {
            let predecessor = tree.number[predecessor.index()];
            if predecessor != UNREACHED {
                let label = forest.label_of_least(predecessor, number + 1);
                semidominator = semidominator.min(forest.semidominator[label as usize]);
            }
        }
        forest.semidominator[number as usize] = semidominator;
    }
    let mut dominator = tree.parent.clone();
    for number in 1..count as usize {
        let mut candidate = dominator[number];
        while candidate > forest.semidominator[number] {
            candidate = dominator[candidate as usize];
        }
        dominator[number] = candidate;
    }
    dominator
}

/// The part of the depth-first tree whose semidominators are known, with compressed paths.
struct Forest {
    ancestor: Vec<u32>,
    /// The node with the least semidominator on the compressed part of the path up.
    label: Vec<u32>,
    semidominator: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator on the way up from `node` through nodes numbered `linked` or more.
    fn label_of_least(&mut self, node: u32, linked: u32) -> u32 {
        let mut top = node;
        while self.ancestor[top as usize] >= linked {
            self.path.push(top);
            top = self.ancestor[top as usize];
        }
        while let Some(below) = self.path.pop() {
            let (above, below) = (top as usize, below as usize);
            self.ancestor[below] = self.ancestor[above];
            let best = self.label[above];
            if self.semidominator[best as usize] < self.semidominator[self.label[below] as usize] {
                self.label[below] = best;
            }
            top = below as u32;
        }
        self.label[node as usize]
    }
}

/// Numbers the tree: a node's interval contains those of its descendants. Children come after parents in the
/// order, so sizes add up backwards, and places are handed out forwards; no walk is needed.
fn intervals(parents: &[u32]) -> Vec<(u32, u32)> {
    let mut size = vec![1u32; parents.len()];
    for node in (1..parents.len()).rev() {
        size[parents[node] as usize] += size[node];
    }
    let mut interval = vec![(0, 0); parents.len()];
    // Where the next child of each node begins.
    let mut next = vec![1u32; parents.len()];
    interval[0] = (0, size[0]);
    for node in 1..parents.len() {
        let parent = parents[node] as usize;
        let enter = next[parent];
        next[parent] += size[node];
        interval[node] = (enter, enter + size[node]);
        next[node] = enter + 1;
    }
    interval
}
