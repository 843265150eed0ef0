//! All that is known of a program without running it, computed once and shared by all engines.
//!
//! Each fact is computed when it is first asked for, so that an engine which needs only the call graph does not pay for
//! locksets.
//!
//! ```
//! use leno_ir::analysis::facts::Facts;
//! use leno_ir::program::{BlockId, FuncId, Place};
//!
//! let program = leno_ir::text::parse("program lp64 entry &start
//! @lock = global size 40 align 8
//! @counter = global size 4 align 4
//! fn &start(%argc: i32, %argv: ptr) {
//! b0:
//!   spawn &increment(i64 0)
//!   spawn &increment(i64 0)
//!   exit i32 0
//! }
//! fn &increment(%unused: i64) -> i64 {
//!   local %old: i32
//! b0:
//!   mutex_lock @lock
//!   %old = load i32 @counter
//!   store i32 @counter = add(%old, i32 1)
//!   mutex_unlock @lock
//!   return i64 0
//! }
//! ")?;
//! let facts = Facts::new(&program);
//! let at = |func, index| Place { func: FuncId(func), block: BlockId(0), index };
//! let (spawn, load, store) = (at(0, 1), at(1, 1), at(1, 2));
//! assert!(facts.parallel().may_happen_in_parallel(load, store));
//! assert!(facts.parallel().may_happen_in_parallel(spawn, store));
//! assert!(facts.locksets().excludes(load, store), "both hold the lock");
//! # Ok::<(), leno_ir::text::TextError>(())
//! ```

use std::sync::OnceLock;

use crate::analysis::callgraph::CallGraph;
use crate::analysis::cfg::{Cfg, Dominators, Loops};
use crate::analysis::executions::Executions;
use crate::analysis::features::Features;
use crate::analysis::liveness::{Live, live};
use crate::analysis::locksets::Locksets;
use crate::analysis::offsets::{Address, Offsets};
use crate::analysis::parallel::Parallel;
use crate::analysis::points_to::PointsTo;
use crate::analysis::sharing::SharedObjects;
use crate::analysis::threads::ThreadRoots;
use crate::analysis::weak_topological_order::{Element, weak_topological_order};
use crate::index::IndexVec;
use crate::interp::private_slots;
use crate::program::{Expr, FuncId, Program};

/// The facts about one program.
#[derive(Debug)]
pub struct Facts<'p> {
    program: &'p Program,
    functions: IndexVec<FuncId, FunctionFacts>,
    points_to: OnceLock<PointsTo>,
    calls: OnceLock<CallGraph>,
    sharing: OnceLock<SharedObjects>,
    executions: OnceLock<Executions>,
    offsets: OnceLock<Offsets>,
    threads: OnceLock<ThreadRoots>,
    parallel: OnceLock<Parallel>,
    locksets: OnceLock<Locksets>,
    features: OnceLock<Features>,
}

/// The facts about one function with a body.
#[derive(Debug, Default)]
struct FunctionFacts {
    cfg: OnceLock<Option<Cfg>>,
    dominators: OnceLock<Option<Dominators>>,
    post_dominators: OnceLock<Option<Dominators>>,
    loops: OnceLock<Option<Loops>>,
    order: OnceLock<Vec<Element>>,
    private_slots: OnceLock<Vec<bool>>,
    liveness: OnceLock<Vec<Live>>,
}

impl<'p> Facts<'p> {
    pub fn new(program: &'p Program) -> Facts<'p> {
        Facts {
            program,
            functions: program.functions.iter().map(|_| FunctionFacts::default()).collect(),
            points_to: OnceLock::new(),
            calls: OnceLock::new(),
            sharing: OnceLock::new(),
            executions: OnceLock::new(),
            offsets: OnceLock::new(),
            threads: OnceLock::new(),
            parallel: OnceLock::new(),
            locksets: OnceLock::new(),
            features: OnceLock::new(),
        }
    }

    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Which objects may an address be the address of?
    pub fn points_to(&self) -> &PointsTo {
        self.points_to.get_or_init(|| PointsTo::new(self.program))
    }

    /// Which functions may an instruction call or start?
    pub fn calls(&self) -> &CallGraph {
        self.calls.get_or_init(|| CallGraph::new(self.program, self.points_to()))
    }

    /// Which objects may threads interfere on?
    pub fn sharing(&self) -> &SharedObjects {
        self.sharing.get_or_init(|| SharedObjects::new(self.program, self.points_to(), self.calls()))
    }

    /// How often may an instruction be executed?
    pub fn executions(&self) -> &Executions {
        self.executions.get_or_init(|| Executions::new(self.program, self.calls()))
    }

    /// Where in its object does a pointer point?
    pub fn offsets(&self) -> &Offsets {
        self.offsets.get_or_init(|| Offsets::new(self))
    }

    /// The one place that a pointer can point to, if it is certain.
    pub fn address(&self, function: FuncId, pointer: &Expr) -> Option<Address> {
        self.offsets().address(self.program, self.points_to(), function, pointer)
    }

    /// Which threads may there be?
    pub fn threads(&self) -> &ThreadRoots {
        self.threads.get_or_init(|| ThreadRoots::new(self.program, self.calls(), self.executions()))
    }

    /// Which instructions may two threads be about to execute at the same time?
    pub fn parallel(&self) -> &Parallel {
        self.parallel.get_or_init(|| Parallel::new(self))
    }

    /// Which locks does a thread hold?
    pub fn locksets(&self) -> &Locksets {
        self.locksets.get_or_init(|| Locksets::new(self))
    }

    /// Which kinds of instructions does the program have?
    pub fn features(&self) -> &Features {
        self.features.get_or_init(|| Features::new(self.program, self.calls()))
    }

    /// The control-flow graph of a function; none for an external one. The same holds for what is derived from it.
    pub fn cfg(&self, function: FuncId) -> Option<&Cfg> {
        self.functions[function].cfg.get_or_init(|| Cfg::of(&self.program.functions[function])).as_ref()
    }

    pub fn dominators(&self, function: FuncId) -> Option<&Dominators> {
        let new = || self.cfg(function).map(Cfg::dominators);
        self.functions[function].dominators.get_or_init(new).as_ref()
    }

    pub fn post_dominators(&self, function: FuncId) -> Option<&Dominators> {
        let new = || self.cfg(function).map(Cfg::post_dominators);
        self.functions[function].post_dominators.get_or_init(new).as_ref()
    }

    pub fn loops(&self, function: FuncId) -> Option<&Loops> {
        let new = || Some(self.cfg(function)?.loops(self.dominators(function)?));
        self.functions[function].loops.get_or_init(new).as_ref()
    }

    /// The reachable blocks of a function in weak topological order; empty for an external one.
    pub fn weak_topological_order(&self, function: FuncId) -> &[Element] {
        let new = || self.cfg(function).map(weak_topological_order).unwrap_or_default();
        self.functions[function].order.get_or_init(new)
    }

    /// The slots of a function whose addresses go nowhere.
    pub fn private_slots(&self, function: FuncId) -> &[bool] {
        self.functions[function].private_slots.get_or_init(|| private_slots(&self.program.functions[function]))
    }

    /// By block: the registers and slots that may still be used when it begins; empty for an external function.
    pub fn liveness(&self, function: FuncId) -> &[Live] {
        let code = &self.program.functions[function];
        let new = |cfg| live(code, cfg, self.private_slots(function), self.program.model);
        self.functions[function].liveness.get_or_init(|| self.cfg(function).map(new).unwrap_or_default())
    }
}
