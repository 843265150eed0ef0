//! Initialisers: nested lists, designators and elided braces become flat lists of (offset, value).
//!
//! The walk follows C's notion of the *current object*: [`Checker::fill`] goes through the parts of an aggregate and
//! takes items from a list; where an item is not braced and the part is itself an aggregate, it goes down and takes
//! items from the same list. A designator moves the current part, and always belongs to the innermost braces.

use super::constant::{Base, Constant};
use super::express::string_bytes;
use super::{Checker, fail};
use crate::ast::{self, Designator, ExprKind as Written, InitId, InitItem, Initializer};
use crate::diagnostic::Result;
use crate::source::Span;
use crate::typed::*;
use crate::types::*;
use std::collections::BTreeMap;

/// Something to be initialised.
#[derive(Clone, Copy)]
struct Target {
    ty: QualType,
    offset: u64,
    bits: Option<BitField>,
    /// Whether it says of which kind a mutex is.
    is_mutex_kind: bool,
}

/// One value at one place.
struct Item {
    target: Target,
    value: ItemValue,
    span: Span,
}

enum ItemValue {
    Expr(ExprId),
    /// An array of characters filled from a literal: the bytes, and the literal's own object when it is needed.
    Text(Vec<u8>),
}

/// The items of a list that are still to be taken.
struct Cursor<'a> {
    items: &'a [InitItem],
    next: usize,
}

/// The flat list as it grows.
#[derive(Default)]
struct Flat {
    items: Vec<Item>,
    /// The end of what has been initialised: completes `T a[] = {…}` and flexible members.
    end: u64,
}

impl<'a> Checker<'a> {
    pub fn static_initializer(
        &mut self,
        ty: QualType,
        init: InitId,
        span: Span,
    ) -> Result<(QualType, u64, StaticInit)> {
        let (ty, flat) = self.flatten(ty, init, span)?;
        let size = self.types().size_of(ty.ty).unwrap_or(0).max(flat.end);
        let mut image = Image::default();
        for item in &flat.items {
            self.write_item(&mut image, item)?;
        }
        Ok((ty, size, image.finish()))
    }

    pub fn local_initializer(&mut self, ty: QualType, init: InitId, span: Span) -> Result<(QualType, LocalInit)> {
        if self.is_variable(ty.ty) {
            return fail(span, "an array of variable length cannot be initialised");
        }
        let (ty, flat) = self.flatten(ty, init, span)?;
        let size = self.types().size_of(ty.ty).unwrap_or(0);
        if flat.end > size {
            return fail(span, "a flexible array member can be initialised only in a static object");
        }
        let mut items = Vec::with_capacity(flat.items.len());
        let mut covered = 0;
        let mut in_order = true;
        for item in flat.items {
            let item = self.local_item(item);
            in_order &= item.offset == covered && item.bits.is_none();
            covered = item.offset + self.types().size_of(item.ty.ty).unwrap_or(0);
            items.push(item);
        }
        let is_covered = in_order && covered == size;
        let zero = !is_covered && !self.types().is_scalar(ty.ty);
        Ok((ty, LocalInit { zero, items }))
    }

    fn local_item(&mut self, item: Item) -> LocalInitItem {
        let Target { ty, offset, bits, .. } = item.target;
        match item.value {
            ItemValue::Expr(value) => LocalInitItem { offset, ty, bits, value },
            ItemValue::Text(bytes) => {
                // Copied from a constant array of just this size, so that the rest is zero.
                let element = self.types().element(ty.ty).unwrap_or(ty);
                let width = self.types().size_of(element.ty).unwrap_or(1).max(1);
                let array = self.unit.types.array_of(element, ArrayLen::Known(bytes.len() as u64 / width));
                let size = bytes.len() as u64;
                let init = if size == 0 { Vec::new() } else { vec![(0, StaticValue::Bytes(bytes))] };
                let name = format!("text.{}", self.unit.globals.len());
                let definition = Definition::Static { size, init };
                let id = self.anonymous_global(name, array.into(), true, definition, item.span);
                let place = self.push(ExprKind::Global(id), array, item.span);
                let value = self.push(ExprKind::Load(place), array, item.span);
                LocalInitItem { offset, ty: array.into(), bits, value }
            }
        }
    }

