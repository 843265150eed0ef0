//! Points-to sets, call graphs and sharing on small programs, with the expected results beside them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use leno_ir::callgraph::{CallGraph, CallKind};
use leno_ir::dot;
use leno_ir::points_to::{AbstractObject, ObjectSet, PointsTo, for_each_op};
use leno_ir::program::*;
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_ir::text::{self, Names};
use leno_ir::validate::validate;

use crate::random;

struct Analysed {
    program: Program,
    points_to: PointsTo,
    calls: CallGraph,
    shared: SharedObjects,
}

fn analyse(source: &str) -> Analysed {
    let program = text::parse(source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    if let Err(found) = validate(&program) {
        panic!("{}\n{source}", found[0].explain(&program));
    }
    let points_to = PointsTo::new(&program);
    let calls = CallGraph::new(&program, &points_to);
    let shared = SharedObjects::new(&program, &points_to, &calls);
    Analysed { program, points_to, calls, shared }
}

impl Analysed {
    fn function(&self, name: &str) -> FuncId {
        let found = self.program.functions.iter_enumerated().find(|(_, f)| f.name == name);
        found.unwrap_or_else(|| panic!("no function {name}")).0
    }

    /// What a set holds, as `@x $s &f` and `site 3` for the number of an allocation.
    fn show(&self, set: &ObjectSet) -> String {
        let names = Names::new(&self.program);
        let show = |object| match self.points_to.objects()[object] {
            AbstractObject::Unknown => "unknown".to_owned(),
            AbstractObject::Static(id) => names.object(id).to_string(),
            AbstractObject::Function(id) => names.function(id).to_string(),
            AbstractObject::Slot(function, slot) => names.slot(function, slot).to_string(),
            AbstractObject::Site(place) => format!("site{}", place.index),
        };
        let shown: BTreeSet<String> = set.iter().map(show).collect();
        shown.into_iter().collect::<Vec<_>>().join(" ")
    }

    /// What a register may point to: `local("main", "p")`.
    fn local(&self, function: &str, name: &str) -> String {
        let function = self.function(function);
        let mut locals = self.program.functions[function].locals.iter_enumerated();
        let local = locals.find(|(_, local)| local.name == name).unwrap_or_else(|| panic!("no local {name}")).0;
        self.show(&self.points_to.points_to(function, &Expr::Local(local)))
    }

    fn shared(&self, name: &str) -> Sharing {
        let names = Names::new(&self.program);
        let is_it = |object: &AbstractObject| match object {
            AbstractObject::Static(id) => names.object(*id).to_string() == name,
            AbstractObject::Slot(function, slot) => names.slot(*function, *slot).to_string() == name,
            AbstractObject::Site(place) => format!("site{}", place.index) == name,
            AbstractObject::Unknown => name == "unknown",
            AbstractObject::Function(_) => false,
        };
        let mut objects = self.points_to.objects().iter_enumerated();
        let (id, _) = objects.find(|(_, object)| is_it(object)).unwrap_or_else(|| panic!("no object {name}"));
        self.shared.of(id)
    }

    /// The instructions of a function that may access shared objects.
    fn shared_accesses(&self, function: &str) -> Vec<String> {
        let (id, names) = (self.function(function), Names::new(&self.program));
        let mut found = Vec::new();
        for_each_op(id, &self.program.functions[id], |place, op| {
            if self.shared.is_shared_access(place) {
                found.push(names.show(id, op).to_string());
            }
        });
        found
    }
}

/// `lines` as the body of an entry with some registers and objects.
fn entry_with(lines: &str) -> String {
    format!(
        "program lp64 entry &main
         @x = global size 8 align 8
         @y = global size 8 align 8
         @z = global size 16 align 8
         fn &copy(%to: ptr, %from: ptr) external known writes(0)
         fn &f(%a: ptr) -> ptr {{
          b0:
           return %a
         }}
         fn &main(%argc: i32, %argv: ptr) {{
           local %p: ptr, %q: ptr, %r: ptr, %w: i64, %v: i64, %b: i8, %n: i32, %m: i32, %c: i1
           slot $s size 8 align 8
           slot $t size 8 align 8
          b0:
           {lines}
           exit i32 0
         }}"
    )
}

/// A program, and what the registers p, q and r may point to afterwards.
#[test]
fn points_to_sets_of_small_programs() {
    let cases = [
        ("%p = @x", "@x", "", ""),
        ("%p = @x\n %q = ptr_add(%p, i64 8)", "@x", "@x", ""),
        ("%q = ptr_add(null, ptr_to_int(@y to i64))", "", "@y", ""),
        ("%p = @x\n %w = load i64 @y\n %q = ptr_add(%p, %w)\n store ptr @y = $s", "@x", "@x", ""),
        ("%p = select(%c, @x, $s)", "$s @x", "", ""),
        ("store ptr @z = @x\n %p = load ptr @z", "@x", "", ""),
        // Inclusion, not unification: q gets x, but p does not get y.
        ("%p = @x\n %q = %p\n %q = @y", "@x", "@x @y", ""),
        ("%p = $s\n store ptr %p = @x\n %q = load ptr $s\n %r = load ptr $t", "$s", "@x", ""),
        (
            "%p = allocate heap i64 8 align 8\n %q = allocate heap i64 8 align 8\n store ptr %p = %q\n %r = load ptr %p",
            "site0",
            "site1",
            "site1",
        ),
        // Through integers: casts, tags, xor, alignment, halves.
        ("%w = ptr_to_int(@x to i64)\n %w = or(%w, i64 1)\n %p = int_to_ptr(and(%w, i64 -2) to ptr)", "@x", "", ""),
        ("%w = xor(ptr_to_int(@x to i64), ptr_to_int(@y to i64))\n %p = int_to_ptr(%w to ptr)", "@x @y", "", ""),
        ("%w = mul(udiv(ptr_to_int(@x to i64), i64 8), i64 8)\n %p = int_to_ptr(%w to ptr)", "@x", "", ""),
        (
            "%n = trunc(ptr_to_int(@x to i64) to i32)\n store i32 $s = %n\n %m = load i32 $s\n %p = int_to_ptr(zext(%m to i64) to ptr)",
            "@x",
            "",
            "",
        ),
        // Byte by byte.
        ("store ptr $s = @x\n %b = load i8 $s\n store i8 $t = %b\n %p = load ptr $t", "@x", "", ""),
        ("store ptr $s = @x\n %w = load i64 $s\n store i64 $t = %w\n %p = load ptr $t", "@x", "", ""),
        // An `int` beside a pointer is none.
        ("store ptr @z = @x\n %n = load i32 @z\n %p = int_to_ptr(zext(%n to i64) to ptr)", "", "", ""),
        // Not a value that could be an address.
        ("%w = ptr_diff(@x, @y)\n %p = int_to_ptr(%w to ptr)", "", "", ""),
        ("%c = eq(@x, @y)\n %p = int_to_ptr(zext(%c to i64) to ptr)", "", "", ""),
        // Atomics.
        ("%p = rmw exchange seq_cst ptr @z, @x\n %q = load ptr @z", "@x", "@x", ""),
        ("%c, %p = cmpxchg seq_cst ptr @z, null, @x, failure relaxed", "@x", "", ""),
        // Calls, direct and through pointers.
        ("%p = call &f(@x)", "@x", "", ""),
        ("%p = &f\n %q = call *%p(@x)", "&f", "@x", ""),
        ("store ptr @z = &f\n %p = load ptr @z\n %q = call *%p(@x, @y)", "&f", "@x", ""),
        // That it is called turns out after all else is known of its arguments.
        (
            "%p = $s\n store ptr %p = @x\n store ptr @z = &copy\n %q = load ptr @z\n call *%q($t, %p)\n %r = load ptr $t",
            "$s",
            "&copy",
            "$s $t @x",
        ),
        // A thread gets and gives back.
        ("spawn &f(@x)\n %w = join i64 1\n %p = int_to_ptr(%w to ptr)", "@x", "", ""),
        ("%p = nondet", "unknown", "", ""),
        ("%w = nondet\n %p = int_to_ptr(%w to ptr)", "", "", ""),
        ("%p = load ptr %argv", "unknown", "", ""),
        // A cycle of pointers.
        (
            "%p = @x\n %q = %p\n %r = %q\n %p = %r\n store ptr %r = %r\n %q = load ptr %p\n %r = $s",
            "$s @x",
            "$s @x",
            "$s @x",
        ),
    ];
    for (lines, p, q, r) in cases {
        let analysed = analyse(&entry_with(lines));
        let found = ["p", "q", "r"].map(|name| analysed.local("main", name));
        assert_eq!(found, [p, q, r], "{lines}");
    }
}

#[test]
fn unknown_functions_may_keep_and_store_what_they_are_given() {
    let analysed = analyse(
        "program lp64 entry &main
         @x = global size 8 align 8
         @inner = global size 8 align 8
         @safe = global size 8 align 8
         @out = external size 8 align 8
         fn &mystery(%a: ptr) -> ptr external
         fn &printf(%a: ptr) -> i32 external known
         fn &sscanf(%a: ptr, %args: ptr) -> i32 external known variadic writes(1)
         fn &copy(%to: ptr, %from: ptr) external known writes(0)
         fn &main(%argc: i32, %argv: ptr) {
           local %p: ptr, %q: ptr, %r: ptr, %k: ptr
           slot $s size 8 align 8
           slot $k size 8 align 8
          b0:
           store ptr @x = @inner
           %p = call &mystery(@x)
           %q = load ptr @inner
           %r = load ptr @safe
           call &printf(@safe)
           store ptr $s = @safe
           call &copy($k, $s)
           %k = load ptr $k
           exit i32 0
         }",
    );
    // It may return anything that it got hold of, and store it where it can reach.
    assert_eq!(analysed.local("main", "p"), "@inner @out @x unknown");
    assert_eq!(analysed.local("main", "q"), "@inner @out @x unknown");
    assert_eq!(analysed.local("main", "r"), "", "printf keeps nothing");
    assert_eq!(
        analysed.local("main", "k"),
        "$s $k @safe".split(' ').collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
    );
    let main = analysed.function("main");
    let Body::Blocks(blocks) = &analysed.program.functions[main].body else { panic!("a body") };
    let instrs = &blocks[BlockId(0)].instrs;
    let accessed = |index: usize| analysed.points_to.may_access(&analysed.program, main, &instrs[index].op);
    assert_eq!(analysed.show(&accessed(1).written), "@inner @out @x unknown");
    assert_eq!(analysed.show(&accessed(4).read), "@safe");
    assert_eq!(analysed.show(&accessed(4).written), "");
    assert_eq!(analysed.show(&accessed(6).written), "$k");
    assert_eq!(analysed.show(&accessed(0).written), "@x");
    assert_eq!(analysed.show(&accessed(2).read), "@inner");
    let (x, inner) = (Expr::Object(ObjectId(0)), Expr::Object(ObjectId(1)));
    assert!(!analysed.points_to.may_alias((main, &x), (main, &inner)));
    assert!(analysed.points_to.may_alias((main, &Expr::Local(LocalId(2))), (main, &inner)));
}

#[test]
fn functions_are_found_through_tables_and_only_if_they_are_reached() {
    let analysed = analyse(
        "program lp64 entry &main
         @table = constant size 16 align 8 { 0: &one, 8: &two }
         @x = global size 8 align 8
         fn &one(%a: ptr) -> ptr {
          b0:
           return %a
         }
         fn &two(%a: ptr) -> ptr {
           local %r: ptr
          b0:
           %r = call &one(%a)
           %r = call &two(%a)
           return %r
         }
         fn &dead() {
           local %r: ptr
          b0:
           %r = call &one(@table)
           spawn &dead()
           return
         }
         fn &thread(%arg: ptr) -> ptr {
          b0:
           return null
         }
         fn &main(%argc: i32, %argv: ptr) {
           local %f: ptr, %r: ptr
          b0:
           %f = load ptr ptr_add(@table, sext(shl(%argc, i32 3) to i64))
           %r = call *%f(@x)
           spawn &thread(%r)
           call *%argv(null)
           exit i32 0
         }",
    );
    let [one, two, dead, thread, main] = ["one", "two", "dead", "thread", "main"].map(|name| analysed.function(name));
    assert_eq!(analysed.local("main", "f"), "&one &two");
    assert_eq!(analysed.local("main", "r"), "@x", "what only dead code passes does not count");
    assert_eq!(analysed.local("dead", "r"), "");
    let indirect = Place { func: main, block: BlockId(0), index: 1 };
    let callees: Vec<FuncId> = analysed.calls.callees(indirect).iter().map(|edge| edge.callee).collect();
    assert_eq!(callees, [one, two]);
    assert_eq!(analysed.calls.thread_entries(), [thread]);
    let reachable = [one, two, dead, thread, main].map(|id| analysed.calls.is_reachable(id));
    assert_eq!(reachable, [true, true, false, true, true]);
    assert!(analysed.calls.is_recursive(two) && !analysed.calls.is_recursive(one));
    let order: Vec<FuncId> = analysed.calls.components().iter().flatten().copied().collect();
    let position = |id: FuncId| order.iter().position(|other| *other == id);
    assert!(position(one) < position(two) && position(two) < position(main));
    let outside: Vec<u32> = analysed.calls.unknown().iter().map(|(place, _)| place.index).collect();
    assert_eq!((outside, analysed.calls.unknown()[0].1), (vec![3], CallKind::Call));
}

const THREADS: &str = "program lp64 entry &main
     @counter = global size 8 align 8
     @mutex = global size 40 align 8
     @config = global size 8 align 8 { 0: \"a\" }
     @text = constant size 8 align 1 { 0: \"hello\" }
     @main_only = global size 8 align 8
     @worker_only = global size 8 align 8
     @box = global size 8 align 8
     @tls = thread_local size 8 align 8
     @leaked_tls = thread_local size 8 align 8
     fn &worker(%arg: ptr) -> ptr {
       local %w: i64, %b: i8, %h: ptr, %own: ptr, %r: ptr
       slot $private size 8 align 8
      b0:
       mutex_lock @mutex
       %w = load i64 @counter
       store i64 @counter = add(%w, i64 1)
       mutex_unlock @mutex
       %w = load i64 @config
       %b = load i8 @text
       store i64 @worker_only = i64 1
       store i64 @tls = i64 1
       store i64 %arg = i64 1
       store i64 $private = i64 1
       %own = allocate heap i64 8 align 8
       store i64 %own = i64 1
       %h = load ptr @box
       store i64 %h = i64 1
       %r = allocate heap i64 8 align 8
       return %r
     }
     fn &main(%argc: i32, %argv: ptr) {
       local %w: i64, %b: i8, %g: ptr, %j: i64
       slot $given size 8 align 8
       slot $kept size 8 align 8
       slot $handle size 8 align 8
      b0:
       store i64 $kept = i64 0
       store i64 @main_only = i64 0
       store ptr @box = @leaked_tls
       %b = load i8 @text
       %w = load i64 @config
       store i64 @tls = i64 2
       spawn &worker($given) -> i64 $handle
       %w = load i64 $handle
       %j = join %w
       %w = load i64 int_to_ptr(%j to ptr)
       %w = load i64 @counter
       AGAIN
     }";

#[test]
fn sharing_of_a_small_program() {
    use Sharing::*;
    let analysed = analyse(&THREADS.replace("AGAIN", "exit i32 0"));
    let expected = [
        ("@counter", Shared),
        ("@mutex", Local), // one worker, and main never touches it
        ("@config", ReadOnly),
        ("@text", ReadOnly),
        ("@main_only", Local),
        ("@worker_only", Local),
        ("@box", Shared),
        ("@tls", Local),
        ("@leaked_tls", Shared), // main gave it away, and ends its life
        ("$given", Shared),
        ("$kept", Local),
        ("$handle", Local),
        ("$private", Local),
        ("site10", Local),
        ("site14", Shared), // given back to who joins
    ];
    for (object, sharing) in expected {
        assert_eq!(analysed.shared(object), sharing, "{object}");
    }
    let accesses = analysed.shared_accesses("main");
    assert_eq!(
        accesses,
        ["store ptr @box = @leaked_tls", "%w = load i64 int_to_ptr(%j to ptr)", "%w = load i64 @counter"]
    );
    let accesses = analysed.shared_accesses("worker");
    assert_eq!(
        accesses,
        [
            "%w = load i64 @counter",
            "store i64 @counter = add(%w, i64 1)",
            "store i64 %arg = i64 1",
            "%h = load ptr @box",
            "store i64 %h = i64 1"
        ]
    );
    assert_eq!(analysed.shared.threads().len(), 2);
    assert!(analysed.shared.threads().iter().all(|thread| !thread.is_many));
}

#[test]
fn a_thread_that_may_be_started_twice_counts_twice() {
    use Sharing::*;
    let analysed = analyse(&THREADS.replace("AGAIN", "goto b0"));
    assert!(analysed.shared.threads()[1].is_many);
    for (object, sharing) in [("@mutex", Shared), ("@worker_only", Shared), ("$private", Local), ("@tls", Local)] {
        assert_eq!(analysed.shared(object), sharing, "{object}");
    }
    assert_eq!(analysed.shared("@leaked_tls"), Shared);
    // Without threads nothing is shared; in a library all of it is.
    let alone =
        analyse(&THREADS.replace("AGAIN", "exit i32 0").replace("spawn &worker($given) -> i64 $handle", "yield"));
    assert_eq!(alone.shared("@counter"), Local);
    assert_eq!(alone.shared_accesses("main"), Vec::<String>::new());
    let library = analyse(&THREADS.replace("AGAIN", "exit i32 0").replace("entry &main", ""));
    assert_eq!(library.shared("@main_only"), Shared);
    assert_eq!(library.shared("$kept"), Local);
}

#[test]
fn start_functions_are_counted_through_calls() {
    let source = |calls: &str| {
        format!(
            "program lp64 entry &main
             @x = global size 8 align 8
             fn &worker(%arg: ptr) -> ptr {{
              b0:
               store i64 @x = i64 1
               return null
             }}
             fn &start() {{
              b0:
               spawn &worker(null)
               return
             }}
             fn &main(%argc: i32, %argv: ptr) {{
              b0:
               {calls}
               exit i32 0
             }}"
        )
    };
    assert_eq!(analyse(&source("call &start()")).shared("@x"), Sharing::Local);
    assert_eq!(analyse(&source("call &start()\n call &start()")).shared("@x"), Sharing::Shared);
    assert_eq!(analyse(&source("call &start()\n spawn &start()")).shared("@x"), Sharing::Shared);
    assert_eq!(analyse(&source("spawn &worker(null)\n spawn &worker(null)")).shared("@x"), Sharing::Shared);
}

/// The solution satisfies each instruction by itself, as the definitions in `points_to` say.
fn check_solution(program: &Program, points_to: &PointsTo) {
    let is_narrow = |ty: Type| (9..program.model.pointer_bits()).contains(&ty.bits(program.model));
    for (id, function) in program.functions.iter_enumerated().filter(|(id, _)| points_to.is_reached(*id)) {
        let set = |expr: &Expr| points_to.points_to(id, expr).into_owned();
        let local = |local: LocalId| set(&Expr::Local(local));
        let is_code = |object| matches!(points_to.objects()[object], AbstractObject::Function(_));
        let loaded = |from: &Access, dst: LocalId| {
            // A narrow load may find less than all that is there.
            for object in set(&from.ptr).iter().filter(|object| !is_code(*object) && !is_narrow(from.ty)) {
                assert!(points_to.contents(object).is_subset_of(&local(dst)), "load in {id} of\n{program}");
            }
        };
        let stored = |to: &Access, value: &Expr| {
            for object in set(&to.ptr).iter().filter(|object| !is_code(*object)) {
                assert!(set(value).is_subset_of(&points_to.contents(object)), "store in {id} of\n{program}");
            }
        };
        let called = |pointer: &Expr, args: &[Expr], dst: Option<LocalId>| {
            let (callees, unknown) = points_to.functions(id, pointer);
            let is_unknown =
                |callee: &FuncId| matches!(&program.functions[*callee].body, Body::External(e) if !e.known);
            if unknown || callees.iter().any(is_unknown) {
                let escaped = points_to.escaped_to_unknown();
                assert!(args.iter().all(|arg| set(arg).is_subset_of(&escaped)), "call in {id} of\n{program}");
            }
            for callee in callees {
                let Body::Blocks(blocks) = &program.functions[callee].body else { continue };
                for (param, arg) in (0..program.functions[callee].params).map(LocalId).zip(args) {
                    let param = points_to.points_to(callee, &Expr::Local(param));
                    assert!(set(arg).is_subset_of(&param), "call in {id} of\n{program}");
                }
                for block in blocks {
                    if let (Some(dst), TerminatorKind::Return(Some(value))) = (dst, &block.terminator.kind) {
                        let value = points_to.points_to(callee, value);
                        assert!(value.is_subset_of(&local(dst)), "return in {id} of\n{program}");
                    }
                }
            }
        };
        for_each_op(id, function, |place, op| match op {
            Op::Assign { dst, value } => assert!(set(value).is_subset_of(&local(*dst)), "assign in {id} of\n{program}"),
            Op::Load { dst, from } => loaded(from, *dst),
            Op::Store { to, value } => stored(to, value),
            Op::ReadModifyWrite { dst, at, value, .. } => {
                dst.iter().for_each(|dst| loaded(at, *dst));
                stored(at, value);
            }
            Op::CompareExchange { old, at, desired, .. } => {
                loaded(at, *old);
                stored(at, desired);
            }
            Op::Allocate { dst, .. } => {
                let site = points_to.object(AbstractObject::Site(place)).expect("an allocation site");
                assert!(local(*dst).contains(site));
            }
            Op::Call { dst, callee: Callee::Direct(callee), args } => called(&Expr::Function(*callee), args, *dst),
            Op::Call { dst, callee: Callee::Indirect(pointer), args } => called(pointer, args, *dst),
            Op::Spawn { func, args, .. } => called(func, args, None),
            _ => {}
        });
    }
    let escaped = points_to.escaped_to_unknown();
    assert!(points_to.reachable(&escaped).is_subset_of(&escaped), "unknown code reaches more in\n{program}");
}

/// Whatever the program, the analyses come to an end and agree with each other.
#[test]
fn random_programs_are_analysed() {
    for seed in 0..1000 {
        let program = random::program(seed);
        let points_to = PointsTo::new(&program);
        let calls = CallGraph::new(&program, &points_to);
        let shared = SharedObjects::new(&program, &points_to, &calls);
        for id in program.functions.ids() {
            assert_eq!(points_to.is_reached(id), calls.is_reachable(id), "seed {seed}, {id}\n{program}");
        }
        for place in shared.shared_accesses() {
            let Body::Blocks(blocks) = &program.functions[place.func].body else { panic!("seed {seed}") };
            let op = &blocks[place.block].instrs[place.index as usize].op;
            let accessed = points_to.may_access(&program, place.func, op).all();
            assert!(accessed.iter().any(|object| shared.of(object) == Sharing::Shared), "seed {seed}");
        }
        check_solution(&program, &points_to);
        let _ = dot::program(&program);
    }
}

/// Chains, cycles, and function pointers in memory: tens of thousands of constraints.
fn entangled(count: usize) -> Program {
    let mut source = String::from("program lp64 entry &main\n");
    for object in 0..count {
        source.push_str(&format!("@g{object} = global size 8 align 8 {{ 0: &f{object} }}\n"));
    }
    for function in 0..count {
        let (next, far) = ((function + 1) % count, (function * 7919) % count);
        source.push_str(&format!(
            "fn &f{function}(%a: ptr, %b: ptr) -> ptr {{
               local %p: ptr, %q: ptr, %r: ptr, %s: ptr, %t: ptr
               slot $s size 8 align 8
              b0:
               %p = load ptr %a
               %q = allocate heap i64 16 align 8
               store ptr %q = %p
               store ptr ptr_add(%q, i64 8) = %b
               store ptr @g{far} = %q
               %r = call &f{next}(%q, $s)
               %t = load ptr @g{next}
               %s = call *%t(%r, %p)
               store ptr %r = %s
               %p = load ptr %b
               store ptr %p = %a
               return %p
             }}\n"
        ));
    }
    source.push_str("fn &main(%argc: i32, %argv: ptr) {\nb0:\n call &f0(@g1, @g2)\n exit i32 0\n}\n");
    let program = text::parse(&source).expect("it parses");
    assert_eq!(validate(&program), Ok(()));
    program
}

#[test]
fn entangled_programs_are_solved_rightly() {
    for count in [30, 300] {
        let program = entangled(count);
        check_solution(&program, &PointsTo::new(&program));
    }
}

/// Many small modules, each with its own list, which share some code: what real programs look like from afar.
fn modular(count: usize) -> Program {
    let mut source = String::from("program lp64 entry &main\n");
    source.push_str(
        "fn &push(%list: ptr, %node: ptr) {
           local %head: ptr
          b0:
           %head = load ptr %list
           store ptr %node = %head
           store ptr %list = %node
           return
         }\n",
    );
    for module in 0..count {
        let next = module + 1;
        source.push_str(&format!(
            "@list{module} = global size 8 align 8
             fn &f{module}(%a: ptr) -> ptr {{
               local %n: ptr, %p: ptr, %d: ptr, %r: ptr
               slot $s size 8 align 8
              b0:
               %n = allocate heap i64 16 align 8
               store ptr ptr_add(%n, i64 8) = %a
               store ptr $s = %n
               %p = load ptr $s
               {}
               goto b1
              b1:
               %p = load ptr @list{module}
               %d = load ptr ptr_add(%p, i64 8)
               store i64 %d = i64 1
               %p = load ptr %p
               {}
               return %p
             }}\n",
            if module % 100 == 0 {
                format!("call &push(@list{module}, %p)")
            } else {
                format!("store ptr @list{module} = %p")
            },
            if module + 1 == count { String::new() } else { format!("%r = call &f{next}(%n)") },
        ));
    }
    source.push_str("fn &main(%argc: i32, %argv: ptr) {\nb0:\n call &f0(%argv)\n exit i32 0\n}\n");
    text::parse(&source).expect("it parses")
}

