//! Natural loops: which blocks run again and again, and how loops nest.
//!
//! A loop has one header, which dominates all of it, and consists of what reaches the header again through a
//! back edge. Loops with the same header are one. Each block knows only the innermost loop around it, and each
//! loop its parent, so that deep nests take linear space. Inner headers come later in reverse post-order, so
//! loops are found backwards; a walk that meets an inner loop goes on at the header of the outermost one
//! known around it, which is kept short by path compression.
//!
//! A cycle that is entered at several blocks (`goto` into a loop) has no header. [`Loops::irreducible`] lists the
//! edges that close such cycles.

use crate::analysis::cfg::{Cfg, Dominators};
use crate::index::{Idx, IndexVec};
use crate::index_type;
use crate::program::BlockId;

index_type!(LoopId, "loop");

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    pub header: BlockId,
    /// The sources of the back edges, in ascending order.
    pub latches: Vec<BlockId>,
    /// The loop around this one.
    pub parent: Option<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
}

/// The loops of a function, inner ones after those around them.
#[derive(Clone, Debug)]
pub struct Loops {
    pub loops: IndexVec<LoopId, Loop>,
    /// Edges that go back to a block which does not dominate their source.
    pub irreducible: Vec<(BlockId, BlockId)>,
    innermost: Vec<Option<LoopId>>,
}

impl Loops {
    pub(super) fn new(cfg: &Cfg, dominators: &Dominators) -> Loops {
        let mut finder = Finder { cfg, innermost: vec![None; cfg.len()], loops: Vec::new(), outermost: Vec::new() };
        let mut irreducible = Vec::new();
        for &header in cfg.reverse_post_order().iter().rev() {
            let retreating = cfg.predecessors(header).iter().filter(|from| cfg.is_retreating(**from, header));
            let (latches, others) =
                retreating.partition::<Vec<BlockId>, _>(|from| dominators.dominates(header, **from));
            irreducible.extend(others.into_iter().map(|from| (from, header)));
            if !latches.is_empty() {
                finder.find(header, latches);
            }
        }
        irreducible.sort_unstable();
        finder.finish(irreducible)
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block.index()]
    }

    pub fn is_header(&self, block: BlockId) -> bool {
        self.innermost(block).is_some_and(|id| self.loops[id].header == block)
    }

    /// Whether a block belongs to a loop or to one inside it.
    pub fn contains(&self, outer: LoopId, block: BlockId) -> bool {
        let mut around = self.innermost(block);
        while let Some(id) = around {
            // A loop comes before those inside it, so the search is over once we are past.
            if id <= outer {
                return id == outer;
            }
            around = self.loops[id].parent;
        }
        false
    }
}

struct Finder<'a> {
    cfg: &'a Cfg,
    innermost: Vec<Option<LoopId>>,
    /// Inner loops first: the other way round than in the result.
    loops: Vec<Loop>,
    /// For each loop, itself or some loop around it.
    outermost: Vec<LoopId>,
}

impl Finder<'_> {
    fn outermost_around(&mut self, id: LoopId) -> LoopId {
        let mut root = id;
        while self.outermost[root.index()] != root {
            root = self.outermost[root.index()];
        }
        let mut at = id;
        while at != root {
            at = std::mem::replace(&mut self.outermost[at.index()], root);
        }
        root
    }

    fn find(&mut self, header: BlockId, latches: Vec<BlockId>) {
        let id = LoopId::new(self.loops.len());
        let mut work = latches.clone();
        self.loops.push(Loop { header, latches, parent: None, depth: 0 });
        self.outermost.push(id);
        self.innermost[header.index()] = Some(id);
        while let Some(block) = work.pop() {
            let entered_at = match self.innermost[block.index()] {
                None => {
                    self.innermost[block.index()] = Some(id);
                    block
                }
                Some(inner) => {
                    let inner = self.outermost_around(inner);
                    if inner == id {
                        continue;
                    }
                    self.outermost[inner.index()] = id;
                    self.loops[inner.index()].parent = Some(id);
                    self.loops[inner.index()].header
                }
            };
            let reachable = |block: &&BlockId| self.cfg.is_reachable(**block);
            work.extend(self.cfg.predecessors(entered_at).iter().filter(reachable));
        }
    }

    fn finish(self, irreducible: Vec<(BlockId, BlockId)>) -> Loops {
        let last = self.loops.len();
        let renumber = |id: LoopId| LoopId::new(last - 1 - id.index());
        let mut loops: IndexVec<LoopId, Loop> = IndexVec::new();
        for found in self.loops.into_iter().rev() {
            let parent = found.parent.map(renumber);
            let depth = parent.map_or(1, |parent| loops[parent].depth + 1);
            loops.push(Loop { parent, depth, ..found });
        }
        let innermost = self.innermost.into_iter().map(|id| id.map(renumber)).collect();
        Loops { loops, irreducible, innermost }
    }
}
