//! Linearizability of small data structures: correct ones, and the same with a mistake.

use leno::{ClientOptions, LinearizeError, LinearizeOptions, Linearized, OperationNames, Options, RunOptions};
use leno_linear::operation::{Argument, Operation, Returned};
use leno_linear::{Call, Client, Harness, History, Include, Operations};
use leno_testing::{Random, Scratch, repository};
use std::path::PathBuf;

struct Structure {
    file: PathBuf,
    options: LinearizeOptions,
}

fn structure(name: &str, operations: &[&str]) -> Structure {
    let names = OperationNames {
        operations: operations.iter().map(|name| name.to_string()).collect(),
        ..OperationNames::default()
    };
    let clients = ClientOptions { threads: 2, calls: 2, values: None, prepared: Vec::new() };
    let options = LinearizeOptions {
        names,
        clients,
        reading: Options::default(),
        timeout: None,
        memory: None,
        replay: Some(leno_replay::ReplayOptions::default()),
        cancel: leno::Cancel::default(),
        nodes: None,
    };
    Structure { file: repository(&format!("tests/structures/{name}.c")), options }
}

impl Structure {
    fn init(mut self, function: &str) -> Structure {
        self.options.names.initialisation = Some(function.to_string());
        self
    }

    fn values(mut self, values: u32) -> Structure {
        self.options.clients.values = Some(values);
        self
    }

    fn with(mut self, definition: &str) -> Structure {
        self.options.reading.preprocess.flags.push(format!("-D{definition}"));
        self
    }

    fn check(&self) -> Linearized {
        leno::linearize(std::slice::from_ref(&self.file), &self.options).expect("it can be read")
    }

