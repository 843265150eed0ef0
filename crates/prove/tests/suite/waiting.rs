//! Races and deadlocks that depend on who waits for whom, and on who holds which lock.

use leno_testing::engine::{Answer, DEADLOCK, Engine, RACE, ask};
use leno_testing::program::compile;

const HEAD: &str = "
    typedef unsigned long pthread_t;
    typedef struct { char bytes[40]; } pthread_mutex_t;
    typedef struct { long bytes[6]; } pthread_cond_t;
    typedef struct { long bytes[4]; } sem_t;
    typedef int pthread_once_t;
    int pthread_create(pthread_t *, void *, void *(*)(void *), void *);
    int pthread_join(pthread_t, void **);
    pthread_t pthread_self(void);
    void pthread_exit(void *);
    int pthread_mutex_lock(pthread_mutex_t *);
    int pthread_mutex_trylock(pthread_mutex_t *);
    int pthread_mutex_unlock(pthread_mutex_t *);
    int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
    int pthread_cond_signal(pthread_cond_t *);
    int pthread_once(pthread_once_t *, void (*)(void));
    int sem_wait(sem_t *);
    int __VERIFIER_nondet_int(void);
    pthread_mutex_t m, n, gate;
    pthread_t a, b, c;
    int x;
";

fn answer(text: &str, property: leno::Properties) -> Answer {
    ask(&compile(&format!("{HEAD}{text}")), Engine::Prove, property)
}

#[track_caller]
fn race_free(text: &str) {
    assert_eq!(answer(text, RACE), Answer::Safe);
}

#[track_caller]
fn may_race(text: &str) {
    assert!(matches!(answer(text, RACE), Answer::Unknown(_)), "this may race:\n{text}");
}

#[track_caller]
fn never_stuck(text: &str) {
    assert_eq!(answer(text, DEADLOCK), Answer::Safe);
}

#[track_caller]
fn may_be_stuck(text: &str) {
    assert!(matches!(answer(text, DEADLOCK), Answer::Unknown(_)), "threads may wait for ever:\n{text}");
}

#[test]
fn a_lock_that_is_held_from_creation_to_join_protects_the_thread() {
    let text = |unlock_before: &str, unlock_after: &str| {
        format!(
            "void *locks(void *p) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
             void *child(void *p) {{ x++; return 0; }}
             int main(void) {{
                 pthread_create(&a, 0, locks, 0);
                 pthread_mutex_lock(&m); pthread_create(&b, 0, child, 0); {unlock_before}
                 pthread_join(b, 0); {unlock_after} pthread_join(a, 0); }}"
        )
    };
    let unlock = "pthread_mutex_unlock(&m);";
    race_free(&text("", unlock));
    may_race(&text(unlock, ""));
    // The thread that holds the lock is not kept out by it.
    may_race(
        "void *child(void *p) { x++; return 0; }
         int main(void) { pthread_mutex_lock(&m); pthread_create(&a, 0, child, 0); x++; pthread_join(a, 0); pthread_mutex_unlock(&m); }",
    );
    // Two threads for which the same thread holds it are not kept apart.
    may_race(
        "void *child(void *p) { x++; return 0; }
         int main(void) { pthread_mutex_lock(&m); pthread_create(&a, 0, child, 0); pthread_create(&b, 0, child, 0);
             pthread_join(a, 0); pthread_join(b, 0); pthread_mutex_unlock(&m); }",
    );
}

#[test]
fn who_has_joined_a_thread_comes_after_it() {
    let text = |join: &str| {
        format!(
            "void *first(void *p) {{ x++; return 0; }}
             void *second(void *p) {{ {join} x++; return 0; }}
             int main(void) {{ pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0); pthread_join(b, 0); }}"
        )
    };
    race_free(&text("pthread_join(a, 0);"));
    may_race(&text("if (__VERIFIER_nondet_int()) pthread_join(a, 0);"));
    may_race(&text(""));
    let main_ends = |join: &str| {
        format!(
            "void *other(void *p) {{ {join} x++; return 0; }}
             int main(void) {{ c = pthread_self(); pthread_create(&a, 0, other, 0); x++; pthread_exit(0); }}"
        )
    };
    race_free(&main_ends("pthread_join(c, 0);"));
    may_race(&main_ends(""));
}

#[test]
fn a_register_that_points_to_one_thing_after_another() {
    let text = |second: &str| {
        format!(
            "int y; int *p = &x, *q = &y;
             void *other(void *v) {{
                 pthread_mutex_lock(&m); *p = 1; pthread_mutex_unlock(&m);
                 pthread_mutex_lock(&n); *q = 1; pthread_mutex_unlock(&n); return 0; }}
             int main(void) {{ int *r; pthread_create(&a, 0, other, 0);
                 r = p; pthread_mutex_lock(&m); *r = 2; pthread_mutex_unlock(&m);
                 r = q; pthread_mutex_lock(&{second}); *r = 2; pthread_mutex_unlock(&{second}); }}"
        )
    };
    race_free(&text("n"));
    may_race(&text("m"));
}

#[test]
fn unknown_functions_may_run_what_they_are_given() {
    let text = |lock: &str, unlock: &str| {
        format!(
            "void give(void (*)(void));
             void callback(void) {{ {lock} x++; {unlock} }}
             int main(void) {{ give(callback); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }}"
        )
    };
    race_free(&text("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"));
    may_race(&text("", ""));
    // It may be called with the lock held, and give it up.
    may_race(&text("", "pthread_mutex_unlock(&m);"));
    may_race(
        "void take(int *); void *other(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_create(&a, 0, other, 0); take(&x); }",
    );
}

