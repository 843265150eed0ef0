//! From a seed to a tree.
//!
//! First the threads: who creates whom, and what becomes of each. Then the statements of each body, from a small
//! budget. There are few variables and few values, so that threads get into each other's way.

use crate::shape::{Feature, Shape};
use crate::tree::*;
use leno_ir::interp::Prng;

/// The program of a seed. Always the same for the same seed and shape.
pub fn generate(seed: u64, shape: &Shape) -> Program {
    let mut random = Prng::new(seed);
    let mut features = shape.features.clone();
    while features.len() > shape.features_at_once {
        let index = random.below(features.len() as u64) as usize;
        features.swap_remove(index);
    }
    features.extend(&shape.always);
    let mut grower = Grower {
        random,
        features,
        budget: 0,
        functions: 0,
        kept: 0,
        around: Vec::new(),
        is_thread: false,
        is_given: false,
    };
    grower.program(shape)
}

/// What a statement stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Around {
    Loop,
    Section,
    Function,
    Other,
}

struct Grower {
    random: Prng,
    features: Vec<Feature>,
    /// How many statements the body at hand may still have.
    budget: u32,
    functions: usize,
    /// How many handles were kept.
    kept: u8,
    around: Vec<Around>,
    is_thread: bool,
    /// Whether the function at hand takes an address.
    is_given: bool,
}

/// Few of each, so that threads meet.
const SCALARS: u64 = 3;
const LOCALS: u64 = 2;

impl Grower {
    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    /// True in one of so many cases.
    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn coin(&mut self) -> bool {
        self.one_in(2)
    }

    /// Mostly 0, sometimes 1: for things of which one is enough.
    fn few(&mut self) -> u8 {
        u8::from(self.one_in(3))
    }

    fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn is_in(&self, around: Around) -> bool {
        self.around.contains(&around)
    }

    // ---- the whole

    fn program(&mut self, shape: &Shape) -> Program {
        let mut program = Program { scalars: self.scalars(), semaphore: self.below(3) as u8, ..Program::default() };
        self.functions = if self.has(Feature::Calls) { 1 + self.below(2) as usize } else { 0 };
        for number in 0..self.functions {
            program.functions.push(self.function(number));
        }
        let mut forks = self.family(shape);
        let main_fork = forks.pop().unwrap_or_default();
        for fork in forks {
            self.budget = 1 + self.below(shape.statements.into()) as u32;
            self.is_thread = true;
            let mut body = self.body();
            self.is_thread = false;
            if !fork.is_empty() {
                let at = self.below(body.len() as u64 + 1) as usize;
                let fork = self.fork(fork, 1);
                body.insert(at, fork);
            }
            program.threads.push(Thread { body });
        }
        program.main = self.main(main_fork);
        program
    }

    fn scalars(&mut self) -> Vec<Scalar> {
        // The first one is a plain `int`: pointers point to it.
        let mut scalars = vec![Scalar { ty: IntType::Int, atomic: false, initial: 0 }];
        for _ in 1..SCALARS {
            let index = self.below(2 * IntType::ALL.len() as u64) as usize;
            let ty = IntType::ALL.get(index).copied().unwrap_or(IntType::Int);
            let atomic = self.has(Feature::Atomics) && self.coin();
            let initial = if self.one_in(4) { [1, -1, 2][self.below(3) as usize] } else { 0 };
            scalars.push(Scalar { ty, atomic, initial });
        }
        scalars
    }

    /// For each thread the threads that it creates; those of `main` last.
    fn family(&mut self, shape: &Shape) -> Vec<Vec<Child>> {
        let most = u64::from(shape.threads.max(1));
        let count = if most > 2 && self.one_in(3) { 3 + self.below(most - 2) } else { most.min(2) } as usize;
        let mut family = vec![Vec::new(); count + 1];
        for thread in 0..count {
            let mut child = Child { thread, argument: Argument::Nothing, fate: Fate::Joined };
            let mut parent = count;
            if self.has(Feature::OddThreads) {
                if thread > 0 && self.one_in(3) {
                    parent = self.below(thread as u64) as usize;
                }
                child.argument = self.argument();
                child.fate = self.fate();
            }
            family[parent].push(child);
        }
        family
    }

