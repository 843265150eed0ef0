//! The C text of a tree.
//!
//! Twice: for compilers and people, with the headers of the C library; and as a preprocessor would leave it, with just
//! the declarations that are needed, so that a test need not run one for every program. Functions are printed first and
//! what they mention is remembered, so that only what occurs is declared.

use crate::tree::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a compiled program has to be linked with: the meaning of `reach_error` and `__VERIFIER_…` on the real machine.
/// The values of inputs depend on the environment variable `SEED`.
pub const NATIVE: &str = include_str!("native.c");

const HEADERS: &str = "\
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

";

/// What the headers would say of what programs use (LP64).
pub const DECLARATIONS: &str = "\
typedef unsigned long size_t;
typedef unsigned long pthread_t;
typedef union { char size[40]; long align; } pthread_mutex_t;
typedef union { char size[56]; long align; } pthread_rwlock_t;
typedef union { char size[48]; long align; } pthread_cond_t;
typedef union { char size[32]; long align; } pthread_barrier_t;
typedef union { char size[32]; long align; } sem_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **), pthread_detach(pthread_t);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_trylock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);
int pthread_rwlock_rdlock(pthread_rwlock_t *), pthread_rwlock_tryrdlock(pthread_rwlock_t *);
int pthread_rwlock_wrlock(pthread_rwlock_t *), pthread_rwlock_trywrlock(pthread_rwlock_t *);
int pthread_rwlock_unlock(pthread_rwlock_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *), pthread_cond_signal(pthread_cond_t *), pthread_cond_broadcast(pthread_cond_t *);
int pthread_barrier_init(pthread_barrier_t *, const void *, unsigned), pthread_barrier_wait(pthread_barrier_t *);
int sem_init(sem_t *, int, unsigned), sem_wait(sem_t *), sem_trywait(sem_t *), sem_post(sem_t *);
int pthread_mutex_init(pthread_mutex_t *, const void *), pthread_mutex_destroy(pthread_mutex_t *);
int sched_yield(void), raise(int), puts(const char *), atoi(const char *), sprintf(char *, const char *, ...);
void (*signal(int, void (*)(int)))(int);
size_t strlen(const char *);
char *strcpy(char *, const char *);
void *memset(void *, int, size_t), *memcpy(void *, const void *, size_t);
void *calloc(size_t, size_t);
void free(void *);
void exit(int);

";

const VERIFIER: &str = "\
void reach_error(void);
_Bool __VERIFIER_nondet_bool(void);
char __VERIFIER_nondet_char(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

";

const SMALL: &str = "\
static int small(void) {
    char value = __VERIFIER_nondet_char();
    __VERIFIER_assume(value >= 0 && value <= 2);
    return value;
}

";

/// The number of the signal that programs send to themselves: that of x86 and most other machines.
const SIGUSR1: u8 = 10;

impl Program {
    /// For compilers and people.
    pub fn to_c(&self) -> String {
        format!("{HEADERS}{VERIFIER}{}", self.definitions())
    }

    /// As a preprocessor would leave it, for LP64.
    pub fn to_preprocessed(&self) -> String {
        format!("{DECLARATIONS}{VERIFIER}{}", self.definitions())
    }

    fn definitions(&self) -> String {
        let mut printer = Printer::new(self);
        for (number, function) in self.functions.iter().enumerate().rev() {
            let value = if function.takes_pair { "struct pair v" } else { "int v" };
            let parameters = if function.takes_address { format!("{value}, int *w") } else { value.to_string() };
            printer.takes_address = function.takes_address;
            let result = printer.in_function(function.takes_pair, |printer| printer.expr(&function.result));
            printer.takes_pair = Some(function.takes_pair);
            printer.function(&format!("static int f{number}({parameters})"), &function.body, &result, &[]);
            printer.takes_pair = None;
            printer.takes_address = false;
            printer.uses_pair |= function.takes_pair;
        }
        for (number, thread) in self.threads.iter().enumerate().rev() {
            printer.is_thread = true;
            printer.function(&format!("static void *t{number}(void *argument)"), &thread.body, "0", &[]);
            printer.is_thread = false;
        }
        let initialise = printer.initialisation();
        printer.function("int main(void)", &self.main, "0", &initialise);
        let small = if printer.uses_small { SMALL } else { "" };
        format!("{}{small}{}", printer.declarations(), printer.text)
    }
}

