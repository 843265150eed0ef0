//! Linearizability within bounds: every small client, under every schedule.
//!
//! For each client that `leno-linear` makes, its calls are made one after the other in every order, by the interpreter, which
//! says what the data structure returns sequentially; then the client with threads is checked like any other program. Its
//! assertion fails where no order explains a history.

use crate::checking::{CheckOptions, EngineChoice, Verdict, check_program, replay_machine};
use crate::execution::{RunOptions, run_in};
use leno_c::driver::{Failure, Input, Options, compile, signatures};
use leno_engine::witness::follow;
use leno_engine::{Cancel, Properties, Task};
use leno_ir::interp::{Captured, Ending, Image, ViolationKind};
use leno_ir::program::Program;
use leno_ir::witness::Witness;
use leno_linear::harness::{Explained, MOST_THREADS};
use leno_linear::history::{explained, may_wait_for_ever, show_call, show_order};
use leno_linear::proof::memory::Memory as NodesAre;
use leno_linear::{Client, ClientOptions, Harness, History, Include, Mistake, OperationNames, Operations, Outcome};
use leno_replay::{ReplayOptions, Replayed};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// More orders than this are not tried one by one.
const MOST_ORDERS: usize = 20_000;

/// An operation that makes more steps than this, all by itself, waits.
const MOST_STEPS: u64 = 200_000;

/// Exploration is quicker than the staged engine on most small clients; it is given so long.
const FIRST_TURN: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct LinearizeOptions {
    pub names: OperationNames,
    pub clients: ClientOptions,
    /// How to read the files.
    pub reading: Options,
    pub timeout: Option<Duration>,
    pub memory: Option<u64>,
    pub replay: Option<ReplayOptions>,
    pub cancel: Cancel,
    /// What becomes of nodes that are freed, if that is not what `free` does.
    pub nodes: Option<NodesAre>,
}

#[derive(Debug)]
pub enum LinearizeError {
    Mistake(Mistake),
    Unreadable(Failure),
    NoFile(std::io::Error),
}

impl From<Mistake> for LinearizeError {
    fn from(mistake: Mistake) -> LinearizeError {
        LinearizeError::Mistake(mistake)
    }
}

impl From<Failure> for LinearizeError {
    fn from(failure: Failure) -> LinearizeError {
        LinearizeError::Unreadable(failure)
    }
}

/// What came of it.
#[derive(Debug)]
pub enum Linearized {
    /// Every history of every client is linearizable.
    Holds { clients: usize, left_out: usize, executions: u64, weak_orders: bool },
    /// A client goes wrong: the report, and the client as C.
    Violated { report: String, client: String },
    /// Some clients have no verdict: why the first one has none.
    Undecided { reason: String, decided: usize, clients: usize },
}

/// What one client comes to.
enum ClientVerdict {
    Linearizable {
        executions: u64,
        weak_orders: bool,
    },
    /// Its calls may wait for ever, one after the other.
    LeftOut,
    Violated {
        report: String,
        text: String,
    },
    Undecided(String),
}