    fn flatten(&mut self, ty: QualType, init: InitId, span: Span) -> Result<(QualType, Flat)> {
        let mut flat = Flat::default();
        let target = Target { ty, offset: 0, bits: None, is_mutex_kind: false };
        if !matches!(self.types().get(ty.ty), Type::Array(_, ArrayLen::Incomplete)) {
            self.refuse_incomplete(ty, span)?;
        }
        self.initialize(target, init, &mut flat)?;
        Ok((self.completed(ty, flat.end), flat))
    }

    /// `T a[]` gets as many elements as were initialised.
    fn completed(&mut self, ty: QualType, end: u64) -> QualType {
        let Type::Array(element, ArrayLen::Incomplete) = *self.types().get(ty.ty) else { return ty };
        let size = self.types().size_of(element.ty).unwrap_or(1).max(1);
        let array = self.unit.types.array_of(element, ArrayLen::Known(end.div_ceil(size)));
        QualType { ty: array, quals: ty.quals }
    }

    /// The expression of an initialiser; looked at again when braces are elided around it.
    pub fn init_expr(&mut self, init: InitId) -> Result<ExprId> {
        if let Some((last, expr)) = self.last_init
            && last == init
        {
            return Ok(expr);
        }
        let Initializer::Expr(expr) = &self.ast.inits[init] else {
            return fail(Span::default(), "expected an expression");
        };
        let expr = self.expr(*expr)?;
        self.last_init = Some((init, expr));
        Ok(expr)
    }

    /// Initialises one object from one initialiser.
    fn initialize(&mut self, target: Target, init: InitId, flat: &mut Flat) -> Result<()> {
        match &self.ast.inits[init] {
            Initializer::Expr(_) => {
                if self.take_text(target, init, flat)? {
                    return Ok(());
                }
                let raw = self.init_expr(init)?;
                if self.is_array_literal(raw, target.ty) {
                    return self.copy_array_literal(raw, target, flat);
                }
                let value = self.decay(raw);
                let value = self.convert_assigned(value, target.ty, "to initialise this")?;
                self.add(flat, target, ItemValue::Expr(value), self.span(value));
                Ok(())
            }
            Initializer::List { items, span } => {
                if let [only] = items.as_slice()
                    && only.designators.is_empty()
                    && self.take_text(target, only.value, flat)?
                {
                    return Ok(());
                }
                self.initialize_from_list(target, items, *span, flat)
            }
        }
    }

    fn initialize_from_list(
        &mut self,
        target: Target,
        items: &'a [InitItem],
        span: Span,
        flat: &mut Flat,
    ) -> Result<()> {
        if self.is_aggregate(target.ty) {
            let mut cursor = Cursor { items, next: 0 };
            return self.fill(target, &mut cursor, 0, true, flat);
        }
        match items {
            [] => {
                let zero = self.constant(0, target.ty.ty, span);
                self.add(flat, target, ItemValue::Expr(zero), span);
                Ok(())
            }
            [first, rest @ ..] => {
                if !rest.is_empty() {
                    self.warn(span, "more initialisers than the object has parts");
                }
                if let Some(Designator::Field(_, at)) = first.designators.first() {
                    return fail(*at, "a designator needs a struct, a union or an array");
                }
                self.initialize(target, first.value, flat)
            }
        }
    }

    fn is_aggregate(&self, ty: QualType) -> bool {
        self.types().is_array(ty.ty) || self.types().is_record(ty.ty)
    }

    fn add(&mut self, flat: &mut Flat, target: Target, value: ItemValue, span: Span) {
        let size = match (&value, target.bits) {
            (ItemValue::Text(bytes), _) => match self.types().size_of(target.ty.ty) {
                Some(size) => size,
                None => bytes.len() as u64,
            },
            (_, Some(bits)) => u64::from(bits.unit_bytes),
            _ => self.types().size_of(target.ty.ty).unwrap_or(0),
        };
        let is_zero = matches!(&value, ItemValue::Expr(expr) if self.evaluate_int(*expr) == Some(0));
        self.unit.has_mutex_kinds |= target.is_mutex_kind && !is_zero;
        flat.end = flat.end.max(target.offset + size);
        flat.items.push(Item { target, value, span });
    }

