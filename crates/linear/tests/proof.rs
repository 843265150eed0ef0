//! Proofs of linearizability for any number of threads: correct data structures are proved, broken ones never.

use leno_c::driver::{Input, Options, compile, signatures};
use leno_linear::proof::memory::Memory;
use leno_linear::proof::observer::Observer;
use leno_linear::proof::{NoProof, Proof, Question, prove};
use leno_linear::{OperationNames, Operations};
use std::path::Path;

struct Structure {
    file: &'static str,
    spec: &'static str,
    init: Option<&'static str>,
    memory: Option<Memory>,
    flags: Vec<&'static str>,
}

fn structure(file: &'static str, spec: &'static str) -> Structure {
    Structure { file, spec, init: None, memory: None, flags: Vec::new() }
}

impl Structure {
    fn init(self, init: &'static str) -> Structure {
        Structure { init: Some(init), ..self }
    }

    fn manual(self) -> Structure {
        Structure { memory: Some(Memory::Manual), ..self }
    }

    fn with(mut self, flag: &'static str) -> Structure {
        self.flags.push(flag);
        self
    }

    fn prove(&self) -> Result<Proof, NoProof> {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/structures").join(format!("{}.c", self.file));
        let mut options = Options::default();
        options.preprocess.flags.extend(self.flags.iter().map(|flag| format!("-D{flag}")));
        let observer = Observer::named(self.spec).expect("a specification");
        let inputs = [Input::File(path)];
        let names = OperationNames {
            operations: vec![observer.insert.clone(), observer.remove.clone()],
            initialisation: self.init.map(str::to_string),
            ..OperationNames::default()
        };
        let operations =
            Operations::new(&signatures(&inputs, &options).expect("signatures"), &names).expect("operations");
        let program = compile(&inputs, &options).expect("a program").program;
        let question = Question {
            program: &program,
            operations: &operations,
            observer: &observer,
            memory: self.memory,
            most_views: 60_000,
        };
        prove(&question, &|| true)
    }

    #[track_caller]
    fn is_proved(&self) -> Proof {
        match self.prove() {
            Ok(proof) => {
                eprintln!(
                    "{} {:?}: {} views, {} mimicked, {:?}",
                    self.file, self.flags, proof.views, proof.mimicked, proof.points
                );
                proof
            }
            Err(failed) => {
                panic!("{}: {}\n{}", self.file, failed.reason, failed.view.map_or(String::new(), |view| view.0))
            }
        }
    }

    #[track_caller]
    fn is_not_proved(&self, because: &str) {
        match self.prove() {
            Ok(proof) => panic!("a wrong proof of {} {:?}: {proof:?}", self.file, self.flags),
            Err(failed) => {
                eprintln!("{} {:?}: {} ({} views)", self.file, self.flags, failed.reason, failed.views);
                assert!(failed.reason.contains(because), "{} {:?}: {}", self.file, self.flags, failed.reason);
            }
        }
    }
}

#[test]
fn treibers_stack() {
    structure("treiber", "stack").is_proved();
    structure("treiber", "stack").with("ABA").is_not_proved("say how their memory comes back");
    structure("treiber", "stack").with("LOST").is_not_proved("");
    structure("treiber", "stack").with("ABA").manual().is_not_proved("CHK-MIMIC");
}

#[test]
fn treibers_stack_with_freed_nodes() {
    let stack = || structure("treiber_tagged", "stack").manual();
    stack().is_proved();
    for mistake in ["NO_VERSION", "EARLY_FREE", "WRONG_VALUE", "NO_CHECK"] {
        stack().with(mistake).is_not_proved("");
    }
}

#[test]
fn one_lock() {
    structure("coarse_stack", "stack").is_proved();
    structure("coarse_stack", "stack").with("FREE").manual().is_proved();
    structure("coarse_stack", "stack").with("UNLOCKED").is_not_proved("without the lock");
    let queue = || structure("coarse_queue", "queue").init("queue_init");
    queue().is_proved();
    queue().with("FREE").manual().is_proved();
    queue().with("LIFO").is_not_proved("");
}

/// (The proof of the correct one takes too long for a test.)
#[test]
fn mistakes_in_the_queue_of_michael_and_scott_with_freed_nodes() {
    for mistake in ["NO_VERSION", "NO_CHECK", "LATE_VALUE", "FREE_NEXT"] {
        structure("ms_queue_tagged", "queue").init("queue_init").manual().with(mistake).is_not_proved("");
    }
}

#[test]
fn the_queue_of_michael_and_scott() {
    let queue = || structure("ms_queue", "queue").init("queue_init");
    queue().is_proved();
    for mistake in ["BLIND_LINK", "EARLY_HEAD", "VALUE_OF_HEAD"] {
        queue().with(mistake).is_not_proved("");
    }
    queue().with("DGLM").is_proved();
    queue().with("DGLM").with("VALUE_OF_HEAD").is_not_proved("");
}
