//! Expressions: names, literals, places, and everything that is not an operator or a call.

use super::scope::Entity;
use super::specify::fits;
use super::{Checker, fail};
use crate::ast::{self, CharKind, ExprKind as Written, Name};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;
use crate::typed::*;
use crate::types::*;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};

impl<'a> Checker<'a> {
    /// An expression as a value: loaded, decayed.
    pub fn rvalue(&mut self, id: ast::ExprId) -> Result<ExprId> {
        let raw = self.expr(id)?;
        let value = self.decay(raw);
        match *self.types().get(self.ty(value).ty) {
            Type::Unsupported(what) => fail(self.span(value), format!("{what} is not supported")),
            _ => Ok(value),
        }
    }

    /// An expression as it is: an lvalue, a function, or a value.
    pub fn expr(&mut self, id: ast::ExprId) -> Result<ExprId> {
        let ast = self.ast;
        let span = ast.exprs[id].span;
        match &ast.exprs[id].kind {
            Written::Ident(name) => self.identifier(*name, span),
            Written::Int { value, suffix, decimal } => self.integer(*value, *suffix, *decimal, span),
            Written::Float { value, suffix } => self.float(&value.text, *suffix, span),
            Written::Char { value, kind } => Ok(self.character(*value, *kind, span)),
            Written::Str { units, kind } => Ok(self.string(units, *kind, span)),
            Written::Paren(inner) => self.expr(*inner),
            Written::Unary(op, operand) => self.unary(*op, *operand, span),
            Written::Binary(op, left, right) => self.binary(*op, *left, *right, span),
            Written::Assign(None, place, value) => self.assign(*place, *value, span),
            Written::Assign(Some(op), place, value) => self.assign_op(*op, *place, *value, span),
            Written::Conditional { cond, then, otherwise } => self.conditional(*cond, *then, *otherwise, span),
            Written::Comma(left, right) => self.comma(*left, *right, span),
            Written::Call { callee, args } => self.call(*callee, args, span),
            Written::Index(base, index) => self.index(*base, *index, span),
            Written::Member { base, field, arrow } => self.member_access(*base, *field, *arrow, span),
            Written::Cast { ty, operand } => self.cast(ty, *operand, span),
            Written::CompoundLiteral { ty, init } => self.compound_literal(ty, *init, span),
            Written::SizeofExpr(operand) => {
                let operand = self.expr(*operand)?;
                self.refuse_bit_field(operand, "the size")?;
                let size = self.sizeof(self.ty(operand), span)?;
                // An operand of variable size is evaluated.
                if !self.is_variable(self.ty(operand).ty) {
                    return Ok(size);
                }
                let (operand, ty) = (self.decay(operand), self.ty(size).ty);
                Ok(self.push(ExprKind::Comma(operand, size), ty, span))
            }
            Written::SizeofType(name) => {
                let ty = self.type_name(name)?;
                self.sizeof(ty, span)
            }
            Written::AlignofExpr(operand) => {
                let operand = self.expr(*operand)?;
                let align = self.declared_align(operand);
                Ok(self.size_constant(u64::from(align), span))
            }
            Written::AlignofType(name) => {
                let ty = self.type_name(name)?;
                let align = self.types().align_of(ty.ty).max(self.typedef_align(name.spec, &name.declarator));
                Ok(self.size_constant(u64::from(align), span))
            }
            Written::Generic { control, associations } => self.generic(*control, associations, span),
            Written::StmtExpr(body) => self.statement_expression(*body, span),
            Written::LabelAddress(name) => self.label_address(*name, span),
            Written::VaArg { list, ty } => self.va_arg(*list, ty, span),
            Written::Offsetof { ty, path } => self.offsetof(ty, path, span),
            Written::Choose { cond, then, otherwise } => {
                let chosen = if self.constant_int(*cond, "the condition")? != 0 { *then } else { *otherwise };
                self.expr(chosen)
            }
            Written::TypesCompatible(a, b) => {
                let (a, b) = (self.type_name(a)?, self.type_name(b)?);
                let same = self.compatible(a.ty, b.ty);
                Ok(self.int_constant(i128::from(same), span))
            }
        }
    }

    // ---- names

