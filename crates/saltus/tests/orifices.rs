//! Flow through an orifice that reverses: laws with a root in each branch, which has no value where the other branch holds.
//! Compared with an integration of the storage alone, for which the flow is the root of a quadratic equation. No result is
//! wrong. (All of those with roots in branches ended where the flow reverses before these were continued beyond their conditions.)

use saltus::{Method, Session};
use saltus_testing::Random;

struct Circuit {
    resistance: f64,
    orifice: f64,
    storage: f64,
    leak: f64,
    size: f64,
    turning: f64,
}

impl Circuit {
    fn random(random: &mut Random) -> Self {
        let (unit, size) = (random.power(-3.0, 3.0), random.power(-2.0, 3.0));
        Circuit {
            // Of the order of pressure by flow, and so the others.
            resistance: unit * size.sqrt() * random.power(-1.0, 1.0),
            orifice: random.power(-0.5, 0.5) / unit,
            storage: random.between(0.5, 2.0) / (unit * size.sqrt()),
            leak: random.between(0.1, 1.0) / (unit * size.sqrt()),
            size,
            turning: random.between(2.0, 10.0),
        }
    }

    fn rate(&self, time: f64, v: f64) -> f64 {
        let source = self.size * (0.2 + (self.turning * time).sin());
        let drop = source - v;
        let linear = self.resistance * self.orifice;
        let root = 2.0 * drop.abs() / (linear + (linear * linear + 4.0 * drop.abs()).sqrt());
        (drop.signum() * self.orifice * root - self.leak * v) / self.storage
    }

    /// Runge and Kutta.
    fn end(&self, stop: f64) -> f64 {
        let (steps, mut v) = (20_000, 0.0);
        let h = stop / f64::from(steps);
        for step in 0..steps {
            let t = f64::from(step) * h;
            let a = self.rate(t, v);
            let b = self.rate(t + 0.5 * h, v + 0.5 * h * a);
            let c = self.rate(t + 0.5 * h, v + 0.5 * h * b);
            let d = self.rate(t + h, v + h * c);
            v += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        }
        v
    }

    fn text(&self, law: &str) -> String {
        let Circuit {
            resistance,
            orifice,
            storage,
            leak,
            size,
            turning,
        } = self;
        let law = law.replace("#k", &format!("{orifice:?}"));
        format!(
            "model M
              Real v(start = 0, fixed = true), u, dp, q;
            equation
              u = {size:?}*(0.2 + sin({turning:?}*time));
              u - v = {resistance:?}*q + dp;
              {law}
              {storage:?}*der(v) = q - {leak:?}*v;
            end M;"
        )
    }
}

/// Runs that may end early.
const REFUSED: usize = 1;

const LAWS: [&str; 5] = [
    "q = if dp >= 0 then #k*sqrt(dp) else -#k*sqrt(-dp);",
    "q = if dp > 0 then #k*dp^0.5 elseif dp < 0 then -#k*(-dp)^0.5 else 0;",
    "if dp >= 0 then q = #k*sqrt(dp); else q = -#k*sqrt(-dp); end if;",
    "q = #k*sign(dp)*sqrt(abs(dp));",
    "dp = if q >= 0 then (q/#k)^2 else -(q/#k)^2;",
];

#[test]
fn flow_reverses() {
    let mut random = Random::named("orifices");
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for number in 0..40 {
        let (circuit, law) = (Circuit::random(&mut random), LAWS[number % LAWS.len()]);
        let method = random.of(&[Method::Auto, Method::Auto, Method::Bdf, Method::Radau, Method::Dop853]);
        let text = circuit.text(law);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}"));
        let wanted = circuit.end(2.0);
        match model
            .run()
            .stop(2.0)
            .interval(2.0)
            .tolerance(1e-7)
            .solver(method)
            .simulate()
        {
            Ok(run) => {
                let found = run
                    .values("v")
                    .and_then(|values| values.last().copied())
                    .expect("it is shown");
                if (found - wanted).abs() > 1e-4 * circuit.size {
                    wrong.push(format!("{number}: {found} instead of {wanted} with {method:?}\n{text}"));
                }
            }
            Err(failed) => {
                let message = failed.diagnostic().map_or("", |diagnostic| &diagnostic.message);
                refused.push(format!("{number}: {message} with {method:?}\n{text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of 40:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        refused.len() <= REFUSED,
        "{} of 40:\n{}",
        refused.len(),
        refused.join("\n")
    );
}
