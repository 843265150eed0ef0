use leno_predict::record::{RecordOptions, record};
use leno_predict::trace::{Records, Trace};
#[test]
fn look() {
    let file = std::env::var("LOOK").unwrap_or("/tmp/p/fig1.c".into());
    let program = leno_c::driver::compile(&[leno_c::driver::Input::File(file.into())], &Default::default()).unwrap().program;
    let path = std::env::temp_dir().join("look.leno");
    let r = record(&program, &RecordOptions::default(), &path).unwrap();
    println!("{r:?}");
    let trace = Trace::read(&std::fs::read(&path).unwrap()).unwrap();
    for (t, r) in &trace.threads {
        println!("thread {t}");
        for r in Records::new(r).take(60) { println!("  {r:?}"); }
    }
    let ctp = leno_predict::build(&program, &trace);
    for e in &ctp.events { println!("{e:?}"); }
    println!("{:?} {:?}", ctp.targets, ctp.gaps);
}
