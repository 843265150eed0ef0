//! Which crate may depend on which, read from their manifests.

use leno_testing::repository;
use std::collections::BTreeSet;
use std::fs;

/// What a crate depends on, of Leno's own crates, other than for its tests.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = fs::read_to_string(repository(&format!("crates/{name}/Cargo.toml"))).expect("a manifest");
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let names = section.lines().filter_map(|line| line.strip_prefix("leno-")?.split(['.', ' ', '=']).next());
    names.map(str::to_string).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn no_engine_depends_on_another() {
    let engines = set(&["explore", "bmc", "lazy", "predict", "prove"]);
    for engine in &engines {
        let used = dependencies(engine);
        assert!(used.contains("engine"), "{engine} is behind the contract");
        assert!(used.is_disjoint(&engines), "{engine} depends on another engine: {used:?}");
    }
}

#[test]
fn lower_layers_know_nothing_of_higher_ones() {
    for (name, allowed) in [
        ("limits", set(&[])),
        ("domains", set(&[])),
        ("proof", set(&[])),
        ("ir", set(&["domains"])),
        ("logic", set(&["domains", "limits"])),
        ("axioms", set(&["logic", "limits"])),
        ("symbolic", set(&["ir", "logic", "domains"])),
        ("engine", set(&["ir", "limits"])),
        ("verify", set(&["domains", "ir", "limits", "logic", "symbolic"])),
        ("trace", set(&["ir"])),
    ] {
        let used = dependencies(name);
        assert!(used.is_subset(&allowed), "{name} depends on {used:?}, and may depend on {allowed:?}");
    }
}
