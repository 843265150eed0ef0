//! Random programs of two threads and few steps, of all the kinds that prediction has to know: tries, timed waits,
//! compare-exchange with asserted results, library functions on shared buffers, branches of all shapes, floats.

use leno_testing::Random;

const BEGINNING: &str = r#"#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static int x, y;
static _Atomic int a, b;
static double d;
static char text[8];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int level(void) {
    pthread_mutex_lock(&m);
    int now = x;
    pthread_mutex_unlock(&m);
    return now;
}
static void check(int value) {
    if (value == 2) assert(b != 1);
}
"#;

const STEPS: &[&str] = &[
    // Accesses.
    "x = 1;",
    "y = x;",
    "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m);",
    "b++;",
    // Tries.
    "if (pthread_mutex_trylock(&m) == 0) { x = 2; pthread_mutex_unlock(&m); }",
    "if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m); else b = 1;",
    "{ int r = pthread_mutex_trylock(&n); assert(r == 0); pthread_mutex_unlock(&n); }",
    "pthread_mutex_lock(&n); b = 2; pthread_mutex_unlock(&n);",
    "sem_post(&s);",
    "if (sem_trywait(&s) == 0) b = 3;",
    "{ int r = sem_trywait(&s); assert(r == 0); }",
    // Compare-exchange.
    "{ int e = 0; int ok = atomic_compare_exchange_strong(&a, &e, 1); assert(ok); }",
    "{ int e = 0; if (!atomic_compare_exchange_strong(&a, &e, 2)) b = e; }",
    "a = 1;",
    "{ int old = atomic_exchange(&a, 3); assert(old != 1); }",
    // Library functions.
    "strcpy(text, \"ab\");",
    "snprintf(text, sizeof text, \"%d\", 7);",
    "pthread_mutex_lock(&m); memcpy(text, \"cd\", 3); pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); if (text[0] == 'c') b = 1; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); assert(strlen(text) < 3); pthread_mutex_unlock(&m);",
    // Branches.
    "switch (level()) { case 0: break; case 1: b = 1; break; default: assert(b != 2); }",
    "check(level());",
    "if (level() == 1) { pthread_mutex_lock(&m); x += 2; assert(x != 4); pthread_mutex_unlock(&m); }",
    "{ int i = 0; while (i < level() && i < 2) i++; assert(i < 2); }",
    // Floats.
    "pthread_mutex_lock(&m); d = 1.5; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); if (d > 1.0) b = 2; pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&m); d = x; assert(d < 2.0); pthread_mutex_unlock(&m);",
    // Conditions.
    "pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
    "{ struct timespec t = { 0, 0 }; pthread_mutex_lock(&m); int r = pthread_cond_timedwait(&c, &m, &t); if (r == 0) x = 5; pthread_mutex_unlock(&m); }",
    // Assertions.
    "assert(a + b < 3);",
    "assert(level() != 2);",
];

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut below = |count: usize| random.below(count);
    let mut text = BEGINNING.to_string();
    for thread in 0..2 {
        text.push_str(&format!("static void *t{thread}(void *argument) {{\n"));
        for _ in 0..1 + below(3) {
            text.push_str(&format!("    {}\n", STEPS[below(STEPS.len())]));
        }
        text.push_str("    return argument;\n}\n");
    }
    text.push_str("int main(void) {\n    pthread_t p, q;\n");
    text.push_str(&format!("    sem_init(&s, 0, {});\n", below(2)));
    text.push_str("    pthread_create(&p, 0, t0, 0);\n    pthread_create(&q, 0, t1, 0);\n");
    if below(2) == 0 {
        text.push_str(&format!("    {}\n", STEPS[below(STEPS.len())]));
    }
    text.push_str("    pthread_join(p, 0);\n    pthread_join(q, 0);\n    return 0;\n}\n");
    text
}
