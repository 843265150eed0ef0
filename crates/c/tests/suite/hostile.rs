//! Hostile input: the parser answers with a tree or a diagnostic at a place, never a panic, an
//! overflow of the stack, or a long wait: a parser that is not linear would take hours for these.

use leno_c::diagnostic::{Diagnostic, render};
use leno_c::parse::parse;
use leno_c::source::Source;
use leno_c::stack::with_big_stack;
use leno_testing::Random;

/// Everything that C has, in one small program.
const SEED: &str = r#"# 1 "seed.c"
typedef unsigned long size_t; typedef struct node { struct node *next; int value : 3, : 2; union { int a; float b; }; } Node;
#pragma pack(push, 1)
struct __attribute__((packed)) S { char c; int a[3]; Node n; } s = { .c = 'x', .a = { 1, [2] = 3 }, n: { 0 } };
#pragma pack(pop)
enum E { A, B = A + 1, C, };
extern int printf(const char *, ...) __attribute__((format(printf, 1, 2)));
static _Thread_local _Atomic int counter; int (*table[2])(int, char *) = { 0, 0 };
_Static_assert(sizeof(int) == 4, "int");
int old(a, b) int a; char *b; { return a + *b; }
static inline size_t f(size_t n, int a[n], Node *restrict p) {
    __label__ out; void *q = &&out; goto *q;
    for (int i = 0, j = 1; i < n; i++, --j) { if (i % 2) continue; else if (j) break; else switch (i) { case 1: case 2 ... 4: default: ; } }
    do { p->next->value += s.a[1] ? : 0x1fUL << 3; } while (!p && (n > 1.5e3f || ~n));
    n = ({ typeof(n) t = sizeof(struct S) + _Alignof(double); t; }) * (int) __builtin_offsetof(struct S, a[1]);
    n = _Generic(n, int: 1, default: (Node){ .value = 2 }.value);
    __asm__ volatile ("" : "+r"(n) : : "memory");
    printf("%d\n" "x", L'a', u8"é", n ? 1 : 2);
out: return n, 1;
}
"#;

fn outcome(text: Vec<u8>) -> Result<usize, Box<Diagnostic>> {
    let length = text.len() as u32;
    let mut source = Source::new("hostile.c", text);
    let result = parse(&mut source);
    if let Err(error) = &result {
        assert!(error.span.start <= error.span.end && error.span.start <= length, "{error:?}");
        assert!(!error.message.is_empty());
        assert!(render(error, &source, false).len() < 4000);
    }
    result.map(|ast| ast.items.len())
}

/// Cuts text into pieces that are roughly tokens.
fn pieces(text: &str) -> Vec<&[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    text.as_bytes().chunk_by(|a, b| is_word(a) && is_word(b)).collect()
}

#[test]
fn the_seed_itself_is_fine() {
    assert_eq!(with_big_stack(|| outcome(SEED.into())), Ok(10));
}

#[test]
fn mutated_programs() {
    let seed = pieces(SEED);
    with_big_stack(|| {
        let mut random = Random::new(2);
        let mut accepted = 0;
        for _ in 0..6000 {
            let mut program = seed.clone();
            for _ in 0..=random.below(4) {
                let (at, other) = (random.below(program.len()), random.below(program.len()));
                match random.below(6) {
                    0 => program.truncate(at),
                    1 => drop(program.remove(at)),
                    2 => program.insert(other, program[at]),
                    3 => program.swap(at, other),
                    4 => program[at] = program[other],
                    _ => program
                        .insert(at, [&b"\xff"[..], b"\\", b"'", b"\"", b"#", b"\0", b"((", b"/*"][random.below(8)]),
                }
                if program.is_empty() {
                    program = seed.clone();
                }
            }
            accepted += usize::from(outcome(program.concat()).is_ok());
        }
        assert!(accepted > 300, "some mutants are C: {accepted}");
    });
}

