//! Small programs: what is proved, and what must not be.

use leno_testing::engine::{ASSERTION, Answer, Engine, RACE, ask};
use leno_testing::program::compile;

pub const HEAD: &str = "
    typedef unsigned long pthread_t;
    typedef struct { char bytes[40]; } pthread_mutex_t;
    int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **);
    int pthread_mutex_lock(pthread_mutex_t *);
    int pthread_mutex_unlock(pthread_mutex_t *);
    void __VERIFIER_atomic_begin(void);
    void __VERIFIER_atomic_end(void);
    void __VERIFIER_assume(int);
    int __VERIFIER_nondet_int(void);
    void reach_error(void);
    void check(int condition) { if (!condition) reach_error(); }
    pthread_mutex_t lock;
";

fn answer(text: &str) -> Answer {
    ask(&compile(&format!("{HEAD}{text}")), Engine::Prove, ASSERTION)
}

#[track_caller]
pub fn proved(text: &str) {
    assert_eq!(answer(text), Answer::Safe);
}

#[track_caller]
pub fn not_proved(text: &str) {
    assert!(matches!(answer(text), Answer::Unknown(_)), "this must not be proved:\n{text}");
}

pub const MAIN: &str =
    "int main(void) { pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, thread, 0); }";

#[test]
fn a_value_behind_a_lock_is_what_the_last_holder_left() {
    let thread = |body: &str| format!("int x; void *thread(void *a) {{ {body} return 0; }} {MAIN}");
    proved(&thread("pthread_mutex_lock(&lock); x = x + 1; check(x == 1); x = x - 1; pthread_mutex_unlock(&lock);"));
    not_proved(&thread("pthread_mutex_lock(&lock); x = x + 1; check(x == 1); pthread_mutex_unlock(&lock);"));
    not_proved(&thread("x = x + 1; check(x == 1); x = x - 1;"));
    // One access without the lock is enough.
    not_proved(&thread(
        "pthread_mutex_lock(&lock); x = 1; check(x == 1); x = 0; pthread_mutex_unlock(&lock); if (x) x = 2;",
    ));
}

#[test]
fn a_thread_that_ends_with_a_lock_has_shown_what_it_did() {
    let text = |value: &str| {
        format!(
            "int x; void *thread(void *a) {{ pthread_mutex_lock(&lock); x = 1; return 0; }}
             int main(void) {{
                 pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); check(x {value}); }}"
        )
    };
    not_proved(&text("== 0"));
    proved(&text("<= 1"));
}

#[test]
fn sections_are_seen_as_a_whole() {
    let thread = |body: &str| format!("int x; void *thread(void *a) {{ {body} return 0; }} {MAIN}");
    proved(&thread("__VERIFIER_atomic_begin(); x = 1; x = 0; __VERIFIER_atomic_end(); check(!x);"));
    not_proved(&thread("x = 1; x = 0; check(!x);"));
    // Where a section waits others see what it has done.
    not_proved(&thread(
        "__VERIFIER_atomic_begin(); x = 1; pthread_mutex_lock(&lock); x = 0; __VERIFIER_atomic_end();
         check(!x); pthread_mutex_unlock(&lock);",
    ));
}

#[test]
fn an_assumption_is_seen_by_other_threads() {
    // The original implementation of paper 002 proves this, which is wrong.
    not_proved(
        "int x; void *other(void *a) { __VERIFIER_atomic_begin(); check(!x); __VERIFIER_atomic_end(); return 0; }
         int main(void) { pthread_t t; pthread_create(&t, 0, other, 0);
             __VERIFIER_atomic_begin(); x = 1; __VERIFIER_assume(x); __VERIFIER_atomic_end(); }",
    );
    // A thread that stops for ever has stored before.
    not_proved(
        "int x; void *other(void *a) { x = 1; __VERIFIER_assume(0); return 0; }
         int main(void) { pthread_t t; pthread_create(&t, 0, other, 0); check(!x); }",
    );
}

#[test]
fn locks_of_our_own_exclude() {
    let text = |take: &str| {
        format!(
            "int held, x;
             void *thread(void *a) {{
                 {take}
                 x = 1; check(x == 1); x = 0; check(x == 0);
                 held = 0; return 0; }} {MAIN}"
        )
    };
    proved(&text("__VERIFIER_atomic_begin(); __VERIFIER_assume(!held); held = 1; __VERIFIER_atomic_end();"));
    not_proved(&text("__VERIFIER_assume(!held); held = 1;"));
    proved(&text("while (__sync_lock_test_and_set(&held, 1)) ;"));
    proved(&text("while (!__sync_bool_compare_and_swap(&held, 0, 1)) ;"));
    not_proved(&text("while (!__sync_bool_compare_and_swap(&held, 0, 0)) ;"));
}

