//! One function: its steps become blocks.

use super::Lowering;
use crate::ast::BinaryOp as Connective;
use crate::resolve::{Formula, Procedure, StepKind, Variable};
use leno_c::source;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{
    Access, BinaryOp, Block, BlockId, Body, Callee, CastOp, DataModel, Expr, FuncId, Function, Instr, Local, LocalId,
    ObjectId, Op, Order, Property, Span, Terminator, TerminatorKind, Type, UnaryOp,
};
use std::collections::BTreeMap;

/// Deeper expressions are cut by assigning parts of them to registers.
const DEEPEST: usize = 30;

const MODEL: DataModel = DataModel::Lp64;

/// `start`: the step at which the threads begin that this function is for.
pub(super) fn lower(lowering: &mut Lowering<'_, '_>, number: usize, start: Option<usize>) -> Function {
    let procedure = &lowering.resolved.functions[number];
    let name = &procedure.tree.name;
    let (name, place, results) = match start {
        Some(step) => (format!("{}_{}", name.text, procedure.label(step)), procedure.steps[step].span, 0),
        None => (name.text.clone(), name.span, procedure.tree.results),
    };
    let ret = (results > 0).then_some(Type::Int(results as u16));
    let count = if start.is_some() { procedure.variables.len() } else { procedure.tree.parameters.len() };
    let parameters: Vec<(&str, Type)> =
        procedure.variables[..count].iter().map(|name| (name.text.as_str(), Type::BOOL)).collect();
    let mut writer = Writer::new(lowering, name, ret, &parameters, place);
    writer.is_thread = start.is_some();
    for (variable, name) in procedure.variables.iter().enumerate().skip(count) {
        writer.set_place(name.span);
        let local = writer.new_local(&name.text, Type::BOOL);
        writer.push(match procedure.initial(variable) {
            Some(value) => Op::Assign { dst: local, value: Expr::bool(value) },
            None => Op::Nondet { dst: local },
        });
    }
    writer.steps(procedure, start.unwrap_or(0));
    writer.finish()
}

pub(super) struct Writer<'w, 'a, 't> {
    lowering: &'w mut Lowering<'a, 't>,
    function: Function,
    blocks: IndexVec<BlockId, Draft>,
    current: BlockId,
    span: Span,
    is_thread: bool,
    /// By step: its block.
    targets: Vec<BlockId>,
}

/// A block that may not have its end yet.
#[derive(Default)]
struct Draft {
    instrs: Vec<Instr>,
    terminator: Option<Terminator>,
}

/// The values of variables during one step.
#[derive(Default)]
struct Values {
    /// Of the globals, as they were loaded.
    loaded: BTreeMap<usize, Expr>,
    /// After the assignment.
    next: BTreeMap<Variable, Expr>,
}

