//! What the parameters of functions that are called from outside point to.
//!
//! The representation has one type of pointers. Who calls a function of a library with arguments that are anything of
//! their type (`leno prove --entry`) needs to know how much memory C promises behind each of them.

use super::signature::Signature;
use crate::typed::Unit;
use crate::types::{IntKind, QualType, Type, Types};
use std::collections::BTreeMap;

/// What a pointer points to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Pointee {
    /// Its type, as C writes it.
    pub name: String,
    /// How many bytes are there for certain; 0 if that is not known: `void`, characters (a buffer of some length),
    /// functions, and structures that are declared only.
    pub bytes: u64,
}

/// By function, and by parameter of the representation: what it points to, if it is a pointer.
pub type Pointees = BTreeMap<String, Vec<Option<Pointee>>>;

/// By function, and by parameter of the representation: what it points to, if it is a pointer.
pub fn pointees<'u>(units: impl Iterator<Item = &'u Unit>, functions: &[String]) -> Pointees {
    let mut all = BTreeMap::new();
    for unit in units {
        let is_named = |name: &String| functions.contains(name);
        for function in unit.functions.iter().filter(|function| function.definition.is_some()) {
            if is_named(&function.name) {
                let Type::Function(ty) = unit.types.get(function.ty) else { continue };
                let signature = Signature::of(&unit.types, function.ty);
                let mut parameters = Vec::new();
                if signature.returns_record {
                    parameters.push(Some(of_type(&unit.types, ty.ret)));
                }
                parameters.extend(ty.params.iter().map(|parameter| pointee(&unit.types, *parameter)));
                all.insert(function.name.clone(), parameters);
            }
        }
    }
    all
}

fn pointee(types: &Types, parameter: QualType) -> Option<Pointee> {
    match types.pointee(parameter.ty) {
        Some(target) => Some(of_type(types, target)),
        // (A structure goes by its address.)
        None => types.is_record(parameter.ty).then(|| of_type(types, parameter)),
    }
}

fn of_type(types: &Types, ty: QualType) -> Pointee {
    let is_buffer = matches!(
        types.get(ty.ty),
        Type::Void | Type::Function(_) | Type::Int(IntKind::Char | IntKind::SignedChar | IntKind::UnsignedChar)
    );
    let bytes = if is_buffer { 0 } else { types.size_of(ty.ty).unwrap_or(0) };
    Pointee { name: types.show(QualType::plain(ty.ty)), bytes }
}
