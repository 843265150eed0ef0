//! The analyses against reality: whatever the interpreter sees happen, they must have said may happen.
//!
//! `programs/` holds C programs as `leno dump --ir` wrote them. Each is run under some schedules, and at each step
//! we look at what the next instruction is about to access, who owns it, and who else accessed it before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use leno_ir::callgraph::CallGraph;
use leno_ir::interp::{Captured, Image, Machine, Next, Options, Owner, StepResult, ThreadId};
use leno_ir::points_to::{AbstractId, AbstractObject, ObjectSet, PointsTo, for_each_op};
use leno_ir::program::*;
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_ir::text::{self, Names};
use leno_ir::validate::validate;

use crate::random::Random;

struct Analyses<'p> {
    program: &'p Program,
    points_to: PointsTo,
    calls: CallGraph,
    shared: SharedObjects,
}

impl<'p> Analyses<'p> {
    fn new(program: &'p Program) -> Analyses<'p> {
        let points_to = PointsTo::new(program);
        let calls = CallGraph::new(program, &points_to);
        let shared = SharedObjects::new(program, &points_to, &calls);
        Analyses { program, points_to, calls, shared }
    }

    /// The abstract objects that may stand for an object; several for what `alloca` made.
    fn stand_for(&self, owner: Owner) -> ObjectSet {
        let object = match owner {
            Owner::Static(id) => AbstractObject::Static(id),
            Owner::Function(id) => AbstractObject::Function(id),
            Owner::Slot(func, slot) => AbstractObject::Slot(func, slot),
            Owner::Heap(place) => AbstractObject::Site(place),
            Owner::Library => AbstractObject::Unknown,
            Owner::OnStack(func) => {
                let mut sites = ObjectSet::new();
                for_each_op(func, &self.program.functions[func], |place, _| {
                    sites.extend(self.points_to.object(AbstractObject::Site(place)));
                });
                return sites;
            }
        };
        self.points_to.object(object).into_iter().collect()
    }
}

/// Who has accessed one object so far.
#[derive(Default)]
struct History {
    objects: ObjectSet,
    /// Each thread once, with an access of it.
    threads: BTreeMap<ThreadId, Place>,
    written: bool,
}

/// One execution, watched.
struct Watch<'a> {
    analyses: &'a Analyses<'a>,
    /// By the address where the object begins.
    history: BTreeMap<u64, History>,
    accesses: usize,
    what: &'a str,
}

impl Watch<'_> {
    fn show(&self, place: Place) -> String {
        let program = self.analyses.program;
        let Body::Blocks(blocks) = &program.functions[place.func].body else { return String::new() };
        let names = Names::new(program);
        let op = blocks[place.block].instrs.get(place.index as usize).map(|instr| names.show(place.func, &instr.op));
        format!("{}: {} {}", self.what, names.function(place.func), op.map(|op| op.to_string()).unwrap_or_default())
    }

    fn before_step(&mut self, machine: &Machine<'_>, thread: ThreadId) {
        let place = machine.image().place(machine.pc(thread));
        assert!(self.analyses.calls.is_reachable(place.func), "{} runs", self.show(place));
        let Next::Instr(instr) = machine.next_op(thread) else { return };
        let Some(footprint) = machine.footprint(thread) else { return };
        let Some((owner, offset)) = machine.owner(footprint.address) else { return };
        let objects = self.analyses.stand_for(owner);
        let accessed = self.analyses.points_to.may_access(self.analyses.program, place.func, &instr.op);
        let foreseen = if footprint.writes { &accessed.written } else { &accessed.read };
        let is_code = matches!(owner, Owner::Function(_));
        assert!(is_code || foreseen.intersects(&objects), "{} accesses {owner:?}", self.show(place));
        self.accesses += 1;
        let history = self.history.entry(footprint.address - offset).or_default();
        if history.objects != objects {
            // The place has been used again for another object.
            *history = History { objects, ..History::default() };
        }
        history.threads.entry(thread).or_insert(place);
        history.written |= footprint.writes;
        if history.written && history.threads.len() > 1 {
            let is_shared = |object: AbstractId| self.analyses.shared.of(object) == Sharing::Shared;
            let places: Vec<Place> = history.threads.values().copied().collect();
            assert!(history.objects.iter().any(is_shared), "{} shares {owner:?}", self.show(place));
            for place in places {
                assert!(self.analyses.shared.is_shared_access(place), "{} accesses {owner:?}", self.show(place));
            }
        }
    }

    fn run(&mut self, program: &Program, seed: u64) {
        let image = Image::new(program);
        let mut machine = Machine::new(&image, &Options::default());
        let mut env = Captured::new(seed);
        let mut random = Random(seed);
        for _ in 0..20_000 {
            let enabled = machine.enabled_threads();
            if enabled.is_empty() {
                break;
            }
            let thread = random.pick(&enabled);
            for _ in 0..1 + random.below(20) {
                if !machine.enabled(thread) {
                    break;
                }
                let (place, depth) = (image.place(machine.pc(thread)), machine.threads()[thread].depth());
                self.before_step(&machine, thread);
                if machine.step(thread, &mut env) != StepResult::Done {
                    return;
                }
                if machine.threads()[thread].depth() > depth {
                    let callee = machine.backtrace(thread)[0].0;
                    let foreseen = self.analyses.calls.callees(place);
                    assert!(foreseen.iter().any(|edge| edge.callee == callee), "{} calls {callee}", self.show(place));
                }
            }
        }
    }
}

fn watch(program: &Program, seeds: std::ops::Range<u64>, what: &str) -> usize {
    let analyses = Analyses::new(program);
    let mut accesses = 0;
    for seed in seeds {
        let mut watch = Watch { analyses: &analyses, history: BTreeMap::new(), accesses: 0, what };
        watch.run(program, seed);
        accesses += watch.accesses;
    }
    accesses
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/representation/programs");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn real_programs_do_nothing_unforeseen() {
    for path in programs() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).expect("it can be read");
        let program = text::parse(&source).unwrap_or_else(|error| panic!("{name}:{error}"));
        assert_eq!(validate(&program), Ok(()), "{name}");
        assert_eq!(text::parse(&program.to_string()).as_ref(), Ok(&program), "{name}");
        let accesses = watch(&program, 0..6, &name);
        assert!(accesses > 20, "{name} does nothing: {accesses} accesses");
    }
}
