//! Annotations as text: proof files (`docs/proof-files.md`).
//!
//! A file has a header (what is claimed, of which program), tables of the cells, frames and stops that it speaks of, the states
//! of each stop, and the pairs of stops. Nothing in it is believed. The tables must be those that the checker makes from the
//! program, so that a name means the same in both; an expression must be one of the program's; everything else is
//! for the conditions to decide.

use crate::annotation::{Annotation, Coreachable, Definition, Fact, Side, State, Variable};
use crate::cells::{CellId, Cells, cell_width};
use crate::claims::Asked;
use crate::code::{Code, FrameId, StopId, at};
use crate::conditions::{Conditions, Count, Failed};
use leno_domains::word;
use leno_ir::analysis::Facts;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{Body, Expr, FuncId, LocalId};
use leno_ir::text::Names;
use leno_limits::Limits;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The first line of every file.
const TITLE: &str = "leno-proof 1";

/// What a file claims, and of what.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// Of the program with which this is about, as it is after everything below was done to it.
    pub fingerprint: String,
    pub asked: Asked,
    /// Whether atomic sections are taken in one go.
    pub are_sections_whole: bool,
    /// The functions of which any number of threads is taken in place of one.
    pub replicate: Vec<String>,
    /// A library: the functions that are called by any number of threads; before them; and after them.
    pub entry: Vec<String>,
    pub init: Vec<String>,
    pub exit: Vec<String>,
    /// The arguments of the program.
    pub args: Vec<String>,
}

/// Why a file is not one that can be checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadFile {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for BadFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A proof as the prover writes it, without what only the command line knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub asked: Asked,
    pub are_sections_whole: bool,
    /// The tables, states and pairs.
    pub body: String,
}

/// The whole file.
pub fn write(header: &Header, body: &str) -> String {
    let mut text = format!("{TITLE}\nprogram {}\n", header.fingerprint);
    let properties =
        [("assert", header.asked.assertion), ("overflow", header.asked.overflow), ("bounds", header.asked.bounds)];
    let names: Vec<&str> = properties.iter().filter(|(_, is_asked)| *is_asked).map(|(name, _)| *name).collect();
    _ = writeln!(text, "property {}", names.join(" "));
    _ = writeln!(text, "sections {}", if header.are_sections_whole { "whole" } else { "split" });
    for (word, list) in
        [("replicate", &header.replicate), ("entry", &header.entry), ("init", &header.init), ("exit", &header.exit)]
    {
        if !list.is_empty() {
            _ = writeln!(text, "{word} {}", list.join(" "));
        }
    }
    for arg in &header.args {
        _ = writeln!(text, "arg {}", arg.escape_default());
    }
    text + body
}

/// The tables of what a program consists of: a line each, which a file has to agree with.
fn tables(code: &Code<'_, '_>, cells: &Cells) -> Vec<String> {
    let program = code.program();
    let mut lines = vec![format!("cells {}", cells.len())];
    for (id, cell) in cells.iter() {
        let object = match code.facts.points_to().objects()[cell.extent.object] {
            AbstractObject::Static(id) => format!("@{} {}", id.index(), program.objects[id].name),
            AbstractObject::Slot(func, slot) => {
                let function = &program.functions[func];
                format!("${}.{} {}.{}", func.index(), slot.index(), function.name, function.slots[slot].name)
            }
            AbstractObject::Site(place) => format!("allocated {place:?}"),
            other => format!("{other:?}"),
        };
        lines.push(format!("c{} {} {} {object}", id.index(), cell.extent.offset, cell.extent.bytes));
    }
    lines.push(format!("frames {}", code.frames.len()));
    for (id, frame) in code.frames.iter_enumerated() {
        let name = &program.functions[frame.func].name;
        let caller = frame
            .caller
            .map(|(caller, place)| format!(" from f{} {}:{}", caller.index(), place.block.index(), place.index));
        lines.push(format!("f{} {name}{}", id.index(), caller.unwrap_or_default()));
    }
    lines.push(format!("stops {}", code.stops().len()));
    lines
}

