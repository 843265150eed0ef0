//! The syntax tree of a Boolean program: names as they are written.

use leno_c::source::Span;

/// A name, and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

/// A whole program.
#[derive(Clone, PartialEq, Debug)]
pub struct Tree {
    pub globals: Vec<Declaration>,
    pub functions: Vec<Function>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    pub name: Name,
    /// None: any value.
    pub initial: Option<bool>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    pub name: Name,
    /// How many values it returns.
    pub results: u32,
    pub parameters: Vec<Name>,
    pub locals: Vec<Declaration>,
    pub body: Vec<Statement>,
    /// Where the word `end` stands.
    pub end: Place,
}

/// A place in the text, which makes no difference between two trees.
#[derive(Clone, Copy, Debug)]
pub struct Place(pub Span);

impl PartialEq for Place {
    fn eq(&self, _: &Place) -> bool {
        true
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    pub labels: Vec<Name>,
    pub kind: StatementKind,
    pub place: Place,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    Skip,
    Goto(Vec<Name>),
    Return(Vec<Expr>),
    Assert(Expr),
    Assume(Expr),
    Call {
        results: Vec<Name>,
        function: Name,
        arguments: Vec<Expr>,
    },
    Assign {
        targets: Vec<Name>,
        values: Vec<Expr>,
        constrain: Option<Expr>,
    },
    /// `start_thread goto L`: the new thread begins there, with a copy of the local variables.
    StartThread(Name),
    /// `start_thread f()`
    StartFunction(Name),
    EndThread,
    AtomicBegin,
    AtomicEnd,
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    /// `if`, any number of `elsif`, and `else`.
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub place: Place,
    /// Of the tree: it bounds recursion.
    pub height: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Constant(bool),
    /// `*`: either value, each time anew.
    Any,
    Variable(Name),
    /// `'x`: the value after the assignment.
    Next(Name),
    Not(Box<Expr>),
    Binary(BinaryOp, Box<[Expr; 2]>),
    /// `a ? b : c`
    Choice(Box<[Expr; 3]>),
    /// `schoose[a, b]`: 1 if `a`, otherwise 0 if `b`, otherwise either.
    Schoose(Box<[Expr; 2]>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Equal,
    Differ,
    And,
    Xor,
    Or,
    Implies,
}

impl Expr {
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let below = match &kind {
            ExprKind::Constant(_) | ExprKind::Any | ExprKind::Variable(_) | ExprKind::Next(_) => 0,
            ExprKind::Not(operand) => operand.height,
            ExprKind::Binary(_, operands) | ExprKind::Schoose(operands) => operands[0].height.max(operands[1].height),
            ExprKind::Choice(parts) => parts.iter().map(|part| part.height).max().unwrap_or(0),
        };
        Expr { kind, place: Place(span), height: below + 1 }
    }
}
