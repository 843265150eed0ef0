//! Scopes, and what has to happen on every way out of one.
//!
//! A variable with a `cleanup` attribute opens a scope of its own that lasts to the end of the block around it. Leaving
//! scopes, by falling through, `break`, `continue`, `return` or `goto`, runs the cleanups of all that are left,
//! innermost first. Where a forward `goto` leads is known only when its label is reached, so until then it waits.

use super::body::{Home, Lowering};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::{FunctionBody, LabelId, VarId};
use leno_ir::program::{BlockId, Expr};

pub(super) struct Scopes {
    /// Without cleanups there is nothing to keep track of.
    has_cleanups: bool,
    open: Vec<Scope>,
    made: u32,
    /// For each label that was reached, the scopes around it.
    labels: Vec<(LabelId, Vec<u32>)>,
    waiting: Vec<Waiting>,
    jumps: Vec<Jump>,
}

#[derive(Clone, Copy)]
struct Scope {
    id: u32,
    cleanup: Option<VarId>,
}

/// A `goto` whose label has not been reached.
struct Waiting {
    label: LabelId,
    block: BlockId,
    open: Vec<Scope>,
    span: Span,
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
            open: Vec::new(),
            made: 0,
            labels: Vec::new(),
            waiting: Vec::new(),
            jumps: Vec::new(),
        }
    }

    fn open(&mut self, cleanup: Option<VarId>) {
        self.open.push(Scope { id: self.made, cleanup });
        self.made += 1;
    }
}

impl Lowering<'_, '_> {
    pub fn open_scope(&mut self) {
        if self.scopes.has_cleanups {
            self.scopes.open(None);
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
        if !self.scopes.has_cleanups {
            return Ok(());
        }
        while let Some(scope) = self.scopes.open.pop() {
            let Some(var) = scope.cleanup else { break };
            self.run_cleanup(var)?;
        }
        Ok(())
    }

    /// Runs the cleanups of all scopes beyond `depth`, which stay open for the code that follows.
    fn run_cleanups_down_to(&mut self, depth: usize) -> Result<()> {
        for index in (depth..self.scopes.open.len()).rev() {
            if let Some(var) = self.scopes.open[index].cleanup {
                self.run_cleanup(var)?;
            }
        }
        Ok(())
    }

    pub fn run_all_cleanups(&mut self) -> Result<()> {
        self.run_cleanups_down_to(0)
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

    // ---- break and continue

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
            self.run_cleanups_down_to(jump.depth)?;
            self.b.goto(jump.on_break);
        }
        Ok(())
    }

    /// Goes to the next turn of the innermost loop.
    pub fn continue_loop(&mut self) -> Result<()> {
        let found = self.scopes.jumps.iter().rev().find_map(|jump| Some((jump.on_continue?, jump.depth)));
        if let Some((block, depth)) = found {
            self.run_cleanups_down_to(depth)?;
            self.b.goto(block);
        }
        Ok(())
    }

    // ---- goto

    pub fn jump_to(&mut self, label: LabelId, span: Span) -> Result<()> {
        let block = self.label(label);
        if !self.scopes.has_cleanups {
            self.b.goto(block);
            return Ok(());
        }
        let known = self.scopes.labels.iter().find(|(known, _)| *known == label);
        if let Some((_, around)) = known {
            let around = around.clone();
            let depth = common_depth(&self.scopes.open, &around);
            self.run_cleanups_down_to(depth)?;
            self.b.goto(block);
            return Ok(());
        }
        let stub = self.b.new_block();
        self.b.goto(stub);
        let open = self.scopes.open.clone();
        self.scopes.waiting.push(Waiting { label, block: stub, open, span });
        Ok(())
    }

    /// A label is reached: control flows into its block, and the jumps that waited for it can go.
    pub fn place_label(&mut self, label: LabelId) -> Result<()> {
        let block = self.label(label);
        self.b.goto(block);
        if self.scopes.has_cleanups {
            let around: Vec<u32> = self.scopes.open.iter().map(|scope| scope.id).collect();
            self.scopes.labels.push((label, around.clone()));
            let (ready, waiting) = std::mem::take(&mut self.scopes.waiting).into_iter().partition(|w| w.label == label);
            self.scopes.waiting = waiting;
            self.release_waiting(ready, &around, block)?;
        }
        self.b.switch_to(block);
        Ok(())
    }

    fn release_waiting(&mut self, ready: Vec<Waiting>, around: &[u32], block: BlockId) -> Result<()> {
        for jump in ready {
            self.b.switch_to(jump.block);
            self.at(jump.span);
            let depth = common_depth(&jump.open, around);
            for scope in jump.open[depth..].iter().rev() {
                if let Some(var) = scope.cleanup {
                    self.run_cleanup(var)?;
                }
            }
            self.b.goto(block);
        }
        Ok(())
    }
}

/// How many scopes a jump stays in.
fn common_depth(open: &[Scope], around: &[u32]) -> usize {
    open.iter().zip(around).take_while(|(scope, id)| scope.id == **id).count()
}
