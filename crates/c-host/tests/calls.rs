//! Models with external functions in C, compiled and run. Expected values are those of the formulas in the C text.
//!
//! Skipped, with a message, where there is no C compiler.

#![allow(clippy::print_stderr, reason = "says what is skipped")]

use std::process::Command;
use std::sync::Arc;

use saltus::{Session, Simulation};
use saltus_c_host::CHost;

fn host(folder: &std::path::Path) -> Option<Arc<CHost>> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc`");
        return None;
    }
    Some(Arc::new(CHost::new("cc", folder)))
}

/// Runs the model in a text, or says why not.
fn run(host: &Arc<CHost>, text: &str, stop: f64) -> Result<Simulation, String> {
    let session = Session::new().with_external_code(host.clone());
    session.add_text("Model.mo", text);
    let name = session.find_model(None).value.ok_or("no model")?;
    let compiled = session.compile(&name);
    let said: Vec<String> = compiled.diagnostics.iter().map(|d| d.message.clone()).collect();
    let model = compiled.value.ok_or_else(|| said.join("\n"))?;
    let simulation = model.run().stop(stop).simulate();
    simulation.map_err(|failed| format!("{:?}", failed.diagnostic()))
}

fn last(simulation: &Simulation, name: &str) -> f64 {
    let values = simulation.values(name).expect("the variable");
    *values.last().expect("a row")
}

fn close(found: f64, wanted: f64, what: &str) {
    assert!(
        (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0),
        "{what}: {found}, not {wanted}"
    );
}

/// Numbers, arrays by their address, sizes, texts, records, enumerations, results by pointer.
const ALL_KINDS: &str = r#"
model AllKinds
  type Colour = enumeration(red, green, blue);
  record Pair
    Real a;
    Integer n;
  end Pair;

  function mixed
    input Real x;
    input Integer n;
    input Boolean b;
    input Real v[:];
    input Integer w[2];
    output Real y;
    output Integer m;
    output Real scaled[size(v, 1)];
    external "C" mixed(x, n, b, v, size(v, 1), w, y, m, scaled) annotation(Include = "
#include <stddef.h>
static void mixed(double x, int n, int b, const double *v, size_t size, const int *w, double *y, int *m, double *scaled) {
  *y = x * n;
  for (size_t k = 0; k < size; k++) { *y += v[k]; scaled[k] = x * v[k]; }
  *m = b ? w[0] : w[1];
}
");
  end mixed;

  function length
    input String text;
    input String others[:];
    output Integer n;
    external "C" n = total(text, others, size(others, 1)) annotation(Include = "
#include <string.h>
static int total(const char *text, const char **others, size_t size) {
  int n = (int)strlen(text);
  for (size_t k = 0; k < size; k++) n += (int)strlen(others[k]);
  return n;
}
");
  end length;

  function next
    input Colour c;
    output Colour d;
    external "C" d = next(c) annotation(Include = "static int next(int c) { return c % 3 + 1; }");
  end next;

  function swapped
    input Pair p;
    output Pair q;
    external "C" swap(p, q) annotation(Include = "
typedef struct { double a; int n; } pair;
static void swap(pair *p, pair *q) { q->a = p->n; q->n = (int)p->a; }
");
  end swapped;

  function greeting
    input String name;
    output String text;
    external "C" text = greet(name) annotation(Include = "
#include <string.h>
#include \"ModelicaUtilities.h\"
static const char *greet(const char *name) {
  char *made = ModelicaAllocateString(strlen(name) + 7);
  strcpy(made, \"hello, \");
  return strcat(made, name);
}
");
  end greeting;

  Real y, scaled[3], m;
  parameter Integer n = length("ab", {"cde", "", "f"});
  Colour d = if time > 0.5 then next(Colour.blue) else Colour.blue;
  Pair q = swapped(Pair(7.0, 3));
  constant String text = greeting("world");
  Boolean right = text == "hello, world";
equation
  (y, m, scaled) = mixed(time, 3, time > 0.5, {1, 2, time}, {10, 20});
end AllKinds;
"#;

#[test]
fn arguments_of_all_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let Some(host) = host(folder.path()) else { return };
    let simulation = run(&host, ALL_KINDS, 2.0).unwrap();
    let at_end = |name: &str| last(&simulation, name);
    close(at_end("y"), 2.0 * 3.0 + 1.0 + 2.0 + 2.0, "y");
    close(at_end("m"), 10.0, "m");
    close(at_end("scaled[2]"), 4.0, "scaled[2]");
    close(at_end("q.a"), 3.0, "q.a");
    close(at_end("q.n"), 7.0, "q.n");
    close(at_end("d"), 1.0, "d");
    close(at_end("right"), 1.0, "right");
    // Files are gone once nobody needs the code.
    drop(host);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "files are left over"
    );
}

/// The model of the guide: 0.2 x + 0.8 x² of x = (1 - cos t)/2.
#[test]
fn the_guide_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let Some(host) = host(folder.path()) else { return };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/foreign-functions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```text\nmodel Valve").expect("the model");
    let (rest, _) = rest.split_once("```").expect("its end");
    let simulation = run(&host, &format!("model Valve{rest}"), 2.0).unwrap();
    let opening = 0.5 - 0.5 * 2.0_f64.cos();
    close(
        last(&simulation, "throughput"),
        0.2 * opening + 0.8 * opening * opening,
        "throughput",
    );
}