impl<'w, 'a, 't> Writer<'w, 'a, 't> {
    pub fn new(
        lowering: &'w mut Lowering<'a, 't>,
        name: String,
        ret: Option<Type>,
        parameters: &[(&str, Type)],
        place: source::Span,
    ) -> Writer<'w, 'a, 't> {
        let span = lowering.texts.span(lowering.source, 0, place);
        let local = |(name, ty): &(&str, Type)| Local { name: name.to_string(), ty: *ty, signed: false };
        let function = Function {
            name,
            params: parameters.len() as u32,
            ret,
            locals: parameters.iter().map(local).collect(),
            slots: IndexVec::new(),
            body: Body::Blocks(IndexVec::new()),
            span,
        };
        let mut blocks = IndexVec::new();
        let current = blocks.push(Draft::default());
        Writer { lowering, function, blocks, current, span, is_thread: false, targets: Vec::new() }
    }

    pub fn set_place(&mut self, place: source::Span) {
        self.span = self.lowering.texts.span(self.lowering.source, 0, place);
    }

    pub fn push(&mut self, op: Op) {
        self.blocks[self.current].instrs.push(Instr { op, span: self.span });
    }

    pub fn new_block(&mut self) -> BlockId {
        self.blocks.push(Draft::default())
    }

    pub fn terminate(&mut self, kind: TerminatorKind) {
        self.blocks[self.current].terminator = Some(Terminator { kind, span: self.span });
    }

    pub fn continue_at(&mut self, block: BlockId) {
        self.current = block;
    }

    fn new_local(&mut self, name: &str, ty: Type) -> LocalId {
        self.function.locals.push(Local { name: name.to_string(), ty, signed: false })
    }

    /// Any value of a type.
    pub fn any(&mut self, ty: Type) -> Expr {
        let dst = self.new_local("", ty);
        self.push(Op::Nondet { dst });
        Expr::Local(dst)
    }

    fn keep(&mut self, value: Expr, ty: Type) -> Expr {
        let dst = self.new_local("", ty);
        self.push(Op::Assign { dst, value });
        Expr::Local(dst)
    }

    fn access(global: usize) -> Access {
        let ptr = Expr::Object(ObjectId::new(global));
        Access { ptr, ty: Type::I8, order: Order::SeqCst, volatile: false }
    }

    pub fn store(&mut self, global: usize, value: Expr) {
        let value = match value {
            Expr::Const { bits, .. } => Expr::int(bits, 8),
            value => Expr::cast(CastOp::ZeroExtend, Type::I8, value),
        };
        self.push(Op::Store { to: Self::access(global), value });
    }

    fn load(&mut self, global: usize) -> Expr {
        let name = self.lowering.resolved.globals[global].name.text.clone();
        let dst = self.new_local(&name, Type::I8);
        self.push(Op::Load { dst, from: Self::access(global) });
        Expr::binary(BinaryOp::Ne, Expr::Local(dst), Expr::int(0, 8))
    }

    /// Goes to one of these, whichever.
    pub fn choose(&mut self, targets: Vec<BlockId>) {
        let kind = match targets.as_slice() {
            [] => TerminatorKind::Unreachable,
            [target] => TerminatorKind::Goto(*target),
            [then, otherwise] => {
                TerminatorKind::Branch { cond: self.any(Type::BOOL), then: *then, otherwise: *otherwise }
            }
            [cases @ .., default] => {
                // As few bits as it takes: exploration tries all values.
                let width = usize::BITS - cases.len().leading_zeros();
                let value = self.any(Type::Int(width as u16));
                let cases = cases.iter().enumerate().map(|(number, block)| (number as u128, *block)).collect();
                TerminatorKind::Switch { value, cases, default: *default }
            }
        };
        self.terminate(kind);
    }

    pub fn parameters_of(&self, function: usize) -> std::ops::Range<usize> {
        0..self.lowering.resolved.functions[function].tree.parameters.len()
    }

    /// Calls a function; its results, packed into one number.
    pub fn call(&mut self, function: usize, args: Vec<Expr>) -> Option<Expr> {
        let results = self.lowering.resolved.functions[function].tree.results;
        let dst = (results > 0).then(|| self.new_local("", Type::Int(results as u16)));
        self.push(Op::Call { dst, callee: Callee::Direct(FuncId::new(function)), args });
        dst.map(Expr::Local)
    }

    pub fn exit_thread(&mut self) {
        self.terminate(TerminatorKind::ThreadExit(Expr::int(0, MODEL.pointer_bits())));
    }

    fn steps(&mut self, procedure: &Procedure<'_>, start: usize) {
        self.targets = procedure.steps.iter().map(|_| self.new_block()).collect();
        self.terminate(TerminatorKind::Goto(self.targets[start]));
        for (number, step) in procedure.steps.iter().enumerate() {
            self.continue_at(self.targets[number]);
            self.set_place(step.span);
            self.step(procedure, number, &step.kind);
            if self.blocks[self.current].terminator.is_none() {
                self.terminate(TerminatorKind::Goto(self.targets[number + 1]));
            }
        }
    }

    fn step(&mut self, procedure: &Procedure<'_>, number: usize, kind: &StepKind) {
        match kind {
            StepKind::Goto(targets) => {
                let targets = targets.iter().map(|target| self.targets[*target]).collect();
                self.choose(targets);
            }
            StepKind::Branch(condition, otherwise) => {
                self.branch(condition, self.targets[number + 1], self.targets[*otherwise]);
            }
            StepKind::Assign { targets, values, constrain } => self.assign(targets, values, constrain.as_ref()),
            StepKind::Assume(condition) => {
                let (values, is_section) = self.enter(&[condition], 0);
                let cond = self.value(condition, &values);
                self.push(Op::Assume { cond });
                self.leave(is_section);
            }
            StepKind::Assert(condition) => {
                let (values, is_section) = self.enter(&[condition], 0);
                let cond = self.value(condition, &values);
                let message = self.span.text;
                self.push(Op::Assert { cond, property: Property::Assertion, message });
                self.leave(is_section);
            }
            StepKind::Call { results, function, arguments } => {
                let arguments = self.values(arguments);
                let packed = self.call(*function, arguments);
                if let (false, Some(packed)) = (results.is_empty(), packed) {
                    let values = self.unpack(packed, results.len());
                    self.set(results, values);
                }
            }
            StepKind::Return(_) | StepKind::End | StepKind::EndThread if self.is_thread => self.exit_thread(),
            StepKind::EndThread => self.exit_thread(),
            StepKind::Return(values) if values.is_empty() => self.terminate(TerminatorKind::Return(None)),
            StepKind::Return(values) => {
                let values = self.values(values);
                let packed = self.pack(values);
                self.terminate(TerminatorKind::Return(Some(packed)));
            }
            StepKind::End => {
                let any = self.function.ret.map(|ty| self.any(ty));
                self.terminate(TerminatorKind::Return(any));
            }
            StepKind::StartThread(at) => {
                let number = self.lowering.resolved.functions.iter().position(|other| std::ptr::eq(other, procedure));
                let func = self.lowering.variant(number.unwrap_or(0), Some(*at));
                let args = (0..procedure.variables.len()).map(|local| Expr::Local(LocalId::new(local))).collect();
                self.push(Op::Spawn { handle: None, func: Expr::Function(func), args });
            }
            StepKind::StartFunction(function) => {
                let func = Expr::Function(FuncId::new(*function));
                self.push(Op::Spawn { handle: None, func, args: Vec::new() });
            }
            StepKind::AtomicBegin => self.push(Op::AtomicBegin),
            StepKind::AtomicEnd => self.push(Op::AtomicEnd),
        }
    }

    /// Loads the globals that these formulas need; in an atomic section if there is more than one access, with the
    /// `writes` that follow.
    fn enter(&mut self, formulas: &[&Formula], writes: usize) -> (Values, bool) {
        let mut variables = Vec::new();
        formulas.iter().for_each(|formula| formula.add_reads(&mut variables));
        self.enter_with(&variables, writes)
    }

    fn enter_with(&mut self, variables: &[Variable], writes: usize) -> (Values, bool) {
        let globals = variables.iter().filter_map(|variable| match variable {
            Variable::Global(number) => Some(*number),
            Variable::Local(_) => None,
        });
        let globals: std::collections::BTreeSet<usize> = globals.collect();
        let is_section = globals.len() + writes > 1;
        if is_section {
            self.push(Op::AtomicBegin);
        }
        let loaded = globals.into_iter().map(|global| (global, self.load(global))).collect();
        (Values { loaded, next: BTreeMap::new() }, is_section)
    }

    fn leave(&mut self, is_section: bool) {
        if is_section {
            self.push(Op::AtomicEnd);
        }
    }

    fn branch(&mut self, condition: &Formula, then: BlockId, otherwise: BlockId) {
        let (values, is_section) = self.enter(&[condition], 0);
        let cond = self.value(condition, &values);
        // The section ends on both sides, where it is known which one it is.
        let mut end = |target: BlockId| {
            if !is_section {
                return target;
            }
            let block = self.new_block();
            let terminator = Terminator { kind: TerminatorKind::Goto(target), span: self.span };
            let instrs = vec![Instr { op: Op::AtomicEnd, span: self.span }];
            self.blocks[block] = Draft { instrs, terminator: Some(terminator) };
            block
        };
        let (then, otherwise) = (end(then), end(otherwise));
        self.terminate(TerminatorKind::Branch { cond, then, otherwise });
    }

    fn assign(&mut self, targets: &[Variable], formulas: &[Formula], constrain: Option<&Formula>) {
        let mut needed = Vec::new();
        formulas.iter().chain(constrain).for_each(|formula| formula.add_reads(&mut needed));
        // What is not assigned keeps its value.
        let mut nexts = Vec::new();
        constrain.iter().for_each(|formula| formula.add_nexts(&mut nexts));
        needed.extend(nexts.iter().filter(|variable| !targets.contains(variable)));
        let writes = targets.iter().filter(|target| matches!(target, Variable::Global(_))).count();
        let (mut values, is_section) = self.enter_with(&needed, writes);
        let mut new = Vec::new();
        for formula in formulas {
            let value = self.value(formula, &values);
            new.push(match value {
                Expr::Const { .. } => value,
                value if targets.len() == 1 && constrain.is_none() => value,
                value => self.keep(value, Type::BOOL),
            });
        }
        if let Some(condition) = constrain {
            values.next = targets.iter().copied().zip(new.iter().cloned()).collect();
            let cond = self.value(condition, &values);
            self.push(Op::Assume { cond });
        }
        self.write(targets, new);
        self.leave(is_section);
    }

    fn write(&mut self, targets: &[Variable], values: Vec<Expr>) {
        for (target, value) in targets.iter().zip(values) {
            match target {
                Variable::Global(number) => self.store(*number, value),
                Variable::Local(number) => self.push(Op::Assign { dst: LocalId::new(*number), value }),
            }
        }
    }

    /// Assigns values that depend on nothing but registers, in one step.
    fn set(&mut self, targets: &[Variable], values: Vec<Expr>) {
        let is_section = targets.iter().filter(|target| matches!(target, Variable::Global(_))).count() > 1;
        if is_section {
            self.push(Op::AtomicBegin);
        }
        self.write(targets, values);
        self.leave(is_section);
    }

    /// The values of formulas, all of the same moment.
    fn values(&mut self, formulas: &[Formula]) -> Vec<Expr> {
        let (values, is_section) = self.enter(&formulas.iter().collect::<Vec<_>>(), 0);
        let values = formulas.iter().map(|formula| self.value(formula, &values)).collect();
        self.leave(is_section);
        values
    }

    fn pack(&mut self, values: Vec<Expr>) -> Expr {
        let width = values.len() as u16;
        let mut packed = Expr::bool(false);
        for (number, value) in values.into_iter().enumerate() {
            if width == 1 {
                return value;
            }
            let wide = Expr::cast(CastOp::ZeroExtend, Type::Int(width), value);
            packed = match number {
                0 => wide,
                _ => {
                    let moved = Expr::binary(BinaryOp::Shl, wide, Expr::int(number as u128, width));
                    self.keep(Expr::binary(BinaryOp::Or, packed, moved), Type::Int(width))
                }
            };
        }
        packed
    }

    fn unpack(&mut self, packed: Expr, count: usize) -> Vec<Expr> {
        if count == 1 {
            return vec![packed];
        }
        let bit = |number: usize| {
            let moved = Expr::binary(BinaryOp::LShr, packed.clone(), Expr::int(number as u128, count as u16));
            Expr::cast(CastOp::Truncate, Type::BOOL, moved)
        };
        (0..count).map(bit).collect()
    }

    fn value(&mut self, formula: &Formula, values: &Values) -> Expr {
        self.value_and_depth(formula, values).0
    }

    fn value_and_depth(&mut self, formula: &Formula, values: &Values) -> (Expr, usize) {
        let (value, depth) = match formula {
            Formula::Constant(value) => (Expr::bool(*value), 1),
            Formula::Any => (self.any(Type::BOOL), 1),
            Formula::Variable(variable) => (Self::current(*variable, values), 2),
            Formula::Next(variable) => {
                (values.next.get(variable).cloned().unwrap_or_else(|| Self::current(*variable, values)), 2)
            }
            Formula::Not(operand) => {
                let (operand, depth) = self.value_and_depth(operand, values);
                (Expr::unary(UnaryOp::Not, operand), depth + 1)
            }
            Formula::Binary(op, parts) => {
                let (left, left_depth) = self.value_and_depth(&parts[0], values);
                let (right, right_depth) = self.value_and_depth(&parts[1], values);
                (connect(*op, left, right), left_depth.max(right_depth) + 2)
            }
            Formula::Choice(parts) => {
                let (condition, first) = self.value_and_depth(&parts[0], values);
                let (then, second) = self.value_and_depth(&parts[1], values);
                let (otherwise, third) = self.value_and_depth(&parts[2], values);
                (Expr::select(condition, then, otherwise), first.max(second).max(third) + 1)
            }
            Formula::Schoose(parts) => {
                let (holds, left_depth) = self.value_and_depth(&parts[0], values);
                let (fails, right_depth) = self.value_and_depth(&parts[1], values);
                let any = self.any(Type::BOOL);
                let open = Expr::binary(BinaryOp::And, Expr::unary(UnaryOp::Not, fails), any);
                (Expr::binary(BinaryOp::Or, holds, open), left_depth.max(right_depth) + 3)
            }
        };
        if depth > DEEPEST { (self.keep(value, Type::BOOL), 1) } else { (value, depth) }
    }

    fn current(variable: Variable, values: &Values) -> Expr {
        match variable {
            Variable::Local(number) => Expr::Local(LocalId::new(number)),
            // (Every global that a step needs was loaded when it began.)
            Variable::Global(number) => values.loaded.get(&number).cloned().unwrap_or(Expr::bool(false)),
        }
    }

    /// The function, without what is never reached, and with blocks that only follow each other joined.
    pub fn finish(mut self) -> Function {
        let entry = BlockId::new(0);
        let mut arrivals = vec![0u32; self.blocks.len()];
        let (mut work, mut kept) = (vec![entry], vec![entry]);
        arrivals[0] = 2;
        while let Some(block) = work.pop() {
            for target in self.blocks[block].targets() {
                arrivals[target.index()] += 1;
                if arrivals[target.index()] == 1 {
                    work.push(target);
                    kept.push(target);
                }
            }
        }
        kept.sort_unstable();
        let mut joined = vec![false; self.blocks.len()];
        for block in &kept {
            while let Some(next) = self.blocks[*block].only_target().filter(|next| arrivals[next.index()] == 1) {
                if joined[block.index()] || next == *block {
                    break;
                }
                let draft = std::mem::take(&mut self.blocks[next]);
                joined[next.index()] = true;
                self.blocks[*block].instrs.extend(draft.instrs);
                self.blocks[*block].terminator = draft.terminator;
            }
        }
        kept.retain(|block| !joined[block.index()]);
        let mut numbers = vec![entry; self.blocks.len()];
        kept.iter().enumerate().for_each(|(number, block)| numbers[block.index()] = BlockId::new(number));
        let blocks = kept.iter().map(|block| {
            let Draft { instrs, terminator } = std::mem::take(&mut self.blocks[*block]);
            let unreachable = Terminator { kind: TerminatorKind::Unreachable, span: self.function.span };
            let mut terminator = terminator.unwrap_or(unreachable);
            each_target(&mut terminator.kind, &mut |target| *target = numbers[target.index()]);
            let span = instrs.first().map_or(terminator.span, |instr| instr.span);
            Block { instrs, terminator, span }
        });
        self.function.body = Body::Blocks(blocks.collect());
        self.function
    }
}

