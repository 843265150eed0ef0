//! `leno prove --proof` and `leno verify`; invariants for other tools.

use crate::cli;
use leno_testing::Scratch;
use leno_testing::process::{Ending, Finished};
use std::fs;

fn leno(scratch: &Scratch, words: &[&str]) -> Finished {
    cli::leno(scratch.folder(), words)
}

fn said(finished: &Finished) -> String {
    finished.output()
}

const POOL: &str = "#include <pthread.h>\n#include <assert.h>\n\
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nint jobs, limit = 5;\n\
    void *worker(void *a) {\n\
      pthread_mutex_lock(&lock);\n\
      jobs = jobs + 1;\n\
      assert(jobs == 1);\n\
      jobs = jobs - 1;\n\
      pthread_mutex_unlock(&lock);\n\
      assert(limit == 5);\n\
      return 0;\n}\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, worker, 0); pthread_join(t, 0); return 0; }\n";

#[test]
fn a_proof_is_written_and_checked_again() {
    let scratch = Scratch::new();
    scratch.write("pool.c", POOL);
    scratch.write("wrong.c", POOL.replace("jobs - 1", "jobs - 2"));
    let run = |words: &[&str]| {
        let finished = leno(&scratch, words);
        (finished.ending, said(&finished))
    };
    let (ending, text) = run(&["prove", "--replicate", "worker", "--proof", "pool.proof", "pool.c"]);
    assert_eq!(ending, Ending::Status(0), "{text}");
    let (ending, text) = run(&["verify", "pool.proof", "pool.c"]);
    assert_eq!(ending, Ending::Status(0), "{text}");
    assert!(text.starts_with("SAFE: proved for any number of threads"), "{text}");
    assert!(text.contains("what the file claims: no assertion fails"), "{text}");
    assert!(text.contains("any number of threads in place of one: worker"), "{text}");
    let (ending, text) = run(&["verify", "pool.proof", "wrong.c"]);
    assert_eq!(ending, Ending::Status(2), "{text}");
    assert!(text.starts_with("REJECTED: the proof is one of another program"), "{text}");

    let proof = fs::read_to_string(scratch.folder().join("pool.proof")).expect("a proof");
    scratch.write("stronger.proof", proof.replacen("is c0 0", "is c0 1", 1));
    scratch.write("garbage.proof", "leno-proof 1\n\u{0}\u{0}\n");
    scratch.write("short.proof", &proof[..proof.len() / 2]);
    for file in ["stronger.proof", "garbage.proof", "short.proof"] {
        let (ending, text) = run(&["verify", file, "pool.c"]);
        assert_eq!(ending, Ending::Status(2), "{file}: {text}");
        assert!(text.starts_with("REJECTED: "), "{file}: {text}");
    }
    assert_eq!(run(&["verify", "none.proof", "pool.c"]).0, Ending::Status(3));
}

#[test]
fn what_has_no_proof_file_says_so() {
    let scratch = Scratch::new();
    scratch.write("pool.c", POOL);
    for property in ["race", "deadlock"] {
        let finished = leno(&scratch, &["prove", "--property", property, "--proof", "none.proof", "pool.c"]);
        let text = String::from_utf8_lossy(&finished.stderr).into_owned();
        assert!(text.contains("no proof was written: "), "{property}: {text}");
        assert!(!scratch.folder().join("none.proof").exists(), "{property}");
    }
}

#[test]
fn invariants_are_written_for_other_tools() {
    let scratch = Scratch::new();
    scratch.write("pool.c", POOL);
    let finished = leno(&scratch, &["prove", "--replicate", "worker", "--invariants", "pool.json", "pool.c"]);
    assert_eq!(finished.ending, Ending::Status(0), "{}", said(&finished));
    let json = fs::read_to_string(scratch.folder().join("pool.json")).expect("a file");
    let entry = "\"file\": \"pool.c\",\n    \"function\": \"worker\",\n    \"invariant\": \"jobs == 0 && limit == 5\",\n    \"line\": 7";
    assert!(json.contains(entry), "{json}");
    // Without the lock, nobody knows what is in the making.
    assert!(json.contains("\"invariant\": \"limit == 5\",\n    \"line\": 6"), "{json}");

    let finished = leno(&scratch, &["prove", "--replicate", "worker", "--invariants", "pool.yml", "pool.c"]);
    assert_eq!(finished.ending, Ending::Status(0), "{}", said(&finished));
    let yaml = fs::read_to_string(scratch.folder().join("pool.yml")).expect("a file");
    let parts = [
        "- entry_type: invariant_set\n  metadata:\n    format_version: \"2.0\"\n    uuid: ",
        "      input_files:\n        - \"pool.c\"\n      input_file_hashes:\n        \"pool.c\": ",
        "      data_model: LP64\n      language: C\n  content:\n",
        "        type: location_invariant\n        location:\n          file_name: \"pool.c\"\n          line: 7\n",
        "        value: \"jobs == 0 && limit == 5\"\n        format: c_expression\n",
    ];
    for part in parts {
        assert!(yaml.contains(part), "no {part} in\n{yaml}");
    }
}
