//! Which accesses stay in bounds?
//!
//! An access is in bounds if all of its bytes lie in the object that its address was computed from: an object and an offset that the
//! shared facts or the state know, plus numbers that were added on the way, of which the invariants say how large they may
//! be. Whether the object still lives, and whether the pointer is null instead, are other questions.
//!
//! (Which accesses are looked at, the checker says: `leno_verify::claims`.)

use crate::code::FrameId;
use crate::evaluate::Evaluator;
use crate::state::{Definition, State, Variable};
use leno_domains::Numbers;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::program::{Access, BinaryOp, CastOp, Expr, LocalId, Op, Type};
use std::collections::BTreeMap;

/// How many equations are followed, one after another.
const FUEL: u32 = 16;

/// Where an address points: into one of these objects, at one of their offsets plus all that was added.
#[derive(Clone, Debug)]
pub struct Reach<'p> {
    pub from: Vec<(AbstractId, Vec<i64>)>,
    pub added: Vec<(FrameId, &'p Expr)>,
}

/// What is to be shown of an access.
pub struct Question<'p> {
    /// The sum of these is added
    pub added: Vec<(FrameId, &'p Expr)>,
    /// to each of the first numbers, and must not get beyond the second one, nor below zero.
    pub limits: Vec<(i64, u64)>,
}

/// Part of an object, at which an access lands somewhere.
pub struct Stretch {
    pub object: AbstractId,
    pub from: i64,
    /// Behind the last byte.
    pub to: i64,
}

