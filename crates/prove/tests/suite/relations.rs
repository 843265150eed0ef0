//! What relations between variables, phases, and steps that another thread watches are good for: each with a twin that does not hold.

use crate::programs::{MAIN, not_proved, proved};

fn thread(globals: &str, body: &str) -> String {
    format!("{globals} void *thread(void *a) {{ {body} return 0; }} {MAIN}")
}

#[test]
fn a_counter_only_grows() {
    let count = |test: &str, check: &str| {
        thread(
            "unsigned n;",
            &format!(
                "unsigned mine; __VERIFIER_atomic_begin();
                 if ({test}) {{ __VERIFIER_atomic_end(); return 0; }}
                 mine = n; n = mine + 1; __VERIFIER_atomic_end();
                 check({check});"
            ),
        )
    };
    proved(&count("n == 0u - 1", "n > mine"));
    proved(&count("n == 0u - 1", "n >= mine + 1"));
    not_proved(&count("n == 0u - 1", "n == mine + 1"));
    // It wraps around.
    not_proved(&count("0", "n > mine"));
}

#[test]
fn attempts_relate_what_was_read_to_what_is_there() {
    let attempt = |value: &str| {
        thread(
            "int max;",
            &format!(
                "int e = __VERIFIER_nondet_int();
                 for (;;) {{
                     int c = max;
                     if (e <= c) break;
                     if (__sync_bool_compare_and_swap(&max, c, {value})) break;
                 }}
                 check(e <= max);"
            ),
        )
    };
    proved(&attempt("e"));
    not_proved(&attempt("e - 1"));
}

#[test]
fn blocks_that_threads_reserve_are_within_what_there_is() {
    let reserve = |test: &str| {
        format!(
            "int length, next;
             void *thread(void *a) {{
                 int c = 0, end = 0;
                 pthread_mutex_lock(&lock);
                 if ({test}) {{ c = next; next = next + 10; end = next; }}
                 pthread_mutex_unlock(&lock);
                 check(0 <= c && c <= end && end <= length);
                 return 0; }}
             int main(void) {{
                 length = __VERIFIER_nondet_int(); __VERIFIER_assume(length > 0 && length < 1000000);
                 pthread_t t; while (1) pthread_create(&t, 0, thread, 0); }}"
        )
    };
    proved(&reserve("next + 10 <= length"));
    not_proved(&reserve("next + 9 <= length"));
}

#[test]
fn what_was_overwritten_before_a_flag_is_not_seen_behind_it() {
    let pass = |set: &str, test: &str| {
        format!(
            "int data, flag;
             void *reader(void *a) {{ if ({test}) check(data == 42); return 0; }}
             int main(void) {{
                 pthread_t t; while (__VERIFIER_nondet_int()) pthread_create(&t, 0, reader, 0);
                 {set} }}"
        )
    };
    proved(&pass("data = 1; data = 42; flag = 1;", "flag"));
    proved(&pass("data = 1; flag = 1; data = 42; flag = 2;", "flag == 2"));
    not_proved(&pass("data = 1; flag = 1; data = 42;", "flag"));
    not_proved(&pass("data = 42; flag = 1; data = 1;", "flag"));
}

#[test]
fn state_machines_go_their_ways() {
    let machine = |last: &str| {
        format!(
            "int phase, x;
             void *thread(void *a) {{
                 __VERIFIER_atomic_begin();
                 if (phase == 0) {{ x = 10; phase = 1; }}
                 else if (phase == 1) {{ check(x == 10); x = 20; phase = 2; }}
                 else {{ check(x == 20); {last} }}
                 __VERIFIER_atomic_end(); return 0; }} {MAIN}"
        )
    };
    proved(&machine("x = 0; phase = 0;"));
    not_proved(&machine("x = 0; phase = 1;"));
}

#[test]
fn results_are_told_apart() {
    let take = |other: &str| {
        thread(
            "int top;",
            &format!(
                "int ok; __VERIFIER_atomic_begin();
                 if (__VERIFIER_nondet_int()) {{ top = 1; ok = 1; }} else {{ ok = 0; }}
                 __VERIFIER_atomic_end();
                 __VERIFIER_atomic_begin(); check(!ok || top == 1); __VERIFIER_atomic_end(); {other}"
            ),
        )
    };
    proved(&take(""));
    not_proved(&take("top = 0;"));
}

#[test]
fn signed_and_unsigned_numbers_are_not_mixed_up() {
    // -1 is large as an unsigned number.
    let compare = |ty: &str, check: &str| {
        thread(
            &format!("{ty} p, q;"),
            &format!(
                "{ty} x = __VERIFIER_nondet_int(); __VERIFIER_atomic_begin();
                 if (x >= p) {{ p = x; q = x; }} __VERIFIER_atomic_end();
                 __VERIFIER_atomic_begin(); check({check}); __VERIFIER_atomic_end();"
            ),
        )
    };
    proved(&compare("int", "p == q"));
    proved(&compare("unsigned", "p == q"));
    proved(&compare("unsigned", "p >= q"));
    not_proved(&compare("int", "(unsigned)p > (unsigned)q"));
    not_proved(&compare("int", "(unsigned)p >= (unsigned)x"));
    proved(&compare("unsigned", "p >= x"));
}
