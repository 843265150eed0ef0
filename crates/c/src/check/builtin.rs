//! gcc's builtins: `__builtin_*`, `__atomic_*`, `__sync_*`, and library functions that gcc knows without a declaration.

use super::scope::Entity;
use super::{Checker, fail};
use crate::ast::{self, ExprKind as Written, Name};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;
use leno_ir::program::{Order, RmwOp};

/// Library functions that gcc declares by itself, with their types: result, then parameters. `v` void, `i` int, `l`
/// long, `z` size_t, `p` void *, `s` char *, `d` double, `f` float, `.` variable arguments.
const LIBRARY: &[(&str, &str)] = &[
    ("abort", "v"),
    ("abs", "ii"),
    ("alloca", "pz"),
    ("bcmp", "ippz"),
    ("bzero", "vpz"),
    ("calloc", "pzz"),
    ("ceil", "dd"),
    ("cos", "dd"),
    ("exit", "vi"),
    ("exp", "dd"),
    ("fabs", "dd"),
    ("fabsf", "ff"),
    ("floor", "dd"),
    ("fmod", "ddd"),
    ("fprintf", "ips."),
    ("free", "vp"),
    ("labs", "ll"),
    ("log", "dd"),
    ("malloc", "pz"),
    ("memchr", "ppiz"),
    ("memcmp", "ippz"),
    ("memcpy", "pppz"),
    ("memmove", "pppz"),
    ("mempcpy", "pppz"),
    ("memset", "ppiz"),
    ("pow", "ddd"),
    ("printf", "is."),
    ("putchar", "ii"),
    ("puts", "is"),
    ("realloc", "ppz"),
    ("scanf", "is."),
    ("sin", "dd"),
    ("snprintf", "iszs."),
    ("sprintf", "iss."),
    ("sqrt", "dd"),
    ("sqrtf", "ff"),
    ("sscanf", "iss."),
    ("stpcpy", "sss"),
    ("strcat", "sss"),
    ("strchr", "ssi"),
    ("strcmp", "iss"),
    ("strcpy", "sss"),
    ("strdup", "ss"),
    ("strlen", "zs"),
    ("strncat", "sssz"),
    ("strncmp", "issz"),
    ("strncpy", "sssz"),
    ("strrchr", "ssi"),
    ("strstr", "sss"),
    ("tan", "dd"),
];

impl<'a> Checker<'a> {
    /// A library function by its C name, declared now if gcc would know it.
    pub fn library_function(&mut self, name: Name) -> Option<FuncId> {
        let text = self.text(name);
        let id = self.library_function_named(text)?;
        self.linked.insert(name, Entity::Function(id));
        self.scopes.bind_file(name, Entity::Function(id));
        Some(id)
    }

    /// Whether a function that gcc knows can be called with so many arguments.
    pub fn library_takes(&self, text: &str, arguments: usize) -> bool {
        LIBRARY.binary_search_by_key(&text, |(name, _)| name).is_ok_and(|index| {
            let signature = LIBRARY[index].1;
            let params = signature.trim_end_matches('.').len() - 1;
            arguments == params || (arguments > params && signature.ends_with('.'))
        })
    }

    fn library_function_named(&mut self, text: &str) -> Option<FuncId> {
        let index = LIBRARY.binary_search_by_key(&text, |(name, _)| name).ok()?;
        let signature = LIBRARY[index].1;
        let variadic = signature.ends_with('.');
        let types: Vec<TypeId> = signature.trim_end_matches('.').chars().map(|c| self.signature_type(c)).collect();
        Some(self.internal_function(text, types[0], &types[1..], variadic))
    }

    fn signature_type(&mut self, letter: char) -> TypeId {
        let common = self.common();
        match letter {
            'v' => common.void,
            'l' => common.long,
            'z' => common.size,
            'p' => common.void_ptr,
            's' => common.char_ptr,
            'd' => common.double,
            'f' => self.unit.types.intern(Type::Float(FloatKind::Float)),
            _ => common.int,
        }
    }

