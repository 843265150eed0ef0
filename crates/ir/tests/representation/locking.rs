//! Random C programs about what locksets and may-happen-in-parallel have to understand: locks in structures, arrays, on
//! the heap and behind pointers, locked by wrappers, tried, initialised again, destroyed, overwritten; threads that are
//! created in loops, by functions and by threads, and joined one by one, all together, elsewhere, or not at all;
//! barriers.

use std::fmt::Write as _;

use crate::random::Random;

const COMMON: &str = "
struct dev { int n; pthread_mutex_t m; int buf[3]; pthread_rwlock_t rw; pthread_spinlock_t s; };
struct dev d0, devs[3], *heap;
pthread_mutex_t g0, g1, *ptr = &g0;
pthread_rwlock_t r0;
pthread_cond_t c0;
pthread_barrier_t bar;
pthread_t handles[3], one;
int x, y;
static void take(pthread_mutex_t *l) { pthread_mutex_lock(l); }
static void give(pthread_mutex_t *l) { pthread_mutex_unlock(l); }
static int attempt(pthread_mutex_t *l) { return pthread_mutex_trylock(l); }
static int grab(struct dev *d) { if (pthread_mutex_trylock(&d->m) == 0) return 1; return 0; }
static _Bool has(pthread_mutex_t *l) { return !pthread_mutex_trylock(l); }
static void clear(struct dev *d) { memset(d, 0, sizeof *d); }
static void prepare(struct dev *d, int kind) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, kind);
    pthread_mutex_init(&d->m, &a);
}
static void careless(struct dev *d) {
    pthread_mutexattr_t a;
    if (__VERIFIER_nondet_int()) pthread_mutexattr_init(&a);
    pthread_mutex_init(&d->m, &a);
}
static void lock_clear_unlock(struct dev *d, pthread_mutex_t *l) {
    pthread_mutex_lock(l);
    d->n = 0;
    memset(d, 0, 4);
    pthread_mutex_unlock(l);
}
static void join(pthread_t t) { pthread_join(t, 0); }
";

pub fn program(seed: u64) -> String {
    let mut writer = Writer { random: Random(seed ^ 0x10c5), text: COMMON.to_string(), depth: 0, is_main: false };
    let threads = 1 + writer.random.below(3);
    for thread in 0..threads {
        writeln!(writer.text, "static void *t{thread}(void *);").expect("a string");
    }
    let starts = writer.random.one_in(3);
    if starts {
        let to = threads - 1;
        writeln!(
            writer.text,
            "static pthread_t start(void *arg) {{ pthread_t t; pthread_create(&t, 0, t{to}, arg); return t; }}"
        )
        .expect("a string");
    }
    for thread in (0..threads).rev() {
        writeln!(writer.text, "static void *t{thread}(void *arg) {{ struct dev *d = arg; int i = 0, r; (void)d;")
            .expect("a string");
        let count = 1 + writer.random.below(4);
        writer.block(count);
        if thread + 1 < threads && writer.random.one_in(4) {
            writer.threads(thread + 1..threads, false);
        }
        writer.text.push_str("return 0; }\n");
    }
    writer.main(threads, starts);
    writer.text
}

struct Writer {
    random: Random,
    text: String,
    depth: usize,
    is_main: bool,
}

impl Writer {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn mutex(&mut self) -> String {
        let own = if self.is_main { "&own.m" } else { "&d->m" };
        self.random
            .pick(&[
                "&g0",
                "&g0",
                "&g1",
                "&d0.m",
                "&devs[1].m",
                "&devs[2].m",
                "&devs[i].m",
                "ptr",
                "&heap->m",
                own,
                own,
            ])
            .to_string()
    }

    fn device(&mut self) -> String {
        let own = if self.is_main { "&own" } else { "d" };
        self.random.pick(&["&d0", "&devs[1]", "&devs[i]", "heap", own]).to_string()
    }

    fn read_write_lock(&mut self) -> String {
        self.random.pick(&["&r0", "&d0.rw", "&devs[1].rw", "&heap->rw"]).to_string()
    }

    fn block(&mut self, statements: usize) {
        self.depth += 1;
        for _ in 0..statements {
            self.statement();
        }
        self.depth -= 1;
    }