    fn identifier(&mut self, name: Name, span: Span) -> Result<ExprId> {
        match self.scopes.get(name).map(|b| b.meaning) {
            Some(Entity::Var(var)) => {
                let ty = self.var_type(var);
                Ok(self.push(ExprKind::Var(var), ty, span))
            }
            Some(Entity::Global(id)) => {
                let ty = self.unit.globals[id].ty;
                Ok(self.push(ExprKind::Global(id), ty, span))
            }
            Some(Entity::Function(id)) => {
                let ty = self.unit.functions[id].ty;
                Ok(self.push(ExprKind::Function(id), ty, span))
            }
            Some(Entity::Enumerator(value, ty)) => {
                let bits = self.truncate(value as u128, ty);
                Ok(self.constant(bits, ty, span))
            }
            Some(Entity::Opaque(ty)) => {
                let null = self.constant(0, self.common().void_ptr, span);
                Ok(self.push(ExprKind::Deref(null), ty, span))
            }
            Some(Entity::Typedef(..)) => fail(span, format!("`{}` is a type, not a value", self.text(name))),
            None => self.undeclared(name, span),
        }
    }

    fn var_type(&self, var: VarId) -> QualType {
        self.function.as_ref().map_or(self.common().int.into(), |f| f.vars[var].ty)
    }

    fn undeclared(&mut self, name: Name, span: Span) -> Result<ExprId> {
        if self.known.func.contains(&Some(name)) {
            return Ok(self.function_name(span));
        }
        let text = self.text(name);
        if let Some(id) = self.library_function(name) {
            let ty = self.unit.functions[id].ty;
            return Ok(self.push(ExprKind::Function(id), ty, span));
        }
        let error = Diagnostic::error(span, format!("`{text}` is not declared"));
        Err(Box::new(error.help("declare it, or include the header that does")))
    }

    /// `__func__` and its synonyms.
    fn function_name(&mut self, span: Span) -> ExprId {
        let name = self.function.as_ref().map_or(String::new(), |f| f.name.clone());
        let known = self.function.as_ref().and_then(|f| f.func_name);
        let id = known.unwrap_or_else(|| {
            let units: Vec<u32> = name.bytes().map(u32::from).collect();
            let (ty, definition) = self.string_object(&units, CharKind::Plain);
            self.anonymous_global(format!("{name}.__func__"), ty, true, definition, span)
        });
        if let Some(function) = &mut self.function {
            function.func_name = Some(id);
        }
        let ty = self.unit.globals[id].ty;
        self.push(ExprKind::Global(id), ty, span)
    }

    // ---- literals

    fn integer(&mut self, value: u128, suffix: ast::IntSuffix, decimal: bool, span: Span) -> Result<ExprId> {
        use IntKind::*;
        let signed = [Int, Long, LongLong, Int128];
        let model = self.types().model;
        let value_i = i128::try_from(value).unwrap_or(i128::MAX);
        let kind = signed[usize::from(suffix.long)..].iter().find_map(|kind| {
            if !suffix.unsigned && fits(value_i, *kind, model) {
                return Some(*kind);
            }
            let unsigned = kind.to_unsigned();
            ((suffix.unsigned || !decimal) && fits(value_i, unsigned, model)).then_some(unsigned)
        });
        let ty = self.unit.types.int(kind.unwrap_or(UnsignedInt128));
        Ok(self.constant(value, ty, span))
    }

    fn float(&mut self, text: &str, suffix: ast::FloatSuffix, span: Span) -> Result<ExprId> {
        let (kind, bits) = match suffix {
            ast::FloatSuffix::None => (FloatKind::Double, parse_float::<Double>(text)),
            ast::FloatSuffix::F => (FloatKind::Float, parse_float::<Single>(text)),
            ast::FloatSuffix::L => (FloatKind::LongDouble, parse_float::<X87DoubleExtended>(text)),
            ast::FloatSuffix::Unsupported => return fail(span, "constants of this floating type are not supported"),
        };
        let Some(bits) = bits else { return fail(span, format!("`{text}` is not a number")) };
        let ty = self.unit.types.intern(Type::Float(kind));
        Ok(self.constant(bits, ty, span))
    }

    fn character(&mut self, value: i64, kind: CharKind, span: Span) -> ExprId {
        let ty = match kind {
            CharKind::Plain | CharKind::Wide => self.common().int,
            CharKind::Utf8 => self.unit.types.int(IntKind::UnsignedChar),
            CharKind::Char16 => self.unit.types.int(IntKind::UnsignedShort),
            CharKind::Char32 => self.common().uint,
        };
        let bits = self.truncate(value as i128 as u128, ty);
        self.constant(bits, ty, span)
    }

    pub fn char_type(&mut self, kind: CharKind) -> TypeId {
        match kind {
            CharKind::Plain | CharKind::Utf8 => self.common().char,
            CharKind::Wide => self.common().int,
            CharKind::Char16 => self.unit.types.int(IntKind::UnsignedShort),
            CharKind::Char32 => self.common().uint,
        }
    }

