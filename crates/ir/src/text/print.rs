//! Writes a whole program.

use std::fmt::{self, Display, Formatter, Write};

use crate::index::Idx;
use crate::program::{
    Body, Datum, External, FuncId, Function, Local, LocalId, Object, ObjectId, Program, Reuse, Slot, Span,
};
use crate::text::names::{Names, is_identifier, write_quoted};
use crate::text::tables::TableOrder;
use crate::text::words::Word;

/// The textual form of `program`. The same as `program.to_string()`.
pub fn print(program: &Program) -> String {
    program.to_string()
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let printer = Printer { names: Names::new(self), program: self };
        printer.write_header(f)?;
        for (id, object) in self.objects.iter_enumerated() {
            printer.write_object(f, id, object)?;
        }
        for (id, function) in self.functions.iter_enumerated() {
            printer.write_function(f, id, function)?;
        }
        printer.write_tables(f)
    }
}

struct Printer<'p> {
    names: Names<'p>,
    program: &'p Program,
}

impl Printer<'_> {
    fn write_header(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "program {}", self.program.model.as_word())?;
        if let Some(entry) = self.program.entry {
            write!(f, " entry {}", self.names.function(entry))?;
        }
        if self.program.reuse != Reuse::Unnoticed {
            write!(f, " reuse {}", self.program.reuse.as_word())?;
        }
        f.write_str("\n\n")
    }

    fn write_object(&self, f: &mut Formatter<'_>, id: ObjectId, object: &Object) -> fmt::Result {
        write!(f, "{}", self.names.object(id))?;
        write_odd_name(f, &object.name)?;
        write!(f, " = {} size {} align {}", object.kind.as_word(), object.size, object.align)?;
        match object.init.as_slice() {
            [] => {}
            [(offset, datum)] => {
                write!(f, " {{ {offset}: ")?;
                self.write_datum(f, datum)?;
                f.write_str(" }")?;
            }
            many => {
                f.write_str(" {\n")?;
                for (offset, datum) in many {
                    write!(f, "  {offset}: ")?;
                    self.write_datum(f, datum)?;
                    f.write_char('\n')?;
                }
                f.write_char('}')?;
            }
        }
        self.end_line(f, object.span)
    }

    fn write_datum(&self, f: &mut Formatter<'_>, datum: &Datum) -> fmt::Result {
        match datum {
            Datum::Bytes(bytes) => write_bytes(f, bytes),
            Datum::Object(id, 0) => self.names.object(*id).fmt(f),
            Datum::Object(id, offset) => {
                let sign = if *offset < 0 { '-' } else { '+' };
                write!(f, "{} {sign} {}", self.names.object(*id), offset.unsigned_abs())
            }
            Datum::Function(id) => self.names.function(*id).fmt(f),
        }
    }

    fn write_function(&self, f: &mut Formatter<'_>, id: FuncId, function: &Function) -> fmt::Result {
        write!(f, "\nfn {}", self.names.function(id))?;
        write_odd_name(f, &function.name)?;
        let params = (function.params as usize).min(function.locals.len());
        let (params, others) = function.locals.as_slice().split_at(params);
        f.write_char('(')?;
        for (position, local) in params.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { ", " })?;
            self.write_local(f, id, LocalId::new(position), local)?;
        }
        f.write_char(')')?;
        if let Some(ty) = function.ret {
            write!(f, " -> {ty}")?;
        }
        if let Body::External(external) = &function.body {
            write_external(f, external)?;
            if others.is_empty() && function.slots.is_empty() {
                return self.end_line(f, function.span);
            }
        }
        f.write_str(" {")?;
        self.end_line(f, function.span)?;
        self.write_locals(f, id, params.len(), others)?;
        for (slot_id, slot) in function.slots.iter_enumerated() {
            let Slot { name, size, align } = slot;
            write!(f, "  slot {}", self.names.slot(id, slot_id))?;
            write_odd_name(f, name)?;
            writeln!(f, " size {size} align {align}")?;
        }
        self.write_blocks(f, id, function)?;
        f.write_str("}\n")
    }

    fn write_local(&self, f: &mut Formatter<'_>, function: FuncId, id: LocalId, local: &Local) -> fmt::Result {
        write!(f, "{}", self.names.local(function, id))?;
        write_odd_name(f, &local.name)?;
        write!(f, ": {}{}", if local.signed { "signed " } else { "" }, local.ty)
    }

    /// Variables of the source have a line each; temporaries follow each other.
    fn write_locals(&self, f: &mut Formatter<'_>, function: FuncId, first: usize, locals: &[Local]) -> fmt::Result {
        let mut on_line = 0;
        for (position, local) in locals.iter().enumerate() {
            let goes_on = on_line > 0 && on_line < 8 && local.name.is_empty() && locals[position - 1].name.is_empty();
            match (position, goes_on) {
                (_, true) => f.write_str(", ")?,
                (0, false) => f.write_str("  local ")?,
                (_, false) => f.write_str("\n  local ")?,
            }
            on_line = if goes_on { on_line + 1 } else { 1 };
            self.write_local(f, function, LocalId::new(first + position), local)?;
        }
        f.write_str(if locals.is_empty() { "" } else { "\n" })
    }

    fn write_blocks(&self, f: &mut Formatter<'_>, id: FuncId, function: &Function) -> fmt::Result {
        let Body::Blocks(blocks) = &function.body else { return Ok(()) };
        for (block_id, block) in blocks.iter_enumerated() {
            write!(f, "{block_id}:")?;
            self.end_line(f, block.span)?;
            for instr in &block.instrs {
                write!(f, "  {}", self.names.show(id, &instr.op))?;
                self.end_line(f, instr.span)?;
            }
            write!(f, "  {}", self.names.show(id, &block.terminator.kind))?;
            self.end_line(f, block.terminator.span)?;
        }
        Ok(())
    }

    fn end_line(&self, f: &mut Formatter<'_>, span: Span) -> fmt::Result {
        if span == Span::NONE { f.write_char('\n') } else { writeln!(f, " ; {}", self.names.span(span)) }
    }

    fn write_tables(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let order = TableOrder::of(self.program);
        if !order.files.gives_back(self.program.files.as_slice()) {
            f.write_char('\n')?;
            write_table(f, "file", self.program.files.as_slice())?;
        }
        if !order.texts.gives_back(self.program.texts.as_slice()) {
            f.write_char('\n')?;
            write_table(f, "text", self.program.texts.as_slice())?;
        }
        Ok(())
    }
}