struct Printer<'a> {
    program: &'a Program,
    text: String,
    depth: usize,
    /// How many loops we are in, since the outermost one or the last atomic section.
    loops: usize,
    /// All loops, for the names of their variables.
    turns: usize,
    sections: usize,
    is_thread: bool,
    /// In a function: what it takes.
    takes_pair: Option<bool>,
    takes_address: bool,
    /// Local variables of the function at hand.
    locals: BTreeSet<u8>,
    /// Variables to declare: how, by name.
    globals: BTreeSet<Global>,
    uses_pair: bool,
    uses_small: bool,
}

/// What has to be declared, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Global {
    Scalar(u8),
    Array(u8),
    Pair(u8),
    Pointer(u8),
    Float(u8),
    Mutex(u8),
    ReadWriteLock(u8),
    Condition(u8),
    Semaphore(u8),
    Barrier,
    SpinLock,
    Kept(u8),
    Text(u8),
    Handler,
}

impl<'a> Printer<'a> {
    fn new(program: &'a Program) -> Printer<'a> {
        Printer {
            program,
            text: String::new(),
            depth: 0,
            loops: 0,
            turns: 0,
            sections: 0,
            is_thread: false,
            takes_pair: None,
            takes_address: false,
            locals: BTreeSet::new(),
            globals: BTreeSet::new(),
            uses_pair: false,
            uses_small: false,
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = self.depth * 4);
    }

    /// Something in braces.
    fn braced(&mut self, head: &str, body: &[Statement]) {
        self.open(head);
        self.block(body);
        self.close();
    }

    fn open(&mut self, head: &str) {
        self.line(format!("{head} {{").trim_start());
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn in_function<T>(&mut self, takes_pair: bool, print: impl FnOnce(&mut Self) -> T) -> T {
        self.takes_pair = Some(takes_pair);
        let printed = print(self);
        self.takes_pair = None;
        printed
    }

    fn function(&mut self, head: &str, body: &[Statement], result: &str, first: &[String]) {
        let before = std::mem::take(&mut self.text);
        self.depth = 1;
        for line in first {
            self.line(line);
        }
        self.block(body);
        self.line(&format!("return {result};"));
        self.depth = 0;
        let inner = std::mem::replace(&mut self.text, before);
        self.line(&format!("{head} {{"));
        let locals = std::mem::take(&mut self.locals);
        if !locals.is_empty() {
            let names: Vec<String> = locals.iter().map(|local| format!("r{local} = 0")).collect();
            let _ = writeln!(self.text, "    int {};", names.join(", "));
        }
        self.text.push_str(&inner);
        self.text.push_str("}\n\n");
    }

    /// What `main` has to do first.
    fn initialisation(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        // What only `main` uses is seen by printing it once.
        let text = std::mem::take(&mut self.text);
        let main = self.program.main.clone();
        self.block(&main);
        self.text = text;
        self.locals.clear();
        for global in &self.globals {
            match global {
                Global::Handler => lines.push(format!("signal({SIGUSR1}, on_signal);")),
                Global::Semaphore(n) => lines.push(format!("sem_init(&sem{n}, 0, {});", self.program.semaphore)),
                Global::Barrier => lines.push("pthread_barrier_init(&barrier, 0, 2);".to_string()),
                _ => {}
            }
        }
        lines
    }

    fn declarations(&mut self) -> String {
        if self.globals.iter().any(|global| matches!(global, Global::Pointer(_) | Global::Handler)) {
            self.globals.insert(Global::Scalar(0));
        }
        let mut text = String::new();
        if self.uses_pair || self.globals.iter().any(|global| matches!(global, Global::Pair(_))) {
            text.push_str("struct pair { int first; int second; };\n");
        }
        for global in &self.globals {
            let line = match global {
                Global::Scalar(n) => self.scalar_declaration(*n),
                Global::Array(n) => format!("int a{n}[2];"),
                Global::Pair(n) => format!("struct pair s{n};"),
                Global::Pointer(n) => format!("int *p{n} = &g0;"),
                Global::Float(n) => format!("{} d{n};", if *n == 0 { "double" } else { "float" }),
                Global::Mutex(n) => format!("pthread_mutex_t m{n};"),
                Global::ReadWriteLock(n) => format!("pthread_rwlock_t w{n};"),
                Global::Condition(n) => format!("pthread_cond_t c{n};\npthread_mutex_t guard{n};\nint flag{n};"),
                Global::Semaphore(n) => format!("sem_t sem{n};"),
                Global::Barrier => "pthread_barrier_t barrier;".to_string(),
                Global::SpinLock => "int spin;".to_string(),
                Global::Kept(n) => format!("pthread_t kept{n};"),
                Global::Text(n) => format!("char b{n}[4] = \"{}\";", 12 - n),
                Global::Handler => "static void on_signal(int number) {\n    g0++;\n}".to_string(),
            };
            text.push_str(&line);
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn scalar(&self, number: u8) -> Scalar {
        let plain = Scalar { ty: IntType::Int, atomic: false, initial: 0 };
        self.program.scalars.get(usize::from(number)).copied().unwrap_or(plain)
    }

    fn scalar_declaration(&self, number: u8) -> String {
        let scalar = self.scalar(number);
        let atomic = if scalar.atomic { "_Atomic " } else { "" };
        let initial = if scalar.initial == 0 { String::new() } else { format!(" = {}", scalar.initial) };
        format!("{atomic}{} g{number}{initial};", type_name(scalar.ty))
    }

    fn use_scalar(&mut self, number: u8) -> String {
        self.globals.insert(Global::Scalar(number));
        format!("g{number}")
    }

    fn float(&mut self, number: u8) -> String {
        self.globals.insert(Global::Float(number));
        format!("d{number}")
    }

    fn local(&mut self, number: u8) -> String {
        self.locals.insert(number);
        format!("r{number}")
    }

    // ---- expressions

    fn expr(&mut self, expr: &Expr) -> String {
        match expr {
            Expr::Constant(value) => value.to_string(),
            Expr::Read(place) => self.place(place),
            Expr::Local(number) => self.local(*number),
            Expr::Turn => match self.turns.checked_sub(1) {
                Some(innermost) => format!("i{innermost}"),
                None => "0".to_string(),
            },
            Expr::Argument => if self.is_thread { "(int)(long)argument" } else { "0" }.to_string(),
            Expr::Parameter => match self.takes_pair {
                Some(true) => "v.first",
                Some(false) => "v",
                None => "1",
            }
            .to_string(),
            Expr::NondetBool => "__VERIFIER_nondet_bool()".to_string(),
            Expr::NondetSmall => {
                self.uses_small = true;
                "small()".to_string()
            }
            Expr::FloatAbove(number, halves) => {
                let limit = f64::from(*halves) / 2.0;
                format!("({} > {limit:?})", self.float(*number))
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.operand(left), self.operand(right));
                format!("{left} {} {right}", symbol(*op))
            }
        }
    }

    fn operand(&mut self, expr: &Expr) -> String {
        let text = self.expr(expr);
        if matches!(expr, Expr::Binary(..)) { format!("({text})") } else { text }
    }

    fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Scalar(number) => self.use_scalar(*number),
            Place::Element(array, index) => {
                self.globals.insert(Global::Array(*array));
                let index = match index {
                    Index::Constant(index) => u8::from(*index).to_string(),
                    Index::Masked(expr) => format!("{} & 1", self.operand(expr)),
                    Index::Any(expr) => self.expr(expr),
                    Index::Far(Far::Near) => "16384".to_string(),
                    Index::Far(Far::Distant) => "1L << 30".to_string(),
                    Index::Far(Far::Before) => "-(1L << 30)".to_string(),
                };
                format!("a{array}[{index}]")
            }
            Place::Field(pair, second) => {
                self.globals.insert(Global::Pair(*pair));
                format!("s{pair}.{}", field(*second))
            }
            Place::Pointee(pointer) => {
                self.globals.insert(Global::Pointer(*pointer));
                format!("*p{pointer}")
            }
            Place::PointeeNext(pointer) => {
                self.globals.insert(Global::Pointer(*pointer));
                format!("p{pointer}[1]")
            }
            Place::Argument if self.is_thread => "*(int *)argument".to_string(),
            Place::Given if self.takes_address => "*w".to_string(),
            Place::Argument | Place::Given => self.use_scalar(0),
        }
    }

    fn target(&mut self, target: &Target) -> String {
        match target {
            Target::Null => "0".to_string(),
            Target::Scalar => format!("&{}", self.use_scalar(0)),
            Target::Element(array, index) => {
                self.globals.insert(Global::Array(*array));
                format!("&a{array}[{}]", u8::from(*index))
            }
            Target::Field(pair, second) => {
                self.globals.insert(Global::Pair(*pair));
                format!("&s{pair}.{}", field(*second))
            }
            Target::Pointer(other) => {
                self.globals.insert(Global::Pointer(*other));
                format!("p{other}")
            }
            Target::New(count) => format!("calloc({count}, sizeof(int))"),
        }
    }

    // ---- statements

    fn block(&mut self, block: &[Statement]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign(place, value) => {
                let line = format!("{} = {};", self.place(place), self.expr(value));
                self.line(&line);
            }
            Statement::Update(place, op, value) => self.update(place, *op, value),
            Statement::SetLocal(local, value) => {
                let line = format!("{} = {};", self.local(*local), self.expr(value));
                self.line(&line);
            }
            Statement::UpdateFloat(number, update, value) => {
                let (float, value) = (self.float(*number), self.operand(value));
                self.line(&match update {
                    FloatUpdate::Assign => format!("{float} = {value};"),
                    FloatUpdate::Add => format!("{float} += {value} * 0.5;"),
                    FloatUpdate::Multiply => format!("{float} *= {value};"),
                    FloatUpdate::Divide => format!("{float} /= {value};"),
                });
            }
            Statement::CopyPair { to, from } => {
                self.globals.extend([Global::Pair(*to), Global::Pair(*from)]);
                self.line(&format!("s{to} = s{from};"));
            }
            Statement::Point(pointer, target) => {
                self.globals.insert(Global::Pointer(*pointer));
                let line = format!("p{pointer} = {};", self.target(target));
                self.line(&line);
            }
            Statement::Free(pointer) => {
                self.globals.insert(Global::Pointer(*pointer));
                self.line(&format!("free(p{pointer});"));
            }
            Statement::If { condition, then, otherwise } => {
                let head = format!("if ({})", self.expr(condition));
                self.braced(&head, then);
                if !otherwise.is_empty() {
                    self.braced("else", otherwise);
                }
            }
            Statement::Loop { times, body } => self.repeated(*times, body),
            Statement::Break if self.loops > 0 => self.line("break;"),
            Statement::Leave if self.sections == 0 => self.line("return 0;"),
            Statement::Break | Statement::Leave => self.line(";"),
            Statement::Assert(condition) => {
                let line = format!("if (!({})) reach_error();", self.expr(condition));
                self.line(&line);
            }
            Statement::Assume(condition) => {
                let line = format!("__VERIFIER_assume({});", self.expr(condition));
                self.line(&line);
            }
            Statement::Locked { lock, tries, gives_back, body } => self.locked(*lock, *tries, *gives_back, body),
            Statement::Unlock(lock) => self.unlock(*lock),
            Statement::Wait { condition, looks_again } => self.wait(*condition, *looks_again),
            Statement::Signal { condition, all, locked } => self.signal(*condition, *all, *locked),
            Statement::Atomic(operation) => self.atomic(None, operation),
            Statement::Ordered(order, operation) => self.atomic(Some(*order), operation),
            Statement::Text(call) => self.text_call(call),
            Statement::Published { pointer, body } => {
                self.globals.insert(Global::Pointer(*pointer));
                self.open("");
                self.line("int local = 1;");
                self.line(&format!("p{pointer} = &local;"));
                self.block(body);
                self.close();
            }
            Statement::Recycle { pointer: p, local } => {
                self.globals.insert(Global::Pointer(*p));
                let local = self.local(*local);
                self.line(&format!("{{ int *old = calloc(1, sizeof(int)); free(old); p{p} = calloc(1, sizeof(int)); {local} = old == p{p}; }}"));
            }
            Statement::Raise => {
                self.globals.insert(Global::Handler);
                self.line(&format!("raise({SIGUSR1});"));
            }
            Statement::Renew { mutex, destroys } => {
                self.globals.insert(Global::Mutex(*mutex));
                let arguments = if *destroys { "" } else { ", 0" };
                let name = if *destroys { "destroy" } else { "init" };
                self.line(&format!("pthread_mutex_{name}(&m{mutex}{arguments});"));
            }
            Statement::SemWait(number) => self.semaphore("sem_wait", *number, None),
            Statement::SemTryWait(number, local) => self.semaphore("sem_trywait", *number, Some(*local)),
            Statement::SemPost(number) => self.semaphore("sem_post", *number, None),
            Statement::BarrierWait => {
                self.globals.insert(Global::Barrier);
                self.line("pthread_barrier_wait(&barrier);");
            }
            Statement::Section(body) => self.section(body),
            Statement::Await(waiting) => self.waiting(waiting),
            Statement::Call { function, argument, pair, address, local } => {
                self.call(*function, argument, *pair, *address, *local)
            }
            Statement::Fork { children, times, between } => self.fork(children, *times, between),
            Statement::JoinKept(handle) => {
                self.globals.insert(Global::Kept(*handle));
                self.line(&format!("pthread_join(kept{handle}, 0);"));
            }
        }
    }

