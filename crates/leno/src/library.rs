//! Libraries as programs: functions that are called from outside, with whatever their types allow.

use leno_c::driver::Compiled;
use leno_ir::program::Program;

/// How the functions of a library are used, by name.
#[derive(Clone, Default, Debug)]
pub struct Uses {
    /// Run first, once, one after another; nothing more happens if one returns a number other than 0.
    pub init: Vec<String>,
    /// Run by any number of threads at any time.
    pub entries: Vec<String>,
    /// Run once at any time, while threads may still run.
    pub exit: Vec<String>,
}

impl Uses {
    /// All of these functions: what [`Options::entries`](leno_c::driver::Options) is to name.
    pub fn functions(&self) -> Vec<String> {
        [&self.init, &self.entries, &self.exit].into_iter().flatten().cloned().collect()
    }
}

/// The program that uses a library so, and what it takes for granted of arguments, a line each.
pub fn open_library(compiled: &Compiled, uses: &Uses) -> Result<(Program, Vec<String>), String> {
    let pointees = compiled.pointees.iter().map(|(function, parameters)| {
        let of = |pointee: &leno_c::lower::Pointee| (pointee.name.clone(), pointee.bytes);
        (function.clone(), parameters.iter().map(|pointee| pointee.as_ref().map(of)).collect())
    });
    let library = leno_prove::Library {
        init: uses.init.clone(),
        entries: uses.entries.clone(),
        exit: uses.exit.clone(),
        pointees: pointees.collect(),
    };
    leno_prove::open(&compiled.program, &library)
}