    fn argument(&mut self) -> Argument {
        match self.below(6) {
            0 => Argument::Number(1 + self.below(2) as u8),
            1 => Argument::Turn,
            2 => Argument::Shared,
            3 => Argument::Local(self.below(LOCALS) as u8),
            _ => Argument::Nothing,
        }
    }

    fn fate(&mut self) -> Fate {
        match self.below(8) {
            0 => Fate::Left,
            1 => Fate::Detached,
            2 | 3 if self.kept < 2 => {
                self.kept += 1;
                Fate::Kept(self.kept - 1)
            }
            _ => Fate::Joined,
        }
    }

    fn fork(&mut self, children: Vec<Child>, times: u8) -> Statement {
        self.budget = u32::from(self.one_in(3));
        Statement::Fork { children, times, between: self.body() }
    }

    fn main(&mut self, mut children: Vec<Child>) -> Block {
        self.budget = u32::from(self.one_in(3));
        let mut main = self.body();
        let mut times = 1;
        if self.has(Feature::OddThreads) && children.len() == 1 && self.coin() {
            times = 2;
        }
        // Sometimes one after the other.
        if self.has(Feature::OddThreads) && children.len() > 1 && self.one_in(3) {
            let rest = children.split_off(1);
            let first = self.fork(children, 1);
            main.push(first);
            children = rest;
        }
        let fork = self.fork(children, times);
        main.push(fork);
        for handle in 0..self.kept {
            if self.coin() {
                main.push(Statement::JoinKept(handle));
            }
        }
        let scalar = |number| Box::new(Expr::Read(Place::Scalar(number)));
        let sum = Expr::Binary(Binary::Add, scalar(0), scalar(1 + self.below(SCALARS - 1) as u8));
        let limit = Expr::Constant(self.below(4) as i8);
        main.push(Statement::Assert(Expr::Binary(Binary::Unequal, Box::new(sum), Box::new(limit))));
        main
    }

    fn function(&mut self, number: usize) -> Function {
        self.budget = 1 + self.below(2) as u32;
        // A function calls only later ones.
        let functions = std::mem::replace(&mut self.functions, 0);
        self.around.push(Around::Function);
        let takes_pair = self.has(Feature::Structs) && self.coin();
        let takes_address = self.calls_a_lot() && self.coin();
        self.is_given = takes_address;
        let mut body = self.body();
        if number + 1 < functions && self.coin() {
            body.push(self.call(number + 1));
        }
        let result = self.value();
        self.around.pop();
        self.functions = functions;
        self.is_given = false;
        Function { takes_pair, takes_address, body, result }
    }

    /// Whether programs are about calls more than about anything else.
    fn calls_a_lot(&self) -> bool {
        self.features.iter().filter(|feature| **feature == Feature::Calls).count() > 1
    }

    // ---- statements

    /// Statements until the budget is used up.
    fn body(&mut self) -> Block {
        let mut body = Vec::new();
        while self.budget > 0 {
            body.push(self.statement());
        }
        body
    }

    fn inside(&mut self, around: Around, at_most: u64) -> Block {
        let count = (1 + self.below(at_most)).min(u64::from(self.budget.max(1)));
        self.around.push(around);
        let body = (0..count).map(|_| self.statement()).collect();
        self.around.pop();
        body
    }

    fn statement(&mut self) -> Statement {
        self.budget = self.budget.saturating_sub(1);
        // As often as not something special, if there is anything special here.
        for _ in 0..4 {
            if self.features.is_empty() || self.coin() {
                break;
            }
            let index = self.below(self.features.len() as u64) as usize;
            if let Some(statement) = self.special(self.features[index]) {
                return statement;
            }
        }
        match self.below(8) {
            0..=2 => Statement::Assign(self.place(), self.value()),
            3 | 4 => self.update(),
            5 => Statement::SetLocal(self.below(LOCALS) as u8, self.value()),
            6 if !self.is_deep() => self.branch(),
            _ => Statement::Assert(self.claim()),
        }
    }

    fn is_deep(&self) -> bool {
        self.around.len() > 2
    }