    fn update(&mut self, place: &Place, op: Binary, value: &Expr) {
        let (place, value) = (self.place(place), self.operand(value));
        let line = match op {
            Binary::Add if value == "1" && place.starts_with('*') => format!("({place})++;"),
            Binary::Add if value == "1" => format!("{place}++;"),
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => {
                format!("{place} {}= {value};", symbol(op))
            }
            Binary::And | Binary::Xor | Binary::ShiftLeft => format!("{place} {}= {value};", symbol(op)),
            _ => format!("{place} = {place} {} {value};", symbol(op)),
        };
        self.line(&line);
    }

    fn repeated(&mut self, times: u8, body: &[Statement]) {
        let name = format!("i{}", self.turns);
        self.open(&format!("for (int {name} = 0; {name} < {times}; {name}++)"));
        self.loops += 1;
        self.turns += 1;
        self.block(body);
        self.turns -= 1;
        self.loops -= 1;
        self.close();
    }

    fn locked(&mut self, lock: Lock, tries: bool, gives_back: bool, body: &[Statement]) {
        self.declare_lock(lock);
        let call = match (lock, tries) {
            (Lock::Mutex(n), false) => format!("pthread_mutex_lock(&m{n})"),
            (Lock::Mutex(n), true) => format!("pthread_mutex_trylock(&m{n})"),
            (Lock::Reading(n), false) => format!("pthread_rwlock_rdlock(&w{n})"),
            (Lock::Reading(n), true) => format!("pthread_rwlock_tryrdlock(&w{n})"),
            (Lock::Writing(n), false) => format!("pthread_rwlock_wrlock(&w{n})"),
            (Lock::Writing(n), true) => format!("pthread_rwlock_trywrlock(&w{n})"),
        };
        if tries {
            self.open(&format!("if (!{call})"));
        } else {
            self.line(&format!("{call};"));
        }
        self.block(body);
        if gives_back {
            self.unlock(lock);
        }
        if tries {
            self.close();
        }
    }

