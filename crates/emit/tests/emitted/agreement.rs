//! Random programs print the same, however they are compiled.

use crate::compiler;
use crate::generate;
use leno_ir::program::DataModel;

#[test]
fn all_compilers_agree() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        for seed in 0..2 {
            let program = generate::program(seed, model, 100);
            leno_ir::validate::validate(&program).unwrap_or_else(|found| panic!("{}", found[0].explain(&program)));
            let mut first = None;
            for way in compiler::ways(model) {
                let executable = compiler::compile(&program, way, &format!("seed {seed}"));
                let output = compiler::run(&executable, &[]);
                assert!(output.status.success(), "seed {seed} {way:?}: {}", output.status);
                let lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect();
                match &first {
                    None => first = Some(lines),
                    Some(first) => assert_eq!(
                        lines.iter().zip(first).position(|(a, b)| a != b),
                        None,
                        "seed {seed} {way:?} {model:?} {executable:?}"
                    ),
                }
            }
        }
    }
}
