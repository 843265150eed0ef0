//! How fast is it? Figures, not impressions.

use crate::threeway::{Leno, Scratch};
use leno_c::check::check;
use leno_c::driver::{Input, Options, compile};
use leno_c::lower::{LinkUnit, LowerOptions, lower};
use leno_c::parse::parse;
use leno_c::source::Source;
use leno_c::stack::with_big_stack;
use leno_ir::program::DataModel;
use leno_ir::validate::validate;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A report with the throughput of the front end and the time that a small program takes.
pub fn measure(leno: &Leno) -> Result<String, String> {
    let mut report = String::new();
    let text = large_program(10 << 20);
    let megabytes = text.len() as f64 / f64::from(1 << 20);
    for (name, time) in best_of(5, || with_big_stack(|| phases(&text)))? {
        let _ = writeln!(
            report,
            "{name:22} {:6.1} MB/s ({:.3} s)",
            megabytes / time.as_secs_f64().max(1e-6),
            time.as_secs_f64()
        );
    }
    let scratch = Scratch::new();
    let file = scratch.path("small.c");
    fs::write(&file, SMALL_PROGRAM).map_err(|error| error.to_string())?;
    let preprocess = child_cpu(20, || Command::new("cc").arg("-E").arg(&file).stdout(Stdio::null()).status().is_ok());
    let dump = child_cpu(20, || {
        Command::new(&leno.binary).args(["dump", "--ir"]).arg(&file).stdout(Stdio::null()).status().is_ok()
    });
    let beyond = dump.saturating_sub(preprocess).as_secs_f64() * 1000.0;
    let _ = writeln!(
        report,
        "`leno dump --ir` on a program of {} lines: {:.1} ms, of which `cc -E` {:.1} ms: {beyond:.1} ms beyond it",
        SMALL_PROGRAM.lines().count(),
        dump.as_secs_f64() * 1000.0,
        preprocess.as_secs_f64() * 1000.0
    );
    report.push_str("(all figures are processor time: the machine may have other things to do)\n");
    Ok(report)
}

/// The throughput on real programs: from preprocessed text to a valid program.
pub fn measure_files(files: &[PathBuf]) -> Result<String, String> {
    let mut inputs = Vec::new();
    let mut bytes = 0;
    for file in files {
        let text = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        bytes += text.len();
        inputs.push(Input::Preprocessed { name: file.display().to_string(), text });
    }
    let mut best = Duration::MAX;
    let mut taken = 0;
    for _ in 0..5 {
        let mut clock = Clock::new();
        taken =
            inputs.iter().filter(|input| compile(std::slice::from_ref(*input), &Options::default()).is_ok()).count();
        best = best.min(clock.lap());
    }
    let megabytes = bytes as f64 / f64::from(1 << 20);
    let speed = megabytes / best.as_secs_f64().max(1e-6);
    let seconds = best.as_secs_f64();
    Ok(format!("{taken} of {} programs, {megabytes:.1} MB: {speed:.1} MB/s ({seconds:.3} s)\n", files.len()))
}

type Phases = Vec<(&'static str, Duration)>;

/// Each step of the front end by itself, and all of it from text to a valid program.
fn phases(text: &str) -> Result<Phases, String> {
    let input = Input::Preprocessed { name: "large.c".to_string(), text: text.as_bytes().to_vec() };
    let mut source = Source::new("large.c", text.as_bytes().to_vec());
    let mut steps = Vec::new();
    let mut clock = Clock::new();
    let ast = parse(&mut source).map_err(|error| error.message)?;
    steps.push(("parsing", clock.lap()));
    let checked = check(&ast, DataModel::Lp64).map_err(|error| error.message)?;
    steps.push(("checking", clock.lap()));
    let units = [LinkUnit { source: &source, unit: &checked.unit, is_model: false }];
    let (program, _) = lower(&units, &LowerOptions::default()).map_err(|error| error.diagnostic.message)?;
    steps.push(("lowering", clock.lap()));
    validate(&program).map_err(|_| "the program is not valid".to_string())?;
    steps.push(("validating", clock.lap()));
    drop((program, checked, ast));
    clock.lap();
    compile(std::slice::from_ref(&input), &Options::default()).map_err(|failure| failure.to_string())?;
    steps.push(("text to valid program", clock.lap()));
    Ok(steps)
}

/// The shortest times of several attempts, step by step.
fn best_of(times: u32, work: impl Fn() -> Result<Phases, String>) -> Result<Phases, String> {
    let mut best = work()?;
    for _ in 1..times {
        for (best, again) in best.iter_mut().zip(work()?) {
            best.1 = best.1.min(again.1);
        }
    }
    Ok(best)
}

/// Processor time of this process, which works on one thing at a time.
struct Clock(Duration);

impl Clock {
    fn new() -> Clock {
        Clock(cpu_time(Whose::Own))
    }

    fn lap(&mut self) -> Duration {
        let now = cpu_time(Whose::Own);
        now.saturating_sub(std::mem::replace(&mut self.0, now))
    }
}

#[derive(Clone, Copy)]
enum Whose {
    Own,
    /// Of children that have ended.
    Children,
}

/// From `/proc/self/stat`, which counts in hundredths of a second.
fn cpu_time(whose: Whose) -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let skipped = match whose {
        Whose::Own => 11,
        Whose::Children => 13,
    };
    let ticks: u64 =
        fields.split_whitespace().skip(skipped).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// The mean processor time of something, its threads included.
pub(crate) fn own_cpu(times: u32, mut work: impl FnMut()) -> Duration {
    let before = cpu_time(Whose::Own);
    for _ in 0..times {
        work();
    }
    (cpu_time(Whose::Own) - before) / times
}

/// The mean processor time of a child process.
pub(crate) fn child_cpu(times: u32, mut work: impl FnMut() -> bool) -> Duration {
    let before = cpu_time(Whose::Children);
    for _ in 0..times {
        work();
    }
    (cpu_time(Whose::Children) - before) / times
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
