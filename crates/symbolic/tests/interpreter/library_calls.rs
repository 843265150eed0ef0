//! Library functions that read input or write memory: what the interpreter does with random input must be one of the
//! things that the effect allows, and it must touch no other memory.

use crate::harness::parse;
use leno_ir::interp::{Captured, Image, MAIN, Machine, Options, Prng, StepResult};
use leno_ir::program::{Callee, DataModel, Expr, LocalId, ObjectId, Op, Program};
use leno_logic::core::Answer;
use leno_logic::solver::Solver;
use leno_logic::term::{Term, Terms};
use leno_symbolic::library_calls::{Overwritten, Surroundings, call};

/// Calls are made in the memory of this many objects: buffers, then texts.
const BUFFERS: u32 = 2;
const SIZE: u64 = 64;
/// Fewer than for other instructions: each asks the solver.
const STATES: u64 = 300;

const CALLS: [(&str, &str); 18] = [
    ("&getchar()", ""),
    ("&read(i32 0, @a, i64 7)", ""),
    ("&read(i32 5, @a, i64 7)", ""),
    ("&fgets(@a, i32 9, %stdin)", ""),
    ("&fread(@a, i64 2, i64 5, %stdin)", ""),
    ("&scanf(@format, @area)", "%d"),
    ("&scanf(@format, @area)", "%d %3s"),
    ("&scanf(@format, @area)", "%hd%n"),
    ("&scanf(@format, @area)", "%n%d"),
    ("&scanf(@format, @area)", "%da%n%d"),
    ("&scanf(@format, @area)", "%3c"),
    ("&scanf(@format, @area)", "%*d %c"),
    ("&sscanf(@text, @format, @area)", "%x %lf"),
    ("&sscanf(@text, @format, @area)", "%s"),
    ("&sprintf(@a, @format, @area)", "%d and %x"),
    ("&snprintf(@a, i64 9, @format, @area)", "%ld %c"),
    ("&time(@a)", ""),
    ("&clock_gettime(i32 0, @a)", ""),
];

