//! Random Boolean programs.

use leno_boolean::ast::{BinaryOp, Declaration, Expr, ExprKind, Function, Name, Place, Statement, StatementKind, Tree};
use leno_c::source::Span;
use leno_testing::Random;

/// What programs may have.
#[derive(Clone, Copy)]
pub struct Shape {
    pub statements: usize,
    pub has_loops: bool,
    pub has_calls: bool,
}

pub fn grow(seed: u64, shape: Shape) -> Tree {
    let mut grower = Grower { random: Random::new(seed), shape, labels: 0, in_section: false };
    let globals: Vec<String> =
        ["x", "y", "z"][..1 + grower.random.below(3)].iter().map(|name| name.to_string()).collect();
    let declare = |grower: &mut Grower, names: &[String]| -> Vec<Declaration> {
        let initial = |grower: &mut Grower| grower.random.chance(60).then(|| grower.random.chance(40));
        names.iter().map(|name| Declaration { name: word(name), initial: initial(grower) }).collect()
    };
    let mut functions = Vec::new();
    let helper = shape.has_calls && grower.random.chance(60);
    if helper {
        let (parameters, locals) = (vec!["p".to_string()], vec!["q".to_string()]);
        let visible: Vec<String> = globals.iter().chain(&parameters).chain(&locals).cloned().collect();
        let mut body = grower.block(&visible, 2, &Callable::None);
        if grower.random.chance(90) {
            let values = (0..2).map(|_| grower.expr(&visible, 2, false)).collect();
            body.push(plain(StatementKind::Return(values)));
        }
        let locals = declare(&mut grower, &locals);
        let parameters = parameters.iter().map(|name| word(name)).collect();
        functions.push(Function { name: word("f"), results: 2, parameters, locals, body, end: nowhere() });
    }
    let locals: Vec<String> = ["a", "b"][..grower.random.below(3)].iter().map(|name| name.to_string()).collect();
    let visible: Vec<String> = globals.iter().chain(&locals).cloned().collect();
    let callable = if helper { Callable::Helper } else { Callable::None };
    let mut body = grower.block(&visible, 2, &callable);
    let threads = 1 + grower.random.below(2);
    for number in 0..threads {
        body.push(plain(StatementKind::StartThread(word(&format!("T{number}")))));
    }
    body.extend(grower.block(&visible, 3, &callable));
    for number in 0..threads {
        body.push(plain(StatementKind::EndThread));
        let mut thread = grower.block(&visible, shape.statements, &callable);
        match thread.first_mut() {
            Some(first) => first.labels.insert(0, word(&format!("T{number}"))),
            None => thread.push(Statement { labels: vec![word(&format!("T{number}"))], ..plain(StatementKind::Skip) }),
        }
        body.extend(thread);
    }
    let locals = declare(&mut grower, &locals);
    let globals = declare(&mut grower, &globals);
    functions.push(Function { name: word("main"), results: 0, parameters: Vec::new(), locals, body, end: nowhere() });
    Tree { globals, functions }
}

enum Callable {
    None,
    Helper,
}

fn nowhere() -> Place {
    Place(Span::default())
}

fn word(text: &str) -> Name {
    Name { text: text.to_string(), span: Span::default() }
}

fn plain(kind: StatementKind) -> Statement {
    Statement { labels: Vec::new(), kind, place: nowhere() }
}

fn node(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::default())
}

struct Grower {
    random: Random,
    shape: Shape,
    labels: usize,
    in_section: bool,
}

impl Grower {
    fn block(&mut self, names: &[String], most: usize, callable: &Callable) -> Vec<Statement> {
        let count = 1 + self.random.below(most);
        let mut block = Vec::new();
        for _ in 0..count {
            self.statement(names, callable, &mut block, 0);
        }
        block
    }

