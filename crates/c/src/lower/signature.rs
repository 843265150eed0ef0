//! How C's function types become parameters and results of the representation.
//!
//! A record goes by the address of a copy that the callee owns; a record result goes into memory whose address is a
//! hidden first parameter; variable arguments lie in an area whose address is a hidden last parameter.

use super::scalar::Scalar;
use crate::types::{self, TypeId, Types};
use leno_ir::program::Type;

/// The calling convention of a function of the representation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// All of them: the hidden ones, too.
    pub params: Vec<Type>,
    pub ret: Option<Type>,
    /// The first parameter is the address of the record that is returned.
    pub returns_record: bool,
    /// The last parameter is the address of the variable arguments.
    pub variadic: bool,
}

impl Signature {
    /// `ty` is a C function type.
    pub fn of(types: &Types, ty: TypeId) -> Signature {
        let types::Type::Function(function) = types.get(ty) else { return Signature::default() };
        let ret = Scalar::of(types, function.ret.ty).map(Scalar::ir);
        let returns_record = types.is_record(function.ret.ty);
        let mut params = Vec::with_capacity(function.params.len() + 2);
        if returns_record {
            params.push(Type::Ptr);
        }
        params.extend(function.params.iter().map(|param| passed_as(types, param.ty)));
        if function.variadic {
            params.push(Type::Ptr);
        }
        Signature { params, ret, returns_record, variadic: function.variadic }
    }

    /// Of the function that runs first: `(i32 argc, ptr argv)`.
    pub fn of_entry() -> Signature {
        Signature { params: vec![Type::I32, Type::Ptr], ..Signature::default() }
    }

    /// How many parameters C's declaration has.
    pub fn fixed(&self) -> usize {
        self.params.len() - usize::from(self.returns_record) - usize::from(self.variadic)
    }
}

/// Scalars go as they are, all else by address.
pub(super) fn passed_as(types: &Types, ty: TypeId) -> Type {
    Scalar::of(types, ty).map_or(Type::Ptr, Scalar::ir)
}
