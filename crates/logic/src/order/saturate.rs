//! The rules, applied until nothing new follows.
//!
//! Two things set them off: a literal becomes true (an edge, a source for a read, a hit), and clocks grow because of an
//! edge. Clocks grow in runs: nodes in a row on one chain, which now come after more nodes of another. For every run we
//! look at what lies on these two stretches, and of several writes in a row only at the one that implies the rest: the
//! last before a read, the first after a write.

use super::{Attached, Edge, EdgeId, Guarded, Meaning, Node, Order, Read, Reason, Run, Why};
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
        self.readers[write.index()].push(read);
        self.rule_out_others(read, lit, write);
        for index in 0..self.reads[read.0 as usize].hitters.len() {
            let Attached { lit: hit, node: hitter, .. } = self.reads[read.0 as usize].hitters[index];
            if self.value(hit) == Some(true) {
                self.apply_rules(read, (lit, write), hit, hitter);
            }
        }
    }

    /// A read has one source.
    fn rule_out_others(&mut self, read: Read, source: Lit, writer: Node) {
        for index in 0..self.reads[read.0 as usize].candidates.len() {
            let Attached { lit, node, .. } = self.reads[read.0 as usize].candidates[index];
            self.imply(!lit, Why::Elsewhere { read, candidate: node, source, writer });
        }
    }

    fn learn_hit(&mut self, read: Read, hit: Lit, hitter: Node) {
        match self.source[read.0 as usize] {
            Some(source) => self.apply_rules(read, source, hit, hitter),
            None => {
                if self.clocks.reaches(hitter, self.read_node[read.0 as usize]) {
                    self.rule_out_candidates(read, hit, hitter);
                }
            }
        }
    }

    /// Candidates of a read that come before a write that hits and itself comes before the read.
    fn rule_out_candidates(&mut self, read: Read, hit: Lit, hitter: Node) {
        for index in 0..self.reads[read.0 as usize].candidates.len() {
            let candidate = self.reads[read.0 as usize].candidates[index];
            if self.clocks.reaches(candidate.node, hitter) {
                self.overwritten(read, candidate, hit, hitter);
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
        let mut runs = std::mem::take(&mut self.runs);
        self.clocks.join(id, &self.edges, &self.out, &mut runs);
        for run in runs.drain(..) {
            self.rule_out_edges(run);
            self.follow_to_reads(run);
            self.follow_from_writes(run);
        }
        self.runs = runs;
        true
    }

    /// Guarded edges against the direction of the run.
    fn rule_out_edges(&mut self, run: Run) {
        let pair = run.target as usize * self.clocks.chains().len() + run.source as usize;
        let list = std::mem::take(&mut self.index.guarded[pair]);
        let start = list.partition_point(|edge| self.clocks.position(edge.from) < run.start);
        for &Guarded { from, to, lit } in &list[start..] {
            if self.clocks.position(from) >= run.end {
                break;
            }
            if (run.old..run.new).contains(&self.clocks.position(to)) {
                self.imply(!lit, Why::Cycle { from, to, time: self.clocks.now() });
            }
        }
        self.index.guarded[pair] = list;
    }

    /// Reads on the run: more writes come before them.
    fn follow_to_reads(&mut self, run: Run) {
        let list = std::mem::take(&mut self.index.reads[run.target as usize]);
        let start = list.partition_point(|&(position, _)| position < run.start);
        for &(_, read) in list[start..].iter().take_while(|&&(position, _)| position < run.end) {
            let Some(hitter) = self.last_hitter(read, run.source, run.new).filter(|h| h.position >= run.old) else {
                continue;
            };
            match self.source[read.0 as usize] {
                Some(source) => self.apply_rules(read, source, hitter.lit, hitter.node),
                None => self.rule_out_candidates(read, hitter.lit, hitter.node),
            }
        }
        self.index.reads[run.target as usize] = list;
    }

    /// Sources of reads that the run starts from: more writes come after them.
    fn follow_from_writes(&mut self, run: Run) {
        for position in run.old..run.new {
            let writer = self.clocks.chains()[run.source as usize][position as usize];
            for index in 0..self.readers[writer.index()].len() {
                let read = self.readers[writer.index()][index];
                let Some(source) = self.source[read.0 as usize] else { continue };
                if let Some(hitter) = self.first_hitter(read, run.target, run.start).filter(|h| h.position < run.end) {
                    self.apply_rules(read, source, hitter.lit, hitter.node);
                }
            }
        }
        self.follow_from_candidates(run);
    }

    /// Candidates that the run starts from: more writes come after them.
    fn follow_from_candidates(&mut self, run: Run) {
        for position in run.old..run.new {
            let writer = self.clocks.chains()[run.source as usize][position as usize];
            let list = std::mem::take(&mut self.candidate_of[writer.index()]);
            for &(read, lit) in &list {
                if self.value(lit).is_none() {
                    self.rule_out_if_overwritten(run, read, lit, writer);
                }
            }
            self.candidate_of[writer.index()] = list;
        }
    }

    fn rule_out_if_overwritten(&mut self, run: Run, read: Read, lit: Lit, writer: Node) {
        let before_read = self.clocks.count(self.read_node[read.0 as usize], run.target);
        if before_read <= run.start {
            return; // nothing on the run comes before the read
        }
        let last = self.last_hitter(read, run.target, before_read).filter(|h| h.position >= run.start);
        if let Some(hitter) = last.filter(|hitter| self.clocks.reaches(writer, hitter.node)) {
            self.overwritten(read, Attached { lit, node: writer, ..hitter }, hitter.lit, hitter.node);
        }
    }

    /// The last write on `chain` before `position` that hits the location of `read`.
    fn last_hitter(&self, read: Read, chain: u32, position: u32) -> Option<Attached> {
        let on_chain = self.hitters_on(read, chain);
        let end = on_chain.partition_point(|h| h.position < position);
        on_chain[..end].iter().rev().copied().find(|h| self.value(h.lit) == Some(true))
    }

    /// The first write on `chain` from `position` on that hits the location of `read`.
    fn first_hitter(&self, read: Read, chain: u32, position: u32) -> Option<Attached> {
        let on_chain = self.hitters_on(read, chain);
        let begin = on_chain.partition_point(|h| h.position < position);
        on_chain[begin..].iter().copied().find(|h| self.value(h.lit) == Some(true))
    }

    /// The writes on `chain` that may hit the location of `read`, in their order.
    fn hitters_on(&self, read: Read, chain: u32) -> &[Attached] {
        let state = &self.reads[read.0 as usize];
        let hitters = &state.hitters;
        if let [from, to] = state.hitters_from[..].get(chain as usize..chain as usize + 2).unwrap_or_default() {
            return &hitters[*from as usize..*to as usize];
        }
        let from = hitters.partition_point(|hitter| hitter.chain < chain);
        let length = hitters[from..].partition_point(|hitter| hitter.chain == chain);
        &hitters[from..from + length]
    }
}
