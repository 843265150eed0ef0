//! Steps on the words of a synchronisation object: all of them are read, some are written, and the step may have to
//! wait.
//!
//! A step that may wait occurs only if it reads words with which it is enabled. In an atomic section the words are read
//! first: if the step has to wait, the section is split (`split_sections`).

use crate::skeleton::{DeadlockPoint, Event, NodeId, Role, Unit, Until, Wait};
use crate::summarize::access::{Accesses, Reached, UNDEFINED};
use crate::summarize::state::State;
use crate::summarize::{Execution, Frame, Refused};
use leno_ir::analysis::points_to::{AbstractObject, ObjectSet};
use leno_ir::interp::ViolationKind;
use leno_ir::program::{Expr, ObjectUse, SyncOp};
use leno_logic::term::{Sort, Term};
use leno_symbolic::contents::Initial;
use leno_symbolic::sync::{Caller, Enabled, Transition, makes_object, transition};
use leno_symbolic::update::Write;
use rustc_hash::FxHashMap;

/// A word that is read at the deadlock point.
pub(crate) struct DeadlockRead {
    pub address: Term,
    pub value: Term,
    pub targets: ObjectSet,
}

/// All of these words, each address once.
#[derive(Default)]
pub(crate) struct DeadlockWords {
    pub by_address: FxHashMap<Term, Term>,
    pub reads: Vec<DeadlockRead>,
}

impl DeadlockWords {
    pub fn add(&mut self, read: DeadlockRead) {
        self.by_address.insert(read.address, read.value);
        self.reads.push(read);
    }
}

/// A step on the words of a synchronisation object.
pub(crate) struct Step<'a> {
    pub op: &'a SyncOp,
    pub caller: Caller,
    pub address: Term,
    /// Where the words are.
    pub offsets: &'static [u64],
}

