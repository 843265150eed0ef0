//! Arguments of the program get to it, and to its replay. (What comes from outside otherwise:
//! `tests/programs/outside`.)

use crate::cli::leno;
use leno_testing::process::Ending;
use leno_testing::{Scratch, repository};

#[test]
fn arguments_get_to_the_program_and_to_its_replay() {
    let file = repository("tests/programs/outside/any_input.c").canonicalize().expect("it is there");
    let (scratch, file) = (Scratch::new(), file.to_str().expect("a path in UTF-8"));
    for engine in ["staged", "explore"] {
        let words = ["check", "--engine", engine, "--witness", "w.json", file, "--", "rich"];
        let checked = leno(scratch.folder(), &words);
        let said = checked.output();
        assert_eq!(checked.ending, Ending::Status(1), "{engine}: {said}");
        assert!(said.contains("balance == 1") && said.contains("Confirmed on the real program"), "{engine}: {said}");
        let replayed = leno(scratch.folder(), &["replay", "w.json"]);
        assert_eq!(replayed.ending, Ending::Status(1), "{engine}: {}", replayed.output());
    }
}

#[test]
fn a_proof_says_for_which_arguments_it_is() {
    let file = repository("tests/programs/outside/any_input.c");
    let checked = leno(&repository(""), &["check", "--engine", "staged", file.to_str().expect("a path in UTF-8")]);
    assert_eq!(checked.ending, Ending::Status(0), "{}", checked.output());
    let said = checked.output();
    assert!(said.contains("assuming: the program is started without arguments ("), "{said}");
    let words = ["check", "--engine", "staged", file.to_str().expect("a path in UTF-8"), "--", "poor"];
    let said = leno(&repository(""), &words).output();
    assert!(said.contains("assuming: the program is started with the arguments `poor`"), "{said}");
}

/// Each of these has one answer in Leno, and the proof says which.
#[test]
fn a_proof_says_what_it_assumes_of_the_surroundings() {
    let unused = repository("tests/programs/outside/arguments_unused.c");
    let checked = leno(&repository(""), &["check", unused.to_str().expect("a path in UTF-8")]);
    assert!(!checked.output().contains("assuming"), "nothing is looked at: {}", checked.output());
    let scratch = Scratch::new();
    let looks = "#include <stdlib.h>\n#include <unistd.h>\nint main(void) {\n    if (getenv(\"HOME\"))\n        \
                 abort();\n    return getpid() == 7 || sysconf(_SC_NPROCESSORS_ONLN) < 1;\n}\n";
    scratch.write("looks.c", looks);
    for engine in ["staged", "explore"] {
        let said = leno(scratch.folder(), &["check", "--engine", engine, "looks.c"]).output();
        for assumed in ["an empty environment (looks.c:4)", "the number 1000", "two processors"] {
            assert!(said.contains(assumed), "{engine}, {assumed}: {said}");
        }
        assert!(said.contains("under 3 assumptions"), "{engine}: {said}");
    }
}

/// Of two calls in one expression, either may come first.
#[test]
fn a_proof_says_where_it_depends_on_the_order_of_operands() {
    let file = repository("tests/programs/order/calls.c");
    let file = file.to_str().expect("a path in UTF-8");
    for engine in ["staged", "explore"] {
        let said = leno(&repository(""), &["check", "--engine", engine, file]).output();
        assert!(said.starts_with("SAFE") && !said.contains("assuming"), "{engine}: {said}");
        let said = leno(&repository(""), &["check", "--engine", engine, "-DMATTERS", file]).output();
        assert!(said.contains("evaluated from left to right (") && said.contains("calls.c:27)"), "{engine}: {said}");
    }
}

/// A hash of an address, or the order of two, is another one on a real machine.
#[test]
fn a_proof_says_where_it_depends_on_addresses() {
    let assumed = "assuming: addresses are those of the model";
    let file = repository("tests/programs/addresses/computed.c");
    let file = file.to_str().expect("a path in UTF-8");
    let ways = [
        ("-DHASH", 25),
        ("-DORDER", 39),
        ("-DORDER_OF_NUMBERS", 41),
        ("-DDISTANCE", 43),
        ("-DALIGNMENT", 45),
        ("-DTHROUGH_MEMORY", 48),
        ("-DTRUNCATED", 50),
        ("-DSITES", 52),
        ("-DUNION", 59),
        ("-DCOPIED", 63),
    ];
    for (flag, line) in ways {
        let said = leno(&repository(""), &["check", "--engine", "staged", flag, file]).output();
        let place = format!("computed.c:{line})");
        assert!(said.starts_with("SAFE") && said.contains(assumed) && said.contains(&place), "{flag}: {said}");
    }
    let others =
        [repository("tests/programs/addresses/recognised.c"), repository("tests/programs/addresses/computed.c")];
    for file in others {
        let said = leno(&repository(""), &["check", "--engine", "staged", file.to_str().expect("a path in UTF-8")]);
        let said = said.output();
        assert!(said.starts_with("SAFE") && !said.contains(assumed), "{}: {said}", file.display());
    }
}
