//! Printing and parsing back gives an equal program; no text makes the parser panic.

use leno_ir::program::*;
use leno_ir::text;
use leno_ir::validate::validate;

use crate::random::{self, Random};

#[test]
fn random_programs_are_valid_and_round_trip() {
    for seed in 0..3000 {
        let program = random::program(seed);
        if let Err(found) = validate(&program) {
            panic!("seed {seed}: {}\n{program}", found[0].explain(&program));
        }
        let printed = program.to_string();
        match text::parse(&printed) {
            Ok(parsed) => assert_eq!(parsed, program, "seed {seed}\n{printed}"),
            Err(error) => panic!("seed {seed}: {error}\n{printed}"),
        }
    }
}

/// Whatever mutants parse must print to something that parses to the same again.
#[test]
fn mutated_text_never_panics() {
    let mut random = Random(7);
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..400 {
        let printed = random::program(seed).to_string().into_bytes();
        for _ in 0..25 {
            let mutant = String::from_utf8_lossy(&mutate(&mut random, printed.clone())).into_owned();
            match text::parse(&mutant) {
                Ok(program) => {
                    accepted += 1;
                    let _ = validate(&program);
                    assert_eq!(text::parse(&program.to_string()).as_ref(), Ok(&program), "{mutant}");
                }
                Err(error) => {
                    rejected += 1;
                    let line = mutant.split('\n').nth(error.line - 1).expect("the error is in a line");
                    assert!(error.column <= line.chars().count() + 1, "{error}");
                    assert!(!error.message.is_empty());
                }
            }
        }
    }
    assert!(accepted > 100 && rejected > 1000, "accepted {accepted}, rejected {rejected}: mutation tests nothing");
}

fn mutate(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..1 + random.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let end = (at + random.below(30)).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => drop(bytes.drain(at..end)),
            4 => bytes[at] = random.pick(b"0123456789%@$&\"\\{}()/*;:,.#-+\n xb\0"),
            _ => {
                let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
                let (from, to) = (random.below(lines.len()), random.below(lines.len()));
                let mut lines: Vec<Vec<u8>> = lines.into_iter().map(<[u8]>::to_vec).collect();
                lines.swap(from, to);
                bytes = lines.join(&b'\n');
            }
        }
    }
    bytes
}

fn body(lines: &str) -> String {
    format!(
        "program lp64\n@x = global size 4 align 4\nfn &f(%a: i32, %p: ptr) {{\n  slot $s size 8 align 8\nb0:\n{lines}\n}}\n"
    )
}

/// Each wrong text, with the place and a piece of the message.
#[test]
fn errors_have_a_place_and_say_what_is_wrong() {
    let deep = format!("%a = {}%a{}\nreturn", "neg(".repeat(64), ")".repeat(64));
    let very_deep = format!("%a = {}", "neg(".repeat(100_000));
    let cases: &[(&str, usize, usize, &str)] = &[
        ("%a = %b\nreturn", 6, 7, "there is no local %b"),
        ("%a = %7\nreturn", 6, 7, "there is no local %7: the number of locals is 2"),
        ("%a = %a.1\nreturn", 6, 7, "there is no local %a.1"),
        ("%a = %4294967296\nreturn", 6, 7, "does not fit a number of 32 bits"),
        ("%a = i32 4294967296\nreturn", 6, 10, "does not fit i32"),
        ("%a = i8 -129\nreturn", 6, 9, "does not fit i8"),
        ("%a = i129 1\nreturn", 6, 6, "expected an expression, found `i129`"),
        ("%a = i32 340282366920938463463374607431768211456\nreturn", 6, 10, "does not fit a number"),
        ("%p = load f64 ptr 1 2\nreturn", 6, 21, "expected the end of the line"),
        ("goto b1", 6, 6, "there is no block b1: the number of blocks is 1"),
        ("goto b4294967296", 6, 6, "expected a block such as `b0`, found `b4294967296`"),
        ("return\nb2:\nreturn", 7, 1, "expected b1 here"),
        ("%a = add(%a)\nreturn", 6, 12, "expected `,`, found `)`"),
        ("%a = add(%a, ü)\nreturn", 6, 14, "expected an expression, found `ü`"),
        ("/* ü */ frob", 6, 9, "expected an instruction or a terminator, found `frob`"),
        ("mutex_lock %p, %p\nreturn", 6, 14, "expected the end of the line, found `,`"),
        ("cond_sleep %p\nreturn", 6, 14, "expected `,` and another operand, found the end of the line"),
        ("call &g()\nreturn", 6, 7, "there is no function &g"),
        ("store i32 @y = i32 1\nreturn", 6, 12, "there is no object @y"),
        ("store i32 $t = i32 1\nreturn", 6, 12, "there is no slot $t"),
        ("%a = f64 1e999\nreturn", 6, 10, "expected a number, or bits"),
        ("return ; #3:1:1", 6, 10, "there is no line `file3 = …`"),
        ("return ; \"abc", 6, 14, "at the end of the string"),
        ("return ; m.c:1:4294967296", 6, 16, "does not fit a column"),
        ("assert %a, assertion, \"\\q\"\nreturn", 6, 24, "unknown escape"),
        (&deep, 6, 6 + 64 * 4, "more than 64 deep"),
        (&very_deep, 6, 6 + 64 * 4, "more than 64 deep"),
    ];
    for (lines, line, column, message) in cases {
        let error = text::parse(&body(lines)).expect_err(lines);
        assert!(error.message.contains(message), "{lines}: {error}");
        assert_eq!((error.line, error.column), (*line, *column), "{lines}: {error}");
    }
}