    /// A call of something that begins like a builtin. None if it is an ordinary function after all.
    pub fn builtin_call(&mut self, name: Name, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let text = self.text(name);
        if let Some(rest) = text.strip_prefix("__atomic_") {
            return self.atomic_call(rest, args, span);
        }
        if let Some(rest) = text.strip_prefix("__sync_") {
            return self.sync_call(rest, args, span);
        }
        let Some(rest) = text.strip_prefix("__builtin_") else { return Ok(None) };
        if let Some(result) = self.control_builtin(rest, args, span)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.bit_builtin(rest, args, span)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.float_builtin(rest, args, span)? {
            return Ok(Some(result));
        }
        if let Some(result) = self.overflow_builtin(rest, args, span)? {
            return Ok(Some(result));
        }
        self.library_builtin(rest, args, span)
    }

    fn builtin(&mut self, builtin: Builtin, args: Vec<ExprId>, ty: TypeId, span: Span) -> ExprId {
        self.push(ExprKind::Builtin { builtin, args }, ty, span)
    }

    fn argument(&mut self, args: &'a [ast::ExprId], index: usize, span: Span) -> Result<ExprId> {
        match args.get(index) {
            Some(arg) => self.rvalue(*arg),
            None => fail(span, format!("this builtin needs more than {} arguments", args.len())),
        }
    }

    fn nothing(&mut self, span: Span) -> ExprId {
        let zero = self.int_constant(0, span);
        self.push(ExprKind::Cast(zero), self.common().void, span)
    }

    /// A value, after the evaluation of arguments that it does not depend on, for their side effects.
    fn after(&mut self, unused: &'a [ast::ExprId], value: ExprId) -> Result<ExprId> {
        let mut evaluated = Vec::with_capacity(unused.len());
        for arg in unused {
            evaluated.push(self.rvalue(*arg)?);
        }
        Ok(self.after_values(evaluated, value))
    }

    fn after_values(&mut self, evaluated: Vec<ExprId>, value: ExprId) -> ExprId {
        let (ty, span) = (self.ty(value).ty, self.span(value));
        let unknown = evaluated.into_iter().rev().filter(|arg| self.evaluate(*arg).is_none()).collect::<Vec<_>>();
        unknown.into_iter().fold(value, |value, arg| self.push(ExprKind::Comma(arg, value), ty, span))
    }

    // ---- control, varargs, memory

    fn control_builtin(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let common = self.common();
        Ok(Some(match name {
            "expect" | "expect_with_probability" => {
                let value = self.argument(args, 0, span)?;
                let value = self.convert_assigned(value, common.long.into(), "here")?;
                self.after(args.get(1..).unwrap_or_default(), value)?
            }
            "assume_aligned" => {
                let value = self.argument(args, 0, span)?;
                let value = self.convert(value, common.void_ptr);
                self.after(args.get(1..).unwrap_or_default(), value)?
            }
            // (Its argument is not evaluated, nor are those of `object_size`.)
            "constant_p" => {
                let value = self.argument(args, 0, span)?;
                let known = self.evaluate(value).is_some();
                self.int_constant(i128::from(known), span)
            }
            "unreachable" => self.builtin(Builtin::Unreachable, Vec::new(), common.void, span),
            "trap" => self.builtin(Builtin::Trap, Vec::new(), common.void, span),
            "alloca" | "alloca_with_align" => {
                let size = self.argument(args, 0, span)?;
                let size = self.convert(size, common.size);
                self.builtin(Builtin::Alloca, vec![size], common.void_ptr, span)
            }
            "va_start" | "va_end" => {
                let Some(list) = args.first() else { return fail(span, "a `va_list` is missing") };
                let list = self.va_list_pointer(*list)?;
                let builtin = if name == "va_start" { Builtin::VaStart } else { Builtin::VaEnd };
                self.builtin(builtin, vec![list], common.void, span)
            }
            "va_copy" => {
                let [to, from] = args else { return fail(span, "`va_copy` takes two arguments") };
                let (to, from) = (self.va_list_pointer(*to)?, self.va_list_pointer(*from)?);
                self.builtin(Builtin::VaCopy, vec![to, from], common.void, span)
            }
            "object_size" | "dynamic_object_size" => {
                let kind = args.get(1).map_or(Ok(0), |kind| self.constant_int(*kind, "the kind of an object size"))?;
                let unknown = if kind & 2 == 0 { u64::MAX } else { 0 };
                let bits = self.truncate(u128::from(unknown), common.size);
                self.constant(bits, common.size, span)
            }
            "prefetch" | "ia32_pause" => {
                let nothing = self.nothing(span);
                self.after(args, nothing)?
            }
            "frame_address" | "return_address" | "extract_return_addr" => self.constant(0, common.void_ptr, span),
            _ => return Ok(None),
        }))
    }

