//! C's types, and how they lie in memory.
//!
//! Types are interned: equal types have equal ids, so comparing and storing them is free. Records and enums are
//! nominal: each definition has its own entry, which is filled in when its body is seen. Layout follows the System V
//! ABIs of x86-64 (LP64) and i386 (ILP32), bit-fields included, as gcc does it.

use leno_ir::index::IndexVec;
use leno_ir::index_type;
use leno_ir::program::DataModel;
use std::collections::HashMap;

use crate::typed::VarId;

index_type!(TypeId, "t");
index_type!(RecordId, "record");
index_type!(EnumId, "enum");

#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub enum Type {
    Void,
    Bool,
    Int(IntKind),
    Float(FloatKind),
    /// `_Complex`, vectors: may be declared, never computed with.
    Unsupported(&'static str),
    Enum(EnumId),
    Pointer(QualType),
    Array(QualType, ArrayLen),
    Function(FunctionType),
    Record(RecordId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum IntKind {
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Int128,
    UnsignedInt128,
    /// The type that gcc gives a bit-field that is wider than `int` and narrower than its declared type: its own width.
    OfField {
        width: u16,
        signed: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum FloatKind {
    Float,
    Double,
    LongDouble,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ArrayLen {
    Known(u64),
    /// `[]`: to be completed by an initialiser, or a flexible member.
    Incomplete,
    /// A variable-length array: this variable (a `size_t`) holds the number of elements.
    Variable(VarId),
}

#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct FunctionType {
    pub ret: QualType,
    pub params: Vec<QualType>,
    pub variadic: bool,
    /// `()` or K&R: arguments are not checked, and are promoted by default.
    pub unprototyped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Quals {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_atomic: bool,
}

impl Quals {
    pub const NONE: Quals = Quals { is_const: false, is_volatile: false, is_atomic: false };

    pub fn union(self, other: Quals) -> Quals {
        Quals {
            is_const: self.is_const | other.is_const,
            is_volatile: self.is_volatile | other.is_volatile,
            is_atomic: self.is_atomic | other.is_atomic,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct QualType {
    pub ty: TypeId,
    pub quals: Quals,
}

impl QualType {
    pub fn plain(ty: TypeId) -> QualType {
        QualType { ty, quals: Quals::NONE }
    }

    pub fn with(self, quals: Quals) -> QualType {
        QualType { ty: self.ty, quals: self.quals.union(quals) }
    }
}

impl From<TypeId> for QualType {
    fn from(ty: TypeId) -> QualType {
        QualType::plain(ty)
    }
}

#[derive(Clone, Debug)]
pub struct Record {
    /// The tag, or empty.
    pub name: String,
    /// For a record without a tag: the first name that a `typedef` gives it, or empty.
    pub typedef_name: String,
    pub is_union: bool,
    /// None until its body has been seen.
    pub layout: Option<Layout>,
}

#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub fields: Vec<Field>,
    pub size: u64,
    pub align: u32,
}

#[derive(Clone, Debug)]
pub struct Field {
    /// Empty for an anonymous member and for an unnamed bit-field.
    pub name: String,
    pub ty: QualType,
    pub offset: u64,
    pub bits: Option<BitField>,
}

/// Where a bit-field lies: in the storage unit of `unit_bytes` bytes at the field's `offset` (which never reaches past
/// the end of the record), `width` bits from bit `shift` up. The unit is a power of two of bytes, except where packing
/// leaves no room for one: then it is the bytes that the field touches, to be accessed in pieces that are powers of
/// two.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct BitField {
    pub shift: u16,
    pub width: u16,
    pub unit_bytes: u16,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub name: String,
    /// `unsigned int` unless its values need another; None until its body has been seen.
    pub repr: Option<IntKind>,
}

/// A member as it was declared, before layout.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    pub name: String,
    pub ty: QualType,
    pub bits: Option<u16>,
    /// From `_Alignas` or `aligned`: 0 when there is none.
    pub align: u32,
    pub packed: bool,
}

/// How tightly a record is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packing {
    /// `__attribute__((packed))`: members have no alignment of their own.
    pub packed: bool,
    /// `#pragma pack(n)`: members are aligned to at most this; 0 when there is none.
    pub pragma: u32,
}

#[derive(Clone, Debug)]
pub struct Types {
    pub model: DataModel,
    types: IndexVec<TypeId, Type>,
    ids: HashMap<Type, TypeId>,
    pub records: IndexVec<RecordId, Record>,
    pub enums: IndexVec<EnumId, Enum>,
    pub common: Common,
}

/// Types that are asked for all the time.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    pub void: TypeId,
    pub bool: TypeId,
    pub char: TypeId,
    pub int: TypeId,
    pub uint: TypeId,
    pub long: TypeId,
    pub size: TypeId,
    pub ptrdiff: TypeId,
    pub double: TypeId,
    pub void_ptr: TypeId,
    pub char_ptr: TypeId,
    /// The type of `va_list`: `struct __va_list_tag[1]` on x86-64, `char *` on i386.
    pub va_list: TypeId,
}

impl Types {
    pub fn new(model: DataModel) -> Types {
        let none = TypeId(0);
        let common = Common {
            void: none,
            bool: none,
            char: none,
            int: none,
            uint: none,
            long: none,
            size: none,
            ptrdiff: none,
            double: none,
            void_ptr: none,
            char_ptr: none,
            va_list: none,
        };
        let mut types = Types {
            model,
            types: IndexVec::new(),
            ids: HashMap::new(),
            records: IndexVec::new(),
            enums: IndexVec::new(),
            common,
        };
        types.common = types.make_common();
        types
    }

    fn make_common(&mut self) -> Common {
        let lp64 = self.model == DataModel::Lp64;
        let void = self.intern(Type::Void);
        let char = self.int(IntKind::Char);
        let uint = self.int(IntKind::UnsignedInt);
        let void_ptr = self.pointer_to(void.into());
        let char_ptr = self.pointer_to(char.into());
        let va_list = if lp64 { self.va_list_array(uint, void_ptr) } else { char_ptr };
        Common {
            void,
            bool: self.intern(Type::Bool),
            char,
            int: self.int(IntKind::Int),
            uint,
            long: self.int(IntKind::Long),
            size: self.int(if lp64 { IntKind::UnsignedLong } else { IntKind::UnsignedInt }),
            ptrdiff: self.int(if lp64 { IntKind::Long } else { IntKind::Int }),
            double: self.intern(Type::Float(FloatKind::Double)),
            void_ptr,
            char_ptr,
            va_list,
        }
    }

    fn va_list_array(&mut self, uint: TypeId, void_ptr: TypeId) -> TypeId {
        let member = |name: &str, ty: TypeId| MemberSpec {
            name: name.to_string(),
            ty: ty.into(),
            bits: None,
            align: 0,
            packed: false,
        };
        let members = [
            member("gp_offset", uint),
            member("fp_offset", uint),
            member("overflow_arg_area", void_ptr),
            member("reg_save_area", void_ptr),
        ];
        let layout = self.lay_out(&members, false, Packing::default(), 0);
        let record = self.records.push(Record {
            name: "__va_list_tag".to_string(),
            typedef_name: String::new(),
            is_union: false,
            layout: Some(layout),
        });
        let tag = self.intern(Type::Record(record));
        self.intern(Type::Array(tag.into(), ArrayLen::Known(1)))
    }

    pub fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id]
    }

    pub fn int(&mut self, kind: IntKind) -> TypeId {
        self.intern(Type::Int(kind))
    }

    pub fn pointer_to(&mut self, target: QualType) -> TypeId {
        self.intern(Type::Pointer(target))
    }

    pub fn array_of(&mut self, element: QualType, len: ArrayLen) -> TypeId {
        self.intern(Type::Array(element, len))
    }

    pub fn pointee(&self, id: TypeId) -> Option<QualType> {
        match self.get(id) {
            Type::Pointer(target) => Some(*target),
            _ => None,
        }
    }

    pub fn element(&self, id: TypeId) -> Option<QualType> {
        match self.get(id) {
            Type::Array(element, _) => Some(*element),
            _ => None,
        }
    }

    pub fn is_void(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Void)
    }

    pub fn is_pointer(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Pointer(_))
    }

    pub fn is_array(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Array(..))
    }

    pub fn is_record(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Record(_))
    }

    pub fn is_function(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Function(_))
    }

    pub fn is_float(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Float(_))
    }

    pub fn is_integer(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Bool | Type::Int(_) | Type::Enum(_))
    }

    pub fn is_arithmetic(&self, id: TypeId) -> bool {
        self.is_integer(id) || self.is_float(id)
    }

    pub fn is_scalar(&self, id: TypeId) -> bool {
        self.is_arithmetic(id) || self.is_pointer(id)
    }

    /// The integer kind behind an integer or enum type (`_Bool` is not one).
    pub fn int_kind(&self, id: TypeId) -> Option<IntKind> {
        match self.get(id) {
            Type::Int(kind) => Some(*kind),
            Type::Enum(id) => Some(self.enums[*id].repr.unwrap_or(IntKind::UnsignedInt)),
            _ => None,
        }
    }

    /// Signedness of an integer type; pointers and `_Bool` are unsigned.
    pub fn is_signed(&self, id: TypeId) -> bool {
        self.int_kind(id).is_some_and(IntKind::is_signed)
    }

    /// Width in bits of an integer or pointer type (8 for `_Bool`: its size).
    pub fn int_bits(&self, id: TypeId) -> u16 {
        match self.get(id) {
            Type::Bool => 8,
            Type::Pointer(_) => self.model.pointer_bits(),
            _ => self.int_kind(id).map_or(0, |kind| kind.bits(self.model)),
        }
    }

    /// Size in bytes; None for incomplete, variable, function and void types.
    pub fn size_of(&self, id: TypeId) -> Option<u64> {
        match self.get(id) {
            Type::Void | Type::Function(_) => None,
            Type::Bool => Some(1),
            Type::Int(_) | Type::Enum(_) if self.is_incomplete_enum(id) => None,
            Type::Int(_) | Type::Enum(_) | Type::Pointer(_) => {
                Some(u64::from(self.int_bits(id)).next_power_of_two() / 8)
            }
            Type::Float(FloatKind::Float) => Some(4),
            Type::Float(FloatKind::Double) => Some(8),
            Type::Float(FloatKind::LongDouble) => Some(if self.model == DataModel::Lp64 { 16 } else { 12 }),
            Type::Unsupported(_) => Some(16),
            Type::Array(element, ArrayLen::Known(len)) => self.size_of(element.ty)?.checked_mul(*len),
            Type::Array(..) => None,
            Type::Record(id) => self.records[*id].layout.as_ref().map(|l| l.size),
        }
    }

    fn is_incomplete_enum(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Enum(id) if self.enums[*id].repr.is_none())
    }

    /// Alignment in bytes of a complete type (1 otherwise), when it stands alone.
    pub fn align_of(&self, id: TypeId) -> u32 {
        match self.get(id) {
            Type::Void | Type::Function(_) | Type::Bool => 1,
            Type::Float(FloatKind::LongDouble) if self.model == DataModel::Ilp32 => 4,
            Type::Unsupported(_) => 16,
            Type::Array(element, _) => self.align_of(element.ty),
            Type::Record(id) => self.records[*id].layout.as_ref().map_or(1, |l| l.align),
            _ => self.size_of(id).unwrap_or(1) as u32,
        }
    }

    /// Alignment inside a record: on i386, eight-byte scalars are aligned to four there.
    fn member_align(&self, id: TypeId, quals: Quals) -> u32 {
        let align = self.align_of(id);
        match self.get(id) {
            Type::Array(element, _) => self.member_align(element.ty, element.quals),
            Type::Record(_) => align,
            _ if self.model == DataModel::Ilp32 && !quals.is_atomic => align.min(4),
            _ => align,
        }
    }

    /// Fields, size and alignment of a record.
    pub fn lay_out(&self, members: &[MemberSpec], is_union: bool, packing: Packing, min_align: u32) -> Layout {
        let mut fields = Vec::with_capacity(members.len());
        let mut align = min_align.max(1);
        let mut size_bits = 0u64;
        let mut end_bits = 0u64;
        for member in members {
            if is_union {
                end_bits = 0;
            }
            let (field, field_align) = self.place(member, packing, &mut end_bits);
            align = align.max(field_align);
            fields.push(field);
            size_bits = size_bits.max(end_bits);
        }
        let size = round_up(size_bits.div_ceil(8), u64::from(align));
        choose_bit_field_units(&mut fields, size, is_union);
        Layout { fields, size, align }
    }

    /// Places one member at or after `end_bits`, which it advances; also gives the alignment that the record gets from
    /// it.
    fn place(&self, member: &MemberSpec, packing: Packing, end_bits: &mut u64) -> (Field, u32) {
        let packed = packing.packed || member.packed;
        let cap = |align: u32| if packing.pragma == 0 { align } else { align.min(packing.pragma) };
        let natural = if packed { 1 } else { cap(self.member_align(member.ty.ty, member.ty.quals)) };
        let align = natural.max(cap(member.align));
        let size = self.size_of(member.ty.ty).unwrap_or(0);
        let Some(width) = member.bits else {
            let offset = round_up(end_bits.div_ceil(8), u64::from(align));
            *end_bits = offset.saturating_add(size).saturating_mul(8);
            return (Field { name: member.name.clone(), ty: member.ty, offset, bits: None }, align);
        };
        let unit_bits = size.max(1) * 8;
        let declared_align = u64::from(cap(self.member_align(member.ty.ty, member.ty.quals))) * 8;
        if width == 0 {
            let unit_align = u64::from(self.member_align(member.ty.ty, member.ty.quals).max(member.align));
            *end_bits = round_up(*end_bits, unit_align * 8);
            let offset = *end_bits / 8;
            let bits = Some(BitField { shift: 0, width: 0, unit_bytes: size as u16 });
            return (Field { name: String::new(), ty: member.ty, offset, bits }, 1);
        }
        if member.align > 0 {
            *end_bits = round_up(*end_bits, u64::from(cap(member.align)) * 8);
        }
        let crosses = *end_bits / unit_bits != (*end_bits + u64::from(width) - 1) / unit_bits;
        let crosses_aligned = *end_bits / declared_align * declared_align + unit_bits < *end_bits + u64::from(width);
        // Under any `#pragma pack` gcc lets bit-fields cross the boundaries of their type.
        if !packed && packing.pragma == 0 && (if declared_align == unit_bits { crosses } else { crosses_aligned }) {
            *end_bits = round_up(*end_bits, declared_align);
        }
        let start = *end_bits;
        *end_bits += u64::from(width);
        let first_byte = if packed { start / 8 } else { start / declared_align * declared_align / 8 };
        let shift = (start - first_byte * 8) as u16;
        let bits = Some(BitField { shift, width, unit_bytes: size as u16 });
        // For bit-fields the pragma takes the place of the attribute; it does not come on top of it.
        let whole = if packing.pragma == 0 { align } else { align.max(declared_align as u32 / 8) };
        let record_align = if member.name.is_empty() { 1 } else { whole };
        (Field { name: member.name.clone(), ty: member.ty, offset: first_byte, bits }, record_align)
    }

    pub fn record_of(&self, id: TypeId) -> Option<&Record> {
        match self.get(id) {
            Type::Record(id) => Some(&self.records[*id]),
            _ => None,
        }
    }

    pub fn layout_of(&self, id: TypeId) -> Option<&Layout> {
        self.record_of(id)?.layout.as_ref()
    }

    /// The type as a person would write it, for messages.
    pub fn show(&self, ty: QualType) -> String {
        let mut text = String::new();
        for (set, word) in
            [(ty.quals.is_const, "const "), (ty.quals.is_volatile, "volatile "), (ty.quals.is_atomic, "_Atomic ")]
        {
            if set {
                text.push_str(word);
            }
        }
        text + &match self.get(ty.ty) {
            Type::Void => "void".to_string(),
            Type::Bool => "_Bool".to_string(),
            Type::Int(kind) => kind.name().to_string(),
            Type::Float(FloatKind::Float) => "float".to_string(),
            Type::Float(FloatKind::Double) => "double".to_string(),
            Type::Float(FloatKind::LongDouble) => "long double".to_string(),
            Type::Unsupported(what) => (*what).to_string(),
            Type::Enum(id) => format!("enum {}", self.enums[*id].name),
            Type::Pointer(target) => format!("{} *", self.show(*target)),
            Type::Array(element, ArrayLen::Known(len)) => format!("{}[{len}]", self.show(*element)),
            Type::Array(element, _) => format!("{}[]", self.show(*element)),
            Type::Function(f) => {
                let params: Vec<String> = f.params.iter().map(|p| self.show(*p)).collect();
                format!("{} ({})", self.show(f.ret), params.join(", "))
            }
            Type::Record(id) => {
                let record = &self.records[*id];
                let kind = if record.is_union { "union" } else { "struct" };
                match (record.name.as_str(), record.typedef_name.as_str()) {
                    ("", "") => format!("{kind} <unnamed>"),
                    ("", name) => name.to_string(),
                    (tag, _) => format!("{kind} {tag}"),
                }
            }
        }
    }
}

