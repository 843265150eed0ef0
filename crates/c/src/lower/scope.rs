//! Scopes: the lifetimes of their variables, and what has to happen on every way in and out.
//!
//! A block is a scope; so are a loop, an `if` or a `switch` as a whole and their parts (C11 6.8.4, 6.8.5), which matters
//! for compound literals. A variable with a `cleanup` attribute opens a scope of its own that lasts to the end of the
//! block around it. Leaving scopes, by falling through, `break`, `continue` or `goto`, runs the cleanups of all that are
//! left and ends the lives of their variables, innermost first. (A `return` runs cleanups only: the end of the
//! activation ends all lives. So does nothing happen to the variables of the outermost block.)
//!
//! A life begins where the declaration or the compound literal is reached: a thread that uses the address from the round before
//! until then has lost the object. A jump that gets past declarations, into a block or forward in the same one,
//! begins the lives of what it passes; a jump back leaves the variables alive until their declarations are reached
//! again, except arrays of variable length, whose lives end (C11 6.2.4).
//!
//! Where a forward `goto` leads is known only when its label is reached, so until then it waits. All this is written
//! down without asking whether it matters; what does not is dropped when the function is finished (`lifetimes`).

use super::body::{Home, Lowering};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::{FunctionBody, LabelId, StmtId, StmtKind, VarId};
use leno_ir::program::{BlockId, Expr, LocalId, Op, SlotId, Storage};

pub(super) struct Scopes {
    has_cleanups: bool,
    /// Control may go back without a loop, and into blocks.
    has_gotos: bool,
    open: Vec<Scope>,
    made: u32,
    /// For each label that was reached, the scopes around it.
    labels: Vec<(LabelId, Vec<Scope>)>,
    waiting: Vec<Waiting>,
    jumps: Vec<Jump>,
    /// How many loops there are around what is lowered now.
    loops: u32,
}

#[derive(Clone, Default)]
struct Scope {
    id: u32,
    cleanup: Option<VarId>,
    /// The variables whose declarations have been reached, and compound literals.
    lives: Vec<Life>,
    /// Variables whose declarations come later, if a jump back could have left them alive.
    later: Vec<VarId>,
    /// Objects that live to the end of the full expression.
    temporaries: Vec<SlotId>,
}

/// Something that lives in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Register(LocalId),
    Slot(SlotId),
    /// An array of variable length: the register holds its address.
    Array(LocalId),
}

/// A jump whose label has not been reached.
struct Waiting {
    label: LabelId,
    block: BlockId,
    open: Vec<Scope>,
    span: Span,
    runs_cleanups: bool,
}

/// Where `break` and `continue` go, and how many scopes are open there.
#[derive(Clone, Copy)]
struct Jump {
    on_break: BlockId,
    on_continue: Option<BlockId>,
    depth: usize,
}

impl Scopes {
    pub fn new(body: &FunctionBody) -> Scopes {
        Scopes {
            has_cleanups: body.vars.iter().any(|var| var.cleanup.is_some()),
            has_gotos: body.has_named_labels,
            open: Vec::new(),
            made: 0,
            labels: Vec::new(),
            waiting: Vec::new(),
            jumps: Vec::new(),
            loops: 0,
        }
    }

    fn open(&mut self, cleanup: Option<VarId>) {
        self.open.push(Scope { id: self.made, cleanup, ..Scope::default() });
        self.made += 1;
    }

    /// The block that a declaration belongs to.
    fn block(&mut self) -> Option<&mut Scope> {
        self.open.iter_mut().rev().find(|scope| scope.cleanup.is_none())
    }

    /// Whether what is lowered now may be executed again in the same activation.
    fn may_be_repeated(&self) -> bool {
        self.has_gotos || self.loops > 0
    }
}

impl Lowering<'_, '_> {
    pub fn open_scope(&mut self) {
        self.scopes.open(None);
    }

    /// A block with these statements.
    pub fn open_block(&mut self, body: &[StmtId]) {
        self.open_scope();
        if self.scopes.has_gotos {
            let mut later = Vec::new();
            self.declared_in(body, &mut later);
            if let Some(scope) = self.scopes.open.last_mut() {
                scope.later = later;
            }
        }
    }