    /// A statement that makes use of a feature; None if there is none to be had here.
    fn special(&mut self, feature: Feature) -> Option<Statement> {
        let may_wait = !self.is_in(Around::Section) || self.has(Feature::WaitingSections);
        let may_nest = !self.is_deep();
        match feature {
            Feature::Arrays | Feature::WaitingSections => None,
            Feature::Pointers | Feature::Heap => self.pointer(),
            Feature::Structs => Some(Statement::CopyPair { to: self.few(), from: self.few() }),
            Feature::Mutexes | Feature::ReadWriteLocks | Feature::OddLocking => self.lock(may_wait && may_nest),
            Feature::Conditions => may_wait.then(|| self.condition_variable()),
            Feature::Atomics => Some(Statement::Atomic(self.atomic())),
            Feature::Semaphores => self.semaphore(may_wait),
            Feature::Barriers => may_wait.then_some(Statement::BarrierWait),
            Feature::Sections if may_nest && !self.is_in(Around::Section) => {
                Some(Statement::Section(self.inside(Around::Section, 2)))
            }
            Feature::Nondeterminism => {
                let value = self.nondet();
                Some(if self.coin() {
                    Statement::SetLocal(self.below(LOCALS) as u8, value)
                } else {
                    Statement::Assign(self.place(), value)
                })
            }
            Feature::Assumptions => Some(Statement::Assume(self.claim())),
            Feature::Loops if self.is_in(Around::Loop) => self.one_in(3).then_some(Statement::Break),
            Feature::Loops if may_nest => {
                let times = 1 + self.below(2) as u8;
                Some(Statement::Loop { times, body: self.inside(Around::Loop, 1) })
            }
            Feature::Calls if self.functions > 0 => {
                let function = self.below(self.functions as u64) as usize;
                Some(self.call(function))
            }
            Feature::OddThreads if self.kept > 0 && self.is_thread && self.around.is_empty() => {
                Some(Statement::JoinKept(self.below(self.kept.into()) as u8))
            }
            Feature::Leaving if !self.around.is_empty() => self.one_in(3).then_some(Statement::Leave),
            Feature::Floats => Some(self.float()),
            Feature::Text => Some(Statement::Text(self.text_call())),
            Feature::Blocks if may_nest => {
                let pointer = self.few();
                Some(Statement::Published { pointer, body: self.inside(Around::Other, 1) })
            }
            Feature::FarIndices => self.one_in(3).then(|| {
                let far = [Far::Near, Far::Distant, Far::Before][self.below(3) as usize];
                Statement::Assign(Place::Element(0, Index::Far(far)), self.constant())
            }),
            Feature::Signals => Some(Statement::Raise),
            Feature::Recycling => Some(Statement::Recycle { pointer: self.few(), local: self.below(LOCALS) as u8 }),
            Feature::WeakOrders => {
                let order = if self.coin() { Order::Relaxed } else { Order::AcquireRelease };
                Some(Statement::Ordered(order, self.atomic()))
            }
            Feature::Renewal => self.one_in(2).then(|| Statement::Renew { mutex: 0, destroys: self.coin() }),
            Feature::Shifts => Some(Statement::Update(self.place(), Binary::ShiftLeft, self.value())),
            Feature::Division => Some(Statement::Update(self.place(), Binary::Divide, self.value())),
            Feature::Awaiting if !self.is_in(Around::Section) => Some(Statement::Await(self.waiting())),
            _ => None,
        }
    }

    fn update(&mut self) -> Statement {
        let op = match self.below(8) {
            0 => Binary::Subtract,
            1 => Binary::Multiply,
            2 => Binary::Xor,
            3 if self.has(Feature::Division) => Binary::Divide,
            _ => return Statement::Update(self.place(), Binary::Add, Expr::Constant(1)),
        };
        Statement::Update(self.place(), op, self.value())
    }

    fn float(&mut self) -> Statement {
        let number = self.few();
        let update = match self.below(6) {
            0 => FloatUpdate::Assign,
            1 | 2 => FloatUpdate::Add,
            3 => FloatUpdate::Multiply,
            4 => FloatUpdate::Divide,
            _ => {
                let claim = Expr::FloatAbove(number, 1 + self.below(3) as i8);
                let wrong = Box::new(Expr::Constant(self.below(2) as i8));
                return Statement::Assert(Expr::Binary(Binary::Unequal, Box::new(claim), wrong));
            }
        };
        Statement::UpdateFloat(number, update, self.value())
    }

    fn branch(&mut self) -> Statement {
        let condition = self.condition();
        let then = self.inside(Around::Other, 1);
        let otherwise = if self.one_in(4) { self.inside(Around::Other, 1) } else { Vec::new() };
        Statement::If { condition, then, otherwise }
    }