/// Each bit-field gets the unit that it is accessed in: the declared type's if it lies inside the field's *memory
/// location*, else the smallest aligned power of two of bytes that does, else just the bytes that the field touches. A
/// memory location is C11's: a run of adjacent bit-fields, with the padding after it, which nothing else may share. Two
/// threads that write neighbours of one run race; a bit-field and the member next to it do not.
fn choose_bit_field_units(fields: &mut [Field], size: u64, is_union: bool) {
    for index in 0..fields.len() {
        let (start, end) = if is_union { (0, size) } else { memory_location(fields, index, size) };
        let field = &mut fields[index];
        let Some(bits) = field.bits.as_mut().filter(|bits| bits.width > 0) else { continue };
        let first_bit = field.offset * 8 + u64::from(bits.shift);
        let end_bit = first_bit + u64::from(bits.width);
        let fits = |unit: u64| {
            let first = first_bit / 8 / unit * unit;
            (start <= first && end_bit <= (first + unit) * 8 && first + unit <= end).then_some((first, unit))
        };
        let touched = || {
            let first = first_bit / 8;
            let bytes = (end_bit - first * 8).div_ceil(8);
            let unit = bytes.next_power_of_two();
            if first + unit <= end { (first, unit) } else { (first, bytes) }
        };
        let declared = u64::from(bits.unit_bytes.max(1));
        let found = fits(declared).or_else(|| [1, 2, 4, 8, 16].into_iter().find_map(fits));
        let (first, unit) = found.unwrap_or_else(touched);
        field.offset = first;
        bits.shift = (first_bit - first * 8) as u16;
        bits.unit_bytes = unit as u16;
    }
}