    fn declare_lock(&mut self, lock: Lock) {
        self.globals.insert(match lock {
            Lock::Mutex(n) => Global::Mutex(n),
            Lock::Reading(n) | Lock::Writing(n) => Global::ReadWriteLock(n),
        });
    }

    fn unlock(&mut self, lock: Lock) {
        self.declare_lock(lock);
        match lock {
            Lock::Mutex(n) => self.line(&format!("pthread_mutex_unlock(&m{n});")),
            Lock::Reading(n) | Lock::Writing(n) => self.line(&format!("pthread_rwlock_unlock(&w{n});")),
        }
    }

    fn wait(&mut self, n: u8, looks_again: bool) {
        self.globals.insert(Global::Condition(n));
        let word = if looks_again { "while" } else { "if" };
        self.line(&format!("pthread_mutex_lock(&guard{n});"));
        self.line(&format!("{word} (!flag{n}) pthread_cond_wait(&c{n}, &guard{n});"));
        self.line(&format!("pthread_mutex_unlock(&guard{n});"));
    }

    fn signal(&mut self, n: u8, all: bool, locked: bool) {
        self.globals.insert(Global::Condition(n));
        let word = if all { "broadcast" } else { "signal" };
        if locked {
            self.line(&format!("pthread_mutex_lock(&guard{n});"));
        }
        self.line(&format!("flag{n} = 1;"));
        self.line(&format!("pthread_cond_{word}(&c{n});"));
        if locked {
            self.line(&format!("pthread_mutex_unlock(&guard{n});"));
        }
    }