    /// `char a[] = "…"`, braces or not. False when this is something else.
    fn take_text(&mut self, target: Target, init: InitId, flat: &mut Flat) -> Result<bool> {
        let Type::Array(element, len) = *self.types().get(target.ty.ty) else { return Ok(false) };
        let Initializer::Expr(mut expr) = self.ast.inits[init] else { return Ok(false) };
        while let Written::Paren(inner) | Written::Unary(ast::UnaryOp::Extension, inner) = self.ast.exprs[expr].kind {
            expr = inner;
        }
        let Written::Str { units, kind } = &self.ast.exprs[expr].kind else { return Ok(false) };
        let unit = self.char_type(*kind);
        let (Some(width), true) = (self.types().size_of(unit), self.types().is_integer(element.ty)) else {
            return Ok(false);
        };
        if self.types().size_of(element.ty) != Some(width) {
            return Ok(false);
        }
        let mut bytes = string_bytes(units, width as usize);
        match len {
            ArrayLen::Known(len) => bytes.truncate((len * width) as usize),
            _ => bytes.extend(std::iter::repeat_n(0, width as usize)),
        }
        self.add(flat, target, ItemValue::Text(bytes), self.ast.exprs[expr].span);
        Ok(true)
    }

    /// GNU: an array initialised by a compound literal of array type.
    fn is_array_literal(&self, raw: ExprId, ty: QualType) -> bool {
        self.types().is_array(ty.ty)
            && self.types().is_array(self.ty(raw).ty)
            && matches!(self.unit.exprs[raw].kind, ExprKind::CompoundLiteral { .. } | ExprKind::Global(_))
    }

    fn copy_array_literal(&mut self, raw: ExprId, target: Target, flat: &mut Flat) -> Result<()> {
        let Expr { ty, span, .. } = self.unit.exprs[raw];
        if let ExprKind::Global(id) = self.unit.exprs[raw].kind {
            let Definition::Static { init, .. } = self.unit.globals[id].definition.clone() else {
                return fail(span, "an array can be initialised only by a list or a string");
            };
            let char = self.unit.types.int(IntKind::UnsignedChar);
            for (offset, value) in init {
                let offset = target.offset + offset;
                let (ty, value) = match value {
                    StaticValue::Bytes(bytes) => {
                        let ty = self.unit.types.array_of(char.into(), ArrayLen::Known(bytes.len() as u64));
                        (ty, ItemValue::Text(bytes))
                    }
                    StaticValue::Function(id) => {
                        let pointer = self.common().void_ptr;
                        (pointer, ItemValue::Expr(self.push(ExprKind::Function(id), pointer, span)))
                    }
                    StaticValue::Global(id, add) => {
                        let pointer = self.common().char_ptr;
                        let place = self.push(ExprKind::Global(id), self.common().char, span);
                        let address = self.push(ExprKind::AddressOf(place), pointer, span);
                        let add = self.constant(add as i128 as u128, self.common().ptrdiff, span);
                        (pointer, ItemValue::Expr(self.push(ExprKind::PointerAdd(address, add), pointer, span)))
                    }
                };
                self.add(flat, Target { ty: ty.into(), offset, bits: None, is_mutex_kind: false }, value, span);
            }
            flat.end = flat.end.max(target.offset + self.types().size_of(ty.ty).unwrap_or(0));
            return Ok(());
        }
        let value = self.push(ExprKind::Load(raw), ty.ty, span);
        self.add(flat, Target { ty, ..target }, ItemValue::Expr(value), span);
        Ok(())
    }