impl Draft {
    fn targets(&self) -> Vec<BlockId> {
        let mut targets = Vec::new();
        if let Some(terminator) = &self.terminator {
            each_target(&mut terminator.kind.clone(), &mut |target| targets.push(*target));
        }
        targets
    }

    fn only_target(&self) -> Option<BlockId> {
        match self.terminator.as_ref()?.kind {
            TerminatorKind::Goto(target) => Some(target),
            _ => None,
        }
    }
}

fn each_target(kind: &mut TerminatorKind, f: &mut dyn FnMut(&mut BlockId)) {
    match kind {
        TerminatorKind::Goto(target) => f(target),
        TerminatorKind::Branch { then, otherwise, .. } => [then, otherwise].into_iter().for_each(f),
        TerminatorKind::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, target)| f(target));
            f(default);
        }
        _ => {}
    }
}

fn connect(op: Connective, left: Expr, right: Expr) -> Expr {
    match op {
        Connective::Equal => Expr::binary(BinaryOp::Eq, left, right),
        Connective::Differ => Expr::binary(BinaryOp::Ne, left, right),
        Connective::And => Expr::binary(BinaryOp::And, left, right),
        Connective::Xor => Expr::binary(BinaryOp::Xor, left, right),
        Connective::Or => Expr::binary(BinaryOp::Or, left, right),
        Connective::Implies => Expr::binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, left), right),
    }
}
