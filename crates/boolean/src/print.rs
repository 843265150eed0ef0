//! A tree as text that is parsed back to the same tree.

use crate::ast::{BinaryOp, Declaration, Expr, ExprKind, Function, Name, Statement, StatementKind, Tree};
use std::fmt::{self, Display, Formatter};

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.globals.iter().try_for_each(|declaration| writeln!(f, "{declaration}"))?;
        self.functions.iter().try_for_each(|function| write!(f, "\n{function}"))
    }
}

impl Display for Declaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.initial {
            None => write!(f, "decl {};", self.name.text),
            Some(value) => write!(f, "decl {} := {};", self.name.text, u8::from(value)),
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.results {
            0 => write!(f, "void")?,
            1 => write!(f, "bool")?,
            count => write!(f, "bool<{count}>")?,
        }
        writeln!(f, " {}({}) begin", self.name.text, names(&self.parameters))?;
        self.locals.iter().try_for_each(|declaration| writeln!(f, "  {declaration}"))?;
        block(f, &self.body, 1)?;
        writeln!(f, "end")
    }
}

fn names(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn exprs(exprs: &[Expr]) -> String {
    exprs.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ")
}

fn block(f: &mut Formatter<'_>, statements: &[Statement], level: usize) -> fmt::Result {
    statements.iter().try_for_each(|statement| print_statement(f, statement, level))
}

fn print_statement(f: &mut Formatter<'_>, statement: &Statement, level: usize) -> fmt::Result {
    let margin = "  ".repeat(level);
    statement.labels.iter().try_for_each(|label| writeln!(f, "{}:", label.text))?;
    write!(f, "{margin}")?;
    match &statement.kind {
        StatementKind::Skip => writeln!(f, "skip;"),
        StatementKind::Goto(labels) => writeln!(f, "goto {};", names(labels)),
        StatementKind::Return(values) if values.is_empty() => writeln!(f, "return;"),
        StatementKind::Return(values) => writeln!(f, "return {};", exprs(values)),
        StatementKind::Assert(condition) => writeln!(f, "assert({condition});"),
        StatementKind::Assume(condition) => writeln!(f, "assume({condition});"),
        StatementKind::Call { results, function, arguments } => {
            if !results.is_empty() {
                write!(f, "{} := ", names(results))?;
            }
            writeln!(f, "{}({});", function.text, exprs(arguments))
        }
        StatementKind::Assign { targets, values, constrain } => {
            write!(f, "{} := {}", names(targets), exprs(values))?;
            constrain.iter().try_for_each(|condition| write!(f, " constrain {condition}"))?;
            writeln!(f, ";")
        }
        StatementKind::StartThread(label) => writeln!(f, "start_thread goto {};", label.text),
        StatementKind::StartFunction(function) => writeln!(f, "start_thread {}();", function.text),
        StatementKind::EndThread => writeln!(f, "end_thread;"),
        StatementKind::AtomicBegin => writeln!(f, "atomic_begin;"),
        StatementKind::AtomicEnd => writeln!(f, "atomic_end;"),
        StatementKind::While { condition, body } => {
            writeln!(f, "while {condition} do")?;
            block(f, body, level + 1)?;
            writeln!(f, "{margin}od")
        }
        StatementKind::If { branches, otherwise } => {
            for (index, (condition, body)) in branches.iter().enumerate() {
                let word = if index == 0 { "if" } else { "elsif" };
                writeln!(f, "{}{word} {condition} then", if index == 0 { "" } else { &margin })?;
                block(f, body, level + 1)?;
            }
            if !otherwise.is_empty() {
                writeln!(f, "{margin}else")?;
                block(f, otherwise, level + 1)?;
            }
            writeln!(f, "{margin}fi")
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Constant(value) => write!(f, "{}", u8::from(*value)),
            ExprKind::Any => write!(f, "*"),
            ExprKind::Variable(name) => write!(f, "{}", name.text),
            ExprKind::Next(name) => write!(f, "'{}", name.text),
            ExprKind::Not(operand) => write!(f, "!{}", Tight(operand)),
            ExprKind::Binary(op, operands) => {
                let sign = match op {
                    BinaryOp::Equal => "=",
                    BinaryOp::Differ => "!=",
                    BinaryOp::And => "&",
                    BinaryOp::Xor => "^",
                    BinaryOp::Or => "|",
                    BinaryOp::Implies => "=>",
                };
                write!(f, "{} {sign} {}", Tight(&operands[0]), Tight(&operands[1]))
            }
            ExprKind::Choice(parts) => write!(f, "{} ? {} : {}", Tight(&parts[0]), Tight(&parts[1]), Tight(&parts[2])),
            ExprKind::Schoose(parts) => write!(f, "schoose[{}, {}]", parts[0], parts[1]),
        }
    }
}

/// An operand: in parentheses unless it is one word.
struct Tight<'a>(&'a Expr);

impl Display for Tight<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.kind {
            ExprKind::Binary(..) | ExprKind::Choice(_) => write!(f, "({})", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}