fn write_external(f: &mut Formatter<'_>, external: &External) -> fmt::Result {
    f.write_str(" external")?;
    f.write_str(if external.known { " known" } else { "" })?;
    f.write_str(if external.pure { " pure" } else { "" })?;
    f.write_str(if external.variadic { " variadic" } else { "" })?;
    if let Some((first, others)) = external.writes.split_first() {
        write!(f, " writes({first}")?;
        others.iter().try_for_each(|param| write!(f, ", {param}"))?;
        f.write_char(')')?;
    }
    Ok(())
}

/// A declaration spells out the name that could not be part of the reference.
fn write_odd_name(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    if name.is_empty() || is_identifier(name) {
        return Ok(());
    }
    f.write_char(' ')?;
    write_quoted(f, name)
}

fn write_bytes(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_char('"')?;
    for &byte in bytes {
        match byte {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\t' => f.write_str("\\t")?,
            b' '..=b'~' => f.write_char(char::from(byte))?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_char('"')
}

fn write_table(f: &mut Formatter<'_>, word: &str, strings: &[String]) -> fmt::Result {
    for (number, string) in strings.iter().enumerate() {
        write!(f, "{word}{number} = ")?;
        write_quoted(f, string)?;
        f.write_char('\n')?;
    }
    Ok(())
}
