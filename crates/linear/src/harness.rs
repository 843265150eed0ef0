//! The C programs that make the calls of a client.
//!
//! Both begin with the user's own file, so that they can call what is `static` in it. Results become numbers: a pointer is
//! known by the call whose value or element it is, and otherwise by the number that it points to, or by not being null.
//!
//! **Which calls overlap.** One word counts the calls that each thread has finished, eight bits for a thread. A call reads it
//! when it begins and adds to it when it is finished. So call *a* comes before call *b* if and only if *b* has seen that the
//! thread of *a* has finished it. Additions commute, so that exploration has to order only calls and returns, not returns among
//! each other.

use crate::client::{Call, Client};
use crate::operation::{Argument, InitialArgument, Operation, Operations, Returned};
use std::fmt::Write;

/// A word of eight bits for each thread.
pub const MOST_THREADS: usize = 8;

/// Pointers to the elements of calls are known by this number, the one below it, and so on; those of calls that were
/// made before the threads started, by others.
pub const ELEMENT: i64 = -100;
pub const PREPARED_ELEMENT: i64 = -1000;

/// A pointer to something else that is not null.
pub const SOMETHING: i64 = -1;

/// A pointer to a number is known by that number and this.
pub const POINTED_TO: i64 = 1000;

/// The line with which a recorded history begins.
pub const HISTORY: &str = "leno-history";

/// How the user's file is named in an `#include`.
#[derive(Clone, Debug)]
pub struct Include(pub String);

#[derive(Clone, Copy, Debug)]
pub struct Harness<'a> {
    pub operations: &'a Operations,
    pub client: &'a Client,
    pub include: &'a Include,
}

/// Orders of calls, and the results of each call in each of them.
pub type Explained = Vec<ExplainedOrder>;

/// An order of calls, and the results by call.
pub type ExplainedOrder = (Vec<usize>, Vec<Vec<i64>>);

