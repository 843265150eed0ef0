//! Writing SMT-LIB.
//!
//! Terms are graphs, and text is not: a term that is used more than once, or whose text would nest deeply, becomes a
//! definition. Definitions are numbered in the order in which they are written, and a variable is called by its name
//! and the number of earlier variables with that name, so that the text depends on nothing but what it says. (The
//! number also keeps variables apart from the solver's own names: `and.0` is not `and`.)

use crate::term::{FunctionId, Node, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// How deeply the text of a term may nest.
const DEPTH: u32 = 12;

/// A question in SMT-LIB 2.
pub struct Script {
    text: String,
    /// The names of variables and definitions.
    names: FxHashMap<Term, String>,
    /// Those of variables, in the order of their declaration.
    variables: Vec<(Term, String)>,
    same_name: FxHashMap<String, u32>,
    definitions: u32,
    /// Those that have been declared.
    functions: FxHashSet<FunctionId>,
    /// What to ask for beside the variables.
    wanted: Vec<String>,
}

impl Script {
    /// An empty script in a logic: `QF_BV` for terms alone.
    pub fn new(logic: &str) -> Script {
        Script {
            text: format!("(set-option :produce-models true)\n(set-logic {logic})\n"),
            names: FxHashMap::default(),
            variables: Vec::new(),
            same_name: FxHashMap::default(),
            definitions: 0,
            functions: FxHashSet::default(),
            wanted: Vec::new(),
        }
    }

    /// Demands that the Boolean holds.
    pub fn assert(&mut self, terms: &Terms, term: Term) {
        let expression = self.expression(terms, term);
        self.line(&format!("(assert {expression})"));
    }

    /// An expression for the term, after whatever declarations and definitions it needs.
    pub fn expression(&mut self, terms: &Terms, root: Term) -> String {
        let parts = self.unnamed_parts(terms, root);
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        for operand in parts.iter().flat_map(|&part| terms.node(part).operands()) {
            *uses.entry(operand).or_default() += 1;
        }
        let mut pending: FxHashMap<Term, (String, u32)> = FxHashMap::default();
        for term in parts {
            if let Node::Variable(_) = terms.node(term) {
                self.declare(terms, term);
                continue;
            }
            if let Node::Apply(function, _) = terms.node(term) {
                self.declare_function(terms, function, term);
                let text = self.application(terms, term, &mut pending);
                self.define(terms, term, &text);
                self.variables.push((term, self.names[&term].clone()));
                continue;
            }
            let depth = 1 + terms.node(term).operands().map(|a| pending.get(&a).map_or(0, |p| p.1)).max().unwrap_or(0);
            let text = self.application(terms, term, &mut pending);
            if terms.as_constant(term).is_none() && (depth >= DEPTH || uses.get(&term).is_some_and(|&uses| uses > 1)) {
                self.define(terms, term, &text);
            } else {
                pending.insert(term, (text, depth));
            }
        }
        self.operand(terms, root, &mut pending)
    }

    /// Adds a command as it is, a declaration or an assertion say.
    pub fn line(&mut self, command: &str) {
        self.text.push_str(command);
        self.text.push('\n');
    }

    /// Also asks for the value of an expression that is not a variable of a term.
    pub fn want(&mut self, expression: &str) {
        self.wanted.push(expression.to_string());
    }

    /// The name of a variable that has been declared.
    pub fn name(&self, variable: Term) -> Option<&str> {
        self.names.get(&variable).map(String::as_str)
    }

    /// The declared variables and their names.
    pub fn variables(&self) -> &[(Term, String)] {
        &self.variables
    }

    /// The whole question: is it satisfiable, and with which values?
    pub fn question(&self) -> String {
        let mut text = format!("{}(check-sat)\n", self.text);
        let names: Vec<&str> =
            self.variables.iter().map(|(_, name)| name).chain(&self.wanted).map(String::as_str).collect();
        if !names.is_empty() {
            text.push_str("(get-value (");
            text.push_str(&names.join("\n  "));
            text.push_str("))\n");
        }
        text.push_str("(exit)\n");
        text
    }

    /// What a term is made of and has no name yet, operands first.
    fn unnamed_parts(&self, terms: &Terms, root: Term) -> Vec<Term> {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![root];
        while let Some(term) = waiting.pop() {
            if !self.names.contains_key(&term) && seen.insert(term) {
                waiting.extend(terms.node(term).operands());
            }
        }
        let mut parts: Vec<Term> = seen.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    fn declare(&mut self, terms: &Terms, variable: Term) {
        let readable = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
        let name: String =
            terms.name(variable).unwrap_or("").chars().map(|c| if readable(c) { c } else { '_' }).collect();
        let name = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("v{name}") };
        let count = self.same_name.entry(name.clone()).or_default();
        let unique = format!("{name}.{count}");
        *count += 1;
        self.line(&format!("(declare-fun {unique} () {})", sort(terms.sort(variable))));
        self.names.insert(variable, unique.clone());
        self.variables.push((variable, unique));
    }

    fn declare_function(&mut self, terms: &Terms, function: FunctionId, application: Term) {
        if self.functions.insert(function) {
            let sorts: Vec<String> =
                terms.node(application).operands().map(|operand| sort(terms.sort(operand))).collect();
            let (name, result) = (terms.function_of(function).name(), sort(terms.sort(application)));
            self.line(&format!("(declare-fun |{name}| ({}) {result})", sorts.join(" ")));
        }
    }

    fn define(&mut self, terms: &Terms, term: Term, text: &str) {
        let name = format!("${}", self.definitions);
        self.definitions += 1;
        self.line(&format!("(define-fun {name} () {} {text})", sort(terms.sort(term))));
        self.names.insert(term, name);
    }

    /// The name or the text of an operand. A text that is used once moves to where it is used.
    fn operand(&self, terms: &Terms, term: Term, pending: &mut FxHashMap<Term, (String, u32)>) -> String {
        if let Some(name) = self.names.get(&term) {
            return name.clone();
        }
        match pending.get(&term) {
            Some((text, _)) if terms.as_constant(term).is_some() => text.clone(),
            Some(_) => pending.remove(&term).map(|(text, _)| text).unwrap_or_default(),
            None => String::new(),
        }
    }

    fn application(&self, terms: &Terms, term: Term, pending: &mut FxHashMap<Term, (String, u32)>) -> String {
        let node = terms.node(term);
        let operator = match node {
            Node::Bool(value) => return value.to_string(),
            Node::Bits { width, value } => return constant(width, value),
            Node::Variable(_) => return String::new(),
            Node::UmulOverflow(a, b) | Node::SmulOverflow(a, b) => {
                let signed = matches!(node, Node::SmulOverflow(..));
                let (left, right) = (self.operand(terms, a, pending), self.operand(terms, b, pending));
                return product_overflow(terms.width(a), signed, &left, &right);
            }
            Node::Apply(function, _) => format!("|{}|", terms.function_of(function).name()),
            Node::Not(_) => "not".to_string(),
            Node::And(..) => "and".to_string(),
            Node::Xor(..) => "xor".to_string(),
            Node::Ite(..) => "ite".to_string(),
            Node::Eq(..) => "=".to_string(),
            Node::Ult(..) => "bvult".to_string(),
            Node::Slt(..) => "bvslt".to_string(),
            Node::BvNot(_) => "bvnot".to_string(),
            Node::BvAnd(..) => "bvand".to_string(),
            Node::BvOr(..) => "bvor".to_string(),
            Node::BvXor(..) => "bvxor".to_string(),
            Node::Add(..) => "bvadd".to_string(),
            Node::Mul(..) => "bvmul".to_string(),
            Node::Udiv(..) => "bvudiv".to_string(),
            Node::Urem(..) => "bvurem".to_string(),
            Node::Shl(..) => "bvshl".to_string(),
            Node::Lshr(..) => "bvlshr".to_string(),
            Node::Ashr(..) => "bvashr".to_string(),
            Node::Concat(..) => "concat".to_string(),
            Node::Extract { low, width, .. } => format!("(_ extract {} {low})", low + width - 1),
            Node::SignExtend { term, width } => format!("(_ sign_extend {})", width - terms.width(term)),
        };
        let mut text = format!("({operator}");
        for operand in node.operands() {
            let _ = write!(text, " {}", self.operand(terms, operand, pending));
        }
        text.push(')');
        text
    }
}

fn sort(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_string(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
    }
}

fn constant(width: u32, value: u128) -> String {
    if width.is_multiple_of(4) {
        format!("#x{value:0digits$x}", digits = width as usize / 4)
    } else {
        format!("#b{value:0digits$b}", digits = width as usize)
    }
}

/// There is no such operation in the standard before 2.7: the product of vectors with twice as many bits is not the
/// product, extended.
fn product_overflow(width: u32, signed: bool, a: &str, b: &str) -> String {
    let extend = if signed { "sign_extend" } else { "zero_extend" };
    format!(
        "(let ((?a {a}) (?b {b})) (not (= (bvmul ((_ {extend} {width}) ?a) ((_ {extend} {width}) ?b)) \
         ((_ {extend} {width}) (bvmul ?a ?b)))))"
    )
}
