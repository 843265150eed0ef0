//! How types of the representation are spelled in C (the runtime has the typedefs).

use leno_ir::program::{DataModel, FloatKind, Function, Type};

/// The type of registers, parameters and results.
pub(crate) fn value(ty: Type) -> &'static str {
    match ty {
        Type::Int(..=8) => "u8",
        Type::Int(9..=16) => "u16",
        Type::Int(17..=32) => "u32",
        Type::Int(33..=64) => "u64",
        Type::Int(65..) => "u128",
        Type::Ptr => "ptr",
        Type::Float(FloatKind::F32) => "f32",
        Type::Float(FloatKind::F64) => "f64",
        Type::Float(FloatKind::F80) => "f80",
    }
}

/// The type by which memory is accessed. (For `f80` there are functions: C has no type of ten bytes.)
pub(crate) fn memory(ty: Type) -> &'static str {
    match value(ty) {
        "u8" => "mem8",
        "u16" => "mem16",
        "u32" => "mem32",
        "u64" => "mem64",
        "u128" => "mem128",
        "ptr" => "memptr",
        "f32" => "memf32",
        _ => "memf64",
    }
}

/// The type by which atomic instructions access memory, if the machine has any of that width.
pub(crate) fn atomic(ty: Type) -> Option<&'static str> {
    match value(ty) {
        "u8" => Some("atomic8"),
        "u16" => Some("atomic16"),
        "u32" | "f32" => Some("atomic32"),
        "u64" | "f64" => Some("atomic64"),
        "ptr" => Some("atomicptr"),
        _ => None,
    }
}

/// The width of the C type in which integers of this width are computed: smaller ones would be promoted to `int`.
pub(crate) fn computing(width: u16) -> u16 {
    match width {
        ..=32 => 32,
        33..=64 => 64,
        _ => 128,
    }
}

pub(crate) fn parameters(function: &Function) -> impl ExactSizeIterator<Item = Type> + '_ {
    let count = (function.params as usize).min(function.locals.len());
    function.locals.as_slice()[..count].iter().map(|local| local.ty)
}

/// `u32 (*)(ptr, u32)`
pub(crate) fn function_pointer(ret: Option<Type>, parameters: &[Type]) -> String {
    format!("{} (*)({})", ret.map_or("void", value), list(parameters))
}

/// What stands between the parentheses of a prototype without names.
pub(crate) fn list(parameters: &[Type]) -> String {
    if parameters.is_empty() {
        return "void".to_string();
    }
    parameters.iter().map(|ty| value(*ty)).collect::<Vec<_>>().join(", ")
}

/// Whether the machine returns a value of this type on the x87 stack, from which it has to be taken.
pub(crate) fn returned_on_x87_stack(ty: Type, model: DataModel) -> bool {
    match ty {
        Type::Float(FloatKind::F80) => true,
        Type::Float(_) => model == DataModel::Ilp32,
        _ => false,
    }
}
