//! What the parser makes of declarations, statements and expressions, and what it says about mistakes.

use crate::tree::tree;

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(&tree(text), expected, "in: {text}");
    }
}

/// In the body of a function in which `T` is a type.
fn check_in_body(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = tree(&format!("typedef int T; void f(void) {{ {text} }}"));
        let body = found.lines().last().unwrap_or("").strip_prefix("(f: fn() void {");
        let body = body.and_then(|body| body.strip_suffix("})")).unwrap_or(&found);
        assert_eq!(&body, expected, "in: {text}");
    }
}

#[test]
fn declarators_read_from_the_name_outwards() {
    check(&[
        ("int *a[3];", "(a: [3] * int)"),
        ("int (*a)[3];", "(a: * [3] int)"),
        ("int *const *volatile p;", "(p: *volatile *const int)"),
        ("const char *const s[] = {0};", "(s: [] *const const char = {0})"),
        ("int (*f)(void);", "(f: * fn() int)"),
        ("int *f(void);", "(f: fn() * int)"),
        ("int (*(*g(int x))[4])(char);", "(g: fn(x: int) * [4] * fn(char) int)"),
        (
            "void (*signal(int sig, void (*func)(int)))(int);",
            "(signal: fn(sig: int, func: * fn(int) void) * fn(int) void)",
        ),
        ("char (*(*x[3])())[5];", "(x: [3] * fn(?) * [5] char)"),
        ("int (((x)));", "(x: int)"),
        ("int a, *b, c[2], d(void);", "(a: int) (b: * int) (c: [2] int) (d: fn() int)"),
        (
            "int f(int a[static const 3], int b[*], int c[restrict], int [*]);",
            "(f: fn(a: [const 3] int, b: [*] int, c: [restrict] int, [*] int) int)",
        ),
        ("int f(int, ...);", "(f: fn(int, ...) int)"),
        ("int f(int (*)(int), int (*[2])(void), int *());", "(f: fn(* fn(int) int, [2] * fn() int, fn(?) * int) int)"),
        ("long unsigned int long x;", "(x: unsignedlonglong)"),
        (
            "char signed c; short s; long double d; unsigned u; signed i;",
            "(c: signedchar)\n(s: short)\n(d: longdouble)\n(u: unsignedint)\n(i: int)",
        ),
        ("__int128 a; unsigned __int128 b; __uint128_t c;", "(a: int128)\n(b: unsignedint128)\n(c: unsignedint128)"),
        (
            "double _Complex z; _Float128 q; _Float64 d; __builtin_va_list v;",
            "(z: complex)\n(q: float128)\n(d: double)\n(v: valist)",
        ),
        ("_Atomic(int *) p; _Atomic int x; int *_Atomic q;", "(p: atomic(* int))\n(x: _Atomic int)\n(q: *_Atomic int)"),
        ("extern __thread int t; static _Thread_local int u;", "(t: extern thread int)\n(u: static thread int)"),
        (
            "_Alignas(16) _Alignas(double) int x; _Noreturn inline void f(void);",
            "(x: alignas(16) alignas(double) int)\n(f: fn() inline noreturn void)",
        ),
        (
            "typedef float _Float32; _Float32 x; _Complex _Float64 y;",
            "(_Float32: typedef float)\n(x: float)\n(y: complex)",
        ),
        ("int f(int n, int a[n][n+1]);", "(f: fn(n: int, a: [n] [(Add n 1)] int) int)"),
    ]);
}

#[test]
fn records_and_enumerations() {
    check(&[
        (
            "struct S { int a, *b; unsigned c : 3, : 0; struct { int d; }; union U *u; ; int e[]; };",
            "(struct S {a: int; b: * int; c: unsignedint : 3; unsignedint : 0; struct {d: int;}; u: * union U; e: [] int;})",
        ),
        (
            "struct E {}; union V x; struct P { _Static_assert(1, \"m\"); int a; } p;",
            "(struct E {})\n(x: union V)\n(p: struct P {(static_assert 1 Some(\"m\")) a: int;})",
        ),
        (
            "struct __attribute__((packed)) S { char c; int i __attribute__((aligned(2))); } __attribute__((aligned(8))) s;",
            "(s: struct S {c: char; i: int @aligned(2);} @packed() @aligned(8))",
        ),
        (
            "enum E { A, B = 3, C __attribute__((deprecated)) = A + 1, };  enum F; enum { D } d;",
            "(enum E {A B=3 C=(Add A 1)})\n(enum F)\n(d: enum {D})",
        ),
        ("typedef struct S S; struct S { S *S; }; S x;", "(S: typedef struct S)\n(struct S {S: * S;})\n(x: S)"),
        (
            "#pragma pack(push, 1)\nstruct A { int x; };\n#pragma pack(2)\nstruct B { int x; };\n#pragma pack(pop)\nstruct C { int x; };",
            "(struct A {x: int;} @pragma pack(1))\n(struct B {x: int;} @pragma pack(2))\n(struct C {x: int;})",
        ),
        ("_Pragma(\"pack(4)\") struct A { int x; };", "(struct A {x: int;} @pragma pack(4))"),
    ]);
}

