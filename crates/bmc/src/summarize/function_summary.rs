//! Function summaries: what a function does, for all its callers (paper 000, appendix: rules INIT-F and MK-SUMMARY).
//!
//! A function is executed once for an unknown call: its parameters, the condition under which it is called, the calling
//! thread, and the contents of private memory of the caller are variables. The result is a skeleton of its own and the
//! state at its exit, over these variables; `instantiate` replaces the variables at a call.
//!
//! Constants decide how often a loop iterates, which functions are called, and which part of private memory is
//! accessed. So a parameter that *steers* one of these is not a variable: there is a summary for each constant that is
//! passed. All other constants are put in when the summary is instantiated, and the simplifier propagates them then.
//!
//! Not every function can be summarised: not one that calls itself, starts or ends a thread, allocates memory that
//! threads do not share, has stack objects whose addresses escape, or accesses private memory of its caller through
//! unknown pointers. The execution notices this and gives up, and each call is executed where it is made. A stack
//! object whose address does not escape is the same instance in all calls, which no execution can observe.

use crate::skeleton::layout::{Instance, InstanceId};
use crate::skeleton::{NodeId, Skeleton, Thread, ThreadIndex};
use crate::summarize::side_effects::SideEffect;
use crate::summarize::state::State;
use crate::summarize::sync_words::{DeadlockRead, DeadlockWords};
use crate::summarize::{Execution, Refused};
use leno_ir::analysis::points_to::{AbstractObject, ObjectSet};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::program::{Body, FuncId, ObjectKind, Place, Span, Storage, TerminatorKind};
use leno_logic::term::{Pattern, Sort, Term, Terms};
use leno_symbolic::contents::Initial;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How calls are executed.
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

/// What is passed for a parameter, as far as it selects the summary.
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
    pub side_effects: Vec<(SideEffect, Term)>,
    pub reading: Vec<(u64, Term)>,
}

/// See the module.
pub(crate) struct FunctionSummary {
    pub skeleton: Skeleton,
    pub deadlock_reads: Vec<DeadlockRead>,
    /// None if the function never returns.
    pub exit: Option<Exit>,
    /// The variable that stands for the condition under which it is called; and all other variables.
    pub entered: Term,
    pub open: Recording,
    /// All its terms, for instantiation.
    pub pattern: Pattern,
    /// How many instructions were executed for it.
    pub work: u64,
}

/// What is variable while a function is being summarised.
pub(crate) struct Recording {
    /// Instances and activations from these on belong to the function.
    first_instance: InstanceId,
    first_activation: usize,
    /// The number of executed instructions at which to give up.
    most_work: u64,
    /// The variable of the thread's number, plus one.
    pub me: Term,
    pub parameters: Vec<Option<Term>>,
    /// The parameters that steer, and those that are constants in the call at hand.
    pub steering: Vec<bool>,
    constants: Vec<bool>,
    /// Terms that have been searched for parameters that steer.
    seen: FxHashSet<Term>,
    /// Variables of private memory of the caller: by instance, offset and length.
    pub borrowed: BTreeMap<(InstanceId, u64, u32), Term>,
    is_borrowed: FxHashSet<Term>,
    /// How often read-write locks are held for reading.
    pub reading: BTreeMap<u64, Term>,
    /// What it allocates: a variable for the address of each.
    pub allocations: Vec<Allocation>,
    /// Private instances of the caller that must be alive.
    pub touched: BTreeSet<InstanceId>,
    /// Shared instances whose lifetimes must not have ended.
    pub assumed: BTreeSet<InstanceId>,
}

/// An allocation, of which each call makes an instance.
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
    /// Functions that cannot be summarised.
    unsummarizable: BTreeSet<FuncId>,
    /// What is known of calls that were executed where they were made.
    pub executed: FxHashMap<CallPattern, ExecutedCalls>,
}

/// Calls of one pattern that were executed: how many, and how many instructions that took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExecutedCalls {
    pub calls: u32,
    pub work: u64,
}

/// Calls of one pattern that are executed before a summary is made.
const CALLS_TO_PAY: u32 = 2;

impl ExecutedCalls {
    /// How many instructions a summary may take; None if it is too early for one.
    pub fn most_work(&self) -> Option<u64> {
        (self.calls >= CALLS_TO_PAY).then(|| self.work / u64::from(self.calls) * 3 / 2)
    }
}

/// What is saved while a function is executed to summarise it.
struct SavedContext {
    skeleton: Skeleton,
    recording: Option<Box<Recording>>,
    deadlock_words: DeadlockWords,
    thread: ThreadIndex,
    last: NodeId,
    activations: usize,
    here: (Place, Span),
}