#[test]
fn the_deepest_valid_expression_parses() {
    let deep = format!("%a = {}%a{}\nreturn", "neg(".repeat(63), ")".repeat(63));
    let program = text::parse(&body(&deep)).expect("63 operators on a leaf");
    assert_eq!(validate(&program), Ok(()));
    assert_eq!(text::parse(&program.to_string()), Ok(program));
}

/// The form that people write by hand: no tables, no numbers, comments, declarations in any order.
#[test]
fn hand_written_text_is_understood() {
    let source = "
        // A lost update.
        program ilp32 entry &start
        fn &worker(%arg: ptr) -> ptr {
            local %c: signed i32
          b0: ; main.c:3:1
            %c = load relaxed i32 @counter ; main.c:4:5 \"counter\"
            store volatile seq_cst i32 @counter = add(%c, i32 -1) /* minus one */ ; \"odd file.c\":4:5
            return null
        }
        @counter = global size 4 align 4 { 0: \"\\x05\\x00\" }
        fn &start(%argc: signed i32, %argv: ptr) {
            slot $t size 4 align 4
          b0:
            spawn &worker(null) -> i32 $t
            switch %argc {
              1 => b0
              default => b1
            }
          b1:
            exit i32 0
        }";
    let program = text::parse(source).expect("it parses");
    assert_eq!(validate(&program), Ok(()));
    assert_eq!(program.files.as_slice(), ["main.c", "odd file.c"]);
    assert_eq!(program.texts.as_slice(), ["", "counter"]);
    assert_eq!(program.entry, Some(FuncId(1)));
    let Body::Blocks(blocks) = &program.functions[FuncId(0)].body else { panic!("worker has a body") };
    let instrs = &blocks[BlockId(0)].instrs;
    assert_eq!(text::describe_instr(&program, FuncId(0), &instrs[0]), "%c = load relaxed i32 @counter");
    assert_eq!(instrs[0].span, Span { file: FileId(0), line: 4, column: 5, text: TextId(1) });
    let Op::Store { to, value } = &instrs[1].op else { panic!("a store") };
    assert!(to.volatile && to.order == Order::SeqCst);
    let minus_one = Expr::int(u128::MAX, 32);
    assert_eq!(*value, Expr::binary(BinaryOp::Add, Expr::Local(LocalId(1)), minus_one));
    assert_eq!(text::parse(&program.to_string()), Ok(program));
}

#[test]
fn constants_look_as_people_expect() {
    let float = |kind: FloatKind, bits: u128| Expr::Const { ty: Type::Float(kind), bits };
    let cases = [
        (Expr::int(5, 32), "i32 5"),
        (Expr::int(u128::MAX, 32), "i32 -1"),
        (Expr::int(0x8000_0000, 32), "i32 0x80000000"),
        (Expr::int(0x7fff_ffff, 32), "i32 2147483647"),
        (Expr::int(1 << 40, 64), "i64 0x10000000000"),
        (Expr::bool(true), "true"),
        (Expr::NULL, "null"),
        (Expr::Const { ty: Type::Ptr, bits: 16 }, "ptr 0x10"),
        (float(FloatKind::F64, 1.5f64.to_bits().into()), "f64 1.5"),
        (float(FloatKind::F64, (-0.0f64).to_bits().into()), "f64 -0.0"),
        (float(FloatKind::F32, 0.1f32.to_bits().into()), "f32 0.1"),
        (float(FloatKind::F64, f64::INFINITY.to_bits().into()), "f64 0x7ff0000000000000 /* inf */"),
        (float(FloatKind::F80, 0x4000_c000_0000_0000_0000), "f80 0x4000c000000000000000 /* 3 */"),
    ];
    let program = text::parse(&body("return")).expect("it parses");
    for (expr, expected) in cases {
        assert_eq!(text::describe_expr(&program, FuncId(0), &expr), expected);
    }
}

#[test]
fn tidy_programs_are_written_without_tables() {
    for seed in 0..1000 {
        let original = random::program(seed);
        let mut tidy = original.clone();
        text::tidy_tables(&mut tidy);
        assert_eq!(validate(&tidy), Ok(()), "seed {seed}");
        let printed = tidy.to_string();
        assert!(!printed.contains("\nfile0 = ") && !printed.contains("\ntext0 = "), "seed {seed}\n{printed}");
        assert_eq!(text::parse(&printed), Ok(tidy.clone()), "seed {seed}");
        // Nothing else has changed: every mention still says the same.
        let (names, tidy_names) = (text::Names::new(&original), text::Names::new(&tidy));
        for (before, after) in original.functions.iter().zip(&tidy.functions) {
            let place = |names: &text::Names<'_>, span: Span| {
                let program = names.program();
                (program.files.get(span.file).cloned(), program.texts.get(span.text).cloned().unwrap_or_default())
            };
            if before.span.line != 0 {
                assert_eq!(place(&names, before.span), place(&tidy_names, after.span), "seed {seed}");
            }
        }
    }
}

