//! Jumps of products and of nonlinear laws: what stands under `der` is conserved, however it is written.

use saltus::Session;
use saltus_testing::Random;

/// The values of a variable just before and just after t = 1, and at the end.
struct Seen {
    before: f64,
    after: f64,
    warnings: Vec<String>,
}

fn run(text: &str, name: &str) -> Result<Seen, String> {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().map_err(|d| format!("{d:?}"))?;
    let simulation = model.run().stop(2.0).interval(0.5).tolerance(1e-9).simulate();
    let simulation = simulation.map_err(|failed| format!("{:?}", failed.diagnostic()))?;
    let values = simulation.values(name).ok_or("no such variable")?;
    let rows: Vec<usize> = (0..values.len()).filter(|&i| simulation.time()[i] == 1.0).collect();
    let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else {
        return Err("no row at t = 1".to_owned());
    };
    Ok(Seen {
        before: values[first],
        after: values[last],
        warnings: simulation.summary.report.warnings.clone(),
    })
}

fn close(found: f64, wanted: f64, what: &str) {
    assert!(
        (found - wanted).abs() <= 1e-6 * wanted.abs().max(1e-12),
        "{what}: {found} instead of {wanted}"
    );
}

#[test]
fn momentum_is_conserved_when_the_mass_jumps() {
    let forms = [
        "Real v(start = #V); equation der((if time < 1 then #A else #B)*v) = 0;",
        "Real v(start = #V), m = if time < 1 then #A else #B; equation der(m*v) = 0;",
        "Real v(start = #V), m; Boolean late = time >= 1; equation m = if late then #B else #A; 0 = der(v*m);",
        "Real v(start = #V); discrete Real m(start = #A, fixed = true); equation when time >= 1 then m = #B; end when; der(m*v) = 0;",
        "Real v(start = #V), p, m = if time < 1 then #A else #B; equation p = m*v; der(p) = 0;",
        "Real v(start = #V); parameter Real a = #A, b = #B; Boolean late(start = false, fixed = true); \
         equation when time >= 1 then late = true; end when; -2*der((if late then b else a)*v) = 0;",
        "function mass input Boolean b; output Real m; algorithm m := if b then #B else #A; end mass; \
         Real v(start = #V), m = mass(time >= 1); equation der(m*v) = 0;",
        "Real v(start = #V); Real u[2] = {v, 3}; Real m = if time < 1 then #A else #B; Real w(start = 1); \
         equation der(m*{v, w}) = {0, 0};",
    ];
    let mut random = Random(1);
    for (number, form) in forms.iter().enumerate() {
        for scale in [1.0, 1e-9, 1e6] {
            let (a, b) = (scale * random.between(0.5, 5.0), scale * random.between(0.5, 5.0));
            let v = random.between(-8.0, 8.0);
            let numbers = [("#V", v), ("#A", a), ("#B", b)];
            let put = |text: String, (name, value): &(&str, f64)| text.replace(name, &format!("({value:?})"));
            let body = numbers.iter().fold((*form).to_owned(), put);
            let what = format!("form {number} at scale {scale}");
            let seen = run(&format!("model M {body} end M;"), "v").unwrap_or_else(|e| panic!("{what}: {e}"));
            close(seen.before, v, &what);
            close(seen.after, v * a / b, &what);
        }
    }
}

