//! Terms as readable text: infix, and with names for shared subterms.
//!
//! Terms are graphs, and as trees they may be exponentially larger. So a term that occurs twice, or that is too deep
//! for a line, gets a name (`t12`) and a line of its own, in ascending order: a name is defined before it is used.

use leno_logic::term::{Node, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Operators within operators on one line.
const DEEPEST: u32 = 5;

/// How to write constants that mean more than their value (addresses); None: as a number.
type Constant<'a> = dyn Fn(u32, u128) -> Option<String> + 'a;

pub struct Formulas<'a> {
    terms: &'a Terms,
    variables: FxHashMap<Term, String>,
    constant: &'a Constant<'a>,
    named: FxHashSet<Term>,
    /// Named terms, ascending.
    definitions: Vec<Term>,
}

impl<'a> Formulas<'a> {
    /// Decides on names so that all of `roots` can be written.
    pub fn new(
        terms: &'a Terms,
        roots: &[Term],
        variables: FxHashMap<Term, String>,
        constant: &'a Constant<'a>,
    ) -> Formulas<'a> {
        let reachable = terms.reachable(roots);
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        for &term in &reachable {
            terms.node(term).operands().for_each(|operand| *uses.entry(operand).or_default() += 1);
        }
        let mut depth: FxHashMap<Term, u32> = FxHashMap::default();
        let (mut named, mut definitions) = (FxHashSet::default(), Vec::new());
        for &term in &reachable {
            let below = terms.node(term).operands().map(|operand| depth[&operand] + 1).max().unwrap_or(0);
            let is_simple = below == 0 || matches!(terms.node(term), Node::Not(_));
            let is_named = !is_simple && (uses.get(&term).is_some_and(|&uses| uses > 1) || below > DEEPEST);
            if is_named {
                named.insert(term);
                definitions.push(term);
            }
            depth.insert(term, if is_named { 0 } else { below });
        }
        Formulas { terms, variables, constant, named, definitions }
    }

    /// Lines of `name = formula`.
    pub fn definitions(&self) -> Vec<String> {
        self.definitions.iter().map(|&term| format!("t{} = {}", term.index(), self.write_node(term))).collect()
    }

    pub fn write(&self, term: Term) -> String {
        if self.named.contains(&term) {
            return format!("t{}", term.index());
        }
        self.write_node(term)
    }

    fn write_node(&self, term: Term) -> String {
        let infix = |a: Term, operator: &str, b: Term| format!("{} {operator} {}", self.operand(a), self.operand(b));
        let call = |name: &str, a: Term, b: Term| format!("{name}({}, {})", self.write(a), self.write(b));
        match self.terms.node(term) {
            Node::Bool(value) => value.to_string(),
            Node::Bits { width, value } => (self.constant)(width, value).unwrap_or_else(|| number(width, value)),
            Node::Variable(index) => match self.variables.get(&term) {
                Some(name) => name.clone(),
                None => format!("{}#{index}", self.terms.name(term).unwrap_or("v").replace(' ', "_")),
            },
            Node::Not(a) if !self.named.contains(&a) => match self.terms.node(a) {
                Node::Eq(a, b) => infix(a, "!=", b),
                Node::Ult(a, b) => infix(b, "<=u", a),
                Node::Slt(a, b) => infix(b, "<=", a),
                Node::And(a, b) => format!("{} || {}", self.negation(a), self.negation(b)),
                _ => format!("!{}", self.operand(a)),
            },
            Node::Not(a) => format!("!{}", self.operand(a)),
            Node::And(a, b) => infix(a, "&&", b),
            Node::Xor(a, b) => infix(a, "^^", b),
            Node::Ite(c, a, b) => format!("{} ? {} : {}", self.operand(c), self.operand(a), self.operand(b)),
            Node::Eq(a, b) => infix(a, "==", b),
            Node::Ult(a, b) => infix(a, "<u", b),
            Node::Slt(a, b) => infix(a, "<", b),
            Node::UmulOverflow(a, b) => call("umul_overflow", a, b),
            Node::SmulOverflow(a, b) => call("smul_overflow", a, b),
            Node::BvNot(a) => format!("~{}", self.operand(a)),
            Node::BvAnd(a, b) => infix(a, "&", b),
            Node::BvOr(a, b) => infix(a, "|", b),
            Node::BvXor(a, b) => infix(a, "^", b),
            Node::Add(a, b) => infix(a, "+", b),
            Node::Mul(a, b) => infix(a, "*", b),
            Node::Udiv(a, b) => infix(a, "/u", b),
            Node::Urem(a, b) => infix(a, "%u", b),
            Node::Shl(a, b) => infix(a, "<<", b),
            Node::Lshr(a, b) => infix(a, ">>u", b),
            Node::Ashr(a, b) => infix(a, ">>", b),
            Node::Concat(high, low) => match self.terms.as_bits(high) {
                Some(0) => format!("zext({}, {})", self.write(low), self.terms.width(term)),
                _ => infix(high, "::", low),
            },
            Node::Extract { term, low, width } => format!("{}[{}:{low}]", self.operand(term), low + width - 1),
            Node::Apply(function, arguments) => {
                let arguments: Vec<String> = arguments.into_iter().flatten().map(|a| self.write(a)).collect();
                format!("{}({})", self.terms.function_of(function).name(), arguments.join(", "))
            }
            Node::SignExtend { term: inner, width } => format!("sext({}, {width})", self.write(inner)),
        }
    }

    fn negation(&self, term: Term) -> String {
        match self.terms.node(term) {
            Node::Not(a) if !self.named.contains(&term) => self.operand(a),
            _ => format!("!{}", self.operand(term)),
        }
    }

    /// In parentheses where it needs them.
    fn operand(&self, term: Term) -> String {
        let mut text = self.write(term);
        if text.contains(' ') && !text.ends_with(']') && !is_call(&text) {
            text.insert(0, '(');
            let _ = text.write_char(')');
        }
        text
    }
}

/// `name(…)` as a whole.
fn is_call(text: &str) -> bool {
    let Some(rest) = ["zext(", "sext(", "umul_overflow(", "smul_overflow("].iter().find_map(|f| text.strip_prefix(f))
    else {
        return false;
    };
    let mut open = 1;
    let end = rest.bytes().position(|byte| {
        open += i32::from(byte == b'(') - i32::from(byte == b')');
        open == 0
    });
    end == Some(rest.len() - 1)
}

/// Large numbers as negative ones.
fn number(width: u32, value: u128) -> String {
    if width > 1 && width < 128 && value >> (width - 1) == 1 {
        return format!("-{}", (1u128 << width) - value);
    }
    value.to_string()
}