#[test]
fn numbers_wrap_around() {
    let thread = |body: &str| format!("unsigned x; void *thread(void *a) {{ {body} return 0; }} {MAIN}");
    not_proved(&thread("__VERIFIER_atomic_begin(); x++; check(x > 0); __VERIFIER_atomic_end();"));
    proved(&thread("__VERIFIER_atomic_begin(); if (x < 100) x++; check(x <= 100); __VERIFIER_atomic_end();"));
    proved(&thread("__VERIFIER_atomic_begin(); x += 2; check(x % 2 == 0); __VERIFIER_atomic_end();"));
}

#[test]
fn what_is_known_before_threads_start_and_after_they_are_joined() {
    let text = |value: i32| {
        format!(
            "int x; void *thread(void *a) {{ x = 2; return 0; }}
             int main(void) {{
                 pthread_t t; x = 1; check(x == 1); pthread_create(&t, 0, thread, 0); pthread_join(t, 0);
                 x = 3; check(x == {value}); }}"
        )
    };
    proved(&text(3));
    not_proved(&text(2));
}

#[test]
fn pointers_and_helpers_are_followed() {
    let text = |argument: &str| {
        format!(
            "int x, y; void set(int *p) {{ *p = 1; }}
             void *thread(void *a) {{ set(a); check(!x); return 0; }}
             int main(void) {{ pthread_t t; while (1) pthread_create(&t, 0, thread, {argument}); }}"
        )
    };
    proved(&text("&y"));
    not_proved(&text("&x"));
    not_proved(&text("__VERIFIER_nondet_int() ? &x : &y"));
}

#[test]
fn bytes_of_a_cell_change_the_cell() {
    not_proved(
        "int x; void *thread(void *a) { char *p = (char *)&x; p[1] = 1; return 0; }
         int main(void) { pthread_t t; pthread_create(&t, 0, thread, 0); check(!x); }",
    );
    not_proved("int x[4]; int main(void) { int i = __VERIFIER_nondet_int(); x[i & 3] = 1; check(!x[2]); }");
    not_proved("void scan(int *); int x; int main(void) { scan(&x); check(!x); }");
    // A function that is not known may call what it is given.
    not_proved("int x; void f(void) { x = 1; } void call(void (*)(void)); int main(void) { call(f); check(!x); }");
    not_proved("int main(void) { int x; check(!x); }");
}

#[track_caller]
fn free_of_races(text: &str, expected: bool) {
    let answer = ask(&compile(&format!("{HEAD}{text}")), Engine::Prove, RACE);
    assert_eq!(answer == Answer::Safe, expected, "{answer:?}\n{text}");
}

#[test]
fn races_are_excluded_by_locks_order_and_ownership() {
    let thread = |body: &str| format!("int x; int *shared; void *thread(void *a) {{ {body} return 0; }} {MAIN}");
    free_of_races(&thread("pthread_mutex_lock(&lock); x++; pthread_mutex_unlock(&lock);"), true);
    free_of_races(&thread("x++;"), false);
    free_of_races(&thread("__sync_fetch_and_add(&x, 1);"), true);
    free_of_races(&thread("__sync_fetch_and_add(&x, 1); if (x) return 0;"), false);
    // A relaxed flag orders nothing, although no two threads are at `x` at the same time.
    let flag = |order: &str| {
        format!(
            "int x, flag; void *thread(void *a) {{ x = 1; __atomic_store_n(&flag, 1, {order}); return 0; }}
             int main(void) {{
                 pthread_t t; pthread_create(&t, 0, thread, 0); if (__atomic_load_n(&flag, {order})) return x; }}"
        )
    };
    free_of_races(&flag("5"), true);
    free_of_races(&flag("0"), false);
    // What was allocated just now is known to nobody, until it is.
    let own = |then: &str| {
        thread(&format!(
            "int *p = malloc(4); *p = 1; {then} pthread_mutex_lock(&lock); shared = p; if (shared) x = *shared; pthread_mutex_unlock(&lock);"
        ))
    };
    let allocating = |text: String| format!("void *malloc(unsigned long); {text}");
    free_of_races(&allocating(own("")), true);
    free_of_races(&allocating(own("shared = p; *p = 2;")), false);
}

