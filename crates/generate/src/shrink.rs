//! From a tree to a smaller one that still fails.
//!
//! Delta debugging on the tree. A round tries, largest pieces first: to drop whole threads and functions; to drop runs
//! of statements from every block, half of it, then a quarter, down to single ones; and to put something simpler in
//! place of each statement: its inner blocks, a plainer variant, simpler expressions. What still fails is kept. Rounds
//! go on until one of them finds nothing. Every candidate is a valid program (see `tree`), so nothing has to be
//! repaired.

use crate::tree::*;

/// The smallest program that can be reached from `program` by steps that `still_fails` accepts.
///
/// `program` itself is taken to fail.
pub fn shrink(program: &Program, still_fails: impl FnMut(&Program) -> bool) -> Program {
    let mut shrinker = Shrinker { program: program.clone(), still_fails };
    loop {
        let before = shrinker.program.clone();
        shrinker.drop_threads();
        shrinker.drop_functions();
        shrinker.drop_statements();
        shrinker.simplify_statements();
        shrinker.simplify_results();
        shrinker.simplify_scalars();
        if shrinker.program == before {
            return before;
        }
    }
}

struct Shrinker<F> {
    program: Program,
    still_fails: F,
}

impl<F: FnMut(&Program) -> bool> Shrinker<F> {
    /// Keeps the candidate if it still fails.
    fn try_candidate(&mut self, candidate: Program) -> bool {
        let is_kept = candidate != self.program && (self.still_fails)(&candidate);
        if is_kept {
            self.program = candidate;
        }
        is_kept
    }

    fn drop_threads(&mut self) {
        for thread in (0..self.program.threads.len()).rev() {
            let candidate = without_thread(&self.program, thread);
            self.try_candidate(candidate);
        }
    }

    fn drop_functions(&mut self) {
        for function in (0..self.program.functions.len()).rev() {
            let candidate = without_function(&self.program, function);
            self.try_candidate(candidate);
        }
    }

    fn drop_statements(&mut self) {
        let mut block = 0;
        while let Some(len) = block_len(&self.program, block) {
            let mut run = len;
            while run > 0 {
                let mut start = 0;
                while start < block_len(&self.program, block).unwrap_or(0) {
                    let mut candidate = self.program.clone();
                    edit_block(&mut candidate, block, |list| {
                        let end = (start + run).min(list.len());
                        list.drain(start.min(end)..end);
                    });
                    if !self.try_candidate(candidate) {
                        start += run;
                    }
                }
                run /= 2;
            }
            block += 1;
        }
    }

    fn simplify_statements(&mut self) {
        let mut block = 0;
        while let Some(len) = block_len(&self.program, block) {
            for index in (0..len).rev() {
                while self.simplify_statement(block, index) {}
            }
            block += 1;
        }
    }

    /// Whether something simpler does as well in one place.
    fn simplify_statement(&mut self, block: usize, index: usize) -> bool {
        let mut replacements = Vec::new();
        edit_block(&mut self.program, block, |list| {
            replacements = list.get(index).map_or(Vec::new(), simpler_statements);
        });
        replacements.into_iter().any(|replacement| {
            let mut candidate = self.program.clone();
            edit_block(&mut candidate, block, |list| {
                if index < list.len() {
                    list.splice(index..=index, replacement.iter().cloned());
                }
            });
            self.try_candidate(candidate)
        })
    }

    fn simplify_results(&mut self) {
        for function in 0..self.program.functions.len() {
            for result in simpler_exprs(&self.program.functions[function].result) {
                let mut candidate = self.program.clone();
                candidate.functions[function].result = result;
                self.try_candidate(candidate);
            }
            let mut candidate = self.program.clone();
            candidate.functions[function].takes_pair = false;
            self.try_candidate(candidate);
            let mut candidate = self.program.clone();
            candidate.functions[function].takes_address = false;
            self.try_candidate(candidate);
        }
    }

