//! Which assertions there are, and which of them were proved: `N of M`.
//!
//! An assertion is a place of the program: `assert`, a signed operation that must not overflow, an access that must stay in
//! bounds. One in a function of a header or of Leno's own library models is counted once for each place that calls it:
//! there a person looks for it. With every call expanded, as the paper counts, there are more.

use crate::code::{Code, FrameId, NodeId};
use leno_engine::{Properties, Statistics};
use leno_ir::program::{Body, Op, Place, Program, Property, Span};
use leno_verify::claims::{Asked, is_checked};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Assertion,
    Overflow,
    Index,
    Access,
    LibraryCall,
}

impl Kind {
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Assertion => "the assertion",
            Kind::Overflow => "the absence of a signed overflow",
            Kind::Index => "the array index",
            Kind::Access => "the access in bounds",
            Kind::LibraryCall => "the library function's accesses in bounds",
        }
    }
}

/// Where a person looks for it, and where it is.
type Key = (Place, Place);

#[derive(Debug)]
pub struct Assertions {
    nodes: BTreeMap<NodeId, (Key, Kind)>,
}

/// How many there are.
#[derive(Clone, Debug)]
pub struct Tally {
    pub all: usize,
    pub proved: usize,
    /// Among those proved: no thread ever gets there.
    pub never_reached: usize,
    pub all_expanded: usize,
    pub proved_expanded: usize,
    /// Where a person looks for each that was not proved.
    pub unproved: BTreeSet<(Place, Kind)>,
}

impl Tally {
    pub fn summary(&self) -> String {
        format!("{} of {} assertions were proved", self.proved, self.all)
    }

    pub fn report(&self, statistics: &mut Statistics) {
        statistics.count("assertions", self.all as u64);
        statistics.count("assertions proved", self.proved as u64);
        statistics.count("assertions never reached", self.never_reached as u64);
        statistics.count("assertions with calls expanded", self.all_expanded as u64);
        statistics.count("assertions with calls expanded proved", self.proved_expanded as u64);
    }
}

impl Assertions {
    pub fn new(code: &Code<'_, '_>, asked: Properties) -> Assertions {
        let Properties { assertion, overflow, bounds, .. } = asked;
        let asked = Asked { assertion, overflow, bounds };
        let mut nodes = BTreeMap::new();
        for (frame, data) in code.frames.iter_enumerated() {
            let Body::Blocks(blocks) = &code.program().functions[data.func].body else { continue };
            for (block, code_of_block) in blocks.iter_enumerated() {
                for (index, instr) in code_of_block.instrs.iter().enumerate() {
                    let place = Place { func: data.func, block, index: index as u32 };
                    let node = code.node(frame, place);
                    if let Some(kind) = kind(code, node, &instr.op, asked).filter(|_| code.is_reached(node)) {
                        nodes.insert(node, ((shown(code, frame, place), place), kind));
                    }
                }
            }
        }
        Assertions { nodes }
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    pub fn count(&self, failed: &BTreeSet<NodeId>, reached: &BTreeSet<NodeId>) -> Tally {
        let mut by_key: BTreeMap<(Key, Kind), (bool, bool)> = BTreeMap::new();
        for (node, (key, kind)) in &self.nodes {
            let known = by_key.entry((*key, *kind)).or_default();
            known.0 |= failed.contains(node);
            known.1 |= reached.contains(node);
        }
        let has_failed = |node: &&NodeId| failed.contains(node);
        Tally {
            all: by_key.len(),
            proved: by_key.values().filter(|(has_failed, _)| !has_failed).count(),
            never_reached: by_key.values().filter(|(_, is_reached)| !is_reached).count(),
            all_expanded: self.nodes.len(),
            proved_expanded: self.nodes.len() - self.nodes.keys().filter(has_failed).count(),
            unproved: by_key
                .iter()
                .filter(|(_, (has_failed, _))| *has_failed)
                .map(|(((shown, _), kind), _)| (*shown, *kind))
                .collect(),
        }
    }
}

fn kind(code: &Code<'_, '_>, node: NodeId, op: &Op, asked: Asked) -> Option<Kind> {
    match op {
        Op::Assert { property, .. } => asked.includes(*property).then_some(match property {
            Property::Assertion => Kind::Assertion,
            Property::SignedOverflow => Kind::Overflow,
            _ => Kind::Index,
        }),
        _ if asked.bounds && is_checked(code, node, op) => match op {
            Op::Call { .. } => Some(Kind::LibraryCall),
            _ => Some(Kind::Access),
        },
        _ => None,
    }
}

/// The place that people know: where they call what a header or Leno defines.
fn shown(code: &Code<'_, '_>, frame: FrameId, place: Place) -> Place {
    let (mut place, mut frame) = (place, frame);
    let is_elsewhere = |place: Place| {
        let span = code.program().functions[place.func].span;
        let file = code.program().files.get(span.file);
        file.is_some_and(|file| file.starts_with("<leno>") || file.ends_with(".h"))
    };
    while let Some((caller, call)) = code.frames[frame].caller.filter(|_| is_elsewhere(place)) {
        if span_of(code.program(), call) == Span::NONE {
            break;
        }
        (place, frame) = (call, caller);
    }
    place
}

fn span_of(program: &Program, place: Place) -> Span {
    match &program.functions[place.func].body {
        Body::Blocks(blocks) => blocks
            .get(place.block)
            .and_then(|block| block.instrs.get(place.index as usize))
            .map_or(Span::NONE, |instr| instr.span),
        Body::External(_) => Span::NONE,
    }
}
