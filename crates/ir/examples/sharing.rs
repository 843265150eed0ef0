//! What the analyses make of a program: `leno dump --ir prog.c | cargo run -p leno-ir --example sharing`
//!
//! Reads the textual form from standard input, and prints which objects threads share, and where.

use std::io::Read;
use std::time::Instant;

use leno_ir::callgraph::CallGraph;
use leno_ir::points_to::{AbstractObject, PointsTo};
use leno_ir::sharing::{SharedObjects, Sharing};
use leno_ir::text::{self, Names};
use leno_ir::validate::validate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut source = String::new();
    std::io::stdin().read_to_string(&mut source)?;
    let start = Instant::now();
    let program = text::parse(&source)?;
    let parsed = start.elapsed();
    if let Err(found) = validate(&program) {
        return Err(found[0].explain(&program).into());
    }
    if program.to_string() != source {
        return Err("printing gives another text".into());
    }
    let start = Instant::now();
    let points_to = PointsTo::new(&program);
    let calls = CallGraph::new(&program, &points_to);
    let shared = SharedObjects::new(&program, &points_to, &calls);
    let analysed = start.elapsed();
    let names = Names::new(&program);
    for (id, object) in points_to.objects().iter_enumerated() {
        let name = match object {
            AbstractObject::Unknown => "what is outside".to_owned(),
            AbstractObject::Static(id) => names.object(*id).to_string(),
            AbstractObject::Function(_) => continue,
            AbstractObject::Slot(function, slot) => {
                format!("{} of {}", names.slot(*function, *slot), names.function(*function))
            }
            AbstractObject::Site(place) => format!("allocated in {}", names.function(place.func)),
        };
        if shared.of(id) == Sharing::Shared {
            println!("shared: {name}");
        }
    }
    for place in shared.shared_accesses() {
        let leno_ir::program::Body::Blocks(blocks) = &program.functions[place.func].body else { continue };
        let instr = &blocks[place.block].instrs[place.index as usize];
        let span = names.span(instr.span);
        println!("{}: {} ; {span}", names.function(place.func), names.show(place.func, &instr.op));
    }
    println!("bytes: {}, parsed in {parsed:?}, analysed in {analysed:?}", source.len());
    println!("objects: {}, waves: {}", points_to.objects().len(), points_to.waves);
    Ok(())
}
