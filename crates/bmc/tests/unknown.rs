//! Functions of which nothing is known: they may write anything where their arguments point to, and nothing else.

use leno_bmc::{Staged, Task, check};
use leno_c::driver::{Input, Options, compile};
use leno_explore::Properties;
use leno_logic::limits::Limits;
use std::time::{Duration, Instant};

/// `SAFE`, or why there is no verdict: a violation that needs what they write is never one.
fn verdict(main: &str) -> String {
    let text = format!(
        "struct address {{ short family; char data[14]; }} shared, other; int *pointer; int target;
        int bind(int, struct address *, int); int getline(int **); int access(const char *, int);
        void reach_error(void);
        int main(void) {{ {main} return 0; }}"
    );
    let input = Input::Preprocessed { name: "unknown.c".to_string(), text: text.clone().into_bytes() };
    let program = compile(&[input], &Options::default()).unwrap_or_else(|failure| panic!("{failure}\n{text}")).program;
    let properties = Properties { assertion: true, ..Properties::NONE };
    let limits = Limits::until(Instant::now() + Duration::from_secs(20));
    match check(&program, &Task::new(properties), &limits, &|| false).0 {
        Staged::Safe => "SAFE".to_string(),
        Staged::Unsafe(_) => "UNSAFE".to_string(),
        Staged::Unknown(unknown) => unknown.reason,
    }
}

#[test]
fn they_write_where_their_arguments_point_to() {
    assert_eq!(verdict("bind(3, &shared, 16); if (other.family) reach_error();"), "SAFE");
    assert_ne!(verdict("bind(3, &shared, 16); if (shared.family == 7) reach_error();"), "SAFE");
    // From there to the end of the object, not before.
    assert_eq!(verdict("bind(3, (struct address *)&shared.data[2], 1); if (shared.data[1]) reach_error();"), "SAFE");
    assert_ne!(verdict("struct address local = {0}; bind(3, &local, 2); if (local.data[13]) reach_error();"), "SAFE");
    assert_eq!(verdict("if (access(\"file\", 0) && other.family) reach_error();"), "SAFE");
}

#[test]
fn addresses_that_they_write_may_be_those_of_anything() {
    assert_ne!(verdict("pointer = &target; getline(&pointer); *pointer = 1; if (target > 1) reach_error();"), "SAFE");
}