/// Checks the data structure that the first file implements; the others are linked with it.
pub fn linearize(files: &[PathBuf], options: &LinearizeOptions) -> Result<Linearized, LinearizeError> {
    let inputs: Vec<Input> = files.iter().cloned().map(Input::File).collect();
    let operations = Operations::new(&signatures(&inputs[..1], &options.reading)?, &options.names)?;
    check_names(&operations, &options.clients)?;
    let folder = tempfile::Builder::new().prefix("leno-client-").tempdir().map_err(LinearizeError::NoFile)?;
    let include = match options.nodes {
        Some(NodesAre::Manual) => Include(with_memory(POOL, folder.path(), &files[0])?),
        Some(NodesAre::Collected) => Include(with_memory(COLLECTED, folder.path(), &files[0])?),
        None => Include(files[0].display().to_string()),
    };
    let run = Linearizing {
        operations: &operations,
        include: &include,
        others: &inputs[1..],
        options,
        file: folder.path().join("client.c"),
        start: Instant::now(),
    };
    let clients = leno_linear::client::clients(&operations, &options.clients);
    let (mut decided, mut left_out, mut executed, mut is_weak) = (0, 0, 0, false);
    let mut undecided = None;
    for client in &clients {
        match run.check(client)? {
            ClientVerdict::Linearizable { executions, weak_orders } => {
                (decided, executed, is_weak) = (decided + 1, executed + executions, is_weak | weak_orders);
            }
            ClientVerdict::LeftOut => left_out += 1,
            ClientVerdict::Violated { report, text } => return Ok(Linearized::Violated { report, client: text }),
            ClientVerdict::Undecided(reason) => _ = undecided.get_or_insert(reason),
        }
        if run.is_over() {
            let reason = undecided.unwrap_or_else(|| "the time limit was reached".to_string());
            return Ok(Linearized::Undecided { reason, decided, clients: clients.len() });
        }
    }
    Ok(match undecided {
        Some(reason) => Linearized::Undecided { reason, decided, clients: clients.len() },
        None => Linearized::Holds { clients: decided, left_out, executions: executed, weak_orders: is_weak },
    })
}

/// A file that includes the user's, with another `malloc` and `free`.
fn with_memory(memory: &str, folder: &Path, file: &Path) -> Result<String, LinearizeError> {
    let path = folder.join("with_memory.c");
    let text = format!("{memory}#include \"{}\"\n#undef malloc\n#undef free\n", file.display());
    fs::write(&path, text).map_err(LinearizeError::NoFile)?;
    Ok(path.display().to_string())
}

/// A garbage collector frees a node once no thread and no other node has its address: `free` does nothing.
const COLLECTED: &str = r#"
#include <stdlib.h>
static void leno_forget(void *node) { (void)node; }
#define free leno_forget
"#;

/// Nodes that are freed stay what they are until they are given out again, the last one first.
const POOL: &str = r#"
#include <stdlib.h>
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
static void *leno_pool[64];
static int leno_pooled;
static void *leno_allocate(size_t size) {
    void *node = 0;
    __VERIFIER_atomic_begin();
    if (leno_pooled > 0) node = leno_pool[--leno_pooled];
    __VERIFIER_atomic_end();
    return node ? node : calloc(1, size);
}
static void leno_release(void *node) {
    if (!node) return;
    __VERIFIER_atomic_begin();
    if (leno_pooled < 64) leno_pool[leno_pooled++] = node;
    __VERIFIER_atomic_end();
}
#define malloc leno_allocate
#define free leno_release
"#;

fn check_names(operations: &Operations, clients: &ClientOptions) -> Result<(), Mistake> {
    let names: Vec<&str> = operations.all.iter().map(|operation| operation.name.as_str()).collect();
    if let Some(unknown) = clients.prepared.iter().find(|name| !names.contains(&name.as_str())) {
        let message = format!("`{unknown}` is not one of the operations");
        return Err(Mistake { message, help: format!("these are: {}", names.join(", ")) });
    }
    if clients.threads > MOST_THREADS || clients.calls > usize::from(u8::MAX) {
        let message = format!("{} threads with {} calls are too many", clients.threads, clients.calls);
        return Err(Mistake { message, help: format!("at most {MOST_THREADS} threads, and few calls") });
    }
    Ok(())
}

struct Linearizing<'a> {
    operations: &'a Operations,
    include: &'a Include,
    others: &'a [Input],
    options: &'a LinearizeOptions,
    /// Where a client is written down for the compiler.
    file: PathBuf,
    start: Instant,
}