#[test]
fn attributes_and_assembler_names() {
    check(&[
        (
            "__attribute__((unused)) static int x __attribute__((aligned(4))), __attribute__((weak)) y;",
            "(x: static int @unused() @aligned(4)) (y: static int @unused() @weak())",
        ),
        (
            "int f(const char *, ...) __asm__(\"g\") __attribute__((__format__(__printf__, 1, 2), __nothrow__));",
            "(f: fn(* const char, ...) int @format(__printf__,1,2) @nothrow() asm g)",
        ),
        (
            "int (__attribute__((noinline)) f)(void), * __attribute__((unused)) p;",
            "(f: fn() int @noinline()) (p: * int @unused())",
        ),
        (
            "void g(int x __attribute__((unused)), __attribute__((unused)) int y);",
            "(g: fn(x: int @unused(), y: int @unused()) void)",
        ),
        (
            "int f(int (__attribute__((x)) *p), int (__attribute__((x)) int));",
            "(f: fn(p: * int @x(), fn(int @x()) int) int)",
        ),
        (
            "[[nodiscard]] int f(void); int x [[gnu::aligned(8)]] [3]; [[maybe::other(a b, {)]]] int y;",
            "(f: fn() int @nodiscard())\n(x: [3] int @aligned(8))\n(y: int)",
        ),
        (
            "typedef int word __attribute__((mode(DI))); struct S { int a; } __attribute__((, packed,));",
            "(word: typedef int @mode(DI))\n(struct S {a: int;} @packed())",
        ),
        ("asm(\"nop\"); int x;;", "(asm)\n(x: int)"),
        ("__extension__ typedef struct { __extension__ int a; } S;", "(S: typedef struct {a: int;})"),
    ]);
}

#[test]
fn names_that_are_types_and_names_that_hide_them() {
    check(&[
        ("typedef int T; void f(T T) { T = 1; }", "(T: typedef int)\n(f: fn(T: T) void {(= T 1)})"),
        (
            "typedef int T; void f(T T, int x[sizeof(T)]);",
            "(T: typedef int)\n(f: fn(T: T, x: [(sizeof (paren T))] int) void)",
        ),
        (
            "typedef int T; int f(int (T)), g(int T), h(T);",
            "(T: typedef int)\n(f: fn(fn(T) int) int) (g: fn(T: int) int) (h: fn(T) int)",
        ),
        ("typedef int T; void f(unsigned T); T x;", "(T: typedef int)\n(f: fn(T: unsignedint) void)\n(x: T)"),
        (
            "typedef int T; int g(void) { enum { T }; return T; } T y;",
            "(T: typedef int)\n(g: fn() int {(enum {T}) (return T)})\n(y: T)",
        ),
        (
            "typedef int T, *P; P p; typedef struct T { T T; } U;",
            "(T: typedef int) (P: * typedef int)\n(p: P)\n(U: typedef struct T {T: T;})",
        ),
        (
            "typedef int T; void f(void) { int T = sizeof(T); }",
            "(T: typedef int)\n(f: fn() void {(T: int = (sizeof (paren T)))})",
        ),
        ("typedef int T; int T(void);", "(T: typedef int)\n(T: fn() int)"),
    ]);
    check_in_body(&[
        ("T (x); T *y; T z = 1;", "(x: T) (y: * T) (z: T = 1)"),
        ("int T; T * 2; { typedef char T; T c; } T = 3;", "(T: int) (Mul T 2) {(T: typedef char) (c: T)} (= T 3)"),
        ("T: goto T; T x;", "(label T ()) (goto T) (x: T)"),
        ("for (T T = 0; T < 3; T++) T; T x;", "(for (T: T = 0) (Lt T 3) (PostIncrement T) T) (x: T)"),
        ("if (sizeof(enum { T })) T; T x;", "(if (sizeof <enum {T}>) T) (x: T)"),
        (
            "s.T = p->T; struct { int T; } v = { .T = 1 }; T y;",
            "(= (. s T) (-> p T)) (v: struct {T: int;} = {.T=1}) (y: T)",
        ),
    ]);
}