#[test]
fn functions_are_differentiated_by_differences() {
    let folder = tempfile::tempdir().unwrap();
    let Some(host) = host(folder.path()) else { return };
    // x*cos(x) = time has to be solved for x, and the derivative of y is asked for.
    let text = r##"
model Solved
  function f
    input Real x;
    output Real y;
    external "C" y = f(x) annotation(Include = "#include <math.h>
static double f(double x) { return x + x*x*x; }");
  end f;
  Real x(start = 0), y, dy, z(start = 1, fixed = true);
equation
  f(x) = time;
  y = f(sin(time));
  dy = der(y);
  der(z) = -f(z);
end Solved;
"##;
    let simulation = run(&host, text, 2.0).unwrap();
    let x = last(&simulation, "x");
    close(x + x * x * x, 2.0, "f(x)");
    let (sine, cosine) = 2.0_f64.sin_cos();
    close(last(&simulation, "dy"), (1.0 + 3.0 * sine * sine) * cosine, "der(y)");
    // u = z^-2: u' = 2*u + 2, so u = 2*exp(2*t) - 1.
    let z = (2.0 * 4.0_f64.exp() - 1.0).powf(-0.5);
    assert!((last(&simulation, "z") - z).abs() < 1e-4, "z");
}

const COUNTER: &str = r#"
class Counter
  extends ExternalObject;
  function constructor
    input Integer first;
    input String log;
    output Counter counter;
    external "C" counter = new_counter(first, log) annotation(Include = "
#include <stdlib.h>
#include <string.h>
struct counter { int count; char log[400]; };
static void *new_counter(int first, const char *log) {
  struct counter *made = malloc(sizeof *made);
  made->count = first;
  strncpy(made->log, log, 399);
  return made;
}
");
  end constructor;
  function destructor
    input Counter counter;
    external "C" end_counter(counter) annotation(Include = "
#include <stdio.h>
#include <stdlib.h>
struct counter { int count; char log[400]; };
static void end_counter(void *given) {
  struct counter *counter = given;
  FILE *log = fopen(counter->log, \"a\");
  fprintf(log, \"%d\\n\", counter->count);
  fclose(log);
  free(counter);
}
");
  end destructor;
end Counter;

impure function count
  input Counter counter;
  output Integer n;
  external "C" n = count(counter) annotation(Include = "
struct counter { int count; };
static int count(void *given) { return ((struct counter *)given)->count++; }
");
end count;

model Counts
  parameter String log = "LOG";
  Counter counter = Counter(5, log);
  discrete Integer n(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = n;
  when sample(0.1, 0.1) then
    n = count(counter);
  end when;
end Counts;
"#;

#[test]
fn objects_are_made_once_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(host) = host(folder.path()) else { return };
    let log = folder.path().join("log");
    let text = COUNTER.replace("LOG", &log.to_string_lossy().replace('\\', "/"));
    let simulation = run(&host, &text, 1.05).unwrap();
    // Ten events: 5 to 14, however often the equations were evaluated.
    close(last(&simulation, "n"), 14.0, "n");
    drop(simulation);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "15\n");
}

#[test]
fn errors_of_the_code_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let Some(host) = host(folder.path()) else { return };
    let model = |include: &str| {
        format!(
            "model Wrong function f input Real x; output Real y; external \"C\" y = f(x) annotation(Include = \"{include}\"); \
             end f; Real z(start = 0, fixed = true); equation der(z) = f(time); end Wrong;"
        )
    };
    let refusal = |include: &str| run(&host, &model(include), 1.0).unwrap_err();
    let raised = r##"#include \"ModelicaUtilities.h\"
static double f(double x) { if (x > 0.5) ModelicaFormatError(\"%g is too large\", 0.5); return 1; }"##;
    let said = refusal(raised);
    assert!(said.contains("0.5 is too large"), "{said}");
    let said = refusal("static double g(double x) { return x; }");
    assert!(said.contains("`f`") && said.contains("declar"), "{said}");
    let said = refusal("extern double f(double);");
    assert!(said.contains("undefined"), "{said}");
    let said = refusal("static double f(double x) { return x; ");
    assert!(said.contains("error"), "{said}");
    let said = refusal("static double f(double *x) { return *x; }");
    assert!(said.contains("error"), "{said}");
}

#[test]
fn nothing_runs_without_a_host() {
    let session = Session::new();
    session.add_text("Counter.mo", COUNTER);
    let compiled = session.compile("Counts");
    assert!(compiled.value.is_none());
    let said: Vec<&str> = compiled.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(said.iter().any(|said| said.contains("is not available")), "{said:?}");
}

#[test]
fn model_files_are_linked_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(host) = host(folder.path()) else { return };
    let session = Session::new().with_external_code(host.clone());
    session.add_text("AllKinds.mo", ALL_KINDS);
    let model = session.compile("AllKinds").value.unwrap();
    let bytes = model.to_bytes(saltus::ModelFileOptions::default()).unwrap();
    let read = saltus::Model::from_bytes(&bytes).unwrap();
    assert!(read.unlinked_external_function().is_some());
    assert!(
        read.run().stop(1.0).simulate().is_err(),
        "it runs without being allowed to"
    );
    let read = saltus::Model::from_bytes(&bytes).unwrap();
    read.link_external_code(&*host).unwrap();
    let simulation = read.run().stop(1.0).simulate().unwrap();
    close(last(&simulation, "scaled[2]"), 2.0, "scaled[2]");
}
