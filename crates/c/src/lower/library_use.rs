//! Mistakes in calls of library functions that only the text of the call shows.
//!
//! - A format that is a literal says what arguments it wants. If there are fewer, or they are of other kinds, the call is
//!   undefined (C11 7.21.6.1p2, p9): asserted where the call is made. Integers of one size are not told apart.
//! - A function that writes a text to an array which is a part of something larger (`strcpy(s.name, text)`) must not write
//!   beyond it, although the object goes on there. This is what glibc checks with `-D_FORTIFY_SOURCE=2`; as there, functions
//!   that are told how many bytes to write (`memcpy`, `memset`, `read`) may write to all of the object. The last array of a
//!   structure is left out, as [elsewhere](super::index).

use super::body::Lowering;
use super::call::Passed;
use super::link::Origin;
use super::scalar::Scalar;
use crate::diagnostic::{Diagnostic, Result};
use crate::library::BEYOND_ARRAY;
use crate::typed::{ExprId, ExprKind};
use leno_ir::interp::directive::{Count, Print, Scan};
use leno_ir::library_memory::{Arguments, Touch, touches};
use leno_ir::program::{BinaryOp, Expr, FloatKind, FuncId, Property, Type};

/// Functions of which Leno knows nothing but that they read a text, the first argument.
const READS_NAME: [&str; 24] = [
    "access",
    "chdir",
    "chmod",
    "chown",
    "creat",
    "dlopen",
    "lstat",
    "mkdir",
    "mkfifo",
    "open",
    "open64",
    "opendir",
    "popen",
    "readlink",
    "rename",
    "rmdir",
    "sem_open",
    "sem_unlink",
    "shm_open",
    "shm_unlink",
    "stat",
    "symlink",
    "system",
    "truncate",
];

/// What a directive wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    /// An integer or a pointer of so many bytes.
    Number(u64),
    Float(FloatKind),
}

impl Lowering<'_, '_> {
    /// The functions that know how much room their target has, in place of those that do not.
    pub(super) fn call_with_room(&mut self, id: ExprId, target: FuncId, passed: &mut Vec<Passed>) -> FuncId {
        let checked = match self.b.link.functions[target].link_name.as_str() {
            "strcpy" => "__strcpy_chk",
            "stpcpy" | "__stpcpy" => "__stpcpy_chk",
            "strncpy" => "__strncpy_chk",
            "stpncpy" => "__stpncpy_chk",
            "strcat" => "__strcat_chk",
            "strncat" => "__strncat_chk",
            _ => return target,
        };
        let is_model = matches!(self.b.link.functions[target].origin, Origin::Defined { unit, .. } if self.b.link.units[unit].is_model);
        let (Some(room), Some(first), true) = (self.room_of_target(id), passed.first(), is_model) else {
            return target;
        };
        let Some(checked) = self.b.function_named(checked) else { return target };
        let size = Scalar::size(self.b.model());
        let value = Expr::int(room.into(), self.b.model().pointer_bits());
        passed.push(Passed { value, ty: first.ty, scalar: Some(size) });
        checked
    }

    /// A thread must start in a function that is known.
    pub(super) fn check_thread_function(&self, id: ExprId, name: &str, passed: &[Passed]) -> Result<()> {
        let starts_thread = matches!(name, "pthread_create" | "thrd_create" | "__VERIFIER_thread_create");
        for arg in passed.iter().filter(|_| starts_thread) {
            if let Expr::Function(function) = arg.value
                && let Some(function) = self.name_of_external(function)
            {
                let message = format!("a thread starts in `{function}`, which is defined nowhere");
                return Err(Box::new(
                    Diagnostic::error(self.span_of(id), message).help("add the file that defines it"),
                ));
            }
        }
        Ok(())
    }

    /// What can be said before a function is called that is defined nowhere.
    pub(super) fn check_use_before(&mut self, id: ExprId, target: FuncId, passed: &[Passed]) {
        let Some(name) = self.name_of_external(target) else { return };
        self.check_format(&name, passed);
        if let (true, Some(text)) = (READS_NAME.contains(&name.as_str()), passed.first())
            && text.scalar == Some(Scalar::Pointer)
        {
            self.b.load(text.value.clone(), Type::Int(8));
        }
        if let ("fgets" | "fgets_unlocked", Some(room), Some(size)) =
            (name.as_str(), self.room_of_target(id), passed.get(1))
        {
            let size = self.b.convert(size.value.clone(), size.scalar.unwrap_or(Scalar::INT), Scalar::INT);
            self.assert_room(BinaryOp::SLe, size, room);
        }
    }

    /// What can be said when its result is known.
    pub(super) fn check_use_after(&mut self, id: ExprId, target: FuncId, size: Option<Expr>, result: Option<&Expr>) {
        let (Some(name), Some(length)) = (self.name_of_external(target), result) else { return };
        let Some(room) = self.room_of_target(id) else { return };
        match (name.as_str(), size) {
            ("sprintf" | "vsprintf", _) => self.assert_room(BinaryOp::SLt, length.clone(), room),
            ("snprintf" | "vsnprintf", Some(size)) => {
                let word = self.b.model().pointer_bits();
                let has_room = self.b.binary(BinaryOp::ULe, size, Expr::int(room.into(), word));
                let is_short = self.b.binary(BinaryOp::SLt, length.clone(), Expr::int(room.into(), 32));
                let fits = self.b.binary(BinaryOp::Or, has_room, is_short);
                self.b.assert(fits, Property::IndexOutOfBounds, BEYOND_ARRAY);
            }
            _ => {}
        }
    }

