//! Linking: which definition a name means, and what of it all the program needs.
//!
//! Functions and objects get their ids when something first refers to them. A function is lowered when finished code
//! refers to it, so that what only dead code mentions never appears; at the end everything is put into source order and
//! numbered again. A name with external linkage means, in this order: what the library insists on (`reach_error`), the
//! program's own definition, an `inline` one, what the library lowers to instructions, the library's model in C, and
//! at last nothing: an external function.

use super::hook::{self, Refusal};
use super::signature::Signature;
use super::text::Texts;
use super::{LinkUnit, LowerError, LowerOptions, Warning};
use crate::diagnostic::Diagnostic;
use crate::source;
use crate::typed::{self, Definition, GlobalId, Linkage};
use leno_ir::index::IndexVec;
use leno_ir::program::{DataModel, External, FuncId, Function, Object, ObjectId, ObjectKind, Span, TextId};
use std::collections::HashMap;

/// Where a function comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Defined {
        unit: usize,
        func: typed::FuncId,
    },
    /// The address of what the library lowers to instructions. The declaration says what its parameters are.
    Wrapper {
        unit: usize,
        func: typed::FuncId,
    },
    /// Defined nowhere.
    External {
        unit: usize,
        func: typed::FuncId,
    },
    Entry,
}

/// What a direct call reaches.
pub(super) enum Target<'u> {
    Function(FuncId),
    Instruction(&'u str),
}

pub(super) struct LinkedFunction {
    pub link_name: String,
    pub signature: Signature,
    pub origin: Origin,
    pub is_wanted: bool,
    pub lowered: Option<Function>,
    /// For an external function that no prototype describes: whether a call has said what its parameters are.
    pub is_open: bool,
}

pub(super) struct LinkedObject {
    pub name: String,
    pub unit: usize,
    pub global: GlobalId,
    /// The biggest that any unit believes it to be.
    pub size: u64,
    pub align: u32,
    pub is_wanted: bool,
    pub built: Option<Object>,
}

/// All that is known of one external name as a function.
#[derive(Default)]
struct FunctionSymbol {
    program: Option<(usize, typed::FuncId)>,
    inline: Option<(usize, typed::FuncId)>,
    model: Option<(usize, typed::FuncId)>,
    /// The declaration that says most: one with a prototype, if there is one.
    declaration: Option<(usize, typed::FuncId)>,
    linked: Option<FuncId>,
}

/// All that is known of one external name as an object.
#[derive(Default)]
struct ObjectSymbol {
    initialized: Option<(usize, GlobalId)>,
    tentative: Option<(usize, GlobalId)>,
    model: Option<(usize, GlobalId)>,
    declaration: Option<(usize, GlobalId)>,
    size: u64,
    align: u32,
    linked: Option<ObjectId>,
}

/// The program, while it is being put together.
pub struct Link<'u> {
    pub(super) units: &'u [LinkUnit<'u>],
    pub(super) options: &'u LowerOptions,
    pub(super) functions: IndexVec<FuncId, LinkedFunction>,
    pub(super) objects: IndexVec<ObjectId, LinkedObject>,
    pub(super) warnings: Vec<Warning>,
    pub(super) texts: Texts,
    function_symbols: HashMap<&'u str, FunctionSymbol>,
    object_symbols: HashMap<&'u str, ObjectSymbol>,
    /// By unit and the unit's own ids.
    function_ids: Vec<Vec<Option<FuncId>>>,
    object_ids: Vec<Vec<Option<ObjectId>>>,
    /// For each function of each unit, whether calls of it become instructions, once that has been asked.
    instructions: Vec<Vec<Option<bool>>>,
    pub(super) function_work: Vec<FuncId>,
    pub(super) object_work: Vec<ObjectId>,
}