    fn body(&mut self) {
        let count = if self.depth > 3 { 0 } else { self.random.below(3) };
        self.line("x++;");
        self.block(count);
    }

    fn statement(&mut self) {
        let mutex = self.mutex();
        match self.random.below(24) {
            0..=4 => {
                let (lock, unlock) = self.random.pick(&[
                    ("pthread_mutex_lock", "pthread_mutex_unlock"),
                    ("take", "give"),
                    ("take", "pthread_mutex_unlock"),
                    ("pthread_mutex_lock", "give"),
                ]);
                self.line(&format!("{lock}({mutex});"));
                self.body();
                // Once in a while it is not given back, or another one is.
                let given = if self.random.one_in(12) { self.mutex() } else { mutex };
                if !self.random.one_in(15) {
                    self.line(&format!("{unlock}({given});"));
                }
            }
            5..=7 => {
                let device = self.device();
                let (test, mutex) = self.random.pick(&[
                    (format!("if (pthread_mutex_trylock({mutex}) == 0)"), mutex.clone()),
                    (format!("if (!pthread_mutex_trylock({mutex}))"), mutex.clone()),
                    (format!("r = pthread_mutex_trylock({mutex}); if (r == 0)"), mutex.clone()),
                    (format!("r = attempt({mutex}); if (!r)"), mutex.clone()),
                    (format!("if (has({mutex}))"), mutex.clone()),
                    (format!("r = grab({device}); if (r)"), format!("&({device})->m")),
                    (format!("r = pthread_mutex_trylock({mutex}); if (r == 16) y++; else"), mutex.clone()),
                ]);
                self.line(&format!("{test} {{"));
                self.body();
                self.line(&format!("pthread_mutex_unlock({mutex}); }}"));
            }
            8..=9 => {
                let lock = self.read_write_lock();
                let kind = self.random.pick(&["rd", "wr"]);
                self.line(&format!("pthread_rwlock_{kind}lock({lock});"));
                self.body();
                self.line(&format!("pthread_rwlock_unlock({lock});"));
            }
            10 => {
                let lock = self.random.pick(&["&d0.s", "&devs[2].s"]);
                self.line(&format!("pthread_spin_lock({lock});"));
                self.body();
                self.line(&format!("pthread_spin_unlock({lock});"));
            }
            11 => {
                self.line("if (__VERIFIER_nondet_int()) {");
                self.body();
                self.line("} else {");
                self.body();
                self.line("}");
            }
            12 => {
                self.line("for (i = 0; i < 2; i++) {");
                self.body();
                self.line("}");
            }
            13 => {
                let device = self.device();
                self.line(&format!("({device})->buf[i] = 1;"));
            }
            14 => self.line("d0.n = 2; devs[i].n++;"),
            15 => {
                let device = self.device();
                let at = self.random.pick(&["clear", "lock", "prepare", "prepare"]);
                let kind = self.random.below(4);
                match at {
                    "clear" if self.random.one_in(3) => self.line(&format!("clear({device});")),
                    "prepare" if self.random.one_in(4) => self.line(&format!("careless({device});")),
                    "prepare" => self.line(&format!("prepare({device}, {kind});")),
                    _ => self.line(&format!("lock_clear_unlock({device}, {mutex});")),
                }
            }
            16 if self.random.one_in(3) => self.line(&format!("pthread_mutex_destroy({mutex});")),
            17 if self.random.one_in(3) => self.line(&format!("ptr = {mutex};")),
            18 if self.random.one_in(3) => self.line(&format!("pthread_mutex_init({mutex}, 0);")),
            19 if self.random.one_in(4) => {
                self.line(&format!("pthread_mutex_lock({mutex}); pthread_cond_wait(&c0, {mutex});"));
                self.body();
                self.line(&format!("pthread_mutex_unlock({mutex});"));
            }
            20 => self.line("pthread_cond_broadcast(&c0);"),
            21 if self.random.one_in(2) => self.line("pthread_barrier_wait(&bar);"),
            22 if self.random.one_in(6) => self.line(if self.is_main { "pthread_exit(0);" } else { "return 0;" }),
            _ => self.line("x++; y = x;"),
        }
    }

