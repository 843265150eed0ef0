//! What people read.

use leno_engine::{Assumption, Covered, Properties};
use leno_ir::program::{FileId, Program, Span};
use leno_report::text;

fn program() -> Program {
    leno_ir::text::parse("program lp64\n\n@head = global size 4 align 4 ; queue.c:1:5 \"head\"\n").unwrap()
}

#[test]
fn a_safe_counts_and_lists_what_it_assumes() {
    let program = program();
    let covered = Covered::statement("no violation").with("3 threads");
    assert_eq!(text::safe(&covered, &[]), "SAFE: no violation\n  = 3 threads\n");
    let span = Span { file: FileId(0), line: 31, ..Span::NONE };
    let one = Assumption::new("no access is out of bounds").at(&program, span);
    let other = Assumption::new("waits end").at(&program, Span::NONE);
    assert_eq!(
        text::safe(&covered, std::slice::from_ref(&one)),
        "SAFE: no violation, under 1 assumption\n  assuming: no access is out of bounds (queue.c:31)\n  = 3 threads\n"
    );
    assert_eq!(
        text::safe(&covered, &[one, other]).lines().take(3).collect::<Vec<_>>(),
        [
            "SAFE: no violation, under 2 assumptions",
            "  assuming: no access is out of bounds (queue.c:31)",
            "  assuming: waits end"
        ]
    );
}

#[test]
fn what_was_not_decided_is_named() {
    let assert = Properties { assertion: true, ..Properties::NONE };
    assert_eq!(
        text::no_ends(&Properties { overflow: false, ..assert.unasked_ends() }, "was not decided"),
        "no execution ends in an invalid access to memory, or in a division by zero or a misuse of locks, threads or \
         functions, which was not decided"
    );
    let ends = Properties { overflow: true, ..Properties::DEFAULT }.unasked_ends();
    assert_eq!(ends, Properties::NONE, "all that ends executions is looked for");
}
