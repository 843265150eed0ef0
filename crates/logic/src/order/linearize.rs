//! Putting a full assignment into a line.
//!
//! We place one node after another: a node may be placed when everything before it has been, and when it does not
//! overwrite what a read still waits for. We stay on a chain for as long as we can (a line with few switches is easier
//! to read), and prefer chains that let a waiting read come. If at some point nothing can be placed, each node that is
//! ready but would overwrite is a case that the rules left open: before the write, or after the read. These are the
//! splits.

use super::{Line, Node, Order, Split};

struct Placing {
    /// By chain: how many of its nodes are placed.
    placed: Vec<u32>,
    line: Vec<Node>,
}

impl Order {
    /// A total order for the current, full and saturated assignment, or the cases to distinguish.
    pub(super) fn linearize(&self) -> Line {
        let mut placing =
            Placing { placed: vec![0; self.clocks.chains().len()], line: Vec::with_capacity(self.nodes()) };
        while placing.line.len() < self.nodes() {
            let before = placing.line.len();
            for chain in 0..placing.placed.len() {
                self.run(chain, &mut placing);
            }
            if placing.line.len() == before {
                return Line::Stuck(self.splits(&placing));
            }
        }
        Line::Found(placing.line)
    }

    /// Places nodes of a chain for as long as possible.
    fn run(&self, chain: usize, placing: &mut Placing) {
        while let Some(node) = self.next(chain, placing)
            && self.is_ready(node, placing)
            && self.obstacles(node, placing).next().is_none()
        {
            placing.placed[chain] += 1;
            placing.line.push(node);
        }
    }

    fn next(&self, chain: usize, placing: &Placing) -> Option<Node> {
        self.clocks.chains()[chain].get(placing.placed[chain] as usize).copied()
    }

    fn is_placed(&self, node: Node, placing: &Placing) -> bool {
        placing.placed[self.clocks.chain_of(node) as usize] > self.clocks.position(node)
    }

    /// Whether everything before `node` is placed.
    fn is_ready(&self, node: Node, placing: &Placing) -> bool {
        let own = self.clocks.chain_of(node);
        self.clocks.row(node).all(|(chain, before)| chain == own || before <= placing.placed[chain as usize])
    }

    /// Reads that have not come yet although the write they read from has, and whose location `node` would overwrite.
    fn obstacles<'a>(&'a self, node: Node, placing: &'a Placing) -> impl Iterator<Item = Split> + 'a {
        self.hit_by[node.index()].iter().filter_map(move |&(read, hit)| {
            let (source, writer) = self.source[read.0 as usize]?;
            let waits = self.value(hit) == Some(true)
                && writer != node
                && self.is_placed(writer, placing)
                && !self.is_placed(self.read_node[read.0 as usize], placing);
            waits.then_some(Split { read, source, writer, hit, hitter: node })
        })
    }

    fn splits(&self, placing: &Placing) -> Vec<Split> {
        let heads = (0..placing.placed.len()).filter_map(|chain| self.next(chain, placing));
        heads
            .filter(|&node| self.is_ready(node, placing))
            .filter_map(|node| self.obstacles(node, placing).next())
            .collect()
    }
}
