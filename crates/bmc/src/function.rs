//! Function summaries: what a function does, whoever calls it (paper 000, appendix: rules INIT-F and MK-SUMMARY).
//!
//! A function is executed once as if it were called by nobody in particular: its parameters, the condition under which it is called, the
//! thread that calls it, and what it finds in memory that belongs to its caller are variables. What comes out is a skeleton of its own and the
//! state at its exit, all in terms of these variables; `instantiate` puts a call in their place.
//!
//! Constants decide how far a loop goes round, what is called, and which part of private memory is accessed. So a parameter that has turned out to
//! *steer* one of these is not a variable: there is a summary for each constant that is passed. All other constants
//! are put in later, when the simplifier makes of them what it would have made of them before.
//!
//! Not every function can be summarised: one that calls itself, starts or ends a thread, allocates memory that no other thread gets to see,
//! has stack objects whose addresses get out, or reaches private memory of others through pointers that are not
//! known. We notice while we execute it, give up, and execute each call of it where it is made. A stack object whose address does not get out is the same
//! instance in all calls: nobody can tell.

use crate::objects::{Initial, Instance, InstanceId};
use crate::skeleton::{NodeId, Skeleton, Thread, ThreadIndex};
use crate::state::State;
use crate::summarize::{Refused, Summarizer};
use crate::trail::Deed;
use crate::words::Look;
use leno_ir::points_to::{AbstractObject, ObjectSet};
use leno_ir::program::{Body, FuncId, ObjectKind, Place, Span, Storage, TerminatorKind};
use leno_ir::sharing::Sharing;
use leno_logic::term::{Pattern, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What becomes of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Calls {
    /// The function is executed where it is called.
    Inline,
    /// It is summarised once, if it can be, and its summary is used at each call.
    Summary,
    /// Either, by what is cheaper: see `calls`.
    #[default]
    Auto,
}

/// What is passed for a parameter, as far as it matters to the summary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Argument {
    /// Anything: a variable of the summary.
    Any,
    /// A constant that steers.
    Constant(u128),
    Undefined,
}

/// Which summary a call needs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct CallPattern {
    pub func: FuncId,
    pub arguments: Vec<Argument>,
}

/// The state at the exit, as far as it concerns the caller.
#[derive(Clone, Debug)]
pub(crate) struct Exit {
    pub path: Term,
    pub result: Option<Term>,
    /// What was written into private memory of the caller.
    pub cells: Vec<(InstanceId, u64, u32, Term)>,
    pub trail: Vec<(Deed, Term)>,
    pub reading: Vec<(u64, Term)>,
}

/// See the module.
pub(crate) struct FunctionSummary {
    pub skeleton: Skeleton,
    pub looks: Vec<Look>,
    /// None if the function never returns.
    pub exit: Option<Exit>,
    /// Stands for the condition under which it is called; what else is variable.
    pub entered: Term,
    pub open: Recording,
    /// All its terms, to be filled in.
    pub pattern: Pattern,
    /// How many instructions were executed for it.
    pub work: u64,
}

/// What is variable while a function is being summarised.
pub(crate) struct Recording {
    /// Instances and activations from these on are its own.
    first_instance: InstanceId,
    first_activation: usize,
    /// When to give up, by the instructions executed.
    most_work: u64,
    /// The number of the thread, plus one.
    pub me: Term,
    pub parameters: Vec<Option<Term>>,
    /// The parameters that steer, and those that are constants in the call at hand.
    pub steering: Vec<bool>,
    constants: Vec<bool>,
    /// Terms in which what steers has been looked for.
    seen: FxHashSet<Term>,
    /// What is found in private memory of the caller: by instance, offset and length.
    pub borrowed: BTreeMap<(InstanceId, u64, u32), Term>,
    is_borrowed: FxHashSet<Term>,
    /// How often read-write locks are held for reading.
    pub reading: BTreeMap<u64, Term>,
    /// What it allocates: a variable for the address of each.
    pub allocations: Vec<Allocation>,
    /// Private instances of the caller that must be alive.
    pub touched: BTreeSet<InstanceId>,
    /// Shared ones that must not have been left by anybody.
    pub assumed: BTreeSet<InstanceId>,
}