    fn simplify_scalars(&mut self) {
        for scalar in 0..self.program.scalars.len() {
            let plain = |candidate: &mut Program| candidate.scalars[scalar].atomic = false;
            let int = |candidate: &mut Program| candidate.scalars[scalar].ty = IntType::Int;
            let zero = |candidate: &mut Program| candidate.scalars[scalar].initial = 0;
            for edit in [&plain as &dyn Fn(&mut Program), &int, &zero] {
                let mut candidate = self.program.clone();
                edit(&mut candidate);
                self.try_candidate(candidate);
            }
        }
        for semaphore in 0..self.program.semaphore {
            let candidate = Program { semaphore, ..self.program.clone() };
            self.try_candidate(candidate);
        }
    }
}

// ---- blocks by number, outer ones first

fn block_len(program: &Program, number: usize) -> Option<usize> {
    fn find(block: &Block, left: &mut usize) -> Option<usize> {
        if *left == 0 {
            return Some(block.len());
        }
        *left -= 1;
        block.iter().flat_map(Statement::blocks).find_map(|inner| find(inner, left))
    }
    let mut left = number;
    program.bodies().find_map(|body| find(body, &mut left))
}

fn edit_block(program: &mut Program, number: usize, edit: impl FnOnce(&mut Block)) {
    fn find<'a>(block: &'a mut Block, left: &mut usize) -> Option<&'a mut Block> {
        if *left == 0 {
            return Some(block);
        }
        *left -= 1;
        block.iter_mut().flat_map(Statement::blocks_mut).find_map(|inner| find(inner, left))
    }
    let mut left = number;
    let found = program.bodies_mut().find_map(|body| find(body, &mut left));
    if let Some(block) = found {
        edit(block);
    }
}

// ---- whole threads and functions

/// Applies an edit to every block.
fn for_each_block(program: &mut Program, edit: &dyn Fn(&mut Block)) {
    fn visit(block: &mut Block, edit: &dyn Fn(&mut Block)) {
        edit(block);
        for inner in block.iter_mut().flat_map(Statement::blocks_mut) {
            visit(inner, edit);
        }
    }
    for body in program.bodies_mut() {
        visit(body, edit);
    }
}

fn without_thread(program: &Program, thread: usize) -> Program {
    let mut candidate = program.clone();
    candidate.threads.remove(thread);
    for_each_block(&mut candidate, &|block| {
        for statement in block.iter_mut() {
            let Statement::Fork { children, .. } = statement else { continue };
            children.retain(|child| child.thread != thread);
            for child in children.iter_mut().filter(|child| child.thread > thread) {
                child.thread -= 1;
            }
        }
    });
    candidate
}

fn without_function(program: &Program, function: usize) -> Program {
    let mut candidate = program.clone();
    candidate.functions.remove(function);
    for_each_block(&mut candidate, &|block| {
        block.retain(|statement| !matches!(statement, Statement::Call { function: f, .. } if *f == function));
        for statement in block.iter_mut() {
            if let Statement::Call { function: called, .. } = statement
                && *called > function
            {
                *called -= 1;
            }
        }
    });
    candidate
}

// ---- simpler statements