impl Harness<'_> {
    /// Reads an order from standard input, a letter for each call (`a` is the first), makes the calls in that order, and prints
    /// the results of each on a line of its own.
    pub fn sequential(&self) -> String {
        let mut text = self.beginning();
        text.push_str("int main(void) {\n    leno_begin();\n");
        text.push_str(
            "    for (int call = getchar(); call >= 'a'; call = getchar()) {\n        switch (call - 'a') {\n",
        );
        for number in 0..self.client.calls().count() {
            let _ = writeln!(text, "        case {number}: leno_call_{number}(); break;");
        }
        text.push_str("        }\n");
        text.push_str("        for (int at = 0; at < LENO_RESULTS; at++)\n");
        text.push_str("            printf(\"%lld \", leno_results[call - 'a'][at]);\n");
        text.push_str("        printf(\"\\n\");\n    }\n    return 0;\n}\n");
        text
    }

    /// Lets threads make the calls, and asserts that one of these orders explains the results.
    pub fn concurrent(&self, explained: &Explained) -> String {
        let mut text = self.beginning();
        self.add_tables(&mut text, explained);
        text.push_str(CHECK);
        let mut next = 0;
        for (thread, calls) in self.client.threads.iter().enumerate() {
            let _ = writeln!(text, "static void *leno_thread_{thread}(void *unused) {{");
            for _ in calls {
                let _ = writeln!(text, "    leno_before[{next}] = __atomic_load_n(&leno_finished, __ATOMIC_SEQ_CST);");
                let _ = writeln!(text, "    leno_call_{next}();");
                let one = format!("1ULL << {}", 8 * thread);
                let _ = writeln!(text, "    __atomic_fetch_add(&leno_finished, {one}, __ATOMIC_SEQ_CST);");
                next += 1;
            }
            text.push_str("    return unused;\n}\n\n");
        }
        text.push_str("int main(void) {\n    leno_begin();\n");
        let others = 1..self.client.threads.len();
        let _ = writeln!(text, "    pthread_t leno_threads[{}];", self.client.threads.len());
        for thread in others.clone() {
            let _ = writeln!(text, "    pthread_create(&leno_threads[{thread}], 0, leno_thread_{thread}, 0);");
        }
        text.push_str("    leno_thread_0(0);\n");
        for thread in others {
            let _ = writeln!(text, "    pthread_join(leno_threads[{thread}], 0);");
        }
        text.push_str("    leno_check();\n    return 0;\n}\n");
        text
    }

    fn results(&self) -> usize {
        self.client.calls().map(|(_, call)| self.operation(call).results()).max().unwrap_or(0).max(1)
    }

    fn operation(&self, call: Call) -> &Operation {
        &self.operations.all[call.operation]
    }

    /// The user's file, the data structure, and a function for each call.
    fn beginning(&self) -> String {
        let mut text = String::from(
            "#undef NDEBUG\n#include <assert.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n",
        );
        let _ = writeln!(text, "#define main leno_main_of_the_file\n#include \"{}\"\n#undef main\n", self.include.0);
        let calls: Vec<(usize, Call)> = self.client.calls().collect();
        let _ = writeln!(text, "enum {{ LENO_CALLS = {}, LENO_RESULTS = {} }};", calls.len(), self.results());
        text.push_str("static long long leno_results[LENO_CALLS][LENO_RESULTS];\n");
        self.add_values(&mut text);
        self.add_elements(&mut text);
        self.add_structure(&mut text);
        for (number, call) in self.client.prepared.iter().enumerate() {
            self.add_call(&mut text, &format!("prepared_{number}"), None, *call, 0);
        }
        for (number, (thread, call)) in calls.iter().enumerate() {
            self.add_call(&mut text, &number.to_string(), Some(number), *call, *thread);
        }
        text.push_str("static void leno_begin(void) {\n");
        if let Some(init) = &self.operations.initialisation {
            let arguments: Vec<String> = init.arguments.iter().map(|argument| self.initial(argument)).collect();
            let made = if init.makes_structure { "leno_structure = " } else { "" };
            let _ = writeln!(text, "    {made}{}({});", init.function, arguments.join(", "));
        }
        for number in 0..self.client.prepared.len() {
            let _ = writeln!(text, "    leno_call_prepared_{number}();");
        }
        text.push_str("}\n\n");
        text
    }

    /// Objects that values are known by, and a function that says which of them a pointer points to.
    fn add_values(&self, text: &mut String) {
        let values = self.client.calls().map(|(_, call)| call).chain(self.client.prepared.iter().copied());
        let greatest = values.map(|call| call.value).max().unwrap_or(0);
        let _ = writeln!(text, "static int leno_values[{}];", greatest + 1);
        text.push_str("static long long leno_name(const void *pointer) {\n    if (!pointer) return 0;\n");
        let _ = writeln!(text, "    for (int value = 1; value <= {greatest}; value++)");
        let _ =
            writeln!(text, "        if (pointer == &leno_values[value]) return value;\n    return {SOMETHING};\n}}");
    }

    fn makes_structure(&self) -> bool {
        self.operations.initialisation.as_ref().is_some_and(|init| init.makes_structure)
    }

    fn add_structure(&self, text: &mut String) {
        let Some(spelled) = &self.operations.structure else { return };
        match self.makes_structure() {
            true => _ = writeln!(text, "static {spelled} *leno_structure;"),
            false => _ = writeln!(text, "static {spelled} leno_object, *const leno_structure = &leno_object;"),
        }
    }

    fn initial(&self, argument: &InitialArgument) -> String {
        match argument {
            InitialArgument::Structure => "leno_structure".to_string(),
            InitialArgument::Number(number) => number.to_string(),
            InitialArgument::Null => "0".to_string(),
        }
    }

    /// A function that makes a call, and keeps its results.
    fn add_call(&self, text: &mut String, name: &str, number: Option<usize>, call: Call, thread: usize) {
        let operation = self.operation(call);
        let _ = writeln!(text, "static void leno_call_{name}(void) {{");
        let mut words = Vec::new();
        for (at, argument) in operation.arguments.iter().enumerate() {
            words.push(match argument {
                Argument::Structure => "leno_structure".to_string(),
                Argument::Number => call.value.to_string(),
                Argument::Address => format!("&leno_values[{}]", call.value),
                Argument::Element(_) => format!("&leno_element_{name}_{at}"),
                Argument::Thread => thread.to_string(),
                Argument::Result { spelled, .. } => {
                    let _ = writeln!(text, "    {spelled} result_{at} = 0;");
                    format!("&result_{at}")
                }
            });
        }
        let made = format!("{}({})", operation.function, words.join(", "));
        let kept = number.is_some() && operation.returned != Returned::Nothing;
        match kept {
            true => _ = writeln!(text, "    __typeof__({made}) returned = {made};"),
            false => _ = writeln!(text, "    {made};"),
        }
        let Some(number) = number else {
            text.push_str("}\n");
            return;
        };
        let mut results = Vec::new();
        if kept {
            results.push(match operation.returned {
                Returned::Nothing | Returned::Boolean | Returned::Integer => "(long long)returned".to_string(),
                Returned::Float => "(long long)(returned * 1000)".to_string(),
                Returned::Pointer => self.named("returned"),
                Returned::PointerToNumber => {
                    let named = self.named("returned");
                    format!("{named} == {SOMETHING} ? {POINTED_TO} + (long long)*returned : {named}")
                }
            });
        }
        for (at, argument) in operation.arguments.iter().enumerate() {
            if let Argument::Result { is_pointer, .. } = argument {
                let result = format!("result_{at}");
                let written = if *is_pointer { self.named(&result) } else { format!("(long long){result}") };
                results.push(match operation.returned {
                    Returned::Boolean => format!("returned ? {written} : 0"),
                    _ => written,
                });
            }
        }
        for (at, result) in results.iter().enumerate() {
            let _ = writeln!(text, "    leno_results[{number}][{at}] = {result};");
        }
        text.push_str("}\n");
    }

    /// All elements: the name and the type of each, and the number that a pointer to it is known by.
    fn elements(&self) -> Vec<(String, &str, i64)> {
        let prepared = self.client.prepared.iter().enumerate();
        let prepared = prepared.map(|(at, call)| (format!("prepared_{at}"), PREPARED_ELEMENT - at as i64, *call));
        let calls = self.client.calls().enumerate();
        let calls = calls.map(|(at, (_, call))| (at.to_string(), ELEMENT - at as i64, call));
        let mut all = Vec::new();
        for (name, number, call) in prepared.chain(calls) {
            for (at, argument) in self.operation(call).arguments.iter().enumerate() {
                if let Argument::Element(spelled) = argument {
                    all.push((format!("leno_element_{name}_{at}"), spelled.as_str(), number));
                }
            }
        }
        all
    }

    fn add_elements(&self, text: &mut String) {
        for (name, spelled, _) in self.elements() {
            let _ = writeln!(text, "static {spelled} {name};");
        }
    }

    /// The element that a pointer points to, by its number; or what `leno_name` says.
    fn named(&self, pointer: &str) -> String {
        let mut text = String::from("(");
        for (name, _, number) in self.elements() {
            let _ = write!(text, "(const void *){pointer} == &{name} ? {number}LL : ");
        }
        let _ = write!(text, "leno_name((const void *){pointer}))");
        text
    }

    fn add_tables(&self, text: &mut String, explained: &Explained) {
        let threads: Vec<String> = self.client.calls().map(|(thread, _)| thread.to_string()).collect();
        let positions: Vec<String> = self.client.positions().iter().map(usize::to_string).collect();
        let _ = writeln!(text, "static unsigned long long leno_finished, leno_before[LENO_CALLS];");
        let _ = writeln!(text, "static const unsigned char leno_thread_of[] = {{{}}};", threads.join(","));
        let _ = writeln!(text, "static const unsigned char leno_position[] = {{{}}};", positions.join(","));
        let _ = writeln!(text, "enum {{ LENO_ORDERS = {} }};", explained.len());
        let rows = |row: &dyn Fn(&ExplainedOrder) -> String| {
            explained.iter().map(|order| format!("{{{}}}", row(order))).collect::<Vec<_>>().join(",\n    ")
        };
        let orders = rows(&|(order, _)| order.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
        let expected = rows(&|(_, results)| {
            let of = |call: &Vec<i64>| {
                let all: Vec<String> = call.iter().map(|number| format!("{number}LL")).collect();
                format!("{{{}}}", all.join(","))
            };
            results.iter().map(of).collect::<Vec<_>>().join(",")
        });
        // (An array has an element at least.)
        let none = if explained.is_empty() { "+ 1" } else { "" };
        let _ = writeln!(
            text,
            "static const unsigned char leno_orders[LENO_ORDERS{none}][LENO_CALLS] = {{\n    {orders}}};"
        );
        let _ = writeln!(
            text,
            "static const long long leno_expected[LENO_ORDERS{none}][LENO_CALLS][LENO_RESULTS] = {{\n    {expected}}};"
        );
    }
}