/// Memory that each call has an instance of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub address: Term,
    pub path: Term,
    pub what: AbstractObject,
    pub size: u64,
    pub initial: Initial,
}

/// All summaries so far.
#[derive(Default)]
pub(crate) struct Summaries {
    made: FxHashMap<CallPattern, Rc<FunctionSummary>>,
    /// By function: the parameters that steer.
    steering: FxHashMap<FuncId, Vec<bool>>,
    /// Those that cannot be summarised.
    hopeless: BTreeSet<FuncId>,
    /// What is known of calls that were executed where they were made.
    pub executed: FxHashMap<CallPattern, Executed>,
    /// Objects whose addresses are in memory somewhere.
    held: Option<ObjectSet>,
}

/// Calls of one pattern that were executed: how many, and how many instructions that took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Executed {
    pub calls: u32,
    pub work: u64,
}

/// So many calls that are alike are executed before there is a summary.
const CALLS_TO_PAY: u32 = 2;

impl Executed {
    /// How many instructions a summary may take; None if it is too early for one.
    pub fn most_work(&self) -> Option<u64> {
        (self.calls >= CALLS_TO_PAY).then(|| self.work / u64::from(self.calls) * 3 / 2)
    }
}

/// What the execution of a function must not disturb.
struct Aside {
    skeleton: Skeleton,
    recording: Option<Box<Recording>>,
    later: FxHashMap<Term, Term>,
    looks: Vec<Look>,
    thread: ThreadIndex,
    last: NodeId,
    activations: usize,
    here: (Place, Span),
}