#[test]
fn what_stands_under_a_derivative_is_conserved_when_reinit_moves_a_factor() {
    // The state r moves evenly and gets another value at t = 1; #J is a function of it.
    let forms = [
        "equation der((#J)*v) = 0;",
        "equation der(v*(#J)) = 0;",
        "Real p; equation p = (#J)*v; der(p) = 0;",
        "Real m; equation m = #J; der(m*v) = 0;",
        "Real m, p; equation m = #J; p = m*v; 0 = der(p);",
        "Real m = #J, p = m*v; equation der(p) = 0;",
        "Real f; equation f = der((#J)*v); f = 0;",
    ];
    type Factor = (&'static str, fn(f64) -> f64);
    let factors: [Factor; 4] = [
        ("r", |r| r),
        ("1 + 2*r^2", |r| 1.0 + 2.0 * r * r),
        ("exp(-r) + r", |r| (-r).exp() + r),
        ("2 + sin(r)", |r| 2.0 + r.sin()),
    ];
    let mut random = Random(5);
    for (form, (text, factor)) in forms.iter().flat_map(|form| factors.map(|factor| (form, factor))) {
        let (r, v, rate) = (
            random.between(0.5, 3.0),
            random.between(-5.0, 5.0),
            random.between(0.1, 1.0),
        );
        let new = random.between(0.3, 4.0);
        let model = format!(
            "model M Real r(start = {r}, fixed = true), v(start = {v}, fixed = true); {} der(r) = {rate}; \
             when time >= 1 then reinit(r, {new}); end when; end M;",
            form.replace("#J", text)
        );
        let seen = run(&model, "v").unwrap_or_else(|error| panic!("{error}: {model}"));
        let product = factor(r) * v;
        close(seen.before, product / factor(r + rate), &model);
        close(seen.after, product / factor(new), &model);
    }
    // What is set is set, and the other factor stays: the product is what jumps.
    let model = "model M Real r(start = 2, fixed = true), v(start = 3, fixed = true); equation der(r) = 0.5; der(r*v) = 0; \
                 when time >= 1 then reinit(v, 1); end when; end M;";
    close(run(model, "v").unwrap().after, 1.0, "the state that is set");
    close(run(model, "r").unwrap().after, 2.5, "the other state");
}

#[test]
fn charge_of_nonlinear_capacitors_is_conserved() {
    // Coefficient, charge.
    type Law = fn(f64) -> f64;
    let laws: [(&str, Law); 8] = [
        ("1 + 3*v^2", |v| v + v.powi(3)),
        ("exp(v)", f64::exp),
        ("2 + cos(v)", |v| 2.0 * v + v.sin()),
        ("1/(1 + v^2) + 0.1", |v| v.atan() + 0.1 * v),
        ("1 + abs(v)", |v| v + 0.5 * v * v.abs()),
        ("(if v < 1 then 1 else 3)", |v| if v < 1.0 { v } else { 3.0 * v - 2.0 }),
        ("1 + tanh(v)^2", |v| 2.0 * v - v.tanh()),
        ("(if v > 1 then 5 elseif v < -1 then 2 else 1)", |v| {
            v + 4.0 * (v - 1.0).max(0.0) + (v + 1.0).min(0.0)
        }),
    ];
    let forms = [
        "equation (COEFFICIENT)*der(v) = -i;",
        "equation der(v) = -i/(COEFFICIENT);",
        "Real c; equation c*der(v) = -i; c = COEFFICIENT;",
        "Real a, p; equation a = der(v); p + i = 0; p = (COEFFICIENT)*a;",
        "equation 2*i = -der(v)*(COEFFICIENT) - (COEFFICIENT)*der(v);",
    ];
    let mut random = Random(2);
    for (coefficient, charge) in laws {
        // Jumps over the bends of a law, and jumps beside them.
        for form in forms.iter().flat_map(|form| [form; 4]) {
            let (v, w, c) = (
                random.between(-4.0, 4.0),
                random.between(-4.0, 4.0),
                random.between(0.2, 4.0),
            );
            let law = form.replace("COEFFICIENT", coefficient);
            let text = format!(
                "model M Real v(start = {v:?}, fixed = true), w(start = {w:?}, fixed = true), i; Boolean on = time >= 1; \
                 {law} {c:?}*der(w) = i; if on then v = w; else i = 0; end if; end M;"
            );
            let seen = run(&text, "v").unwrap_or_else(|e| panic!("{text}: {e}"));
            close(seen.before, v, &text);
            close(charge(seen.after) + c * seen.after, charge(v) + c * w, &text);
        }
    }
}

#[test]
fn factors_that_a_mode_defines_anew_are_told() {
    let told = |law: &str| {
        let text = format!(
            "model M Real v(start = 3, fixed = true), w(start = -1, fixed = true), i; Boolean on = time >= 1; {law} \
             2*der(w) = i; if on then v = w; else i = 0; end if; end M;"
        );
        let seen = run(&text, "v").unwrap_or_else(|e| panic!("{text}: {e}"));
        let words = ["jumps from", "takes the place of"];
        seen.warnings
            .iter()
            .any(|warning| words.iter().any(|word| warning.contains(word)))
    };
    for law in [
        "Real c; equation if on then c = 3; else c = 1; end if; c*der(v) = -i;",
        "Real c; equation if v > 1.8 then c = 3; else c = 1; end if; c*der(v) = -i;",
        "Real c = if on then 3 else 1; equation c*der(v) = -i;",
        "equation if on then 3*der(v) = -i; else der(v) = -i; end if;",
        "equation if v > 1.8 then 3*der(v) = -i; else der(v) = -i; end if;",
        "discrete Real c(start = 1, fixed = true); equation when on then c = 3; end when; c*der(v) = -i;",
    ] {
        assert!(told(law), "{law}");
    }
    for law in [
        "Real c = 1 + v^2; equation c*der(v) = -i;",
        "Real c = if v > 1.8 then 3 else 1; equation c*der(v) = -i;",
        "Real c; equation if on then c = 1; else c = 1; end if; c*der(v) = -i;",
        "equation if on then 3*der(v) = -3*i; else der(v) = -i; end if;",
    ] {
        assert!(!told(law), "{law}");
    }
}

#[test]
fn laws_that_are_no_derivative_are_refused() {
    // The impulse acts on y while x, its factor, jumps with it.
    let text = "model M Real x(start = 2, fixed = true), y(start = 3, fixed = true), z(start = 0, fixed = true), i; \
                equation x*der(y) = -i; der(x) + 0.5*der(y) = -x; der(z) = i; if time >= 1 then z = y; else i = 0; end if; end M;";
    let refused = run(text, "y").err().expect("refused");
    assert!(refused.contains("not the derivative of anything"), "{refused}");
    // The same law where the factor does not jump.
    let steady = text.replace("der(x) + 0.5*der(y) = -x", "der(x) = -x");
    let seen = run(&steady, "y").expect("runs");
    let x = 2.0 * (-1.0_f64).exp();
    close(seen.after, 3.0 * x / (x + 1.0), "a factor that is continuous");
}

#[test]
fn given_start_values_win() {
    let start = |body: &str, name: &str| {
        let text = format!("model M {body} end M;");
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result().expect("compiles");
        let simulation = model.run().stop(0.1).simulate().expect("runs");
        let first = simulation.values(name).expect("a variable")[0];
        (first, simulation.summary.report.warnings.clone())
    };
    let (v, reported) = start("Real q, v(start = 4); equation q = 2*v; der(q) = -v;", "v");
    assert!((v - 4.0).abs() < 1e-9 && reported.is_empty(), "{v} {reported:?}");
    let (q, _) = start("Real q, v(start = 2); equation q = v + v^3; der(q) = -1;", "q");
    assert!((q - 10.0).abs() < 1e-9);
    let (v, _) = start("Real q(start = 10), v; equation q = v + v^3; der(q) = -1;", "v");
    assert!((v - 2.0).abs() < 1e-9);
    let (v, _) = start(
        "Real q, u, v(start = 4); equation q = 2*u; u = 3*v + 1; der(q) = -v;",
        "v",
    );
    assert!((v - 4.0).abs() < 1e-9);
    let (v, _) = start(
        "function f input Boolean b; output Real m; algorithm m := if b then 3 else 2; end f; \
         Real q, v(start = 4), m = f(time >= 2); equation q = m*v; der(q) = -v;",
        "v",
    );
    assert!((v - 4.0).abs() < 1e-9);
    let (_, reported) = start("Real q(start = 1), v(start = 4); equation q = 2*v; der(q) = -v;", "v");
    assert!(
        reported
            .iter()
            .any(|warning| warning.contains("start values contradict")),
        "{reported:?}"
    );
    let (w, reported) = start(
        "Real a(start = 0), b(start = 10), t; equation der(a) = -t; 4*der(b) = t; a = b;",
        "a",
    );
    assert!(
        (w - 8.0).abs() < 1e-9 && reported.iter().any(|warning| warning.contains("instead of 10")),
        "{reported:?}"
    );
}

#[test]
fn restarts_agree_with_implicit_euler() {
    let text = "model M Real v(start = 2, fixed = true), w(start = 0, fixed = true), i; \
                equation (1 + 3*v^2)*der(v) = -i; 2*der(w) = i; if time >= 1 then v = w; else i = 0; end if; end M;";
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session.compile("M").into_result().expect("compiles");
    let run = model.run().stop(2.0).options(|options| options.verify_restarts = true);
    let simulation = run.simulate().expect("runs");
    assert_eq!(simulation.summary.report.warnings, Vec::<String>::new());
    let seen =
        run_warnings("model M Real w(start = 2), J = if time < 1 then 3 else 1; equation der(J*w) = -0.5; end M;");
    assert_eq!(seen, Vec::<String>::new());
}

fn run_warnings(text: &str) -> Vec<String> {
    run(text, "w").expect("runs").warnings
}
