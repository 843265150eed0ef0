//! Accesses to objects that nobody else knows of yet.
//!
//! An object that a function has allocated belongs to its thread alone until its address gets anywhere but into registers
//! of this activation: stored as a value, passed to a function that could keep it or give it back, handed to a thread. This
//! is found function by function: a forward analysis of which registers hold the address of which fresh object. Where paths
//! meet, an object stays fresh only if the same registers that are still needed hold it on all of them: so no address of it is
//! ever in a register that is not known.
//!
//! This is about who *can* access an object, and says nothing of what a thread that finds the address later has acquired: so it is
//! of use only where all atomic accesses are `seq_cst`.

use leno_ir::analysis::facts::Facts;
use leno_ir::index::Idx;
use leno_ir::program::{BinaryOp, BlockId, Body, CastOp, Expr, FuncId, LocalId, Op, Place, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Which object a register points into, by the place that allocates it.
type Fresh = BTreeMap<LocalId, Place>;

/// The instructions whose access goes to an object that its thread has to itself.
pub fn owned_accesses(facts: &Facts<'_>) -> BTreeSet<Place> {
    let program = facts.program();
    let mut owned = BTreeSet::new();
    for (func, function) in program.functions.iter_enumerated().filter(|(id, _)| facts.calls().is_reachable(*id)) {
        let (Body::Blocks(blocks), Some(cfg)) = (&function.body, facts.cfg(func)) else { continue };
        let allocates = |op: &Op| matches!(op, Op::Allocate { .. });
        if !blocks.iter().any(|block| block.instrs.iter().any(|instr| allocates(&instr.op))) {
            continue;
        }
        let mut starts: BTreeMap<BlockId, Fresh> = BTreeMap::from([(BlockId(0), Fresh::new())]);
        let mut work = vec![BlockId(0)];
        while let Some(block) = work.pop() {
            let mut fresh = starts.get(&block).cloned().unwrap_or_default();
            walk(facts, func, block, &mut fresh, |_| {});
            for next in cfg.successors(block) {
                let live = facts.liveness(func).get(next.index());
                let is_live =
                    |local: LocalId| live.is_none_or(|live| live.registers.get(local.index()).copied().unwrap_or(true));
                let arriving: Fresh =
                    fresh.iter().filter(|(local, _)| is_live(**local)).map(|(a, b)| (*a, *b)).collect();
                let merged = starts.get(next).map_or(arriving.clone(), |known| meet(known, &arriving));
                if starts.get(next) != Some(&merged) {
                    starts.insert(*next, merged);
                    work.push(*next);
                }
            }
        }
        for (block, start) in starts {
            walk(facts, func, block, &mut start.clone(), |place| _ = owned.insert(place));
        }
    }
    owned
}

/// The objects that the same registers hold in both.
fn meet(a: &Fresh, b: &Fresh) -> Fresh {
    let holders = |of: &Fresh, site: Place| -> Vec<LocalId> {
        of.iter().filter(|(_, at)| **at == site).map(|(local, _)| *local).collect()
    };
    a.iter().filter(|(_, site)| holders(a, **site) == holders(b, **site)).map(|(local, site)| (*local, *site)).collect()
}

/// The register that an address is computed from.
fn base(expr: &Expr) -> Option<LocalId> {
    match expr {
        Expr::Local(local) => Some(*local),
        Expr::Binary(BinaryOp::PtrAdd, operands) => base(&operands[0]),
        Expr::Cast(CastOp::Bitcast, Type::Ptr, of) => base(of),
        _ => None,
    }
}

fn walk(facts: &Facts<'_>, func: FuncId, block: BlockId, fresh: &mut Fresh, mut owned: impl FnMut(Place)) {
    let program = facts.program();
    let function = &program.functions[func];
    let Body::Blocks(blocks) = &function.body else { return };
    for (index, instr) in blocks[block].instrs.iter().enumerate() {
        let place = Place { func, block, index: index as u32 };
        let op = &instr.op;
        let address = match op {
            Op::Free { ptr, .. } | Op::ObjectSize { ptr, .. } => Some(ptr),
            _ => op.access().map(|(access, _)| &access.ptr),
        };
        if address.and_then(base).is_some_and(|local| fresh.contains_key(&local)) {
            owned(place);
        }
        let moved = match op {
            Op::Assign { value, .. } => base(value).and_then(|local| fresh.get(&local).copied()),
            _ => None,
        };
        let mut lost: BTreeSet<Place> = BTreeSet::new();
        let is_harmless_call = is_harmless_call(facts, place, op);
        op.for_each_operand(|operand| {
            let is_address = address.is_some_and(|address| std::ptr::eq(address, operand)) && base(operand).is_some();
            let is_moved = moved.is_some() && matches!(op, Op::Assign { .. });
            let is_test = operand.ty(&function.locals, program.model) == Type::BOOL;
            if !(is_address || is_moved || is_test || is_harmless_call) {
                operand.for_each_local(|local| lost.extend(fresh.get(&local)));
            }
        });
        fresh.retain(|_, site| !lost.contains(site));
        op.for_each_result(|local| _ = fresh.remove(&local));
        match op {
            Op::Allocate { dst, .. } => {
                // What the one before was known by is no longer told apart from this one.
                fresh.retain(|_, site| *site != place);
                fresh.insert(*dst, place);
            }
            Op::Assign { dst, .. } => fresh.extend(moved.filter(|site| !lost.contains(site)).map(|site| (*dst, site))),
            _ => {}
        }
    }
}

/// A function of the library that keeps nothing and gives nothing back.
fn is_harmless_call(facts: &Facts<'_>, place: Place, op: &Op) -> bool {
    let Op::Call { dst: None, .. } = op else { return false };
    let callees = facts.calls().callees(place);
    let is_known = |func: FuncId| matches!(&facts.program().functions[func].body, Body::External(it) if it.known);
    !callees.is_empty() && !facts.calls().is_unknown(place) && callees.iter().all(|edge| is_known(edge.callee))
}