impl<'p> Evaluator<'_, 'p> {
    /// Whether an instruction stays in bounds in all of these states.
    pub fn is_in_bounds(&self, state: &State<'p>, frame: FrameId, op: &'p Op) -> bool {
        let Some((access, _)) = op.access() else { return false };
        let Some(question) = self.bounds_question(state, frame, access) else { return false };
        let (mut low, mut high) = (0i128, 0i128);
        for (frame, added) in &question.added {
            let value = self.value(state, *frame, added);
            let Some((least, greatest)) = value.numbers.hull(value.width).signed_bounds(value.width) else {
                return true;
            };
            (low, high) = (low + least, high + greatest);
        }
        let fits = |(offset, most): &(i64, u64)| {
            i128::from(*offset) + low >= 0 && i128::from(*offset) + high <= (*most).into()
        };
        question.limits.iter().all(fits)
    }

    /// What must hold for an access to be in bounds; none if nothing is known of where it goes.
    pub fn bounds_question(&self, state: &State<'p>, frame: FrameId, access: &'p Access) -> Option<Question<'p>> {
        let reach = self.reach_of(state, frame, &access.ptr)?;
        let bytes = access.ty.bytes(self.code.program().model);
        let mut limits = Vec::new();
        for (object, offsets) in &reach.from {
            let most = self.size(*object)?.checked_sub(bytes)?;
            limits.extend(offsets.iter().map(|offset| (*offset, most)));
        }
        (!limits.is_empty()).then_some(Question { added: reach.added, limits })
    }

    /// The bytes that an access may be of, where it goes to one object at an index that is not certain: from, and behind the
    /// last. None if nothing is known of it.
    pub fn stretch(&self, state: &State<'p>, frame: FrameId, access: &'p Access) -> Option<Stretch> {
        let reach = self.reach_of(state, frame, &access.ptr)?;
        let [(object, offsets)] = reach.from.as_slice() else { return None };
        let (least, greatest) = (*offsets.iter().min()?, *offsets.iter().max()?);
        let (mut low, mut high) = (i128::from(least), i128::from(greatest));
        for (frame, added) in &reach.added {
            let value = self.value(state, *frame, added);
            let (least, greatest) = value.numbers.hull(value.width).signed_bounds(value.width)?;
            (low, high) = (low + least, high + greatest);
        }
        let most = i128::from(self.size(*object)?);
        let bytes = i128::from(access.ty.bytes(self.code.program().model));
        // (What is larger than the object says nothing.)
        (low >= 0 && high + bytes <= most).then_some(Stretch {
            object: *object,
            from: low as i64,
            to: (high + bytes) as i64,
        })
    }

    fn size(&self, object: AbstractId) -> Option<u64> {
        let program = self.code.program();
        match self.code.facts.points_to().objects()[object] {
            AbstractObject::Static(id) => Some(program.objects[id].size),
            AbstractObject::Slot(func, slot) => Some(program.functions[func].slots[slot].size),
            AbstractObject::Site(place) => match program.op(place) {
                Some(Op::Allocate { size: Expr::Const { bits, .. }, .. }) => u64::try_from(*bits).ok(),
                _ => None,
            },
            AbstractObject::Unknown | AbstractObject::Function(_) => None,
        }
    }

    pub fn reach_of(&self, state: &State<'p>, frame: FrameId, expr: &'p Expr) -> Option<Reach<'p>> {
        self.reach(state, frame, expr, FUEL)
    }

    fn reach(&self, state: &State<'p>, frame: FrameId, expr: &'p Expr, fuel: u32) -> Option<Reach<'p>> {
        self.reach_by_equations(state, frame, expr, fuel).or_else(|| self.reach_by_facts(frame, expr))
    }

    fn reach_by_equations(&self, state: &State<'p>, frame: FrameId, expr: &'p Expr, fuel: u32) -> Option<Reach<'p>> {
        let fuel = fuel.checked_sub(1)?;
        let start = |object: AbstractObject| {
            let object = self.code.facts.points_to().object(object)?;
            Some(Reach { from: vec![(object, vec![0])], added: Vec::new() })
        };
        match expr {
            Expr::Object(id) => start(AbstractObject::Static(*id)),
            Expr::Slot(slot) => start(AbstractObject::Slot(self.code.func_of(frame), *slot)),
            Expr::Local(local) => self.reach_of_variable(state, Variable::Register(frame, *local), fuel),
            Expr::Binary(BinaryOp::PtrAdd, operands) => {
                let mut reach = self.reach(state, frame, &operands[0], fuel)?;
                reach.added.push((frame, &operands[1]));
                Some(reach)
            }
            Expr::Cast(CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast, _, of) => {
                self.reach(state, frame, of, fuel)
            }
            Expr::Select(parts) => {
                let condition = self.value(state, frame, &parts[0]).numbers;
                match condition.to_truth(1).decided()? {
                    true => self.reach(state, frame, &parts[1], fuel),
                    false => self.reach(state, frame, &parts[2], fuel),
                }
            }
            _ => None,
        }
    }

    fn reach_of_variable(&self, state: &State<'p>, variable: Variable, fuel: u32) -> Option<Reach<'p>> {
        let fuel = fuel.checked_sub(1)?;
        let defined = match state.definition(variable) {
            Some(Definition::Expr(frame, expr)) => self.reach_by_equations(state, frame, expr, fuel),
            Some(Definition::Same(other)) => self.reach_of_variable(state, other, fuel),
            None => None,
        };
        defined.or_else(|| match variable {
            Variable::Register(frame, local) => self.reach_by_loads(frame, local),
            Variable::Cell(_) | Variable::Seen(_) | Variable::Theirs(_) => None,
        })
    }

    /// Where a register points that is only ever set by loads of pointers, in any state.
    fn reach_by_loads(&self, frame: FrameId, local: LocalId) -> Option<Reach<'p>> {
        let func = self.code.func_of(frame);
        let mut targets: BTreeMap<AbstractId, Vec<i64>> = BTreeMap::new();
        for load in self.code.pointers.loads(func, local)? {
            let bytes = load.ty.bytes(self.code.program().model);
            let reach = self.reach_by_facts(frame, &load.ptr).filter(|_| load.ty == Type::Ptr)?;
            for (object, offsets) in reach.from {
                for offset in offsets {
                    // (A load that is not in bounds ends the execution.)
                    let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(bytes));
                    if self.size(object).is_some_and(|size| end.is_none_or(|end| end > size)) {
                        continue;
                    }
                    for (target, at) in self.code.pointers.at(object, offset)? {
                        targets.entry(target).or_default().push(at);
                    }
                }
            }
        }
        Some(Reach { from: targets.into_iter().collect(), added: Vec::new() })
    }

    /// What is known of an address in any state.
    fn reach_by_facts(&self, frame: FrameId, expr: &Expr) -> Option<Reach<'p>> {
        let (facts, func) = (self.code.facts, self.code.func_of(frame));
        let number = facts.offsets().number(facts.program(), func, expr);
        let offsets = number.few()?;
        let objects = facts.points_to().points_to(func, expr);
        Some(Reach { from: objects.iter().map(|object| (object, offsets.to_vec())).collect(), added: Vec::new() })
    }
}
