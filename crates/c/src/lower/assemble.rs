//! Putting the program together: lowering what is reachable, and numbering the result in source order.

use super::body::lower_function;
use super::builder::FunctionBuilder;
use super::entry;
use super::hook::{self, Argument, LibraryCall};
use super::link::{Link, Origin};
use super::scalar::Scalar;
use super::signature::passed_as;
use super::visit::visit_block;
use super::{LinkUnit, LowerError, LowerOptions, Warning};
use crate::diagnostic::Diagnostic;
use crate::source;
use crate::typed::{self, Callee, Definition, ExprKind, Linkage, StaticValue};
use crate::types;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{
    Body, Datum, Expr, FuncId, Function, Local, Object, ObjectId, Program, Span, TerminatorKind, Type,
};
use std::collections::HashMap;

/// Links and lowers a program. Units of the program come first, then the library's models.
pub fn lower(units: &[LinkUnit<'_>], options: &LowerOptions) -> Result<(Program, Vec<Warning>), LowerError> {
    let mut link = Link::new(units, options)?;
    let entry = roots(&mut link);
    run(&mut link, entry)?;
    report_unknown(&mut link);
    Ok(finish(link, entry))
}

/// Where the program starts, or everything that other code could start.
fn roots(link: &mut Link<'_>) -> Option<FuncId> {
    if !link.options.entries.is_empty() {
        let entries = &link.options.entries;
        for id in link.marked(|function| entries.contains(&function.name)) {
            link.want_function(id);
        }
        return None;
    }
    if link.main().is_some() {
        let entry = link.add_entry();
        link.want_function(entry);
        return Some(entry);
    }
    let units = link.units;
    for (index, unit) in units.iter().enumerate().filter(|(_, unit)| !unit.is_model) {
        for (id, function) in unit.unit.functions.iter_enumerated() {
            let is_visible = function.linkage == Linkage::External && !function.is_inline;
            if function.definition.is_some()
                && (is_visible || function.is_constructor || function.is_destructor)
                && !hook::overrides_definition(&function.name)
            {
                let id = link.function(index, id);
                link.want_function(id);
            }
        }
    }
    None
}

/// Lowers until nothing is missing.
fn run(link: &mut Link<'_>, entry: Option<FuncId>) -> Result<(), LowerError> {
    loop {
        if let Some(id) = link.function_work.pop() {
            let function = lower_one(link, id, entry)?;
            link.functions[id].lowered = Some(function);
        } else if let Some(id) = link.object_work.pop() {
            build_object(link, id);
        } else {
            return Ok(());
        }
    }
}

fn lower_one(link: &mut Link<'_>, id: FuncId, entry: Option<FuncId>) -> Result<Function, LowerError> {
    match link.functions[id].origin {
        Origin::Defined { unit, func } => {
            lower_function(link, id, unit, func).map_err(|diagnostic| LowerError { unit, diagnostic: *diagnostic })
        }
        Origin::Wrapper { unit, func } => Ok(wrapper(link, id, unit, func)),
        Origin::External { unit, func } => Ok(external(link, id, unit, func)),
        Origin::Entry => match (entry, link.main()) {
            (Some(_), Some(main)) => Ok(entry::build(link, main)),
            _ => Ok(external_body(link, id, Span::NONE)),
        },
    }
}

/// A function around what the library lowers to instructions, for those who take its address.
fn wrapper(link: &mut Link<'_>, id: FuncId, unit: usize, func: typed::FuncId) -> Function {
    let units = link.units;
    let declared = &units[unit].unit.functions[func];
    let types = &units[unit].unit.types;
    let signature = link.signature(id).clone();
    let span = link.span(unit, declared.span);
    let mut b = FunctionBuilder::new(link, &declared.name, &signature.params, signature.ret);
    b.set_function_span(span);
    b.set_place(unit, declared.span);
    let types::Type::Function(ty) = types.get(declared.ty) else { return b.finish() };
    let first = usize::from(signature.returns_record);
    let args: Vec<Argument> = ty
        .params
        .iter()
        .enumerate()
        .map(|(index, param)| Argument {
            value: b.param(first + index),
            ty: Scalar::of(types, param.ty).unwrap_or(Scalar::of_ir(passed_as(types, param.ty))),
        })
        .collect();
    let ret = Scalar::of(types, ty.ret.ty);
    let Some(lowered) = hook::lower_call(&mut b, &LibraryCall { name: &declared.name, args: &args, ret }) else {
        drop(b);
        return external(link, id, unit, func);
    };
    let value = match (lowered.value, ret) {
        (Some((value, from)), Some(to)) => Some(b.convert(value, from, to)),
        (None, Some(to)) => Some(b.undefined(to.ir())),
        (_, None) => None,
    };
    if b.is_reachable() {
        b.terminate(TerminatorKind::Return(value));
    }
    b.finish()
}

fn external(link: &mut Link<'_>, id: FuncId, unit: usize, func: typed::FuncId) -> Function {
    let span = link.span(unit, link.units[unit].unit.functions[func].span);
    external_body(link, id, span)
}

fn external_body(link: &Link<'_>, id: FuncId, span: Span) -> Function {
    let linked = &link.functions[id];
    let local = |ty: &Type| Local { name: String::new(), ty: *ty, signed: matches!(ty, Type::Int(2..)) };
    let locals = linked.signature.params.iter().map(local).collect();
    Function {
        name: linked.link_name.clone(),
        params: linked.signature.params.len() as u32,
        ret: linked.signature.ret,
        locals,
        slots: IndexVec::new(),
        body: Body::External(link.external(id)),
        span,
    }
}

fn build_object(link: &mut Link<'_>, id: ObjectId) {
    let units = link.units;
    let (unit, global) = (link.objects[id].unit, link.objects[id].global);
    let global = &units[unit].unit.globals[global];
    let mut init = Vec::new();
    if let Definition::Static { init: values, .. } = &global.definition {
        for (offset, value) in values {
            let datum = match value {
                StaticValue::Bytes(bytes) => Datum::Bytes(bytes.clone()),
                StaticValue::Global(other, addend) => {
                    let other = link.object(unit, *other);
                    link.want_object(other);
                    Datum::Object(other, *addend)
                }
                StaticValue::Function(func) => {
                    let func = link.function(unit, *func);
                    link.want_function(func);
                    Datum::Function(func)
                }
            };
            init.push((*offset, datum));
        }
    }
    let span = link.span(unit, global.span);
    let kind = link.object_kind(id);
    let linked = &mut link.objects[id];
    linked.built = Some(Object { name: linked.name.clone(), kind, size: linked.size, align: linked.align, init, span });
}

/// A function that Leno does not know is reported once, by name; one that it knows and leaves to the system is not.
fn report_unknown(link: &mut Link<'_>) {
    let mut unknown = Vec::new();
    for (id, linked) in link.functions.iter_enumerated() {
        if let (true, Origin::External { unit, func }) = (linked.is_wanted, linked.origin)
            && !link.external(id).known
            && !hook::is_of_process(&link.units[unit].unit.functions[func].name)
        {
            unknown.push((unit, func));
        }
    }
    unknown.sort();
    for (unit, func) in unknown {
        let function = &link.units[unit].unit.functions[func];
        let message = format!(
            "`{}` is defined nowhere: it may return anything and write what its arguments reach",
            function.name
        );
        let (unit, place) = first_call(link, &function.name).unwrap_or((unit, function.span));
        link.warn(unit, Diagnostic::warning(place, message).help("add the file that defines it"));
    }
}

/// Where the program first calls a function that other files would define.
fn first_call(link: &Link<'_>, name: &str) -> Option<(usize, source::Span)> {
    let calls_in = |(index, unit): (usize, &LinkUnit<'_>)| {
        let unit = unit.unit;
        let calls = unit.exprs.iter().filter(|expr| match &expr.kind {
            ExprKind::Call { callee: Callee::Direct(id), .. } => {
                unit.functions[*id].linkage == Linkage::External && unit.functions[*id].name == name
            }
            _ => false,
        });
        calls.map(|call| call.span).min_by_key(|span| span.start).map(|span| (index, span))
    };
    link.units.iter().enumerate().filter(|(_, unit)| !unit.is_model).find_map(calls_in)
}

// ---- the order of things

/// Source order: by unit, then by place; what stands in no source comes last.
fn function_order(link: &Link<'_>, id: FuncId) -> (u8, usize, u32, u32) {
    match link.functions[id].origin {
        Origin::Defined { unit, func } => {
            let place = link.units[unit].unit.functions[func].span.start;
            (u8::from(link.units[unit].is_model) * 2, unit, place, id.0)
        }
        Origin::Entry => (1, 0, 0, id.0),
        Origin::Wrapper { .. } => (3, 0, 0, id.0),
        Origin::External { .. } => (4, 0, 0, id.0),
    }
}

fn finish(mut link: Link<'_>, entry: Option<FuncId>) -> (Program, Vec<Warning>) {
    let mut functions: Vec<FuncId> = link.functions.ids().filter(|id| link.functions[*id].is_wanted).collect();
    functions.sort_by_cached_key(|id| function_order(&link, *id));
    let mut objects: Vec<ObjectId> = link.objects.ids().filter(|id| link.objects[*id].is_wanted).collect();
    objects.sort_by_key(|id| {
        let object = &link.objects[*id];
        (object.unit, object.global)
    });
    let function_names = unique_names(functions.iter().map(|id| {
        let linked = &link.functions[*id];
        (linked.link_name.as_str(), is_external(&link, linked.origin))
    }));
    let object_names = unique_names(objects.iter().map(|id| {
        let linked = &link.objects[*id];
        let global = &link.units[linked.unit].unit.globals[linked.global];
        (linked.name.as_str(), global.linkage == Linkage::External)
    }));
    let renumber = Renumber {
        functions: numbers(link.functions.len(), functions.iter().map(|id| id.index())),
        objects: numbers(link.objects.len(), objects.iter().map(|id| id.index())),
    };
    let mut program = Program { model: link.model(), ..Program::default() };
    for (id, name) in functions.iter().zip(function_names) {
        if let Some(mut function) = link.functions[*id].lowered.take() {
            function.name = name;
            renumber.function(&mut function);
            program.functions.push(function);
        }
    }
    for (id, name) in objects.iter().zip(object_names) {
        if let Some(mut object) = link.objects[*id].built.take() {
            object.name = name;
            renumber.object(&mut object);
            program.objects.push(object);
        }
    }
    program.entry = entry.map(|id| FuncId(renumber.functions[id.index()]));
    program.files = std::mem::take(&mut link.texts.files);
    if program.files.is_empty() {
        program.files.push(String::new());
    }
    program.texts = std::mem::take(&mut link.texts.texts);
    (program, link.warnings)
}

fn is_external(link: &Link<'_>, origin: Origin) -> bool {
    match origin {
        Origin::Defined { unit, func } => {
            link.units[unit].unit.functions[func].linkage == Linkage::External && !link.units[unit].is_model
        }
        Origin::Wrapper { .. } | Origin::Entry => false,
        Origin::External { .. } => true,
    }
}

/// Names that others link by stay as they are; the rest give way: `name.2`.
fn unique_names<'n>(names: impl Iterator<Item = (&'n str, bool)> + Clone) -> Vec<String> {
    let mut used: HashMap<String, u32> = HashMap::new();
    for (name, is_external) in names.clone() {
        if is_external {
            used.insert(name.to_string(), 1);
        }
    }
    let mut result = Vec::new();
    for (name, is_external) in names {
        let mut unique = name.to_string();
        while !is_external && used.contains_key(&unique) {
            let count = used.entry(name.to_string()).or_insert(0);
            *count += 1;
            unique = format!("{name}.{count}");
        }
        if !is_external {
            used.insert(unique.clone(), 1);
        }
        result.push(unique);
    }
    result
}

/// New numbers for the old ids in `order`.
fn numbers(count: usize, order: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut numbers = vec![0; count];
    for (new, old) in order.enumerate() {
        numbers[old] = new as u32;
    }
    numbers
}

struct Renumber {
    functions: Vec<u32>,
    objects: Vec<u32>,
}

impl Renumber {
    fn function(&self, function: &mut Function) {
        let Body::Blocks(blocks) = &mut function.body else { return };
        for block in blocks.iter_mut() {
            visit_block(block, &mut |_| {}, &mut |leaf: &mut Expr| match leaf {
                Expr::Function(id) => *id = FuncId(self.functions[id.index()]),
                Expr::Object(id) => *id = ObjectId(self.objects[id.index()]),
                _ => {}
            });
        }
    }

    fn object(&self, object: &mut Object) {
        for (_, datum) in &mut object.init {
            match datum {
                Datum::Object(id, _) => *id = ObjectId(self.objects[id.index()]),
                Datum::Function(id) => *id = FuncId(self.functions[id.index()]),
                Datum::Bytes(_) => {}
            }
        }
    }
}