    /// How many parts an aggregate has for positional initialisers.
    fn part_count(&self, ty: QualType) -> u64 {
        match self.types().get(ty.ty) {
            Type::Array(_, ArrayLen::Known(len)) => *len,
            Type::Array(..) => u64::MAX,
            _ => match self.types().record_of(ty.ty) {
                Some(record) => {
                    let count = record.layout.as_ref().map_or(0, |l| l.fields.len() as u64);
                    if record.is_union { count.min(1) } else { count }
                }
                None => 0,
            },
        }
    }

    /// The `index`-th part of an aggregate; None for an unnamed bit-field, which is never initialised.
    fn part(&self, whole: Target, index: u64) -> Option<Target> {
        match self.types().get(whole.ty.ty) {
            Type::Array(element, _) => {
                let size = self.types().size_of(element.ty)?;
                let offset = whole.offset + size.checked_mul(index)?;
                Some(Target { ty: *element, offset, bits: None, is_mutex_kind: false })
            }
            _ => {
                let field = self.types().layout_of(whole.ty.ty)?.fields.get(index as usize)?;
                if field.bits.is_some() && field.name.is_empty() {
                    return None;
                }
                let is_mutex = self.types().record_of(whole.ty.ty).is_some_and(|r| r.name == "__pthread_mutex_s");
                let is_mutex_kind = is_mutex && field.name == "__kind";
                Some(Target { ty: field.ty, offset: whole.offset + field.offset, bits: field.bits, is_mutex_kind })
            }
        }
    }

    /// Goes through the parts of `whole` from `start` on, taking items. `is_braced`: the list is this aggregate's own.
    fn fill(
        &mut self,
        whole: Target,
        cursor: &mut Cursor<'a>,
        start: u64,
        is_braced: bool,
        flat: &mut Flat,
    ) -> Result<()> {
        let mut index = start;
        while let Some(item) = cursor.items.get(cursor.next) {
            if !item.designators.is_empty() {
                if !is_braced {
                    return Ok(());
                }
                index = self.designated(whole, &item.designators, cursor, flat)?.saturating_add(1);
                continue;
            }
            if index >= self.part_count(whole.ty) {
                if !is_braced {
                    return Ok(());
                }
                let span = self.init_span(item.value);
                self.warn(span, "more initialisers than the object has parts");
                cursor.next += 1;
                continue;
            }
            if let Some(part) = self.part(whole, index) {
                self.take(part, cursor, flat)?;
            }
            index += 1;
        }
        Ok(())
    }

    fn init_span(&self, init: InitId) -> Span {
        match &self.ast.inits[init] {
            Initializer::Expr(expr) => self.ast.exprs[*expr].span,
            Initializer::List { span, .. } => *span,
        }
    }

    /// Initialises one part from the next item, or, with braces elided, from as many items as it has parts.
    fn take(&mut self, part: Target, cursor: &mut Cursor<'a>, flat: &mut Flat) -> Result<()> {
        let Some(item) = cursor.items.get(cursor.next) else { return Ok(()) };
        let is_list = matches!(self.ast.inits[item.value], Initializer::List { .. });
        if is_list || !self.is_aggregate(part.ty) || self.initializes_whole(part, item.value)? {
            cursor.next += 1;
            return self.initialize(part, item.value, flat);
        }
        if self.part_count(part.ty) == 0 {
            return Ok(());
        }
        let before = cursor.next;
        // The item's own designators, if any, have been followed already.
        self.take_first_inside(part, cursor, flat)?;
        if cursor.next == before {
            cursor.next += 1;
        }
        Ok(())
    }

    /// Elided braces: the first item goes to the first part, whatever designators led here; then the parts after it.
    fn take_first_inside(&mut self, whole: Target, cursor: &mut Cursor<'a>, flat: &mut Flat) -> Result<()> {
        let count = self.part_count(whole.ty);
        let mut index = 0;
        while index < count {
            if let Some(part) = self.part(whole, index) {
                let before = cursor.next;
                self.take(part, cursor, flat)?;
                index += 1;
                if cursor.next > before {
                    break;
                }
                continue;
            }
            index += 1;
        }
        self.fill(whole, cursor, index, false, flat)
    }