    fn text_call(&mut self, call: &TextCall) {
        let line = match call {
            TextCall::Show(text) => format!("puts({});", self.shared_text(*text)),
            TextCall::Length { text, local } => {
                format!("{} = (int)strlen({});", self.local(*local), self.shared_text(*text))
            }
            TextCall::Number { text, local } => {
                format!("{} = atoi({});", self.local(*local), self.shared_text(*text))
            }
            TextCall::Fill { text, bytes } => format!("memset({}, '1', {bytes});", self.shared_text(*text)),
            TextCall::Copy { to, from, bytes: None } => {
                format!("strcpy({}, {});", self.shared_text(*to), self.shared_text(*from))
            }
            TextCall::Copy { to, from, bytes: Some(bytes) } => {
                format!("memcpy({}, {}, {bytes});", self.shared_text(*to), self.shared_text(*from))
            }
            TextCall::Format { text, value } => {
                format!("sprintf({}, \"%d\", {} & 7);", self.shared_text(*text), self.operand(value))
            }
        };
        self.line(&line);
    }

    fn shared_text(&mut self, number: u8) -> String {
        self.globals.insert(Global::Text(number));
        format!("b{number}")
    }

    /// Sequentially consistent without an order.
    fn atomic(&mut self, order: Option<Order>, operation: &Atomic) {
        // The numbers of the orders in gcc and clang: 0 relaxed, 2 acquire, 3 release, 4 both, 5 sequentially consistent.
        let number = |acquire_release| match order {
            None => 5,
            Some(Order::Relaxed) => 0,
            Some(Order::AcquireRelease) => acquire_release,
        };
        let (load, store, both) = (number(2), number(3), number(4));
        let weak = u8::from(order.is_some());
        let line = match operation {
            Atomic::Load { scalar, local } => {
                format!("{} = __atomic_load_n(&{}, {load});", self.local(*local), self.use_scalar(*scalar))
            }
            Atomic::Store { scalar, value } => {
                format!("__atomic_store_n(&{}, {}, {store});", self.use_scalar(*scalar), self.expr(value))
            }
            Atomic::FetchAdd { scalar, value, local } => {
                let (local, scalar) = (self.local(*local), self.use_scalar(*scalar));
                format!("{local} = __atomic_fetch_add(&{scalar}, {}, {both});", self.expr(value))
            }
            Atomic::Exchange { scalar, value, local } => {
                let (local, scalar) = (self.local(*local), self.use_scalar(*scalar));
                format!("{local} = __atomic_exchange_n(&{scalar}, {}, {both});", self.expr(value))
            }
            Atomic::CompareExchange { scalar, expected, desired, local } => {
                let (local, name, desired) = (self.local(*local), self.use_scalar(*scalar), self.expr(desired));
                let ty = type_name(self.scalar(*scalar).ty);
                format!(
                    "{{ {ty} old = {expected}; {local} = __atomic_compare_exchange_n(&{name}, &old, {desired}, {weak}, {both}, {load}); }}"
                )
            }
            Atomic::Fence => format!("__atomic_thread_fence({both});"),
        };
        self.line(&line);
    }

