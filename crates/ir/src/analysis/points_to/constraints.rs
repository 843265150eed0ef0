//! From instructions to constraints.
//!
//! A constraint says that one set is contained in another. Those between two variables are edges of a graph; those
//! through a pointer ([`Load`], [`Store`], [`CallSite`]) become edges when the solver learns what it points to.
//! A function's instructions are turned into constraints when it is first found to be called, which may be late; so
//! constraints are handed to the solver in lists, and it knows what to make up for.

use crate::analysis::points_to::{
    AbstractId, AbstractObject, BOTH, Cells, Numbering, Source, UNKNOWN, Variable, cells_loaded, cells_stored,
    for_each_source,
};
use crate::index::Idx;
use crate::program::{
    Access, Block, BlockId, Body, Callee, Datum, Expr, External, FuncId, Instr, LocalId, ObjectKind, Op, Place,
    Program, TerminatorKind, Type,
};

/// What the target holds contains what the cells of the pointees hold.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub cells: &'static [Cells],
    pub target: Variable,
}

/// The pointees' cells hold what the source holds.
#[derive(Clone, Copy)]
pub(super) struct Store {
    pub cells: &'static [Cells],
    pub source: Variable,
}

/// Arguments that carry no address are left out.
pub(super) struct CallSite {
    args: Vec<Option<Variable>>,
    /// Where the result goes.
    result: Option<Variable>,
}

/// What is done through a pointer.
#[derive(Clone, Copy)]
pub(super) enum Use {
    Load(Load),
    Store(Store),
    /// The number of a call site.
    Call(u32),
}

pub(super) struct Constraints<'p> {
    pub program: &'p Program,
    pub numbering: Numbering,
    pub variables: usize,
    /// Not seen by the solver yet: the second holds what the first holds.
    pub new_edges: Vec<(Variable, Variable)>,
    pub new_addresses: Vec<(Variable, AbstractId)>,
    pub new_uses: Vec<(Variable, Use)>,
    call_sites: Vec<CallSite>,
    pub thread_arguments: Vec<Variable>,
    pub reached: Vec<bool>,
    unread: Vec<FuncId>,
}