    /// Whether an expression is the value of the whole aggregate: a string for characters, a record of the same type.
    fn initializes_whole(&mut self, part: Target, init: InitId) -> Result<bool> {
        let Initializer::Expr(mut expr) = self.ast.inits[init] else { return Ok(false) };
        while let Written::Paren(inner) | Written::Unary(ast::UnaryOp::Extension, inner) = self.ast.exprs[expr].kind {
            expr = inner;
        }
        if let Written::Str { kind, .. } = self.ast.exprs[expr].kind {
            let unit = self.char_type(kind);
            let element = self.types().element(part.ty.ty);
            return Ok(element.is_some_and(|e| {
                self.types().is_integer(e.ty) && self.types().size_of(e.ty) == self.types().size_of(unit)
            }));
        }
        let raw = self.init_expr(init)?;
        Ok(self.ty(raw).ty == part.ty.ty || self.is_array_literal(raw, part.ty))
    }

    /// Follows an item's designators into `whole`; gives the index of the part that was designated.
    fn designated(
        &mut self,
        whole: Target,
        designators: &'a [Designator],
        cursor: &mut Cursor<'a>,
        flat: &mut Flat,
    ) -> Result<u64> {
        let (first, last) = self.designated_range(whole, designators[0])?;
        let rest = &designators[1..];
        let start = cursor.next;
        for index in first..=last {
            cursor.next = start;
            let path = match designators[0] {
                Designator::Field(name, _) => self.field_path(whole.ty.ty, self.text(name)).unwrap_or_default(),
                _ => vec![index as u32],
            };
            self.follow(whole, index, &path, rest, cursor, flat)?;
        }
        Ok(last)
    }

    /// Goes down a path of anonymous members, then the remaining designators, and goes on after them on each level.
    fn follow(
        &mut self,
        whole: Target,
        index: u64,
        path: &[u32],
        rest: &'a [Designator],
        cursor: &mut Cursor<'a>,
        flat: &mut Flat,
    ) -> Result<()> {
        let Some(part) = self.part(whole, index) else { return Ok(()) };
        if let [_, inner @ ..] = path
            && let Some(next) = inner.first()
        {
            let next = u64::from(*next);
            self.follow(part, next, inner, rest, cursor, flat)?;
            return self.fill_after(part, next, cursor, flat);
        }
        match rest {
            [] => self.take(part, cursor, flat),
            [..] => {
                let inner = self.designated(part, rest, cursor, flat)?;
                self.fill_after(part, inner, cursor, flat)
            }
        }
    }

    fn fill_after(&mut self, whole: Target, index: u64, cursor: &mut Cursor<'a>, flat: &mut Flat) -> Result<()> {
        let is_union = self.types().record_of(whole.ty.ty).is_some_and(|r| r.is_union);
        if is_union { Ok(()) } else { self.fill(whole, cursor, index.saturating_add(1), false, flat) }
    }

    fn designated_range(&mut self, whole: Target, designator: Designator) -> Result<(u64, u64)> {
        match designator {
            Designator::Field(name, span) => match self.field_path(whole.ty.ty, self.text(name)) {
                Some(path) => Ok((u64::from(path[0]), u64::from(path[0]))),
                None => {
                    let shown = self.types().show(whole.ty);
                    fail(span, format!("`{shown}` has no member named `{}`", self.text(name)))
                }
            },
            Designator::Index(index) => {
                let at = self.array_index(whole, index)?;
                Ok((at, at))
            }
            Designator::Range(first, last) => {
                let (first_at, last_at) = (self.array_index(whole, first)?, self.array_index(whole, last)?);
                if last_at < first_at {
                    return fail(self.ast.exprs[last].span, "this range is empty");
                }
                Ok((first_at, last_at))
            }
        }
    }

    fn array_index(&mut self, whole: Target, index: ast::ExprId) -> Result<u64> {
        let span = self.ast.exprs[index].span;
        if !self.types().is_array(whole.ty.ty) {
            let shown = self.types().show(whole.ty);
            return fail(span, format!("an index cannot designate a part of `{shown}`"));
        }
        let value = self.constant_int(index, "an index in an initialiser")?;
        let count = self.part_count(whole.ty);
        match u64::try_from(value) {
            Ok(at) if at < count && at < super::specify::MAX_OBJECT_BYTES => Ok(at),
            _ => fail(span, format!("there is no element {value} in this array")),
        }
    }

