//! Words for kinds of violations, as they stand in files: they stay when names in the code change.

use leno_ir::interp::ViolationKind;
use leno_ir::program::DataModel;

const KINDS: [(ViolationKind, &str); 26] = [
    (ViolationKind::Assertion, "assertion"),
    (ViolationKind::DivisionByZero, "division-by-zero"),
    (ViolationKind::QuotientOverflow, "quotient-overflow"),
    (ViolationKind::SignedOverflow, "signed-overflow"),
    (ViolationKind::IndexOutOfBounds, "index-out-of-bounds"),
    (ViolationKind::Unsequenced, "unsequenced"),
    (ViolationKind::OverlappingCopy, "overlapping-copy"),
    (ViolationKind::NullDereference, "null-dereference"),
    (ViolationKind::OutOfBounds, "out-of-bounds"),
    (ViolationKind::InvalidPointer, "invalid-pointer"),
    (ViolationKind::UseAfterFree, "use-after-free"),
    (ViolationKind::UseAfterScope, "use-after-scope"),
    (ViolationKind::WriteToConstant, "write-to-constant"),
    (ViolationKind::DoubleFree, "double-free"),
    (ViolationKind::InvalidFree, "invalid-free"),
    (ViolationKind::Uninitialised, "uninitialised"),
    (ViolationKind::InvalidUnlock, "invalid-unlock"),
    (ViolationKind::InvalidDestroy, "invalid-destroy"),
    (ViolationKind::UseAfterDestroy, "use-after-destroy"),
    (ViolationKind::InvalidCall, "invalid-call"),
    (ViolationKind::InvalidThread, "invalid-thread"),
    (ViolationKind::Unreachable, "unreachable"),
    (ViolationKind::StackOverflow, "stack-overflow"),
    (ViolationKind::InvalidArgument, "invalid-argument"),
    (ViolationKind::Leak, "leak"),
    (ViolationKind::LostMemory, "lost-memory"),
];

pub(crate) fn of_kind(kind: ViolationKind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("other", |(_, word)| word)
}

pub(crate) fn kind_of(word: &str) -> Option<ViolationKind> {
    KINDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
}

pub(crate) fn of_model(model: DataModel) -> &'static str {
    match model {
        DataModel::Lp64 => "lp64",
        DataModel::Ilp32 => "ilp32",
    }
}

pub(crate) fn model_of(word: &str) -> Option<DataModel> {
    [DataModel::Lp64, DataModel::Ilp32].into_iter().find(|model| of_model(*model) == word)
}