    // ---- bits: functions of the library, by width

    fn bit_builtin(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        if let "bswap16" | "bswap32" | "bswap64" = name {
            let kind = match name {
                "bswap16" => IntKind::UnsignedShort,
                "bswap32" => IntKind::UnsignedInt,
                _ => IntKind::UnsignedLongLong,
            };
            let ty = self.unit.types.int(kind);
            let value = self.argument(args, 0, span)?;
            return self.internal_call(&format!("__leno_{name}"), ty, &[ty], vec![value], span).map(Some);
        }
        let (base, long) = match name.strip_suffix("ll") {
            Some(base) if base != "ca" => (base, 2),
            _ => match name.strip_suffix('l') {
                Some(base) => (base, 1),
                None => (name, 0),
            },
        };
        if !matches!(base, "clz" | "ctz" | "popcount" | "parity" | "ffs" | "clrsb") {
            return Ok(None);
        }
        let wide = long == 2 || (long == 1 && self.types().model.pointer_bits() == 64);
        let (kind, bits) = if wide { (IntKind::UnsignedLongLong, 64) } else { (IntKind::UnsignedInt, 32) };
        let ty = self.unit.types.int(kind);
        let value = self.argument(args, 0, span)?;
        let int = self.common().int;
        self.internal_call(&format!("__leno_{base}{bits}"), int, &[ty], vec![value], span).map(Some)
    }

    // ---- floats

