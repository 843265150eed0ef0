//! Steps on the words of a synchronisation object: all of them are read, some are written, and the step may have to wait.
//!
//! A step that has to wait occurs only if it reads words with which it is enabled. In an atomic section it is looked at them first: if it
//! has to wait, the section is split (`seams`).

use crate::access::{Reached, UNDEFINED};
use crate::objects::Initial;
use crate::skeleton::{Event, Moment, Role, ThreadIndex, Unit, Until, Wait};
use crate::state::State;
use crate::summarize::{Frame, Refused, Summarizer};
use crate::sync::Enabled;
use leno_ir::interp::ViolationKind;
use leno_ir::points_to::{AbstractObject, ObjectSet};
use leno_ir::program::Expr;
use leno_logic::term::{Sort, Term};

/// A word that is read at the moment when a deadlock is looked for.
pub(crate) struct Look {
    pub address: Term,
    pub value: Term,
    pub targets: ObjectSet,
}

/// From the old words: whether to wait, and for each word whether and what to write.
type Compute<'a, S> = dyn FnMut(&mut S, &[Term]) -> (Enabled, Vec<(Term, Term)>) + 'a;

/// The words of an object that a step is about.
struct Words<'a> {
    address: Term,
    offsets: &'a [u64],
    /// Whether somebody must have made the object before.
    must_be_defined: bool,
}