impl<'u> Link<'u> {
    pub(super) fn new(units: &'u [LinkUnit<'u>], options: &'u LowerOptions) -> Result<Link<'u>, LowerError> {
        let mut link = Link {
            units,
            options,
            functions: IndexVec::new(),
            objects: IndexVec::new(),
            warnings: Vec::new(),
            texts: Texts::new(units.len()),
            function_symbols: HashMap::new(),
            object_symbols: HashMap::new(),
            function_ids: units.iter().map(|u| vec![None; u.unit.functions.len()]).collect(),
            object_ids: units.iter().map(|u| vec![None; u.unit.globals.len()]).collect(),
            instructions: units.iter().map(|u| vec![None; u.unit.functions.len()]).collect(),
            function_work: Vec::new(),
            object_work: Vec::new(),
        };
        for (index, unit) in units.iter().enumerate() {
            link.add_functions(index, unit)?;
            link.add_objects(index, unit)?;
        }
        Ok(link)
    }

    pub fn model(&self) -> DataModel {
        self.units.first().map_or(DataModel::Lp64, |unit| unit.unit.types.model)
    }

    pub fn signature(&self, func: FuncId) -> &Signature {
        &self.functions[func].signature
    }

    pub(super) fn text(&mut self, text: &str) -> TextId {
        self.texts.intern(text)
    }

    pub(super) fn span(&mut self, unit: usize, place: source::Span) -> Span {
        self.texts.span(self.units[unit].source, unit, place)
    }

    pub(super) fn warn(&mut self, unit: usize, diagnostic: Diagnostic) {
        self.warnings.push(Warning { unit, diagnostic });
    }

    // ---- symbols

    fn add_functions(&mut self, index: usize, unit: &'u LinkUnit<'u>) -> Result<(), LowerError> {
        for (id, function) in unit.unit.functions.iter_enumerated() {
            if function.linkage == Linkage::Internal {
                continue;
            }
            let says_more = is_prototype(unit, function);
            let symbol = self.function_symbols.entry(&function.name).or_default();
            let known =
                symbol.declaration.is_some_and(|(u, f)| is_prototype(&self.units[u], &self.units[u].unit.functions[f]));
            if symbol.declaration.is_none() || (says_more && !known) {
                symbol.declaration = Some((index, id));
            }
            if function.definition.is_none() {
                continue;
            }
            let role = if unit.is_model {
                &mut symbol.model
            } else if function.is_inline {
                &mut symbol.inline
            } else {
                &mut symbol.program
            };
            if role.is_none() {
                *role = Some((index, id));
            } else if !unit.is_model && !function.is_inline {
                let message = format!("`{}` is defined twice", function.name);
                let diagnostic = Diagnostic::error(function.span, message)
                    .help("remove one of the definitions, or make one of them `static`");
                return Err(LowerError { unit: index, diagnostic });
            }
        }
        Ok(())
    }

    fn add_objects(&mut self, index: usize, unit: &'u LinkUnit<'u>) -> Result<(), LowerError> {
        for (id, global) in unit.unit.globals.iter_enumerated() {
            if global.linkage == Linkage::Internal {
                continue;
            }
            let symbol = self.object_symbols.entry(&global.name).or_default();
            let (size, align) = object_size(unit, global);
            // A model's idea of an object that the program defines does not count.
            if !unit.is_model || (symbol.initialized.is_none() && symbol.tentative.is_none()) {
                symbol.size = symbol.size.max(size);
                symbol.align = symbol.align.max(align);
            }
            let role = match (&global.definition, unit.is_model) {
                (Definition::None, _) => &mut symbol.declaration,
                (_, true) => &mut symbol.model,
                (Definition::Tentative, false) => &mut symbol.tentative,
                (Definition::Static { .. }, false) => &mut symbol.initialized,
            };
            if role.is_none() {
                *role = Some((index, id));
            } else if matches!(global.definition, Definition::Static { .. }) && !unit.is_model {
                let message = format!("`{}` is defined twice", global.name);
                let diagnostic = Diagnostic::error(global.span, message)
                    .help("remove one of the definitions, or make one of them `static`");
                return Err(LowerError { unit: index, diagnostic });
            }
        }
        Ok(())
    }

    // ---- functions

