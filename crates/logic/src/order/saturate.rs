//! The rules, applied until nothing new follows.
//!
//! Two things set them off: a literal becomes true (an edge, a source for a read, a hit), and a clock grows because of an edge.
//! For every growth we look only at what is attached to the nodes that are newly before.

use super::{Attached, Edge, EdgeId, Growth, Meaning, Node, Order, Read, Reason, Why};
use crate::literal::Lit;

impl Order {
    /// Takes in everything that is new. False if it leads to a conflict, which is then set.
    pub(super) fn saturate(&mut self) -> bool {
        loop {
            while let Some(edge) = self.pending.pop_front() {
                if !self.insert(edge) {
                    return false;
                }
            }
            let Some(&lit) = self.assigned.get(self.processed) else { return true };
            self.processed += 1;
            let count = self.meanings.get(lit.index()).map_or(0, Vec::len);
            for index in 0..count {
                self.learn(lit, self.meanings[lit.index()][index]);
            }
            if self.conflict.is_some() {
                return false;
            }
        }
    }

    /// What follows at once from a literal that holds.
    pub(super) fn learn(&mut self, lit: Lit, meaning: Meaning) {
        match meaning {
            Meaning::Edge(from, to) => self.pending.push_back(Edge { from, to, reason: Reason::Literal(lit) }),
            Meaning::ReadsFrom(read, write) => self.learn_source(read, lit, write),
            Meaning::Hits(read, write) => self.learn_hit(read, lit, write),
        }
    }

    fn learn_source(&mut self, read: Read, lit: Lit, write: Node) {
        let to = self.read_node[read.0 as usize];
        self.pending.push_back(Edge { from: write, to, reason: Reason::Literal(lit) });
        if let Some((other, other_write)) = self.source[read.0 as usize] {
            self.conflict = Some(vec![!lit, !other]);
            self.justify_sources(read, write, other_write);
            return;
        }
        self.source[read.0 as usize] = Some((lit, write));
        self.sources.push(read);
        for index in 0..self.reads[read.0 as usize].hitters.len() {
            let Attached { lit: hit, node: hitter, .. } = self.reads[read.0 as usize].hitters[index];
            if self.value(hit) == Some(true) {
                self.apply_rules(read, (lit, write), hit, hitter);
            }
        }
    }

    fn learn_hit(&mut self, read: Read, hit: Lit, hitter: Node) {
        match self.source[read.0 as usize] {
            Some(source) => self.apply_rules(read, source, hit, hitter),
            None => {
                if self.clocks.reaches(hitter, self.read_node[read.0 as usize]) {
                    for index in 0..self.reads[read.0 as usize].candidates.len() {
                        let candidate = self.reads[read.0 as usize].candidates[index];
                        if self.clocks.reaches(candidate.node, hitter) {
                            self.overwritten(read, candidate, hit, hitter);
                        }
                    }
                }
            }
        }
    }

    /// Rules 1 and 2 for a read, its source, and a write that hits its location.
    fn apply_rules(&mut self, read: Read, (source, writer): (Lit, Node), hit: Lit, hitter: Node) {
        if hitter == writer {
            return;
        }
        let reader = self.read_node[read.0 as usize];
        if self.clocks.reaches(hitter, reader) && !self.clocks.reaches(hitter, writer) {
            self.derive(hitter, writer, read, source, hit, (hitter, reader));
        }
        if self.clocks.reaches(writer, hitter) && !self.clocks.reaches(reader, hitter) {
            self.derive(reader, hitter, read, source, hit, (writer, hitter));
        }
    }

    fn derive(&mut self, from: Node, to: Node, read: Read, source: Lit, hit: Lit, (before, after): (Node, Node)) {
        let reason = Reason::Memory { read, source, hit, before, after, time: self.clocks.now() };
        self.pending.push_back(Edge { from, to, reason });
    }

    fn overwritten(&mut self, read: Read, candidate: Attached, hit: Lit, hitter: Node) {
        if candidate.node != hitter {
            let time = self.clocks.now();
            self.imply(!candidate.lit, Why::Overwritten { read, candidate: candidate.node, hitter, hit, time });
        }
    }

    fn imply(&mut self, lit: Lit, why: Why) {
        if self.value(lit).is_none() {
            self.why[lit.index()] = Some(why);
            self.implied.push(lit);
        }
    }

    fn insert(&mut self, edge: Edge) -> bool {
        if self.clocks.reaches(edge.to, edge.from) {
            self.explain_cycle(edge);
            return false;
        }
        if self.clocks.reaches(edge.from, edge.to) {
            return true;
        }
        let id = EdgeId(self.edges.len() as u32);
        self.edges.push(edge);
        self.out[edge.from.index()].push(id);
        let mut growth = std::mem::take(&mut self.growth);
        self.clocks.join(id, &self.edges, &self.out, &mut growth);
        for growth in growth.drain(..) {
            self.follow(growth);
        }
        self.growth = growth;
        true
    }

    /// What follows from the fact that more nodes of a chain come before a node.
    fn follow(&mut self, growth: Growth) {
        self.rule_out_edges(growth);
        for index in 0..self.reads_at[growth.node.index()].len() {
            self.follow_at_read(growth, self.reads_at[growth.node.index()][index]);
        }
        for index in 0..self.hit_by[growth.node.index()].len() {
            let (read, hit) = self.hit_by[growth.node.index()][index];
            if self.value(hit) == Some(true) {
                self.follow_at_hitter(growth, read, hit);
            }
        }
    }

    /// Guarded edges from the node to nodes that are now before it.
    fn rule_out_edges(&mut self, Growth { node, chain, old, new }: Growth) {
        let time = self.clocks.now();
        let list = std::mem::take(&mut self.guarded[node.index()]);
        for target in Order::between(&list, chain, old, new) {
            self.imply(!target.lit, Why::Cycle { from: node, to: target.node, time });
        }
        self.guarded[node.index()] = list;
    }

    /// Writes that hit, and are now before the read.
    fn follow_at_read(&mut self, Growth { chain, old, new, .. }: Growth, read: Read) {
        let state = std::mem::take(&mut self.reads[read.0 as usize]);
        for hitter in Order::between(&state.hitters, chain, old, new) {
            if self.value(hitter.lit) != Some(true) {
                continue;
            }
            match self.source[read.0 as usize] {
                Some(source) => self.apply_rules(read, source, hitter.lit, hitter.node),
                None => {
                    for &candidate in &state.candidates {
                        if self.clocks.reaches(candidate.node, hitter.node) {
                            self.overwritten(read, candidate, hitter.lit, hitter.node);
                        }
                    }
                }
            }
        }
        self.reads[read.0 as usize] = state;
    }

    /// The node hits the location of `read`, and more writes are now before it.
    fn follow_at_hitter(&mut self, Growth { node, chain, old, new }: Growth, read: Read, hit: Lit) {
        match self.source[read.0 as usize] {
            Some((lit, writer)) => {
                if self.clocks.chain_of(writer) == chain && (old..new).contains(&self.clocks.position(writer)) {
                    self.apply_rules(read, (lit, writer), hit, node);
                }
            }
            None => {
                if self.clocks.reaches(node, self.read_node[read.0 as usize]) {
                    let state = std::mem::take(&mut self.reads[read.0 as usize]);
                    for &candidate in Order::between(&state.candidates, chain, old, new) {
                        self.overwritten(read, candidate, hit, node);
                    }
                    self.reads[read.0 as usize] = state;
                }
            }
        }
    }
}