#[test]
fn modular_programs_are_analysed_quickly() {
    let program = modular(1500);
    let start = Instant::now();
    let points_to = PointsTo::new(&program);
    let solved = start.elapsed();
    let calls = CallGraph::new(&program, &points_to);
    let shared = SharedObjects::new(&program, &points_to, &calls);
    let taken = start.elapsed();
    println!("{} objects, {} waves, {solved:?}, with sharing {taken:?}", points_to.objects().len(), points_to.waves);
    assert_eq!(shared.shared_accesses(), []);
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}

#[test]
fn entangled_programs_are_analysed_quickly() {
    let program = entangled(1000);
    let start = Instant::now();
    let points_to = PointsTo::new(&program);
    let taken = start.elapsed();
    println!("{} objects, {} waves, {taken:?}", points_to.objects().len(), points_to.waves);
    assert!(program.functions.ids().all(|id| points_to.is_reached(id)));
    assert!(taken < Duration::from_secs(30), "{taken:?}");
}

#[test]
fn pictures_are_escaped_and_show_threads() {
    let analysed = analyse(
        "program lp64 entry &main
         fn &0 \"odd \\\"name\\\\\"(%arg: ptr) -> ptr {
          b0: ; main.c:1:1 \"say(\\\"hi\\\\n\\\")\"
           return null
          b1:
           unreachable
         }
         fn &main(%argc: i32, %argv: ptr) {
           local %p: ptr
          b0:
           %p = &0
           spawn %p(null)
           switch %argc { 1 => b1, 2 => b2, 3 => b1, default => b2 }
          b1:
           branch eq(%argc, i32 1), b1, b2
          b2:
           exit i32 0
         }",
    );
    let picture = dot::program(&analysed.program);
    let expected = r#"digraph cfg {
  node [shape=box, fontname="monospace", fontsize=10];
  edge [fontsize=9];
  subgraph cluster_f0 {
    label="&0 odd \"name\\";
    f0_b0 [label="b0: ; main.c:1:1 \"say(\\\"hi\\\\n\\\")\"\lreturn null\l"];
    f0_b1 [label="b1:\lunreachable\l", color=gray, fontcolor=gray];
  }
  subgraph cluster_f1 {
    label="&main";
    f1_b0 [label="b0:\l%p = &0\lspawn %p(null)\lswitch %argc\l"];
    f1_b0 -> f1_b1 [label="1, 3"];
    f1_b0 -> f1_b2 [label="2"];
    f1_b0 -> f1_b2 [label="default"];
    f1_b1 [label="b1:\lbranch eq(%argc, i32 1), b1, b2\l"];
    f1_b1 -> f1_b1 [label="true"];
    f1_b1 -> f1_b2 [label="false"];
    f1_b2 [label="b2:\lexit i32 0\l"];
  }
  f1_b0 -> f0_b0 [style=dashed, label="spawn"];
}
"#;
    assert_eq!(picture, expected);
    assert!(!dot::function(&analysed.program, FuncId(0)).contains("f1_"));
}