    fn float_builtin(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let (int, double) = (self.common().int, self.common().double);
        let without_suffix = name.trim_end_matches(['f', 'l']);
        let test = match (name, without_suffix) {
            (_, "isnan") => Some(Builtin::IsNan),
            (_, "isin") | ("isinf_sign", _) => Some(Builtin::IsInf), // `isinf` less its f
            ("isfinite", _) | (_, "finite") => Some(Builtin::IsFinite),
            (_, "signbit") => Some(Builtin::SignBit),
            _ => None,
        };
        if let Some(test) = test {
            let value = self.float_argument(args, 0, span)?;
            return Ok(Some(self.builtin(test, vec![value], int, span)));
        }
        let comparison = match name {
            "isgreater" => Some(BinaryOp::Gt),
            "isgreaterequal" => Some(BinaryOp::Ge),
            "isless" => Some(BinaryOp::Lt),
            "islessequal" => Some(BinaryOp::Le),
            _ => None,
        };
        if comparison.is_some() || name == "isunordered" {
            let (a, b) = (self.float_argument(args, 0, span)?, self.float_argument(args, 1, span)?);
            let (a, b, _) = self.balance(a, b);
            return Ok(Some(match comparison {
                Some(op) => self.push(ExprKind::Binary(op, a, b), int, span),
                None => self.builtin(Builtin::IsUnordered, vec![a, b], int, span),
            }));
        }
        let kind = match name.as_bytes().last() {
            Some(b'f') if name != "inf" => FloatKind::Float,
            Some(b'l') if name != "huge_val" => FloatKind::LongDouble,
            _ => FloatKind::Double,
        };
        let ty = self.unit.types.intern(Type::Float(kind));
        match name {
            "inf" | "inff" | "infl" | "huge_val" | "huge_valf" | "huge_vall" => {
                let bits = match kind {
                    FloatKind::Float => 0x7f80_0000,
                    FloatKind::Double => 0x7ff0_0000_0000_0000,
                    FloatKind::LongDouble => 0x7fff_8000_0000_0000_0000,
                };
                Ok(Some(self.constant(bits, ty, span)))
            }
            "nan" | "nanf" | "nanl" => {
                let bits = match kind {
                    FloatKind::Float => 0x7fc0_0000,
                    FloatKind::Double => 0x7ff8_0000_0000_0000,
                    FloatKind::LongDouble => 0x7fff_c000_0000_0000_0000,
                };
                let value = self.constant(bits, ty, span);
                self.after(args, value).map(Some)
            }
            "sqrt" | "sqrtf" | "sqrtl" | "fabs" | "fabsf" | "fabsl" => {
                let value = self.argument(args, 0, span)?;
                let value = self.convert_assigned(value, ty.into(), "as this argument")?;
                let builtin = if name.starts_with("sqrt") { Builtin::Sqrt } else { Builtin::FAbs };
                Ok(Some(self.builtin(builtin, vec![value], ty, span)))
            }
            "fpclassify" => {
                let mut values = Vec::new();
                for index in 0..6 {
                    values.push(self.argument(args, index, span)?);
                }
                let params = [int, int, int, int, int, double];
                self.internal_call("__leno_fpclassify", int, &params, values, span).map(Some)
            }
            "isnormal" => {
                let value = self.float_argument(args, 0, span)?;
                self.internal_call("__leno_isnormal", int, &[double], vec![value], span).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn float_argument(&mut self, args: &'a [ast::ExprId], index: usize, span: Span) -> Result<ExprId> {
        let value = self.argument(args, index, span)?;
        let ty = self.ty(value).ty;
        if self.types().is_float(ty) {
            return Ok(value);
        }
        let double = self.common().double;
        self.convert_assigned(value, double.into(), "as this argument")
    }

    // ---- checked arithmetic

    fn overflow_builtin(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let Some(base) = name.strip_suffix("_overflow") else { return Ok(None) };
        let (op, fixed) = match base {
            "add" => (OverflowOp::Add, None),
            "sub" => (OverflowOp::Sub, None),
            "mul" => (OverflowOp::Mul, None),
            _ => {
                let signed = base.starts_with('s');
                let long = base.bytes().rev().take_while(|b| *b == b'l').count();
                // `smul` ends in an l that is its own.
                let body = &base[1..];
                let (op, long) = match body {
                    _ if body.starts_with("add") => (OverflowOp::Add, long),
                    _ if body.starts_with("sub") => (OverflowOp::Sub, long),
                    _ if body.starts_with("mul") => (OverflowOp::Mul, long.saturating_sub(1)),
                    _ => return Ok(None),
                };
                let kind = [IntKind::Int, IntKind::Long, IntKind::LongLong][long.min(2)];
                (op, Some(if signed { kind } else { kind.to_unsigned() }))
            }
        };
        let [a, b, result] = args else { return fail(span, "this builtin takes three arguments") };
        let (mut a, mut b) = (self.rvalue(*a)?, self.rvalue(*b)?);
        if let Some(kind) = fixed {
            let ty = self.unit.types.int(kind);
            (a, b) = (self.convert(a, ty), self.convert(b, ty));
        }
        let result = self.rvalue(*result)?;
        let target = self.types().pointee(self.ty(result).ty);
        let is_int = |ty| self.types().is_integer(ty);
        if !is_int(self.ty(a).ty) || !is_int(self.ty(b).ty) || !target.is_some_and(|t| is_int(t.ty)) {
            return fail(span, "this builtin takes two integers and a pointer to an integer");
        }
        let bool = self.common().bool;
        Ok(Some(self.builtin(Builtin::Overflow(op), vec![a, b, result], bool, span)))
    }

    /// `__builtin_memcpy` is `memcpy`; `__builtin___memcpy_chk` is `memcpy` with an argument too many.
    fn library_builtin(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let (name, args, unused) = match name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")) {
            // (Those of `printf` and its like have other arguments too many.)
            Some(checked) if checked.ends_with("printf") => {
                return fail(span, format!("the builtin `__builtin_{name}` is not supported"));
            }
            Some(checked) => {
                let (used, unused) = args.split_at(args.len().saturating_sub(1));
                (checked, used, unused)
            }
            None => (name, args, &args[..0]),
        };
        let id = match self.ast.names.get(name).and_then(|n| self.linked.get(&n)) {
            Some(Entity::Function(id)) => *id,
            _ => match self.library_function_named(name) {
                Some(id) => id,
                None => return fail(span, format!("the builtin `__builtin_{name}` is not supported")),
            },
        };
        let Type::Function(function) = self.types().get(self.unit.functions[id].ty).clone() else { return Ok(None) };
        let mut values = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let value = self.rvalue(*arg)?;
            values.push(match function.params.get(index) {
                Some(param) => self.convert_assigned(value, *param, "as this argument")?,
                None => self.promote_argument(value),
            });
        }
        let fixed = if function.unprototyped { values.len() } else { function.params.len() } as u32;
        let kind = ExprKind::Call { callee: Callee::Direct(id), args: values, fixed, variadic: function.variadic };
        let call = self.push(kind, function.ret.ty, span);
        self.after(unused, call).map(Some)
    }

    // ---- atomics

    /// The memory order that an argument names; an order known only at run time is taken to be the strongest, and its
    /// argument evaluated among the operands.
    fn order(&mut self, args: &'a [ast::ExprId], index: usize, operands: &mut Vec<ExprId>) -> Result<Order> {
        Ok(match self.number(args, index, operands)?.map(|v| v & 0xffff) {
            Some(0) => Order::Relaxed,
            Some(1 | 2) => Order::Acquire,
            Some(3) => Order::Release,
            Some(4) => Order::AcqRel,
            _ => Order::SeqCst,
        })
    }

    /// An argument that should be a constant. If it is none, it is evaluated among the operands, for its side effects.
    fn number(&mut self, args: &'a [ast::ExprId], index: usize, operands: &mut Vec<ExprId>) -> Result<Option<i128>> {
        let Some(arg) = args.get(index) else { return Ok(None) };
        let value = self.rvalue(*arg)?;
        let number = self.evaluate_int(value);
        if number.is_none() {
            operands.push(value);
        }
        Ok(number)
    }

    /// A pointer argument and the (unqualified) type it points to.
    fn atomic_pointer(&mut self, args: &'a [ast::ExprId], index: usize, span: Span) -> Result<(ExprId, TypeId)> {
        let pointer = self.argument(args, index, span)?;
        match self.types().pointee(self.ty(pointer).ty) {
            Some(target) if self.types().size_of(target.ty).is_some() => Ok((pointer, target.ty)),
            _ => fail(self.span(pointer), "this argument must be a pointer to the object to work on"),
        }
    }

    /// The object that a pointer argument points to; `&x` is just x, which can then stay a register.
    fn pointed_place(&mut self, args: &'a [ast::ExprId], index: usize, span: Span) -> Result<ExprId> {
        let Some(mut arg) = args.get(index).copied() else { return fail(span, "an argument is missing") };
        while let Written::Paren(inner) = self.ast.exprs[arg].kind {
            arg = inner;
        }
        if let Written::Unary(ast::UnaryOp::AddressOf, inner) = self.ast.exprs[arg].kind {
            let place = self.expr(inner)?;
            if self.is_lvalue(place) {
                return Ok(place);
            }
        }
        let pointer = self.rvalue(arg)?;
        self.deref(pointer, span)
    }

    /// A value for an atomic object of type T.
    fn atomic_value(&mut self, args: &'a [ast::ExprId], index: usize, ty: TypeId, span: Span) -> Result<ExprId> {
        let value = self.argument(args, index, span)?;
        self.convert_assigned(value, ty.into(), "as this argument")
    }

    /// A value for an atomic object: the argument itself, or what it points to.
    fn atomic_operand(
        &mut self,
        is_value: bool,
        args: &'a [ast::ExprId],
        index: usize,
        ty: TypeId,
        span: Span,
    ) -> Result<ExprId> {
        if is_value {
            return self.atomic_value(args, index, ty, span);
        }
        let place = self.pointed_place(args, index, span)?;
        self.loaded(place, ty, span)
    }

    fn loaded(&mut self, place: ExprId, ty: TypeId, span: Span) -> Result<ExprId> {
        let value = self.push(ExprKind::Load(place), self.ty(place).ty, span);
        self.convert_assigned(value, ty.into(), "as this argument")
    }

    fn atomic_call(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let common = self.common();
        match name {
            "thread_fence" => {
                let mut operands = Vec::new();
                let order = self.order(args, 0, &mut operands)?;
                return Ok(Some(self.builtin(Builtin::Fence(order), operands, common.void, span)));
            }
            "signal_fence" => {
                let nothing = self.nothing(span);
                return self.after(args, nothing).map(Some);
            }
            "always_lock_free" | "is_lock_free" => {
                let mut operands = Vec::new();
                let free = self.number(args, 0, &mut operands)?.is_none_or(|size| size <= 8);
                let free = self.int_constant(i128::from(free), span);
                let free = self.convert(free, common.bool);
                let free = self.after(args.get(1..).unwrap_or_default(), free)?;
                return Ok(Some(self.after_values(operands, free)));
            }
            "test_and_set" | "clear" => {
                let pointer = self.argument(args, 0, span)?;
                let mut operands = vec![self.convert(pointer, common.char_ptr)];
                let order = self.order(args, 1, &mut operands)?;
                return Ok(Some(if name == "clear" {
                    self.builtin(Builtin::Clear(order), operands, common.void, span)
                } else {
                    self.builtin(Builtin::TestAndSet(order), operands, common.bool, span)
                }));
            }
            _ => {}
        }
        if let Some(op) = atomic_update(name) {
            let (op, new) = op;
            return self.atomic_rmw(op, new, args, span).map(Some);
        }
        self.atomic_access(name, args, span)
    }

    fn atomic_rmw(&mut self, op: RmwOp, new: bool, args: &'a [ast::ExprId], span: Span) -> Result<ExprId> {
        let (pointer, ty) = self.atomic_pointer(args, 0, span)?;
        let mut operands = vec![pointer, self.rmw_operand(op, args, ty, span)?];
        let order = self.order(args, 2, &mut operands)?;
        Ok(self.builtin(Builtin::AtomicRmw { op, order, new }, operands, ty, span))
    }

    /// Arithmetic on an atomic pointer counts bytes: its operand is a number.
    fn rmw_operand(&mut self, op: RmwOp, args: &'a [ast::ExprId], ty: TypeId, span: Span) -> Result<ExprId> {
        let is_number = self.types().is_pointer(ty) && op != RmwOp::Exchange;
        let operand = if is_number { self.common().size } else { ty };
        self.atomic_value(args, 1, operand, span)
    }

    fn atomic_access(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let void = self.common().void;
        if !matches!(
            name,
            "load_n"
                | "load"
                | "store_n"
                | "store"
                | "exchange_n"
                | "exchange"
                | "compare_exchange_n"
                | "compare_exchange"
        ) {
            return Ok(None);
        }
        let (pointer, ty) = self.atomic_pointer(args, 0, span)?;
        let mut operands = vec![pointer];
        let exchange = |order| Builtin::AtomicRmw { op: RmwOp::Exchange, order, new: false };
        let result = match name {
            "load_n" => {
                let order = self.order(args, 1, &mut operands)?;
                self.builtin(Builtin::AtomicLoad(order), operands, ty, span)
            }
            "load" => {
                let place = self.pointed_place(args, 1, span)?;
                let order = self.order(args, 2, &mut operands)?;
                let value = self.builtin(Builtin::AtomicLoad(order), operands, ty, span);
                self.assign_value(place, value, span)?
            }
            "store_n" | "store" => {
                operands.push(self.atomic_operand(name.ends_with("_n"), args, 1, ty, span)?);
                let order = self.order(args, 2, &mut operands)?;
                self.builtin(Builtin::AtomicStore(order), operands, void, span)
            }
            "exchange_n" => {
                operands.push(self.atomic_value(args, 1, ty, span)?);
                let order = self.order(args, 2, &mut operands)?;
                self.builtin(exchange(order), operands, ty, span)
            }
            "exchange" => {
                operands.push(self.atomic_operand(false, args, 1, ty, span)?);
                let target = self.pointed_place(args, 2, span)?;
                let order = self.order(args, 3, &mut operands)?;
                let old = self.builtin(exchange(order), operands, ty, span);
                self.assign_value(target, old, span)?
            }
            _ => {
                operands.push(self.argument(args, 1, span)?);
                operands.push(self.atomic_operand(name.ends_with("_n"), args, 2, ty, span)?);
                let weak = self.number(args, 3, &mut operands)? != Some(0);
                let success = self.order(args, 4, &mut operands)?;
                let failure = self.order(args, 5, &mut operands)?;
                let builtin = Builtin::AtomicCompareExchange { success, failure, weak };
                let bool = self.common().bool;
                self.builtin(builtin, operands, bool, span)
            }
        };
        Ok(Some(result))
    }

    fn assign_value(&mut self, place: ExprId, value: ExprId, span: Span) -> Result<ExprId> {
        let ty = self.ty(place);
        let value = self.convert_assigned(value, ty, "here")?;
        let assign = self.push(ExprKind::Assign { place, value }, ty.ty, span);
        Ok(self.push(ExprKind::Cast(assign), self.common().void, span))
    }

    fn sync_call(&mut self, name: &str, args: &'a [ast::ExprId], span: Span) -> Result<Option<ExprId>> {
        let common = self.common();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        if name == "synchronize" {
            return Ok(Some(self.builtin(Builtin::Fence(Order::SeqCst), Vec::new(), common.void, span)));
        }
        if let Some((op, new)) = sync_update(name) {
            let (pointer, ty) = self.atomic_pointer(args, 0, span)?;
            let value = self.rmw_operand(op, args, ty, span)?;
            let order = if name == "lock_test_and_set" { Order::Acquire } else { Order::SeqCst };
            return Ok(Some(self.builtin(Builtin::AtomicRmw { op, order, new }, vec![pointer, value], ty, span)));
        }
        match name {
            "lock_release" => {
                let (pointer, ty) = self.atomic_pointer(args, 0, span)?;
                let zero = self.constant(0, ty, span);
                Ok(Some(self.builtin(Builtin::AtomicStore(Order::Release), vec![pointer, zero], common.void, span)))
            }
            "bool_compare_and_swap" | "val_compare_and_swap" => {
                let (pointer, ty) = self.atomic_pointer(args, 0, span)?;
                let old = self.atomic_value(args, 1, ty, span)?;
                let new = self.atomic_value(args, 2, ty, span)?;
                let returns_old = name == "val_compare_and_swap";
                let result = if returns_old { ty } else { common.bool };
                let builtin = Builtin::SyncCompareAndSwap { returns_old };
                Ok(Some(self.builtin(builtin, vec![pointer, old, new], result, span)))
            }
            _ => Ok(None),
        }
    }
}

fn rmw_op(name: &str) -> Option<RmwOp> {
    Some(match name {
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "nand" => RmwOp::Nand,
        _ => return None,
    })
}

/// `fetch_add` gives the old value, `add_fetch` the new one.
fn atomic_update(name: &str) -> Option<(RmwOp, bool)> {
    match name.strip_prefix("fetch_") {
        Some(op) => rmw_op(op).map(|op| (op, false)),
        None => rmw_op(name.strip_suffix("_fetch")?).map(|op| (op, true)),
    }
}

fn sync_update(name: &str) -> Option<(RmwOp, bool)> {
    if name == "lock_test_and_set" {
        return Some((RmwOp::Exchange, false));
    }
    match name.strip_prefix("fetch_and_") {
        Some(op) => rmw_op(op).map(|op| (op, false)),
        None => rmw_op(name.strip_suffix("_and_fetch")?).map(|op| (op, true)),
    }
}
