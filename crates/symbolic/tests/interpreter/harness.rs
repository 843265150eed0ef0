//! Runs a small program to its mark, a `yield`, with given inputs; what comes after the mark is under test.

use leno_ir::interp::{Captured, Environment, Image, MAIN, Machine, Next, Source, StepResult, ThreadId};
use leno_ir::program::{Op, Program};
use leno_ir::text;
use leno_ir::validate::validate;
use std::collections::VecDeque;

/// Random states for each kind of instruction.
pub const STATES: u64 = 10_000;

pub fn parse(source: &str) -> Program {
    let program = text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    if let Err(found) = validate(&program) {
        panic!("{}\n{source}", found[0].explain(&program));
    }
    program
}

/// The values of `nondet`, in order.
pub struct Inputs {
    values: VecDeque<u128>,
    rest: Captured,
}

impl Inputs {
    pub fn new(values: &[u128]) -> Inputs {
        Inputs { values: values.iter().copied().collect(), rest: Captured::new(1) }
    }
}

impl Environment for Inputs {
    fn nondet(&mut self, _: ThreadId, _: u16, _: Source) -> u128 {
        self.values.pop_front().expect("an input for each nondet")
    }

    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.rest
    }
}

/// The machine behind the mark.
pub fn at_mark<'p>(initial: &Machine<'p>, inputs: &mut Inputs) -> Machine<'p> {
    let mut machine = initial.clone();
    loop {
        let is_mark = matches!(machine.next_op(MAIN), Next::Instr(instr) if instr.op == Op::Yield);
        assert_eq!(machine.step(MAIN, inputs), StepResult::Done);
        if is_mark {
            return machine;
        }
    }
}

/// A number at some bytes of a static object.
pub fn peek(machine: &Machine<'_>, image: &Image<'_>, object: u32, offset: u64, bytes: u64) -> u128 {
    let address = image.object_address(leno_ir::program::ObjectId(object)) + offset;
    let value = machine.peek(address, bytes).expect("the object is there");
    assert!(value.is_defined());
    value.bits
}
