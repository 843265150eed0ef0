//! What a Boolean program means, directly on its syntax tree: all states that its threads can reach together.
//!
//! It shares nothing with the front end but the tree. Statements are laid out in a list, with the numbers of those that
//! may come next; a state is the global variables and, for each thread, its calls. All of them are visited, so loops make
//! no difference. Every statement is one step, except for calls: one step for the arguments, and one for the results.

use leno_boolean::ast::{BinaryOp, Expr, ExprKind, Function, Name, Statement, StatementKind, Tree};
use std::collections::{HashMap, HashSet};

/// Whether an assertion may fail with at most so many threads; `None` if there are too many states to say.
pub fn is_violated(tree: &Tree, most_threads: usize, most_states: usize) -> Option<bool> {
    let machine = Machine::new(tree, most_threads);
    let mut work = machine.initial();
    let mut seen: HashSet<State> = work.iter().cloned().collect();
    while let Some(state) = work.pop() {
        for thread in 0..state.threads.len() {
            for next in machine.steps(&state, thread)? {
                let Next::State(next) = next else { return Some(true) };
                if seen.len() > most_states {
                    return None;
                }
                if seen.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
    }
    Some(false)
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    globals: Vec<bool>,
    threads: Vec<Thread>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Thread {
    calls: Vec<Call>,
    /// How many atomic sections it is in.
    sections: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Call {
    function: usize,
    at: usize,
    locals: Vec<bool>,
    /// What a function has returned that it called, which is going to be assigned.
    returned: Option<Vec<bool>>,
}

enum Next {
    State(State),
    Violation,
}

/// A statement without nesting.
enum Line<'t> {
    Plain(&'t StatementKind),
    /// To the next line, or to this one if the condition does not hold.
    Unless(&'t Expr, usize),
    Jump(usize),
    End,
}

struct Layout<'t> {
    function: &'t Function,
    lines: Vec<Line<'t>>,
    labels: HashMap<&'t str, usize>,
    locals: Vec<&'t str>,
}

impl<'t> Layout<'t> {
    fn new(function: &'t Function) -> Layout<'t> {
        let declared = function.locals.iter().map(|declaration| &declaration.name);
        let locals = function.parameters.iter().chain(declared).map(|name| name.text.as_str()).collect();
        let mut layout = Layout { function, lines: Vec::new(), labels: HashMap::new(), locals };
        layout.add(&function.body);
        layout.lines.push(Line::End);
        layout
    }

    fn add(&mut self, statements: &'t [Statement]) {
        for Statement { labels, kind, .. } in statements {
            labels.iter().for_each(|label| _ = self.labels.insert(&label.text, self.lines.len()));
            match kind {
                StatementKind::While { condition, body } => {
                    let head = self.lines.len();
                    self.lines.push(Line::Unless(condition, 0));
                    self.add(body);
                    self.lines.push(Line::Jump(head));
                    self.lines[head] = Line::Unless(condition, self.lines.len());
                }
                StatementKind::If { branches, otherwise } => {
                    let mut ends = Vec::new();
                    for (condition, body) in branches {
                        let head = self.lines.len();
                        self.lines.push(Line::Unless(condition, 0));
                        self.add(body);
                        ends.push(self.lines.len());
                        self.lines.push(Line::Jump(0));
                        self.lines[head] = Line::Unless(condition, self.lines.len());
                    }
                    self.add(otherwise);
                    ends.into_iter().for_each(|end| self.lines[end] = Line::Jump(self.lines.len()));
                }
                plain => self.lines.push(Line::Plain(plain)),
            }
        }
    }
}

struct Machine<'t> {
    tree: &'t Tree,
    layouts: Vec<Layout<'t>>,
    most_threads: usize,
}

/// Every way to give values to `count` choices.
fn choices(count: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << count).map(move |bits| (0..count).map(|at| bits >> at & 1 == 1).collect())
}

impl<'t> Machine<'t> {
    fn new(tree: &'t Tree, most_threads: usize) -> Machine<'t> {
        Machine { tree, layouts: tree.functions.iter().map(Layout::new).collect(), most_threads }
    }

    fn function(&self, name: &str) -> Option<usize> {
        self.tree.functions.iter().position(|function| function.name.text == name)
    }

    fn initial(&self) -> Vec<State> {
        let main = self.function("main").expect("a function `main`");
        let open = self.tree.globals.iter().filter(|global| global.initial.is_none()).count();
        let states = choices(open).flat_map(|chosen| {
            let mut chosen = chosen.into_iter();
            let globals: Vec<bool> = self
                .tree
                .globals
                .iter()
                .map(|global| global.initial.or_else(|| chosen.next()).unwrap_or(false))
                .collect();
            let calls = self.activations(main, Vec::new());
            let state = move |call| State {
                globals: globals.clone(),
                threads: vec![Thread { calls: vec![call], sections: 0 }],
            };
            calls.into_iter().map(state)
        });
        states.collect()
    }

    /// A call, with all values that its local variables may begin with.
    fn activations(&self, function: usize, arguments: Vec<bool>) -> Vec<Call> {
        let declared = &self.tree.functions[function].locals;
        let open = declared.iter().filter(|local| local.initial.is_none()).count();
        let call = |chosen: Vec<bool>| {
            let mut chosen = chosen.into_iter();
            let values = declared.iter().map(|local| local.initial.or_else(|| chosen.next()).unwrap_or(false));
            let locals = arguments.iter().copied().chain(values).collect();
            Call { function, at: 0, locals, returned: None }
        };
        choices(open).map(call).collect()
    }

    /// Everything that a thread can do next; `None` where that is beyond what is looked at.
    fn steps(&self, state: &State, thread: usize) -> Option<Vec<Next>> {
        let is_held = |(other, it): (usize, &Thread)| other != thread && it.sections > 0 && !it.calls.is_empty();
        let Some(call) = state.threads[thread].calls.last() else { return Some(Vec::new()) };
        if state.threads.iter().enumerate().any(is_held) {
            return Some(Vec::new());
        }
        let layout = &self.layouts[call.function];
        let line = &layout.lines[call.at];
        let exprs: Vec<&Expr> = match line {
            Line::Plain(kind) => exprs_of(kind),
            Line::Unless(condition, _) => vec![condition],
            Line::Jump(_) | Line::End => Vec::new(),
        };
        let open: usize = exprs.iter().map(|expr| stars(expr)).sum();
        let more = match line {
            Line::End => layout.function.results as usize,
            _ => 0,
        };
        let mut all = Vec::new();
        for chosen in choices(open + more) {
            let context = Context { machine: self, state, thread, layout };
            context.step(line, chosen, &mut all)?;
        }
        Some(all)
    }
}

struct Context<'m, 't> {
    machine: &'m Machine<'t>,
    state: &'m State,
    thread: usize,
    layout: &'m Layout<'t>,
}

impl Context<'_, '_> {
    fn call(&self) -> &Call {
        &self.state.threads[self.thread].calls[self.state.threads[self.thread].calls.len() - 1]
    }

    fn get(&self, name: &Name) -> bool {
        match self.layout.locals.iter().position(|local| *local == name.text) {
            Some(local) => self.call().locals[local],
            None => self.state.globals[self.global(name)],
        }
    }

    fn global(&self, name: &Name) -> usize {
        let mut globals = self.machine.tree.globals.iter();
        globals.position(|global| global.name.text == name.text).expect("a declared variable")
    }

    fn set(&self, state: &mut State, name: &Name, value: bool) {
        match self.layout.locals.iter().position(|local| *local == name.text) {
            Some(local) => {
                let calls = &mut state.threads[self.thread].calls;
                let last = calls.len() - 1;
                calls[last].locals[local] = value;
            }
            None => state.globals[self.global(name)] = value,
        }
    }

    /// The value of an expression; `chosen` says what `*` is, from left to right.
    fn value(&self, expr: &Expr, next: &dyn Fn(&Name) -> bool, chosen: &mut impl Iterator<Item = bool>) -> bool {
        match &expr.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Any => chosen.next().expect("a choice"),
            ExprKind::Variable(name) => self.get(name),
            ExprKind::Next(name) => next(name),
            ExprKind::Not(operand) => !self.value(operand, next, chosen),
            ExprKind::Binary(op, parts) => {
                let (left, right) = (self.value(&parts[0], next, chosen), self.value(&parts[1], next, chosen));
                match op {
                    BinaryOp::Equal => left == right,
                    BinaryOp::Differ | BinaryOp::Xor => left != right,
                    BinaryOp::And => left && right,
                    BinaryOp::Or => left || right,
                    BinaryOp::Implies => !left || right,
                }
            }
            ExprKind::Choice(parts) => {
                let values: Vec<bool> = parts.iter().map(|part| self.value(part, next, chosen)).collect();
                if values[0] { values[1] } else { values[2] }
            }
            ExprKind::Schoose(parts) => {
                let (holds, fails) = (self.value(&parts[0], next, chosen), self.value(&parts[1], next, chosen));
                let any = chosen.next().expect("a choice");
                holds || (!fails && any)
            }
        }
    }

    fn values(&self, exprs: &[Expr], chosen: &mut impl Iterator<Item = bool>) -> Vec<bool> {
        exprs.iter().map(|expr| self.value(expr, &|_| false, chosen)).collect()
    }

    /// The state in which this thread has gone on to a line.
    fn at(&self, line: usize) -> State {
        let mut state = self.state.clone();
        let calls = &mut state.threads[self.thread].calls;
        let last = calls.len() - 1;
        calls[last].at = line;
        state
    }

    fn step(&self, line: &Line<'_>, chosen: Vec<bool>, all: &mut Vec<Next>) -> Option<()> {
        let mut chosen = chosen.into_iter();
        let following = self.call().at + 1;
        match line {
            Line::Jump(target) => all.push(Next::State(self.at(*target))),
            Line::Unless(condition, otherwise) => {
                let holds = self.value(condition, &|_| false, &mut chosen);
                all.push(Next::State(self.at(if holds { following } else { *otherwise })));
            }
            Line::End => self.leave(chosen.collect(), all),
            Line::Plain(kind) => return self.plain(kind, following, &mut chosen, all),
        }
        Some(())
    }

    fn plain(
        &self,
        kind: &StatementKind,
        following: usize,
        chosen: &mut std::vec::IntoIter<bool>,
        all: &mut Vec<Next>,
    ) -> Option<()> {
        let mut state = self.at(following);
        match kind {
            StatementKind::Skip | StatementKind::While { .. } | StatementKind::If { .. } => {}
            StatementKind::Goto(labels) => {
                all.extend(labels.iter().map(|label| Next::State(self.at(self.layout.labels[label.text.as_str()]))));
                return Some(());
            }
            StatementKind::Assert(condition) => {
                if !self.value(condition, &|_| false, chosen) {
                    all.push(Next::Violation);
                    return Some(());
                }
            }
            StatementKind::Assume(condition) => {
                if !self.value(condition, &|_| false, chosen) {
                    return Some(());
                }
            }
            StatementKind::Assign { targets, values, constrain } => {
                let values = self.values(values, chosen);
                let next = |name: &Name| match targets.iter().position(|target| target.text == name.text) {
                    Some(target) => values[target],
                    None => self.get(name),
                };
                if let Some(condition) = constrain
                    && !self.value(condition, &next, chosen)
                {
                    return Some(());
                }
                targets.iter().zip(&values).for_each(|(target, value)| self.set(&mut state, target, *value));
            }
            StatementKind::Call { results, function, arguments } => {
                if let Some(returned) = &self.call().returned {
                    results.iter().zip(returned).for_each(|(target, value)| self.set(&mut state, target, *value));
                    let calls = &mut state.threads[self.thread].calls;
                    let last = calls.len() - 1;
                    calls[last].returned = None;
                } else {
                    let function = self.machine.function(&function.text).expect("a function");
                    let arguments = self.values(arguments, chosen);
                    for call in self.machine.activations(function, arguments) {
                        let mut state = self.state.clone();
                        state.threads[self.thread].calls.push(call);
                        all.push(Next::State(state));
                    }
                    return Some(());
                }
            }
            StatementKind::Return(values) => {
                let values = self.values(values, chosen);
                self.leave(values, all);
                return Some(());
            }
            StatementKind::StartThread(label) => {
                if state.threads.len() >= self.machine.most_threads {
                    return Some(());
                }
                let at = self.layout.labels[label.text.as_str()];
                let call = Call { at, returned: None, ..self.call().clone() };
                state.threads.push(Thread { calls: vec![call], sections: 0 });
            }
            StatementKind::StartFunction(name) => {
                if state.threads.len() >= self.machine.most_threads {
                    return Some(());
                }
                let function = self.machine.function(&name.text).expect("a function");
                for call in self.machine.activations(function, Vec::new()) {
                    let mut state = state.clone();
                    state.threads.push(Thread { calls: vec![call], sections: 0 });
                    all.push(Next::State(state));
                }
                return Some(());
            }
            StatementKind::EndThread => state.threads[self.thread].calls.clear(),
            StatementKind::AtomicBegin => state.threads[self.thread].sections += 1,
            StatementKind::AtomicEnd => {
                let sections = &mut state.threads[self.thread].sections;
                *sections = sections.saturating_sub(1);
            }
        }
        all.push(Next::State(state));
        Some(())
    }

    fn leave(&self, values: Vec<bool>, all: &mut Vec<Next>) {
        let mut state = self.state.clone();
        let calls = &mut state.threads[self.thread].calls;
        calls.pop();
        if let Some(call) = calls.last_mut() {
            call.returned = Some(values);
        }
        all.push(Next::State(state));
    }
}

fn exprs_of(kind: &StatementKind) -> Vec<&Expr> {
    match kind {
        StatementKind::Assert(expr) | StatementKind::Assume(expr) => vec![expr],
        StatementKind::Return(exprs) | StatementKind::Call { arguments: exprs, .. } => exprs.iter().collect(),
        StatementKind::Assign { values, constrain, .. } => values.iter().chain(constrain).collect(),
        _ => Vec::new(),
    }
}

fn stars(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Variable(_) | ExprKind::Next(_) => 0,
        ExprKind::Any => 1,
        ExprKind::Not(operand) => stars(operand),
        ExprKind::Binary(_, parts) => parts.iter().map(stars).sum(),
        ExprKind::Choice(parts) => parts.iter().map(stars).sum(),
        ExprKind::Schoose(parts) => parts.iter().map(stars).sum::<usize>() + 1,
    }
}
