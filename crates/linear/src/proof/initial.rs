//! The data structure before any operation: static objects as they are initialised, and what the initialisation makes.

use super::Question;
use super::code::Code;
use super::machine::{Machine, Method, Next, Role, STRUCTURE};
use super::memory::{Layout, Memory, Region, State, Stop, Words};
use super::observer::START;
use super::value::Value;
use super::view::{Owner, Shared, Thread};
use crate::operation::{InitialArgument, Initialisation};
use leno_ir::program::{Datum, ObjectKind, Program};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The sizes of static objects, and which of them the proof does not follow.
pub fn describe_objects(program: &Program, layout: &mut Layout) {
    for (id, object) in program.objects.iter_enumerated() {
        layout.static_sizes.insert(id.0, i64::try_from(object.size).unwrap_or(i64::MAX));
        let is_plain = |datum: &Datum| match datum {
            Datum::Bytes(bytes) => bytes.len() <= 8,
            Datum::Object(..) => true,
            Datum::Function(_) => false,
        };
        let is_known = matches!(object.kind, ObjectKind::Global | ObjectKind::Constant);
        if !is_known || !object.init.iter().all(|(_, datum)| is_plain(datum)) {
            layout.opaque.insert(id.0);
        }
    }
}

fn static_words(program: &Program) -> Shared {
    let mut shared = Shared { statics: Vec::new(), cells: Vec::new(), observer: START };
    for (id, object) in program.objects.iter_enumerated() {
        for (offset, datum) in &object.init {
            let value = match datum {
                Datum::Bytes(bytes) if bytes.len() <= 8 => {
                    Value::Number(bytes.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte)))
                }
                Datum::Object(object, offset) => Value::Static(object.0, *offset),
                Datum::Bytes(_) | Datum::Function(_) => continue,
            };
            shared.set_static(id.0, *offset as i64, value);
        }
    }
    shared
}

/// What there is when the first operation begins.
pub fn shared_at_start(
    question: &Question,
    memory: Memory,
    counters: &BTreeSet<(Region, i64)>,
) -> Result<Shared, Stop> {
    let start = static_words(question.program);
    let Some(init) = &question.operations.initialisation else { return Ok(without_counters(start, counters)) };
    let function = question.program.functions.iter_enumerated().find(|(_, known)| known.name == init.function);
    let Some((id, _)) = function else { return Err(Stop::Unsupported(format!("`{}` is not defined", init.function))) };
    let code = Code::new(question.program, id).map_err(Stop::Unsupported)?;
    let method = Method { role: Role::Insert, code, arguments: Vec::new(), takes_effect: None };
    let mut layout = Layout::default();
    describe_objects(question.program, &mut layout);
    let machine = Machine {
        program: question.program,
        methods: vec![method],
        observer: question.observer,
        memory,
        layout: RefCell::new(layout),
        data_bits: 0,
        is_initial: true,
        uses_lock: false,
        lock: RefCell::new(None),
        codes: RefCell::new(BTreeMap::new()),
    };
    run(&machine, init, start).map(|shared| without_counters(shared, counters))
}

fn run(machine: &Machine, init: &Initialisation, start: Shared) -> Result<Shared, Stop> {
    let mut thread = Thread { operation: Some(0), ..Thread::idle() };
    for (at, argument) in init.arguments.iter().enumerate() {
        let value = match argument {
            InitialArgument::Structure => Value::Static(STRUCTURE, 0),
            InitialArgument::Number(number) => Value::Number(*number as u64 as u128),
            InitialArgument::Null => Value::Number(0),
        };
        thread.set(at as u32, value);
    }
    let mut state = State::new(start, thread, None);
    for _ in 0..MOST_STEPS {
        let mut nexts = machine.step(state)?;
        let (Some(next), true) = (nexts.pop(), nexts.is_empty()) else {
            return Err(Stop::Unsupported("the initialisation may go several ways".to_string()));
        };
        match next {
            Next::Goes(next) => state = next,
            Next::Returned(mut state, value) => {
                if init.makes_structure {
                    becomes_structure(&mut state, value.as_ref())?;
                }
                state.section = None;
                let mut layout = Layout::default();
                Words { memory: machine.memory, layout: &mut layout, is_initial: true }.settle(&mut state)?;
                return Ok(state.shared);
            }
        }
    }
    Err(Stop::Unsupported("the initialisation makes too many steps".to_string()))
}

/// An initialisation that makes more steps than this is not followed.
const MOST_STEPS: usize = 20_000;

/// The cell that the initialisation returns is the data structure: no cell of a list, but an object of its own.
fn becomes_structure(state: &mut State, value: Option<&Value>) -> Result<(), Stop> {
    let Some(Value::Cell(cell, 0)) = value else {
        return Err(Stop::Unsupported("the initialisation returns something other than a new object".to_string()));
    };
    let fields = std::mem::take(&mut state.shared.cells[usize::from(*cell)].fields);
    state.shared.cells[usize::from(*cell)].owner = Owner::Free;
    for (offset, value) in fields {
        state.shared.set_static(STRUCTURE, offset, value);
    }
    let mut mentioned = false;
    let values = state.shared.statics.iter().map(|(_, value)| value);
    let fields = state.shared.cells.iter().flat_map(|cell| cell.fields.iter().map(|(_, value)| value));
    for value in values.chain(fields) {
        value.for_each_cell(&mut |other| mentioned |= other == *cell);
    }
    match mentioned {
        true => Err(Stop::Unsupported("the data structure points to itself".to_string())),
        false => Ok(()),
    }
}

/// Version counters have no numbers.
fn without_counters(mut shared: Shared, counters: &BTreeSet<(Region, i64)>) -> Shared {
    shared.statics.retain(|((object, offset), _)| !counters.contains(&(Region::Static(*object), *offset)));
    for cell in &mut shared.cells {
        cell.fields.retain(|(offset, _)| !counters.contains(&(Region::Cell, *offset)));
    }
    shared
}
