//! The one place that reacts to undefined values.
//!
//! Everything else only carries masks around. Here an expression is evaluated for a purpose: to be stored (any mask
//! will do), or to decide something (a branch, an address, a size), which needs all of its bits. The
//! [`UndefinedPolicy`] says what happens when they are not all defined: a violation, or a nondeterministic choice that
//! is made when undefined bits are first read, and written back so that all later reads see the same.

use super::Value;
use super::eval::{DecidedByUndefined, Ex};
use crate::interp::memory::violation::{Violation, ViolationKind};
use crate::interp::thread::environment::{Environment, Source};
use crate::interp::thread::machine::{Machine, ThreadId, UndefinedPolicy};

type Checked<T> = Result<T, Box<Violation>>;

impl Machine<'_> {
    /// The value of an expression, with its undefined bits.
    #[inline]
    pub(in crate::interp) fn value(&mut self, thread: ThreadId, ex: &Ex, env: &mut dyn Environment) -> Checked<Value> {
        match self.threads[thread].frame().fast(ex) {
            Some(bits) => Ok(Value::defined(bits.into())),
            None => self.value_slowly(thread, ex, env),
        }
    }

    fn value_slowly(&mut self, thread: ThreadId, ex: &Ex, env: &mut dyn Environment) -> Checked<Value> {
        if self.undefined == UndefinedPolicy::Nondet {
            self.settle_registers(thread, ex, env);
        }
        let value = self.threads[thread].frame().value(ex);
        value.map_err(|DecidedByUndefined(role)| self.uninitialised(thread, role))
    }

    /// The value of an expression of at most 64 bits that decides something; `role` says what, to a person.
    #[inline]
    pub(in crate::interp) fn decide(
        &mut self,
        thread: ThreadId,
        ex: &Ex,
        role: &'static str,
        env: &mut dyn Environment,
    ) -> Checked<u64> {
        match self.threads[thread].frame().fast(ex) {
            Some(bits) => Ok(bits),
            None => {
                let value = self.value_slowly(thread, ex, env)?;
                self.decide_value(thread, value, role).map(|bits| bits as u64)
            }
        }
    }

    /// The bits of a value that decides something.
    pub(in crate::interp) fn decide_value(&self, thread: ThreadId, value: Value, role: &'static str) -> Checked<u128> {
        if value.is_defined() { Ok(value.bits) } else { Err(self.uninitialised(thread, role)) }
    }

    pub(in crate::interp) fn uninitialised(&self, thread: ThreadId, role: &'static str) -> Box<Violation> {
        self.violation(thread, ViolationKind::Uninitialised, format!("{role} an uninitialised value"))
    }

    /// Reads `bits` bits from memory.
    pub(in crate::interp) fn load(
        &mut self,
        thread: ThreadId,
        address: u64,
        bits: u16,
        env: &mut dyn Environment,
    ) -> Checked<Value> {
        let len = u64::from(bits.div_ceil(8));
        let value = self.memory.load(address, len).map_err(|fault| self.fault(thread, fault))?;
        if value.is_defined() {
            return Ok(value.truncate(bits));
        }
        let unknown = self.memory.is_unknown(address);
        if !unknown && self.undefined == UndefinedPolicy::Report {
            return Ok(value.truncate(bits));
        }
        self.tainted |= unknown;
        let source = if unknown { Source::External } else { Source::Undefined };
        let settled = settle(thread, value, len as u16 * 8, source, env);
        self.memory.store(address, len, settled).map_err(|fault| self.fault(thread, fault))?;
        Ok(settled.truncate(bits))
    }

    fn settle_registers(&mut self, thread: ThreadId, ex: &Ex, env: &mut dyn Environment) {
        match ex {
            Ex::Reg(cell) => self.settle_cell(thread, *cell, env),
            Ex::WideReg(cell) => {
                self.settle_cell(thread, *cell, env);
                self.settle_cell(thread, *cell + 1, env);
            }
            Ex::Const(_) | Ex::WideConst(_) | Ex::Slot(_) | Ex::ThreadLocal(_) => {}
            Ex::Unary(node) => self.settle_registers(thread, &node.operand, env),
            Ex::Cast(node) => self.settle_registers(thread, &node.operand, env),
            Ex::Binary(node) => {
                self.settle_registers(thread, &node.left, env);
                self.settle_registers(thread, &node.right, env);
            }
            Ex::Select(parts) => parts.iter().for_each(|part| self.settle_registers(thread, part, env)),
        }
    }

    fn settle_cell(&mut self, thread: ThreadId, cell: u32, env: &mut dyn Environment) {
        let base = self.threads[thread].base;
        let cell = &mut self.threads[thread].cells[(base + cell) as usize];
        if cell.undefined != 0 {
            let value = Value { bits: cell.bits.into(), undefined: cell.undefined.into() };
            let width = (64 - cell.undefined.leading_zeros()) as u16;
            cell.bits = settle(thread, value, width, Source::Undefined, env).bits as u64;
            cell.undefined = 0;
        }
    }
}

/// Chooses the undefined bits of a value.
fn settle(thread: ThreadId, value: Value, width: u16, source: Source, env: &mut dyn Environment) -> Value {
    let chosen = env.nondet(thread, width, source);
    Value::defined(value.bits & !value.undefined | chosen & value.undefined)
}