impl Execution<'_> {
    fn transition(&mut self, step: &Step<'_>, old: &[Term]) -> Transition {
        transition(&mut self.terms, step.op, step.caller, old)
    }

    /// Reads the words of a synchronisation object and writes some of them, in one step. Gives the transition from the
    /// words that were read.
    pub(crate) fn step_on_words(
        &mut self,
        frame: &Frame,
        state: State,
        pointer: &Expr,
        step: &Step<'_>,
    ) -> Result<Option<(State, Transition)>, Refused> {
        let length = self.length_of_object(step);
        let Some((mut state, reached)) = self.reach(frame, state, pointer, step.address, length, true)? else {
            return Ok(None);
        };
        let (units, old) = self.read_words(&mut state, &reached, step)?;
        let transition = self.transition(step, &old);
        let (Some(section), Some(condition)) = (state.section, transition.enabled.condition()) else {
            return self.make_step(state, reached, step, (units, old), transition, None);
        };
        // Does the section have to wait here? It continues at another node in any case.
        let undefined = self.is_undefined(&old, step, &reached);
        let at_once = self.terms.or2(condition, undefined);
        let targets = reached.targets.clone();
        let inspected = Accesses { reads: units, role: Role::Inspect, ..Accesses::synchronising(targets) };
        self.add_event(&mut state, Some(section), inspected, Term::TRUE);
        self.split_section(&mut state, at_once);
        let Some((mut state, reached)) = self.reach(frame, state, pointer, step.address, length, true)? else {
            return Ok(None);
        };
        let (units, old) = self.read_words(&mut state, &reached, step)?;
        let transition = self.transition(step, &old);
        self.make_step(state, reached, step, (units, old), transition, Some(at_once))
    }

    /// How many bytes must be there: all of the object, unless the step only leaves it, when it may be gone.
    fn length_of_object(&self, step: &Step<'_>) -> u64 {
        match step.op {
            // (The step is on the mutex.)
            SyncOp::CondSleep { .. } => SyncOp::CondRelock.object_bytes(self.program.model).into(),
            op if op.object_use() == ObjectUse::Leaves => step.offsets.iter().max().map_or(4, |last| last + 4),
            op => op.object_bytes(self.program.model).into(),
        }
    }

    /// The words of a synchronisation object, and how they are read from shared memory.
    pub(crate) fn read_words(
        &mut self,
        state: &mut State,
        reached: &Reached,
        step: &Step<'_>,
    ) -> Result<(Vec<Unit>, Vec<Term>), Refused> {
        let (mut units, mut values) = (Vec::new(), Vec::new());
        for offset in step.offsets {
            let at = self.word_at(step.address, *offset);
            let mut value = None;
            if let Some(condition) = reached.shared {
                let (read, unit) = self.shared_read(state, at, 4, condition);
                units.push(unit);
                value = Some(read);
            }
            for (condition, id) in reached.private.iter().rev() {
                if self.is_borrowed(*id) && self.layout.get(*id).initial == Initial::Undefined {
                    self.cannot_be_summarized("a function locks private memory of its caller")?;
                }
                self.undefined_word = Some(self.terms.bits(32, UNDEFINED));
                let here = self.private_read(state, *id, at, 4)?;
                self.undefined_word = None;
                value = Some(match value {
                    None => here,
                    Some(other) => self.terms.ite(*condition, here, other),
                });
            }
            values.push(value.unwrap_or_else(|| self.terms.bits(32, 0)));
        }
        Ok((units, values))
    }

    fn word_at(&mut self, address: Term, offset: u64) -> Term {
        let shift = self.terms.bits(self.terms.width(address), offset.into());
        self.terms.add(address, shift)
    }

    /// The step itself, with what was read. `at_once`: in a section, that it does not have to wait.
    fn make_step(
        &mut self,
        mut state: State,
        reached: Reached,
        step: &Step<'_>,
        (units, old): (Vec<Unit>, Vec<Term>),
        transition: Transition,
        at_once: Option<Term>,
    ) -> Result<Option<(State, Transition)>, Refused> {
        let undefined = self.is_undefined(&old, step, &reached);
        if let Some(condition) = transition.enabled.condition() {
            let goes_on = self.terms.variable(Sort::Bool, "goes on");
            if let Some(at_once) = at_once {
                self.goes_on_at_once(state.path, at_once, goes_on);
            }
            let condition = self.terms.or2(condition, undefined);
            let implied = self.terms.implies(goes_on, condition);
            self.skeleton.constraints.push(implied);
            if self.question.properties.deadlock {
                let later = self.words_later(&reached, step, &old);
                let enabled = self.transition(step, &later).enabled;
                let undefined = self.is_undefined(&later, step, &reached);
                let condition = enabled.condition().unwrap_or(condition);
                let condition = self.terms.or2(condition, undefined);
                let until = match (enabled, step.op, &later[..]) {
                    (Enabled::Lock(_), _, &[owner, ..]) => Until::Lock { free: condition, owner },
                    (_, SyncOp::ReadLock | SyncOp::WriteLock, &[_, writer]) => Until::ReadWrite {
                        enabled: condition,
                        writer,
                        address: self.terms.as_bits(step.address).unwrap_or(0) as u64,
                        is_write: matches!(step.op, SyncOp::WriteLock),
                    },
                    _ => Until::Enabled(condition),
                };
                self.add_wait(&state, self.last, goes_on, until);
            }
            let Some(going) = self.restrict(state, goes_on) else { return Ok(None) };
            state = going;
        }
        let mut writes = Vec::new();
        let defined = self.terms.not(undefined);
        for (offset, &Write { condition, value }) in step.offsets.iter().zip(&transition.writes) {
            let condition = self.terms.and2(condition, defined);
            if self.terms.as_bool(condition) == Some(false) {
                continue;
            }
            let at = self.word_at(step.address, *offset);
            if let Some(shared) = reached.shared {
                let condition = self.terms.and2(shared, condition);
                writes.push(Unit { condition, address: at, value, bytes: 4 });
            }
            for (here, id) in &reached.private {
                let condition = self.terms.and2(*here, condition);
                self.private_write(&mut state, *id, condition, at, 4, value)?;
            }
        }
        let accesses = Accesses { reads: units, writes, ..Accesses::synchronising(reached.targets.clone()) };
        self.add_event(&mut state, None, accesses, reached.shared.unwrap_or(Term::TRUE));
        let bad = self.terms.and2(state.path, undefined);
        self.violate(ViolationKind::Uninitialised, bad);
        Ok(self.restrict(state, defined).map(|state| (state, transition)))
    }

    /// A step of the thread that may have to wait.
    pub(crate) fn add_wait(&mut self, state: &State, after: NodeId, goes_on: Term, until: Until) {
        let reading = state.reading.iter().map(|(lock, count)| (*lock, *count)).collect();
        self.skeleton.waits.push(Wait { thread: self.thread, after, path: state.path, goes_on, until, reading });
    }

    /// The condition that the first word is that of an object that has not been initialised; static ones always are.
    pub(crate) fn is_undefined(&mut self, words: &[Term], step: &Step<'_>, reached: &Reached) -> Term {
        let Some(&word) = words.first() else { return Term::FALSE };
        let is_static = |object| matches!(self.facts.points_to.objects()[object], AbstractObject::Static(_));
        if makes_object(step.op) || reached.targets.iter().all(is_static) {
            return Term::FALSE;
        }
        let undefined = self.terms.bits(32, UNDEFINED);
        self.terms.eq(word, undefined)
    }

    /// The words of an object at the deadlock point.
    fn words_later(&mut self, reached: &Reached, step: &Step<'_>, now: &[Term]) -> Vec<Term> {
        let mut later = Vec::new();
        for (offset, &now) in step.offsets.iter().zip(now) {
            let Some(shared) = reached.shared else {
                later.push(now);
                continue;
            };
            let address = self.word_at(step.address, *offset);
            let value = match self.deadlock_words.by_address.get(&address) {
                Some(value) => *value,
                None => {
                    let value = self.terms.variable(Sort::Bits(32), "later");
                    self.deadlock_words.add(DeadlockRead { address, value, targets: reached.targets.clone() });
                    value
                }
            };
            later.push(self.terms.ite(shared, value, now));
        }
        later
    }

    /// Adds the deadlock point, at which all words that threads wait for are read.
    pub(crate) fn add_deadlock_point(&mut self) {
        let no_thread = self.skeleton.no_thread();
        let node = self.skeleton.add_node(no_thread);
        let asked = self.terms.variable(Sort::Bool, "deadlock");
        for look in std::mem::take(&mut self.deadlock_words.reads) {
            let (place, span) = self.here;
            let read = Unit { condition: asked, address: look.address, value: look.value, bytes: 4 };
            self.skeleton.events.push(Event {
                node,
                thread: no_thread,
                place,
                span,
                occurs: asked,
                reads: vec![read],
                writes: Vec::new(),
                known_reads: Vec::new(),
                targets: look.targets,
                is_plain: false,
                object: None,
                is_atomic: true,
                in_section: false,
                is_compound: false,
                role: Role::Other,
            });
        }
        self.skeleton.deadlock_point = Some(DeadlockPoint { node, asked });
    }
}