fn stop_line(code: &Code<'_, '_>, stop: StopId) -> String {
    let node = code.stops()[stop];
    let (frame, place) = (code.frame_of(node), code.place(node));
    let source = at(code.program(), place);
    format!("s{} f{} {}:{} {source}", stop.index(), frame.index(), place.block.index(), place.index)
}

/// All but the header.
pub fn write_body(code: &Code<'_, '_>, cells: &Cells, annotation: &Annotation<'_>) -> String {
    let names = Names::new(code.program());
    let mut text = tables(code, cells).join("\n") + "\n";
    for (stop, states) in annotation.states.iter_enumerated() {
        _ = writeln!(text, "{}", stop_line(code, stop));
        for state in states {
            text += "state";
            state.dirty.iter().for_each(|cell| _ = write!(text, " c{}", cell.index()));
            text += "\n";
            for fact in &state.facts {
                _ = writeln!(text, "  {}", fact_line(code, &names, fact));
            }
        }
    }
    text += "pairs\n";
    for stop in annotation.states.ids() {
        let others: Vec<usize> =
            annotation.pairs.with(stop).map(Idx::index).filter(|other| *other >= stop.index()).collect();
        if !others.is_empty() {
            let ranges = ranges(&others).into_iter().map(|(from, to)| match from == to {
                true => format!(" s{from}"),
                false => format!(" s{from}-s{to}"),
            });
            _ = writeln!(text, "s{}{}", stop.index(), ranges.collect::<String>());
        }
    }
    text + "end\n"
}

/// Ascending numbers as stretches.
fn ranges(numbers: &[usize]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match all.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => all.push((*number, *number)),
        }
    }
    all
}

fn variable_word(variable: Variable) -> String {
    match variable {
        Variable::Register(frame, local) => format!("f{}.r{}", frame.index(), local.index()),
        Variable::Cell(cell) => format!("c{}", cell.index()),
    }
}

fn fact_line(code: &Code<'_, '_>, names: &Names<'_>, fact: &Fact<'_>) -> String {
    let sign = |side: &Side| format!("{}{}", if side.is_negated { '-' } else { '+' }, variable_word(side.variable));
    match fact {
        Fact::Is(variable, bits) => format!("is {} {bits}", variable_word(*variable)),
        Fact::Unsigned(variable, low, high) => format!("unsigned {} {low} {high}", variable_word(*variable)),
        Fact::Signed(variable, low, high) => format!("signed {} {low} {high}", variable_word(*variable)),
        Fact::Bits(variable, mask, ones) => format!("bits {} {mask} {ones}", variable_word(*variable)),
        Fact::Remainder(variable, modulus, residue) => {
            format!("remainder {} {modulus} {residue}", variable_word(*variable))
        }
        Fact::Equal(variable, Definition::Same(other)) => {
            format!("same {} {}", variable_word(*variable), variable_word(*other))
        }
        Fact::Equal(variable, Definition::Expr(frame, expr)) => {
            let text = names.show(code.func_of(*frame), *expr);
            format!("equal {} f{} {text}", variable_word(*variable), frame.index())
        }
        Fact::Sum { left, right, most, is_signed } => {
            let reading = if *is_signed { "signed" } else { "unsigned" };
            format!("sum {reading} {} {} {most}", sign(left), sign(right))
        }
    }
}