impl Summarizer<'_> {
    /// A step that makes a synchronisation object: `compute` gives what to write into its words.
    pub(crate) fn make_words(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        offsets: &[u64],
        compute: &mut Compute<'_, Self>,
    ) -> Result<Option<(State, Vec<Term>)>, Refused> {
        let words = Words { address: place.1, offsets, must_be_defined: false };
        self.update_words(frame, state, place, words, compute)
    }

    /// A step on some words of a synchronisation object: reads all of them, then writes some. `compute` gets the old words and
    /// gives the condition to go on, and for each word whether and what to write.
    pub(crate) fn words(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        offsets: &[u64],
        compute: &mut Compute<'_, Self>,
    ) -> Result<Option<(State, Vec<Term>)>, Refused> {
        let words = Words { address: place.1, offsets, must_be_defined: true };
        self.update_words(frame, state, place, words, compute)
    }

    fn update_words(
        &mut self,
        frame: &Frame,
        state: State,
        place: (&Expr, Term),
        words: Words<'_>,
        compute: &mut Compute<'_, Self>,
    ) -> Result<Option<(State, Vec<Term>)>, Refused> {
        let (pointer, length) = (place.0, words.offsets.iter().max().map_or(4, |last| last + 4));
        let Some((mut state, reached)) = self.reach(frame, state, pointer, place.1, length, true)? else {
            return Ok(None);
        };
        let (units, old) = self.read_words(&mut state, &reached, &words)?;
        let (Some(section), (Enabled::When(condition) | Enabled::Lock(condition), _)) =
            (state.section, compute(self, &old))
        else {
            return self.make_step(state, reached, words, (units, old), None, compute);
        };
        // Does the section have to wait here? It goes on at another moment in any case.
        let undefined = self.is_undefined(old[0], &words, &reached);
        let at_once = self.terms.or2(condition, undefined);
        let mut look = self.event(&state, reached.targets.clone(), false, true);
        (look.reads, look.role) = (units, Role::Look);
        self.add_event(&mut state, Some(section), look, Term::TRUE);
        self.split_section(&mut state, at_once);
        let Some((mut state, reached)) = self.reach(frame, state, pointer, place.1, length, true)? else {
            return Ok(None);
        };
        let read = self.read_words(&mut state, &reached, &words)?;
        self.make_step(state, reached, words, read, Some(at_once), compute)
    }

    /// The words of a synchronisation object, and how they are read from shared memory.
    fn read_words(
        &mut self,
        state: &mut State,
        reached: &Reached,
        words: &Words<'_>,
    ) -> Result<(Vec<Unit>, Vec<Term>), Refused> {
        let (mut units, mut values) = (Vec::new(), Vec::new());
        for offset in words.offsets {
            let at = self.word_at(words.address, *offset);
            let mut value = None;
            if let Some(condition) = reached.shared {
                let (read, unit) = self.shared_read(state, at, 4, condition);
                units.push(unit);
                value = Some(read);
            }
            for (condition, id) in reached.private.iter().rev() {
                if self.is_borrowed(*id) && self.instances.get(*id).initial == Initial::Undefined {
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
        words: Words<'_>,
        (units, old): (Vec<Unit>, Vec<Term>),
        at_once: Option<Term>,
        compute: &mut Compute<'_, Self>,
    ) -> Result<Option<(State, Vec<Term>)>, Refused> {
        let undefined = self.is_undefined(old[0], &words, &reached);
        let (enabled, new) = compute(self, &old);
        if let Some(condition) = enabled.condition() {
            let goes_on = self.terms.variable(Sort::Bool, "goes on");
            if let Some(at_once) = at_once {
                self.goes_on_at_once(state.path, at_once, goes_on);
            }
            let condition = self.terms.or2(condition, undefined);
            let implied = self.terms.implies(goes_on, condition);
            self.skeleton.constraints.push(implied);
            if self.properties.deadlock {
                let later = self.words_later(&reached, &words, &old);
                let (enabled, _) = compute(self, &later);
                let undefined = self.is_undefined(later[0], &words, &reached);
                let condition = enabled.condition().unwrap_or(condition);
                let condition = self.terms.or2(condition, undefined);
                let until = match enabled {
                    Enabled::Lock(_) => Until::Lock { free: condition, owner: later[0] },
                    _ => Until::Enabled(condition),
                };
                let (thread, after, path) = (self.thread, self.last, state.path);
                self.skeleton.waits.push(Wait { thread, after, path, goes_on, until });
            }
            let Some(going) = self.restrict(state, goes_on) else { return Ok(None) };
            state = going;
        }
        let mut writes = Vec::new();
        let defined = self.terms.not(undefined);
        for (offset, (condition, value)) in words.offsets.iter().zip(new) {
            let condition = self.terms.and2(condition, defined);
            if self.terms.as_bool(condition) == Some(false) {
                continue;
            }
            let at = self.word_at(words.address, *offset);
            if let Some(shared) = reached.shared {
                let condition = self.terms.and2(shared, condition);
                writes.push(Unit { condition, address: at, value, bytes: 4 });
            }
            for (here, id) in &reached.private {
                let condition = self.terms.and2(*here, condition);
                self.private_write(&mut state, *id, condition, at, 4, value)?;
            }
        }
        let mut event = self.event(&state, reached.targets.clone(), false, true);
        (event.reads, event.writes) = (units, writes);
        self.add_event(&mut state, None, event, reached.shared.unwrap_or(Term::TRUE));
        let bad = self.terms.and2(state.path, undefined);
        self.violate(ViolationKind::Uninitialised, bad);
        Ok(self.restrict(state, defined).map(|state| (state, old)))
    }

    /// Whether the first word is that of an object that nobody has made; static ones are made from the beginning.
    fn is_undefined(&mut self, word: Term, words: &Words<'_>, reached: &Reached) -> Term {
        let is_static = |object| matches!(self.points_to.objects()[object], AbstractObject::Static(_));
        if !words.must_be_defined || reached.targets.iter().all(is_static) {
            return Term::FALSE;
        }
        let undefined = self.terms.bits(32, UNDEFINED);
        self.terms.eq(word, undefined)
    }

    /// The words of an object at the moment when a deadlock is looked for.
    fn words_later(&mut self, reached: &Reached, words: &Words<'_>, now: &[Term]) -> Vec<Term> {
        let mut later = Vec::new();
        for (offset, &now) in words.offsets.iter().zip(now) {
            let Some(shared) = reached.shared else {
                later.push(now);
                continue;
            };
            let address = self.word_at(words.address, *offset);
            let value = match self.later.get(&address) {
                Some(value) => *value,
                None => {
                    let value = self.terms.variable(Sort::Bits(32), "later");
                    self.later.insert(address, value);
                    self.looks.push(Look { address, value, targets: reached.targets.clone() });
                    value
                }
            };
            later.push(self.terms.ite(shared, value, now));
        }
        later
    }

    /// The moment when a deadlock is looked for: all that threads wait for is read at it.
    pub(crate) fn add_moment(&mut self) {
        let nobody = ThreadIndex(self.skeleton.threads.len() as u32);
        let node = self.skeleton.add_node(nobody);
        let asked = self.terms.variable(Sort::Bool, "deadlock");
        for look in std::mem::take(&mut self.looks) {
            let (place, span) = self.here;
            let read = Unit { condition: asked, address: look.address, value: look.value, bytes: 4 };
            self.skeleton.events.push(Event {
                node,
                thread: nobody,
                place,
                span,
                occurs: asked,
                reads: vec![read],
                writes: Vec::new(),
                targets: look.targets,
                is_plain: false,
                is_atomic: true,
                in_section: false,
                role: Role::Other,
            });
        }
        self.skeleton.moment = Some(Moment { node, asked });
    }
}
