//! What is wrong with a Boolean program is said with its place.

use leno_boolean::compile_text;

/// The first message, and the line and column it is about.
fn refusal(text: &str) -> (String, u32, u32) {
    let Err(failure) = compile_text("wrong.bp", text) else { panic!("this is not refused:\n{text}") };
    let report = failure.reports.last().expect("a report");
    let place = report.location.as_ref().expect("a place");
    (report.message.clone(), place.line, place.column)
}

#[track_caller]
fn refused(text: &str, message: &str, line: u32, column: u32) {
    assert_eq!(refusal(text), (message.to_string(), line, column), "\n{text}");
}

#[test]
fn names() {
    refused("void main() begin\n  x := 1;\nend", "there is no variable `x`", 2, 3);
    refused("decl x;\nvoid main() begin x := !y; end", "there is no variable `y`", 2, 25);
    refused("decl x, x;\nvoid main() begin end", "there is a variable `x` already, in line 1", 1, 9);
    refused("void main(a) begin\ndecl a; end", "there is a variable `a` already, in line 1", 2, 6);
    refused("void main() begin end\nvoid main() begin end", "there is a function `main` already, in line 1", 2, 6);
    refused("void main() begin\nL: skip;\nL: skip; end", "there is a label `L` already, in line 2", 3, 1);
    refused("void main() begin\ngoto L, M; L: skip; end", "there is no label `M` in `main`", 2, 9);
    refused("void main() begin start_thread goto L; end", "there is no label `L` in `main`", 1, 37);
    refused("void main() begin\nf(); end", "there is no function `f`", 2, 1);
    refused("void main(a) begin end", "`main` runs first, and has no parameters", 1, 11);
}

#[test]
fn numbers_of_values() {
    let program = |statement: &str| {
        format!("decl x, y;\nbool<2> f(a) begin return a, a; end\nvoid main() begin\n{statement} end")
    };
    refused(&program("x, y := 1;"), "2 variables on the left, but 1 value on the right", 4, 1);
    refused(&program("x, x := 1, 0;"), "`x` is assigned twice at once", 4, 4);
    refused(&program("x := f(1);"), "`f` returns 2 values, for 1 variable", 4, 6);
    refused(&program("x, y := f();"), "`f` takes 1 argument, and is given 0", 4, 9);
    refused(&program("return x;"), "`main` returns 0 values, not 1", 4, 1);
    refused("bool<0> f() begin end", "a function has between 1 and 128 results", 1, 6);
    refused("bool<129> f() begin end", "a function has between 1 and 128 results", 1, 6);
}

#[test]
fn syntax() {
    refused("decl x\nvoid main() begin end", "expected `;`, found `void`", 2, 1);
    refused("void main() begin\nskip end", "expected `;`, found `end`", 2, 6);
    refused("void main() begin skip;\n", "expected a statement, found the end of the file", 2, 1);
    refused("decl x; void main() begin x := 2; end", "`2` is no truth value", 1, 32);
    refused("decl x; void main() begin x := x +\n 1; end", "`+` is no part of a Boolean program", 1, 34);
    refused("void main() begin while * do skip; end", "expected a statement, found `end`", 1, 36);
    refused("decl x; void main() begin assume('x); end", "`'x` has a meaning only behind `constrain`", 1, 34);
    refused("decl x := y; void main() begin end", "the initial value of a variable is `0`, `1` or `*`", 1, 11);
    refused("void main() begin wait; end", "`wait` is not supported", 1, 19);
    refused("/* never ends", "this comment does not end", 1, 1);
    refused("decl x;", "nothing runs in this program", 1, 8);
    refused("void main() begin x := é; end", "`é` is no part of a Boolean program", 1, 24);
}

#[test]
fn depth() {
    let deep = |open: &str, close: &str| {
        let (open, close) = (open.repeat(5_000), close.repeat(5_000));
        refusal(&format!("decl x; void main() begin assume({open}x{close}); end")).0
    };
    assert_eq!(deep("(", ")"), "this is nested more than 3000 levels deep");
    assert_eq!(deep("!", ""), "this is nested more than 3000 levels deep");
    assert_eq!(deep("x | ", ""), "this is nested more than 3000 levels deep");
    let nested = format!("void main() begin {} {} end", "if * then ".repeat(5_000), "fi ".repeat(5_000));
    assert_eq!(refusal(&nested).0, "this is nested more than 3000 levels deep");
    let high = format!("decl x; void main() begin assume({}x); end", "x | ".repeat(2_000));
    assert!(compile_text("high.bp", &high).is_ok());
}
