//! Programs that are safe as they are, and unsafe with `-DBUG`. Both engines say so (exploration may have no verdict where inputs are
//! wide), and what is wrong is confirmed on the real machine.

use leno_lab::process::{Ending, run};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[test]
fn pointers_just_work() {
    check_all("pointers", 10);
}

#[test]
fn floats_just_work() {
    check_all("floats", 8);
}

fn check_all(folder: &str, at_least: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs").join(folder);
    let mut programs: Vec<_> = std::fs::read_dir(folder).expect("the programs are there").flatten().collect();
    programs.sort_by_key(|program| program.path());
    assert!(programs.len() >= at_least);
    for program in programs {
        let path = program.path();
        for (engine, bug, code) in
            [("staged", false, 0), ("staged", true, 1), ("explore", false, 0), ("explore", true, 1)]
        {
            let mut command = Command::new(env!("CARGO_BIN_EXE_leno"));
            command.args(["check", "--engine", engine]).arg(&path).env_remove("CC");
            if bug {
                command.arg("-DBUG");
            }
            let finished = run(&mut command, b"", Duration::from_secs(120)).expect("leno runs");
            let said = String::from_utf8_lossy(&finished.stdout);
            if engine == "explore" && said.contains("nondeterministic value of more than 8 bits") {
                continue;
            }
            assert_eq!(finished.ending, Ending::Status(code), "{} {engine} bug {bug}:\n{said}", path.display());
            assert!(!bug || said.contains("Confirmed on the real program"), "{} {engine}:\n{said}", path.display());
        }
    }
}