    /// Creates and joins threads.
    fn threads(&mut self, which: std::ops::Range<usize>, starts: bool) {
        let first = which.start;
        let to = first + self.random.below(which.len());
        let argument = if self.is_main { "&own" } else { "d" };
        let argument = self.random.pick(&[argument, "&d0", "&devs[1]", "heap", argument]);
        let between = self.random.below(3);
        match self.random.below(8) {
            0 | 1 => {
                self.line(&format!("{{ pthread_t t; pthread_create(&t, 0, t{to}, {argument});"));
                self.block(between);
                let join = self.random.pick(&["join(t); }", "pthread_join(t, 0); }", "pthread_join(t, 0); }"]);
                self.line(join);
            }
            2 => {
                let bound = self.random.pick(&["2", "3", "n"]);
                self.line("{ int n = __VERIFIER_nondet_int() ? 1 : 2;");
                self.line(&format!("for (i = 0; i < {bound}; i++) pthread_create(&handles[i], 0, t{to}, {argument});"));
                self.block(between);
                let bound = if self.random.one_in(5) { "1" } else { bound };
                self.line(&format!("for (i = 0; i < {bound}; i++) pthread_join(handles[i], 0); }}"));
            }
            3 => {
                self.line(&format!(
                    "for (i = 0; i < 2; i++) {{ pthread_t t; pthread_create(&t, 0, t{to}, {argument});"
                ));
                let join = self.random.pick(&["}", "pthread_join(t, 0); }", "pthread_join(t, 0); }"]);
                self.line(join);
            }
            4 => {
                self.line(&format!("pthread_create(&one, 0, t{to}, {argument});"));
                self.block(between);
                if !self.random.one_in(3) {
                    self.line("pthread_join(one, 0);");
                }
            }
            5 if self.random.flip() => {
                let other = first + self.random.below(which.len());
                self.line(&format!(
                    "{{ pthread_t a, b; pthread_create(&a, 0, t{to}, {argument}); pthread_create(&b, 0, t{other}, {argument});"
                ));
                self.block(between);
                self.line("pthread_join(a, 0);");
                self.block(between);
                self.line("pthread_join(b, 0); }");
            }
            7 if self.random.one_in(2) => {
                // Handles that may not have been set.
                let create = format!("if (__VERIFIER_nondet_int()) pthread_create(&t[i], 0, t{to}, {argument});");
                self.line(&format!("{{ pthread_t t[2]; for (i = 0; i < 2; i++) {create}"));
                self.block(between);
                self.line("for (i = 0; i < 2; i++) pthread_join(t[i], 0); }");
            }
            5 | 6 if self.random.one_in(3) => {
                self.line("{ pthread_t t[2]; int n;");
                self.line(&format!("for (i = 0; i < 2; i++) pthread_create(&t[i], 0, t{to}, {argument});"));
                self.block(between);
                self.line("for (i = 0; i < 2; i++) pthread_join(t[i], 0); devs[n & 1].n = n; }");
            }
            6 if starts => {
                self.line(&format!("{{ pthread_t a = start({argument});"));
                self.block(between);
                self.line("pthread_join(a, 0); }");
            }
            _ => {
                self.line(&format!("{{ pthread_t t; pthread_create(&t, 0, t{to}, {argument}); }}"));
            }
        }
    }

    fn main(&mut self, threads: usize, starts: bool) {
        self.is_main = true;
        self.line("int main(void) { struct dev own; int i = 0, r; (void)r;");
        self.line("heap = calloc(1, sizeof *heap); memset(&own, 0, sizeof own);");
        for device in ["&own", "heap", "&d0", "&devs[1]"] {
            if self.random.one_in(3) {
                let kind = self.random.below(3);
                self.line(&format!("prepare({device}, {kind});"));
            }
        }
        let count = 1 + self.random.below(3);
        self.line(&format!("pthread_barrier_init(&bar, 0, {count});"));
        for _ in 0..1 + self.random.below(2) {
            let count = self.random.below(3);
            self.block(count);
            self.threads(0..threads, starts);
        }
        let count = self.random.below(3);
        self.block(count);
        if self.random.one_in(2) {
            self.line("pthread_mutex_destroy(&g0);");
        }
        self.line("return 0; }");
    }
}