/// The bytes from the first bit-field of the run that holds field `index` to whatever follows the run.
fn memory_location(fields: &[Field], index: usize, size: u64) -> (u64, u64) {
    let in_run = |field: &&Field| field.bits.is_some_and(|bits| bits.width > 0);
    let first_byte = |field: &Field| field.offset + field.bits.map_or(0, |bits| u64::from(bits.shift / 8));
    let start = fields[..=index].iter().rev().take_while(in_run).last().map_or(0, first_byte);
    let after = fields[index..].iter().find(|field| !in_run(field));
    (start, after.map_or(size, first_byte))
}

pub fn round_up(value: u64, align: u64) -> u64 {
    if align <= 1 { value } else { value.saturating_add(align - 1) / align * align }
}

impl IntKind {
    pub fn is_signed(self) -> bool {
        use IntKind::*;
        matches!(self, Char | SignedChar | Short | Int | Long | LongLong | Int128 | OfField { signed: true, .. })
    }

    pub fn bits(self, model: DataModel) -> u16 {
        use IntKind::*;
        match self {
            Char | SignedChar | UnsignedChar => 8,
            Short | UnsignedShort => 16,
            Int | UnsignedInt => 32,
            Long | UnsignedLong => model.pointer_bits(),
            LongLong | UnsignedLongLong => 64,
            Int128 | UnsignedInt128 => 128,
            OfField { width, .. } => width,
        }
    }

