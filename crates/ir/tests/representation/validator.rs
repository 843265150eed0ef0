//! One wrong program for each rule of the validator.

use leno_ir::program::*;
use leno_ir::text;
use leno_ir::validate::validate;

const SOURCE: &str = "\
program lp64 entry &start
@x = global size 16 align 4 { 0: \"abc\" }
@tls = thread_local size 8 align 8
fn &callee(%0: i32, %1: ptr) -> i64 external known variadic writes(1)
fn &nothing() external
fn &start(%argc: i32, %argv: ptr) {
  local %w: i64, %c: i1, %d: f64, %b: i8, %q: i128, %i: i24
  slot $s size 8 align 8
b0:
  LINE
  return
}
";

fn messages(source: &str) -> Vec<String> {
    let program = text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let found = validate(&program).err().unwrap_or_default();
    found.iter().for_each(|invalid| assert!(invalid.explain(&program).contains(&invalid.message)));
    found.into_iter().map(|invalid| invalid.message).collect()
}

#[test]
fn instructions_that_are_right() {
    let lines = "\
        %w = call &callee(%argc, %argv)
        call *%argv(%d, %i)
        %i = trunc(%w to i24)
        %d = bitcast(%w to f64)
        %c = eq(%argv, &callee)
        %w = ptr_diff($s, @x)
        %argv = ptr_add(@tls, %w)
        %c, %argv = cmpxchg seq_cst ptr $s, null, @x, failure relaxed
        %argv = rmw exchange ptr $s, null
        %w = barrier_arrive @x
        %argc = barrier_leave @x, %w
        spawn %argv(%argc) -> i64 $s
        %q = load i128 @x";
    assert_eq!(messages(&SOURCE.replace("LINE", lines)), Vec::<String>::new());
}

#[test]
fn one_wrong_instruction_for_each_rule() {
    let cases = [
        ("%w = %argc", "a result of type i32 goes to a local of type i64"),
        ("%w = load i32 @x", "a result of type i32 goes to a local of type i64"),
        ("%i = load i24 @x", "memory does not hold i24"),
        ("%c = load i1 @x", "memory does not hold i1"),
        ("%w = load i64 %w", "the address has type i64, not ptr"),
        ("store i32 @x = %w", "the stored value has type i64, not i32"),
        ("rmw add ptr @x, null", "this read-modify-write is not for ptr"),
        ("rmw exchange f64 @x, %d", "this read-modify-write is not for f64"),
        ("rmw add i32 @x, %w", "the operand has type i64, not i32"),
        ("%w = rmw add i32 @x, %argc", "a result of type i32 goes to a local of type i64"),
        ("%c, %d = cmpxchg f64 @x, %d, %d, failure relaxed", "compare-exchange of a float"),
        (
            "%w, %argc = cmpxchg i32 @x, %argc, %argc, failure relaxed",
            "a result of type i1 goes to a local of type i64",
        ),
        ("%c, %argc = cmpxchg i32 @x, %w, %argc, failure relaxed", "the expected value has type i64, not i32"),
        ("%c, %argc = cmpxchg i32 @x, %argc, %w, failure relaxed", "the desired value has type i64, not i32"),
        ("%argv = allocate heap i32 4 align 4", "the size has type i32, not i64"),
        ("%argv = allocate heap i64 4 align 3", "the alignment 3 is not a power of two"),
        ("%w = allocate heap i64 4 align 4", "a result of type ptr goes to a local of type i64"),
        ("free %w", "the freed address has type i64, not ptr"),
        ("%argc = object_size @x", "a result of type i64 goes to a local of type i32"),
        ("assume %argc", "the condition has type i32, not i1"),
        ("assert %argc, assertion", "the condition has type i32, not i1"),
        ("%w = call &callee(%argc)", "1 arguments for 2 parameters"),
        ("%w = call &callee(%w, %argv)", "an argument has type i64, not i32"),
        ("%argc = call &callee(%argc, %argv)", "a result of type i64 goes to a local of type i32"),
        ("%w = call &nothing()", "the callee returns nothing, but its result is used"),
        ("call *%w()", "the callee has type i64, not ptr"),
        ("spawn %w()", "the thread's function has type i64, not ptr"),
        ("spawn &nothing() -> i32 $s", "the thread's handle has type i32, not i64"),
        ("join %argc", "the thread has type i32, not i64"),
        ("%argc = join %w", "a result of type i64 goes to a local of type i32"),
        ("detach %argc", "the thread has type i32, not i64"),
        ("%argc = thread_self", "a result of type i64 goes to a local of type i32"),
        ("%w = mutex_lock @x", "a result of type i32 goes to a local of type i64"),
        ("mutex_lock %w", "the address has type i64, not ptr"),
        ("mutex_init @x, %w", "the kind of lock has type i64, not i32"),
        ("cond_sleep @x, %w", "the mutex has type i64, not ptr"),
        ("cond_wake @x, %w", "the mutex has type i64, not ptr"),
        ("sem_init @x, %w", "the semaphore's value has type i64, not i32"),
        ("barrier_init @x, %w", "the barrier's count has type i64, not i32"),
        ("%argc = barrier_arrive @x", "a result of type i64 goes to a local of type i32"),
        ("barrier_leave @x, %argc", "the ticket has type i32, not i64"),
        // Operators.
        ("%w = neg(%argv)", "Neg of ptr"),
        ("%d = not(%d)", "Not of f64"),
        ("%w = fneg(%w)", "FNeg of i64"),
        ("%w = add(%w, %argc)", "Add of i64 and i32"),
        ("%w = shl(%w, %argc)", "Shl of i64 and i32"),
        ("%d = add(%d, %d)", "Add of f64 and f64"),
        ("%argv = sub(%argv, %argv)", "Sub of ptr and ptr"),
        ("%c = slt(%argv, %argv)", "SLt of ptr and ptr"),
        ("%c = eq(%d, %d)", "Eq of f64 and f64"),
        ("%c = feq(%w, %w)", "FEq of i64 and i64"),
        ("%c = sadd_overflow(%w, %argc)", "SAddOverflow of i64 and i32"),
        ("%argv = ptr_add(%argv, %argc)", "PtrAdd of ptr and i32"),
        ("%argv = ptr_add(%w, %w)", "PtrAdd of i64 and i64"),
        ("%w = ptr_diff(%argv, %w)", "PtrDiff of ptr and i64"),
        ("%w = fadd(%w, %w)", "FAdd of i64 and i64"),
        ("%w = select(%argc, %w, %w)", "the condition has type i32, not i1"),
        ("%w = select(%c, %w, %argc)", "the other operand of select has type i32, not i64"),
        // Casts.
        ("%w = trunc(%argc to i64)", "Truncate from i32 to i64"),
        ("%w = trunc(%w to i64)", "Truncate from i64 to i64"),
        ("%argc = zext(%w to i32)", "ZeroExtend from i64 to i32"),
        ("%w = sext(%w to i64)", "SignExtend from i64 to i64"),
        ("%argc = ptr_to_int(%argv to i32)", "PtrToInt from ptr to i32"),
        ("%argv = int_to_ptr(%argc to ptr)", "IntToPtr from i32 to ptr"),
        ("%d = uint_to_float(%d to f64)", "UIntToFloat from f64 to f64"),
        ("%w = float_to_sint(%w to i64)", "FloatToSInt from i64 to i64"),
        ("%d = float_to_float(%d to f64)", "FloatToFloat from f64 to f64"),
        ("%d = bitcast(%argc to f64)", "Bitcast from i32 to f64"),
        ("%argv = bitcast(%w to ptr)", "Bitcast from i64 to ptr"),
        // Terminators.
        ("branch %argc, b0, b0\nb1:", "the condition has type i32, not i1"),
        ("switch %d { default => b0 }\nb1:", "a switch on f64"),
        ("switch %b { 256 => b0, default => b0 }\nb1:", "a case does not fit the type of the switch"),
        ("switch %b { 2 => b0, 1 => b0, default => b0 }\nb1:", "the cases are not sorted and distinct"),
        ("switch %b { 2 => b0, 2 => b0, default => b0 }\nb1:", "the cases are not sorted and distinct"),
        ("return %w\nb1:", "a value is returned from a function that returns none"),
        ("thread_exit %argc\nb1:", "the thread's result has type i32, not i64"),
        ("exit %w\nb1:", "the status has type i64, not i32"),
    ];
    for (line, message) in cases {
        assert_eq!(messages(&SOURCE.replace("LINE", line)), [message], "{line}");
    }
}

#[test]
fn one_wrong_declaration_for_each_rule() {
    let cases = [
        ("size 16 align 4 {", "size 16 align 0 {", "the alignment 0 is not a power of two"),
        ("{ 0: \"abc\" }", "{ 14: \"abc\" }", "the initial value of @0 at offset 14 does not fit its size"),
        (
            "{ 0: \"abc\" }",
            "{ 0xffffffffffffffff: \"abc\" }",
            "the initial value of @0 at offset 18446744073709551615 does not fit its size",
        ),
        ("{ 0: \"abc\" }", "{ 0: @x, 7: \"abc\" }", "the initial value of @0 is not sorted or overlaps at offset 7"),
        ("{ 0: \"abc\" }", "{ 9: \"abc\", 0: \"d\" }", "the initial value of @0 is not sorted or overlaps at offset 0"),
        ("{ 0: \"abc\" }", "{ 0: @tls }", "the initial value of @0 holds the address of the thread-local @1"),
        ("= global", "= external", "@0 is external and has an initial value"),
        ("$s size 8 align 8", "$s size 8 align 6", "the alignment 6 is not a power of two"),
        ("writes(1)", "writes(2)", "it is said to write through parameter 2, which it does not have"),
        ("%1: ptr) -> i64", "%1: i64) -> i64", "it is variadic, but its last parameter is no pointer"),
        ("entry &start", "entry &nothing", "the entry's parameters are not (i32, ptr)"),
        ("%argv: ptr) {", "%argv: ptr) -> i32 {", "no value is returned from a function that returns i32"),
    ];
    for (right, wrong, message) in cases {
        let source = SOURCE.replace("LINE", "yield").replace(right, wrong);
        let found = messages(&source);
        assert_eq!(found.first().map(String::as_str), Some(message), "{wrong}: {found:?}");
    }
}

/// What the textual form cannot even say.
#[test]
fn one_wrong_id_for_each_sort() {
    type Change = fn(&mut Program);
    let cases: &[(Change, &str)] = &[
        (|p| first(p).op = Op::Nondet { dst: LocalId(99) }, "there is no local %99"),
        (|p| first(p).op = Op::Free { ptr: Expr::Object(ObjectId(9)), storage: Storage::Heap }, "there is no @9"),
        (|p| first(p).op = Op::Free { ptr: Expr::Slot(SlotId(9)), storage: Storage::Heap }, "there is no $9"),
        (|p| first(p).op = Op::BeginLife { slot: SlotId(9) }, "there is no $9"),
        (|p| first(p).op = Op::EndLife { slot: SlotId(9) }, "there is no $9"),
        (|p| first(p).op = Op::Free { ptr: Expr::Function(FuncId(9)), storage: Storage::Heap }, "there is no f9"),
        (
            |p| first(p).op = Op::Call { dst: None, callee: Callee::Direct(FuncId(9)), args: vec![] },
            "there is no function f9",
        ),
        (
            |p| {
                let (cond, property) = (Expr::bool(true), Property::Assertion);
                first(p).op = Op::Assert { cond, property, message: TextId(9) };
            },
            "there is no text9",
        ),
        (|p| first(p).span.text = TextId(9), "there is no text9"),
        (|p| first(p).span.line = 1, "there is no file0"),
        (|p| first(p).span.file = FileId(2), "there is no file2"),
        (|p| p.entry = Some(FuncId(9)), "there is no function f9 to be the entry"),
        (|p| p.functions[FuncId(1)].params = 3, "3 parameters, but 0 locals"),
        (|p| p.functions[FuncId(2)].locals[LocalId(3)].ty = Type::Int(0), "there is no type i0"),
        (|p| p.functions[FuncId(1)].ret = Some(Type::Int(129)), "there is no type i129"),
        (|p| p.functions[FuncId(1)].body = Body::Blocks(Default::default()), "the function has no block"),
        (
            |p| p.objects[ObjectId(0)].init[0].1 = Datum::Object(ObjectId(9), 0),
            "the initial value of @0 mentions @9, which does not exist",
        ),
        (
            |p| p.objects[ObjectId(0)].init[0].1 = Datum::Function(FuncId(9)),
            "the initial value of @0 mentions f9, which does not exist",
        ),
        (
            |p| {
                p.texts.push("not empty".into());
            },
            "text 0 is not empty",
        ),
        (|p| first_block(p).terminator.kind = TerminatorKind::Goto(BlockId(1)), "there is no block b1"),
        (
            |p| first(p).op = Op::Assume { cond: Expr::Const { ty: Type::BOOL, bits: 2 } },
            "the constant 0x2 has bits above its type i1",
        ),
        (
            |p| {
                p.model = DataModel::Ilp32;
                first(p).op = Op::Free { ptr: Expr::Const { ty: Type::Ptr, bits: 1 << 32 }, storage: Storage::Heap };
            },
            "the constant 0x100000000 has bits above its type ptr",
        ),
        (
            |p| {
                let mut deep = Expr::bool(true);
                for _ in 0..1000 {
                    deep = Expr::unary(UnaryOp::Not, deep);
                }
                first(p).op = Op::Assume { cond: deep };
            },
            "an expression is more than 64 deep",
        ),
    ];
    let program = text::parse(&SOURCE.replace("LINE", "yield")).expect("it parses");
    for (change, message) in cases {
        let mut wrong = program.clone();
        change(&mut wrong);
        let found = validate(&wrong).err().unwrap_or_default();
        let found: Vec<&str> = found.iter().map(|invalid| invalid.message.as_str()).collect();
        assert_eq!(found, [*message]);
    }
}

fn first_block(program: &mut Program) -> &mut Block {
    match &mut program.functions[FuncId(2)].body {
        Body::Blocks(blocks) => &mut blocks[BlockId(0)],
        Body::External(_) => panic!("start has a body"),
    }
}

fn first(program: &mut Program) -> &mut Instr {
    &mut first_block(program).instrs[0]
}

#[test]
fn places_are_exact() {
    let program =
        text::parse(&SOURCE.replace("LINE", "yield\n%w = %argc\ngoto b1\nb1:\nexit %w\nb2:")).expect("it parses");
    let found = validate(&program).expect_err("two mistakes");
    let places: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        places,
        ["f2:b0:1: a result of type i32 goes to a local of type i64", "f2:b1:0: the status has type i64, not i32"]
    );
    assert_eq!(
        found[0].explain(&program),
        "in &start, b0: a result of type i32 goes to a local of type i64: %w = %argc"
    );
}