    fn assert_room(&mut self, within: BinaryOp, length: Expr, room: u64) {
        if i32::try_from(room).is_ok() {
            let fits = self.b.binary(within, length, Expr::int(room.into(), 32));
            self.b.assert(fits, Property::IndexOutOfBounds, BEYOND_ARRAY);
        }
    }

    fn name_of_external(&self, target: FuncId) -> Option<String> {
        let function = &self.b.link.functions[target];
        matches!(function.origin, Origin::External { .. }).then(|| function.link_name.clone())
    }

    /// How many bytes there are to the end of the array that the first argument of a call points into, if that is a part
    /// of something larger.
    fn room_of_target(&self, call: ExprId) -> Option<u64> {
        let ExprKind::Call { args, .. } = &self.unit.exprs[call].kind else { return None };
        self.room_behind(*args.first()?)
    }

    fn room_behind(&self, pointer: ExprId) -> Option<u64> {
        let exprs = &self.unit.exprs;
        match &exprs[pointer].kind {
            ExprKind::Cast(operand) if self.types.is_pointer(exprs[*operand].ty.ty) => self.room_behind(*operand),
            ExprKind::PointerAdd(base, bytes) => match exprs[*bytes].kind {
                ExprKind::Const(bytes) => self.room_behind(*base)?.checked_sub(u64::try_from(bytes).ok()?),
                _ => None,
            },
            ExprKind::AddressOf(place) => match &exprs[*place].kind {
                ExprKind::Deref(element) if !self.types.is_array(exprs[*place].ty.ty) => self.room_behind(*element),
                _ => self.checked_array(pointer),
            },
            _ => None,
        }
    }

    /// Asserts that a call has the arguments that its format asks for.
    fn check_format(&mut self, name: &str, passed: &[Passed]) {
        let long = self.b.model().pointer_bytes();
        let found = touches(name).iter().find_map(|touch| match touch {
            Touch::Prints { format, arguments: Arguments::Area(first) } => Some((*format, *first, false)),
            Touch::Scans { format, arguments: Arguments::Area(first) } => Some((*format, *first, true)),
            _ => None,
        });
        let Some((format, first, scans)) = found else { return };
        let Some(text) = passed.get(format as usize).and_then(|format| self.b.literal(&format.value)) else { return };
        let wanted = if scans { wanted_by_scan(text.as_bytes(), long) } else { wanted_by_print(text.as_bytes(), long) };
        let given = passed.get(first as usize..).unwrap_or_default();
        for (index, wanted) in wanted.into_iter().enumerate() {
            let Some(given) = given.get(index) else {
                let message = format!("`{name}` has fewer arguments than its format asks for");
                return self.b.assert(Expr::bool(false), Property::InvalidArgument, &message);
            };
            if !self.is_wanted(given, wanted) {
                let number = first as usize + index + 1;
                let message = format!("argument {number} of `{name}` is not of the kind that its format asks for");
                return self.b.assert(Expr::bool(false), Property::InvalidArgument, &message);
            }
        }
    }

    fn is_wanted(&self, given: &Passed, wanted: Wanted) -> bool {
        let Some(scalar) = given.scalar else { return false };
        let model = self.b.model();
        match (wanted, scalar.ir()) {
            (Wanted::Float(wanted), Type::Float(kind)) => wanted == kind,
            (Wanted::Float(_), _) | (Wanted::Number(_), Type::Float(_)) => false,
            (Wanted::Number(wanted), ty) => {
                let (given, cell) = (ty.bytes(model), model.pointer_bytes());
                // (What is larger is cut, as long as it is in a cell of its own.)
                given >= wanted && given.div_ceil(cell) == wanted.div_ceil(cell)
            }
        }
    }
}

/// What the directives of a format of `printf` want, as far as it is understood.
fn wanted_by_print(format: &[u8], long: u64) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (directive, _) in Print::all(format, long).unwrap_or_default() {
        if directive.position.is_some() {
            return Vec::new();
        }
        for count in [directive.width, directive.precision] {
            wanted.extend(matches!(count, Some(Count::Argument(_))).then_some(Wanted::Number(4)));
        }
        wanted.push(match directive.conversion {
            b'%' | b'm' => continue,
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => Wanted::Number(directive.length.bytes(long).max(4)),
            b'c' => Wanted::Number(4),
            b's' | b'S' | b'p' | b'n' => Wanted::Number(long),
            _ if directive.is_float() => Wanted::Float(directive.length.float_kind()),
            _ => return wanted,
        });
    }
    wanted
}

/// The same for `scanf`: a pointer for each directive that stores something.
fn wanted_by_scan(format: &[u8], long: u64) -> Vec<Wanted> {
    let directives = Scan::all(format, long).unwrap_or_default();
    directives.iter().filter(|directive| !directive.suppressed).map(|_| Wanted::Number(long)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_formats_want() {
        let print = |format: &str| wanted_by_print(format.as_bytes(), 8);
        assert_eq!(print("100%% %hhd %ld"), [Wanted::Number(4), Wanted::Number(8)]);
        assert_eq!(print("%-*.*s"), [Wanted::Number(4), Wanted::Number(4), Wanted::Number(8)]);
        assert_eq!(print("%g%Lg"), [Wanted::Float(FloatKind::F64), Wanted::Float(FloatKind::F80)]);
        assert_eq!(print("%2$d %1$s"), []);
        assert_eq!(wanted_by_scan(b"%d %*s %[a-z]", 8), [Wanted::Number(8); 2]);
    }
}