/// What to try in place of a statement, the simplest first. Each is smaller by some measure, so that this comes to an
/// end.
fn simpler_statements(statement: &Statement) -> Vec<Block> {
    let mut list: Vec<Block> = Vec::new();
    // What is inside, alone.
    list.extend(statement.blocks().into_iter().filter(|block| !block.is_empty()).cloned());
    let one = |statement: Statement| vec![statement];
    match statement {
        Statement::Assign(place, value) => {
            list.extend(simpler_exprs(value).into_iter().map(|value| one(Statement::Assign(place.clone(), value))));
            list.extend(simpler_places(place).into_iter().map(|place| one(Statement::Assign(place, value.clone()))));
        }
        Statement::Update(place, op, value) => {
            list.push(one(Statement::Assign(place.clone(), value.clone())));
            let update = |place: Place, value: Expr| one(Statement::Update(place, *op, value));
            list.extend(simpler_exprs(value).into_iter().map(|value| update(place.clone(), value)));
            list.extend(simpler_places(place).into_iter().map(|place| update(place, value.clone())));
        }
        Statement::SetLocal(local, value) => {
            list.extend(simpler_exprs(value).into_iter().map(|value| one(Statement::SetLocal(*local, value))));
        }
        Statement::UpdateFloat(float, update, value) => {
            if *update != FloatUpdate::Assign {
                list.push(one(Statement::UpdateFloat(*float, FloatUpdate::Assign, value.clone())));
            }
            let with = |value: Expr| one(Statement::UpdateFloat(*float, *update, value));
            list.extend(simpler_exprs(value).into_iter().map(with));
        }
        Statement::Assert(condition) => {
            list.extend(simpler_exprs(condition).into_iter().map(|condition| one(Statement::Assert(condition))));
        }
        Statement::Assume(condition) => {
            list.extend(simpler_exprs(condition).into_iter().map(|condition| one(Statement::Assume(condition))));
        }
        Statement::If { condition, then, otherwise } => {
            let branch =
                |condition: Expr| Statement::If { condition, then: then.clone(), otherwise: otherwise.clone() };
            list.extend(simpler_exprs(condition).into_iter().map(|condition| one(branch(condition))));
        }
        Statement::Loop { times, body } => {
            let fewer = (1..*times).map(|times| one(Statement::Loop { times, body: body.clone() }));
            list.extend(fewer);
        }
        Statement::Locked { lock, tries, gives_back, body } => {
            let locked = |tries, gives_back| Statement::Locked { lock: *lock, tries, gives_back, body: body.clone() };
            if !gives_back {
                list.push(one(locked(*tries, true)));
            }
            if *tries {
                list.push(one(locked(false, *gives_back)));
            }
        }
        Statement::Point(pointer, target) if *target != Target::Null && *target != Target::Scalar => {
            list.push(one(Statement::Point(*pointer, Target::Null)));
            list.push(one(Statement::Point(*pointer, Target::Scalar)));
        }
        Statement::Wait { condition, looks_again: false } => {
            list.push(one(Statement::Wait { condition: *condition, looks_again: true }));
        }
        Statement::Signal { condition, all, locked } => {
            if *all {
                list.push(one(Statement::Signal { condition: *condition, all: false, locked: *locked }));
            }
            if !*locked {
                list.push(one(Statement::Signal { condition: *condition, all: *all, locked: true }));
            }
        }
        Statement::Ordered(_, operation) => list.push(one(Statement::Atomic(operation.clone()))),
        Statement::Text(call) => list.extend(simpler_text_calls(call).into_iter().map(one)),
        Statement::Renew { mutex, destroys: true } => {
            list.push(one(Statement::Renew { mutex: *mutex, destroys: false }));
        }
        Statement::SemTryWait(number, _) => list.push(one(Statement::SemWait(*number))),
        Statement::Atomic(operation) => list.extend(simpler_atomics(operation).into_iter().map(one)),
        Statement::Call { function, argument, pair, address, local } => {
            let (function, pair, address, local) = (*function, *pair, *address, *local);
            let call = |argument: Expr| one(Statement::Call { function, argument, pair, address, local });
            list.extend(simpler_exprs(argument).into_iter().map(call));
        }
        Statement::Fork { children, times, between } => list.extend(simpler_forks(children, *times, between)),
        _ => {}
    }
    list
}

fn simpler_atomics(operation: &Atomic) -> Vec<Statement> {
    let read = |scalar: &u8| Expr::Read(Place::Scalar(*scalar));
    match operation {
        Atomic::Load { scalar, local } => vec![Statement::SetLocal(*local, read(scalar))],
        Atomic::Store { scalar, value } => {
            let stores = simpler_exprs(value).into_iter();
            let stores = stores.map(|value| Statement::Atomic(Atomic::Store { scalar: *scalar, value }));
            stores.chain([Statement::Assign(Place::Scalar(*scalar), value.clone())]).collect()
        }
        Atomic::FetchAdd { scalar, value, .. }
        | Atomic::Exchange { scalar, value, .. }
        | Atomic::CompareExchange { scalar, desired: value, .. } => {
            vec![Statement::Atomic(Atomic::Store { scalar: *scalar, value: value.clone() })]
        }
        Atomic::Fence => Vec::new(),
    }
}

