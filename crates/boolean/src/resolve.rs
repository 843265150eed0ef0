//! From a tree to steps: names become variables, functions and places, and what they cannot mean is an error.
//!
//! A function is a list of [`Step`]s. Labels, loops and branches are jumps between their numbers; the last step is the
//! end of the function. Each step is one atomic action of a thread, except that a call is three: its arguments, the
//! function itself, and the assignment of its results.

use crate::ast::{BinaryOp, Declaration, Expr, ExprKind, Function, Name, Statement, StatementKind, Tree};
use leno_c::diagnostic::{Diagnostic, Result};
use leno_c::source::{Source, Span};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variable {
    /// By its number in [`Resolved::globals`].
    Global(usize),
    /// By its number in [`Procedure::variables`].
    Local(usize),
}

#[derive(Debug)]
pub struct Resolved<'t> {
    pub globals: &'t [Declaration],
    pub functions: Vec<Procedure<'t>>,
    /// Runs before anything else.
    pub init: Option<usize>,
    pub start: Start,
}

/// What runs after `init`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// This function, once.
    Once(usize),
    /// These, by any number of threads each.
    AnyNumber(Vec<usize>),
}

#[derive(Debug)]
pub struct Procedure<'t> {
    pub tree: &'t Function,
    /// Parameters come first.
    pub variables: Vec<&'t Name>,
    pub steps: Vec<Step>,
    /// Where each label is.
    labels: Vec<(usize, &'t str)>,
}

impl Procedure<'_> {
    /// What the variables begin with; `None` is any value. Not for parameters.
    pub fn initial(&self, variable: usize) -> Option<bool> {
        self.tree.locals.get(variable.checked_sub(self.tree.parameters.len())?)?.initial
    }

    /// The label of a step.
    pub fn label(&self, step: usize) -> &str {
        self.labels.iter().find(|(at, _)| *at == step).map_or("", |(_, label)| label)
    }
}

#[derive(Debug)]
pub struct Step {
    pub kind: StepKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StepKind {
    /// One of them, whichever.
    Goto(Vec<usize>),
    /// On to the next step if it holds, otherwise to this one.
    Branch(Formula, usize),
    Assign {
        targets: Vec<Variable>,
        values: Vec<Formula>,
        constrain: Option<Formula>,
    },
    Assume(Formula),
    Assert(Formula),
    Call {
        results: Vec<Variable>,
        function: usize,
        arguments: Vec<Formula>,
    },
    Return(Vec<Formula>),
    /// A thread that begins at this step, with a copy of the local variables.
    StartThread(usize),
    StartFunction(usize),
    EndThread,
    AtomicBegin,
    AtomicEnd,
    /// The end of the function.
    End,
}

#[derive(Clone, Debug)]
pub enum Formula {
    Constant(bool),
    Any,
    Variable(Variable),
    Next(Variable),
    Not(Box<Formula>),
    Binary(BinaryOp, Box<[Formula; 2]>),
    Choice(Box<[Formula; 3]>),
    Schoose(Box<[Formula; 2]>),
}

impl Formula {
    /// The variables whose current values it needs.
    pub fn add_reads(&self, found: &mut Vec<Variable>) {
        match self {
            Formula::Constant(_) | Formula::Any | Formula::Next(_) => {}
            Formula::Variable(variable) => found.push(*variable),
            Formula::Not(operand) => operand.add_reads(found),
            Formula::Binary(_, parts) | Formula::Schoose(parts) => parts.iter().for_each(|part| part.add_reads(found)),
            Formula::Choice(parts) => parts.iter().for_each(|part| part.add_reads(found)),
        }
    }