    fn lock(&mut self, may_nest: bool) -> Option<Statement> {
        let lock = match self.below(2) {
            0 if self.has(Feature::Mutexes) => Lock::Mutex(self.below(2) as u8),
            1 if self.has(Feature::ReadWriteLocks) => {
                if self.coin() {
                    Lock::Reading(0)
                } else {
                    Lock::Writing(0)
                }
            }
            _ => return None,
        };
        let is_odd = self.has(Feature::OddLocking);
        if is_odd && self.one_in(8) {
            return Some(Statement::Unlock(lock));
        }
        if !may_nest {
            return None;
        }
        let tries = is_odd && self.one_in(3);
        let gives_back = !(is_odd && self.one_in(8));
        Some(Statement::Locked { lock, tries, gives_back, body: self.inside(Around::Other, 2) })
    }

    fn condition_variable(&mut self) -> Statement {
        let condition = 0;
        if self.coin() {
            Statement::Wait { condition, looks_again: !self.one_in(3) }
        } else {
            Statement::Signal { condition, all: self.coin(), locked: !self.one_in(4) }
        }
    }

    fn semaphore(&mut self, may_wait: bool) -> Option<Statement> {
        match self.below(5) {
            0 | 1 if may_wait => Some(Statement::SemWait(self.few())),
            2 | 3 => Some(Statement::SemPost(self.few())),
            4 => Some(Statement::SemTryWait(self.few(), self.below(LOCALS) as u8)),
            _ => None,
        }
    }

    fn pointer(&mut self) -> Option<Statement> {
        let pointer = self.few();
        match self.below(6) {
            0 if self.has(Feature::Pointers) => Some(Statement::Point(pointer, Target::Scalar)),
            1 if self.has(Feature::Pointers) => Some(Statement::Point(pointer, Target::Pointer(self.few()))),
            2 if self.has(Feature::Pointers) && self.one_in(3) => Some(Statement::Point(pointer, Target::Null)),
            2 if self.has(Feature::Pointers) && self.has(Feature::Arrays) => {
                Some(Statement::Point(pointer, Target::Element(0, self.coin())))
            }
            3 if self.has(Feature::Pointers) && self.has(Feature::Structs) => {
                Some(Statement::Point(pointer, Target::Field(self.few(), self.coin())))
            }
            4 if self.has(Feature::Heap) => Some(Statement::Point(pointer, Target::New(1 + self.few()))),
            5 if self.has(Feature::Heap) => Some(Statement::Free(pointer)),
            _ => None,
        }
    }

    fn text_call(&mut self) -> TextCall {
        let (text, local) = (self.few(), self.below(LOCALS) as u8);
        match self.below(7) {
            0 => TextCall::Show(text),
            1 => TextCall::Length { text, local },
            2 => TextCall::Number { text, local },
            3 => TextCall::Fill { text, bytes: 1 + self.below(5) as u8 },
            4 => TextCall::Copy { to: text, from: 1 - text, bytes: None },
            5 => TextCall::Copy { to: text, from: self.few(), bytes: Some(2 + 2 * self.few()) },
            _ => TextCall::Format { text, value: self.value() },
        }
    }

    fn atomic(&mut self) -> Atomic {
        // Mostly those that are declared atomic, perhaps.
        let scalar = (1 + self.below(SCALARS - 1) - u64::from(self.one_in(8))) as u8;
        let local = self.below(LOCALS) as u8;
        match self.below(11) {
            0 | 1 => Atomic::Load { scalar, local },
            2 | 3 => Atomic::Store { scalar, value: self.constant() },
            4 | 5 => Atomic::FetchAdd { scalar, value: Expr::Constant(1), local },
            6 | 7 => Atomic::Exchange { scalar, value: self.constant(), local },
            8 | 9 => {
                let expected = self.below(2) as i8;
                Atomic::CompareExchange { scalar, expected, desired: self.constant(), local }
            }
            _ => Atomic::Fence,
        }
    }

    fn waiting(&mut self) -> Await {
        let scalar = 1 + self.below(SCALARS - 1) as u8;
        match self.below(3) {
            0 => Await::NonZero { scalar, yields: self.coin() },
            1 => Await::SpinLock(self.inside(Around::Other, 1)),
            _ => Await::Polled { mutex: 0, scalar },
        }
    }