/// What a file claims. The rest of it can be read when the program is there.
pub fn read_header(text: &str) -> Result<Header, BadFile> {
    let mut lines = text.lines().zip(1..);
    let bad = |line: usize, message: &str| BadFile { line, message: message.to_string() };
    if lines.next().map(|(line, _)| line) != Some(TITLE) {
        return Err(bad(1, "this is not a proof file that Leno knows (`leno-proof 1`)"));
    }
    let mut header = Header::default();
    let mut seen: Vec<&str> = Vec::new();
    for (line, number) in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "cells" {
            let has_all = ["program", "property", "sections"].iter().all(|word| seen.contains(word));
            return if has_all { Ok(header) } else { Err(bad(number, "something is missing before this")) };
        }
        if seen.contains(&word) && word != "arg" {
            return Err(bad(number, "this was said before"));
        }
        seen.push(word);
        let list = || rest.split(' ').map(str::to_string).collect::<Vec<String>>();
        match word {
            "program" => header.fingerprint = rest.to_string(),
            "property" => {
                for name in rest.split(' ') {
                    match name {
                        "assert" => header.asked.assertion = true,
                        "overflow" => header.asked.overflow = true,
                        "bounds" => header.asked.bounds = true,
                        _ => return Err(bad(number, "a property that proof files do not have")),
                    }
                }
            }
            "sections" => {
                header.are_sections_whole = match rest {
                    "whole" => true,
                    "split" => false,
                    _ => return Err(bad(number, "expected `whole` or `split`")),
                }
            }
            "replicate" => header.replicate = list(),
            "entry" => header.entry = list(),
            "init" => header.init = list(),
            "exit" => header.exit = list(),
            "arg" => header.args.push(unescape(rest).ok_or_else(|| bad(number, "expected an argument"))?),
            _ => return Err(bad(number, "this is not part of a header")),
        }
    }
    Err(bad(text.lines().count(), "the file ends here"))
}

