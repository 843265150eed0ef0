//! Specifiers and declarators to types: `struct S { … } *a[n]` and all that.

use super::scope::{Entity, Tag};
use super::{Checker, fail};
use crate::ast::{self, Attribute, AttributeArg, Declarator, Derived, IntSpecifier, Params, SpecId, TypeSpecifier};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;

/// The most bytes that an object may have: half of the address space, as gcc has it.
pub const MAX_OBJECT_BYTES: u64 = 1 << 47;

impl<'a> Checker<'a> {
    /// The type that specifiers give. `__auto_type` is for the declaration to find.
    pub fn specified_type(&mut self, id: SpecId) -> Result<QualType> {
        if let Some((last, ty)) = self.last_spec
            && last == id
        {
            return Ok(ty);
        }
        let spec = &self.ast.specs[id];
        let mut ty = self.base_type(&spec.ty, spec)?;
        ty = self.apply_type_attributes(ty, &spec.attributes)?;
        let quals = quals(spec.qualifiers);
        let ty = self.qualify(ty, quals);
        self.last_spec = Some((id, ty));
        Ok(ty)
    }

    /// Qualifiers of an array type belong to its elements.
    pub fn qualify(&mut self, ty: QualType, quals: Quals) -> QualType {
        if quals == Quals::NONE {
            return ty;
        }
        match *self.types().get(ty.ty) {
            Type::Array(element, len) => {
                let element = self.qualify(element, quals);
                self.unit.types.array_of(element, len).into()
            }
            Type::Function(_) => ty,
            _ => ty.with(quals),
        }
    }

    fn base_type(&mut self, specifier: &'a TypeSpecifier, spec: &'a ast::Specifiers) -> Result<QualType> {
        let common = self.common();
        let ty = match specifier {
            TypeSpecifier::Implicit => {
                self.warn(spec.span, "no type is given: `int` is assumed");
                common.int
            }
            TypeSpecifier::Void => common.void,
            TypeSpecifier::Bool => common.bool,
            TypeSpecifier::Int(kind) => self.unit.types.int(int_kind(*kind)),
            TypeSpecifier::Float => self.unit.types.intern(Type::Float(FloatKind::Float)),
            TypeSpecifier::Double => common.double,
            TypeSpecifier::LongDouble => self.unit.types.intern(Type::Float(FloatKind::LongDouble)),
            TypeSpecifier::Float128 => self.unit.types.intern(Type::Unsupported("_Float128")),
            TypeSpecifier::Complex => self.unit.types.intern(Type::Unsupported("_Complex")),
            TypeSpecifier::VaList => common.va_list,
            TypeSpecifier::AutoType => common.int,
            TypeSpecifier::Record(record) => self.record_type(record)?,
            TypeSpecifier::Enum(specifier) => self.enum_type(specifier)?,
            TypeSpecifier::Typedef(name) => return self.typedef_type(*name, spec.span),
            TypeSpecifier::TypeofExpr(expr) => {
                let expr = self.expr(*expr)?;
                let ty = self.ty(expr);
                self.refuse_field_type(ty.ty, spec.span)?;
                return Ok(ty);
            }
            TypeSpecifier::TypeofType(name) => return self.type_name(name),
            TypeSpecifier::Atomic(name) => {
                let ty = self.type_name(name)?;
                return Ok(QualType::plain(ty.ty).with(Quals { is_atomic: true, ..Quals::NONE }));
            }
        };
        Ok(ty.into())
    }

    fn typedef_type(&mut self, name: ast::Name, span: Span) -> Result<QualType> {
        match self.scopes.get(name).map(|b| b.meaning) {
            Some(Entity::Typedef(ty, _)) => Ok(ty),
            _ => fail(span, format!("`{}` is not the name of a type here", self.text(name))),
        }
    }

    pub fn type_name(&mut self, name: &'a ast::TypeName) -> Result<QualType> {
        let base = self.specified_type(name.spec)?;
        let ty = self.declared_type(base, &name.declarator)?;
        self.apply_type_attributes(ty, &name.declarator.attributes)
    }