impl<'p> Constraints<'p> {
    pub fn new(program: &'p Program, numbering: Numbering) -> Constraints<'p> {
        let mut constraints = Constraints {
            program,
            variables: numbering.variables as usize,
            numbering,
            new_edges: Vec::new(),
            new_addresses: Vec::new(),
            new_uses: Vec::new(),
            call_sites: Vec::new(),
            thread_arguments: Vec::new(),
            reached: vec![false; program.functions.len()],
            unread: Vec::new(),
        };
        constraints.outside();
        constraints.static_objects();
        constraints.roots();
        constraints
    }

    /// What is outside holds itself, and whatever can be reached from what it holds; and it stores that anywhere.
    fn outside(&mut self) {
        let contents = self.numbering.contents(UNKNOWN, Cells::Whole);
        self.new_addresses.push((contents, UNKNOWN));
        self.new_uses.push((contents, Use::Load(Load { cells: BOTH, target: contents })));
        self.new_uses.push((contents, Use::Store(Store { cells: BOTH, source: contents })));
    }

    fn static_objects(&mut self) {
        for (id, object) in self.program.objects.iter_enumerated() {
            let abstract_id = self.numbering.static_object(id);
            if object.kind == ObjectKind::External {
                let outside = self.numbering.contents(UNKNOWN, Cells::Whole);
                self.new_addresses.push((outside, abstract_id));
            }
            let contents = self.numbering.contents(abstract_id, Cells::Whole);
            for (_, datum) in &object.init {
                let held = match datum {
                    Datum::Bytes(_) => continue,
                    Datum::Object(id, _) => self.numbering.static_object(*id),
                    Datum::Function(id) => self.numbering.function(*id),
                };
                self.new_addresses.push((contents, held));
            }
        }
    }

    fn roots(&mut self) {
        let roots: Vec<FuncId> = match self.program.entry {
            Some(entry) => vec![entry],
            None => self.program.functions.ids().collect(),
        };
        let outside = self.numbering.contents(UNKNOWN, Cells::Whole);
        for root in roots {
            self.reach(root);
            let function = &self.program.functions[root];
            for param in (0..function.params).map(LocalId) {
                if function.locals[param].ty == Type::Ptr || self.program.entry.is_none() {
                    let param = self.numbering.local(root, param);
                    self.new_edges.push((outside, param));
                }
            }
        }
    }

    fn reach(&mut self, function: FuncId) {
        if !std::mem::replace(&mut self.reached[function.index()], true) {
            self.unread.push(function);
        }
    }

    /// Turns the functions that have been reached into constraints, and those that they reach.
    pub fn read_functions(&mut self) {
        while let Some(id) = self.unread.pop() {
            let Body::Blocks(blocks) = &self.program.functions[id].body else { continue };
            for (block_id, block) in blocks.iter_enumerated() {
                self.block(id, block_id, block);
            }
        }
    }

    pub fn has_unread_functions(&self) -> bool {
        !self.unread.is_empty()
    }

    fn block(&mut self, function: FuncId, id: BlockId, block: &Block) {
        for (index, instr) in block.instrs.iter().enumerate() {
            self.instr(Place { func: function, block: id, index: index as u32 }, instr);
        }
        match &block.terminator.kind {
            TerminatorKind::Return(Some(value)) => self.assign(function, value, self.numbering.returned(function)),
            TerminatorKind::ThreadExit(value) => self.assign(function, value, self.numbering.thread_result),
            _ => {}
        }
    }

    fn instr(&mut self, place: Place, instr: &Instr) {
        let function = place.func;
        let local = |id: LocalId| self.numbering.local(function, id);
        match &instr.op {
            Op::Assign { dst, value } => self.assign(function, value, local(*dst)),
            Op::Load { dst, from } => self.load(function, from, local(*dst)),
            Op::Store { to, value } => self.store(function, to, value),
            Op::ReadModifyWrite { dst, at, value, .. } => {
                if let Some(dst) = dst.map(local) {
                    self.load(function, at, dst);
                }
                self.store(function, at, value);
            }
            Op::CompareExchange { old, at, desired, .. } => {
                self.load(function, at, local(*old));
                self.store(function, at, desired);
            }
            Op::Allocate { dst, .. } => {
                let dst = local(*dst);
                if let Some(site) = self.numbering.sites.get(&place) {
                    self.new_addresses.push((dst, *site));
                }
            }
            // Any pointer: one that came from outside.
            Op::Nondet { dst } if self.program.functions[function].locals[*dst].ty == Type::Ptr => {
                let outside = self.numbering.contents(UNKNOWN, Cells::Whole);
                self.new_edges.push((outside, local(*dst)));
            }
            Op::Call { dst, callee, args } => {
                let result = dst.map(local);
                self.call(function, callee, args, result, false);
            }
            Op::Spawn { func, args, .. } => {
                let result = Some(self.numbering.thread_result);
                self.call(function, &Callee::Indirect(func.clone()), args, result, true);
            }
            Op::Join { dst: Some(dst), .. } => {
                let dst = local(*dst);
                self.new_edges.push((self.numbering.thread_result, dst));
            }
            _ => {}
        }
    }

    fn sources(&self, function: FuncId, expr: &Expr) -> Vec<Source> {
        let mut sources = Vec::new();
        for_each_source(&self.numbering, function, expr, |source| sources.push(source));
        sources
    }

    fn assign(&mut self, function: FuncId, value: &Expr, target: Variable) {
        for source in self.sources(function, value) {
            match source {
                Source::Variable(variable) => self.new_edges.push((variable, target)),
                Source::Address(object) => self.new_addresses.push((target, object)),
            }
        }
    }

    /// A variable that holds what `value` may carry; none if it carries nothing.
    fn variable(&mut self, function: FuncId, value: &Expr) -> Option<Variable> {
        match self.sources(function, value).as_slice() {
            [] => None,
            [Source::Variable(variable)] => Some(*variable),
            _ => {
                let fresh = self.fresh();
                self.assign(function, value, fresh);
                Some(fresh)
            }
        }
    }

    fn fresh(&mut self) -> Variable {
        let fresh = Variable::new(self.variables);
        self.variables += 1;
        fresh
    }

    fn load(&mut self, function: FuncId, from: &Access, target: Variable) {
        let load = Load { cells: cells_loaded(from.ty, self.program.model), target };
        for source in self.sources(function, &from.ptr) {
            match source {
                Source::Variable(pointer) => self.new_uses.push((pointer, Use::Load(load))),
                Source::Address(object) => self.load_from(object, load),
            }
        }
    }

    fn store(&mut self, function: FuncId, to: &Access, value: &Expr) {
        let Some(source) = self.variable(function, value) else { return };
        let store = Store { cells: cells_stored(to.ty, self.program.model), source };
        for pointer in self.sources(function, &to.ptr) {
            match pointer {
                Source::Variable(pointer) => self.new_uses.push((pointer, Use::Store(store))),
                Source::Address(object) => self.store_to(object, store),
            }
        }
    }

    fn load_from(&mut self, object: AbstractId, load: Load) {
        if self.numbering.holds_values(object) {
            let contents = load.cells.iter().map(|cells| self.numbering.contents(object, *cells));
            self.new_edges.extend(contents.map(|contents| (contents, load.target)));
        }
    }

    fn store_to(&mut self, object: AbstractId, store: Store) {
        if self.numbering.holds_values(object) {
            let contents = store.cells.iter().map(|cells| self.numbering.contents(object, *cells));
            self.new_edges.extend(contents.map(|contents| (store.source, contents)));
        }
    }

    fn call(&mut self, function: FuncId, callee: &Callee, args: &[Expr], result: Option<Variable>, is_spawn: bool) {
        let args: Vec<Option<Variable>> = args.iter().map(|arg| self.variable(function, arg)).collect();
        if is_spawn {
            self.thread_arguments.extend(args.iter().flatten());
        }
        let site = self.call_sites.len() as u32;
        self.call_sites.push(CallSite { args, result });
        match callee {
            Callee::Direct(id) => self.call_reaches(site, self.numbering.function(*id)),
            Callee::Indirect(pointer) => {
                for source in self.sources(function, pointer) {
                    match source {
                        Source::Variable(pointer) => self.new_uses.push((pointer, Use::Call(site))),
                        Source::Address(object) => self.call_reaches(site, object),
                    }
                }
            }
        }
    }

    /// The pointer that is called at `site` may be the address of `object`.
    pub fn call_reaches(&mut self, site: u32, object: AbstractId) {
        let id = match self.numbering.objects[object] {
            AbstractObject::Function(id) => id,
            AbstractObject::Unknown => return self.call_unknown(site, Some(Type::Ptr)),
            _ => return,
        };
        self.reach(id);
        let function = &self.program.functions[id];
        match &function.body {
            Body::External(external) if external.known => self.call_known(site, external, function.ret),
            Body::External(_) => self.call_unknown(site, function.ret),
            Body::Blocks(_) => {
                let site = &self.call_sites[site as usize];
                for (param, arg) in (0..function.params).map(LocalId).zip(&site.args) {
                    self.new_edges.extend(arg.map(|arg| (arg, self.numbering.local(id, param))));
                }
                self.new_edges.extend(site.result.map(|result| (self.numbering.returned(id), result)));
            }
        }
    }

    fn call_unknown(&mut self, site: u32, returns: Option<Type>) {
        let outside = self.numbering.contents(UNKNOWN, Cells::Whole);
        let site = &self.call_sites[site as usize];
        self.new_edges.extend(site.args.iter().flatten().map(|arg| (*arg, outside)));
        if returns.is_some() {
            self.new_edges.extend(site.result.map(|result| (outside, result)));
        }
    }

    fn call_known(&mut self, site: u32, external: &External, returns: Option<Type>) {
        let CallSite { args, result } = &self.call_sites[site as usize];
        let (args, result) = (args.clone(), *result);
        if let (Some(result), Some(Type::Ptr)) = (result, returns) {
            self.new_edges.extend(args.iter().flatten().map(|arg| (*arg, result)));
            if !external.pure {
                self.new_addresses.push((result, UNKNOWN));
            }
        }
        if external.writes.is_empty() || external.variadic {
            return;
        }
        let copied = self.fresh();
        for arg in args.iter().flatten() {
            self.new_edges.push((*arg, copied));
            self.new_uses.push((*arg, Use::Load(Load { cells: BOTH, target: copied })));
        }
        for param in &external.writes {
            if let Some(Some(arg)) = args.get(*param as usize) {
                self.new_uses.push((*arg, Use::Store(Store { cells: BOTH, source: copied })));
            }
        }
    }
}