    /// What a direct call of a unit's function reaches.
    pub(super) fn target(&mut self, unit: usize, func: typed::FuncId) -> Target<'u> {
        let known = self.instructions[unit][func.0 as usize];
        let is_instruction = known.unwrap_or_else(|| self.is_instruction(unit, func));
        self.instructions[unit][func.0 as usize] = Some(is_instruction);
        if is_instruction {
            Target::Instruction(&self.units[unit].unit.functions[func].name)
        } else {
            Target::Function(self.function(unit, func))
        }
    }

    /// Why this function may not be used, if it may not: asked where it is first used.
    pub(super) fn refusal(&self, id: FuncId) -> Option<Refusal> {
        let linked = &self.functions[id];
        matches!(linked.origin, Origin::External { .. }).then(|| hook::refusal(&linked.link_name)).flatten()
    }

    fn is_instruction(&self, unit: usize, func: typed::FuncId) -> bool {
        let function = &self.units[unit].unit.functions[func];
        if hook::overrides_definition(&function.name) && hook::is_instruction(&function.name) {
            return true;
        }
        if function.linkage == Linkage::Internal && function.definition.is_some() {
            return false;
        }
        let symbol = self.function_symbols.get(function.name.as_str());
        let is_defined = symbol.is_some_and(|s| s.program.is_some() || s.inline.is_some());
        !is_defined && hook::is_instruction(&function.name)
    }

    /// The function of the representation that a unit's function stands for: also what its address is.
    pub(super) fn function(&mut self, unit: usize, func: typed::FuncId) -> FuncId {
        if let Some(known) = self.function_ids[unit][func.0 as usize] {
            return known;
        }
        let units = self.units;
        let function = &units[unit].unit.functions[func];
        let is_own = function.linkage == Linkage::Internal && function.definition.is_some();
        let id = if is_own && !hook::overrides_definition(&function.name) {
            self.add_function(&function.name, Origin::Defined { unit, func })
        } else {
            let linked = self.function_symbols.get(function.name.as_str()).and_then(|s| s.linked);
            linked.unwrap_or_else(|| self.link_function(&function.name, (unit, func)))
        };
        self.function_ids[unit][func.0 as usize] = Some(id);
        id
    }

    fn link_function(&mut self, name: &'u str, asked: (usize, typed::FuncId)) -> FuncId {
        let symbol = self.function_symbols.entry(name).or_default();
        let declaration = symbol.declaration.unwrap_or(asked);
        let overridden = hook::overrides_definition(name) && hook::is_instruction(name);
        let program = symbol.program.or(symbol.inline).filter(|_| !overridden);
        let model = symbol.model;
        let origin = if let Some((unit, func)) = program {
            Origin::Defined { unit, func }
        } else if hook::is_instruction(name) {
            Origin::Wrapper { unit: declaration.0, func: declaration.1 }
        } else if let Some((unit, func)) = model {
            Origin::Defined { unit, func }
        } else {
            Origin::External { unit: declaration.0, func: declaration.1 }
        };
        let id = self.add_function(name, origin);
        self.function_symbols.entry(name).or_default().linked = Some(id);
        id
    }

    fn add_function(&mut self, name: &str, origin: Origin) -> FuncId {
        let (signature, is_open) = match origin {
            Origin::Defined { unit, func } | Origin::Wrapper { unit, func } | Origin::External { unit, func } => {
                let unit = &self.units[unit];
                let function = &unit.unit.functions[func];
                let is_open = matches!(origin, Origin::External { .. }) && !is_prototype(unit, function);
                (Signature::of(&unit.unit.types, function.ty), is_open)
            }
            Origin::Entry => (Signature::of_entry(), false),
        };
        let link_name = name.to_string();
        self.functions.push(LinkedFunction { link_name, signature, origin, is_wanted: false, lowered: None, is_open })
    }

    pub(super) fn add_entry(&mut self) -> FuncId {
        self.add_function("_start", Origin::Entry)
    }

    /// The function that this external name reaches, if the program or a model defines it.
    pub(super) fn function_named(&mut self, name: &str) -> Option<FuncId> {
        let (name, symbol) = self.function_symbols.get_key_value(name)?;
        let (name, asked) = (*name, symbol.program.or(symbol.inline).or(symbol.model)?);
        symbol.linked.or_else(|| Some(self.link_function(name, asked)))
    }

    pub(super) fn want_function(&mut self, id: FuncId) {
        if !std::mem::replace(&mut self.functions[id].is_wanted, true) {
            self.function_work.push(id);
        }
    }

    /// What is known of a function that has no body.
    pub(super) fn external(&self, id: FuncId) -> External {
        let linked = &self.functions[id];
        hook::external(&linked.link_name).map_or(
            External { known: false, pure: false, writes: Vec::new(), variadic: linked.signature.variadic },
            |known| External { variadic: linked.signature.variadic, ..known },
        )
    }

    // ---- objects

    /// The object of the representation that a unit's global stands for.
    pub(super) fn object(&mut self, unit: usize, global: GlobalId) -> ObjectId {
        if let Some(known) = self.object_ids[unit][global.0 as usize] {
            return known;
        }
        let units = self.units;
        let declared = &units[unit].unit.globals[global];
        let id = if declared.linkage == Linkage::Internal {
            let (size, align) = object_size(&units[unit], declared);
            self.add_object(&declared.name, (unit, global), size, align)
        } else {
            let linked = self.object_symbols.get(declared.name.as_str()).and_then(|s| s.linked);
            linked.unwrap_or_else(|| self.link_object(&declared.name, (unit, global)))
        };
        self.object_ids[unit][global.0 as usize] = Some(id);
        id
    }

    fn link_object(&mut self, name: &'u str, asked: (usize, GlobalId)) -> ObjectId {
        let symbol = self.object_symbols.entry(name).or_default();
        let chosen = symbol.initialized.or(symbol.tentative).or(symbol.model).or(symbol.declaration).unwrap_or(asked);
        let (size, align) = (symbol.size, symbol.align);
        let id = self.add_object(name, chosen, size, align);
        self.object_symbols.entry(name).or_default().linked = Some(id);
        id
    }

    fn add_object(&mut self, name: &str, (unit, global): (usize, GlobalId), size: u64, align: u32) -> ObjectId {
        let name = name.to_string();
        self.objects.push(LinkedObject { name, unit, global, size, align, is_wanted: false, built: None })
    }

    pub(super) fn object_named(&mut self, name: &str) -> Option<ObjectId> {
        let (name, symbol) = self.object_symbols.get_key_value(name)?;
        let (name, asked) = (*name, symbol.initialized.or(symbol.tentative).or(symbol.model)?);
        symbol.linked.or_else(|| Some(self.link_object(name, asked)))
    }

    pub(super) fn want_object(&mut self, id: ObjectId) {
        if !std::mem::replace(&mut self.objects[id].is_wanted, true) {
            self.object_work.push(id);
        }
    }

    pub(super) fn object_kind(&self, id: ObjectId) -> ObjectKind {
        let linked = &self.objects[id];
        let global = &self.units[linked.unit].unit.globals[linked.global];
        match global.definition {
            _ if global.is_thread_local => ObjectKind::ThreadLocal,
            Definition::None => ObjectKind::External,
            _ if global.is_constant => ObjectKind::Constant,
            _ => ObjectKind::Global,
        }
    }

    // ---- roots

    /// The functions with a definition that are marked in some way: models' first, then in source order.
    pub(super) fn marked(&mut self, is_marked: impl Fn(&typed::Function) -> bool) -> Vec<FuncId> {
        let units = self.units;
        let mut found = Vec::new();
        for wants_model in [true, false] {
            for (index, unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_model == wants_model) {
                for (id, function) in unit.unit.functions.iter_enumerated() {
                    if function.definition.is_some() && is_marked(function) {
                        found.push(self.function(index, id));
                    }
                }
            }
        }
        found
    }

    /// The program's `main`, if it has one.
    pub(super) fn main(&self) -> Option<(usize, typed::FuncId)> {
        let symbol = self.function_symbols.get("main")?;
        symbol.program.or(symbol.inline)
    }
}

fn is_prototype(unit: &LinkUnit<'_>, function: &typed::Function) -> bool {
    use crate::types::Type;
    matches!(unit.unit.types.get(function.ty), Type::Function(ty) if !ty.unprototyped)
}

fn object_size(unit: &LinkUnit<'_>, global: &typed::Global) -> (u64, u32) {
    let of_type = unit.unit.types.size_of(global.ty.ty).unwrap_or(0);
    let size = match global.definition {
        Definition::Static { size, .. } => size.max(of_type),
        _ => of_type,
    };
    (size, global.align.max(1))
}