    /// `mode` and `vector_size`, the two attributes that make another type.
    pub fn apply_type_attributes(&mut self, ty: QualType, attributes: &'a [Attribute]) -> Result<QualType> {
        let mut ty = ty;
        for attribute in attributes {
            match (attribute.name.as_str(), attribute.args.first()) {
                ("mode", Some(AttributeArg::Name(mode))) => {
                    if let Some(kind) = self.mode_kind(self.text(*mode), self.types().is_signed(ty.ty)) {
                        ty = QualType { ty: self.unit.types.int(kind), quals: ty.quals };
                    }
                }
                ("vector_size", _) => {
                    ty = self.unit.types.intern(Type::Unsupported("a vector type")).into();
                }
                _ => {}
            }
        }
        Ok(ty)
    }

    fn mode_kind(&self, mode: &str, signed: bool) -> Option<IntKind> {
        let kind = match mode.trim_matches('_') {
            "QI" | "byte" => IntKind::SignedChar,
            "HI" => IntKind::Short,
            "SI" => IntKind::Int,
            "DI" => IntKind::LongLong,
            "TI" => IntKind::Int128,
            "word" | "pointer" => IntKind::Long,
            _ => return None,
        };
        Some(if signed { kind } else { kind.to_unsigned() })
    }

    /// The alignment that a declaration asks for, by itself or through a typedef; 0 when it asks for none.
    pub fn declaration_align(&mut self, spec: SpecId, declarator: &'a Declarator) -> Result<u32> {
        let specifiers = &self.ast.specs[spec];
        let asked = self.requested_align(&specifiers.alignas, &[&specifiers.attributes, &declarator.attributes])?;
        Ok(asked.max(self.typedef_align(spec, declarator)))
    }

    /// What a typedef that is used as it is (not for a pointer to it, say) asks for.
    pub fn typedef_align(&self, spec: SpecId, declarator: &Declarator) -> u32 {
        match self.ast.specs[spec].ty {
            TypeSpecifier::Typedef(name) if declarator.derived.is_empty() => {
                match self.scopes.get(name).map(|binding| binding.meaning) {
                    Some(Entity::Typedef(_, align)) => align,
                    _ => 0,
                }
            }
            _ => 0,
        }
    }