#[test]
fn old_style_functions_and_implicit_int() {
    check(&[
        ("int f(a, b) int a; char *b; { return a; }", "(f: fn(a b) int (a: int) (b: * char) {(return a)})"),
        ("main() { return 0; }", "(main: fn(?) implicit {(return 0)})"),
        (
            "x; *p; (q); static y = 1; f(a) { }",
            "(x: implicit)\n(p: * implicit)\n(q: implicit)\n(y: static implicit = 1)\n(f: fn(a) implicit {})",
        ),
        ("typedef int T; int f(p) T *p; { T x; }", "(T: typedef int)\n(f: fn(p) int (p: * T) {(x: T)})"),
        ("int f(register x, const y);", "(f: fn(x: register implicit, y: const implicit) int)"),
        ("int f(int n; int a[n], int n);", "(f: fn(a: [n] int, n: int) int)"),
    ]);
}

#[test]
fn statements() {
    check_in_body(&[
        ("if (a) if (b) c; else d;", "(if a (if b c d))"),
        ("while (a) do b; while (c);", "(while a (do b c))"),
        (
            "for (;;) ; for (i = 0, j = 1; i < 2; i++) { continue; break; }",
            "(for _ _ _ ()) (for (, (= i 0) (= j 1)) (Lt i 2) (PostIncrement i) {(continue) (break)})",
        ),
        (
            "switch (a) { case 1: case 2 ... 4: b; break; default: }",
            "(switch a {(case 1 ()) (case 2...4 ()) b (break) (default ())})",
        ),
        ("l: int x; m: __attribute__((unused)); n:", "(label l ()) (x: int) (label m ()) () (label n ())"),
        ("switch (a) case 1: case 2: b; if (a) l: c;", "(switch a (case 1 (case 2 b))) (if a (label l c))"),
        ("case 1: __extension__ int x;", "(case 1 ()) (x: int)"),
        ("goto *p; goto l; return; return 1, 2;", "(goto* p) (goto l) (return _) (return (, 1 2))"),
        ("__label__ a, b; p = &&a;", "(labels a b) (= p (&& a))"),
        ("__attribute__((fallthrough)); [[fallthrough]]; __attribute__((unused)) int x;", "() () (x: int @unused())"),
        (
            "asm volatile (\"\" ::: \"memory\"); __asm__(\"x %0\" \"y\" : [o] \"=r\" (a) : \"r\"(b), \"0\"(c) : \"cc\"); asm goto (\"\" : : : : l);",
            "(asm \"\" false true) (asm \"x %0y\" true false) (asm \"\" true false)",
        ),
        (
            "int g(int a) { return a; } ; _Static_assert(1); __extension__ (void) 0;",
            "(nested (g: fn(a: int) int {(return a)})) () (static_assert 1 None) (Extension (cast <void> 0))",
        ),
        ("int g(a) int a; { return a; }", "(nested (g: fn(a) int (a: int) {(return a)}))"),
        ("__extension__ int a; { } ;;", "(a: int) {} () ()"),
        (
            "__extension__ _Static_assert(1); __extension__ __extension__ T x; __extension__ [[]] T y;",
            "(static_assert 1 None) (x: T) (y: T)",
        ),
    ]);
}