#[test]
fn every_truncation() {
    with_big_stack(|| {
        for length in 0..SEED.len() {
            let _ = outcome(SEED.as_bytes()[..length].to_vec());
        }
    });
}

/// `head`, then `open` as often as `levels` says, `middle`, `close` as often, `tail`.
fn nested(levels: usize, shape: [&str; 5]) -> Vec<u8> {
    let [head, open, middle, close, tail] = shape;
    [head, &open.repeat(levels), middle, &close.repeat(levels), tail].concat().into_bytes()
}

/// What nests in C.
const SHAPES: &[[&str; 5]] = &[
    ["int x = ", "(", "1", ")", ";"],
    ["int x = ", "-(", "1", ")", ";"],
    ["int x = ", "(int) ", "1", "", ";"],
    ["int x = ", "(int (*)(int [(int) ", "1", "])) 1", ";"],
    ["int x = ", "- ", "1", "", ";"],
    ["int x = ", "sizeof ", "1", "", ";"],
    ["int x = ", "sizeof(int[", "1", "])", ";"],
    ["int x = ", "1 ? ", "2", " : 3", ";"],
    ["int x = ", "1 ? 2 : ", "3", "", ";"],
    ["int x = ", "1 + ", "2", "", ";"],
    ["int x = ", "1 + (2 * ", "2", ")", ";"],
    ["int x = ", "y = ", "2", "", ";"],
    ["int x = (", "1, ", "2", "", ");"],
    ["int x = ", "f(", "2", ")", ";"],
    ["int x = y", "[0]", "", "", ";"],
    ["int x = y", "->y", "", "", ";"],
    ["int x = ", "y[", "0", "]", ";"],
    ["int x = ", "({ ", "0;", " ;})", ";"],
    ["int x = ", "(int){", "0", "}", ";"],
    ["int x = ", "__extension__ ", "0", "", ";"],
    ["int x = ", "_Generic(", "0", ", default: 1)", ";"],
    ["int x = ", "_Generic(0, default: ", "0", ")", ";"],
    ["int x = ", "__builtin_choose_expr(1, ", "0", ", 1)", ";"],
    ["int x[] = ", "{", "0", "}", ";"],
    ["int x[] = {", "0, ", "", "", "};"],
    ["int x = {", "[0] = {", "0", "}", "};"],
    ["int x = {", ".a", "", "", " = 1};"],
    ["int ", "*", "x", "", ";"],
    ["int ", "(", "x", ")", ";"],
    ["int ", "(*", "x", ")(void)", ";"],
    ["int x", "[2]", "", "", ";"],
    ["int x", "[1 + sizeof(int", "", "[1])]", ";"],
    ["int f", "(int (*", "", ")(void))", ";"],
    ["int f", "(int ", "", ")", ";"],
    ["int f", "(__attribute__((x)) int ", "", ")", ";"],
    ["", "struct { ", "int x; ", "} y; ", ""],
    ["", "enum { A = sizeof(", "int", ") } y; ", ""],
    ["", "typeof(", "int", ") ", "x;"],
    ["", "_Atomic(", "int", ") ", "x;"],
    ["", "_Alignas(sizeof(", "int", ")) int ", "x;"],
    ["", "__attribute__((aligned(sizeof(", "int", ")))) int ", "x;"],
    ["", "const ", "int", "", " x;"],
    ["int x", " __attribute__((unused))", "", "", ";"],
    ["", ";", "", "", ""],
    ["void f(void) ", "{ ", "", "}", ""],
    ["void f(void) { ", "if (1) ", ";", "", " }"],
    ["void f(void) { ", "if (1) ; else ", ";", "", " }"],
    ["void f(void) { ", "if (1) ", ";", " else ;", " }"],
    ["void f(void) { ", "while (1) ", ";", "", " }"],
    ["void f(void) { ", "for (;;) ", ";", "", " }"],
    ["void f(void) { ", "do ", ";", " while (1);", " }"],
    ["void f(void) { switch (1) { ", "case 1: ", ";", "", " } }"],
    ["void f(void) { ", "a: ", ";", "", " }"],
    ["void f(void) { if (1) ", "a: ", ";", "", " }"],
    ["void f(void) { ", "__attribute__((x)) ", ";", "", " }"],
    ["void f(void) { ", "void g(void) { ", ";", "}", " }"],
    ["void f(void) { ", "int x = ({ ", "0;", "});", " }"],
    ["int f(a) ", "int a; ", "", "", "{ }"],
    ["char *s = ", "\"a\" ", "", "", ";"],
];