    /// The alignment asked for by `_Alignas` and `aligned`; 0 when there is none.
    fn requested_align(&mut self, alignas: &'a [ast::Alignas], attributes: &[&'a [Attribute]]) -> Result<u32> {
        let mut align = 0;
        for request in alignas {
            let value = match request {
                ast::Alignas::Type(name) => {
                    let ty = self.type_name(name)?;
                    u64::from(self.types().align_of(ty.ty))
                }
                ast::Alignas::Expr(expr) => self.align_value(*expr)?,
            };
            align = align.max(value as u32);
        }
        for attribute in attributes.iter().flat_map(|list| list.iter()) {
            if attribute.name != "aligned" {
                continue;
            }
            let value = match attribute.args.first() {
                Some(AttributeArg::Expr(expr)) => self.align_value(*expr)?,
                Some(AttributeArg::Name(name)) => match self.scopes.get(*name).map(|b| b.meaning) {
                    Some(Entity::Enumerator(value, _)) => value as u64,
                    _ => 16,
                },
                None => 16,
            };
            align = align.max(value as u32);
        }
        Ok(align)
    }

    /// What `#pragma pack` says about a record; 0 when it says nothing.
    fn pragma_pack(&mut self, attributes: &'a [Attribute]) -> Result<u32> {
        match attributes.iter().find(|attribute| attribute.name == "pragma pack").map(|found| found.args.first()) {
            Some(Some(AttributeArg::Expr(expr))) => Ok(self.align_value(*expr)? as u32),
            _ => Ok(0),
        }
    }

    fn align_value(&mut self, expr: ast::ExprId) -> Result<u64> {
        let value = self.constant_int(expr, "an alignment")?;
        let span = self.ast.exprs[expr].span;
        match u64::try_from(value) {
            Ok(0) => Ok(0),
            Ok(align) if align.is_power_of_two() && align <= 1 << 28 => Ok(align),
            _ => fail(span, format!("an alignment must be a power of two of at most 2^28, not {value}")),
        }
    }

    // ---- records and enums

    fn record_type(&mut self, spec: &'a ast::RecordSpecifier) -> Result<TypeId> {
        let id = self.record_entry(spec)?;
        if let Some(members) = &spec.members {
            if self.unit.types.records[id].layout.is_some() {
                let name = &self.unit.types.records[id].name;
                return fail(spec.span, format!("`{name}` is defined twice"));
            }
            let packing =
                Packing { packed: has(&spec.attributes, "packed"), pragma: self.pragma_pack(&spec.attributes)? };
            let specs = self.members(members)?;
            let align = self.requested_align(&[], &[&spec.attributes])?;
            let layout = self.unit.types.lay_out(&specs, spec.is_union, packing, align);
            if layout.size > MAX_OBJECT_BYTES {
                return fail(spec.span, "this type is too large");
            }
            self.unit.types.records[id].layout = Some(layout);
        }
        Ok(self.unit.types.intern(Type::Record(id)))
    }

    /// The record that a tag means: an old one, or a new one if the tag is unknown or this is a definition in a new
    /// scope.
    fn record_entry(&mut self, spec: &ast::RecordSpecifier) -> Result<RecordId> {
        if let Some(tag) = spec.tag {
            let found = if spec.members.is_some() {
                self.scopes.get_tag_here(tag)
            } else {
                self.scopes.get_tag(tag).map(|b| b.meaning)
            };
            match found {
                Some(Tag::Record(id)) if self.unit.types.records[id].is_union == spec.is_union => return Ok(id),
                Some(_) => return fail(spec.span, format!("`{}` is another kind of tag", self.text(tag))),
                None => {}
            }
        }
        let name = spec.tag.map_or(String::new(), |tag| self.text(tag).to_string());
        let id = self.unit.types.records.push(Record {
            name,
            typedef_name: String::new(),
            is_union: spec.is_union,
            layout: None,
        });
        if let Some(tag) = spec.tag {
            self.scopes.bind_tag(tag, Tag::Record(id));
        }
        Ok(id)
    }

    fn members(&mut self, members: &'a [ast::Member]) -> Result<Vec<MemberSpec>> {
        let mut specs = Vec::with_capacity(members.len());
        for (index, member) in members.iter().enumerate() {
            match member {
                ast::Member::StaticAssert(assertion) => self.static_assert(assertion)?,
                ast::Member::Field { spec, declarator, bits } => {
                    let is_last = index + 1 == members.len();
                    if let Some(member) = self.member(*spec, declarator, *bits, is_last)? {
                        specs.push(member);
                    }
                }
            }
        }
        self.refuse_duplicates(&specs, members)?;
        Ok(specs)
    }

    fn member(
        &mut self,
        spec: SpecId,
        declarator: &'a Declarator,
        bits: Option<ast::ExprId>,
        is_last: bool,
    ) -> Result<Option<MemberSpec>> {
        let base = self.specified_type(spec)?;
        let ty = self.declared_type(base, declarator)?;
        let ty = self.apply_type_attributes(ty, &declarator.attributes)?;
        let specifiers = &self.ast.specs[spec];
        let align = self.declaration_align(spec, declarator)?;
        if declarator.name.is_none() && bits.is_none() && !self.types().is_record(ty.ty) {
            return Ok(None); // `int;` or a mere `enum { … };` declares nothing
        }
        let is_tagged_only = declarator.name.is_none()
            && bits.is_none()
            && matches!(&specifiers.ty, TypeSpecifier::Record(r) if r.tag.is_some());
        if is_tagged_only {
            return Ok(None); // `struct S { … };` inside a record declares the tag only
        }
        let flexible = matches!(self.types().get(ty.ty), Type::Array(_, ArrayLen::Incomplete));
        if self.types().size_of(ty.ty).is_none() && !(flexible && is_last) {
            let shown = self.types().show(ty);
            return fail(declarator.span, format!("a member cannot have the incomplete type `{shown}`"));
        }
        let bits = bits.map(|width| self.bit_width(width, ty)).transpose()?;
        let name = declarator.name.map_or(String::new(), |name| self.text(name).to_string());
        let packed = has(&declarator.attributes, "packed")
            || has(&specifiers.attributes, "packed") && !self.defines_record(spec);
        Ok(Some(MemberSpec { name, ty, bits, align, packed }))
    }

    fn defines_record(&self, spec: SpecId) -> bool {
        matches!(&self.ast.specs[spec].ty, TypeSpecifier::Record(r) if r.members.is_some())
    }

    fn bit_width(&mut self, width: ast::ExprId, ty: QualType) -> Result<u16> {
        let span = self.ast.exprs[width].span;
        let value = self.constant_int(width, "the width of a bit-field")?;
        if !self.types().is_integer(ty.ty) {
            let shown = self.types().show(ty);
            return fail(span, format!("a bit-field cannot have type `{shown}`"));
        }
        let most = if matches!(self.types().get(ty.ty), Type::Bool) { 1 } else { self.types().int_bits(ty.ty) };
        match u16::try_from(value) {
            Ok(width) if width <= most => Ok(width),
            _ => fail(span, format!("the width of this bit-field must be from 0 to {most}, not {value}")),
        }
    }

    fn refuse_duplicates(&self, specs: &[MemberSpec], members: &[ast::Member]) -> Result<()> {
        let mut names: Vec<&str> = specs.iter().map(|s| s.name.as_str()).filter(|n| !n.is_empty()).collect();
        names.sort_unstable();
        let Some(double) = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]) else { return Ok(()) };
        let span = members.iter().rev().find_map(|member| match member {
            ast::Member::Field { declarator, .. } if declarator.name.is_some_and(|n| self.text(n) == double) => {
                Some(declarator.span)
            }
            _ => None,
        });
        fail(span.unwrap_or_default(), format!("there are two members named `{double}`"))
    }

    fn enum_type(&mut self, spec: &'a ast::EnumSpecifier) -> Result<TypeId> {
        let id = self.enum_entry(spec)?;
        let ty = self.unit.types.intern(Type::Enum(id));
        if let Some(enumerators) = &spec.enumerators {
            let (low, high) = self.enumerators(enumerators)?;
            let packed = has(&spec.attributes, "packed");
            self.unit.types.enums[id].repr = Some(enum_repr(low, high, packed, self.types().model));
        }
        Ok(ty)
    }

    fn enum_entry(&mut self, spec: &ast::EnumSpecifier) -> Result<EnumId> {
        if let Some(tag) = spec.tag {
            let found = if spec.enumerators.is_some() {
                self.scopes.get_tag_here(tag)
            } else {
                self.scopes.get_tag(tag).map(|b| b.meaning)
            };
            match found {
                Some(Tag::Enum(id)) if spec.enumerators.is_none() || self.unit.types.enums[id].repr.is_none() => {
                    return Ok(id);
                }
                Some(Tag::Enum(_)) => return fail(spec.span, format!("`enum {}` is defined twice", self.text(tag))),
                Some(_) => return fail(spec.span, format!("`{}` is another kind of tag", self.text(tag))),
                None => {}
            }
        }
        let name = spec.tag.map_or(String::new(), |tag| self.text(tag).to_string());
        let id = self.unit.types.enums.push(Enum { name, repr: None });
        if let Some(tag) = spec.tag {
            self.scopes.bind_tag(tag, Tag::Enum(id));
        }
        Ok(id)
    }

    /// Binds the enumerators; gives the smallest and the largest value.
    fn enumerators(&mut self, enumerators: &'a [ast::Enumerator]) -> Result<(i128, i128)> {
        let (mut next, mut low, mut high) = (0i128, 0i128, 0i128);
        for enumerator in enumerators {
            if let Some(value) = enumerator.value {
                next = self.constant_int(value, "the value of an enumerator")?;
            }
            self.refuse_redeclared(enumerator.name, enumerator.span)?;
            let ty = self.enumerator_type(next);
            self.scopes.bind(enumerator.name, Entity::Enumerator(next, ty));
            low = low.min(next);
            high = high.max(next);
            next += 1;
        }
        Ok((low, high))
    }

    fn enumerator_type(&mut self, value: i128) -> TypeId {
        let model = self.types().model;
        let fits = [IntKind::Int, IntKind::UnsignedInt, IntKind::Long, IntKind::UnsignedLong, IntKind::LongLong]
            .into_iter()
            .find(|kind| fits(value, *kind, model));
        self.unit.types.int(fits.unwrap_or(IntKind::UnsignedLongLong))
    }

    // ---- declarators

    /// What a declarator makes of a base type.
    pub fn declared_type(&mut self, base: QualType, declarator: &'a Declarator) -> Result<QualType> {
        self.derive(base, &declarator.derived)
    }

    pub fn derive(&mut self, base: QualType, derived: &'a [Derived]) -> Result<QualType> {
        let mut ty = base;
        for derived in derived.iter().rev() {
            ty = match derived {
                Derived::Pointer(qualifiers) => {
                    let pointer = self.pointer_to(ty);
                    QualType { ty: pointer, quals: quals(*qualifiers) }
                }
                Derived::Array(array) => self.array_type(ty, array)?,
                Derived::Function(function) => self.function_type(ty, function)?,
            };
        }
        Ok(ty)
    }

    fn array_type(&mut self, element: QualType, array: &'a ast::ArrayDeclarator) -> Result<QualType> {
        let shown = || self.types().show(element);
        match self.types().get(element.ty) {
            Type::Function(_) | Type::Void => {
                return fail(array.span, format!("an array cannot have elements of type `{}`", shown()));
            }
            Type::Record(_) if self.types().size_of(element.ty).is_none() => {
                return fail(array.span, format!("an array cannot have elements of the incomplete type `{}`", shown()));
            }
            _ => {}
        }
        let len = match array.size {
            ast::ArraySize::None | ast::ArraySize::Star => ArrayLen::Incomplete,
            ast::ArraySize::Expr(size) => self.array_length(size)?,
        };
        if let (ArrayLen::Known(len), Some(size)) = (len, self.types().size_of(element.ty))
            && size.checked_mul(len).is_none_or(|bytes| bytes > MAX_OBJECT_BYTES)
        {
            return fail(array.span, format!("an array of {len} elements of {size} bytes is too large"));
        }
        Ok(self.unit.types.array_of(element, len).into())
    }

    fn array_length(&mut self, size: ast::ExprId) -> Result<ArrayLen> {
        let span = self.ast.exprs[size].span;
        let value = self.rvalue(size)?;
        if !self.types().is_integer(self.ty(value).ty) {
            return fail(span, "the size of an array must be an integer");
        }
        if let Some(length) = self.evaluate_int(value) {
            return match u64::try_from(length) {
                Ok(length) => Ok(ArrayLen::Known(length)),
                Err(_) => fail(span, format!("the size of an array cannot be {length}")),
            };
        }
        if self.in_prototype {
            return Ok(ArrayLen::Incomplete);
        }
        if self.function.is_none() {
            return fail(span, "the size of an array at file scope must be a constant");
        }
        let size_type = self.common().size;
        let count = self.hidden_var(size_type.into(), span);
        let value = self.convert(value, size_type);
        let place = self.push(ExprKind::Var(count), size_type, span);
        let assign = self.push(ExprKind::Assign { place, value }, size_type, span);
        if let Some(function) = &mut self.function {
            function.pending_sizes.push(assign);
        }
        Ok(ArrayLen::Variable(count))
    }

    fn function_type(&mut self, ret: QualType, function: &'a ast::FunctionDeclarator) -> Result<QualType> {
        self.refuse_return_type(ret, function.span)?;
        let ty = match &function.params {
            Params::Unspecified | Params::Names(_) => {
                FunctionType { ret, params: Vec::new(), variadic: false, unprototyped: true }
            }
            Params::Prototype { params, variadic } => {
                let outer = std::mem::replace(&mut self.in_prototype, true);
                self.scopes.enter();
                let params = self.prototype_params(params);
                self.scopes.leave();
                self.in_prototype = outer;
                FunctionType { ret, params: params?, variadic: *variadic, unprototyped: false }
            }
        };
        Ok(self.unit.types.intern(Type::Function(ty)).into())
    }

    pub fn refuse_return_type(&self, ret: QualType, span: Span) -> Result<()> {
        match self.types().get(ret.ty) {
            Type::Array(..) | Type::Function(_) => {
                let shown = self.types().show(ret);
                fail(span, format!("a function cannot return the type `{shown}`"))
            }
            _ => Ok(()),
        }
    }

    fn prototype_params(&mut self, params: &'a [ast::Parameter]) -> Result<Vec<QualType>> {
        let mut types = Vec::with_capacity(params.len());
        for param in params {
            let ty = self.param_type(param)?;
            if let Some(name) = param.declarator.name {
                self.scopes.bind(name, Entity::Opaque(ty));
            }
            types.push(QualType::plain(ty.ty));
        }
        Ok(types)
    }

    /// The adjusted type of a parameter: arrays and functions become pointers.
    pub fn param_type(&mut self, param: &'a ast::Parameter) -> Result<QualType> {
        let base = self.specified_type(param.spec)?;
        let ty = self.declared_type(base, &param.declarator)?;
        let ty = self.apply_type_attributes(ty, &param.declarator.attributes)?;
        let adjusted = self.adjust_param(ty);
        if self.types().is_void(adjusted.ty) {
            return fail(param.declarator.span, "a parameter cannot have type `void`");
        }
        Ok(adjusted)
    }

    pub fn adjust_param(&mut self, ty: QualType) -> QualType {
        match *self.types().get(ty.ty) {
            Type::Array(element, _) => self.pointer_to(element).into(),
            Type::Function(_) => self.pointer_to(ty).into(),
            _ => ty,
        }
    }

    /// The size of a type as an expression: a constant, or computed from the lengths of variable arrays.
    pub fn size_expr(&mut self, ty: QualType, span: Span) -> Result<ExprId> {
        match *self.types().get(ty.ty) {
            Type::Array(element, ArrayLen::Variable(count)) => {
                let size_type = self.common().size;
                let element = self.size_expr(element, span)?;
                let place = self.push(ExprKind::Var(count), size_type, span);
                let count = self.push(ExprKind::Load(place), size_type, span);
                Ok(self.push(ExprKind::Binary(BinaryOp::Mul, count, element), size_type, span))
            }
            Type::Array(element, ArrayLen::Known(len)) if self.types().size_of(ty.ty).is_none() => {
                let element = self.size_expr(element, span)?;
                let len = self.size_constant(len, span);
                Ok(self.push(ExprKind::Binary(BinaryOp::Mul, len, element), self.common().size, span))
            }
            Type::Void | Type::Function(_) => Ok(self.size_constant(1, span)),
            _ => match self.types().size_of(ty.ty) {
                Some(size) => Ok(self.size_constant(size, span)),
                None => {
                    let shown = self.types().show(ty);
                    fail(span, format!("the size of the incomplete type `{shown}` is not known"))
                }
            },
        }
    }

    /// Whether a type's size is known only at run time.
    pub fn is_variable(&self, ty: TypeId) -> bool {
        match self.types().get(ty) {
            Type::Array(_, ArrayLen::Variable(_)) => true,
            Type::Array(element, _) => self.is_variable(element.ty),
            _ => false,
        }
    }
}