    fn semaphore(&mut self, function: &str, number: u8, local: Option<u8>) {
        self.globals.insert(Global::Semaphore(number));
        let result = local.map_or(String::new(), |local| format!("{} = ", self.local(local)));
        self.line(&format!("{result}{function}(&sem{number});"));
    }

    fn section(&mut self, body: &[Statement]) {
        self.line("__VERIFIER_atomic_begin();");
        let loops = std::mem::take(&mut self.loops);
        self.sections += 1;
        self.block(body);
        self.sections -= 1;
        self.loops = loops;
        self.line("__VERIFIER_atomic_end();");
    }

    fn waiting(&mut self, waiting: &Await) {
        match waiting {
            Await::NonZero { scalar, yields } => {
                let body = if *yields { " sched_yield();" } else { ";" };
                let line = format!("while (!__atomic_load_n(&{}, 5)){body}", self.use_scalar(*scalar));
                self.line(&line);
            }
            Await::SpinLock(body) => {
                self.globals.insert(Global::SpinLock);
                self.line("while (__atomic_exchange_n(&spin, 1, 5));");
                self.block(body);
                self.line("__atomic_store_n(&spin, 0, 5);");
            }
            Await::Polled { mutex, scalar } => {
                self.globals.insert(Global::Mutex(*mutex));
                let scalar = self.use_scalar(*scalar);
                self.open("for (int done = 0; !done;)");
                self.line(&format!("pthread_mutex_lock(&m{mutex});"));
                self.line(&format!("done = {scalar} != 0;"));
                self.line(&format!("pthread_mutex_unlock(&m{mutex});"));
                self.close();
            }
        }
    }

