//! What a function takes and returns, for those who write a caller for it.
//!
//! Types are said twice: as the few kinds that matter to who makes up arguments and compares results, and as C that
//! stands for them behind an `#include` of the file.

use crate::typed::Unit;
use crate::types::{QualType, Type, Types};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub name: String,
    pub params: Vec<Parameter>,
    pub result: Kind,
    pub is_variadic: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    Void,
    Boolean,
    Integer,
    Float,
    Pointer(Target),
    /// A structure, a union, or what cannot be computed with: the type as C.
    Other(String),
}

/// What a pointer points to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A number or a pointer: the type as C, without qualifiers.
    Scalar { spelled: String, is_const: bool },
    /// The type as C, without qualifiers.
    Record { spelled: String, is_complete: bool },
    /// `void`, a function, an array.
    Anything,
}

/// The functions that a file defines.
pub fn defined(unit: &Unit) -> Vec<Signature> {
    let mut all = Vec::new();
    for function in &unit.functions {
        let (Some(body), Type::Function(ty)) = (&function.definition, unit.types.get(function.ty)) else { continue };
        let params = ty.params.iter().zip(&body.params).map(|(param, variable)| Parameter {
            name: body.vars[*variable].name.clone(),
            kind: kind(&unit.types, *param),
        });
        all.push(Signature {
            name: function.name.clone(),
            params: params.collect(),
            result: kind(&unit.types, ty.ret),
            is_variadic: ty.variadic,
        });
    }
    all
}

fn kind(types: &Types, ty: QualType) -> Kind {
    match types.get(ty.ty) {
        Type::Void => Kind::Void,
        Type::Bool => Kind::Boolean,
        Type::Int(_) | Type::Enum(_) => Kind::Integer,
        Type::Float(_) => Kind::Float,
        Type::Pointer(target) => Kind::Pointer(pointed_to(types, *target)),
        Type::Array(..) | Type::Function(_) | Type::Record(_) | Type::Unsupported(_) => {
            Kind::Other(types.show(QualType::plain(ty.ty)))
        }
    }
}

fn pointed_to(types: &Types, target: QualType) -> Target {
    let spelled = types.show(QualType::plain(target.ty));
    match types.get(target.ty) {
        Type::Bool | Type::Int(_) | Type::Enum(_) | Type::Float(_) | Type::Pointer(_) => {
            Target::Scalar { spelled, is_const: target.quals.is_const }
        }
        Type::Record(_) => Target::Record { spelled, is_complete: types.layout_of(target.ty).is_some() },
        Type::Void | Type::Array(..) | Type::Function(_) | Type::Unsupported(_) => Target::Anything,
    }
}
