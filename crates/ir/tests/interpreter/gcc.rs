//! Compiles and runs C with the system's compiler.

use std::path::Path;
use std::process::Command;

/// What a C program prints.
pub fn output_of(name: &str, source: &str, flags: &[&str]) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, binary) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&file, source).expect("the directory for tests is writable");
    let compiled = Command::new("cc").arg("-w").args(flags).arg("-o").arg(&binary).arg(&file).arg("-lm").output();
    let compiled = compiled.expect("there is a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = Command::new(&binary).output().expect("it runs");
    assert!(run.status.success(), "{name} ended with {:?}", run.status);
    String::from_utf8_lossy(&run.stdout).into_owned()
}