    fn call(&mut self, function: usize) -> Statement {
        let (argument, pair, local) = (self.value(), self.few(), self.below(LOCALS) as u8);
        let address = (self.calls_a_lot() && self.coin()).then(|| self.below(LOCALS) as u8);
        Statement::Call { function, argument, pair, address, local }
    }

    // ---- expressions

    fn constant(&mut self) -> Expr {
        let value = match self.below(12) {
            0 => -1,
            1 => 127,
            other => (other % 4) as i8,
        };
        Expr::Constant(value)
    }

    fn place(&mut self) -> Place {
        if self.is_given && self.coin() {
            return Place::Given;
        }
        match self.below(10) {
            0 | 1 if self.has(Feature::Arrays) => Place::Element(0, self.index()),
            2 | 3 if self.has(Feature::Structs) => Place::Field(self.few(), self.coin()),
            4 | 5 if self.has(Feature::Pointers) || self.has(Feature::Heap) => {
                let pointer = self.few();
                if self.one_in(6) { Place::PointeeNext(pointer) } else { Place::Pointee(pointer) }
            }
            6 if self.has(Feature::OddThreads) && self.is_thread && self.coin() => Place::Argument,
            7 | 8 => Place::Scalar(0),
            _ => Place::Scalar(self.below(SCALARS) as u8),
        }
    }

    fn index(&mut self) -> Index {
        match self.below(5) {
            0 => Index::Masked(Box::new(Expr::Read(Place::Scalar(self.below(SCALARS) as u8)))),
            1 => Index::Any(Box::new(if self.is_in(Around::Loop) { Expr::Turn } else { Expr::Local(0) })),
            2 if self.one_in(4) => Index::Any(Box::new(Expr::Read(Place::Scalar(self.below(SCALARS) as u8)))),
            _ => Index::Constant(self.coin()),
        }
    }

    fn value(&mut self) -> Expr {
        match self.below(12) {
            0 | 1 => Expr::Read(self.place()),
            2 => Expr::Local(self.below(LOCALS) as u8),
            3 => Expr::Binary(Binary::Add, Box::new(Expr::Read(self.place())), Box::new(Expr::Constant(1))),
            4 if self.has(Feature::Nondeterminism) => self.nondet(),
            5 if self.is_in(Around::Function) => Expr::Parameter,
            6 if self.is_in(Around::Loop) => Expr::Turn,
            7 if self.has(Feature::OddThreads) && self.is_thread => Expr::Argument,
            8 if self.has(Feature::Division) => {
                Expr::Binary(Binary::Divide, Box::new(self.constant()), Box::new(Expr::Read(self.place())))
            }
            _ => self.constant(),
        }
    }

    fn nondet(&mut self) -> Expr {
        if self.one_in(4) { Expr::NondetSmall } else { Expr::NondetBool }
    }

    /// A condition that is true more often than not.
    fn claim(&mut self) -> Expr {
        if self.one_in(4) {
            return self.condition();
        }
        let left = if self.one_in(4) { Expr::Local(self.below(LOCALS) as u8) } else { Expr::Read(self.place()) };
        let limit = Expr::Constant(1 + self.below(3) as i8);
        Expr::Binary(Binary::Unequal, Box::new(left), Box::new(limit))
    }

    fn condition(&mut self) -> Expr {
        if self.has(Feature::Nondeterminism) && self.one_in(4) {
            return Expr::NondetBool;
        }
        if self.has(Feature::Floats) && self.coin() {
            return Expr::FloatAbove(self.few(), self.below(4) as i8);
        }
        let op = [Binary::Equal, Binary::Unequal, Binary::Unequal, Binary::Less][self.below(4) as usize];
        let left = if self.one_in(4) { Expr::Local(self.below(LOCALS) as u8) } else { Expr::Read(self.place()) };
        let limit = Expr::Constant(self.below(3) as i8);
        let first = Expr::Binary(op, Box::new(left), Box::new(limit));
        if !self.one_in(6) {
            return first;
        }
        let second = Expr::Binary(Binary::Equal, Box::new(Expr::Read(self.place())), Box::new(Expr::Constant(1)));
        Expr::Binary(Binary::AndThen, Box::new(first), Box::new(second))
    }
}
