//! Calls that become instructions in place.
//!
//! A [`Recipe`] appends to the function that makes the call; [`recipe`] finds it by name. Declarations in real programs
//! are not always those of the headers, so a recipe asks for each argument in the type that it needs: the bits that are
//! there are taken as that type, and an argument that is missing is an uninitialised value.

use super::models::IF_LOADED;
use super::{Options, locks, process, threads, verification};
use crate::lower::{Argument, FunctionBuilder, LibraryCall, Lowered, Scalar, plain_access};
use leno_ir::program::{Access, BinaryOp, BlockId, CastOp, Expr, LocalId, Op, Property, SyncOp, TerminatorKind, Type};

/// The largest number that an attribute object begins with: what its functions leave there (`models/sync_attributes.c`).
const MOST_ATTRIBUTE: u128 = 0xffff;

/// What a call gives back: a value and its C type.
pub(super) type Value = Option<(Expr, Scalar)>;

pub(super) type Recipe = fn(&mut Call<'_, '_, '_>) -> Value;

/// Appends the instructions of a library call; None if the library has none for this name.
pub fn lower_call(builder: &mut FunctionBuilder<'_, '_>, call: &LibraryCall<'_>) -> Option<Lowered> {
    let recipe = recipe(call.name)?;
    let value = recipe(&mut Call { builder, name: call.name, args: call.args, ret: call.ret });
    Some(Lowered { value })
}

/// Whether [`lower_call`] takes calls of this name.
pub fn is_instruction(name: &str) -> bool {
    recipe(name).is_some()
}

fn recipe(name: &str) -> Option<Recipe> {
    if name.starts_with(IF_LOADED) {
        return Some(call_if_loaded);
    }
    threads::recipe(name)
        .or_else(|| locks::recipe(name))
        .or_else(|| process::recipe(name))
        .or_else(|| verification::recipe(name))
}

/// `__leno_if_loaded_f(…)`: a call of `__leno_f`, if there is one.
fn call_if_loaded(call: &mut Call<'_, '_, '_>) -> Value {
    let callee = format!("__leno_{}", call.name.strip_prefix(IF_LOADED).unwrap_or_default());
    let args = call.args.iter().map(|arg| arg.value.clone()).collect();
    call.call_model(&callee, args).flatten().map(|value| {
        let ty = call.builder.type_of(&value);
        (value, Scalar::of_ir(ty))
    })
}

/// A call that is being lowered.
pub(super) struct Call<'c, 'l, 'u> {
    pub builder: &'c mut FunctionBuilder<'l, 'u>,
    pub name: &'c str,
    pub args: &'c [Argument],
    /// What the declaration says it returns.
    pub ret: Option<Scalar>,
}

