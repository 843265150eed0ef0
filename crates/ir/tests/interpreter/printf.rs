//! `printf` against the system's, on thousands of random directives and values.

use crate::gcc::output_of;
use crate::operators::{instr, local, parameters};
use leno_ir::interp::{Captured, Options, Prng, RoundRobin, is_known_external, run};
use leno_ir::program::*;
use std::fmt::Write;

/// An argument, as C writes it and as bytes on the stack of an LP64 machine.
#[derive(Clone)]
struct Argument {
    c: String,
    value: Passed,
}

#[derive(Clone)]
enum Passed {
    Word(u64),
    Extended(u128),
    Text(Vec<u8>),
}

struct Case {
    format: String,
    arguments: Vec<Argument>,
}

fn integer(random: &mut Prng, bytes: u32) -> u64 {
    let any = match random.below(6) {
        0 => random.below(2),
        1 => random.below(1000),
        2 => (random.below(1000) as i64).wrapping_neg() as u64,
        3 => 1u64 << (8 * bytes - 1),
        _ => random.next_u64() >> random.below(64),
    };
    if bytes == 8 { any } else { any & ((1 << (8 * bytes)) - 1) }
}

fn double(random: &mut Prng) -> u64 {
    match random.below(10) {
        0 => [0.0f64, -0.0, 1.0, 0.5, 1.5, 2.5, 1e15, 1e16, 123456.0, 1234567.0, 0.0001, 0.00001, 9.995, 999999.5, 0.1]
            [random.below(15) as usize]
            .to_bits(),
        1 => [f64::INFINITY, f64::NEG_INFINITY, f64::NAN.abs(), f64::MIN_POSITIVE, 5e-324, f64::MAX]
            [random.below(6) as usize]
            .to_bits(),
        2 => (random.below(100_000) as f64 / 1000.0).to_bits(),
        3 => (-(random.below(1000) as f64) / 8.0).to_bits(),
        4 => (random.next_u64() as f64).to_bits(),
        5 => random.next_u64() & !(0x7ff << 52),
        6 => f64::NAN.abs().to_bits() | 1 << 63,
        _ => random.next_u64(),
    }
}

fn extended(random: &mut Prng) -> u128 {
    let exponent = match random.below(4) {
        0 => 0x3fff - 5 + random.below(40),
        1 => [0, 1, 0x7ffe, 0x7fff, 0x3fff, 0x4000][random.below(6) as usize],
        _ => random.below(0x7fff),
    };
    let mantissa = if random.below(4) == 0 { 1 << 63 } else { random.next_u64() };
    let mantissa = if exponent == 0 { mantissa & !(1 << 63) } else { mantissa | 1 << 63 };
    u128::from(random.below(2)) << 79 | u128::from(exponent) << 64 | u128::from(mantissa)
}

fn case(random: &mut Prng) -> Case {
    let mut format = "[%".to_string();
    let mut arguments = Vec::new();
    for flag in ["-", "+", " ", "#", "0"] {
        if random.below(4) == 0 {
            format += flag;
        }
    }
    let conversion = b"diuoxXcspfFeEgGaAdfegaxs%"[random.below(25) as usize] as char;
    let number =
        |random: &mut Prng, format: &mut String, arguments: &mut Vec<Argument>, limit: u64, least: i64| match random
            .below(4)
        {
            0 => {}
            1 => {
                let value = least + random.below(limit) as i64;
                *format += "*";
                arguments.push(Argument { c: value.to_string(), value: Passed::Word(value as u64 & 0xffff_ffff) });
            }
            _ => write!(format, "{}", 1 + random.below(limit)).expect("writing to a string"),
        };
    if conversion != '%' {
        number(random, &mut format, &mut arguments, 30, -20);
        if conversion != 'c' && conversion != 'p' && random.below(2) == 0 {
            format += ".";
            number(random, &mut format, &mut arguments, 25, -2);
        }
    }
    match conversion {
        'd' | 'i' | 'u' | 'o' | 'x' | 'X' => {
            let (length, c, bytes) = [
                ("", "int", 4),
                ("hh", "int", 4),
                ("h", "int", 4),
                ("l", "long", 8),
                ("ll", "long long", 8),
                ("z", "long", 8),
                ("j", "long", 8),
                ("t", "long", 8),
            ][random.below(8) as usize];
            let value = integer(random, bytes);
            format += length;
            arguments.push(Argument { c: format!("({c}){value:#x}"), value: Passed::Word(value) });
        }
        'c' => {
            let value = 33 + random.below(90);
            arguments.push(Argument { c: value.to_string(), value: Passed::Word(value) });
        }
        's' => {
            let text: Vec<u8> = (0..random.below(12)).map(|_| b'a' + random.below(26) as u8).collect();
            let c = format!("\"{}\"", String::from_utf8_lossy(&text));
            arguments.push(Argument { c, value: Passed::Text(text) });
        }
        'p' => {
            let value = integer(random, 8) >> 16;
            arguments.push(Argument { c: format!("(void *){value:#x}"), value: Passed::Word(value) });
        }
        '%' => format = "[%".to_string(),
        _ if random.below(3) == 0 => {
            let bits = extended(random);
            format += "L";
            let c = format!("extended({:#x}, {:#x}ul)", (bits >> 64) as u64, bits as u64);
            arguments.push(Argument { c, value: Passed::Extended(bits) });
        }
        _ => {
            let bits = double(random);
            arguments.push(Argument { c: format!("bits({bits:#x}ul)"), value: Passed::Word(bits) });
        }
    }
    format.push(conversion);
    Case { format: format + "]\n", arguments }
}

