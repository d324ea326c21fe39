use std::sync::Arc;
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};
use saltus_simulate::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let sources = Arc::new(SourceMap::new());
    let libs = std::env::var("MODELICAPATH").map(|p| p.split(':').map(Into::into).collect()).unwrap_or_default();
    let library = Library::new(Arc::new(Disk), sources.clone(), libs);
    library.add(std::path::Path::new(&args[1]));
    let t0 = std::time::Instant::now();
    let flat = saltus_lang::flatten(&library, &args[2], &Default::default());
    let show = |d: saltus_source::Diagnostics| for d in d.into_sorted() { eprintln!("{}", saltus_source::render::to_text(&d, &sources, Default::default())); };
    show(flat.diagnostics);
    let Some(flat) = flat.model else { return };
    eprintln!("flat {:?} {:?}", flat.counts(), t0.elapsed());
    let lowered = saltus_lower::lower(&flat);
    show(lowered.diagnostics);
    let Some(model) = lowered.model else { return };
    let prepared = saltus_structure::prepare::prepare(model).model;
    if std::env::var("SHOW").is_ok() { eprintln!("{prepared}"); }
    let e = prepared.experiment;
    let compiled = match Compiled::new(prepared) { Ok(c) => c, Err(f) => { eprintln!("{f}"); return } };
    eprintln!("compiled {:?}", t0.elapsed());
    let stop = args.get(3).and_then(|s| s.parse().ok()).or(e.stop_time).unwrap_or(1.0);
    let tol: f64 = args.get(4).and_then(|s| s.parse().ok()).unwrap_or(1e-8);
    let o = Options { stop, interval: stop / 500.0, tolerance: tol, absolute_tolerance: tol * 1e-3, ..Options::default() };
    let mut trajectory = saltus_results::Trajectory::new();
    let report = simulate(&compiled, Request::default(), &o, &mut trajectory, &mut Unobserved);
    eprintln!("ran {:?} to {} {:?}", t0.elapsed(), report.time, report.counters);
    for w in &report.warnings { eprintln!("warning: {w}"); }
    if let Err(f) = &report.outcome { eprintln!("FAILED {f}"); }
    for name in args.get(5..).unwrap_or_default() {
        if let Some(s) = trajectory.signal(name) { 
            let n = s.values.len(); let t = trajectory.time();
            let idx: Vec<usize> = (0..n).step_by((n / 10).max(1)).chain([n-1]).collect();
            println!("{name}: {}", idx.iter().map(|&i| format!("({:.4},{:.6})", t[i], s.values[i])).collect::<Vec<_>>().join(" ")); }
        else { println!("no {name}; have {:?}", trajectory.schema().signals().iter().map(|s| s.name.as_str()).take(60).collect::<Vec<_>>()); }
    }
    for ev in trajectory.events().iter().take(30) { println!("event t={} {}->{} {:?} imp {:?}", ev.time, ev.from_mode, ev.to_mode, ev.triggers.iter().map(|t| t.condition.as_str()).collect::<Vec<_>>(), ev.impulses.iter().map(|i| (i.variable.as_str(), i.order, i.weight)).collect::<Vec<_>>()); }
}