pub fn quals(qualifiers: ast::Qualifiers) -> Quals {
    Quals { is_const: qualifiers.is_const, is_volatile: qualifiers.is_volatile, is_atomic: qualifiers.is_atomic }
}

pub fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.name == name)
}

fn int_kind(specifier: IntSpecifier) -> IntKind {
    match specifier {
        IntSpecifier::Char => IntKind::Char,
        IntSpecifier::SignedChar => IntKind::SignedChar,
        IntSpecifier::UnsignedChar => IntKind::UnsignedChar,
        IntSpecifier::Short => IntKind::Short,
        IntSpecifier::UnsignedShort => IntKind::UnsignedShort,
        IntSpecifier::Int => IntKind::Int,
        IntSpecifier::UnsignedInt => IntKind::UnsignedInt,
        IntSpecifier::Long => IntKind::Long,
        IntSpecifier::UnsignedLong => IntKind::UnsignedLong,
        IntSpecifier::LongLong => IntKind::LongLong,
        IntSpecifier::UnsignedLongLong => IntKind::UnsignedLongLong,
        IntSpecifier::Int128 => IntKind::Int128,
        IntSpecifier::UnsignedInt128 => IntKind::UnsignedInt128,
    }
}

/// Whether a value is one of an integer kind's.
pub fn fits(value: i128, kind: IntKind, model: leno_ir::program::DataModel) -> bool {
    let bits = u32::from(kind.bits(model));
    match (kind.is_signed(), bits) {
        (true, 128) => true,
        (true, _) => (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&value),
        (false, 128) => value >= 0,
        (false, _) => (0..1i128 << bits).contains(&value),
    }
}

fn enum_repr(low: i128, high: i128, packed: bool, model: leno_ir::program::DataModel) -> IntKind {
    use IntKind::*;
    let small: &[IntKind] = if !packed {
        &[]
    } else if low < 0 {
        &[SignedChar, Short]
    } else {
        &[UnsignedChar, UnsignedShort]
    };
    let large: &[IntKind] =
        if low < 0 { &[Int, Long, LongLong] } else { &[UnsignedInt, UnsignedLong, UnsignedLongLong] };
    let holds = |kind: &&IntKind| fits(low, **kind, model) && fits(high, **kind, model);
    small.iter().chain(large).find(holds).copied().unwrap_or(UnsignedLongLong)
}
