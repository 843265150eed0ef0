//! Reads a whole program: the header, objects, functions with their declarations, and the tables.
//!
//! A first pass looks only at the beginnings of lines and notes which functions, objects, files and texts
//! there are; so a reference can be resolved, and its range checked, the moment it is read.

use std::collections::HashMap;

use crate::index::IndexVec;
use crate::program::{
    Body, DataModel, Datum, External, FileId, FuncId, Function, Local, LocalId, Object, ObjectId, ObjectKind, Program,
    Reuse, Slot, SlotId, Span, TextId, Type,
};
use crate::text::cursor::{Cursor, Parsed, TextError, is_word_byte};
use crate::text::words::{Word, type_from_word};

/// Reads the textual form.
pub fn parse(source: &str) -> Result<Program, TextError> {
    let mut parser = Parser {
        cursor: Cursor { source, at: 0 },
        functions: Declared::default(),
        objects: Declared::default(),
        locals: Declared::default(),
        slots: Declared::default(),
        files: Table::default(),
        texts: Table::default(),
    };
    parser.scan_declarations()?;
    parser.cursor.at = 0;
    parser.program()
}

pub(super) struct Parser<'s> {
    pub cursor: Cursor<'s>,
    pub functions: Declared<'s>,
    pub objects: Declared<'s>,
    /// Of the function that is being read.
    pub locals: Declared<'s>,
    pub slots: Declared<'s>,
    files: Table,
    texts: Table,
}

/// The names of all things of one sort.
#[derive(Default)]
pub(super) struct Declared<'s> {
    names: Vec<Option<&'s str>>,
    /// None when several have the name.
    by_name: HashMap<&'s str, Option<u32>>,
}

impl<'s> Declared<'s> {
    fn declare(&mut self, name: Option<&'s str>) {
        let number = self.names.len() as u32;
        self.names.push(name);
        if let Some(name) = name {
            self.by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(number));
        }
    }
}

/// Strings by number, and the first number of each string.
#[derive(Default)]
struct Table {
    strings: Vec<String>,
    first: HashMap<String, u32>,
}

impl Table {
    fn push(&mut self, string: String) -> u32 {
        let number = self.strings.len() as u32;
        self.first.entry(string.clone()).or_insert(number);
        self.strings.push(string);
        number
    }

    fn intern(&mut self, string: String) -> u32 {
        match self.first.get(&string) {
            Some(number) => *number,
            None => self.push(string),
        }
    }
}

/// The beginning of a declaration: `%name`, `%name.7`, `%7` or `%7 "odd name"`.
struct Head<'s> {
    identifier: Option<&'s str>,
    name: String,
}

impl<'s> Parser<'s> {
    fn scan_declarations(&mut self) -> Parsed<()> {
        loop {
            self.cursor.skip_lines();
            match self.cursor.peek() {
                None => return Ok(()),
                Some(b'@') => {
                    let head = self.head("@", self.objects.names.len())?;
                    self.objects.declare(head.identifier);
                }
                Some(b'f') if self.cursor.accept_word("fn") => {
                    let head = self.head("&", self.functions.names.len())?;
                    self.functions.declare(head.identifier);
                }
                Some(b'f' | b't') => self.table_line()?,
                _ => {}
            }
            self.cursor.skip_to_line_end();
        }
    }

    /// `file3 = "main.c"`, `text7 = "i++"`; any other line that begins with such a letter is none of ours.
    fn table_line(&mut self) -> Parsed<()> {
        let start = self.cursor.at;
        let Some(is_file) = table_word(self.cursor.peek_word()) else { return Ok(()) };
        self.cursor.at += "file".len();
        let number: usize = self.cursor.number("the number of a table line")?;
        self.cursor.expect("=")?;
        let string = self.cursor.quoted_string()?;
        let table = if is_file { &mut self.files } else { &mut self.texts };
        if number != table.strings.len() {
            let message = format!("expected number {} here: tables are written in order", table.strings.len());
            return self.cursor.error_at(start, message);
        }
        table.push(string);
        self.end_of_line()
    }

