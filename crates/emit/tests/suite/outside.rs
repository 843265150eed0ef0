//! What emitted C shares with the system: names, and the functions of the C library.

use crate::compiler;
use leno_ir::interp::is_known_external;
use leno_ir::program::{DataModel, Program};

/// Names of the program end in `_3`, `_o3`, `_f3`, … or are `t3`. Nothing in the runtime or the headers may look so,
/// apart from what begins with an underscore or `M_`: such names get a letter in front.
#[test]
fn no_header_has_a_name_like_ours() {
    let lines = include_str!("../../src/runtime.c").lines().filter(|line| !line.starts_with("#error"));
    let runtime = lines.collect::<Vec<_>>().join("\n");
    for way in compiler::ways(DataModel::Lp64).into_iter().chain(compiler::ways(DataModel::Ilp32)) {
        let text = compiler::preprocess(&runtime, way);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let clashes: Vec<&str> = words.filter(|word| is_like_ours(word)).collect();
        assert!(clashes.is_empty(), "{way:?}: {clashes:?}");
    }
}

fn is_like_ours(word: &str) -> bool {
    if word.starts_with('_') || word.starts_with("M_") || word.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let sorts = ["_", "_o", "_s", "_f", "_r"];
    stem.len() < word.len() && (stem == "t" || sorts.iter().any(|sort| stem.ends_with(sort)))
}

/// Every function that Leno knows is really there.
#[test]
fn known_functions_link() {
    let stdio = "printf vprintf fprintf vfprintf dprintf sprintf vsprintf snprintf vsnprintf puts fputs fputs_unlocked \
        putchar putchar_unlocked putc fputc fwrite write read fread fopen fopen64 fclose fflush fgets getchar getc fgetc \
        ungetc feof ferror clearerr fileno fseek ftell rewind remove unlink setvbuf setbuf perror strerror getenv time \
        clock gettimeofday clock_gettime scanf __isoc99_scanf fscanf __isoc99_fscanf sscanf __isoc99_sscanf strtod \
        strtof strtold atof";
    let maths = "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh exp exp2 expm1 fabs fdim floor fma \
        fmax fmin fmod frexp hypot ilogb ldexp log log10 log1p log2 lround modf nearbyint nextafter pow remainder rint \
        round scalbn sin sinh sqrt tan tanh trunc";
    let mut names: Vec<String> = stdio.split_whitespace().map(str::to_string).collect();
    names.extend(maths.split_whitespace().flat_map(|name| ["", "f", "l"].map(|suffix| format!("{name}{suffix}"))));
    let mut source = "program MODEL entry &start\n".to_string();
    let mut table = String::new();
    for (index, name) in names.iter().enumerate() {
        let external = is_known_external(name).unwrap_or_else(|| panic!("{name} is not known"));
        let (parameters, variadic) = if external.variadic { ("%f: ptr, %area: ptr", " variadic") } else { ("", "") };
        source += &format!("fn &{name}({parameters}) -> i32 external known{variadic}\n");
        table += &format!("  {}: &{name}\n", index * 8);
    }
    source += &format!("@table = global size {} align 8 {{\n{table}}}\n", names.len() * 8);
    source += "fn &start(%argc: i32, %argv: ptr) {\nb0:\n  exit i32 0\n}\n";
    for model in ["lp64", "ilp32"] {
        let program: Program = leno_ir::text::parse(&source.replace("MODEL", model)).unwrap();
        for way in compiler::ways(program.model) {
            let compiled = compiler::compile_quietly(&program, way, "known functions");
            assert!(compiler::run(&compiled, &[]).status.success());
        }
    }
}
