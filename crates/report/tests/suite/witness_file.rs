//! Witness files: there and back, and what is no witness file.

use leno_ir::interp::{Image, ViolationKind};
use leno_ir::program::{DataModel, FileId, Program, Span, TextId};
use leno_ir::witness::{Claim, Input, Racer, Step, Waiting, Witness};
use leno_report::{Recipe, WitnessFile, WitnessFileError, fingerprint};
use std::collections::BTreeMap;

const PROGRAM: &str = "program lp64 entry &start

@counter = global size 4 align 4 ; main.c:1:5 \"counter\"

fn &start(%argc: i32, %argv: ptr) { ; main.c:3:5
  local %old: i32
b0: ; main.c:4:1
  %old = load i32 @counter ; main.c:4:3 \"counter\"
  store i32 @counter = add(%old, i32 1) ; main.c:4:10 \"counter++\"
  exit i32 0 ; other.c:9:1
}
";

fn program() -> Program {
    leno_ir::text::parse(PROGRAM).unwrap()
}

fn witness(program: &Program, claim: Claim) -> Witness {
    let image = Image::new(program);
    let step = |pc: u32| Step {
        thread: ["main", "main.10", "main.2"][pc as usize % 3].to_string(),
        place: image.place(pc),
        span: image.span(pc),
        effect: format!("does \"{pc}\" \u{1f9f5}"),
    };
    let wide = Input { width: 128, bits: u128::MAX };
    let inputs = BTreeMap::from([("main.2".to_string(), vec![Input { width: 1, bits: 1 }, wide])]);
    Witness { claim, steps: (0..image.code_len()).map(step).collect(), inputs }
}

fn claims() -> Vec<Claim> {
    let span = |line| Span { file: FileId(0), line, column: 3, text: TextId(1) };
    let racer = |thread: &str| Racer { thread: thread.to_string(), span: span(4), access: "write".to_string() };
    let waiting = |thread: &str| Waiting { thread: thread.to_string(), span: Span::NONE, reason: "m".to_string() };
    vec![
        Claim::Violation {
            kind: ViolationKind::UseAfterFree,
            thread: "main".to_string(),
            span: span(7),
            message: "line\nbreak".to_string(),
        },
        Claim::Race { first: racer("main"), second: racer("main.1"), made: None },
        Claim::Race { first: racer("main"), second: racer("main.1"), made: Some(0) },
        Claim::Deadlock { waiting: vec![waiting("main"), waiting("main.1.1")] },
        Claim::Atomicity {
            first: racer("main"),
            between: racer("main.1"),
            second: racer("main"),
            block: "it is marked".to_string(),
        },
    ]
}

fn recipe() -> Recipe {
    Recipe {
        files: vec!["a.c".to_string(), "b c.c".to_string()],
        directory: "/src".to_string(),
        cc: Some("ccache gcc".to_string()),
        cc_flags: vec!["-D".to_string(), "N=3".to_string()],
        data_model: DataModel::Ilp32,
        options: vec!["check-overflow".to_string()],
        arguments: vec!["program".to_string()],
    }
}

#[test]
fn what_is_written_is_read_again() {
    let program = program();
    for claim in claims() {
        let witness = witness(&program, claim);
        let file = WitnessFile::new(&program, &witness, &recipe());
        let text = file.to_json();
        let read = WitnessFile::parse(&text).unwrap();
        assert_eq!(read, file);
        assert_eq!(read.witness(&program).unwrap(), witness);
        assert_eq!(read.recipe(), recipe());
        assert_eq!(read.to_json(), text);
    }
}

#[test]
fn all_kinds_of_violations_have_their_word() {
    use ViolationKind::*;
    let kinds = [
        Assertion,
        DivisionByZero,
        QuotientOverflow,
        SignedOverflow,
        NullDereference,
        OutOfBounds,
        InvalidPointer,
        UseAfterFree,
        UseAfterScope,
        WriteToConstant,
        DoubleFree,
        InvalidFree,
        Uninitialised,
        InvalidUnlock,
        InvalidCall,
        InvalidThread,
        Unreachable,
        StackOverflow,
        InvalidArgument,
        Leak,
        LostMemory,
    ];
    let program = program();
    for kind in kinds {
        let claim = Claim::Violation { kind, thread: "main".to_string(), span: Span::NONE, message: String::new() };
        let witness = witness(&program, claim);
        let file = WitnessFile::parse(&WitnessFile::new(&program, &witness, &recipe()).to_json()).unwrap();
        assert_eq!(file.witness(&program).unwrap(), witness, "{kind:?}");
    }
}