    fn nested(&mut self, names: &[String], callable: &Callable, level: usize) -> Vec<Statement> {
        let mut block = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            self.statement(names, callable, &mut block, level + 1);
        }
        block
    }

    fn statement(&mut self, names: &[String], callable: &Callable, block: &mut Vec<Statement>, level: usize) {
        let kind = match self.random.below(100) {
            0..45 => self.assignment(names),
            45..55 => StatementKind::Assert(self.expr(names, 2, false)),
            55..65 => StatementKind::Assume(self.expr(names, 2, false)),
            65..75 if level < 2 => {
                let branches = (0..1 + self.random.below(2))
                    .map(|_| (self.expr(names, 2, false), self.nested(names, callable, level)))
                    .collect();
                let otherwise = if self.random.chance(50) { self.nested(names, callable, level) } else { Vec::new() };
                StatementKind::If { branches, otherwise }
            }
            75..80 if level < 2 && self.shape.has_loops => {
                let condition = self.expr(names, 1, false);
                StatementKind::While { condition, body: self.nested(names, callable, level) }
            }
            80..87 if level == 0 && !self.in_section => return self.section(names, callable, block),
            87..93 if level == 0 => return self.jump(names, callable, block),
            93..99 if matches!(callable, Callable::Helper) => {
                let results = match self.random.chance(70) {
                    true => self.two(names),
                    false => Vec::new(),
                };
                StatementKind::Call { results, function: word("f"), arguments: vec![self.expr(names, 1, false)] }
            }
            _ => StatementKind::Skip,
        };
        block.push(plain(kind));
    }

    fn section(&mut self, names: &[String], callable: &Callable, block: &mut Vec<Statement>) {
        block.push(plain(StatementKind::AtomicBegin));
        self.in_section = true;
        for _ in 0..1 + self.random.below(3) {
            self.statement(names, callable, block, 1);
        }
        self.in_section = false;
        block.push(plain(StatementKind::AtomicEnd));
    }

    /// `goto A, B; …; A: …; B: …`, or a jump back where there are loops.
    fn jump(&mut self, names: &[String], callable: &Callable, block: &mut Vec<Statement>) {
        let (first, second) = (word(&format!("L{}", self.labels)), word(&format!("L{}", self.labels + 1)));
        self.labels += 2;
        let goto = plain(StatementKind::Goto(vec![first.clone(), second.clone()]));
        let labelled = |name: Name| Statement { labels: vec![name], ..plain(StatementKind::Skip) };
        if self.shape.has_loops && self.random.chance(50) {
            block.push(labelled(first));
            self.statement(names, callable, block, 1);
            block.extend([goto, labelled(second)]);
            return;
        }
        block.push(goto);
        self.statement(names, callable, block, 1);
        block.push(labelled(first));
        self.statement(names, callable, block, 1);
        block.push(labelled(second));
    }

    fn two(&mut self, names: &[String]) -> Vec<Name> {
        let first = self.random.below(names.len());
        let second = (first + 1 + self.random.below(names.len().max(2) - 1)) % names.len();
        match first == second {
            true => Vec::new(),
            false => vec![word(&names[first]), word(&names[second])],
        }
    }

    fn assignment(&mut self, names: &[String]) -> StatementKind {
        let mut targets = if self.random.chance(35) { self.two(names) } else { Vec::new() };
        if targets.is_empty() {
            targets.push(word(&names[self.random.below(names.len())]));
        }
        let values = targets.iter().map(|_| self.expr(names, 1, false)).collect();
        let constrain = self.random.chance(20).then(|| self.expr(names, 2, true));
        StatementKind::Assign { targets, values, constrain }
    }

    fn expr(&mut self, names: &[String], depth: usize, has_next: bool) -> Expr {
        let name = word(&names[self.random.below(names.len())]);
        if depth == 0 || self.random.chance(30) {
            return node(match self.random.below(100) {
                0..15 => ExprKind::Constant(self.random.chance(50)),
                15..25 => ExprKind::Any,
                25..65 if has_next => ExprKind::Next(name),
                _ => ExprKind::Variable(name),
            });
        }
        let mut part = || self.expr(names, depth - 1, has_next);
        let (first, second, third) = (part(), part(), part());
        let ops = [BinaryOp::Equal, BinaryOp::Differ, BinaryOp::And, BinaryOp::Xor, BinaryOp::Or, BinaryOp::Implies];
        node(match self.random.below(100) {
            0..25 => ExprKind::Not(Box::new(first)),
            25..85 => ExprKind::Binary(self.random.pick(&ops), Box::new([first, second])),
            85..93 => ExprKind::Choice(Box::new([first, second, third])),
            _ => ExprKind::Schoose(Box::new([first, second])),
        })
    }
}