    /// The variables whose next values it needs.
    pub fn add_nexts(&self, found: &mut Vec<Variable>) {
        match self {
            Formula::Constant(_) | Formula::Any | Formula::Variable(_) => {}
            Formula::Next(variable) => found.push(*variable),
            Formula::Not(operand) => operand.add_nexts(found),
            Formula::Binary(_, parts) | Formula::Schoose(parts) => parts.iter().for_each(|part| part.add_nexts(found)),
            Formula::Choice(parts) => parts.iter().for_each(|part| part.add_nexts(found)),
        }
    }
}

/// `entry`: the functions that any number of threads run, if the user says so.
pub fn resolve<'t>(tree: &'t Tree, source: &Source, entry: &[String]) -> Result<Resolved<'t>> {
    let mut names = Names { globals: HashMap::new(), functions: HashMap::new(), tree };
    for (number, declaration) in tree.globals.iter().enumerate() {
        let before = names.globals.insert(declaration.name.text.as_str(), number);
        refuse_second(before.map(|before| &tree.globals[before].name), &declaration.name, "variable", source)?;
    }
    for (number, function) in tree.functions.iter().enumerate() {
        let before = names.functions.insert(function.name.text.as_str(), number);
        refuse_second(before.map(|before| &tree.functions[before].name), &function.name, "function", source)?;
    }
    let functions = tree.functions.iter().map(|function| names.procedure(function, source));
    let functions: Vec<Procedure<'t>> = functions.collect::<Result<_>>()?;
    let is_used = used(&functions);
    let init = names.functions.get("init").copied().filter(|init| !is_used.contains(init));
    if let Some(init) = init
        && let Some(parameter) = tree.functions[init].parameters.first()
    {
        return Err(error(parameter.span, "`init` runs first, and has no parameters"));
    }
    let start = names.start(init, &is_used, entry, source)?;
    Ok(Resolved { globals: &tree.globals, functions, init, start })
}

/// The functions that some statement calls or starts.
fn used(functions: &[Procedure<'_>]) -> HashSet<usize> {
    let steps = functions.iter().flat_map(|function| &function.steps);
    let used = steps.filter_map(|step| match step.kind {
        StepKind::Call { function, .. } | StepKind::StartFunction(function) => Some(function),
        _ => None,
    });
    used.collect()
}

fn error(span: Span, message: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message))
}

fn refuse_second(before: Option<&Name>, name: &Name, what: &str, source: &Source) -> Result<()> {
    let Some(before) = before else { return Ok(()) };
    let line = source.location(before.span).line;
    Err(error(name.span, format!("there is a {what} `{}` already, in line {line}", name.text)))
}

struct Names<'t> {
    tree: &'t Tree,
    globals: HashMap<&'t str, usize>,
    functions: HashMap<&'t str, usize>,
}

impl<'t> Names<'t> {
    fn start(&self, init: Option<usize>, is_used: &HashSet<usize>, entry: &[String], source: &Source) -> Result<Start> {
        let end = Span::new(source.text.len() as u32, source.text.len() as u32);
        if !entry.is_empty() {
            let find = |name: &String| {
                let found = self.functions.get(name.as_str()).copied();
                found.ok_or_else(|| error(end, format!("there is no function `{name}`")))
            };
            return Ok(Start::AnyNumber(entry.iter().map(find).collect::<Result<_>>()?));
        }
        if let Some(main) = self.functions.get("main") {
            return match self.tree.functions[*main].parameters.first() {
                Some(parameter) => Err(error(parameter.span, "`main` runs first, and has no parameters")),
                None => Ok(Start::Once(*main)),
            };
        }
        let is_root = |number: &usize| {
            let function = &self.tree.functions[*number];
            Some(*number) != init && !is_used.contains(number) && function.parameters.is_empty()
        };
        let roots: Vec<usize> = (0..self.tree.functions.len()).filter(is_root).collect();
        match roots.is_empty() {
            true => Err(Box::new(
                Diagnostic::error(end, "nothing runs in this program")
                    .help("write `void main() begin … end`, or a function without parameters that nothing calls"),
            )),
            false => Ok(Start::AnyNumber(roots)),
        }
    }

    fn procedure(&self, function: &'t Function, source: &Source) -> Result<Procedure<'t>> {
        let locals = function.locals.iter().map(|declaration| &declaration.name);
        let variables: Vec<&Name> = function.parameters.iter().chain(locals).collect();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for (number, name) in variables.iter().enumerate() {
            let before = numbers.insert(name.text.as_str(), number);
            refuse_second(before.map(|before| variables[before]), name, "variable", source)?;
        }
        let mut writer = Writer {
            names: self,
            function,
            source,
            numbers,
            steps: Vec::new(),
            labels: HashMap::new(),
            jumps: Vec::new(),
        };
        writer.block(&function.body)?;
        writer.step(StepKind::End, function.end.0);
        let mut labels: Vec<(usize, &str)> = writer.labels.iter().map(|(label, (at, _))| (*at, *label)).collect();
        labels.sort_unstable();
        let steps = writer.finish()?;
        Ok(Procedure { tree: function, variables, steps, labels })
    }
}

struct Writer<'n, 't> {
    names: &'n Names<'t>,
    function: &'t Function,
    source: &'n Source,
    numbers: HashMap<&'t str, usize>,
    steps: Vec<Step>,
    labels: HashMap<&'t str, (usize, &'t Name)>,
    /// Steps that jump to labels, which may come later.
    jumps: Vec<(usize, &'t [Name])>,
}

impl<'t> Writer<'_, 't> {
    fn step(&mut self, kind: StepKind, span: Span) -> usize {
        self.steps.push(Step { kind, span });
        self.steps.len() - 1
    }