    /// The variables that a block declares itself.
    fn declared_in(&self, body: &[StmtId], found: &mut Vec<VarId>) {
        for id in body {
            let mut id = *id;
            while let StmtKind::Label { body, .. } = &self.unit.stmts[id].kind {
                id = *body;
            }
            match &self.unit.stmts[id].kind {
                StmtKind::Group(body) => self.declared_in(body, found),
                StmtKind::Declare { var, .. } => found.push(*var),
                _ => {}
            }
        }
    }

    /// A variable with a cleanup comes into being.
    pub fn open_cleanup(&mut self, var: VarId) {
        if self.body.vars[var].cleanup.is_some() {
            self.scopes.open(Some(var));
        }
    }

    /// Falls out of the innermost block scope.
    pub fn close_scope(&mut self) -> Result<()> {
        while let Some(scope) = self.scopes.open.pop() {
            self.leave(&scope, self.scopes.open.is_empty(), true)?;
            if scope.cleanup.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Leaves all scopes beyond `depth`, which stay open for the code that follows.
    fn leave_down_to(&mut self, depth: usize) -> Result<()> {
        for index in (depth..self.scopes.open.len()).rev() {
            let scope = self.scopes.open[index].clone();
            self.leave(&scope, index == 0, true)?;
        }
        Ok(())
    }

    /// What happens on a way out of a scope.
    fn leave(&mut self, scope: &Scope, is_outermost: bool, runs_cleanups: bool) -> Result<()> {
        if let Some(var) = scope.cleanup.filter(|_| runs_cleanups) {
            self.run_cleanup(var)?;
        }
        if is_outermost {
            return Ok(());
        }
        for slot in &scope.temporaries {
            self.b.push(Op::EndLife { slot: *slot });
        }
        for life in scope.lives.iter().rev() {
            self.end_life(*life);
        }
        for var in &scope.later {
            if let Home::Slot(slot) = self.home(*var)?
                && !scope.lives.contains(&Life::Slot(slot))
            {
                self.b.push(Op::EndLife { slot });
            }
        }
        Ok(())
    }

    pub fn run_all_cleanups(&mut self) -> Result<()> {
        for index in (0..self.scopes.open.len()).rev() {
            if let Some(var) = self.scopes.open[index].cleanup {
                self.run_cleanup(var)?;
            }
        }
        Ok(())
    }

    pub fn has_cleanups(&self) -> bool {
        self.scopes.has_cleanups
    }

    fn run_cleanup(&mut self, var: VarId) -> Result<()> {
        let Some(cleanup) = self.body.vars[var].cleanup else { return Ok(()) };
        if !self.b.is_reachable() {
            return Ok(());
        }
        let address = match self.home(var)? {
            Home::Slot(slot) => Expr::Slot(slot),
            Home::Dynamic(local) => Expr::Local(local),
            Home::Register(_) => return Ok(()),
        };
        let target = self.b.link.function(self.unit_index, cleanup);
        self.b.call(target, vec![address]);
        Ok(())
    }

    // ---- lifetimes

    /// A declaration or a compound literal is reached: a life begins, to the end of the block.
    pub fn begins_in_block(&mut self, home: Home) {
        let life = match home {
            Home::Register(register) => Life::Register(register),
            Home::Slot(slot) => Life::Slot(slot),
            Home::Dynamic(register) => Life::Array(register),
        };
        if self.scopes.may_be_repeated() {
            self.begin_life(life);
        }
        if let Some(scope) = self.scopes.block()
            && !scope.lives.contains(&life)
        {
            scope.lives.push(life);
        }
    }

    /// An object lives to the end of the full expression.
    pub fn begins_in_expression(&mut self, slot: SlotId) {
        if self.scopes.may_be_repeated() {
            self.begin_life(Life::Slot(slot));
        }
        if let Some(scope) = self.scopes.block() {
            scope.temporaries.push(slot);
        }
    }

    /// The end of a full expression.
    pub fn end_temporaries(&mut self) {
        let ended = self.scopes.block().map(|scope| std::mem::take(&mut scope.temporaries));
        for slot in ended.into_iter().flatten() {
            self.b.push(Op::EndLife { slot });
        }
    }

    fn begin_life(&mut self, life: Life) {
        match life {
            Life::Register(register) => {
                self.b.before_assigning(register);
                self.b.push(Op::Undefine { dst: register });
            }
            Life::Slot(slot) => self.b.push(Op::BeginLife { slot }),
            // It is made where its declaration is reached.
            Life::Array(_) => {}
        }
    }

    fn end_life(&mut self, life: Life) {
        match life {
            Life::Register(_) => {}
            Life::Slot(slot) => self.b.push(Op::EndLife { slot }),
            Life::Array(register) => {
                self.b.push(Op::Free { ptr: Expr::Local(register), storage: Storage::Stack });
            }
        }
    }

    // ---- break and continue

    pub fn enter_loop(&mut self) {
        self.scopes.loops += 1;
    }

    pub fn leave_loop(&mut self) {
        self.scopes.loops -= 1;
    }

    /// `continue` inside a `switch` goes where that of the loop around it goes.
    pub fn open_jumps(&mut self, on_break: BlockId, on_continue: Option<BlockId>) {
        self.scopes.jumps.push(Jump { on_break, on_continue, depth: self.scopes.open.len() });
    }

    pub fn close_jumps(&mut self) {
        self.scopes.jumps.pop();
    }

    /// Leaves the innermost loop or switch.
    pub fn break_out(&mut self) -> Result<()> {
        if let Some(jump) = self.scopes.jumps.last().copied() {
            self.leave_down_to(jump.depth)?;
            self.b.goto(jump.on_break);
        }
        Ok(())
    }

    /// Goes to the next turn of the innermost loop.
    pub fn continue_loop(&mut self) -> Result<()> {
        let found = self.scopes.jumps.iter().rev().find_map(|jump| Some((jump.on_continue?, jump.depth)));
        if let Some((block, depth)) = found {
            self.leave_down_to(depth)?;
            self.b.goto(block);
        }
        Ok(())
    }

    // ---- goto

    pub fn jump_to(&mut self, label: LabelId, span: Span) -> Result<()> {
        let way = self.way_to(label, span, true)?;
        self.b.goto(way);
        Ok(())
    }

    /// A block from which control gets from here to a label, as soon as that is reached.
    pub fn way_to(&mut self, label: LabelId, span: Span, runs_cleanups: bool) -> Result<BlockId> {
        let block = self.b.new_block();
        let jump = Waiting { label, block, open: self.scopes.open.clone(), span, runs_cleanups };
        match self.scopes.labels.iter().find(|(known, _)| *known == label) {
            None => self.scopes.waiting.push(jump),
            Some((_, around)) => {
                let around = around.clone();
                let here = (self.b.current_block(), self.b.place());
                self.release_waiting(vec![jump], &around)?;
                self.b.come_back(here.0);
                if let Some((_, place)) = here.1 {
                    self.at(place);
                }
            }
        }
        Ok(block)
    }

    /// A label is reached: control flows into its block, and the jumps that waited for it can go.
    pub fn place_label(&mut self, label: LabelId) -> Result<()> {
        let block = self.label(label);
        self.b.goto(block);
        let around = self.scopes.open.clone();
        self.scopes.labels.push((label, around.clone()));
        let (ready, waiting) = std::mem::take(&mut self.scopes.waiting).into_iter().partition(|w| w.label == label);
        self.scopes.waiting = waiting;
        self.release_waiting(ready, &around)?;
        self.b.switch_to(block);
        Ok(())
    }

    fn release_waiting(&mut self, ready: Vec<Waiting>, around: &[Scope]) -> Result<()> {
        for jump in ready {
            self.b.switch_to(jump.block);
            self.at(jump.span);
            self.pass_between(&jump.open, around, jump.runs_cleanups)?;
            let label = self.label(jump.label);
            self.b.goto(label);
        }
        Ok(())
    }

    /// What happens on a jump from some scopes into others.
    fn pass_between(&mut self, from: &[Scope], to: &[Scope], runs_cleanups: bool) -> Result<()> {
        let common = from.iter().zip(to).take_while(|(a, b)| a.id == b.id).count();
        for (index, scope) in from.iter().enumerate().skip(common).rev() {
            self.leave(scope, index == 0, runs_cleanups)?;
        }
        for (here, there) in from.iter().zip(to).take(common) {
            let stay = here.lives.len().min(there.lives.len());
            let left = here.lives[stay..].iter().rev().filter(|life| matches!(life, Life::Array(_)));
            left.for_each(|life| self.end_life(*life));
            there.lives[stay..].iter().for_each(|life| self.begin_life(*life));
        }
        to[common..].iter().flat_map(|scope| &scope.lives).for_each(|life| self.begin_life(*life));
        Ok(())
    }
}