    fn call(&mut self, function: usize, argument: &Expr, pair: u8, address: Option<u8>, local: u8) {
        let Some(callee) = self.program.functions.get(function) else { return };
        let mut arguments = if callee.takes_pair {
            self.globals.insert(Global::Pair(pair));
            format!("s{pair}")
        } else {
            self.expr(argument)
        };
        if callee.takes_address {
            let address = match address {
                Some(number) => format!("&{}", self.local(number)),
                None if self.takes_address => "w".to_string(),
                None => format!("&{}", self.use_scalar(0)),
            };
            arguments = format!("{arguments}, {address}");
        }
        let line = format!("{} = f{function}({arguments});", self.local(local));
        self.line(&line);
    }

    fn fork(&mut self, children: &[Child], times: u8, between: &[Statement]) {
        if children.is_empty() {
            return self.block(between);
        }
        let count = children.len();
        let needs_handles = children.iter().any(|child| !matches!(child.fate, Fate::Kept(_)));
        self.open("");
        if needs_handles {
            self.line(&format!("pthread_t h[{}];", count * usize::from(times.max(1))));
        }
        self.for_each_child(children, times, |printer, child, handle| {
            let handle = match child.fate {
                Fate::Kept(n) => {
                    printer.globals.insert(Global::Kept(n));
                    format!("kept{n}")
                }
                _ => format!("h[{handle}]"),
            };
            let argument = printer.argument(child.argument, times);
            Some(format!("pthread_create(&{handle}, 0, t{}, {argument});", child.thread))
        });
        self.block(between);
        self.for_each_child(children, times, |_, child, handle| match child.fate {
            Fate::Joined => Some(format!("pthread_join(h[{handle}], 0);")),
            Fate::Detached => Some(format!("pthread_detach(h[{handle}]);")),
            Fate::Left | Fate::Kept(_) => None,
        });
        self.close();
    }

    /// One line for each child, in a loop if there is one; `print` gets the number of the handle.
    fn for_each_child(
        &mut self,
        children: &[Child],
        times: u8,
        mut print: impl FnMut(&mut Self, &Child, &str) -> Option<String>,
    ) {
        let mut lines = Vec::new();
        for (number, child) in children.iter().enumerate() {
            let handle = match (times, children.len()) {
                (0 | 1, _) => number.to_string(),
                (_, 1) => "k".to_string(),
                (_, count) => format!("k * {count} + {number}"),
            };
            lines.extend(print(self, child, &handle));
        }
        if lines.is_empty() {
            return;
        }
        if times > 1 {
            self.open(&format!("for (int k = 0; k < {times}; k++)"));
        }
        for line in &lines {
            self.line(line);
        }
        if times > 1 {
            self.close();
        }
    }

    fn argument(&mut self, argument: Argument, times: u8) -> String {
        match argument {
            Argument::Nothing => "0".to_string(),
            Argument::Number(number) => format!("(void *){number}L"),
            Argument::Turn if times > 1 => "(void *)(long)k".to_string(),
            Argument::Turn => "0".to_string(),
            Argument::Shared => format!("&{}", self.use_scalar(0)),
            Argument::Local(local) => format!("&{}", self.local(local)),
        }
    }
}

fn field(second: bool) -> &'static str {
    if second { "second" } else { "first" }
}

fn type_name(ty: IntType) -> &'static str {
    match ty {
        IntType::Int => "int",
        IntType::Unsigned => "unsigned",
        IntType::SignedChar => "signed char",
        IntType::UnsignedChar => "unsigned char",
        IntType::Short => "short",
        IntType::UnsignedShort => "unsigned short",
        IntType::Long => "long",
    }
}

fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::And => "&",
        Binary::Xor => "^",
        Binary::ShiftLeft => "<<",
        Binary::Equal => "==",
        Binary::Unequal => "!=",
        Binary::Less => "<",
        Binary::AndThen => "&&",
    }
}