    fn block(&mut self, statements: &'t [Statement]) -> Result<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'t Statement) -> Result<()> {
        for label in &statement.labels {
            let before = self.labels.insert(label.text.as_str(), (self.steps.len(), label));
            refuse_second(before.map(|(_, name)| name), label, "label", self.source)?;
        }
        let span = statement.place.0;
        let kind = match &statement.kind {
            StatementKind::Skip => StepKind::Goto(vec![self.steps.len() + 1]),
            StatementKind::Goto(labels) => {
                self.jumps.push((self.steps.len(), labels));
                StepKind::Goto(Vec::new())
            }
            StatementKind::StartThread(label) => {
                self.jumps.push((self.steps.len(), std::slice::from_ref(label)));
                StepKind::StartThread(0)
            }
            StatementKind::StartFunction(name) => StepKind::StartFunction(self.callee(name, &[], &[])?),
            StatementKind::Return(values) => {
                let (expected, found) = (self.function.results as usize, values.len());
                if expected != found {
                    let name = &self.function.name.text;
                    return Err(error(span, format!("`{name}` returns {}, not {found}", counted(expected, "value"))));
                }
                StepKind::Return(self.formulas(values)?)
            }
            StatementKind::Assert(condition) => StepKind::Assert(self.formula(condition)?),
            StatementKind::Assume(condition) => StepKind::Assume(self.formula(condition)?),
            StatementKind::Call { results, function, arguments } => StepKind::Call {
                results: self.targets(results)?,
                function: self.callee(function, arguments, results)?,
                arguments: self.formulas(arguments)?,
            },
            StatementKind::Assign { targets, values, constrain } => {
                if targets.len() != values.len() {
                    let (left, right) = (counted(targets.len(), "variable"), counted(values.len(), "value"));
                    return Err(error(span, format!("{left} on the left, but {right} on the right")));
                }
                StepKind::Assign {
                    targets: self.targets(targets)?,
                    values: self.formulas(values)?,
                    constrain: constrain.as_ref().map(|condition| self.formula_with_next(condition)).transpose()?,
                }
            }
            StatementKind::EndThread => StepKind::EndThread,
            StatementKind::AtomicBegin => StepKind::AtomicBegin,
            StatementKind::AtomicEnd => StepKind::AtomicEnd,
            StatementKind::While { condition, body } => return self.repeat(condition, body),
            StatementKind::If { branches, otherwise } => return self.branches(branches, otherwise, span),
        };
        self.step(kind, span);
        Ok(())
    }

    fn repeat(&mut self, condition: &Expr, body: &'t [Statement]) -> Result<()> {
        let formula = self.formula(condition)?;
        let head = self.step(StepKind::Branch(formula, 0), condition.place.0);
        self.block(body)?;
        self.step(StepKind::Goto(vec![head]), condition.place.0);
        self.otherwise(head);
        Ok(())
    }

    /// The branch at `head` leads here if its condition does not hold.
    fn otherwise(&mut self, head: usize) {
        let here = self.steps.len();
        if let StepKind::Branch(_, otherwise) = &mut self.steps[head].kind {
            *otherwise = here;
        }
    }