fn c_program(cases: &[Case]) -> String {
    let mut source = "#include <stdio.h>\n#include <string.h>
static double bits(unsigned long b) { double d; memcpy(&d, &b, 8); return d; }
static long double extended(unsigned long e, unsigned long m) {
  long double d = 0; memcpy(&d, &m, 8); memcpy((char *)&d + 8, &e, 2); return d; }
int main(void) {\n"
        .to_string();
    for case in cases {
        let arguments: String = case.arguments.iter().map(|argument| format!(", {}", argument.c)).collect();
        writeln!(source, "printf({:?}{arguments});", case.format).expect("writing to a string");
    }
    source + "return 0; }\n"
}

/// The arguments as the caller lays them out: cells of eight bytes, a `long double` aligned to sixteen.
fn area(program: &mut Program, arguments: &[Argument]) -> Vec<(u64, Datum)> {
    let mut init = Vec::new();
    let mut at = 0u64;
    for argument in arguments {
        match &argument.value {
            Passed::Word(value) => {
                init.push((at, Datum::Bytes(value.to_le_bytes().to_vec())));
                at += 8;
            }
            Passed::Extended(bits) => {
                at = at.next_multiple_of(16);
                init.push((at, Datum::Bytes(bits.to_le_bytes().to_vec())));
                at += 16;
            }
            Passed::Text(text) => {
                let object = constant(program, text);
                init.push((at, Datum::Object(object, 0)));
                at += 8;
            }
        }
    }
    init
}

fn constant(program: &mut Program, text: &[u8]) -> ObjectId {
    program.objects.push(Object {
        name: String::new(),
        kind: ObjectKind::Constant,
        size: text.len() as u64 + 1,
        align: 1,
        init: vec![(0, Datum::Bytes(text.to_vec()))],
        span: Span::NONE,
    })
}

fn ir_program(cases: &[Case]) -> Program {
    let mut program = Program::default();
    program.files.push(String::new());
    program.texts.push(String::new());
    let printf = program.functions.push(Function {
        name: "printf".to_string(),
        params: 2,
        ret: Some(Type::I32),
        locals: vec![local(Type::Ptr), local(Type::Ptr)].into(),
        slots: Default::default(),
        body: Body::External(is_known_external("printf").expect("it is known")),
        span: Span::NONE,
    });
    let mut instrs = Vec::new();
    for case in cases {
        let format = constant(&mut program, case.format.as_bytes());
        let init = area(&mut program, &case.arguments);
        let area = program.objects.push(Object {
            name: "arguments".to_string(),
            kind: ObjectKind::Global,
            size: 128,
            align: 16,
            init,
            span: Span::NONE,
        });
        let args = vec![Expr::Object(format), Expr::Object(area)];
        instrs.push(instr(Op::Call { dst: None, callee: Callee::Direct(printf), args }));
    }
    let exit = Terminator { kind: TerminatorKind::Exit(Expr::int(0, 32)), span: Span::NONE };
    let entry = program.functions.push(Function {
        name: "start".to_string(),
        params: 2,
        ret: None,
        locals: parameters(),
        slots: Default::default(),
        body: Body::Blocks(vec![Block { instrs, terminator: exit, span: Span::NONE }].into()),
        span: Span::NONE,
    });
    program.entry = Some(entry);
    program
}

#[test]
fn printf_writes_what_glibc_writes() {
    let mut random = Prng::new(11);
    let cases: Vec<Case> = (0..6000).map(|_| case(&mut random)).collect();
    let expected = output_of("printf", &c_program(&cases), &["-O0"]);
    let mut env = Captured::new(0);
    let outcome = run(&ir_program(&cases), &Options::default(), &mut RoundRobin::default(), &mut env, u64::MAX);
    let printed = String::from_utf8_lossy(&env.output);
    let wrong: Vec<String> = expected
        .lines()
        .zip(printed.lines())
        .zip(&cases)
        .filter(|((expected, printed), _)| expected != printed)
        .map(|((expected, printed), case)| {
            let arguments: Vec<&str> = case.arguments.iter().map(|argument| argument.c.as_str()).collect();
            format!("{:?} of {arguments:?}\n  glibc {expected}\n  leno  {printed}", case.format)
        })
        .collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(25)].join("\n"));
    assert_eq!(printed.lines().count(), cases.len(), "{outcome:?}");
    assert_eq!(expected.lines().count(), cases.len());
}
