//! Starting, joining and detaching threads.

use crate::skeleton::{Join, Until};
use crate::summarize::state::State;
use crate::summarize::{Execution, Frame, Refused, Started};
use leno_ir::interp::ViolationKind;
use leno_ir::program::Expr;
use leno_logic::term::{Sort, Term};

impl Execution<'_> {
    pub(crate) fn spawn(
        &mut self,
        frame: &mut Frame,
        mut state: State,
        handle: Option<&leno_ir::program::Access>,
        func: &Expr,
        args: &[Expr],
    ) -> Result<Option<State>, Refused> {
        self.cannot_be_summarized("a function starts a thread")?;
        self.affect(&mut state);
        let mut values = Vec::new();
        for arg in args {
            values.push(self.evaluate(frame, &mut state, arg)?);
        }
        let node = self.next_node(&mut state);
        self.step(node, state.path);
        self.current = Some(node);
        let word = u32::from(self.program.model.pointer_bits());
        let mut stored = self.terms.bits(word, 0);
        for (condition, func) in self.resolve(frame, &mut state, func)? {
            let path = self.terms.and2(state.path, condition);
            if self.terms.as_bool(path) == Some(false) {
                continue;
            }
            let number = self.skeleton.threads.len();
            let parent = &self.skeleton.threads[self.thread].name;
            let index = self.add_thread(format!("{parent}.{number}"), Some((node, path)));
            let own = self.skeleton.threads[index].handle;
            stored = self.terms.ite(condition, own, stored);
            self.started.push(Started { index, func, args: values.clone(), path });
        }
        let after = match handle {
            None => Some(state),
            Some(access) => {
                let address = self.evaluate(frame, &mut state, &access.ptr)?;
                let width = self.width(access.ty);
                let value = self.fit(stored, width);
                self.store_at(frame, state, access, address, value, Some(node))?
            }
        };
        self.current = None;
        Ok(after)
    }

    pub(crate) fn join(&mut self, state: State, dst: Option<leno_ir::program::LocalId>, handle: Term) -> Option<State> {
        let own_handle = self.skeleton.threads[self.thread].handle;
        let itself = self.terms.eq(handle, own_handle);
        let joins_itself = self.terms.and2(state.path, itself);
        self.violate(ViolationKind::InvalidThread, joins_itself);
        let another = self.terms.not(itself);
        let mut state = self.restrict(state, another)?;
        self.affect(&mut state);
        let before = self.last;
        let done = self.terms.variable(Sort::Bool, "joined");
        let at_once = state.section.map(|here| (self.terms.variable(Sort::Bool, "joined at once"), here));
        if let Some((at_once, _)) = at_once {
            self.split_section(&mut state, at_once);
        }
        let node = self.next_node(&mut state);
        let word = u32::from(self.program.model.pointer_bits());
        let result = dst.map(|_| self.terms.variable(Sort::Bits(word), "joined result"));
        if self.question.properties.deadlock {
            self.add_wait(&state, before, done, Until::End(handle));
        }
        let invalid = self.invalid_handle(state.path);
        if let Some((at_once, _)) = at_once {
            let ends = invalid.map_or(done, |invalid| self.terms.or2(done, invalid));
            self.goes_on_at_once(state.path, at_once, ends);
        }
        let (is_detach, path) = (false, state.path);
        self.skeleton.joins.push(Join { is_detach, invalid, done, node, path, handle, result, at_once });
        let path = self.terms.and2(state.path, done);
        self.step(node, path);
        if let (Some(dst), Some(result)) = (dst, result) {
            state.set_local(dst, result);
        }
        self.restrict(state, done)
    }

    pub(crate) fn detach(&mut self, mut state: State, handle: Term) -> Option<State> {
        self.affect(&mut state);
        let node = self.next_node(&mut state);
        let invalid = self.invalid_handle(state.path);
        let valid = invalid.map_or(Term::TRUE, |invalid| self.terms.not(invalid));
        let path = self.terms.and2(state.path, valid);
        self.step(node, path);
        let (done, result) = (valid, None);
        let (is_detach, path, at_once) = (true, state.path, None);
        self.skeleton.joins.push(Join { is_detach, invalid, done, node, path, handle, result, at_once });
        self.restrict(state, valid)
    }

    /// A variable that may be true only where a handle is not valid; composition defines it.
    pub(crate) fn invalid_handle(&mut self, path: Term) -> Option<Term> {
        if !self.question.properties.covers(ViolationKind::InvalidThread) {
            return None;
        }
        let invalid = self.terms.variable(Sort::Bool, "no thread");
        let bad = self.terms.and2(path, invalid);
        self.violate(ViolationKind::InvalidThread, bad);
        Some(invalid)
    }
}