impl Execution<'_> {
    /// Which summary a call needs; None if there cannot be one.
    pub(crate) fn pattern_of(&self, func: FuncId, args: &[Option<Term>]) -> Option<CallPattern> {
        if self.summaries.unsummarizable.contains(&func) || self.facts.is_recursive(func) {
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

    /// Makes a summary for a call with these arguments, unless it takes more than `most` instructions. If one of the
    /// arguments steers, the call has another pattern afterwards.
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
            Err(_) => _ = self.summaries.unsummarizable.insert(pattern.func),
        }
    }

    /// Executes a function for an unknown call.
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
        let saved = self.begin(Recording {
            first_instance: self.layout.next(),
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
        let (skeleton, deadlock_reads, Some(open)) = self.end(saved) else {
            return (Err(Refused::new("no function is being summarised")), Vec::new());
        };
        self.layout.hide_from(open.first_instance);
        let steering = open.steering.clone();
        let summary = exit.and_then(|exit| self.close(exit, skeleton, deadlock_reads, entered, *open));
        (summary.map(|summary| FunctionSummary { work, ..summary }), steering)
    }

    fn begin(&mut self, recording: Recording) -> SavedContext {
        let never = self.terms.bool(false);
        let mut skeleton = Skeleton::default();
        // Node 0 stands for the last node before the call.
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
            reading: Vec::new(),
            inputs: Vec::new(),
        });
        SavedContext {
            activations: self.active.len(),
            here: self.here,
            skeleton: std::mem::replace(&mut self.skeleton, skeleton),
            recording: self.recording.replace(Box::new(recording)),
            deadlock_words: std::mem::take(&mut self.deadlock_words),
            thread: std::mem::replace(&mut self.thread, thread),
            last: std::mem::replace(&mut self.last, last),
        }
    }

    fn end(&mut self, saved: SavedContext) -> (Skeleton, Vec<DeadlockRead>, Option<Box<Recording>>) {
        let skeleton = std::mem::replace(&mut self.skeleton, saved.skeleton);
        let deadlock_reads = std::mem::replace(&mut self.deadlock_words, saved.deadlock_words).reads;
        let recording = std::mem::replace(&mut self.recording, saved.recording);
        self.active.truncate(saved.activations);
        (self.thread, self.last) = (saved.thread, saved.last);
        (self.current, self.undefined_word, self.here) = (None, None, saved.here);
        (skeleton, deadlock_reads, recording)
    }

    /// Makes a summary of the result of the execution.
    fn close(
        &mut self,
        exit: Option<(State, Option<Term>)>,
        skeleton: Skeleton,
        deadlock_reads: Vec<DeadlockRead>,
        entered: Term,
        open: Recording,
    ) -> Result<FunctionSummary, Refused> {
        // (A doubt may disappear where the arguments are known: then a call had better be executed.)
        if !skeleton.gaps.is_empty() || !skeleton.doubts.is_empty() {
            return Err(Refused::new("what a function does is not known exactly"));
        }
        if self.facts.has_read_locks && !skeleton.waits.is_empty() {
            return Err(Refused::new("a function waits, and its caller may hold locks for reading"));
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
        roots.extend(deadlock_reads.iter().flat_map(|look| [look.address, look.value]));
        roots.extend(open.allocations.iter().flat_map(|allocation| [allocation.address, allocation.path]));
        if let Some(exit) = &exit {
            roots.push(exit.path);
            roots.extend(exit.result);
            roots.extend(exit.cells.iter().map(|(_, _, _, value)| *value));
            roots.extend(exit.reading.iter().map(|(_, value)| *value));
            for (effect, condition) in &exit.side_effects {
                roots.push(*condition);
                roots.extend(effect.lock());
            }
        }
        let pattern = Pattern::new(&self.terms, &roots, |_| true);
        Ok(FunctionSummary { skeleton, deadlock_reads, exit, entered, open, pattern, work: 0 })
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
        Ok(Exit { path: state.path, result, cells, side_effects: state.side_effects.since_start(), reading })
    }

    // --- what is asked while a function is being summarised

    /// Notes that the execution of a function depends on this condition or address: the parameters in it steer. Refused
    /// if it depends on anything else that only a call knows.
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

    /// What a private instance of the caller holds where the function that is being summarised has not written. None if
    /// the instance belongs to the function, or is constant.
    pub(crate) fn borrowed(&mut self, terms: &mut Terms, id: InstanceId, offset: u64, bytes: u32) -> Option<Term> {
        let instance = self.layout.get(id);
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
        let is_shared =
            self.facts.points_to.object(what).is_some_and(|object| self.facts.shared.of(object) == Sharing::Shared);
        if !is_shared || storage != Storage::Heap {
            self.cannot_be_summarized("a function allocates private memory")?;
        }
        let address = self.terms.variable(Sort::Bits(self.program.model.pointer_bits().into()), "allocated");
        if let Some(recording) = &mut self.recording {
            recording.allocations.push(Allocation { address, path, what, size, initial });
        }
        Ok(address)
    }

    /// Whether all instances of a private object that a pointer may mean exist already, for every caller.
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

    /// Whether the lifetime of a shared instance that is not on the heap has certainly not ended.
    pub(crate) fn is_surely_alive(&mut self, id: InstanceId) -> bool {
        let instance = self.layout.get(id);
        let is_static = matches!(self.facts.points_to.objects()[instance.object], AbstractObject::Static(_));
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

    /// Whether the stack objects of an activation can be the same instances at every call: their addresses do not
    /// outlive it.
    pub(crate) fn forgets_slots(&mut self, func: FuncId, slots: &[InstanceId]) -> bool {
        let slots: Vec<_> = slots.iter().map(|id| self.layout.get(*id)).collect();
        if !slots.iter().any(|slot| slot.is_pointed_to || slot.sharing == Sharing::Shared) {
            return true;
        }
        let stored = self.facts.objects_in_memory();
        let mut returned = ObjectSet::new();
        if let Body::Blocks(blocks) = &self.program.functions[func].body {
            for block in blocks {
                if let TerminatorKind::Return(Some(value)) = &block.terminator.kind {
                    returned.union_with(&self.facts.points_to.points_to(func, value));
                }
            }
        }
        let is_kept = |slot: &&Instance| {
            slot.sharing == Sharing::Shared || stored.contains(slot.object) || returned.contains(slot.object)
        };
        !slots.iter().any(is_kept)
    }
}
