//! What holds at the lines of the source, as C expressions: for witnesses, and for tools that look at programs.
//!
//! A statement of which the first visible step is a stop, with nothing but steps of the thread itself before it on its line: what is known at
//! the stop of shared memory holds where the statement begins, as these steps change nothing of it. Of all
//! calls and threads that lead there, one of the states holds. Only what everybody can see is said: of a cell that a lock
//! protects, others may see a value that means nothing while somebody holds it, so it is left out unless the thread itself holds
//! the lock. Variables are globals of one number, and parameters; both as far as nothing else in the function has their name.

use crate::cells::{CellId, Cells};
use crate::code::{Code, NodeId, StopId};
use leno_domains::word;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::program::{Body, FuncId, ObjectKind, Op, Place, Span, Type};
use leno_verify::annotation::{Annotation, Fact, State, Variable};
use leno_verify::exclusion::is_hidden;
use std::collections::{BTreeMap, BTreeSet};

/// What holds whenever a thread is about to execute a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceInvariant {
    pub file: String,
    pub line: u32,
    pub function: String,
    /// A C expression.
    pub value: String,
}

/// All that can be said in C.
pub fn invariants(code: &Code<'_, '_>, cells: &Cells, annotation: &Annotation<'_>) -> Vec<SourceInvariant> {
    let program = code.program();
    let mut by_place: BTreeMap<Place, Vec<StopId>> = BTreeMap::new();
    for (stop, node) in code.stops().iter_enumerated() {
        by_place.entry(code.place(*node)).or_default().push(stop);
    }
    let mut all = BTreeSet::new();
    for (place, stops) in by_place {
        let Some(span) = span_of_statement(code, place) else { continue };
        let function = program.functions[place.func].name.clone();
        if function == "_start" {
            // (No source has it: it calls `main`.)
            continue;
        }
        let mut ways = BTreeSet::new();
        for stop in stops {
            let source = Source { code, cells, node: code.stops()[stop], place };
            ways.extend(annotation.states[stop].iter().map(|state| source.conjunction(state)));
        }
        // (One of the states says nothing: so do all together.)
        if ways.is_empty() || ways.contains("") {
            continue;
        }
        let value = match ways.len() {
            1 => ways.into_iter().collect::<String>(),
            _ => ways.iter().map(|way| format!("({way})")).collect::<Vec<_>>().join(" || "),
        };
        all.insert(SourceInvariant { file: program.files[span.file].clone(), line: span.line, function, value });
    }
    all.into_iter().collect()
}

/// Where a statement begins whose first visible step is this one.
fn span_of_statement(code: &Code<'_, '_>, place: Place) -> Option<Span> {
    let program = code.program();
    let Body::Blocks(blocks) = &program.functions[place.func].body else { return None };
    let instrs = &blocks[place.block].instrs;
    let span = instrs.get(place.index as usize)?.span;
    let is_source = program.files.get(span.file).is_some_and(|file| !file.starts_with("<leno>"));
    if span.line == 0 || !is_source {
        return None;
    }
    let is_here = |other: &Span| (other.file, other.line) == (span.file, span.line);
    let is_before = |block: leno_ir::program::BlockId| block < place.block;
    // The line has steps in no block before this one,
    let mut earlier = blocks.iter_enumerated().filter(|(block, _)| is_before(*block)).map(|(_, block)| block);
    if earlier.any(|block| block.instrs.iter().any(|instr| is_here(&instr.span)) || is_here(&block.terminator.span)) {
        return None;
    }
    // and in this one, only such that nobody sees and that change no parameter.
    let params = program.functions[place.func].params;
    let mut before = instrs[..place.index as usize].iter().enumerate().filter(|(_, instr)| is_here(&instr.span));
    let is_harmless = |(index, instr): (usize, &leno_ir::program::Instr)| {
        let mut changes = false;
        instr.op.for_each_result(|local| changes |= local.0 < params);
        let at = Place { index: index as u32, ..place };
        let is_stop = code.stops().iter().any(|node| code.place(*node) == at);
        !changes && !is_stop && !matches!(instr.op, Op::Call { .. } | Op::Assert { .. } | Op::Assume { .. })
    };
    before.all(is_harmless).then_some(span)
}

struct Source<'c, 'a, 'p> {
    code: &'c Code<'a, 'p>,
    cells: &'c Cells,
    node: NodeId,
    place: Place,
}

impl Source<'_, '_, '_> {
    /// What a state says; empty if nothing of it can be said.
    fn conjunction(&self, state: &State<'_>) -> String {
        let known: BTreeSet<String> = state.facts.iter().filter_map(|fact| self.fact(fact)).collect();
        known.into_iter().collect::<Vec<_>>().join(" && ")
    }

    fn fact(&self, fact: &Fact<'_>) -> Option<String> {
        match *fact {
            Fact::Is(variable, bits) => {
                let (name, width) = self.variable(variable)?;
                let is_negative = bits > word::mask(width) >> 1;
                // (A narrow number is made an `int`, and then it matters whether it was signed.)
                (!is_negative).then(|| format!("{name} == {bits}{}", suffix(width)))
            }
            Fact::Unsigned(variable, low, high) => {
                let (name, width) = self.variable(variable)?;
                // The same for a signed number.
                let is_small = high <= word::mask(width) >> 1;
                is_small.then(|| format!("{low}{0} <= {name} && {name} <= {high}{0}", suffix(width)))
            }
            _ => None,
        }
    }

    /// What a variable is called in C, and how many bits it has.
    fn variable(&self, variable: Variable) -> Option<(String, u32)> {
        let program = self.code.program();
        let function = &program.functions[self.place.func];
        match variable {
            Variable::Register(frame, local) => {
                let local_data = &function.locals[local];
                let is_one = frame == self.code.frame_of(self.node)
                    && local.0 < function.params
                    && self.count(self.place.func, &local_data.name) == 1
                    && matches!(local_data.ty, Type::Int(8 | 16 | 32 | 64));
                is_one.then(|| (local_data.name.clone(), u32::from(local_data.ty.bits(program.model))))
            }
            Variable::Cell(cell) => self.global(cell),
        }
    }

    fn global(&self, cell: CellId) -> Option<(String, u32)> {
        let program = self.code.program();
        let extent = self.cells.extent(cell);
        let AbstractObject::Static(id) = self.code.facts.points_to().objects()[extent.object] else { return None };
        let object = &program.objects[id];
        let is_whole = object.kind == ObjectKind::Global && extent.offset == 0 && object.size == extent.bytes;
        let is_plain = is_whole && is_identifier(&object.name) && extent.bytes <= 8;
        let is_one = program.objects.iter().filter(|other| other.name == object.name).count() == 1
            && self.count(self.place.func, &object.name) == 0;
        let is_visible = self.cells.protection(cell).is_none()
            || is_hidden(self.code, self.cells, self.node, cell) && !self.code.is_exclusive(self.node);
        (is_plain && is_one && is_visible).then(|| (object.name.clone(), 8 * extent.bytes as u32))
    }

    /// How many registers and stack objects of a function have this name.
    fn count(&self, func: FuncId, name: &str) -> usize {
        let function = &self.code.program().functions[func];
        let registers = function.locals.iter().filter(|local| local.name == name).count();
        registers + function.slots.iter().filter(|slot| slot.name == name).count()
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What makes a constant as wide as a variable.
fn suffix(width: u32) -> &'static str {
    if width > 32 { "LL" } else { "" }
}