/// Looks for an order that explains the results. (What threads share is copied first, so that looking at it is nothing that
/// other threads could notice.)
const CHECK: &str = r#"
static int leno_explains(int order, long long results[LENO_CALLS][LENO_RESULTS], unsigned long long before[LENO_CALLS]) {
    for (int at = 0; at < LENO_CALLS; at++) {
        int call = leno_orders[order][at];
        for (int result = 0; result < LENO_RESULTS; result++)
            if (results[call][result] != leno_expected[order][call][result])
                return 0;
        for (int later = at + 1; later < LENO_CALLS; later++) {
            int other = leno_orders[order][later];
            if (((before[call] >> 8 * leno_thread_of[other]) & 255) > leno_position[other])
                return 0;
        }
    }
    return 1;
}

static void leno_check(void) {
    long long results[LENO_CALLS][LENO_RESULTS];
    unsigned long long before[LENO_CALLS];
    for (int call = 0; call < LENO_CALLS; call++) {
        before[call] = leno_before[call];
        for (int result = 0; result < LENO_RESULTS; result++)
            results[call][result] = leno_results[call][result];
    }
    int is_linearizable = 0;
    for (int order = 0; order < LENO_ORDERS && !is_linearizable; order++)
        is_linearizable = leno_explains(order, results, before);
    if (!is_linearizable) {
        printf("leno-history\n");
        for (int call = 0; call < LENO_CALLS; call++) {
            printf("%llu", before[call]);
            for (int result = 0; result < LENO_RESULTS; result++)
                printf(" %lld", results[call][result]);
            printf("\n");
        }
    }
    assert(is_linearizable);
}

"#;