#[test]
fn semaphores_and_once_flags_exclude() {
    let head = "
        typedef struct { char bytes[32]; } sem_t;
        int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_post(sem_t *);
        int pthread_once(int *, void (*)(void));
        sem_t semaphore; int once; int x;
        void routine(void) { x = 1; }";
    let text = |count: u32, body: &str| {
        format!(
            "{head} void *thread(void *a) {{ {body} return 0; }}
             int main(void) {{
                 pthread_t t; sem_init(&semaphore, 0, {count});
                 while (__VERIFIER_nondet_int()) pthread_create(&t, 0, thread, 0); }}"
        )
    };
    let section = "sem_wait(&semaphore); x = 1; check(x == 1); x = 0; check(x == 0); sem_post(&semaphore);";
    proved(&text(1, section));
    free_of_races(&text(1, section), true);
    not_proved(&text(2, section));
    free_of_races(&text(2, section), false);
    free_of_races(&text(1, "pthread_once(&once, routine); if (x) return 0;"), true);
    free_of_races(&text(1, "if (x) return 0; pthread_once(&once, routine);"), false);
}

/// Figure 1 of paper 002, with a bound in place of integers that never overflow.
#[test]
fn producers_and_consumers_of_the_paper() {
    let text = |reset: &str, other: &str| {
        format!(
            "{HEAD} pthread_mutex_t other, third; int counter;
             void add(void) {{
                 __VERIFIER_atomic_begin(); __VERIFIER_assume(counter < 1000); counter++; __VERIFIER_atomic_end(); }}
             void producer(int batch) {{
                 pthread_mutex_lock(&{other}); pthread_mutex_lock(&lock);
                 if (counter > 0) {{
                     add(); pthread_mutex_unlock(&lock); pthread_mutex_unlock(&{other}); return; }}
                 pthread_mutex_unlock(&lock);
                 counter = {reset};
                 while (batch > 0) {{ add(); batch--; }}
                 pthread_mutex_unlock(&{other}); }}
             void second(int batch) {{
                 pthread_mutex_lock(&other); pthread_mutex_lock(&lock); add();
                 pthread_mutex_unlock(&lock); pthread_mutex_unlock(&other); }}
             void consumer(void) {{
                 for (;;) {{ pthread_mutex_lock(&lock); if (counter > 0) break; pthread_mutex_unlock(&lock); }}
                 __VERIFIER_atomic_begin(); counter--; __VERIFIER_atomic_end();
                 check(counter >= 0);
                 pthread_mutex_unlock(&lock); }}"
        )
    };
    let open = |reset: &str, other: &str| {
        let names = ["producer".to_string(), "consumer".to_string(), "second".to_string()];
        let threads = if other == "other" { &names[..2] } else { &names };
        open(&compile(&text(reset, other)), threads).expect("all can be started")
    };
    assert_eq!(ask(&open("0", "other"), Engine::Prove, ASSERTION), Answer::Safe);
    // While a producer is there, nobody else counts up, and no consumer gets past its test.
    assert_eq!(ask(&open("-1", "other"), Engine::Prove, ASSERTION), Answer::Safe);
    // But somebody else who counts up under another lock lets one past.
    assert!(matches!(ask(&open("-1", "third"), Engine::Prove, ASSERTION), Answer::Unknown(_)));
}

#[test]
fn a_library_is_run_by_any_number_of_threads() {
    let library = compile(&format!(
        "{HEAD} int x; void push(int a) {{ pthread_mutex_lock(&lock); if (x < 5) x++; pthread_mutex_unlock(&lock); }}
         void pop(void) {{ pthread_mutex_lock(&lock); if (x > 0) x--; check(x >= 0); pthread_mutex_unlock(&lock); }}
         void follow(int *p) {{ *p = 1; }}"
    ));
    let opened = |names: &[&str]| open(&library, &names.iter().map(ToString::to_string).collect::<Vec<String>>());
    assert_eq!(ask(&opened(&["push", "pop"]).expect("functions"), Engine::Prove, ASSERTION), Answer::Safe);
    assert_eq!(ask(&opened(&["push", "pop", "follow"]).expect("functions"), Engine::Prove, ASSERTION), Answer::Safe);
    assert!(opened(&["nobody"]).is_err());
}

/// The program in which these functions are run by any number of threads.
fn open(program: &leno_ir::program::Program, names: &[String]) -> Result<leno_ir::program::Program, String> {
    let library = leno_prove::Library { entries: names.to_vec(), ..leno_prove::Library::default() };
    leno_prove::open(program, &library).map(|(program, _)| program)
}