    fn program(&mut self) -> Parsed<Program> {
        let mut program = Program::default();
        self.cursor.skip_lines();
        self.cursor.expect_word("program")?;
        program.model = self.word("a data model: `lp64` or `ilp32`", DataModel::from_word)?;
        if self.cursor.accept_word("entry") {
            program.entry = Some(self.function_reference()?);
        }
        if self.cursor.accept_word("reuse") {
            program.reuse = self.word("`unnoticed`, `by_address` or `by_number`", Reuse::from_word)?;
        }
        self.end_of_line()?;
        loop {
            self.cursor.skip_lines();
            match self.cursor.peek() {
                None => break,
                Some(b'@') => {
                    let object = self.object(program.objects.len())?;
                    program.objects.push(object);
                }
                _ if self.cursor.accept_word("fn") => {
                    let function = self.function(program.functions.len())?;
                    program.functions.push(function);
                }
                _ if table_word(self.cursor.peek_word()).is_some() => self.cursor.skip_to_line_end(),
                _ => return self.cursor.expected("an object (`@…`), a function (`fn &…`) or a line of a table"),
            }
        }
        program.files = IndexVec::from(std::mem::take(&mut self.files.strings));
        program.texts = IndexVec::from(std::mem::take(&mut self.texts.strings));
        Ok(program)
    }

    fn object(&mut self, number: usize) -> Parsed<Object> {
        let head = self.head("@", number)?;
        self.cursor.expect("=")?;
        let what = "`global`, `constant`, `thread_local` or `external`";
        let kind = self.word(what, ObjectKind::from_word)?;
        let (size, align) = self.size_and_align()?;
        let mut init = Vec::new();
        if self.cursor.accept("{") {
            loop {
                self.cursor.skip_lines();
                if self.cursor.accept("}") {
                    break;
                }
                let offset = self.cursor.number("an offset")?;
                self.cursor.expect(":")?;
                init.push((offset, self.datum()?));
                self.cursor.accept(",");
            }
        }
        Ok(Object { name: head.name, kind, size, align, init, span: self.end_of_statement()? })
    }

    fn size_and_align(&mut self) -> Parsed<(u64, u32)> {
        self.cursor.expect_word("size")?;
        let size = self.cursor.number("a size")?;
        self.cursor.expect_word("align")?;
        Ok((size, self.cursor.number("an alignment")?))
    }