    /// The type of a bit-field's value that is wider than `int`: one of the usual types if its width is theirs.
    pub fn of_field(width: u16, signed: bool, model: DataModel) -> IntKind {
        let usual = [IntKind::Long, IntKind::LongLong].into_iter().find(|kind| kind.bits(model) == width);
        match usual {
            Some(kind) if signed => kind,
            Some(kind) => kind.to_unsigned(),
            None => IntKind::OfField { width, signed },
        }
    }

    /// Conversion rank: how the usual arithmetic conversions order types. (That of a bit-field's own type is above
    /// `int`'s; next to the others its width decides.)
    pub fn rank(self) -> u8 {
        use IntKind::*;
        match self {
            Char | SignedChar | UnsignedChar => 1,
            Short | UnsignedShort => 2,
            Int | UnsignedInt => 3,
            Long | UnsignedLong => 4,
            LongLong | UnsignedLongLong => 5,
            Int128 | UnsignedInt128 => 6,
            OfField { .. } => 4,
        }
    }

    pub fn to_unsigned(self) -> IntKind {
        use IntKind::*;
        match self {
            Char | SignedChar | UnsignedChar => UnsignedChar,
            Short | UnsignedShort => UnsignedShort,
            Int | UnsignedInt => UnsignedInt,
            Long | UnsignedLong => UnsignedLong,
            LongLong | UnsignedLongLong => UnsignedLongLong,
            Int128 | UnsignedInt128 => UnsignedInt128,
            OfField { width, .. } => OfField { width, signed: false },
        }
    }

    pub fn name(self) -> &'static str {
        use IntKind::*;
        match self {
            Char => "char",
            SignedChar => "signed char",
            UnsignedChar => "unsigned char",
            Short => "short",
            UnsignedShort => "unsigned short",
            Int => "int",
            UnsignedInt => "unsigned int",
            Long => "long",
            UnsignedLong => "unsigned long",
            LongLong => "long long",
            UnsignedLongLong => "unsigned long long",
            Int128 => "__int128",
            UnsignedInt128 => "unsigned __int128",
            OfField { signed: true, .. } => "a signed bit-field's own type",
            OfField { signed: false, .. } => "an unsigned bit-field's own type",
        }
    }
}