    /// The object of a string literal. Equal literals share one.
    fn string(&mut self, units: &[u32], kind: CharKind, span: Span) -> ExprId {
        let key = (units.to_vec(), kind);
        let id = match self.strings.get(&key) {
            Some(id) => *id,
            None => {
                let (ty, definition) = self.string_object(units, kind);
                let name = format!("str.{}", self.strings.len());
                let id = self.anonymous_global(name, ty, true, definition, span);
                self.strings.insert(key, id);
                id
            }
        };
        let ty = self.unit.globals[id].ty;
        self.push(ExprKind::Global(id), ty, span)
    }

    fn string_object(&mut self, units: &[u32], kind: CharKind) -> (QualType, Definition) {
        let element = self.char_type(kind);
        let width = self.types().size_of(element).unwrap_or(1) as usize;
        let bytes = string_bytes(units, width);
        let ty = self.unit.types.array_of(element.into(), ArrayLen::Known(units.len() as u64 + 1));
        let size = (bytes.len() + width) as u64;
        let init = if bytes.is_empty() { Vec::new() } else { vec![(0, StaticValue::Bytes(bytes))] };
        (ty.into(), Definition::Static { size, init })
    }

    // ---- places

    pub fn index(&mut self, base: ast::ExprId, index: ast::ExprId, span: Span) -> Result<ExprId> {
        let (base, index) = (self.rvalue(base)?, self.rvalue(index)?);
        let (pointer, index) = if self.types().is_pointer(self.ty(base).ty) { (base, index) } else { (index, base) };
        let Some(target) = self.types().pointee(self.ty(pointer).ty) else {
            let shown = self.types().show(self.ty(base));
            return fail(span, format!("a value of type `{shown}` cannot be indexed"));
        };
        if !self.types().is_integer(self.ty(index).ty) {
            return fail(self.span(index), "an index must be an integer");
        }
        let address = self.pointer_add(pointer, index, false, span)?;
        Ok(self.push(ExprKind::Deref(address), target, span))
    }

    pub fn deref(&mut self, pointer: ExprId, span: Span) -> Result<ExprId> {
        let ty = self.ty(pointer);
        let Some(target) = self.types().pointee(ty.ty) else {
            let shown = self.types().show(ty);
            return fail(span, format!("`*` needs a pointer, not a value of type `{shown}`"));
        };
        // `*&x` is x itself.
        if let ExprKind::AddressOf(place) = self.unit.exprs[pointer].kind
            && self.ty(place) == target
        {
            return Ok(place);
        }
        Ok(self.push(ExprKind::Deref(pointer), target, span))
    }

    fn member_access(&mut self, base: ast::ExprId, field: Name, arrow: bool, span: Span) -> Result<ExprId> {
        let place = if arrow {
            let pointer = self.rvalue(base)?;
            let base_span = self.span(pointer);
            self.deref(pointer, base_span)?
        } else {
            let raw = self.expr(base)?;
            self.as_place(raw)
        };
        self.field(place, field, span)
    }

    /// A record value that has no place is given one.
    pub fn as_place(&mut self, expr: ExprId) -> ExprId {
        if self.is_lvalue(expr) {
            return expr;
        }
        let Expr { ty, span, .. } = self.unit.exprs[expr];
        let var = self.hidden_var(ty, span);
        self.push(ExprKind::Temporary { var, value: expr }, ty, span)
    }

    fn field(&mut self, place: ExprId, name: Name, span: Span) -> Result<ExprId> {
        let ty = self.ty(place);
        let shown = || self.types().show(QualType::plain(ty.ty));
        let Some(record) = self.types().record_of(ty.ty) else {
            return fail(
                span,
                format!("`{}` is asked of a value of type `{}`, which has no members", self.text(name), shown()),
            );
        };
        if record.layout.is_none() {
            return fail(span, format!("`{}` is incomplete: its members are not known here", shown()));
        }
        let Some(path) = self.field_path(ty.ty, self.text(name)) else {
            return fail(span, format!("`{}` has no member named `{}`", shown(), self.text(name)));
        };
        let mut place = place;
        for index in path {
            place = self.field_at(place, index, span);
        }
        Ok(place)
    }

    /// One field of a record lvalue; qualifiers of the record hold for its fields.
    fn field_at(&mut self, base: ExprId, index: u32, span: Span) -> ExprId {
        let ty = self.ty(base);
        let field = self.types().layout_of(ty.ty).map(|l| l.fields[index as usize].ty);
        let inherited = Quals { is_atomic: false, ..ty.quals };
        let field = self.qualify(field.unwrap_or(ty), inherited);
        self.push(ExprKind::Field { base, field: index }, field, span)
    }