#[test]
fn expressions() {
    check_in_body(&[
        ("a = b += c ? d : e ? f : g, h;", "(, (= a (Add= b (? c d (? e f g)))) h)"),
        ("a ?: b; a ? b, c : d;", "(? a _ b) (? a (, b c) d)"),
        (
            "a + b * c - d << 1 < 2 == 3 & 4 ^ 5 | 6 && 7 || 8;",
            "(Or (And (BitOr (BitXor (BitAnd (Eq (Lt (Shl (Sub (Add a (Mul b c)) d) 1) 2) 3) 4) 5) 6) 7) 8)",
        ),
        (
            "-!~+*&a; ++a; --a; a++ - --b; - -a;",
            "(Minus (Not (BitNot (Plus (Deref (AddressOf a)))))) (PreIncrement a) (PreDecrement a) (Sub (PostIncrement a) (PreDecrement b)) (Minus (Minus a))",
        ),
        ("f(a, (b, c))[1].x->y++;", "(PostIncrement (-> (. (index (call f a (paren (, b c))) 1) x) y))"),
        (
            "(T) a + (T) (b); (a) + b; (T *) -1; (int (*)(void)) p;",
            "(Add (cast <T> a) (cast <T> (paren b))) (Add (paren a) b) (cast <* T> (Minus 1)) (cast <* fn() int> p)",
        ),
        (
            "sizeof a + 1; sizeof (T) + 1; sizeof (a) [0]; sizeof (T){1}.x; sizeof sizeof a; _Alignof(T);",
            "(Add (sizeof a) 1) (Add (sizeof <T>) 1) (sizeof (index (paren a) 0)) (sizeof (. (literal <T> {1}) x)) (sizeof (sizeof a)) (alignof <T>)",
        ),
        (
            "(int[]){1, 2}[0]; &(struct S){.a = 1}; (T){};",
            "(index (literal <[] int> {1 2}) 0) (AddressOf (literal <struct S> {.a=1})) (literal <T> {})",
        ),
        ("({ int x = 1; x; }); ({ T: a; });", "(stmt {(x: int = 1) x}) (stmt {(label T ()) a})"),
        ("_Generic(a, int: 1, T *: 2, default: 3);", "(generic a <int>:1 <* T>:2 <default>:3)"),
        (
            "__builtin_va_arg(ap, T *); __builtin_offsetof(struct S, a.b[3].c); __builtin_choose_expr(1, a, b); __builtin_types_compatible_p(T, int[]);",
            "(va_arg ap <* T>) (offsetof <struct S> .a.b[3].c) (choose 1 a b) (compatible <T> <[] int>)",
        ),
        (
            "__extension__ a; __real__ z; typeof(a) b; __typeof__(T *) c; __auto_type d = 1;",
            "(Extension a) (Real z) (b: typeof(a)) (c: typeof(* T)) (d: autotype = 1)",
        ),
        (r#""a" "b\n" L"c"; u8"x"; 'a'; L'b'; 1.5f; 0x10ul; .5;"#, r#"L"ab\nc" u8"x" '97' '98'L 1.5F 16ul .5"#),
        ("a \\\n+ /* c */ b // d\n;", "(Add a b)"),
        ("a+++b; a- -b; a<:1:>;", "(Add (PostIncrement a) b) (Sub a (Minus b)) (index a 1)"),
        ("__builtin_offsetof(T, a->b); 1.5d;", "(offsetof <T> .a[0].b) 1.5"),
        ("__builtin_convertvector(a, T) + 2i;", "(Add (call __builtin_convertvector) 2Unsupported)"),
        ("\\u00e9t\\u00E9 = été + $x;", "(= été (Add été $x))"),
    ]);
}

#[test]
fn initializers() {
    check(&[
        ("int a[] = { 1, [3] = 2, [4 ... 6] = 3, [7] 4, };", "(a: [] int = {1 [3]=2 [4...6]=3 [7]=4})"),
        (
            "struct S s = { .a = 1, b: 2, .c.d[1] = { 3 }, {}, { { 4 } } };",
            "(s: struct S = {.a=1 .b=2 .c.d[1]={3} {} {{4}}})",
        ),
        ("int x = 1, y = { 2 }, *p = &x;", "(x: int = 1) (y: int = {2}) (p: * int = (AddressOf x))"),
        ("struct S s = {};", "(s: struct S = {})"),
    ]);
}

#[test]
fn line_markers_and_other_directives() {
    let text =
        "# 1 \"a.c\"\nint x;\n# 40 \"dir/b \\\"q\\\".h\" 1 3\n#pragma once\n#ident \"x\"\nint y\n#line 7\nint z;\n";
    let mut source = leno_c::source::Source::new("t.i", text.as_bytes().to_vec());
    let error = leno_c::parse::parse(&mut source).expect_err("a semicolon is missing");
    let place = source.location(error.span);
    assert_eq!((place.file.as_str(), place.line, place.column), ("dir/b \"q\".h", 42, 6));
    check(&[(
        "#include <stdio.h>\n",
        "1:1: `#include` in text that should be preprocessed already (files named `.i` are read as they are; give the file a name in `.c` to have it preprocessed)",
    )]);
    check(&[("\u{feff}int\r\nx\r\n;\r\n\0", "(x: int)")]);
}

#[test]
fn mistakes_are_named_at_their_place() {
    check(&[
        ("int x", "1:6: expected `=`, `,` or `;` after the declarator, found the end of the file"),
        (
            "int f(void)\nint g;",
            "1:12: expected `;` or a body `{ … }` after the function's declarator, found the keyword `int`",
        ),
        ("void f(void) {\n  x = 1\n}", "2:8: expected `;` after the expression, found `}`"),
        ("void f(void) { g(1; }", "1:19: expected `)`, found `;` (to close the `(` in line 1)"),
        ("void f(void) { if x; }", "1:18: expected `(` after `if`, found `x`"),
        ("void f(void) {\n", "1:15: expected `}`, found the end of the file (to close the `{` in line 1)"),
        ("struct S { int x", "1:17: expected `;` after the member, found the end of the file"),
        ("foo_t x;", "1:1: unknown type name `foo_t` (declare it with `typedef`, or include the header that does)"),
        (
            "int f(foo_t x);",
            "1:7: unknown type name `foo_t` (declare it with `typedef`, or include the header that does)",
        ),
        (
            "void f(void) { foo_t x; }",
            "1:16: unknown type name `foo_t` (declare it with `typedef`, or include the header that does)",
        ),
        (
            "void f(void) { if (1) int x; }",
            "1:23: expected a statement, found a declaration (put it in braces: a declaration is no statement)",
        ),
        ("}", "1:1: this `}` closes nothing (every block that was opened before it is closed already)"),
        ("int 3;", "1:5: expected a name to declare, found `3`"),
        ("int x = ;", "1:9: expected an expression, found `;`"),
        ("typedef int T; int x = T;", "1:24: expected an expression, found the type `T`"),
        ("void f(void) { else; }", "1:16: this `else` belongs to no `if`"),
        ("unsigned float x;", "1:1: these words do not make a type together"),
        ("static extern int x;", "1:8: the keyword `extern` is a second storage class"),
        ("struct S int x;", "1:10: the keyword `int` does not go with the type before it"),
        ("int x; @", "1:8: the character `@` is no part of any C token"),
        ("int x = 'a", "1:9: this character constant is not closed on its line"),
        ("char *s = \"abc\n;", "1:11: this string is not closed on its line"),
        ("int x; /* never", "1:8: this comment is never closed"),
        ("int x = 08;", "1:9: `8` is no digit of the octal constant `08`"),
        ("int “x”;", "1:5: the character `“` (U+201C) is no part of any C token"),
        ("int x = \"a\" + L\"b\" u\"c\";", "1:20: this string literal is of another kind than the one before it"),
        (
            "void f(void) { x = (foo_t) y; }",
            "1:21: unknown type name `foo_t` (declare it with `typedef`, or include the header that does)",
        ),
        (
            "int x = sizeof(foo_t *);",
            "1:16: unknown type name `foo_t` (declare it with `typedef`, or include the header that does)",
        ),
        ("void f(void) { g(x) y; }", "1:20: expected `;` after the expression, found `y`"),
        // An earlier mistake comes before what the lexer stumbles over later.
        ("int x y; @", "1:6: expected `=`, `,` or `;` after the declarator, found `y`"),
    ]);
}

#[test]
fn spans_are_the_text_of_their_nodes() {
    use leno_c::ast::{ExprKind, StmtKind};
    let text = "int f(int a) { int b = a + g(a, (b * 2)) ? a[b] . c : -a ; if ( a ) return b ; a = b , ++ a ; }";
    let mut source = leno_c::source::Source::new("t.c", text.as_bytes().to_vec());
    let ast = leno_c::parse::parse(&mut source).expect("it parses");
    let exprs = |wanted: fn(&ExprKind) -> bool| -> Vec<String> {
        let chosen = ast.exprs.iter().filter(|expr| wanted(&expr.kind));
        chosen.map(|expr| source.snippet(expr.span)).collect()
    };
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Binary(..))), ["b * 2", "a + g(a, (b * 2))"]);
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Conditional { .. })), ["a + g(a, (b * 2)) ? a[b] . c : -a"]);
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Paren(_))), ["(b * 2)"]);
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Call { .. })), ["g(a, (b * 2))"]);
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Member { .. } | ExprKind::Index(..))), ["a[b]", "a[b] . c"]);
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Unary(..))), ["-a", "++ a"]);
    assert_eq!(exprs(|kind| matches!(kind, ExprKind::Comma(..) | ExprKind::Assign(..))), ["a = b", "a = b , ++ a"]);
    let returns = ast.stmts.iter().find(|stmt| matches!(stmt.kind, StmtKind::Return(_)));
    assert_eq!(returns.map(|stmt| source.snippet(stmt.span)).as_deref(), Some("return b ;"));
}