fn simpler_text_calls(call: &TextCall) -> Vec<Statement> {
    let calls = match call {
        TextCall::Copy { from, bytes: None, .. } => vec![TextCall::Show(*from)],
        TextCall::Copy { to, bytes: Some(bytes), .. } => vec![TextCall::Fill { text: *to, bytes: *bytes }],
        TextCall::Fill { text, bytes } if *bytes > 1 => vec![TextCall::Fill { text: *text, bytes: 1 }],
        TextCall::Format { text, value } => {
            simpler_exprs(value).into_iter().map(|value| TextCall::Format { text: *text, value }).collect()
        }
        _ => Vec::new(),
    };
    calls.into_iter().map(Statement::Text).collect()
}

fn simpler_forks(children: &[Child], times: u8, between: &Block) -> Vec<Block> {
    let mut list = Vec::new();
    let fork = |children: Vec<Child>, times: u8, between: Block| Statement::Fork { children, times, between };
    for index in 0..children.len() {
        let mut rest = children.to_vec();
        rest.remove(index);
        list.push(vec![fork(rest, times, between.clone())]);
        for simpler in simpler_children(&children[index]) {
            let mut changed = children.to_vec();
            changed[index] = simpler;
            list.push(vec![fork(changed, times, between.clone())]);
        }
    }
    if times > 1 {
        list.push(vec![fork(children.to_vec(), times - 1, between.clone())]);
    }
    if !between.is_empty() {
        let mut after = vec![fork(children.to_vec(), times, Vec::new())];
        after.extend(between.iter().cloned());
        list.push(after);
    }
    list
}

fn simpler_children(child: &Child) -> Vec<Child> {
    let mut list = Vec::new();
    if child.argument != Argument::Nothing {
        list.push(Child { argument: Argument::Nothing, ..child.clone() });
    }
    if !matches!(child.fate, Fate::Left) {
        list.push(Child { fate: Fate::Left, ..child.clone() });
    }
    if matches!(child.fate, Fate::Kept(_) | Fate::Detached) {
        list.push(Child { fate: Fate::Joined, ..child.clone() });
    }
    list
}

// ---- simpler expressions

fn simpler_exprs(expr: &Expr) -> Vec<Expr> {
    let mut list = Vec::new();
    match expr {
        Expr::Constant(0) => return list,
        Expr::Constant(1) => return vec![Expr::Constant(0)],
        Expr::Constant(value) => return vec![Expr::Constant(0), Expr::Constant(1), Expr::Constant(value / 2)],
        Expr::Binary(op, left, right) => {
            list.extend([(**left).clone(), (**right).clone()]);
            let with_left = |left: Expr| Expr::Binary(*op, Box::new(left), right.clone());
            let with_right = |right: Expr| Expr::Binary(*op, left.clone(), Box::new(right));
            list.extend(simpler_exprs(left).into_iter().map(with_left));
            list.extend(simpler_exprs(right).into_iter().map(with_right));
        }
        Expr::Read(place) => list.extend(simpler_places(place).into_iter().map(Expr::Read)),
        Expr::NondetSmall => list.push(Expr::NondetBool),
        Expr::Local(_) | Expr::Turn | Expr::Argument | Expr::Parameter | Expr::NondetBool | Expr::FloatAbove(..) => {}
    }
    list.extend([Expr::Constant(0), Expr::Constant(1)]);
    list
}

fn simpler_places(place: &Place) -> Vec<Place> {
    let mut list = Vec::new();
    match place {
        Place::Scalar(0) => return list,
        Place::Scalar(_) | Place::Field(..) | Place::Pointee(_) | Place::Argument | Place::Given => {}
        Place::PointeeNext(pointer) => list.push(Place::Pointee(*pointer)),
        Place::Element(array, index) => {
            let with = |index: Index| Place::Element(*array, index);
            match index {
                Index::Constant(true) => list.push(with(Index::Constant(false))),
                Index::Constant(false) => {}
                Index::Far(_) => list.extend([with(Index::Constant(false)), with(Index::Constant(true))]),
                Index::Masked(expr) | Index::Any(expr) => {
                    list.extend([with(Index::Constant(false)), with(Index::Constant(true))]);
                    let simpler = simpler_exprs(expr).into_iter().map(Box::new);
                    match index {
                        Index::Masked(_) => list.extend(simpler.map(|expr| with(Index::Masked(expr)))),
                        _ => list.extend(simpler.map(|expr| with(Index::Any(expr)))),
                    }
                }
            }
        }
    }
    list.push(Place::Scalar(0));
    list
}