    // ---- static images

    fn write_item(&self, image: &mut Image, item: &Item) -> Result<()> {
        let Target { ty, offset, bits, .. } = item.target;
        let value = match &item.value {
            ItemValue::Text(bytes) => {
                image.write(offset, bytes);
                let whole = self.types().size_of(ty.ty).unwrap_or(bytes.len() as u64);
                image.clear(offset + bytes.len() as u64, whole.saturating_sub(bytes.len() as u64));
                return Ok(());
            }
            ItemValue::Expr(value) => *value,
        };
        if self.is_aggregate(ty) {
            return self.write_aggregate(image, offset, value, item.span);
        }
        let size = self.types().size_of(ty.ty).unwrap_or(0);
        match (self.static_constant(value, item.span)?, bits) {
            (Constant::Bits(value), Some(field)) => image.write_bits(offset, field, value),
            (Constant::Bits(value), None) => image.write(offset, &value.to_le_bytes()[..(size as usize).min(16)]),
            (Constant::Address(base, add), None) if size == self.types().model.pointer_bytes() => {
                let value = match base {
                    Base::Global(id) => StaticValue::Global(id, add),
                    Base::Function(id) if add == 0 => StaticValue::Function(id),
                    Base::Function(_) => return fail(item.span, "an address inside a function is not a constant"),
                };
                image.write_address(offset, size, value);
            }
            _ => return fail(item.span, "an address does not fit here"),
        }
        Ok(())
    }

    /// A record or array copied from a constant object (a compound literal, a `const` struct).
    fn write_aggregate(&self, image: &mut Image, offset: u64, value: ExprId, span: Span) -> Result<()> {
        if let ExprKind::Load(place) = self.unit.exprs[value].kind {
            if let ExprKind::CompoundLiteral { init, .. } = &self.unit.exprs[place].kind {
                for item in &init.items {
                    let target =
                        Target { ty: item.ty, offset: offset + item.offset, bits: item.bits, is_mutex_kind: false };
                    self.write_item(image, &Item { target, value: ItemValue::Expr(item.value), span })?;
                }
                return Ok(());
            }
            if let Some(Constant::Address(Base::Global(id), 0)) = self.evaluate_place(place)
                && let Definition::Static { init, .. } = &self.unit.globals[id].definition
            {
                for (at, value) in init {
                    match value {
                        StaticValue::Bytes(bytes) => image.write(offset + at, bytes),
                        address => {
                            image.write_address(offset + at, self.types().model.pointer_bytes(), address.clone())
                        }
                    }
                }
                return Ok(());
            }
        }
        fail(span, "the initial value of a static object must be a constant")
    }
}

const PAGE: u64 = 1024;

/// The bytes of a static object while it is being written: later writes win, untouched bytes are zero.
#[derive(Default)]
struct Image {
    pages: BTreeMap<u64, Box<[u8]>>,
    addresses: BTreeMap<u64, (u64, StaticValue)>,
}

impl Image {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        self.forget_addresses(offset, bytes.len() as u64);
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let within = (at % PAGE) as usize;
            let count = (bytes.len() - done).min(PAGE as usize - within);
            let page = self.pages.entry(at / PAGE).or_insert_with(|| vec![0; PAGE as usize].into());
            page[within..within + count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    }

    fn clear(&mut self, offset: u64, len: u64) {
        self.forget_addresses(offset, len);
        let mut at = offset;
        while at < offset.saturating_add(len) {
            let within = (at % PAGE) as usize;
            let count = (offset + len - at).min(PAGE - at % PAGE);
            if let Some(page) = self.pages.get_mut(&(at / PAGE)) {
                page[within..within + count as usize].fill(0);
            }
            match self.pages.range(at / PAGE + 1..).next() {
                Some((next, _)) => at = (next * PAGE).max(at + count),
                None => return,
            }
        }
    }

