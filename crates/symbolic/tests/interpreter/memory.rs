//! Initial contents of objects, and loads and stores at offsets that are terms.

use crate::harness::{Inputs, STATES, at_mark, parse};
use leno_ir::interp::{Image, MAIN, Machine, Options, Prng, StepResult};
use leno_ir::program::{FuncId, LocalId, ObjectId, Program};
use leno_logic::term::{Assignment, Evaluation, Sort, Term, Terms};
use leno_symbolic::cells::Cells;
use leno_symbolic::contents::{Addresses, Initial, datum_bytes, static_value};
use leno_symbolic::operators::fit;
use leno_symbolic::region::Region;
use std::convert::Infallible;

/// Where the interpreter has put objects and functions.
struct Placed<'a, 'p>(&'a Image<'p>);

impl Addresses for Placed<'_, '_> {
    type Error = Infallible;

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Infallible> {
        Ok(self.0.object_address(object))
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, Infallible> {
        Ok(self.0.function_address(function))
    }
}

const SIZE: u64 = 64;

/// An object of `SIZE` bytes with random pieces, and one that it points to.
fn random_program(random: &mut Prng, body: &str) -> Program {
    let is_wide = random.below(2) == 0;
    let pointer = if is_wide { 8 } else { 4 };
    let (mut pieces, mut at) = (Vec::new(), random.below(9));
    while at + 12 < SIZE {
        let piece = match random.below(4) {
            0 => (pointer, "@target".to_string()),
            1 => (pointer, format!("@target + {}", random.below(30))),
            2 => (pointer, "&start".to_string()),
            _ => {
                let length = 1 + random.below(12);
                let bytes = (0..length).map(|_| format!("\\x{:02x}", random.below(256)));
                (length, format!("\"{}\"", bytes.collect::<String>()))
            }
        };
        pieces.push(format!("{at}: {}", piece.1));
        at += piece.0 + random.below(9);
    }
    parse(&format!(
        "program {} entry &start
@a = global size {SIZE} align 16 {{ {} }}
@target = global size 32 align 8
fn &start(%argc: i32, %argv: ptr) {{
  local %at: i64
  local %a: i8
  local %b: i16
  local %c: i32
  local %d: i64
b0:
{body}
  exit i32 0
}}
",
        if is_wide { "lp64" } else { "ilp32" },
        pieces.join(", ")
    ))
}

#[test]
fn initial_contents() {
    let mut random = Prng::new(11);
    for _ in 0..STATES / 50 {
        let program = random_program(&mut random, "");
        let image = Image::new(&program);
        let machine = Machine::new(&image, &Options::default());
        let base = image.object_address(ObjectId(0));
        for _ in 0..50 {
            let bytes = 1 + random.below(16);
            let offset = random.below(SIZE - bytes + 1);
            let expected = machine.peek(base + offset, bytes).expect("inside").bits;
            let Ok(found) = static_value(&program, ObjectId(0), (offset, bytes as u32), &mut Placed(&image));
            assert_eq!(found, expected, "{bytes} bytes at {offset} of {:?}", program.objects[ObjectId(0)].init);
        }
        for (offset, datum) in &program.objects[ObjectId(0)].init {
            let Ok(bytes) = datum_bytes(&program, datum, &mut Placed(&image));
            for (index, byte) in bytes.into_iter().enumerate() {
                assert_eq!(machine.peek(base + offset + index as u64, 1).expect("inside").bits, byte.into());
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Touch {
    bytes: u32,
    is_store: bool,
}

/// A store of, or a load into, the register of this width.
fn instruction(touch: Touch, is_wide: bool) -> String {
    let (register, ty) = match touch.bytes {
        1 => ("%a", "i8"),
        2 => ("%b", "i16"),
        4 => ("%c", "i32"),
        _ => ("%d", "i64"),
    };
    let offset = if is_wide { "%at" } else { "trunc(%at to i32)" };
    let at = format!("{ty} ptr_add(@a, {offset})");
    let access = match touch.is_store {
        true => format!("  {register} = nondet\n  yield\n  store {at} = {register}\n"),
        false => format!("  yield\n  {register} = load {at}\n"),
    };
    format!("  %at = nondet\n{access}")
}

#[test]
fn loads_and_stores() {
    let mut random = Prng::new(13);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..STATES / 20 {
        let touches: Vec<Touch> =
            (0..6).map(|_| Touch { bytes: 1 << random.below(4), is_store: random.below(2) == 0 }).collect();
        // (The data model is chosen when the program is made.)
        let seed = random.next_u64();
        let is_wide = random_program(&mut Prng::new(seed), "").model == leno_ir::program::DataModel::Lp64;
        let body: String = touches.iter().map(|touch| instruction(*touch, is_wide)).collect();
        let program = random_program(&mut Prng::new(seed), &body);
        let image = Image::new(&program);
        let initial = Machine::new(&image, &Options::default());
        let base = image.object_address(ObjectId(0));
        let region = Region { base, size: SIZE, extent: None };
        let aligned = random.below(2) == 0;

        // One symbolic execution, whatever the offsets and values are.
        let mut terms = Terms::new();
        let width = u32::from(program.model.pointer_bits());
        let mut cells = Cells::default();
        let mut steps = Vec::new();
        for touch in &touches {
            let offset = terms.variable(Sort::Bits(64), "offset");
            let distance = fit(&mut terms, offset, width);
            // Offsets of which low bits are known leave fewer places.
            let distance = if aligned { shifted(&mut terms, distance) } else { distance };
            let start = terms.bits(width, base.into());
            let address = terms.add(start, distance);
            let good = region.contains(&mut terms, address, touch.bytes.into());
            let offset_in = region.offset_of(&mut terms, address);
            let places = region.places(&mut terms, offset_in, touch.bytes).expect("few places");
            let value = terms.variable(Sort::Bits(touch.bytes * 8), "value");
            let mut unwritten = |terms: &mut Terms, at, bytes| {
                Initial::Static(ObjectId(0)).value(terms, &program, &[], (at, bytes), &mut Placed(&image))
            };
            let mut read = terms.bits(touch.bytes * 8, 0);
            for (at, here) in places {
                let Ok(old) = cells.read(&mut terms, at, touch.bytes, &mut unwritten);
                read = terms.ite(here, old, read);
                if touch.is_store {
                    let new = terms.ite(here, value, old);
                    cells.write(&mut terms, at, touch.bytes, new);
                }
            }
            steps.push((offset, good, value, read));
        }
        for _ in 0..20 {
            compare(&mut random, &terms, &initial, &touches, &steps, aligned, &mut inside, &mut outside);
        }
    }
    println!("{inside} inside, {outside} outside");
    assert!(inside > STATES && outside > 100);
}

fn shifted(terms: &mut Terms, distance: Term) -> Term {
    let two = terms.bits(terms.width(distance), 2);
    terms.shl(distance, two)
}

#[allow(clippy::too_many_arguments)]
fn compare(
    random: &mut Prng,
    terms: &Terms,
    initial: &Machine<'_>,
    touches: &[Touch],
    steps: &[(Term, Term, Term, Term)],
    aligned: bool,
    inside: &mut u64,
    outside: &mut u64,
) {
    let (mut assignment, mut inputs) = (Assignment::new(), Vec::new());
    for (touch, (offset, _, value, _)) in touches.iter().zip(steps) {
        // Now and then beyond the end.
        let beyond = if random.below(20) == 0 { 8 } else { 0 };
        let at = random.below(SIZE - u64::from(touch.bytes) + 1 + beyond);
        let at = if aligned { at / 4 } else { at };
        assignment.set(terms, *offset, at.into());
        inputs.push(u128::from(if aligned { at * 4 } else { at }));
        if touch.is_store {
            let bits = u128::from(random.next_u64());
            assignment.set(terms, *value, bits);
            inputs.push(bits);
        }
    }
    let mut evaluation = Evaluation::new(terms, &assignment);
    let mut inputs = Inputs::new(&inputs);
    let mut machine = initial.clone();
    for (touch, (_, good, _, read)) in touches.iter().zip(steps) {
        machine = at_mark(&machine, &mut inputs);
        let result = machine.step(MAIN, &mut inputs);
        if !evaluation.holds(*good) {
            assert!(matches!(result, StepResult::Violation(_)), "{result:?}");
            *outside += 1;
            return;
        }
        assert_eq!(result, StepResult::Done);
        *inside += 1;
        if !touch.is_store {
            let register = LocalId(3 + touch.bytes.ilog2());
            assert_eq!(machine.local(MAIN, register).bits, evaluation.value(*read).number(), "{touches:?}");
        }
    }
}
