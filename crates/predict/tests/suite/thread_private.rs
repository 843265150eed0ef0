//! What is not recorded is known all the same: programs in which the walk would go wrong if it believed something
//! stale.
//!
//! Every program checks what it computes. Where the walk has other values than the run had, it fails a check that the
//! run passed, or no longer fits its records.

use leno_engine::Properties;
use leno_logic::limits::Limits;
use leno_predict::{Encoding, PredictOptions, Reach, admits_recorded, build, predict_events};
use leno_record::{RecordOptions, Recorder};
use leno_testing::Scratch;
use leno_testing::program::compile_file;
use leno_testing::recorded::run_recorded;
use leno_trace::ThreadIndex;

const HEAD: &str = "
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int common;
static void *worker(void *);
static void enter(int value) { pthread_mutex_lock(&m); common += value; pthread_mutex_unlock(&m); }
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
";

const BODIES: &[(&str, &str)] = &[
    (
        "an_array_of_its_own",
        "static void *worker(void *a) { int own[100]; for (int i = 0; i < 100; i++) own[i] = i * (int)(long)a;
         int sum = 0; for (int i = 0; i < 100; i++) sum += own[i]; assert(sum == 4950 * (int)(long)a); enter(sum); return 0; }",
    ),
    (
        "the_system_writes",
        "static void *worker(void *a) { int pipes[2]; char text[8] = \"aaaa\"; assert(pipe(pipes) == 0);
         assert(write(pipes[1], \"bcd\", 4) == 4); assert(read(pipes[0], text, 4) == 4); assert(text[1] == 'c');
         long number = 7; sscanf(\"12\", \"%ld\", &number); assert(number == 12);
         snprintf(text, sizeof text, \"%d\", 41); assert(text[0] == '4'); enter(text[1]); return 0; }",
    ),
    (
        "one_helper_for_own_and_common_memory",
        "static int shared[4]; static void add(int *to, int value) { *to += value; } static int get(int *from) { return *from; }
         static void *worker(void *a) { int own[4] = {1, 2, 3, 4}; add(own + 1, 5);
         pthread_mutex_lock(&m); add(shared + 1, 5); int now = get(shared + 1); pthread_mutex_unlock(&m);
         assert(own[1] == 7 && get(own + 1) == 7); own[1]++; assert(get(own + 1) == 8); enter(now); return 0; }",
    ),
    (
        "what_was_never_written",
        "static int sum(void) { int own[16]; int total = 0; for (int i = 0; i < 16; i++) if (i % 3 == 0) own[i] = i;
         struct { char c; long l; } one, other; one.c = 1; other = one; for (int i = 0; i < 16; i += 3) total += own[i];
         if (own[1] & 1) enter(1); return total + other.c; }
         static void *worker(void *a) { assert(sum() == 46); char *p = malloc(64); p[3] = 2; if (p[7] == 9) enter(1);
         assert(p[3] == 2); free(p); enter(2); return 0; }",
    ),
    (
        "memory_is_used_again",
        "struct node { struct node *next; int value; };
         static void *worker(void *a) { for (int round = 0; round < 6; round++) { struct node *list = 0; int sum = 0;
         for (int i = 0; i < 10; i++) { struct node *n = malloc(sizeof *n); n->next = list; n->value = i * round; list = n; }
         while (list) { struct node *n = list; sum += n->value; list = n->next; free(n); }
         assert(sum == 45 * round); enter(sum); } return 0; }",
    ),
    (
        "blocks_that_grow_and_are_copied",
        "static void *worker(void *a) { size_t size = 1; char *p = malloc(1); p[0] = 'x';
         for (int i = 0; i < 6; i++) { char *q = realloc(p, size * 3); assert(q); memcpy(q + size, q, size); memmove(q + 2 * size, q, size);
         size *= 3; p = q; } for (size_t i = 0; i < size; i++) assert(p[i] == 'x'); enter((int)size); free(p); return 0; }",
    ),
    (
        "each_thread_has_one",
        "static __thread int mine = 5; static __thread int *to_mine; static void bump(void) { ++*to_mine; }
         static void *worker(void *a) { to_mine = &mine; for (int i = 0; i < 10; i++) bump(); assert(mine == 15); enter(mine); return 0; }",
    ),
    (
        "recursion_over_arrays",
        "static int walk(int depth, const int *up) { int own[3] = {depth, up ? up[0] : 0, up ? up[1] : 0};
         if (depth == 0) return own[1] * 100 + own[2]; int below = walk(depth - 1, own); assert(own[0] == depth); return below; }
         static void *worker(void *a) { assert(walk(5, 0) == 102); enter(walk(3, 0)); return 0; }",
    ),
    (
        "every_width_and_kind",
        "static void *worker(void *a) { struct { char c; short s; int i; long l; float f; double d; long double x; _Bool b; unsigned w : 5; } v, *p = &v;
         memset(p, 0, sizeof *p); p->c = -1; p->s = -2; p->i = -3; p->l = -4; p->f = 1.5f; p->d = 2.5; p->x = 3.5L; p->b = 1; p->w = 21;
         assert(p->c + p->s + p->i + p->l == -10 && p->f + p->d + p->x == 7.5L && p->b && p->w == 21); enter(p->w); return 0; }",
    ),
    (
        "indivisible_steps",
        "static atomic_int ticket; static void *worker(void *a) { _Atomic int own = 3; int was = atomic_fetch_add(&own, 4);
         assert(was == 3 && own == 7); int expected = 7; assert(atomic_compare_exchange_strong(&own, &expected, 9)); assert(own == 9);
         int mine = atomic_fetch_add(&ticket, 1); assert(mine >= 0 && mine < 3); assert(atomic_load(&ticket) > mine); enter(mine); return 0; }",
    ),
    (
        "constants_and_tables",
        "static const int table[5] = {2, 3, 5, 7, 11}; static const char *const names[] = {\"no\", \"yes\"}; static int (*const calls[])(int) = {abs};
         static void *worker(void *a) { int sum = 0; for (int i = 0; i < 5; i++) sum += table[i]; assert(sum == 28 && names[1][2] == 's');
         assert(calls[0](-4) == 4); enter(sum); return 0; }",
    ),
    (
        "others_write_between",
        "static int box[64]; static void *worker(void *a) { for (int i = 0; i < 12; i++) { pthread_mutex_lock(&m);
         int seen = box[i]; box[i] = seen + 1; assert(seen < 3 && box[i] == seen + 1); pthread_mutex_unlock(&m); } return 0; }",
    ),
    (
        "passed_on_in_a_box",
        "static int *boxes[3]; static void *worker(void *a) { int *own = malloc(sizeof *own); *own = 10; assert(*own == 10);
         pthread_mutex_lock(&m); boxes[(long)a] = own; for (int i = 0; i < 3; i++) if (boxes[i]) ++*boxes[i]; pthread_mutex_unlock(&m);
         pthread_mutex_lock(&m); assert(*own >= 11 && *own <= 13); pthread_mutex_unlock(&m); return 0; }",
    ),
    (
        "an_array_of_changing_size",
        "static void *worker(void *a) { for (int n = 1; n < 8; n++) { int own[n]; for (int i = 0; i < n; i++) own[i] = i;
         int sum = 0; for (int i = 0; i < n; i++) sum += own[i]; assert(sum == n * (n - 1) / 2); enter(sum); } return 0; }",
    ),
];

#[test]
fn what_is_not_recorded_is_known_all_the_same() {
    for (name, body) in BODIES {
        let scratch = Scratch::new();
        let program = compile_file(scratch.write(format!("{name}.c"), format!("{HEAD}{body}\n")), &[]);
        let recorder = Recorder::new(&program, RecordOptions::default()).expect("it compiles");
        for _ in 0..3 {
            let (trace, status) = run_recorded(&recorder);
            assert!(status.is_some_and(|status| status.success()), "{name}: {status:?}");
            let mut events = build(&program, &trace, &Limits::default()).expect("there is no limit");
            assert!(events.gaps.is_empty(), "{name}: {:?}", events.gaps);
            assert!(events.threads.iter().all(|(id, thread)| thread.finished || *id == ThreadIndex::MAIN), "{name}");
            assert!(admits_recorded(&mut events, Encoding::Composition), "{name}");
            let properties = Properties { assertion: true, ..Properties::NONE };
            let options = PredictOptions { properties, window: None, ..PredictOptions::default() };
            let prediction = predict_events(&program, &mut events, &options);
            assert_eq!(prediction.reach, Reach::All, "{name}: {:?}", prediction.findings);
        }
    }
}