/// The opposite of [`str::escape_default`].
fn unescape(text: &str) -> Option<String> {
    let (mut result, mut rest) = (String::new(), text.chars());
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            result.push(letter);
            continue;
        }
        result.push(match rest.next()? {
            't' => '\t',
            'r' => '\r',
            'n' => '\n',
            same @ ('\'' | '"' | '\\') => same,
            'u' => {
                let digits: String = rest.by_ref().skip_while(|it| *it == '{').take_while(|it| *it != '}').collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(result)
}

/// The annotation of a file, for this program.
pub fn read<'p>(text: &str, code: &Code<'_, 'p>, cells: &Cells) -> Result<Annotation<'p>, BadFile> {
    let lines = text.lines().zip(1..).skip_while(|(line, _)| !line.starts_with("cells ")).collect();
    Reading { code, cells, lines, at: 0, expressions: BTreeMap::new() }.annotation()
}

struct Reading<'t, 'c, 'a, 'p> {
    code: &'c Code<'a, 'p>,
    cells: &'c Cells,
    lines: Vec<(&'t str, usize)>,
    at: usize,
    /// By function: its expressions, and parts of them, by their text.
    expressions: BTreeMap<FuncId, BTreeMap<String, &'p Expr>>,
}

impl<'t, 'p> Reading<'t, '_, '_, 'p> {
    fn bad<T>(&self, message: impl Into<String>) -> Result<T, BadFile> {
        let line = self.lines.get(self.at.saturating_sub(1)).or(self.lines.last()).map_or(1, |(_, number)| *number);
        Err(BadFile { line, message: message.into() })
    }

    fn next(&mut self) -> Result<&'t str, BadFile> {
        let Some((line, _)) = self.lines.get(self.at) else { return self.bad("the file ends here") };
        self.at += 1;
        Ok(line)
    }

    fn peek(&self) -> Option<&'t str> {
        self.lines.get(self.at).map(|(line, _)| *line)
    }

    fn expect(&mut self, expected: &str) -> Result<(), BadFile> {
        match self.next()? == expected {
            true => Ok(()),
            false => self.bad(format!("the program has `{expected}` here")),
        }
    }

    fn annotation(mut self) -> Result<Annotation<'p>, BadFile> {
        for line in tables(self.code, self.cells) {
            self.expect(&line)?;
        }
        let mut states: IndexVec<StopId, Vec<State<'p>>> = IndexVec::new();
        for stop in self.code.stops().ids() {
            self.expect(&stop_line(self.code, stop))?;
            let mut list = Vec::new();
            while self.peek().is_some_and(|line| line == "state" || line.starts_with("state ")) {
                list.push(self.state()?);
            }
            states.push(list);
        }
        self.expect("pairs")?;
        let mut pairs = Coreachable::none(states.len());
        while self.peek().is_some_and(|line| line != "end") {
            self.pairs_of_stop(&mut pairs)?;
        }
        self.expect("end")?;
        match self.peek() {
            None => Ok(Annotation { states, pairs }),
            Some(_) => self.bad("nothing comes after `end`"),
        }
    }

    fn state(&mut self) -> Result<State<'p>, BadFile> {
        let mut state = State::default();
        for word in self.next()?.split(' ').skip(1) {
            let cell = self.cell(word)?;
            state.dirty.insert(cell);
        }
        while let Some(line) = self.peek().and_then(|line| line.strip_prefix("  ")) {
            self.at += 1;
            let fact = self.fact(line)?;
            state.facts.push(fact);
        }
        Ok(state)
    }

    fn pairs_of_stop(&mut self, pairs: &mut Coreachable) -> Result<(), BadFile> {
        let mut words = self.next()?.split(' ');
        let stop = self.stop(words.next().unwrap_or_default())?;
        for word in words {
            let (from, to) = word.split_once('-').unwrap_or((word, word));
            let (from, to) = (self.stop(from)?, self.stop(to)?);
            for other in from.index()..=to.index() {
                pairs.insert(stop, StopId::new(other));
            }
        }
        Ok(())
    }

    /// A number after a letter, less than a limit.
    fn index(&self, word: &str, letter: char, limit: usize) -> Result<usize, BadFile> {
        let digits = word.strip_prefix(letter).filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|digits| digits.parse().ok()).filter(|number| *number < limit) {
            Some(number) => Ok(number),
            None => self.bad(format!("`{word}` is none of the program's {limit}")),
        }
    }

    fn stop(&self, word: &str) -> Result<StopId, BadFile> {
        self.index(word, 's', self.code.stops().len()).map(StopId::new)
    }

    fn cell(&self, word: &str) -> Result<CellId, BadFile> {
        self.index(word, 'c', self.cells.len()).map(CellId::new)
    }

    fn frame(&self, word: &str) -> Result<FrameId, BadFile> {
        self.index(word, 'f', self.code.frames.len()).map(FrameId::new)
    }

    fn variable(&self, word: &str) -> Result<Variable, BadFile> {
        let Some((frame, local)) = word.split_once('.') else { return self.cell(word).map(Variable::Cell) };
        let frame = self.frame(frame)?;
        let locals = self.code.program().functions[self.code.func_of(frame)].locals.len();
        Ok(Variable::Register(frame, LocalId::new(self.index(local, 'r', locals)?)))
    }

    fn width(&self, variable: Variable) -> u32 {
        match variable {
            Variable::Register(frame, local) => {
                let program = self.code.program();
                u32::from(program.functions[self.code.func_of(frame)].locals[local].ty.bits(program.model))
            }
            Variable::Cell(cell) => cell_width(self.cells.extent(cell).bytes),
        }
    }

    /// A number that a variable of this width can hold, unsigned.
    fn bits(&self, word: &str, width: u32) -> Result<u128, BadFile> {
        match word.parse().ok().filter(|number: &u128| *number <= word::mask(width)) {
            Some(number) => Ok(number),
            None => self.bad(format!("expected a number of {width} bits")),
        }
    }

    /// The same, signed.
    fn signed(&self, word: &str, width: u32) -> Result<i128, BadFile> {
        let limit = word::mask(width) >> 1;
        let fits = |number: &i128| *number <= limit as i128 && *number >= -(limit as i128) - 1;
        match word.parse().ok().filter(fits) {
            Some(number) => Ok(number),
            None => self.bad(format!("expected a signed number of {width} bits")),
        }
    }

    fn side(&self, word: &str) -> Result<Side, BadFile> {
        let (is_negated, name) = match (word.strip_prefix('-'), word.strip_prefix('+')) {
            (Some(name), _) => (true, name),
            (_, Some(name)) => (false, name),
            _ => return self.bad("expected `+` or `-` and a variable"),
        };
        Ok(Side { variable: self.variable(name)?, is_negated })
    }

    fn fact(&mut self, line: &str) -> Result<Fact<'p>, BadFile> {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["equal", variable, frame, text] => {
                let (variable, frame) = (self.variable(variable)?, self.frame(frame)?);
                let func = self.code.func_of(frame);
                match self.expression(func, text) {
                    Some(expr) => Ok(Fact::Equal(variable, Definition::Expr(frame, expr))),
                    None => self.bad(format!("the program has no expression `{text}` in this function")),
                }
            }
            ["same", variable, other] => {
                Ok(Fact::Equal(self.variable(variable)?, Definition::Same(self.variable(other)?)))
            }
            ["is", variable, bits] => {
                let variable = self.variable(variable)?;
                Ok(Fact::Is(variable, self.bits(bits, self.width(variable))?))
            }
            ["sum", reading @ ("signed" | "unsigned"), left, rest] => {
                let Some((right, most)) = rest.split_once(' ') else { return self.bad("expected a sum") };
                let Ok(most) = most.parse() else { return self.bad("expected a number") };
                let (left, right) = (self.side(left)?, self.side(right)?);
                Ok(Fact::Sum { left, right, most, is_signed: *reading == "signed" })
            }
            [kind, variable, first, second] => {
                let variable = self.variable(variable)?;
                let width = self.width(variable);
                match *kind {
                    "signed" => Ok(Fact::Signed(variable, self.signed(first, width)?, self.signed(second, width)?)),
                    "unsigned" => Ok(Fact::Unsigned(variable, self.bits(first, width)?, self.bits(second, width)?)),
                    "bits" => Ok(Fact::Bits(variable, self.bits(first, width)?, self.bits(second, width)?)),
                    "remainder" => {
                        let (modulus, residue) = (self.bits(first, width)?, self.bits(second, width)?);
                        match modulus > 0 && modulus <= word::mask(width) >> 1 && residue < modulus {
                            true => Ok(Fact::Remainder(variable, modulus, residue)),
                            false => self.bad("expected a divisor and a smaller rest"),
                        }
                    }
                    _ => self.bad("expected a fact"),
                }
            }
            _ => self.bad("expected a fact"),
        }
    }

    /// An expression of a function, by its text.
    fn expression(&mut self, func: FuncId, text: &str) -> Option<&'p Expr> {
        let program = self.code.program();
        let by_text = self.expressions.entry(func).or_insert_with(|| {
            let names = Names::new(program);
            let mut all = BTreeMap::new();
            let Body::Blocks(blocks) = &program.functions[func].body else { return all };
            let mut work: Vec<&'p Expr> = Vec::new();
            for block in blocks {
                block.instrs.iter().for_each(|instr| instr.op.for_each_operand(|operand| work.push(operand)));
                work.extend(block.terminator.kind.operand());
            }
            while let Some(expr) = work.pop() {
                all.insert(names.show(func, expr).to_string(), expr);
                match expr {
                    Expr::Unary(_, of) | Expr::Cast(_, _, of) => work.push(of),
                    Expr::Binary(_, operands) => work.extend(operands.iter()),
                    Expr::Select(parts) => work.extend(parts.iter()),
                    _ => {}
                }
            }
            all
        });
        by_text.get(text).copied()
    }
}

/// Whether the annotation of a file is true of a program, and implies what its header claims.
pub fn check(facts: &Facts<'_>, header: &Header, text: &str, limits: &Limits) -> Result<Count, Rejected> {
    if facts.features().unknown_functions || !facts.calls().unknown().is_empty() {
        return Err(Rejected::Program("the program calls a function that Leno does not know".to_string()));
    }
    let code = match header.are_sections_whole {
        true => Code::with_whole_sections(facts),
        false => Code::new(facts),
    };
    let code = code.map_err(|refusal| Rejected::Program(refusal.reason))?;
    let cells = Cells::new(&code);
    let annotation = read(text, &code, &cells).map_err(Rejected::File)?;
    let is_asked = |node| header.asked.is_about(&code, node);
    Conditions::new(&code, &cells, &annotation, limits, &is_asked).check().map_err(Rejected::Conditions)
}

/// Why a proof is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejected {
    /// Nothing can be proved of the program by an annotation.
    Program(String),
    File(BadFile),
    Conditions(Failed),
}