impl Linearizing<'_> {
    fn is_over(&self) -> bool {
        self.options.cancel.requested().is_some() || self.time_left().is_some_and(|left| left.is_zero())
    }

    fn time_left(&self) -> Option<Duration> {
        self.options.timeout.map(|timeout| timeout.saturating_sub(self.start.elapsed()))
    }

    fn compile(&self, text: &str) -> Result<Program, LinearizeError> {
        fs::write(&self.file, text).map_err(LinearizeError::NoFile)?;
        let mut inputs = vec![Input::File(self.file.clone())];
        inputs.extend(self.others.iter().cloned());
        let mut reading = self.options.reading.clone();
        // The user's file is named as seen from here.
        reading.preprocess.flags.extend(["-iquote".to_string(), ".".to_string()]);
        Ok(compile(&inputs, &reading)?.program)
    }

    fn check(&self, client: &Client) -> Result<ClientVerdict, LinearizeError> {
        let harness = Harness { operations: self.operations, client, include: self.include };
        let Some(orders) = client.orders(MOST_ORDERS) else {
            let reason = format!("the calls of a client have more than {MOST_ORDERS} orders");
            return Ok(ClientVerdict::Undecided(reason));
        };
        let sequential = self.compile(&harness.sequential())?;
        let mut outcomes = Vec::new();
        for order in &orders {
            match run_order(&sequential, order) {
                Ok(outcome) => outcomes.push(outcome),
                Err(Problem::Open(reason)) => return Ok(ClientVerdict::Undecided(reason)),
                Err(Problem::Violation(problem)) => {
                    let calls: Vec<_> = client.calls().map(|(_, call)| call).collect();
                    let shown: Vec<String> =
                        order.iter().map(|call| show_call(self.operations, calls[*call], Some(*call), None)).collect();
                    let text = harness.sequential();
                    let report = format!("UNSAFE: calls one after the other go wrong: {}\n{problem}", shown.join(", "));
                    return Ok(ClientVerdict::Violated { report, text });
                }
            }
            if self.is_over() {
                return Ok(ClientVerdict::Undecided("the time limit was reached".to_string()));
            }
        }
        if may_wait_for_ever(client, &outcomes) {
            return Ok(ClientVerdict::LeftOut);
        }
        let explained = explained(&outcomes);
        let text = harness.concurrent(&explained);
        let program = self.compile(&text)?;
        Ok(self.check_concurrent(client, &program, &explained, text))
    }

    fn check_concurrent(
        &self,
        client: &Client,
        program: &Program,
        explained: &Explained,
        text: String,
    ) -> ClientVerdict {
        let properties = Properties { assertion: true, deadlock: true, memory: true, ..Properties::NONE };
        let first = self.time_left().map_or(FIRST_TURN, |left| left.min(FIRST_TURN));
        let mut options = CheckOptions {
            engine: EngineChoice::Explore,
            task: Task::new(properties),
            timeout: Some(first),
            memory: self.options.memory,
            replay: self.options.replay.clone(),
            cancel: self.options.cancel.clone(),
            ..CheckOptions::default()
        };
        let mut checked = check_program(program, &options);
        if matches!(checked.verdict, Verdict::Unknown(_)) && checked.cut_short.is_none() && !self.is_over() {
            (options.engine, options.timeout) = (EngineChoice::Auto, self.time_left());
            checked = check_program(program, &options);
        }
        match &checked.verdict {
            Verdict::Safe => ClientVerdict::Linearizable {
                executions: checked.statistics.count_of("executions"),
                weak_orders: checked.assumptions.iter().any(leno_engine::Assumption::is_sequential_consistency),
            },
            Verdict::Unknown(unknown) => ClientVerdict::Undecided(unknown.reason.to_string()),
            Verdict::Unsafe(witness, replayed) => {
                let report = match history(client, program, witness) {
                    Some(history) => self.report_history(client, &history, explained, replayed.as_ref()),
                    None => format!("{}\n{}", checked.report(program).trim_end(), self.show_client(client)),
                };
                ClientVerdict::Violated { report, text }
            }
        }
    }

    fn show_client(&self, client: &Client) -> String {
        let mut text = String::from("\nThe client:\n");
        if !client.prepared.is_empty() {
            let _ = writeln!(text, "  before     {}", self.show_prepared(client));
        }
        let calls: Vec<(usize, leno_linear::Call)> = client.calls().collect();
        for thread in 0..client.threads.len() {
            let own = calls.iter().enumerate().filter(|(_, (of, _))| *of == thread);
            let shown: Vec<String> =
                own.map(|(number, (_, call))| show_call(self.operations, *call, Some(number), None)).collect();
            let _ = writeln!(text, "  thread {}   {}", thread + 1, shown.join(", "));
        }
        text
    }

    fn show_prepared(&self, client: &Client) -> String {
        let shown = client.prepared.iter().map(|call| show_call(self.operations, *call, None, None));
        shown.collect::<Vec<_>>().join(", ")
    }

    fn report_history(
        &self,
        client: &Client,
        history: &History,
        explained: &Explained,
        replayed: Option<&Replayed>,
    ) -> String {
        let mut text = String::from("UNSAFE: not linearizable\n\nThe history, time from left to right:\n");
        if !client.prepared.is_empty() {
            let _ = writeln!(text, "  before    {}", self.show_prepared(client));
        }
        text.push_str(&history.draw(self.operations, client));
        let possible: Vec<_> = explained.iter().filter(|(order, _)| history.respects(client, order)).collect();
        let orders = if possible.len() == 1 { "order respects" } else { "orders respect" };
        let _ = writeln!(text, "\n{} {orders} what did not overlap; sequentially:", possible.len());
        for (order, results) in possible.iter().take(SHOWN_ORDERS) {
            let _ = writeln!(text, "  {}", show_order(self.operations, client, order, results));
        }
        if possible.len() > SHOWN_ORDERS {
            let _ = writeln!(text, "  … and {} more, none of which gives these results", possible.len() - SHOWN_ORDERS);
        }
        match replayed {
            Some(Replayed::Confirmed { how }) => _ = writeln!(text, "\nConfirmed on the real program: {how}"),
            Some(Replayed::NotConfirmed { why }) => _ = writeln!(text, "\nNot confirmed on the real program: {why}"),
            None => {}
        }
        text
    }
}

