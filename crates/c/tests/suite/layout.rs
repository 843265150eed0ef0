//! Record layout against the machine's own compiler.
//!
//! Random structs and unions, bit-fields, packing and alignment included, are laid out by us and by `cc`, for both data
//! models; sizes, alignments, offsets and the exact bits of every bit-field must agree.

use leno_c::{check, parse, source::Source, types::Layout};
use leno_ir::program::DataModel;
use leno_testing::{Random, Scratch};
use std::fmt::Write as _;
use std::process::Command;

const INTEGERS: [(&str, usize); 9] = [
    ("_Bool", 1),
    ("char", 8),
    ("unsigned char", 8),
    ("short", 16),
    ("unsigned short", 16),
    ("int", 32),
    ("unsigned int", 32),
    ("long long", 64),
    ("unsigned long long", 64),
];

fn member(random: &mut Random, index: usize, records: usize) -> String {
    let attribute = match random.below(12) {
        0 => " __attribute__((packed))".to_string(),
        1 => format!(" __attribute__((aligned({})))", 1 << random.below(5)),
        _ => String::new(),
    };
    match random.below(10) {
        0..=4 => {
            let (ty, bits) = INTEGERS[random.below(9)];
            let width = 1 + random.below(bits);
            match random.below(12) {
                0 => format!("{ty} : 0;"),
                1 => format!("{ty} : {width};"),
                _ => format!("{ty} b{index} : {width}{attribute};"),
            }
        }
        5 if records > 0 => format!("struct r{} m{index}{attribute};", random.below(records)),
        6 => format!("{} m{index}[{}]{attribute};", random.pick(&["char", "short", "int", "double"]), random.below(4)),
        _ => {
            let scalars =
                ["char", "short", "int", "long", "long long", "float", "double", "long double", "void *", "__int128"];
            let count = if cfg!(target_arch = "x86_64") { 9 } else { 8 };
            format!("{} m{index}{attribute};", random.pick(&scalars[..count]))
        }
    }
}

fn records(random: &mut Random, count: usize) -> String {
    let mut text = String::new();
    for id in 0..count {
        // A union inside a struct, so that every record can be a member by the same spelling.
        let wrap = random.below(5) == 0;
        let attribute = match random.below(8) {
            0 => " __attribute__((packed))",
            1 => " __attribute__((aligned(8)))",
            2 => " __attribute__((packed, aligned(2)))",
            _ => "",
        };
        let _ = write!(text, "struct{attribute} r{id} {{ ");
        if wrap {
            text.push_str("union { ");
        }
        for index in 0..1 + random.below(7) {
            text.push_str(&member(random, index, id.min(20)));
            text.push(' ');
        }
        if wrap {
            text.push_str("}; ");
        }
        text.push_str("};\n");
        if random.below(10) == 0 {
            // A record is one line, so the pragma goes to the end of the one before.
            text.pop();
            let _ = writeln!(text, " _Pragma(\"pack({})\")", ["", "1", "2", "4", "8"][random.below(5)]);
        }
    }
    text
}

fn our_layouts(text: &str, count: usize, model: DataModel) -> Vec<String> {
    let mut source = Source::new("layout.c", text.as_bytes().to_vec());
    let ast = parse::parse(&mut source).unwrap_or_else(|e| panic!("{}", e.message));
    let unit = check::check(&ast, model).unwrap_or_else(|e| panic!("{}", e.message)).unit;
    let find = |id: usize| {
        let name = format!("r{id}");
        unit.types.records.iter().find(|r| r.name == name).and_then(|r| r.layout.clone())
    };
    (0..count).map(|id| describe(&unit, &find(id).expect("every record is complete"), 0, true)).collect()
}

/// `size align name@offset name=bits…`, as the C program prints it.
fn describe(unit: &leno_c::typed::Unit, layout: &Layout, base: u64, outermost: bool) -> String {
    let mut text = if outermost { format!("{} {}", layout.size, layout.align) } else { String::new() };
    for field in &layout.fields {
        let offset = base + field.offset;
        match field.bits {
            _ if field.name.is_empty() && field.bits.is_none() => {
                let inner = unit.types.layout_of(field.ty.ty).expect("an anonymous member is a record");
                text.push_str(&describe(unit, inner, offset, false));
            }
            _ if field.name.is_empty() => {}
            Some(bits) => {
                let first = offset * 8 + u64::from(bits.shift);
                let _ = write!(text, " {}={}+{}", field.name, first, bits.width);
                assert!(field.offset + u64::from(bits.unit_bytes) <= layout.size, "a unit reaches past its record");
            }
            None => {
                let _ = write!(text, " {}@{offset}", field.name);
            }
        }
    }
    text
}

/// A C program that prints the same lines, by setting each bit-field to ones in a zeroed object.
fn probe(text: &str, count: usize) -> String {
    let mut c = format!("#include <stdio.h>\n#include <stddef.h>\n#include <string.h>\n{text}");
    c.push_str(
        "static void bits(const char *n, const unsigned char *p, size_t s) {\n\
         long first = -1, last = -1; for (size_t i = 0; i < s * 8; i++) if (p[i / 8] >> (i % 8) & 1) { if (first < 0) first = i; last = i; }\n\
         printf(\" %s=%ld+%ld\", n, first, last - first + 1); }\nint main(void) {\n",
    );
    for (id, body) in text.lines().take(count).enumerate() {
        let _ = writeln!(c, "printf(\"%zu %zu\", sizeof(struct r{id}), _Alignof(struct r{id}));");
        for declaration in body.split(['{', ';', '}']) {
            let words: Vec<&str> = declaration.split([' ', '[']).collect();
            let named =
                |prefix: char| words.iter().find(|w| w.starts_with(prefix) && w[1..].parse::<u64>().is_ok()).copied();
            if let Some(name) = named('b') {
                let _ = writeln!(
                    c,
                    "{{ struct r{id} x; memset(&x, 0, sizeof x); x.{name} = -1; bits(\"{name}\", (void *)&x, sizeof x); }}"
                );
            } else if let Some(name) = named('m') {
                let _ = writeln!(c, "printf(\" {name}@%zu\", offsetof(struct r{id}, {name}));");
            }
        }
        c.push_str("puts(\"\");\n");
    }
    c.push_str("return 0; }\n");
    c
}

fn compilers_layouts(text: &str, count: usize, flag: &str) -> Option<Vec<String>> {
    let scratch = Scratch::new();
    let (source, binary) = (scratch.write("probe.c", probe(text, count)), scratch.path("probe"));
    let built =
        Command::new("cc").arg(flag).arg("-w").arg(&source).arg("-o").arg(&binary).output().expect("a C compiler");
    built.status.success().then(|| {
        let run = Command::new(&binary).output().expect("the probe runs");
        String::from_utf8_lossy(&run.stdout).lines().map(str::to_string).collect()
    })
}

#[test]
fn layouts_are_the_compilers() {
    const COUNT: usize = 1500;
    for (model, flag) in [(DataModel::Lp64, "-m64"), (DataModel::Ilp32, "-m32")] {
        let text = records(&mut Random::new(0x1e60 + u64::from(model.pointer_bits())), COUNT);
        let Some(theirs) = compilers_layouts(&text, COUNT, flag) else {
            assert_eq!(model, DataModel::Ilp32, "cc refuses the structs:\n{text}");
            continue; // no 32-bit C library on this machine
        };
        for ((ours, theirs), line) in our_layouts(&text, COUNT, model).iter().zip(&theirs).zip(text.lines()) {
            assert_eq!(ours, theirs, "{model:?}: {line}");
        }
    }
}