impl Summarizer<'_> {
    /// Which summary a call needs; None if there cannot be one.
    pub(crate) fn pattern_of(&self, func: FuncId, args: &[Option<Term>]) -> Option<CallPattern> {
        if self.summaries.hopeless.contains(&func) || self.recursive.contains(&func) {
            return None;
        }
        let steering = self.summaries.steering.get(&func);
        let argument = |(index, value): (usize, &Option<Term>)| {
            let steers = steering.is_some_and(|steering| steering[index]);
            match value {
                None => Argument::Undefined,
                Some(value) => match self.terms.as_bits(*value).filter(|_| steers) {
                    Some(constant) => Argument::Constant(constant),
                    None => Argument::Any,
                },
            }
        };
        Some(CallPattern { func, arguments: args.iter().enumerate().map(argument).collect() })
    }

    /// The summary for calls of a pattern, if there is one.
    pub(crate) fn summary_of(&self, pattern: &CallPattern) -> Option<Rc<FunctionSummary>> {
        self.summaries.made.get(pattern).cloned()
    }

    /// Makes a summary for a call with these arguments, unless it takes more than `most` instructions. If it turns out that one of the arguments
    /// steers, the call has another pattern from now on.
    pub(crate) fn make_summary(&mut self, pattern: CallPattern, args: &[Option<Term>], most: u64) {
        let constants = args.iter().map(|value| value.is_some_and(|value| self.terms.as_bits(value).is_some()));
        let before = self.work;
        let most = before.saturating_add(most);
        let (made, steering) = self.summarize_function(&pattern, constants.collect(), most);
        self.work = before;
        let known = self.summaries.steering.entry(pattern.func).or_insert_with(|| vec![false; args.len()]);
        known.iter_mut().zip(steering).for_each(|(known, new)| *known |= new);
        match made {
            Ok(summary) => _ = self.summaries.made.insert(pattern, Rc::new(summary)),
            Err(_) if self.pattern_of(pattern.func, args).as_ref() != Some(&pattern) => {}
            Err(_) => _ = self.summaries.hopeless.insert(pattern.func),
        }
    }

    /// Executes a function for nobody in particular.
    fn summarize_function(
        &mut self,
        pattern: &CallPattern,
        constants: Vec<bool>,
        most_work: u64,
    ) -> (Result<FunctionSummary, Refused>, Vec<bool>) {
        let function = &self.program.functions[pattern.func];
        let (mut args, mut parameters) = (Vec::new(), Vec::new());
        for (argument, local) in pattern.arguments.iter().zip(function.locals.iter()) {
            let width = self.width(local.ty);
            let (value, variable) = match argument {
                Argument::Undefined => (None, None),
                Argument::Constant(value) => (Some(self.terms.bits(width, *value)), None),
                Argument::Any => {
                    let variable = self.terms.variable(Sort::Bits(width), "parameter");
                    (Some(variable), Some(variable))
                }
            };
            args.push(value);
            parameters.push(variable);
        }
        let me = self.terms.variable(Sort::Bits(32), "me");
        let entered = self.terms.variable(Sort::Bool, "entered");
        let aside = self.begin(Recording {
            first_instance: self.instances.next(),
            first_activation: self.active.len(),
            most_work,
            me,
            steering: vec![false; parameters.len()],
            parameters,
            constants,
            seen: FxHashSet::default(),
            borrowed: BTreeMap::new(),
            is_borrowed: FxHashSet::default(),
            reading: BTreeMap::new(),
            allocations: Vec::new(),
            touched: BTreeSet::new(),
            assumed: BTreeSet::new(),
        });
        let before = self.work;
        let exit = self.execute(pattern.func, args, State::at(entered));
        let work = self.work - before;
        let (skeleton, looks, Some(open)) = self.end(aside) else {
            return (Err(Refused::new("no function is being summarised")), Vec::new());
        };
        self.instances.hide_from(open.first_instance);
        let steering = open.steering.clone();
        let summary = exit.and_then(|exit| self.close(exit, skeleton, looks, entered, *open));
        (summary.map(|summary| FunctionSummary { work, ..summary }), steering)
    }

    fn begin(&mut self, recording: Recording) -> Aside {
        let never = self.terms.bool(false);
        let mut skeleton = Skeleton::default();
        // Node 0 stands for the last moment before the call.
        let thread = ThreadIndex(0);
        let last = skeleton.add_node(thread);
        let word = u32::from(self.program.model.pointer_bits());
        skeleton.threads.push(Thread {
            name: String::new(),
            handle: self.terms.zero_extend(recording.me, word),
            spawned: None,
            first: last,
            last,
            finished: never,
            result: self.terms.bits(word, 0),
            inputs: Vec::new(),
        });
        Aside {
            activations: self.active.len(),
            here: self.here,
            skeleton: std::mem::replace(&mut self.skeleton, skeleton),
            recording: self.recording.replace(Box::new(recording)),
            later: std::mem::take(&mut self.later),
            looks: std::mem::take(&mut self.looks),
            thread: std::mem::replace(&mut self.thread, thread),
            last: std::mem::replace(&mut self.last, last),
        }
    }

    fn end(&mut self, aside: Aside) -> (Skeleton, Vec<Look>, Option<Box<Recording>>) {
        let skeleton = std::mem::replace(&mut self.skeleton, aside.skeleton);
        let looks = std::mem::replace(&mut self.looks, aside.looks);
        let recording = std::mem::replace(&mut self.recording, aside.recording);
        self.active.truncate(aside.activations);
        (self.later, self.thread, self.last) = (aside.later, aside.thread, aside.last);
        (self.current, self.undefined_word, self.here) = (None, None, aside.here);
        (skeleton, looks, recording)
    }

    /// Makes a summary of what the execution has left.
    fn close(
        &mut self,
        exit: Option<(State, Option<Term>)>,
        skeleton: Skeleton,
        looks: Vec<Look>,
        entered: Term,
        open: Recording,
    ) -> Result<FunctionSummary, Refused> {
        // What is a doubt here may be none where the arguments are known.
        if !skeleton.gaps.is_empty() || !skeleton.doubts.is_empty() {
            return Err(Refused::new("what a function does is not known exactly"));
        }
        let exit = match exit {
            None => None,
            Some((state, result)) => Some(self.exit(state, result, &open)?),
        };
        let mut roots = Vec::new();
        skeleton.clone().replace(|term| {
            roots.push(term);
            term
        });
        roots.extend(looks.iter().flat_map(|look| [look.address, look.value]));
        roots.extend(open.allocations.iter().flat_map(|allocation| [allocation.address, allocation.path]));
        if let Some(exit) = &exit {
            roots.push(exit.path);
            roots.extend(exit.result);
            roots.extend(exit.cells.iter().map(|(_, _, _, value)| *value));
            roots.extend(exit.reading.iter().map(|(_, value)| *value));
            for (deed, condition) in &exit.trail {
                roots.push(*condition);
                roots.extend(deed.lock());
            }
        }
        let pattern = Pattern::new(&self.terms, &roots, |_| true);
        Ok(FunctionSummary { skeleton, looks, exit, entered, open, pattern, work: 0 })
    }

    fn exit(&self, state: State, result: Option<Term>, open: &Recording) -> Result<Exit, Refused> {
        if state.section.is_some() || state.depth > 0 || state.sleep.is_some() {
            return Err(Refused::new("a function leaves something open"));
        }
        if state.memory.dead.keys().any(|id| *id < open.first_instance) {
            return Err(Refused::new("a function ends the life of private memory"));
        }
        let mut cells = Vec::new();
        let outer: BTreeMap<_, _> = state.memory.objects.iter().filter(|(id, _)| **id < open.first_instance).collect();
        for (&id, contents) in outer {
            for (offset, bytes, value) in contents.all() {
                if open.borrowed.get(&(id, offset, bytes)) != Some(&value) {
                    cells.push((id, offset, bytes, value));
                }
            }
        }
        let reading = state.reading.iter().map(|(lock, value)| (*lock, *value)).collect();
        Ok(Exit { path: state.path, result, cells, trail: state.trail.since_start(), reading })
    }

    // --- what is asked while a function is being summarised

    /// A condition or an address on which it depends how a function is executed. Parameters in it had better be constants; and
    /// what else is known at a call only would be lost.
    pub(crate) fn steer(&mut self, term: Term) -> Result<(), Refused> {
        let Some(recording) = &mut self.recording else { return Ok(()) };
        let mut waiting = vec![term];
        while let Some(term) = waiting.pop() {
            if !recording.seen.insert(term) {
                continue;
            }
            waiting.extend(self.terms.node(term).operands());
            if recording.is_borrowed.contains(&term) {
                return Err(Refused::new("how a function is executed depends on private memory of its caller"));
            }
            let Some(index) = recording.parameters.iter().position(|parameter| *parameter == Some(term)) else {
                continue;
            };
            recording.steering[index] = true;
            if recording.constants[index] {
                return Err(Refused::new("a function is to be summarised with a constant"));
            }
        }
        Ok(())
    }

    /// Stops the summary of a function because of an address (or something else) that is not known.
    pub(crate) fn needs(&mut self, term: Term) -> Result<(), Refused> {
        self.steer(term)?;
        self.cannot_be_summarized("a function uses an address that is not known")
    }

    pub(crate) fn cannot_be_summarized(&self, reason: &str) -> Result<(), Refused> {
        match self.recording {
            Some(_) => Err(Refused::new(reason)),
            None => Ok(()),
        }
    }

    /// Counts instructions that are executed.
    pub(crate) fn count_work(&mut self, instructions: usize) -> Result<(), Refused> {
        self.work += instructions as u64;
        match &self.recording {
            Some(recording) if self.work > recording.most_work => Err(Refused::new("a summary is not worth its while")),
            _ => Ok(()),
        }
    }

    /// Whether an instance belongs to the caller of the function that is being summarised.
    pub(crate) fn is_borrowed(&self, id: InstanceId) -> bool {
        self.recording.as_ref().is_some_and(|recording| id < recording.first_instance)
    }

    /// Notes that a private instance is accessed; if it is the caller's, it must be alive.
    pub(crate) fn borrow(&mut self, id: InstanceId) {
        if let Some(recording) = &mut self.recording
            && id < recording.first_instance
        {
            recording.touched.insert(id);
        }
    }

    /// What a private instance holds where nobody has written since the function that is being summarised was called, if that is the caller's
    /// business.
    pub(crate) fn borrowed(&mut self, terms: &mut Terms, id: InstanceId, offset: u64, bytes: u32) -> Option<Term> {
        let instance = self.instances.get(id);
        let is_fixed = instance.is_constant || instance.sharing == Sharing::ReadOnly;
        if is_fixed && matches!(instance.initial, Initial::Static(_)) {
            return None;
        }
        let recording = self.recording.as_mut().filter(|recording| id < recording.first_instance)?;
        let value = recording.borrowed.entry((id, offset, bytes));
        let value = *value.or_insert_with(|| terms.variable(Sort::Bits(bytes * 8), "borrowed"));
        recording.is_borrowed.insert(value);
        Some(value)
    }

    /// The address of what is allocated, while a function is being summarised.
    pub(crate) fn allocate_later(
        &mut self,
        what: AbstractObject,
        size: u64,
        initial: Initial,
        storage: Storage,
        path: Term,
    ) -> Result<Term, Refused> {
        let is_shared = self.points_to.object(what).is_some_and(|object| self.shared.of(object) == Sharing::Shared);
        if !is_shared || storage != Storage::Heap {
            self.cannot_be_summarized("a function allocates private memory")?;
        }
        let address = self.terms.variable(Sort::Bits(self.program.model.pointer_bits().into()), "allocated");
        if let Some(recording) = &mut self.recording {
            recording.allocations.push(Allocation { address, path, what, size, initial });
        }
        Ok(address)
    }

    /// Whether all instances of a private object that can be meant are there already, whoever calls.
    pub(crate) fn is_settled(&self, object: AbstractObject) -> bool {
        let Some(recording) = &self.recording else { return true };
        match object {
            AbstractObject::Unknown | AbstractObject::Site(_) => false,
            AbstractObject::Function(_) => true,
            AbstractObject::Static(object) => self.program.objects[object].kind != ObjectKind::ThreadLocal,
            AbstractObject::Slot(func, _) => {
                self.active[recording.first_activation..].iter().any(|active| active.func == func)
            }
        }
    }

    /// Whether a shared instance that is not on the heap lives, as far as one needs to ask.
    pub(crate) fn is_surely_alive(&mut self, id: InstanceId) -> bool {
        let instance = self.instances.get(id);
        let is_static = matches!(self.points_to.objects()[instance.object], AbstractObject::Static(_));
        if is_static && instance.owner.is_none() {
            return true;
        }
        if let Some(recording) = &mut self.recording {
            recording.assumed.insert(id);
            return true;
        }
        let is_of_another = instance.owner.is_some_and(|owner| owner != self.thread);
        !is_of_another && !self.skeleton.deaths.iter().any(|death| death.instance == id)
    }

    /// Whether the stack objects of an activation can be the same at every call: nobody has their addresses afterwards.
    pub(crate) fn forgets_slots(&mut self, func: FuncId, slots: &[InstanceId]) -> bool {
        let slots: Vec<_> = slots.iter().map(|id| self.instances.get(*id)).collect();
        if !slots.iter().any(|slot| slot.is_pointed_to || slot.sharing == Sharing::Shared) {
            return true;
        }
        let held = self.summaries.held.get_or_insert_with(|| {
            let mut held = ObjectSet::new();
            for object in self.points_to.objects().ids() {
                held.union_with(&self.points_to.contents(object));
            }
            held
        });
        let mut returned = ObjectSet::new();
        if let Body::Blocks(blocks) = &self.program.functions[func].body {
            for block in blocks {
                if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                    returned.union_with(&self.points_to.points_to(func, value));
                }
            }
        }
        let is_kept = |slot: &&Instance| {
            slot.sharing == Sharing::Shared || held.contains(slot.object) || returned.contains(slot.object)
        };
        !slots.iter().any(is_kept)
    }
}
