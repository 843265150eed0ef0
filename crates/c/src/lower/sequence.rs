//! Accesses that nothing orders (C11 6.5p2).
//!
//! Operands are evaluated in any order, and even interleaved: in `a[i] = i++` the read of `i` on the left and the write on
//! the right are **unsequenced**, which is undefined. So is what two writes do, one of which is the operator's own: `i = i++`.
//! Before a function is lowered, this pass looks for pairs of accesses that are unsequenced, of which one is a write,
//! and that may be of the same object. Lowering then writes an assertion at the later access of each pair: that the
//! earlier one was not made (it may stand in an arm of `?:`), or was made to another address.
//!
//! What orders evaluations: `&&`, `||`, `?:` and the comma between their operands; the call of a function after its
//! arguments; the end of a full expression, of an item of an initialiser, and of a statement expression. An operator
//! needs the values of its operands, so it comes after their reads; but only a sequence point is a promise that
//! a side effect is complete. The bodies of functions are never interleaved with anything: their accesses count
//! elsewhere (`leno_engine::assumed_orders`).
//!
//! Reads of volatile objects are side effects, too. They count as reads here, since `v + v` is what people write.

use super::body::Lowering;
use super::overlap::{Lvalues, Overlap};
use super::place::Place;
use crate::typed::{Callee, ExprId, ExprKind, FunctionBody, LocalInit, StmtId, StmtKind, Unit};
use leno_ir::program::{BinaryOp, Expr, LocalId, Property, Type};
use std::collections::BTreeMap;

/// An access to an object: a `Load`, `Assign` or `Update`.
#[derive(Clone, Copy, Debug)]
struct Access {
    id: ExprId,
    place: ExprId,
    writes: bool,
    /// It is made only if some condition holds.
    is_conditional: bool,
    /// A write that no sequence point has followed so far.
    is_pending: bool,
}

/// What a function has to check.
#[derive(Default, Debug)]
pub(super) struct Sequencing {
    /// For a later access: the earlier ones that it must not meet.
    checks: BTreeMap<ExprId, Vec<(ExprId, Overlap)>>,
    /// Earlier accesses, and the register that holds their address (null: not made).
    marks: BTreeMap<ExprId, Option<LocalId>>,
    /// Conditional earlier accesses, by the operator with whose evaluation they begin anew.
    begin: BTreeMap<ExprId, Vec<ExprId>>,
}

impl Sequencing {
    pub fn of(unit: &Unit, body: &FunctionBody) -> Sequencing {
        let mut pass = Pass { lvalues: Lvalues { unit, body }, found: Sequencing::default() };
        pass.statement(body.body);
        pass.found
    }

    /// Whether lowering this access needs instructions of its own.
    pub fn concerns(&self, access: ExprId) -> bool {
        !self.marks.is_empty() && (self.marks.contains_key(&access) || self.checks.contains_key(&access))
    }
}

struct Pass<'u> {
    lvalues: Lvalues<'u>,
    found: Sequencing,
}