    fn write_bits(&mut self, offset: u64, field: BitField, value: u128) {
        let mut bytes = [0u8; 16];
        let unit = usize::from(field.unit_bytes).min(16);
        for (i, byte) in bytes[..unit].iter_mut().enumerate() {
            let at = offset + i as u64;
            *byte = self.pages.get(&(at / PAGE)).map_or(0, |page| page[(at % PAGE) as usize]);
        }
        let mask = if field.width >= 128 { u128::MAX } else { (1u128 << field.width) - 1 } << field.shift;
        let merged = (u128::from_le_bytes(bytes) & !mask) | ((value << field.shift) & mask);
        self.write(offset, &merged.to_le_bytes()[..unit]);
    }

    fn write_address(&mut self, offset: u64, size: u64, value: StaticValue) {
        self.clear(offset, size);
        self.addresses.insert(offset, (size, value));
    }

    fn forget_addresses(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        let low = offset.saturating_sub(8);
        let hit: Vec<u64> =
            self.addresses.range(low..end).filter(|(at, (size, _))| **at + size > offset).map(|(at, _)| *at).collect();
        for at in hit {
            self.addresses.remove(&at);
        }
    }

    /// Runs of bytes that are not zero, and the addresses between them.
    fn finish(self) -> StaticInit {
        let mut init: StaticInit = Vec::new();
        for (page, bytes) in &self.pages {
            let mut at = 0;
            while at < bytes.len() {
                if bytes[at] == 0 {
                    at += 1;
                    continue;
                }
                let end = run_end(bytes, at);
                push_bytes(&mut init, page * PAGE + at as u64, &bytes[at..end]);
                at = end;
            }
        }
        let mut merged: StaticInit = Vec::with_capacity(init.len() + self.addresses.len());
        let mut addresses = self.addresses.into_iter().map(|(at, (_, value))| (at, value)).peekable();
        for (at, value) in init {
            while let Some(address) = addresses.next_if(|(address, _)| *address < at) {
                merged.push(address);
            }
            split_around(&mut merged, &mut addresses, at, value);
        }
        merged.extend(addresses);
        merged
    }
}

/// Where a run of bytes ends: at a gap of zeros that is worth leaving out.
fn run_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    let mut zeros = 0;
    for (i, byte) in bytes.iter().enumerate().skip(start) {
        if *byte == 0 {
            zeros += 1;
            if zeros == 8 {
                break;
            }
        } else {
            zeros = 0;
            end = i + 1;
        }
    }
    end
}

fn push_bytes(init: &mut StaticInit, at: u64, bytes: &[u8]) {
    if let Some((start, StaticValue::Bytes(last))) = init.last_mut()
        && *start + last.len() as u64 == at
    {
        last.extend_from_slice(bytes);
        return;
    }
    init.push((at, StaticValue::Bytes(bytes.to_vec())));
}

/// A run of bytes may bridge an address that lies in a small gap of zeros: cut it there.
fn split_around(
    merged: &mut StaticInit,
    addresses: &mut std::iter::Peekable<impl Iterator<Item = (u64, StaticValue)>>,
    at: u64,
    value: StaticValue,
) {
    let StaticValue::Bytes(bytes) = value else { return merged.push((at, value)) };
    let end = at + bytes.len() as u64;
    let mut start = at;
    while let Some((address, value)) = addresses.next_if(|(address, _)| *address < end) {
        let head = &bytes[(start.min(address) - at) as usize..(address - at) as usize];
        if head.iter().any(|b| *b != 0) {
            merged.push((start, StaticValue::Bytes(head.to_vec())));
        }
        merged.push((address, value));
        // The address's own bytes are zero in the image; what follows goes on behind them.
        let mut next = start.max(address);
        while next < end && bytes[(next - at) as usize] == 0 {
            next += 1;
        }
        start = next;
    }
    if start < end {
        merged.push((start, StaticValue::Bytes(bytes[(start - at) as usize..].to_vec())));
    }
}
