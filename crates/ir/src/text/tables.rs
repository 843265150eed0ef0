//! Files and texts by number: when the text needs its tables, and how to do without.
//!
//! The parser numbers files and texts as it comes across them. A program whose own numbering is that order is
//! written without tables; [`tidy_tables`] gives it to any program, and its text is half as long.

use std::collections::HashMap;

use crate::index::{Idx, IndexVec};
use crate::program::{Body, FileId, Op, Program, Span, TextId};
use crate::text::names::first_of_their_content;

/// Which files and texts are mentioned first, second, …: the parser numbers them so when no table says otherwise.
pub(super) struct TableOrder {
    pub files: Mentions,
    pub texts: Mentions,
}

/// How far ids were mentioned in their own order, starting from `count`.
pub(super) struct Mentions {
    count: u32,
    in_order: bool,
    any: bool,
}

impl Mentions {
    fn from(count: u32) -> Mentions {
        Mentions { count, in_order: true, any: false }
    }

    fn mention(&mut self, id: u32) {
        self.any = true;
        self.in_order &= id <= self.count;
        self.count += u32::from(id == self.count);
    }

    pub fn gives_back(&self, table: &[String]) -> bool {
        if !self.any {
            return table.is_empty();
        }
        self.in_order && self.count as usize == table.len() && first_of_their_content(table).iter().all(|first| *first)
    }
}

impl TableOrder {
    pub fn of(program: &Program) -> TableOrder {
        // Text 0 is there before any other, if it is the empty one.
        let has_empty_text = program.texts.get(TextId(0)).is_some_and(String::is_empty);
        let texts = Mentions::from(u32::from(has_empty_text));
        let mut order = TableOrder { files: Mentions::from(0), texts };
        program.objects.iter().for_each(|object| order.span(object.span));
        for function in &program.functions {
            order.span(function.span);
            let Body::Blocks(blocks) = &function.body else { continue };
            for block in blocks {
                order.span(block.span);
                for instr in &block.instrs {
                    if let Op::Assert { message, .. } = &instr.op {
                        order.text(*message);
                    }
                    order.span(instr.span);
                }
                order.span(block.terminator.span);
            }
        }
        order
    }

    fn span(&mut self, span: Span) {
        if has_place(span) {
            self.files.mention(span.file.0);
        }
        self.text(span.text);
    }

    fn text(&mut self, text: TextId) {
        if text.0 != 0 {
            self.texts.mention(text.0);
        }
    }
}

fn has_place(span: Span) -> bool {
    (span.file, span.line, span.column) != (Span::NONE.file, Span::NONE.line, Span::NONE.column)
}

/// Numbers files and texts in the order in which they are mentioned, each content once, and drops the others.
/// Ids that are out of range are left alone.
pub fn tidy_tables(program: &mut Program) {
    let mut tidy = Tidy { files: Renumbering::new(&program.files), texts: Renumbering::new(&program.texts) };
    if !program.texts.is_empty() {
        // What is not said is said by the first text, which is empty.
        tidy.texts.number(TextId(0));
    }
    program.objects.iter_mut().for_each(|object| tidy.span(&mut object.span));
    for function in program.functions.iter_mut() {
        tidy.span(&mut function.span);
        let Body::Blocks(blocks) = &mut function.body else { continue };
        for block in blocks.iter_mut() {
            tidy.span(&mut block.span);
            for instr in &mut block.instrs {
                if let Op::Assert { message, .. } = &mut instr.op {
                    *message = tidy.texts.number(*message);
                }
                tidy.span(&mut instr.span);
            }
            tidy.span(&mut block.terminator.span);
        }
    }
    let Tidy { files, texts } = tidy;
    (program.files, program.texts) = (files.new, texts.new);
    if program.texts.len() == 1 {
        // No instruction refers to a text.
        program.texts = IndexVec::new();
    }
}

struct Tidy {
    files: Renumbering<FileId>,
    texts: Renumbering<TextId>,
}

impl Tidy {
    fn span(&mut self, span: &mut Span) {
        if has_place(*span) {
            span.file = self.files.number(span.file);
        }
        span.text = self.texts.number(span.text);
    }
}

struct Renumbering<I> {
    old: IndexVec<I, String>,
    new: IndexVec<I, String>,
    by_content: HashMap<String, I>,
}

impl<I: Idx> Renumbering<I> {
    fn new(old: &IndexVec<I, String>) -> Renumbering<I> {
        Renumbering { old: old.clone(), new: IndexVec::new(), by_content: HashMap::new() }
    }

    fn number(&mut self, id: I) -> I {
        let Some(content) = self.old.get(id) else { return id };
        if let Some(known) = self.by_content.get(content) {
            return *known;
        }
        let new = self.new.push(content.clone());
        self.by_content.insert(content.clone(), new);
        new
    }
}