    fn branches(&mut self, branches: &'t [(Expr, Vec<Statement>)], last: &'t [Statement], span: Span) -> Result<()> {
        let mut ends = Vec::new();
        for (condition, body) in branches {
            let formula = self.formula(condition)?;
            let head = self.step(StepKind::Branch(formula, 0), condition.place.0);
            self.block(body)?;
            ends.push(self.step(StepKind::Goto(Vec::new()), span));
            self.otherwise(head);
        }
        self.block(last)?;
        let here = self.steps.len();
        ends.into_iter().for_each(|end| self.steps[end].kind = StepKind::Goto(vec![here]));
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Step>> {
        for (step, names) in std::mem::take(&mut self.jumps) {
            let find = |name: &Name| match self.labels.get(name.text.as_str()) {
                Some((target, _)) => Ok(*target),
                None => {
                    let function = &self.function.name.text;
                    Err(error(name.span, format!("there is no label `{}` in `{function}`", name.text)))
                }
            };
            let targets: Vec<usize> = names.iter().map(find).collect::<Result<_>>()?;
            self.steps[step].kind = match self.steps[step].kind {
                StepKind::StartThread(_) => StepKind::StartThread(targets[0]),
                _ => StepKind::Goto(targets),
            };
        }
        Ok(self.steps)
    }

    fn callee(&self, name: &Name, arguments: &[Expr], results: &[Name]) -> Result<usize> {
        let Some(number) = self.names.functions.get(name.text.as_str()) else {
            return Err(error(name.span, format!("there is no function `{}`", name.text)));
        };
        let callee = &self.names.tree.functions[*number];
        let (taken, given) = (callee.parameters.len(), arguments.len());
        if taken != given {
            let taken = counted(taken, "argument");
            return Err(error(name.span, format!("`{}` takes {taken}, and is given {given}", name.text)));
        }
        // (A call may drop all results, but not some.)
        if !results.is_empty() && results.len() != callee.results as usize {
            let (made, stored) = (counted(callee.results as usize, "value"), counted(results.len(), "variable"));
            return Err(error(name.span, format!("`{}` returns {made}, for {stored}", name.text)));
        }
        Ok(*number)
    }

    fn variable(&self, name: &Name) -> Result<Variable> {
        let local = self.numbers.get(name.text.as_str()).map(|number| Variable::Local(*number));
        let found =
            local.or_else(|| self.names.globals.get(name.text.as_str()).map(|number| Variable::Global(*number)));
        found.ok_or_else(|| {
            let message = format!("there is no variable `{}`", name.text);
            Box::new(Diagnostic::error(name.span, message).help(format!("declare it: decl {};", name.text)))
        })
    }

    fn targets(&self, names: &[Name]) -> Result<Vec<Variable>> {
        let mut targets = Vec::new();
        for name in names {
            let variable = self.variable(name)?;
            if targets.contains(&variable) {
                return Err(error(name.span, format!("`{}` is assigned twice at once", name.text)));
            }
            targets.push(variable);
        }
        Ok(targets)
    }

    fn formulas(&self, exprs: &[Expr]) -> Result<Vec<Formula>> {
        exprs.iter().map(|expr| self.formula(expr)).collect()
    }

    fn formula(&self, expr: &Expr) -> Result<Formula> {
        self.translate(expr, false)
    }

    fn formula_with_next(&self, expr: &Expr) -> Result<Formula> {
        self.translate(expr, true)
    }

    fn translate(&self, expr: &Expr, has_next: bool) -> Result<Formula> {
        let translate = |expr: &Expr| self.translate(expr, has_next);
        Ok(match &expr.kind {
            ExprKind::Constant(value) => Formula::Constant(*value),
            ExprKind::Any => Formula::Any,
            ExprKind::Variable(name) => Formula::Variable(self.variable(name)?),
            ExprKind::Next(name) if has_next => Formula::Next(self.variable(name)?),
            ExprKind::Next(name) => {
                let message = format!("`'{}` has a meaning only behind `constrain`", name.text);
                let help = "it is the value of the variable after an assignment";
                return Err(Box::new(Diagnostic::error(expr.place.0, message).help(help)));
            }
            ExprKind::Not(operand) => Formula::Not(Box::new(translate(operand)?)),
            ExprKind::Binary(op, parts) => {
                Formula::Binary(*op, Box::new([translate(&parts[0])?, translate(&parts[1])?]))
            }
            ExprKind::Choice(parts) => {
                Formula::Choice(Box::new([translate(&parts[0])?, translate(&parts[1])?, translate(&parts[2])?]))
            }
            ExprKind::Schoose(parts) => Formula::Schoose(Box::new([translate(&parts[0])?, translate(&parts[1])?])),
        })
    }
}

/// `1 value`, `2 values`
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