    /// Indices of the fields on the way to a name, through anonymous members.
    pub fn field_path(&self, record: TypeId, name: &str) -> Option<Vec<u32>> {
        let layout = self.types().layout_of(record)?;
        if let Some(index) = layout.fields.iter().position(|f| f.name == name) {
            return Some(vec![index as u32]);
        }
        let anonymous = layout.fields.iter().enumerate().filter(|(_, f)| f.name.is_empty() && f.bits.is_none());
        anonymous.into_iter().find_map(|(index, field)| {
            let mut path = self.field_path(field.ty.ty, name)?;
            path.insert(0, index as u32);
            Some(path)
        })
    }

    fn compound_literal(&mut self, ty: &'a ast::TypeName, init: ast::InitId, span: Span) -> Result<ExprId> {
        let ty = self.type_name(ty)?;
        if self.function.is_none() {
            let (ty, size, init) = self.static_initializer(ty, init, span)?;
            let name = format!("literal.{}", self.unit.globals.len());
            let id = self.anonymous_global(name, ty, false, Definition::Static { size, init }, span);
            return Ok(self.push(ExprKind::Global(id), ty, span));
        }
        let (ty, init) = self.local_initializer(ty, init, span)?;
        let var = self.hidden_var(ty, span);
        Ok(self.push(ExprKind::CompoundLiteral { var, init }, ty, span))
    }

    pub fn refuse_bit_field(&self, expr: ExprId, what: &str) -> Result<()> {
        match self.bit_field(expr) {
            Some(_) => fail(self.span(expr), format!("{what} of a bit-field cannot be taken")),
            None => Ok(()),
        }
    }

    // ---- sizes and other questions about types

    fn sizeof(&mut self, ty: QualType, span: Span) -> Result<ExprId> {
        let pending = self.function.as_mut().map_or(Vec::new(), |f| std::mem::take(&mut f.pending_sizes));
        let mut size = self.size_expr(ty, span)?;
        let size_type = self.common().size;
        if self.is_variable(ty.ty) {
            for assign in pending.into_iter().rev() {
                size = self.push(ExprKind::Comma(assign, size), size_type, span);
            }
        }
        Ok(size)
    }

    fn declared_align(&self, expr: ExprId) -> u32 {
        match self.unit.exprs[expr].kind {
            ExprKind::Var(var) => self.function.as_ref().map_or(1, |f| f.vars[var].align),
            ExprKind::Global(id) => self.unit.globals[id].align.max(self.types().align_of(self.ty(expr).ty)),
            _ => self.types().align_of(self.ty(expr).ty),
        }
    }

    fn offsetof(&mut self, ty: &'a ast::TypeName, path: &'a [ast::Designator], span: Span) -> Result<ExprId> {
        let ty = self.type_name(ty)?;
        let null = self.pointer_to(ty);
        let null = self.constant(0, null, span);
        let mut place = self.push(ExprKind::Deref(null), ty, span);
        for step in path {
            place = match *step {
                ast::Designator::Field(name, at) => self.field(place, name, at)?,
                ast::Designator::Index(index) => {
                    let base = self.decay(place);
                    let index = self.rvalue(index)?;
                    let address = self.pointer_add(base, index, false, span)?;
                    self.deref(address, span)?
                }
                ast::Designator::Range(..) => return fail(span, "a range has no offset"),
            };
        }
        self.refuse_bit_field(place, "the offset")?;
        let pointer = self.pointer_to(self.ty(place));
        let address = self.push(ExprKind::AddressOf(place), pointer, span);
        let size = self.common().size;
        match self.evaluate_int(address) {
            Some(offset) => Ok(self.size_constant(offset as u64, span)),
            None => Ok(self.convert(address, size)),
        }
    }

    fn generic(
        &mut self,
        control: ast::ExprId,
        associations: &'a [(Option<ast::TypeName>, ast::ExprId)],
        span: Span,
    ) -> Result<ExprId> {
        let control = self.expr(control)?;
        let control = self.decay(control);
        let wanted = self.ty(control).ty;
        let mut default = None;
        for (name, expr) in associations {
            let Some(name) = name else {
                default = Some(*expr);
                continue;
            };
            let ty = self.type_name(name)?;
            if ty.quals == Quals::NONE && self.compatible(ty.ty, wanted) {
                return self.expr(*expr);
            }
        }
        match default {
            Some(expr) => self.expr(expr),
            None => {
                let shown = self.types().show(wanted.into());
                fail(span, format!("no association of this `_Generic` is for type `{shown}`"))
            }
        }
    }