#[test]
fn people_find_what_they_look_for() {
    let program = program();
    let text = WitnessFile::new(&program, &witness(&program, claims().remove(0)), &recipe()).to_json();
    for expected in [
        "\"format\": \"leno-witness\"",
        "\"version\": 1",
        "\"fingerprint\"",
        "\"property\": \"memsafety\"",
        "\"violation\": \"use-after-free\"",
        "\"file\": \"main.c\"",
        "\"text\": \"counter++\"",
        "\"function\": \"start\"",
        "\"bits\": \"0xffffffffffffffffffffffffffffffff\"",
    ] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
    // Parents come first, and numbers are numbers.
    let threads: Vec<&str> = text.lines().skip_while(|line| !line.contains("\"threads\"")).skip(1).take(3).collect();
    assert!(threads[1].contains("main.2") && threads[2].contains("main.10"), "{threads:?}");
}

#[test]
fn another_program_is_refused() {
    let program = program();
    let file = WitnessFile::new(&program, &witness(&program, claims().remove(0)), &recipe());
    let changed = leno_ir::text::parse(&PROGRAM.replace("i32 1)", "i32 2)")).unwrap();
    assert_ne!(fingerprint(&program), fingerprint(&changed));
    assert!(matches!(file.witness(&changed), Err(WitnessFileError::OtherProgram { .. })));
}

#[test]
fn hostile_files_give_clear_errors() {
    let program = program();
    let good = WitnessFile::new(&program, &witness(&program, claims().remove(0)), &recipe()).to_json();
    let cases = [
        ("", "not a witness file"),
        ("null", "\"format\""),
        ("[1,2]", "\"format\""),
        ("{\"format\": \"leno-witness\"}", "no \"version\""),
        ("{\"format\": \"leno-witness\", \"version\": -1}", "no \"version\""),
        ("{\"format\": \"leno-witness\", \"version\": 2}", "version 2"),
        ("{\"format\": \"leno-witness\", \"version\": 1}", "missing field"),
    ];
    for (text, expected) in cases {
        let error = WitnessFile::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    assert!(WitnessFile::parse(&"[".repeat(1_000_000)).is_err());
    for (from, to, expected) in [
        ("\"ilp32\"", "\"lp46\"", "data model"),
        ("\"steps\": [", "\"steps\": [7, ", "line"),
        ("\"use-after-free\"", "\"use-before-free\"", "use-before-free"),
        ("\"0x1\"", "\"0x2\"", "not an input of 1 bits"),
        ("\"0x1\"", "\"1\"", "not an input"),
        ("\"width\": 1,", "\"width\": 0,", "not an input"),
        ("\"width\": 1,", "\"width\": 70000,", "line"),
        ("\"file\": \"other.c\"", "\"file\": \"missing.c\"", "no file"),
        ("\"text\": \"counter++\"", "\"text\": \"missing\"", "no text"),
        ("\"thread\": \"main.10\"", "\"threat\": \"main.10\"", "threat"),
    ] {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let error = WitnessFile::parse(&text).and_then(|file| file.witness(&program)).unwrap_err().to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
    // Places are numbers: all of them are looked up.
    let zeros: String = good.split_whitespace().collect();
    for place in ["[0,0,1]", "[0,0,0]"] {
        for wrong in ["[0,0,4]", "[0,7,0]", "[9,0,0]", "[4294967295,4294967295,4294967295]"] {
            let text = zeros.replacen(&format!("\"place\":{place}"), &format!("\"place\":{wrong}"), 1);
            let result = WitnessFile::parse(&text).and_then(|file| file.witness(&program));
            assert!(
                result.is_err_and(|error| error.to_string().contains("does not have")
                    || error.to_string().contains("changed")
                    || error.to_string().contains("no text")),
                "{wrong}"
            );
        }
    }
    // Any cut is an error, never a panic.
    for end in (0..good.len() - 2).filter(|end| good.is_char_boundary(*end)) {
        assert!(WitnessFile::parse(&good[..end]).is_err());
    }
}