/// Showing must help with invalid programs too.
#[test]
fn invalid_programs_can_be_printed() {
    let mut program = text::parse(&body("return")).expect("it parses");
    let Body::Blocks(blocks) = &mut program.functions[FuncId(0)].body else { panic!("a body") };
    let mut deep = Expr::Local(LocalId(99));
    for _ in 0..2000 {
        deep = Expr::unary(UnaryOp::Neg, deep);
    }
    let span = Span { file: FileId(9), line: 1, column: 1, text: TextId(9) };
    blocks[BlockId(0)].instrs.push(Instr { op: Op::Assign { dst: LocalId(42), value: deep }, span });
    blocks[BlockId(0)]
        .instrs
        .push(Instr { op: Op::Free { ptr: Expr::Object(ObjectId(7)), storage: Storage::Heap }, span });
    let printed = program.to_string();
    assert!(printed.contains("%42 = neg(neg("), "{printed}");
    assert!(printed.contains("free @7 ; #9:1:1 #9"), "{printed}");
}

/// A program of some megabytes goes through in linear time: ten times the text, about ten times the work.
#[test]
fn big_programs_are_read_in_linear_time() {
    let source = |copies: usize| {
        let mut source = String::from("program lp64\n@x = global size 4 align 4\n");
        for copy in 0..copies {
            source.push_str(&format!("fn &f{copy}(%a: i32) {{\nb0:\n"));
            source.push_str(&"  store i32 @x = add(%a, i32 1) ; dir/main.c:12:5 \"x = a + 1\"\n".repeat(100));
            source.push_str("  return\n}\n");
        }
        source
    };
    let small = text::parse(&source(10)).expect("it parses");
    let big = text::parse(&source(1000)).expect("it parses");
    assert_eq!(small.functions.len() * 100, big.functions.len());
    assert_eq!(text::parse(&big.to_string()), Ok(big));
}