    fn va_arg(&mut self, list: ast::ExprId, ty: &'a ast::TypeName, span: Span) -> Result<ExprId> {
        let ty = self.type_name(ty)?;
        let list = self.va_list_pointer(list)?;
        self.refuse_incomplete(ty, span)?;
        Ok(self.push(ExprKind::Builtin { builtin: Builtin::VaArg, args: vec![list] }, ty.ty, span))
    }

    /// A `va_list` argument as a pointer to the object.
    pub fn va_list_pointer(&mut self, list: ast::ExprId) -> Result<ExprId> {
        let raw = self.expr(list)?;
        let common = self.common();
        let object = match self.types().get(common.va_list) {
            Type::Array(element, _) => *element,
            _ => common.va_list.into(),
        };
        let value = if self.types().is_array(common.va_list) || !self.is_lvalue(raw) {
            self.decay(raw)
        } else {
            self.address_of(raw, self.span(raw))?
        };
        let wanted = self.pointer_to(object);
        if !self.types().is_pointer(self.ty(value).ty) {
            return fail(self.span(raw), "this is not a `va_list`");
        }
        Ok(self.convert(value, wanted))
    }
}

/// A string's units in memory, without the terminator.
pub fn string_bytes(units: &[u32], width: usize) -> Vec<u8> {
    units.iter().flat_map(|unit| unit.to_le_bytes().into_iter().take(width)).collect()
}

fn parse_float<F: Float>(text: &str) -> Option<u128> {
    if text.len() <= MOST_DIGITS {
        return text.parse::<F>().ok().map(Float::to_bits);
    }
    shorten(text)?.parse::<F>().ok().map(Float::to_bits)
}

/// More digits than this cannot decide how a number rounds, except by being there: the longest tie between two numbers
/// of the x87 format has about 11,500 digits. Reading takes time that is quadratic in their number.
const MOST_DIGITS: usize = 12_000;

/// The same number, or one that rounds as it does, with at most [`MOST_DIGITS`] digits.
fn shorten(text: &str) -> Option<String> {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let (prefix, rest) = text.split_at(if is_hex { 2 } else { 0 });
    let marks: &[char] = if is_hex { &['p', 'P'] } else { &['e', 'E'] };
    let (mantissa, exponent) = rest.split_once(marks).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let (kept, dropped) = significant.split_at(significant.len().min(MOST_DIGITS));
    let sticky = if dropped.bytes().any(|digit| digit != b'0') { "1" } else { "" };
    let moved = i64::try_from(dropped.len()).ok()? - i64::try_from(sticky.len() + fraction.len()).ok()?;
    let moved = if is_hex { 4 * moved } else { moved };
    // Beyond this every number is zero or infinite, whatever its digits.
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -1 << 40 } else { 1 << 40 });
    let exponent = (exponent + moved).clamp(-100_000, 100_000);
    let mark = if is_hex { 'p' } else { 'e' };
    Some(format!("{prefix}{}{kept}{sticky}{mark}{exponent}", if kept.is_empty() { "0" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_round_correctly() {
        let zeros = "0".repeat(2 * MOST_DIGITS);
        let sevens = "7".repeat(2 * MOST_DIGITS);
        let texts = [
            format!("0.{sevens}e-300"),
            format!("{sevens}.{sevens}e-{}", 2 * MOST_DIGITS),
            // Halfway between two numbers, and just above.
            format!("9007199254740993.{zeros}"),
            format!("9007199254740993.{zeros}1"),
            format!("0.{zeros}1e{}", 2 * MOST_DIGITS + 1),
            format!("0.{zeros}"),
            format!("1.{zeros}e-999999999999999999999"),
            format!("1.{zeros}e999999999999999999999"),
        ];
        for text in texts {
            let expected = text.parse::<f64>().map(|value| u128::from(value.to_bits())).ok();
            assert_eq!(parse_float::<Double>(&text), expected, "{}…", &text[..20]);
        }
        let hex = format!("0x1.{zeros}8p3");
        assert_eq!(parse_float::<Double>(&hex), Some(u128::from(8.0_f64.to_bits())));
        assert_eq!(
            parse_float::<Double>(&format!("0x{}p-{}", "f".repeat(20_000), 80_000)),
            Some(u128::from(1.0_f64.to_bits()))
        );
    }
}
