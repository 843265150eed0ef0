//! What is known of a program without running it: `leno dump --ir prog.c | cargo run -p leno-ir --example facts`
//!
//! Reads the textual form from standard input, and prints which threads there may be, and for each access to a shared
//! object which locks are held there and which threads may run meanwhile; then how long each analysis took.

use std::io::Read;
use std::time::Instant;

use leno_ir::analysis::Facts;
use leno_ir::analysis::locksets::Mode;
use leno_ir::analysis::points_to::AbstractObject;
use leno_ir::text::{self, Names};
use leno_ir::validate::validate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut source = String::new();
    std::io::stdin().read_to_string(&mut source)?;
    let program = text::parse(&source)?;
    if let Err(found) = validate(&program) {
        return Err(found[0].explain(&program).into());
    }
    let facts = Facts::new(&program);
    let names = Names::new(&program);
    let mut times = Vec::new();
    let mut time = |what: &'static str, compute: &dyn Fn()| {
        let start = Instant::now();
        compute();
        times.push((what, start.elapsed()));
    };
    time("points-to", &|| _ = facts.points_to());
    time("calls", &|| _ = facts.calls());
    time("sharing", &|| _ = facts.sharing());
    time("executions", &|| _ = facts.executions());
    time("offsets", &|| _ = facts.offsets());
    time("threads", &|| _ = facts.threads());
    time("parallel", &|| _ = facts.parallel());
    time("locksets", &|| _ = facts.locksets());
    let object = |id| match facts.points_to().objects()[id] {
        AbstractObject::Unknown => "what is outside".to_owned(),
        AbstractObject::Static(id) => names.object(id).to_string(),
        AbstractObject::Function(id) => names.function(id).to_string(),
        AbstractObject::Slot(function, slot) => format!("{}{}", names.function(function), names.slot(function, slot)),
        AbstractObject::Site(place) => format!("allocated in {}", names.function(place.func)),
    };
    for (id, root) in facts.threads().roots().iter_enumerated() {
        let many = if root.is_replicated { ", several" } else { "" };
        println!("{id}: {}{many}", names.function(root.function));
    }
    for &place in facts.sharing().shared_accesses() {
        let Some(op) = program.op(place) else { continue };
        let leno_ir::program::Body::Blocks(blocks) = &program.functions[place.func].body else { continue };
        let span = names.span(blocks[place.block].instrs[place.index as usize].span);
        println!("{}: {} ; {span}", names.function(place.func), names.show(place.func, op));
        for (lock, mode) in facts.locksets().held_at(place).iter() {
            let mode = if mode == Mode::Shared { " (shared)" } else { "" };
            println!("    holds {} + {}{mode}", object(lock.address.object), lock.address.offset);
        }
        for &root in facts.threads().running(place.func) {
            let overlaps = |other: &_| facts.parallel().may_overlap_thread(root, place, *other);
            let others: Vec<String> = facts.threads().roots().ids().filter(overlaps).map(|id| id.to_string()).collect();
            println!("    in {root} with {}", others.join(" "));
        }
    }
    for (lock, places) in facts.locksets().damage() {
        println!("damaged: {} + {}, by {places:?}", object(lock.address.object), lock.address.offset);
    }
    times.iter().for_each(|(what, elapsed)| println!("{what}: {elapsed:?}"));
    Ok(())
}
