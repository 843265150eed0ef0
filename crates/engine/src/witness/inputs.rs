//! The inputs of an execution that is led somewhere: each thread gets its values in order, zeros when it asks for more.

use leno_ir::interp::{Captured, Environment, Machine, Source, ThreadId};
use leno_ir::witness::Input;
use std::collections::{BTreeMap, VecDeque};

/// An input that a thread was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given {
    pub thread: ThreadId,
    pub source: Source,
    pub input: Input,
}

/// Gives threads their inputs, and remembers what was given. Input and output of the program stay in memory.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// By name of the thread, as in a witness: what it is still to be given.
    planned: BTreeMap<String, VecDeque<u128>>,
    /// Whether reads of undefined bits and spurious failures are among the planned inputs; otherwise they are zeros.
    plans_all: bool,
    /// By number of the thread.
    names: Vec<String>,
    given: Vec<Given>,
    outside: Captured,
}

impl Inputs {
    /// The inputs of a witness, of all sources.
    pub fn of_witness(inputs: &BTreeMap<String, Vec<Input>>) -> Inputs {
        let planned =
            inputs.iter().map(|(name, inputs)| (name.clone(), inputs.iter().map(|input| input.bits).collect()));
        Inputs { planned: planned.collect(), plans_all: true, ..Inputs::of_instructions() }
    }

    /// What instructions and unknown functions ask for is planned with [`Inputs::plan`]; undefined bits are zeros,
    /// and nothing fails spuriously.
    pub fn of_instructions() -> Inputs {
        Inputs {
            planned: BTreeMap::new(),
            plans_all: false,
            names: vec!["main".to_string()],
            given: Vec::new(),
            outside: Captured::new(0),
        }
    }

    /// The same, with something on the program's standard input.
    pub fn with_standard_input(mut self, input: &[u8]) -> Inputs {
        self.outside.input = input.to_vec();
        self
    }

    /// What a thread is to be given, in order.
    pub fn plan(&mut self, thread: impl Into<String>, values: impl IntoIterator<Item = u128>) {
        self.planned.entry(thread.into()).or_default().extend(values);
    }

    /// Learns the names of threads that have been started.
    pub fn learn_names(&mut self, machine: &Machine<'_>) {
        for thread in machine.threads().ids().skip(self.names.len()) {
            self.names.push(machine.thread_name(thread).to_string());
        }
    }

    /// What the program has written to its standard output.
    pub fn output(&self) -> &[u8] {
        &self.outside.output
    }

    /// What was given, in order.
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// Forgets what was given after the first `count`.
    pub fn forget(&mut self, count: usize) {
        self.given.truncate(count);
    }

    /// What was given, by thread.
    pub fn by_thread(&self) -> BTreeMap<String, Vec<Input>> {
        let mut all: BTreeMap<String, Vec<Input>> = BTreeMap::new();
        for given in &self.given {
            all.entry(self.name(given.thread).to_string()).or_default().push(given.input);
        }
        all
    }

    fn name(&self, thread: ThreadId) -> &str {
        self.names.get(thread.0 as usize).map_or("", String::as_str)
    }
}

impl Environment for Inputs {
    fn outside(&mut self) -> &mut dyn Environment {
        &mut self.outside
    }

    fn nondet(&mut self, thread: ThreadId, width: u16, source: Source) -> u128 {
        let name = self.names.get(thread.0 as usize).map_or("", String::as_str);
        let is_planned = self.plans_all || matches!(source, Source::Instruction | Source::External);
        let planned = self.planned.get_mut(name).filter(|_| is_planned);
        let bits = planned.and_then(VecDeque::pop_front).unwrap_or(0);
        self.given.push(Given { thread, source, input: Input { width, bits } });
        bits
    }
}