const SHOWN_ORDERS: usize = 6;

/// Why calls one after the other have no outcome.
enum Problem {
    /// The report of what goes wrong.
    Violation(String),
    /// What is not known of them.
    Open(String),
}

/// What the calls return in an order.
fn run_order(program: &Program, order: &[usize]) -> Result<Outcome, Problem> {
    let mut captured = Captured::new(0);
    captured.input = order.iter().map(|call| b'a' + *call as u8).collect();
    let run = run_in(program, &RunOptions { max_steps: MOST_STEPS, ..RunOptions::default() }, &mut captured);
    let output = String::from_utf8_lossy(&captured.output).into_owned();
    if run.tainted {
        let reason = "an operation calls a function that is defined nowhere: add the file that defines it";
        return Err(Problem::Open(reason.to_string()));
    }
    match run.ending {
        Ending::Exited(_) | Ending::Deadlock(_) | Ending::StepLimit | Ending::Stopped | Ending::Aborted => {
            let reason = "an operation prints on standard output, where results are read";
            Outcome::parse(order, &output).ok_or_else(|| Problem::Open(reason.to_string()))
        }
        // (Padding that is compared along with a value has any contents, and most often that does not matter.)
        Ending::Violation(violation) if violation.kind == ViolationKind::Uninitialised => Err(Problem::Open(format!(
            "calls one after the other depend on an uninitialised value: {}",
            violation.message
        ))),
        Ending::Violation(_) => Err(Problem::Violation(run.report().unwrap_or_default())),
    }
}

/// The history that a witness of a failed assertion leads to.
fn history(client: &Client, program: &Program, witness: &Witness) -> Option<History> {
    let image = Image::new(program);
    let (follower, _) = follow(witness, &image, &replay_machine()).ok()?;
    History::parse(client, &String::from_utf8_lossy(follower.inputs.output()))
}
