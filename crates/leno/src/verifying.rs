//! Proof files, checked again: the claim of a file, and what `leno-verify` says of it.

use crate::checking::{CheckOptions, Checked, Checking, Verdict};
use leno_engine::{Assumption, Context, Covered, Engine, Outcome, Properties, Reason, Statistics, Task, Unknown};
use leno_ir::analysis::facts::Facts;
use leno_ir::program::Program;
use leno_report::{fingerprint, text};
use leno_verify::claims::without_moves;
use leno_verify::conditions::Failed;
use leno_verify::file::{self, Header, Rejected};

/// The text of a proof, and what it claims.
#[derive(Debug)]
pub struct ProofFile<'t> {
    pub header: &'t Header,
    pub text: &'t str,
}

impl Engine for ProofFile<'_> {
    fn name(&self) -> &'static str {
        "checker of proofs"
    }

    fn check(&self, facts: &Facts<'_>, _: &Task, context: &Context) -> Outcome {
        // (As the prover does before it looks at bounds.)
        let prepared = self.header.asked.bounds.then(|| without_moves(facts.program()));
        let prepared = prepared.as_ref().map(Facts::new);
        let facts = prepared.as_ref().unwrap_or(facts);
        let mut statistics = Statistics::default();
        let (verdict, covered) = match file::check(facts, self.header, self.text, &context.limits) {
            Ok(count) => {
                statistics.count("verification conditions", count.conditions);
                statistics.count("of them for the solver", count.solved);
                let statement = "proved for any number of threads, any schedule and any input";
                (leno_engine::Verdict::Safe, Covered::statement(statement))
            }
            Err(rejected) => {
                let reason = match (&rejected, context.limits.stop()) {
                    (Rejected::Conditions(Failed::Stopped), Some(stop)) => Reason::Limit(stop),
                    (Rejected::Conditions(why), _) => Reason::Because(why.to_string()),
                    (Rejected::File(why), _) => Reason::Because(why.to_string()),
                    (Rejected::Program(why), _) => Reason::Because(why.clone()),
                };
                let advice = "prove it again: leno prove --proof FILE".to_string();
                let unknown = Unknown { reason, advice };
                (leno_engine::Verdict::Unknown(unknown), Covered::statement("the proof was not accepted"))
            }
        };
        Outcome { verdict, covered, assumptions: Vec::new(), statistics }
    }
}

/// Checks a proof of a program. The verdict is SAFE, for what the file claims, or that there is none.
pub fn verify_program(program: &Program, proof: &ProofFile<'_>, options: &CheckOptions) -> Checked {
    let asked = proof.header.asked;
    let properties =
        Properties { assertion: asked.assertion, overflow: asked.overflow, bounds: asked.bounds, ..Properties::NONE };
    let options = CheckOptions { task: Task::new(properties), ..options.clone() };
    let facts = Facts::new(program);
    let checking = Checking::new(&facts, &options);
    let mut checked = checking.ask(proof, options.timeout);
    let found = fingerprint(program);
    if proof.header.fingerprint != found {
        let reason = format!("the proof is one of another program ({}, and this is {found})", proof.header.fingerprint);
        let advice = "give the files and options that it was made with, or prove it again".to_string();
        checked.verdict = Verdict::Unknown(Unknown { reason: Reason::Because(reason), advice });
        checked.assumptions.clear();
    }
    let ends = checking.unasked_ends();
    if checked.verdict == Verdict::Safe && ends != Properties::NONE {
        checked.assumptions.push(Assumption::new(text::no_ends(&ends, "was not decided")));
    }
    checked
}

/// What a proof file says that it proves, in words.
pub fn claim(header: &Header) -> Vec<String> {
    let mut all = Vec::new();
    let asked = header.asked;
    let kinds = [
        (asked.assertion, "no assertion fails"),
        (asked.overflow, "no signed overflow"),
        (asked.bounds, "all accesses stay in their objects"),
    ];
    let kinds: Vec<&str> = kinds.iter().filter(|(is_claimed, _)| *is_claimed).map(|(_, name)| *name).collect();
    all.push(format!("what the file claims: {}", kinds.join(", ")));
    let lists = [
        ("any number of threads in place of one: ", &header.replicate),
        ("called by any number of threads: ", &header.entry),
        ("run first, alone: ", &header.init),
        ("run once: ", &header.exit),
        ("arguments of the program: ", &header.args),
    ];
    all.extend(
        lists.iter().filter(|(_, list)| !list.is_empty()).map(|(what, list)| format!("{what}{}", list.join(", "))),
    );
    all
}
