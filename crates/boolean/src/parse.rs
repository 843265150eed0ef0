//! From words to a tree.
//!
//! Tightest first: `!`; `=` `!=`; `&`; `^`; `|` `=>`; `? :`. All are left-associative.

use crate::ast::{BinaryOp, Declaration, Expr, ExprKind, Function, Name, Place, Statement, StatementKind, Tree};
use crate::lex::{Token, lex};
use leno_c::diagnostic::{Diagnostic, Result};
use leno_c::source::{Source, Span};

/// Higher trees are refused.
const MOST_LEVELS: u32 = 3_000;

const KEYWORDS: &[&str] = &[
    "decl",
    "void",
    "bool",
    "begin",
    "end",
    "skip",
    "goto",
    "return",
    "assert",
    "assume",
    "constrain",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "while",
    "do",
    "od",
    "if",
    "then",
    "elsif",
    "else",
    "fi",
    "schoose",
    "dfs",
    "enforce",
    "abortif",
    "dead",
    "print",
    "sync",
    "wait",
    "broadcast",
];

/// Words of other dialects.
const REFUSED: &[&str] = &["dfs", "enforce", "abortif", "dead", "print", "sync", "wait", "broadcast"];

pub fn parse(source: &Source) -> Result<Tree> {
    let mut parser = Parser { tokens: lex(source)?, at: 0, level: 0 };
    let globals = parser.declarations()?;
    let mut functions = Vec::new();
    while parser.peek() != &Token::End {
        functions.push(parser.function()?);
    }
    Ok(Tree { globals, functions })
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    level: u32,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn peek_after(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// From a place to the end of the last token that was taken.
    fn since(&self, start: Span) -> Place {
        Place(start.to(self.tokens[self.at.saturating_sub(1)].1))
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if found == word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = match self.peek() {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the file".to_string(),
        };
        Box::new(Diagnostic::error(self.span(), format!("expected {what}, found {found}")))
    }

    fn sign(&mut self, sign: &str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    fn name(&mut self, what: &str) -> Result<Name> {
        match self.peek() {
            Token::Word(text) if !KEYWORDS.contains(&text.as_str()) => {
                let name = Name { text: text.clone(), span: self.span() };
                self.advance();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A name, or a number.
    fn label(&mut self) -> Result<Name> {
        match self.peek() {
            Token::Number(text) => {
                let name = Name { text: text.clone(), span: self.span() };
                self.advance();
                Ok(name)
            }
            _ => self.name("a label"),
        }
    }

    /// One or more, with commas between them.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Parser) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_sign(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn declarations(&mut self) -> Result<Vec<Declaration>> {
        let mut all = Vec::new();
        while self.take_word("decl") {
            all.extend(self.list(Parser::declaration)?);
            self.sign(";")?;
        }
        Ok(all)
    }

    fn declaration(&mut self) -> Result<Declaration> {
        let name = self.name("the name of a variable")?;
        if !self.take_sign(":=") || self.take_sign("*") {
            return Ok(Declaration { name, initial: None });
        }
        match self.primary()? {
            Expr { kind: ExprKind::Constant(value), .. } => Ok(Declaration { name, initial: Some(value) }),
            Expr { place, .. } => {
                let error = Diagnostic::error(place.0, "the initial value of a variable is `0`, `1` or `*`");
                Err(Box::new(error.help("assign anything else at the beginning of the function")))
            }
        }
    }

    fn function(&mut self) -> Result<Function> {
        self.refuse_other_dialects()?;
        let results = if self.take_word("void") {
            0
        } else if self.take_word("bool") {
            if self.take_sign("<") { self.result_count()? } else { 1 }
        } else {
            return Err(self.expected("`void` or `bool` at the beginning of a function"));
        };
        let name = self.name("the name of a function")?;
        self.sign("(")?;
        let parameters = match self.is_sign(")") {
            true => Vec::new(),
            false => self.list(|parser| parser.name("the name of a parameter"))?,
        };
        self.sign(")")?;
        self.word("begin")?;
        let locals = self.declarations()?;
        let body = self.statements(&["end"])?;
        let end = Place(self.span());
        self.word("end")?;
        Ok(Function { name, results, parameters, locals, body, end })
    }

    fn refuse_other_dialects(&self) -> Result<()> {
        match self.peek() {
            Token::Word(word) if REFUSED.contains(&word.as_str()) => {
                let message = format!("`{word}` is not supported");
                Err(Box::new(Diagnostic::error(self.span(), message).help("it is no part of the dialect of SatAbs")))
            }
            _ => Ok(()),
        }
    }

    /// The number in `bool<2>`.
    fn result_count(&mut self) -> Result<u32> {
        let Token::Number(text) = self.peek() else { return Err(self.expected("a number of results")) };
        let count = text.parse().ok().filter(|count| (1..=128).contains(count));
        let Some(count) = count else {
            return Err(Box::new(Diagnostic::error(self.span(), "a function has between 1 and 128 results")));
        };
        self.advance();
        self.sign(">")?;
        Ok(count)
    }

    /// Statements up to one of these words, which is not taken.
    fn statements(&mut self, ends: &[&str]) -> Result<Vec<Statement>> {
        self.level += 1;
        if self.level > MOST_LEVELS {
            return Err(self.too_deep(self.span()));
        }
        let mut all = Vec::new();
        while !ends.iter().any(|end| self.is_word(end)) {
            if self.take_sign(";") {
                continue;
            }
            all.push(self.statement(ends)?);
        }
        self.level -= 1;
        Ok(all)
    }

    fn too_deep(&self, span: Span) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(span, format!("this is nested more than {MOST_LEVELS} levels deep")))
    }

    fn statement(&mut self, ends: &[&str]) -> Result<Statement> {
        let start = self.span();
        let mut labels = Vec::new();
        while self.peek_after() == &Token::Sign(":") {
            labels.push(self.label()?);
            self.sign(":")?;
        }
        let begin = self.span();
        if ends.iter().any(|end| self.is_word(end)) {
            return Ok(Statement { labels, kind: StatementKind::Skip, place: Place(start) });
        }
        let is_closed = self.is_word("while") || self.is_word("if");
        let kind = self.statement_kind()?;
        let place = self.since(begin);
        if !is_closed {
            self.sign(";")?;
        }
        Ok(Statement { labels, kind, place })
    }

    fn statement_kind(&mut self) -> Result<StatementKind> {
        self.refuse_other_dialects()?;
        let Token::Word(word) = self.peek().clone() else { return Err(self.expected("a statement")) };
        let simple = match word.as_str() {
            "skip" => Some(StatementKind::Skip),
            "end_thread" => Some(StatementKind::EndThread),
            "atomic_begin" => Some(StatementKind::AtomicBegin),
            "atomic_end" => Some(StatementKind::AtomicEnd),
            _ => None,
        };
        if let Some(kind) = simple {
            self.advance();
            return Ok(kind);
        }
        if !KEYWORDS.contains(&word.as_str()) {
            return self.assignment_or_call();
        }
        self.advance();
        Ok(match word.as_str() {
            "goto" => StatementKind::Goto(self.list(Parser::label)?),
            "return" if self.is_sign(";") => StatementKind::Return(Vec::new()),
            "return" => StatementKind::Return(self.list(Parser::expr)?),
            "assert" => StatementKind::Assert(self.in_parentheses()?),
            "assume" => StatementKind::Assume(self.in_parentheses()?),
            "start_thread" if self.take_word("goto") => StatementKind::StartThread(self.label()?),
            "start_thread" => {
                let function = self.name("`goto` and a label")?;
                self.sign("(")?;
                self.sign(")")?;
                StatementKind::StartFunction(function)
            }
            "while" => {
                let condition = self.expr()?;
                self.word("do")?;
                let body = self.statements(&["od"])?;
                self.word("od")?;
                StatementKind::While { condition, body }
            }
            "if" => self.branches()?,
            _ => {
                self.at -= 1;
                return Err(self.expected("a statement"));
            }
        })
    }

    fn in_parentheses(&mut self) -> Result<Expr> {
        self.sign("(")?;
        let expr = self.expr()?;
        self.sign(")")?;
        Ok(expr)
    }

    fn branches(&mut self) -> Result<StatementKind> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expr()?;
            self.word("then")?;
            branches.push((condition, self.statements(&["elsif", "else", "fi"])?));
            if !self.take_word("elsif") {
                break;
            }
        }
        let otherwise = if self.take_word("else") { self.statements(&["fi"])? } else { Vec::new() };
        self.word("fi")?;
        Ok(StatementKind::If { branches, otherwise })
    }

    fn assignment_or_call(&mut self) -> Result<StatementKind> {
        if self.peek_after() == &Token::Sign("(") {
            let function = self.name("a function")?;
            return Ok(StatementKind::Call { results: Vec::new(), function, arguments: self.arguments()? });
        }
        let targets = self.list(|parser| parser.name("the name of a variable"))?;
        self.sign(":=")?;
        if matches!(self.peek(), Token::Word(word) if !KEYWORDS.contains(&word.as_str()))
            && self.peek_after() == &Token::Sign("(")
        {
            let function = self.name("a function")?;
            return Ok(StatementKind::Call { results: targets, function, arguments: self.arguments()? });
        }
        let values = self.list(Parser::expr)?;
        let constrain = if self.take_word("constrain") { Some(self.expr()?) } else { None };
        Ok(StatementKind::Assign { targets, values, constrain })
    }

    fn arguments(&mut self) -> Result<Vec<Expr>> {
        self.sign("(")?;
        let arguments = if self.is_sign(")") { Vec::new() } else { self.list(Parser::expr)? };
        self.sign(")")?;
        Ok(arguments)
    }

    fn expr(&mut self) -> Result<Expr> {
        self.level += 1;
        if self.level > MOST_LEVELS {
            return Err(self.too_deep(self.span()));
        }
        let start = self.span();
        let mut left = self.binary(0)?;
        while self.take_sign("?") {
            let then = self.expr()?;
            self.sign(":")?;
            let otherwise = self.binary(0)?;
            left = self.node(ExprKind::Choice(Box::new([left, then, otherwise])), start)?;
        }
        self.level -= 1;
        Ok(left)
    }

    fn node(&self, kind: ExprKind, start: Span) -> Result<Expr> {
        let expr = Expr::new(kind, self.since(start).0);
        if expr.height > MOST_LEVELS { Err(self.too_deep(start)) } else { Ok(expr) }
    }

    fn binary(&mut self, rank: usize) -> Result<Expr> {
        let Some(operators) = RANKS.get(rank) else { return self.unary() };
        let start = self.span();
        let mut left = self.binary(rank + 1)?;
        while let Some((_, op)) = operators.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.advance();
            let right = self.binary(rank + 1)?;
            left = self.node(ExprKind::Binary(*op, Box::new([left, right])), start)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        let start = self.span();
        let mut signs = 0;
        while self.take_sign("!") {
            signs += 1;
        }
        let mut operand = self.primary()?;
        for _ in 0..signs {
            operand = self.node(ExprKind::Not(Box::new(operand)), start)?;
        }
        Ok(operand)
    }

    fn primary(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Number(text) if text == "0" || text == "1" => {
                self.advance();
                ExprKind::Constant(text == "1")
            }
            Token::Number(text) => {
                let message = format!("`{text}` is no truth value");
                return Err(Box::new(Diagnostic::error(start, message).help("write `0` or `1`")));
            }
            Token::Sign("*") => {
                self.advance();
                ExprKind::Any
            }
            Token::Sign("'") => {
                self.advance();
                ExprKind::Next(self.name("the name of a variable")?)
            }
            Token::Sign("(") => return self.in_parentheses(),
            Token::Word(word) if word == "schoose" => {
                self.advance();
                self.sign("[")?;
                let holds = self.expr()?;
                self.sign(",")?;
                let fails = self.expr()?;
                self.sign("]")?;
                ExprKind::Schoose(Box::new([holds, fails]))
            }
            _ => ExprKind::Variable(self.name("an expression")?),
        };
        self.node(kind, start)
    }
}

/// Loosest first.
const RANKS: &[&[(&str, BinaryOp)]] = &[
    &[("|", BinaryOp::Or), ("||", BinaryOp::Or), ("=>", BinaryOp::Implies)],
    &[("^", BinaryOp::Xor)],
    &[("&", BinaryOp::And), ("&&", BinaryOp::And)],
    &[("=", BinaryOp::Equal), ("==", BinaryOp::Equal), ("!=", BinaryOp::Differ)],
];