impl<'u> Pass<'u> {
    fn unit(&self) -> &'u Unit {
        self.lvalues.unit
    }

    // ---- full expressions

    fn statement(&mut self, id: StmtId) {
        let unit = self.unit();
        match &unit.stmts[id].kind {
            StmtKind::Expr(expr) | StmtKind::GotoComputed(expr) | StmtKind::Return(Some(expr)) => self.full(*expr),
            StmtKind::Block(body) | StmtKind::Group(body) => body.iter().for_each(|inner| self.statement(*inner)),
            StmtKind::Declare { init, .. } => _ = init.as_ref().map(|init| self.initializer(init)),
            StmtKind::If { cond, then, otherwise } => {
                self.full(*cond);
                self.statement(*then);
                otherwise.iter().for_each(|otherwise| self.statement(*otherwise));
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.full(*cond);
                self.statement(*body);
            }
            StmtKind::For { cond, step, body } => {
                cond.iter().chain(step).for_each(|expr| self.full(*expr));
                self.statement(*body);
            }
            StmtKind::Switch { value, body, .. } => {
                self.full(*value);
                self.statement(*body);
            }
            StmtKind::Label { body, .. } => self.statement(*body),
            StmtKind::Empty
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Refused { .. } => {}
        }
    }

    fn full(&mut self, id: ExprId) {
        self.value(id);
    }

    /// The items are ordered, although C does not say how.
    fn initializer(&mut self, init: &LocalInit) -> Vec<Access> {
        init.items.iter().flat_map(|item| completed(self.value(item.value))).collect()
    }

    // ---- expressions

    fn value(&mut self, id: ExprId) -> Vec<Access> {
        let unit = self.unit();
        match &unit.exprs[id].kind {
            ExprKind::Const(_) | ExprKind::Function(_) | ExprKind::LabelAddress(_) => Vec::new(),
            ExprKind::Load(place) => self.read(id, *place),
            ExprKind::AddressOf(place) => self.place(*place),
            ExprKind::Cast(operand) | ExprKind::Unary(_, operand) | ExprKind::LogicalNot(operand) => {
                self.value(*operand)
            }
            ExprKind::Binary(_, a, b) | ExprKind::PointerAdd(a, b) | ExprKind::PointerDiff(a, b) => {
                self.operands(id, [*a, *b])
            }
            ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                let mut accesses = completed(self.value(*a));
                accesses.extend(conditional(self.value(*b)));
                accesses
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                let mut accesses = completed(self.value(*cond));
                accesses.extend(conditional(self.value(*then)));
                accesses.extend(conditional(self.value(*otherwise)));
                accesses
            }
            ExprKind::ConditionalElse { cond, otherwise } => {
                let mut accesses = completed(self.value(*cond));
                accesses.extend(conditional(self.value(*otherwise)));
                accesses
            }
            ExprKind::Comma(a, b) => {
                let mut accesses = completed(self.value(*a));
                accesses.extend(self.value(*b));
                accesses
            }
            ExprKind::Assign { place, value } => {
                let left = self.place(*place);
                let right = self.value(*value);
                let accesses = self.unsequenced(id, left, right);
                self.written(id, *place, accesses, 0)
            }
            ExprKind::Update { place, operand, .. } => {
                let left = self.place(*place);
                let of_operand = left.len();
                let right = self.value(*operand);
                let accesses = self.unsequenced(id, left, right);
                self.written(id, *place, accesses, of_operand)
            }
            ExprKind::Call { callee, args, .. } => {
                let callee = match callee {
                    Callee::Direct(_) => None,
                    Callee::Indirect(pointer) => Some(*pointer),
                };
                completed(self.operands(id, callee.into_iter().chain(args.iter().copied())))
            }
            ExprKind::Builtin { args, .. } => completed(self.operands(id, args.iter().copied())),
            ExprKind::StmtExpr { body, value } => {
                body.iter().for_each(|inner| self.statement(*inner));
                value.iter().for_each(|value| self.full(*value));
                Vec::new()
            }
            ExprKind::Var(_)
            | ExprKind::Global(_)
            | ExprKind::Deref(_)
            | ExprKind::Field { .. }
            | ExprKind::CompoundLiteral { .. }
            | ExprKind::Temporary { .. } => self.read(id, id),
        }
    }

    fn place(&mut self, id: ExprId) -> Vec<Access> {
        let unit = self.unit();
        match &unit.exprs[id].kind {
            ExprKind::Deref(pointer) => self.value(*pointer),
            ExprKind::Field { base, .. } => self.place(*base),
            ExprKind::CompoundLiteral { init, .. } => self.initializer(init),
            ExprKind::Temporary { value, .. } => self.value(*value),
            _ => Vec::new(),
        }
    }

    fn read(&mut self, id: ExprId, place: ExprId) -> Vec<Access> {
        let mut accesses = self.place(place);
        accesses.push(Access { id, place, writes: false, is_conditional: false, is_pending: false });
        accesses
    }

    /// The operator's own write, after `accesses`: unsequenced with the side effects that may not be complete; and with
    /// all those from `of_operand` on, if it also reads what it writes.
    fn written(&mut self, id: ExprId, place: ExprId, mut accesses: Vec<Access>, of_operand: usize) -> Vec<Access> {
        let own = Access { id, place, writes: true, is_conditional: false, is_pending: true };
        let reads = of_operand > 0 || matches!(self.unit().exprs[id].kind, ExprKind::Update { .. });
        for (index, access) in accesses.iter().enumerate() {
            if access.writes && (access.is_pending || (reads && index >= of_operand)) {
                self.pair(id, access, &own);
            }
        }
        accesses.push(own);
        accesses
    }

    /// Operands that are evaluated in any order.
    fn operands(&mut self, operator: ExprId, operands: impl IntoIterator<Item = ExprId>) -> Vec<Access> {
        let mut accesses = Vec::new();
        for operand in operands {
            let right = self.value(operand);
            accesses = self.unsequenced(operator, accesses, right);
        }
        accesses
    }

    fn unsequenced(&mut self, operator: ExprId, mut left: Vec<Access>, right: Vec<Access>) -> Vec<Access> {
        for later in &right {
            for earlier in left.iter().filter(|earlier| earlier.writes || later.writes) {
                self.pair(operator, earlier, later);
            }
        }
        left.extend(right);
        left
    }

    fn pair(&mut self, operator: ExprId, earlier: &Access, later: &Access) {
        let overlap = self.lvalues.overlap(earlier.place, later.place);
        if overlap == Overlap::Never {
            return;
        }
        self.found.marks.insert(earlier.id, None);
        self.found.checks.entry(later.id).or_default().push((earlier.id, overlap));
        if earlier.is_conditional {
            self.found.begin.entry(operator).or_default().push(earlier.id);
        }
    }
}