impl Call<'_, '_, '_> {
    pub fn options(&self) -> Options {
        self.builder.library_options()
    }

    // ---- arguments

    /// An argument as a value of another type: converted, as a correct prototype would have done.
    fn argument(&mut self, index: usize, wanted: Scalar) -> Expr {
        let value = match self.args.get(index) {
            Some(arg) => self.builder.convert(arg.value.clone(), arg.ty, wanted),
            None => self.builder.undefined(wanted.ir()),
        };
        self.builder.bounded(value)
    }

    pub fn pointer(&mut self, index: usize) -> Expr {
        self.argument(index, Scalar::Pointer)
    }

    /// As `int`.
    pub fn int(&mut self, index: usize) -> Expr {
        self.argument(index, Scalar::INT)
    }

    /// As `unsigned long`.
    pub fn word(&mut self, index: usize) -> Expr {
        let size = Scalar::size(self.builder.model());
        self.argument(index, size)
    }

    /// Whether an argument compares unequal to zero: an `i1`.
    pub fn truth(&mut self, index: usize) -> Expr {
        match self.args.get(index) {
            Some(arg) => self.builder.truth(arg.value.clone()),
            None => self.builder.undefined(Type::BOOL),
        }
    }

    // ---- results

    /// An `int` constant.
    pub fn number(&self, value: i32) -> Value {
        Some((Expr::int(value as u32 as u128, 32), Scalar::INT))
    }

    pub fn as_int(&self, value: Expr) -> Value {
        Some((value, Scalar::INT))
    }

    pub fn as_pointer(&self, value: Expr) -> Value {
        Some((value, Scalar::Pointer))
    }

    /// An `unsigned long`.
    pub fn as_word(&self, value: Expr) -> Value {
        Some((value, Scalar::size(self.builder.model())))
    }

    // ---- pieces of recipes

    /// A step on a synchronisation object, and its result.
    pub fn sync(&mut self, op: SyncOp, at: Expr) -> Expr {
        let dst = self.builder.new_temp(Type::I32);
        self.builder.push(Op::Sync { dst: Some(dst), op, at });
        Expr::Local(dst)
    }

    /// A step on a synchronisation object whose result does not matter.
    pub fn sync_quietly(&mut self, op: SyncOp, at: Expr) {
        self.builder.push(Op::Sync { dst: None, op, at });
    }

    /// `value` if `cond` (an i1), else what `otherwise` computes; both are of `ty`.
    pub fn either(
        &mut self,
        cond: Expr,
        ty: Type,
        then: impl FnOnce(&mut Self) -> Expr,
        otherwise: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        match cond {
            Expr::Const { bits: 0, .. } => otherwise(self),
            Expr::Const { .. } => then(self),
            cond => {
                let result = self.builder.new_temp(ty);
                let (yes, no, join) = (self.builder.new_block(), self.builder.new_block(), self.builder.new_block());
                self.builder.branch(cond, yes, no);
                self.arm(yes, join, result, then);
                self.arm(no, join, result, otherwise);
                self.builder.switch_to(join);
                Expr::Local(result)
            }
        }
    }

    fn arm(&mut self, block: BlockId, join: BlockId, result: LocalId, compute: impl FnOnce(&mut Self) -> Expr) {
        self.builder.switch_to(block);
        let value = compute(self);
        self.builder.assign(result, value);
        self.builder.goto(join);
    }

    /// What `then` does, if `cond` (an i1).
    pub fn when(&mut self, cond: Expr, then: impl FnOnce(&mut Self)) {
        match cond {
            Expr::Const { bits: 0, .. } => {}
            Expr::Const { .. } => then(self),
            cond => {
                let (yes, join) = (self.builder.new_block(), self.builder.new_block());
                self.builder.branch(cond, yes, join);
                self.builder.switch_to(yes);
                then(self);
                self.builder.goto(join);
                self.builder.switch_to(join);
            }
        }
    }

    /// Whether a pointer is not null: an `i1`.
    pub fn is_not_null(&self, pointer: &Expr) -> Expr {
        self.builder.truth(pointer.clone())
    }

    pub fn equals(&self, value: &Expr, number: i32) -> Expr {
        let Type::Int(width) = self.builder.type_of(value) else { return Expr::bool(false) };
        self.builder.binary(BinaryOp::Eq, value.clone(), Expr::int(number as u128, width))
    }

    /// `result` where `value` is `number`, and elsewhere `otherwise`: all of them `int`s.
    pub fn replace(&self, value: &Expr, number: i32, result: i32, otherwise: Expr) -> Expr {
        self.builder.select(self.equals(value, number), Expr::int(result as u32 as u128, 32), otherwise)
    }

    pub fn int_access(&self, pointer: Expr) -> Access {
        plain_access(pointer, Type::I32)
    }

    /// A value is looked at, whatever comes of it: it must not be uninitialised.
    pub fn use_value(&mut self, value: Expr) {
        let value = self.builder.materialize(value);
        let cond = self.decides(&value);
        self.builder.push(Op::Assume { cond });
    }

    /// True; but uninitialised if the value is.
    fn decides(&self, value: &Expr) -> Expr {
        let Type::Int(width) = self.builder.type_of(value) else { return Expr::bool(true) };
        let is_negative = self.builder.binary(BinaryOp::SLt, value.clone(), Expr::int(0, width));
        let is_positive = self.builder.binary(BinaryOp::SLe, Expr::int(0, width), value.clone());
        self.builder.binary(BinaryOp::Or, is_negative, is_positive)
    }

    /// The first `int` of an attribute object, which is read and looked at: it must have been initialised, and not be
    /// destroyed. 0 without attributes.
    pub fn attribute(&mut self, attributes: Expr) -> Expr {
        let has_attributes = self.is_not_null(&attributes);
        self.either(has_attributes, Type::I32, |call| call.given_attribute(attributes), |_| Expr::int(0, 32))
    }

    /// The same of an attribute object that must be there.
    pub fn given_attribute(&mut self, attributes: Expr) -> Expr {
        let value = self.builder.load(attributes, Type::I32);
        let value = self.builder.materialize(value);
        self.use_value(value.clone());
        let is_set = self.builder.binary(BinaryOp::ULe, value.clone(), Expr::int(MOST_ATTRIBUTE, 32));
        self.builder.assert(is_set, Property::InvalidArgument, "an attribute object that is not initialised");
        value
    }

    /// Reads a `struct timespec`: its seconds, and whether the nanoseconds are less than a second (an `i1`).
    pub fn time(&mut self, pointer: Expr) -> (Expr, Expr) {
        let (word, bytes) = (self.builder.word(), self.builder.model().pointer_bytes());
        let pointer = self.builder.reusable(pointer);
        let seconds = self.builder.load(pointer.clone(), word);
        let place = self.builder.offset(pointer, bytes);
        let nanoseconds = self.builder.load(place, word);
        let most = Expr::int(999_999_999, self.builder.model().pointer_bits());
        let fits = self.builder.binary(BinaryOp::ULe, nanoseconds, most);
        let is_valid = self.builder.binary(BinaryOp::And, fits, self.decides(&seconds));
        (seconds, self.builder.materialize(is_valid))
    }

    /// Sets `errno`, if the program ever looks at it.
    pub fn set_errno(&mut self, error: i32) {
        if let Some(Some(place)) = self.call_model("__errno_location", Vec::new()) {
            self.builder.store(place, Type::I32, Expr::int(error as u128, 32));
        }
    }

    /// A result of 0 or -1; where it is -1, `errno` is set.
    pub fn failing_with(&mut self, result: Expr, error: i32) -> Expr {
        if self.is_loaded("__errno_location") {
            let has_failed = self.builder.truth(result.clone());
            self.when(has_failed, |call| call.set_errno(error));
        }
        result
    }

    /// A call of a function that a model defines: None if that model is not part of the program.
    pub fn call_model(&mut self, name: &str, args: Vec<Expr>) -> Option<Option<Expr>> {
        let callee = self.builder.function_named(name)?;
        Some(self.builder.call(callee, args))
    }

    pub fn is_loaded(&mut self, name: &str) -> bool {
        self.builder.function_named(name).is_some()
    }

    /// Whether the program may have recursive or error-checking mutexes: made by a call, or by an initialiser.
    pub fn has_mutex_kinds(&mut self) -> bool {
        self.builder.has_initialised_kinds() || self.is_loaded("pthread_mutexattr_settype")
    }

    /// Where a thread that has been cancelled ends.
    pub fn cancellation_point(&mut self) {
        self.call_model("__leno_cancellation_point", Vec::new());
    }

    pub fn terminate(&mut self, kind: TerminatorKind) -> Value {
        self.builder.terminate(kind);
        None
    }

    pub fn word_to_pointer(&self, word: Expr) -> Expr {
        self.builder.cast(CastOp::IntToPtr, Type::Ptr, word)
    }
}