#[test]
fn a_hundred_thousand_levels_of_anything() {
    with_big_stack(|| {
        for shape in SHAPES {
            if let Err(error) = outcome(nested(100_000, *shape)) {
                assert_eq!(error.message, "this is nested too deeply", "{shape:?}");
            }
            let unfinished = [shape[0], shape[1], "", "", ""];
            assert!(outcome(nested(100_000, unfinished)).is_err() || shape[1] == ";", "{shape:?}");
        }
    });
}

#[test]
fn what_machines_write_is_accepted() {
    let long = [
        ["void f(int x) { ", "if (x == 1) x++; else ", ";", "", " }"],
        ["void f(int x) { switch (x) ", "case 1: ", ";", "", " }"],
        ["int x = 0", " + 1", "", "", ";"],
        ["int x = (0", ", 1", "", "", ");"],
        ["int x = 0", " || y && z", "", "", ";"],
        ["int x = ", "y ? 1 : ", "2", "", ";"],
    ];
    let flat = [
        ["void f(int x) { switch (x) { ", "case 1: ", ";", "", " } }"],
        ["int x[] = {", "{ 1, 2 }, ", "", "", "};"],
        ["void f(void) {", "x = y + 1;", "", "", "}"],
        ["int x = f(", "a + b, ", "1", "", ");"],
        ["", "int x[] = { 0 + 1 }; ", "", "", ""],
        ["struct S { ", "int x[1 + 1]; ", "", "", "};"],
        ["enum E { ", "A = 1 + 1, ", "", "", "};"],
        ["int f(", "int x[1 + 1], ", "int y", "", ");"],
        ["int ", "x = 1 + 1, *", "y", "", ";"],
    ];
    with_big_stack(|| {
        for (levels, shapes) in [(10_000, &long[..]), (100_000, &flat[..])] {
            for shape in shapes {
                assert!(outcome(nested(levels, *shape)).is_ok(), "{shape:?}: {:?}", outcome(nested(levels, *shape)));
            }
        }
    });
}

#[test]
fn ten_megabytes_of_one_thing() {
    const SIZE: usize = 10_000_000;
    with_big_stack(|| {
        for (head, unit, tail) in [
            ("int ", "x", ";"),
            ("int x = ", "1", ";"),
            ("double x = 0.", "1", ";"),
            ("char *x = \"", "é", "\";"),
            ("char *x = \"", "\\", "\";"),
            ("int x = '", "a", "';"),
            ("int x = sizeof", "    ", "(int);"),
            ("int x; /*", " *", "*/"),
            ("int x; //", "/*", "\n"),
            ("int x = ", "1 + 2, x = ", "1;"),
            ("", "\\\n", "int x;"),
            ("", "# 1 \"a\"\n", "int x;"),
            ("", "\0", "int x;"),
            ("", "\u{7f}", ""),
            ("", "@", ""),
            ("# ", "1", ""),
            ("#", "a", ""),
            ("#pragma ", "pack(", ""),
            ("", "}", ""),
        ] {
            let _ = outcome([head, &unit.repeat(SIZE / unit.len()), tail].concat().into_bytes());
        }
        let mut random = Random::new(3);
        let noise: Vec<u8> = (0..SIZE / 10).map(|_| random.below(256) as u8).collect();
        assert!(outcome(noise).is_err());
    });
}
