//! How fast is it? Figures, not impressions.

use crate::threeway::{Leno, Scratch};
use leno_c::driver::{Input, Options, compile};
use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A report with the throughput of the front end and the time that a small program takes.
pub fn measure(leno: &Leno) -> Result<String, String> {
    let mut report = String::new();
    let text = large_program(10 << 20);
    let megabytes = text.len() as f64 / f64::from(1 << 20);
    let input = Input::Preprocessed { name: "large.c".to_string(), text: text.into_bytes() };
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let compiled = compile(std::slice::from_ref(&input), &Options::default());
        let elapsed = start.elapsed();
        compiled.map_err(|failure| format!("the large program is refused: {failure}"))?;
        best = best.min(elapsed);
    }
    let seconds = best.as_secs_f64();
    let _ = writeln!(report, "front end: {megabytes:.1} MB in {seconds:.3} s = {:.1} MB/s", megabytes / seconds);
    let scratch = Scratch::new("speed");
    let file = scratch.path("small.c");
    fs::write(&file, SMALL_PROGRAM).map_err(|error| error.to_string())?;
    let preprocess = fastest(20, || Command::new("cc").arg("-E").arg(&file).stdout(Stdio::null()).status().is_ok());
    let dump = fastest(20, || {
        Command::new(&leno.binary).args(["dump", "--ir"]).arg(&file).stdout(Stdio::null()).status().is_ok()
    });
    let beyond = dump.saturating_sub(preprocess).as_secs_f64() * 1000.0;
    let _ = writeln!(
        report,
        "start-up: `leno dump --ir` on {} lines: {:.1} ms, of which `cc -E` {:.1} ms; beyond it {beyond:.1} ms",
        SMALL_PROGRAM.lines().count(),
        dump.as_secs_f64() * 1000.0,
        preprocess.as_secs_f64() * 1000.0
    );
    Ok(report)
}

fn fastest(times: u32, mut work: impl FnMut() -> bool) -> Duration {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..times).map(once).min().unwrap_or_default()
}

/// Text of at least `size` bytes: the same handful of functions, over and over under other names.
pub fn large_program(size: usize) -> String {
    let mut text = String::with_capacity(size + 4096);
    text.push_str(
        "struct list { struct list *next; int key; double weight; };\nextern int table[64];\nint table[64];\n",
    );
    let mut count = 0;
    while text.len() < size {
        text.push_str(&TEMPLATE.replace("NUMBER", &count.to_string()));
        count += 1;
    }
    text.push_str("int main(void) {\n  int total = 0;\n");
    for number in 0..count {
        let _ = writeln!(text, "  total += entry_{number}(total);");
    }
    text.push_str("  return total;\n}\n");
    text
}

const TEMPLATE: &str = r#"
# 1 "part_NUMBER.c"
static int sort_NUMBER(int *values, int count) {
    int swaps = 0;
    for (int i = 0; i < count; i++) {
        for (int j = i + 1; j < count; j++) {
            if (values[j] < values[i]) {
                int other = values[i];
                values[i] = values[j];
                values[j] = other;
                swaps++;
            }
        }
    }
    return swaps;
}
static unsigned hash_NUMBER(const char *text, unsigned long length) {
    unsigned result = 2166136261u;
    while (length-- > 0) {
        result = (result ^ (unsigned char)*text++) * 16777619u;
        result = result << 13 | result >> 19;
    }
    return result;
}
static struct list *search_NUMBER(struct list *head, int key) {
    struct list *found = 0;
    while (head != 0 && !found) {
        if (head->key == key && head->weight > 0.5)
            found = head;
        head = head->next;
    }
    return found;
}
static double weigh_NUMBER(const struct list *list, double factor) {
    double sum = 0;
    for (; list; list = list->next)
        sum += list->weight * factor - (double)(list->key & 7) / 3.0;
    return sum;
}
static int entry_NUMBER(int argument) {
    int values[8] = {5, 3, argument, 1, [6] = 9};
    struct list second = {0, 7, 2.5}, first = {&second, argument, 0.25};
    switch (argument % 5) {
    case 0: values[0] += sort_NUMBER(values, 8); break;
    case 1: case 2: table[argument & 63] ^= (int)hash_NUMBER("text of NUMBER", sizeof "text"); break;
    default: values[1] = search_NUMBER(&first, 7) == &second ? values[2]++ : --values[3];
    }
    do { argument = argument > 0 ? argument - 3 : -argument; } while (argument > 10 && (argument & 1 || argument < 100));
    return values[0] + values[1] * 2 + (int)weigh_NUMBER(&first, 1.5) + table[argument & 63];
}
"#;

/// Thirty lines of threads.
const SMALL_PROGRAM: &str = r#"#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *argument) {
    int rounds = *(int *)argument;
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    int rounds = 10;
    pthread_t first, second;
    pthread_create(&first, NULL, worker, &rounds);
    pthread_create(&second, NULL, worker, &rounds);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter == 2 * rounds);
    printf("%d\n", counter);
    return 0;
}
// thirty
// lines
"#;
