//! Every valid program becomes C that compilers take without a word.

use crate::compiler;
use crate::random;
use leno_emit::{Options, emit};
use leno_ir::program::{DataModel, Datum, Object, Program};

#[test]
fn any_valid_program_compiles() {
    let mut checked = 0;
    for seed in 0..40 {
        let program = with_sizes_of_this_world(random::program(seed));
        let has_wide_integers = emit(&program, &Options::default()).contains("u128");
        if program.model == DataModel::Ilp32 && has_wide_integers {
            continue;
        }
        for way in compiler::ways(program.model) {
            compiler::check(&program, way, &format!("seed {seed}"));
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} were checked");
}

/// Random sizes are beyond what any compiler accepts.
fn with_sizes_of_this_world(mut program: Program) -> Program {
    let pointer = program.model.pointer_bytes();
    for object in program.objects.iter_mut() {
        object.size = end_of_contents(object, pointer).max(object.size % 5000);
        for (_, datum) in &mut object.init {
            if let Datum::Object(_, offset) = datum {
                *offset %= 1000;
            }
        }
    }
    for slot in program.functions.iter_mut().flat_map(|function| function.slots.iter_mut()) {
        slot.size %= 5000;
    }
    program
}

fn end_of_contents(object: &Object, pointer: u64) -> u64 {
    object.init.last().map_or(0, |(offset, datum)| match datum {
        Datum::Bytes(bytes) => offset + bytes.len() as u64,
        _ => offset + pointer,
    })
}