/// After a sequence point.
fn completed(mut accesses: Vec<Access>) -> Vec<Access> {
    accesses.iter_mut().for_each(|access| access.is_pending = false);
    accesses
}

fn conditional(mut accesses: Vec<Access>) -> Vec<Access> {
    accesses.iter_mut().for_each(|access| access.is_conditional = true);
    accesses
}

impl Lowering<'_, '_> {
    /// An operator begins to evaluate its operands.
    pub fn begin_operator(&mut self, id: ExprId) {
        let Some(earlier) = self.sequencing.begin.get(&id) else { return };
        for access in earlier.clone() {
            let mark = self.mark(access);
            self.b.assign(mark, Expr::NULL);
        }
    }

    /// An access is made here: a `Load`, `Assign` or `Update`, to this place.
    pub fn sequenced(&mut self, id: ExprId, place: &Place) {
        if !self.sequencing.concerns(id) {
            return;
        }
        let address = match place {
            Place::Register(_) => Expr::Const { ty: Type::Ptr, bits: 1 },
            Place::Memory { ptr, .. } | Place::Bits { ptr, .. } => ptr.clone(),
        };
        self.at(self.span_of(id));
        for (earlier, overlap) in self.sequencing.checks.get(&id).cloned().unwrap_or_default() {
            // (What lowering left out is not executed.)
            let Some(mark) = self.sequencing.marks.get(&earlier).copied().flatten() else { continue };
            let mark = Expr::Local(mark);
            let is_apart = match overlap {
                Overlap::Always => self.b.binary(BinaryOp::Eq, mark, Expr::NULL),
                _ => {
                    let size = |id| self.types.size_of(self.type_of(self.accessed(id)).ty).unwrap_or(1);
                    self.is_apart((mark, size(earlier)), (address.clone(), size(id)))
                }
            };
            let message = self.unsequenced_message(earlier, id);
            self.b.assert(is_apart, Property::Unsequenced, &message);
        }
        if self.sequencing.marks.contains_key(&id) {
            let mark = self.mark(id);
            self.b.assign(mark, address);
        }
    }

    fn mark(&mut self, access: ExprId) -> LocalId {
        if let Some(Some(mark)) = self.sequencing.marks.get(&access) {
            return *mark;
        }
        let mark = self.b.new_variable("", Type::Ptr, false);
        self.sequencing.marks.insert(access, Some(mark));
        mark
    }

    /// Whether two objects have no byte in common.
    pub fn is_apart(&mut self, (a, size_of_a): (Expr, u64), (b, size_of_b): (Expr, u64)) -> Expr {
        let (a, b) = (self.b.reusable(a), self.b.reusable(b));
        let end_of_a = self.b.offset(a.clone(), size_of_a);
        let end_of_b = self.b.offset(b.clone(), size_of_b);
        let before = self.b.binary(BinaryOp::ULe, end_of_a, b);
        let after = self.b.binary(BinaryOp::ULe, end_of_b, a);
        self.b.binary(BinaryOp::Or, before, after)
    }

    /// The lvalue of an access.
    fn accessed(&self, id: ExprId) -> ExprId {
        match &self.unit.exprs[id].kind {
            ExprKind::Load(place) | ExprKind::Assign { place, .. } | ExprKind::Update { place, .. } => *place,
            _ => id,
        }
    }

    fn unsequenced_message(&self, earlier: ExprId, later: ExprId) -> String {
        let is_write = |id: ExprId| !matches!(self.unit.exprs[id].kind, ExprKind::Load(_));
        let what = match (is_write(earlier), is_write(later)) {
            (true, true) => "two writes",
            _ => "a read and a write",
        };
        match self.lvalue_name(self.accessed(later)).or_else(|| self.lvalue_name(self.accessed(earlier))) {
            Some(name) => format!("{what} of `{name}` that nothing orders"),
            None => format!("{what} of one object that nothing orders"),
        }
    }

    fn lvalue_name(&self, place: ExprId) -> Option<&str> {
        let name = match &self.unit.exprs[place].kind {
            ExprKind::Var(var) => &self.body.vars[*var].name,
            ExprKind::Global(global) => &self.unit.globals[*global].name,
            _ => return None,
        };
        (!name.is_empty()).then_some(name)
    }
}