fn program(call: &str, format: &str) -> Program {
    let name = &call[1..call.find('(').expect("arguments")];
    let width = if ["read", "fread", "time"].contains(&name) { "i64" } else { "i32" };
    let result = if name == "fgets" { "ptr" } else { width };
    let declaration = match name {
        "getchar" => "fn &getchar() -> i32 external known",
        "read" => "fn &read(%fd: i32, %to: ptr, %most: i64) -> i64 external known writes(1)",
        "fgets" => "fn &fgets(%to: ptr, %most: i32, %file: ptr) -> ptr external known writes(0)",
        "fread" => "fn &fread(%to: ptr, %size: i64, %count: i64, %file: ptr) -> i64 external known writes(0)",
        "scanf" => "fn &scanf(%format: ptr, %area: ptr) -> i32 external known variadic writes(1)",
        "sscanf" => "fn &sscanf(%text: ptr, %format: ptr, %area: ptr) -> i32 external known variadic writes(2)",
        "sprintf" => "fn &sprintf(%to: ptr, %format: ptr, %area: ptr) -> i32 external known variadic writes(0)",
        "snprintf" => {
            "fn &snprintf(%to: ptr, %most: i64, %format: ptr, %area: ptr) -> i32 external known variadic writes(0)"
        }
        "time" => "fn &time(%to: ptr) -> i64 external known writes(0)",
        _ => "fn &clock_gettime(%clock: i32, %to: ptr) -> i32 external known writes(1)",
    };
    parse(&format!(
        "program lp64 entry &start
@a = global size {SIZE} align 16
@b = global size {SIZE} align 16
@area = global size 64 align 8 {{ 0: @a, 8: @b, 16: @a }}
@format = constant size 16 align 1 {{ 0: \"{format}\" }}
@text = constant size 16 align 1 {{ 0: \"12 3.5 word\" }}
@stdin = external size 8 align 8
fn &start(%argc: i32, %argv: ptr) {{
  local %r: {result}
  local %stdin: ptr
b0:
  %stdin = load ptr @stdin
  %r = call {call}
  exit i32 0
}}
{declaration}
"
    ))
}

/// The memory of a machine, all of it known.
struct Known<'a, 'p> {
    terms: Terms,
    image: &'a Image<'p>,
    program: &'p Program,
    machine: &'a Machine<'p>,
}

impl Known<'_, '_> {
    fn object_at(&self, address: u64) -> Option<(ObjectId, u64)> {
        let inside = |id: &ObjectId| {
            let offset = address.wrapping_sub(self.image.object_address(*id));
            offset < self.program.objects[*id].size
        };
        let id = self.program.objects.ids().find(inside)?;
        Some((id, address - self.image.object_address(id)))
    }
}

impl Surroundings for Known<'_, '_> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn model(&self) -> DataModel {
        DataModel::Lp64
    }

    fn constant_text(&mut self, address: Term) -> Option<Vec<u8>> {
        let (object, offset) = self.object_at(self.terms.as_bits(address)? as u64)?;
        self.program.objects[object].text(offset)
    }

    fn room(&mut self, address: u64) -> Option<u64> {
        let (object, offset) = self.object_at(address)?;
        Some(self.program.objects[object].size - offset)
    }

    fn word_at(&mut self, address: u64) -> Option<Term> {
        let value = self.machine.peek(address, 8).ok()?;
        Some(self.terms.bits(64, value.bits))
    }

    fn is_stream(&self, _: u64) -> bool {
        false
    }
}

/// The values of arguments, which are addresses, constants and the register that holds the stream.
fn values(terms: &mut Terms, image: &Image<'_>, machine: &Machine<'_>, args: &[Expr]) -> Vec<Option<Term>> {
    let value = |terms: &mut Terms, arg: &Expr| match arg {
        Expr::Object(object) => terms.bits(64, image.object_address(*object).into()),
        Expr::Const { ty, bits } => terms.bits(u32::from(ty.bits(DataModel::Lp64)), *bits),
        _ => terms.bits(64, machine.local(MAIN, LocalId(3)).bits),
    };
    args.iter().map(|arg| Some(value(terms, arg))).collect()
}

fn input(random: &mut Prng) -> Vec<u8> {
    let letters = b"0123456789 -x.ab\n";
    (0..random.below(12)).map(|_| letters[random.below(letters.len() as u64) as usize]).collect()
}

#[test]
fn what_happens_is_allowed() {
    let mut random = Prng::new(23);
    for (text, format) in CALLS {
        let program = program(text, format);
        let image = Image::new(&program);
        let initial = Machine::new(&image, &Options::default());
        let leno_ir::program::Body::Blocks(blocks) = &program.functions.iter().next().expect("start").body else {
            panic!("start has a body")
        };
        let last = blocks.iter().next().and_then(|block| block.instrs.last()).map(|instr| &instr.op);
        let Some(Op::Call { callee: Callee::Direct(callee), args, .. }) = last else { panic!("a call") };
        for _ in 0..STATES {
            let mut env = Captured::new(1);
            env.input = input(&mut random);
            let mut machine = initial.clone();
            assert_eq!(machine.step(MAIN, &mut env), StepResult::Done);
            let before = machine.clone();
            let what = format!("{text} {format:?} with input {:?}", String::from_utf8_lossy(&env.input));
            assert_eq!(machine.step(MAIN, &mut env), StepResult::Done, "{what}");

            let mut terms = Terms::new();
            let values = values(&mut terms, &image, &before, args);
            let mut around = Known { terms, image: &image, program: &program, machine: &before };
            let effect = call(&mut around, &program.functions[*callee], &values).unwrap_or_else(|| panic!("{what}"));
            let mut terms = around.terms;
            let result = effect.result.expect("a result");
            let found = machine.local(MAIN, LocalId(2)).bits;
            let mut solver = Solver::default();
            let actual = terms.bits(terms.width(result), found);
            let same = terms.eq(result, actual);
            for condition in effect.constraints.iter().chain([&same]) {
                solver.assert(&terms, *condition);
            }
            // What changed was written.
            for object in (0..BUFFERS).map(ObjectId) {
                let base = image.object_address(object);
                for address in base..base + SIZE {
                    if before.peek(address, 1) != machine.peek(address, 1) {
                        let reaches = |write: &&Overwritten| {
                            let start = terms.as_bits(write.address).expect("a known address") as u64;
                            address.wrapping_sub(start) < write.bytes
                        };
                        let writes = effect.writes.iter().filter(reaches);
                        let conditions: Vec<Term> = writes.map(|write| write.condition).collect();
                        let written = terms.or(&conditions);
                        solver.assert(&terms, written);
                    }
                }
            }
            assert_eq!(solver.solve(&[], &Default::default()), Answer::Satisfiable, "{what} gives {found}");
        }
    }
}