    fn datum(&mut self) -> Parsed<Datum> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            Some(b'"') => Ok(Datum::Bytes(self.cursor.quoted_bytes()?)),
            Some(b'&') => Ok(Datum::Function(self.function_reference()?)),
            Some(b'@') => {
                let object = self.object_reference()?;
                let sign = match () {
                    _ if self.cursor.accept("+") => 1,
                    _ if self.cursor.accept("-") => -1,
                    _ => return Ok(Datum::Object(object, 0)),
                };
                self.cursor.skip_blanks();
                let start = self.cursor.at;
                let magnitude: u64 = self.cursor.number("an offset")?;
                match i64::try_from(i128::from(magnitude) * sign) {
                    Ok(offset) => Ok(Datum::Object(object, offset)),
                    Err(_) => self.cursor.error_at(start, "the number does not fit an offset"),
                }
            }
            _ => self.cursor.expected("bytes in quotes, or the address of an object or function"),
        }
    }

    fn function(&mut self, number: usize) -> Parsed<Function> {
        self.locals = Declared::default();
        self.slots = Declared::default();
        let head = self.head("&", number)?;
        let mut locals = IndexVec::new();
        self.cursor.expect("(")?;
        while !self.cursor.accept(")") {
            if !locals.is_empty() {
                self.cursor.expect(",")?;
            }
            self.local(&mut locals)?;
        }
        let params = locals.len() as u32;
        let ret = if self.cursor.accept("->") { Some(self.ty()?) } else { None };
        let external = if self.cursor.accept_word("external") { Some(self.external()?) } else { None };
        let mut slots = IndexVec::new();
        if !self.cursor.accept("{") {
            let Some(external) = external else { return self.cursor.expected("`{` or `external`") };
            let span = self.end_of_statement()?;
            return Ok(Function { name: head.name, params, ret, locals, slots, body: Body::External(external), span });
        }
        let span = self.end_of_statement()?;
        self.declarations(&mut locals, &mut slots)?;
        let body = match external {
            Some(external) => Body::External(external),
            None => Body::Blocks(self.blocks()?),
        };
        self.cursor.skip_lines();
        self.cursor.expect("}")?;
        self.end_of_line()?;
        Ok(Function { name: head.name, params, ret, locals, slots, body, span })
    }

    fn external(&mut self) -> Parsed<External> {
        let mut external = External { known: false, pure: false, writes: Vec::new(), variadic: false };
        external.known = self.cursor.accept_word("known");
        external.pure = self.cursor.accept_word("pure");
        external.variadic = self.cursor.accept_word("variadic");
        if self.cursor.accept_word("writes") {
            self.cursor.expect("(")?;
            while !self.cursor.accept(")") {
                if !external.writes.is_empty() {
                    self.cursor.expect(",")?;
                }
                external.writes.push(self.cursor.number("the number of a parameter")?);
            }
        }
        Ok(external)
    }

    fn declarations(
        &mut self,
        locals: &mut IndexVec<LocalId, Local>,
        slots: &mut IndexVec<SlotId, Slot>,
    ) -> Parsed<()> {
        loop {
            self.cursor.skip_lines();
            if self.cursor.accept_word("local") {
                self.local(locals)?;
                while self.cursor.accept(",") {
                    self.local(locals)?;
                }
            } else if self.cursor.accept_word("slot") {
                let head = self.head("$", slots.len())?;
                let (size, align) = self.size_and_align()?;
                self.slots.declare(head.identifier);
                slots.push(Slot { name: head.name, size, align });
            } else {
                return Ok(());
            }
            self.end_of_line()?;
        }
    }

    fn local(&mut self, locals: &mut IndexVec<LocalId, Local>) -> Parsed<()> {
        let head = self.head("%", locals.len())?;
        self.cursor.expect(":")?;
        let signed = self.cursor.accept_word("signed");
        let ty = self.ty()?;
        self.locals.declare(head.identifier);
        locals.push(Local { name: head.name, ty, signed });
        Ok(())
    }

    /// Reads the beginning of the declaration of thing number `number`.
    fn head(&mut self, sigil: &str, number: usize) -> Parsed<Head<'s>> {
        self.cursor.expect(sigil)?;
        let start = self.cursor.at;
        let (identifier, written) = self.name_and_number()?;
        if let Some(written) = written
            && written as usize != number
        {
            return self.cursor.error_at(start, format!("expected number {number} here: numbers go up one by one"));
        }
        self.cursor.skip_blanks();
        let name = match identifier {
            Some(identifier) => identifier.to_owned(),
            None if self.cursor.peek() == Some(b'"') => self.cursor.quoted_string()?,
            None => String::new(),
        };
        Ok(Head { identifier, name })
    }

    /// `name`, `name.7` or `7`, directly after a sigil.
    fn name_and_number(&mut self) -> Parsed<(Option<&'s str>, Option<u32>)> {
        match self.cursor.peek() {
            Some(b) if b.is_ascii_digit() => Ok((None, Some(self.cursor.number("a number of 32 bits")?))),
            Some(b) if is_word_byte(b) && b != b'$' => {
                let name = self.cursor.peek_word();
                self.cursor.at += name.len();
                if self.cursor.peek() != Some(b'.') {
                    return Ok((Some(name), None));
                }
                self.cursor.at += 1;
                Ok((Some(name), Some(self.cursor.number("a number of 32 bits")?)))
            }
            _ => self.cursor.expected("a name or a number"),
        }
    }

    /// Resolves a reference after its sigil.
    pub fn reference(&mut self, sigil: &str, what: &str, declared: fn(&Self) -> &Declared<'s>) -> Parsed<u32> {
        self.cursor.expect(sigil)?;
        let start = self.cursor.at;
        let (name, number) = self.name_and_number()?;
        let known = declared(self);
        let resolved = match (name, number) {
            (None, Some(number)) if (number as usize) < known.names.len() => Ok(number),
            (Some(name), Some(number)) if known.names.get(number as usize) == Some(&Some(name)) => Ok(number),
            (Some(name), None) => match known.by_name.get(name) {
                Some(Some(number)) => Ok(*number),
                Some(None) => Err(format!("several {what}s are named {sigil}{name}: write {sigil}{name}.NUMBER")),
                None => Err(format!("there is no {what} {sigil}{name}")),
            },
            (Some(name), Some(number)) => Err(format!("there is no {what} {sigil}{name}.{number}")),
            (None, number) => {
                let (number, count) = (number.unwrap_or_default(), known.names.len());
                Err(format!("there is no {what} {sigil}{number}: the number of {what}s is {count}"))
            }
        };
        resolved.or_else(|message| self.cursor.error_at(start, message))
    }

    pub fn function_reference(&mut self) -> Parsed<FuncId> {
        self.reference("&", "function", |parser| &parser.functions).map(FuncId)
    }

    pub fn object_reference(&mut self) -> Parsed<ObjectId> {
        self.reference("@", "object", |parser| &parser.objects).map(ObjectId)
    }

    pub fn ty(&mut self) -> Parsed<Type> {
        self.word("a type: `i1` to `i128`, `ptr`, `f32`, `f64` or `f80`", type_from_word)
    }

    pub fn word<T>(&mut self, what: &str, from_word: fn(&str) -> Option<T>) -> Parsed<T> {
        let word = self.cursor.peek_word();
        match from_word(word) {
            Some(value) => {
                self.cursor.at += word.len();
                Ok(value)
            }
            None => self.cursor.expected(what),
        }
    }

    fn end_of_line(&mut self) -> Parsed<()> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            None | Some(b'\n') => Ok(()),
            _ => self.cursor.expected("the end of the line"),
        }
    }

    pub fn at_end_of_statement(&mut self) -> bool {
        self.cursor.skip_blanks();
        matches!(self.cursor.peek(), None | Some(b'\n' | b';'))
    }

    /// Reads `; main.c:12:5 "counter"` or as much of it as there is, to the end of the line.
    pub fn end_of_statement(&mut self) -> Parsed<Span> {
        let mut span = Span::NONE;
        if self.cursor.accept(";") {
            self.cursor.skip_blanks();
            let start = self.cursor;
            if let Some(file) = self.file()? {
                if self.cursor.peek() == Some(b':') {
                    self.cursor.at += 1;
                    span.file = FileId(self.in_table(start.at, file, true)?);
                    span.line = self.cursor.number("a line")?;
                    self.cursor.expect(":")?;
                    span.column = self.cursor.number("a column")?;
                    self.cursor.skip_blanks();
                } else {
                    // It was no file but the text, which stands alone.
                    self.cursor = start;
                }
            }
            if matches!(self.cursor.peek(), Some(b'"' | b'#')) {
                span.text = self.text()?;
            }
        }
        self.end_of_line()?;
        Ok(span)
    }

    fn file(&mut self) -> Parsed<Option<Mention>> {
        Ok(Some(match self.cursor.peek() {
            Some(b'"') => Mention::Content(self.cursor.quoted_string()?),
            Some(b'#') => Mention::Number(self.table_number()?),
            _ => match self.cursor.path() {
                "" => return Ok(None),
                path => Mention::Content(path.to_owned()),
            },
        }))
    }

    pub fn text(&mut self) -> Parsed<TextId> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let mention = match self.cursor.peek() {
            Some(b'#') => Mention::Number(self.table_number()?),
            _ => Mention::Content(self.cursor.quoted_string()?),
        };
        self.in_table(start, mention, false).map(TextId)
    }

    fn table_number(&mut self) -> Parsed<u32> {
        self.cursor.expect("#")?;
        self.cursor.number("the number of a line of a table")
    }

    fn in_table(&mut self, start: usize, mention: Mention, is_file: bool) -> Parsed<u32> {
        let table = if is_file { &mut self.files } else { &mut self.texts };
        match mention {
            Mention::Number(number) if (number as usize) < table.strings.len() => Ok(number),
            Mention::Number(number) => {
                let what = if is_file { "file" } else { "text" };
                self.cursor.error_at(start, format!("there is no line `{what}{number} = …`"))
            }
            Mention::Content(string) => {
                if !is_file && table.strings.is_empty() {
                    table.push(String::new());
                }
                Ok(table.intern(string))
            }
        }
    }
}

/// A file or text, as it is written where it is used.
enum Mention {
    Content(String),
    Number(u32),
}

/// Whether a word begins a line of the table of files (true) or texts (false).
fn table_word(word: &str) -> Option<bool> {
    let (digits, is_file) = match (word.strip_prefix("file"), word.strip_prefix("text")) {
        (Some(digits), _) => (digits, true),
        (_, Some(digits)) => (digits, false),
        _ => return None,
    };
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then_some(is_file)
}