const MAIN: &str = "int main(void) { pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);
    pthread_join(a, 0); pthread_join(b, 0); }";

#[test]
fn locks_are_taken_in_one_order() {
    let both = |one: &str, other: &str| {
        format!(
            "pthread_mutex_lock(&{one}); pthread_mutex_lock(&{other}); x++; pthread_mutex_unlock(&{other}); pthread_mutex_unlock(&{one});"
        )
    };
    let text = |first: &str, second: &str| {
        format!("void *first(void *p) {{ {first} return 0; }} void *second(void *p) {{ {second} return 0; }} {MAIN}")
    };
    never_stuck(&text(&both("m", "n"), &both("m", "n")));
    may_be_stuck(&text(&both("m", "n"), &both("n", "m")));
    let guarded = |body: &str| format!("pthread_mutex_lock(&gate); {body} pthread_mutex_unlock(&gate);");
    never_stuck(&text(&guarded(&both("m", "n")), &guarded(&both("n", "m"))));
    may_be_stuck(&text(&guarded(&both("m", "n")), &both("n", "m")));
    never_stuck(
        "void *first(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }
         void *second(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
         int main(void) { pthread_create(&a, 0, first, 0); pthread_join(a, 0); pthread_create(&b, 0, second, 0); pthread_join(b, 0); }",
    );
}

#[test]
fn a_thread_does_not_wait_for_itself() {
    let text = |body: &str| {
        format!(
            "void *first(void *p) {{ {body} return 0; }} int main(void) {{ pthread_create(&a, 0, first, 0); pthread_join(a, 0); }}"
        )
    };
    never_stuck(&text(
        "pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
    ));
    may_be_stuck(&text("pthread_mutex_lock(&m); pthread_mutex_lock(&m);"));
    may_be_stuck(&text(
        "if (__VERIFIER_nondet_int()) pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
    ));
    // Nobody gets what a thread has taken with it.
    may_be_stuck(&text("pthread_mutex_lock(&m);"));
    may_be_stuck(&text("pthread_join(a, 0);"));
    never_stuck(&text("if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); }"));
    may_be_stuck(&text(
        "if (pthread_mutex_trylock(&m) == 0) { x++; } pthread_mutex_lock(&m); pthread_mutex_unlock(&m);",
    ));
    never_stuck(&text("int r; do { r = pthread_mutex_trylock(&m); } while (r); pthread_mutex_unlock(&m);"));
}

#[test]
fn a_join_under_a_lock_waits_for_who_wants_it() {
    let text = |before: &str, after: &str| {
        format!(
            "void *first(void *p) {{ pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; }}
             int main(void) {{ pthread_create(&a, 0, first, 0);
                 pthread_mutex_lock(&m); {before} pthread_mutex_unlock(&m); {after} }}"
        )
    };
    let join = "pthread_join(a, 0);";
    never_stuck(&text("", join));
    may_be_stuck(&text(join, ""));
}

#[test]
fn locks_through_functions() {
    let text = |order: &str| {
        format!(
            "void take_both(void) {{ pthread_mutex_lock(&m); pthread_mutex_lock(&n); }}
             void give_both(void) {{ pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); }}
             void *first(void *p) {{ take_both(); x++; give_both(); return 0; }}
             void *second(void *p) {{ {order} return 0; }} {MAIN}"
        )
    };
    never_stuck(&text("take_both(); give_both(); take_both(); give_both();"));
    may_be_stuck(&text("pthread_mutex_lock(&n); pthread_mutex_lock(&m); give_both();"));
    may_be_stuck(&text("take_both(); take_both();"));
    may_be_stuck(&text("take_both();"));
}

#[test]
fn waits_that_nobody_may_end_are_not_proved() {
    let text = |body: &str| {
        format!(
            "pthread_cond_t v; sem_t s; void *first(void *p) {{ {body} return 0; }} int main(void) {{ pthread_create(&a, 0, first, 0); pthread_join(a, 0); }}"
        )
    };
    may_be_stuck(&text("pthread_mutex_lock(&m); pthread_cond_wait(&v, &m); pthread_mutex_unlock(&m);"));
    may_be_stuck(&text("sem_wait(&s);"));
    never_stuck(&text("pthread_cond_signal(&v);"));
}

#[test]
fn a_routine_that_is_run_once() {
    let text = |routine: &str, locked: &str| {
        format!(
            "pthread_once_t o; void routine(void) {{ {routine} }}
             void *first(void *p) {{ {locked} pthread_once(&o, routine); pthread_mutex_unlock(&m); return 0; }}
             void *second(void *p) {{ pthread_once(&o, routine); return 0; }} {MAIN}"
        )
    };
    let lock = "pthread_mutex_lock(&m);";
    // (Who waits for the end of the routine is not told apart from who runs it.)
    may_be_stuck(&text("x++;", lock));
    may_be_stuck(&text("pthread_mutex_lock(&m); pthread_mutex_unlock(&m);", lock));
}

#[test]
fn a_failed_attempt_does_not_give_up_what_a_function_has_taken() {
    let text = |before: &str| {
        format!(
            "void take(void) {{ pthread_mutex_lock(&m); }}
             void *first(void *p) {{ {before} if (pthread_mutex_trylock(&m)) return 0; pthread_mutex_unlock(&m); return 0; }}
             int main(void) {{ pthread_create(&a, 0, first, 0); pthread_join(a, 0); }}"
        )
    };
    never_stuck(&text(""));
    may_be_stuck(&text("take();"));
}