    #[track_caller]
    fn holds(&self, expected: usize) {
        match self.check() {
            Linearized::Holds { clients, .. } => assert_eq!(clients, expected),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn is_violated(&self, words: &[&str]) {
        match self.check() {
            Linearized::Violated { report, .. } => {
                for word in words.iter().chain(&["Confirmed on the real program"]) {
                    assert!(report.contains(word), "`{word}` is not in:\n{report}");
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn treibers_stack() {
    let stack = || structure("treiber", &["push", "pop"]);
    stack().holds(13);
    stack().with("LOST").is_violated(&["not linearizable", "|- push(1)", "sequentially:"]);
    stack().with("ABA").is_violated(&["use after free", "The client:\n  thread 1   push(1), pop()"]);
}

/// Correct ones are proved, and what the bounded check breaks never is.
#[test]
fn proofs_for_any_number_of_threads() {
    let prove = |structure: &Structure, spec: &str, memory| {
        let observer = leno::observer(spec).expect("a specification");
        let files = std::slice::from_ref(&structure.file);
        leno::prove_linearizable(files, &structure.options, &observer, memory).expect("it can be read")
    };
    let stack = || structure("treiber", &["push", "pop"]);
    let proof = prove(&stack(), "stack", None).expect("a proof");
    let report = leno::linearizability::report(&proof, std::time::Duration::ZERO);
    assert!(report.starts_with("SAFE: linearizable, for any number of threads and calls"), "{report}");
    for (definition, memory) in [("LOST", None), ("ABA", None), ("ABA", Some(leno::NodesAre::Manual))] {
        let broken = stack().with(definition);
        assert!(matches!(broken.check(), Linearized::Violated { .. }), "{definition}");
        assert!(prove(&broken, "stack", memory).is_err(), "{definition}");
    }
    let queue = || structure("two_lock_queue", &["enqueue", "dequeue"]).init("queue_init");
    assert!(prove(&queue(), "queue", None).is_err());
    assert!(prove(&queue().with("ONE_LOCK_LESS"), "queue", None).is_err());
    assert!(leno::observer("heap").is_err());
}

/// What is freed may be read by others, unless a collector frees it.
#[test]
fn nodes_that_a_collector_frees() {
    let mut stack = structure("treiber_freed", &["push", "pop"]);
    stack.is_violated(&["use after free"]);
    stack.options.nodes = Some(leno::NodesAre::Collected);
    assert!(matches!(stack.check(), Linearized::Holds { .. }), "{:?}", stack.check());
}

#[test]
fn a_queue_with_two_locks() {
    let queue = || structure("two_lock_queue", &["enqueue", "dequeue"]).init("queue_init");
    queue().holds(13);
    queue().with("ONE_LOCK_LESS").is_violated(&["not linearizable", "dequeue() = 1, 1"]);
}

#[test]
fn operations_that_wait() {
    let mut queue = structure("blocking_queue", &["put", "take"]);
    match queue.check() {
        Linearized::Holds { clients, left_out, .. } => assert_eq!((clients, left_out), (3, 10)),
        other => panic!("{other:?}"),
    }
    // A signal that wakes up the wrong thread is lost, although another order of the same calls would not have to wait.
    queue = queue.with("ONE_CONDITION");
    queue.options.clients.threads = 3;
    queue.is_violated(&["deadlock", "The client:\n  thread 1   put(1), put(2)\n  thread 2   put(3), take()"]);
}

#[test]
fn a_set() {
    let set = || structure("set", &["insert", "remove=removed", "contains"]).values(1);
    set().holds(51);
    set().with("CHECK_THEN_ACT").is_violated(&["|- insert(1) = 1", "insert(1) = 1, insert(1) = 0"]);
}

#[test]
fn elements_that_belong_to_users() {
    let operations = ["push=stack_push", "pop=stack_pop", "pushed=stack_pushed"];
    let mut stack = structure("intrusive", &operations).init("stack_new");
    stack.options.clients.calls = 1;
    stack.options.clients.prepared = vec!["push".to_string()];
    stack.holds(6);
    stack.with("TORN").is_violated(&["|- push(#1)", "pushed() = "]);
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let message =
        |structure: &Structure| match leno::linearize(std::slice::from_ref(&structure.file), &structure.options) {
            Err(LinearizeError::Mistake(mistake)) => mistake.to_string(),
            other => panic!("{other:?}"),
        };
    let unknown = message(&structure("treiber", &["pusch"]));
    assert!(unknown.contains("no function `pusch` is defined") && unknown.contains("push, pop"), "{unknown}");
    let mut prepared = structure("treiber", &["push"]);
    prepared.options.clients.prepared = vec!["pop".to_string()];
    assert!(message(&prepared).contains("`pop` is not one of the operations"));
    let mut many = structure("treiber", &["push"]);
    many.options.clients.threads = 9;
    assert!(message(&many).contains("9 threads"));
}

/// All orders of all calls, whatever thread makes them.
fn permutations(calls: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..calls {
        let insert = |order: Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, next);
                longer
            })
        };
        all = all.into_iter().flat_map(insert).collect();
    }
    all
}

/// What a register returns sequentially: `swap(v)` gives the value before.
fn swapped(client: &Client, order: &[usize]) -> Vec<Vec<i64>> {
    let calls: Vec<Call> = client.calls().map(|(_, call)| call).collect();
    let mut results = vec![Vec::new(); calls.len()];
    let mut register = 0;
    for call in order {
        results[*call] = vec![register];
        register = i64::from(calls[*call].value);
    }
    results
}

/// The check that is part of every client, against all permutations of the calls, on histories at random.
#[test]
fn histories_are_judged_as_by_brute_force() {
    let swap = Operation {
        name: "swap".to_string(),
        function: "swap".to_string(),
        arguments: vec![Argument::Number],
        returned: Returned::Integer,
    };
    let operations = Operations { all: vec![swap], structure: None, initialisation: None };
    let folder = Scratch::with(&[("swap.c", "int swap(int value) { return value; }\n")]);
    let include = Include(folder.path("swap.c").display().to_string());
    let (mut random, mut linearizable) = (Random::new(7), 0);
    for shape in [vec![1, 2], vec![2, 2], vec![1, 1, 2], vec![3, 1], vec![2, 2, 1]] {
        let mut value = 0;
        let thread = |calls: &usize| {
            let call = |_| {
                value += 1;
                Call { operation: 0, value }
            };
            (0..*calls).map(call).collect()
        };
        let client = Client { prepared: Vec::new(), threads: shape.iter().map(thread).collect() };
        let orders = client.orders(1000).expect("few orders");
        let explained = orders.iter().map(|order| (order.clone(), swapped(&client, order))).collect();
        let harness = Harness { operations: &operations, client: &client, include: &include };
        let text = harness.concurrent(&explained);
        let (beginning, _) = text.split_once("int main(void)").expect("a main");
        let main = "int main(void) {\n    for (int call = 0; call < LENO_CALLS; call++)\n        \
                    scanf(\"%llu %lld\", &leno_before[call], &leno_results[call][0]);\n    leno_check();\n    return 0;\n}\n";
        let file = folder.write("client.c", format!("{beginning}{main}"));
        let program = leno::compile_file(&file).expect("it can be read").program;
        for _ in 0..200 {
            let history = random_history(&client, &mut random);
            let expected = permutations(client.calls().count())
                .iter()
                .any(|order| history.respects(&client, order) && swapped(&client, order) == history.results);
            assert_eq!(history.is_linearizable(&client, &explained), expected, "{history:?}");
            let mut environment = leno_ir::interp::Captured::new(0);
            environment.input = written(&history).into_bytes();
            let run = leno::run_in(&program, &RunOptions::default(), &mut environment);
            let holds = matches!(run.ending, leno::Ending::Exited(0));
            assert_eq!(holds, expected, "{history:?} {:?}", run.ending);
            linearizable += usize::from(expected);
        }
    }
    assert!((100..900).contains(&linearizable), "{linearizable} of 1000 are linearizable");
}

/// Calls and returns at random times, and the results of an order that is often a possible one.
fn random_history(client: &Client, random: &mut Random) -> History {
    let threads: Vec<usize> = client.calls().map(|(thread, _)| thread).collect();
    let mut finished = vec![0u8; client.threads.len()];
    let mut history = History { before: vec![Vec::new(); threads.len()], results: vec![Vec::new(); threads.len()] };
    let firsts: Vec<usize> =
        (0..client.threads.len()).map(|thread| threads.iter().position(|of| *of == thread).unwrap_or(0)).collect();
    let (mut running, mut moments) = (vec![false; client.threads.len()], Vec::new());
    loop {
        let has_more = |thread: &usize| usize::from(finished[*thread]) < client.threads[*thread].len();
        let able: Vec<usize> = (0..client.threads.len()).filter(has_more).collect();
        if able.is_empty() {
            break;
        }
        let thread = random.pick(&able);
        let call = firsts[thread] + usize::from(finished[thread]);
        match running[thread] {
            false => history.before[call] = finished.clone(),
            true => finished[thread] += 1,
        }
        if running[thread] != random.chance(20) {
            moments.push(call);
        }
        running[thread] = !running[thread];
    }
    let mut order: Vec<usize> = Vec::new();
    for call in moments.into_iter().chain(0..threads.len()) {
        if !order.contains(&call) {
            order.push(call);
        }
    }
    history.results = swapped(client, &order);
    history
}

/// As the program reads it.
fn written(history: &History) -> String {
    let word = |before: &Vec<u8>| {
        before.iter().enumerate().map(|(thread, count)| u64::from(*count) << (8 * thread)).sum::<u64>()
    };
    history
        .before
        .iter()
        .zip(&history.results)
        .map(|(before, results)| format!("{} {}\n", word(before), results[0]))
        .collect()
}
