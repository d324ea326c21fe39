//! A block on a belt that sticks and slips, its relative speed a variable of its own. While it sticks this variable is zero, and so the
//! condition on it is read in another way than while it slips; at its second slip it must be looked at again as it is read then. (The end
//! of the slip was found at the end of a step, up to a tenth of a second late, and the block was drawn back.)

use saltus::{Method, Session};
use saltus_testing::Random;

struct Block {
    mass: f64,
    spring: f64,
    belt: f64,
    breakaway: f64,
    sliding: f64,
}

impl Block {
    fn random(random: &mut Random) -> Self {
        let (mass, spring) = (random.power(-2.0, 2.0), random.power(-1.0, 2.0));
        let force = random.power(-1.0, 2.0);
        Block {
            mass,
            spring,
            // Of the order of what the spring makes of the force.
            belt: random.between(0.1, 1.0) * force / (spring * mass).sqrt(),
            breakaway: force,
            sliding: force * random.between(0.2, 0.8),
        }
    }

    fn frequency(&self) -> f64 {
        (self.spring / self.mass).sqrt()
    }

    /// From one breakaway to the next: the slip is a part of a circle around the place where the sliding force is in balance,
    /// then the spring is drawn by the belt.
    fn times(&self, count: usize) -> Vec<f64> {
        let (w, amplitude) = (self.frequency(), (self.breakaway - self.sliding) / self.spring);
        let slip = (2.0 * std::f64::consts::PI - 2.0 * (w * amplitude / self.belt).atan()) / w;
        let stick = 2.0 * amplitude / self.belt;
        // It begins at rest on the belt where the spring is loose.
        let mut time = self.breakaway / self.spring / self.belt;
        let mut times = Vec::new();
        for _ in 0..count {
            times.push(time);
            times.push(time + slip);
            time += slip + stick;
        }
        times
    }

    fn text(&self, law: &str) -> String {
        let Block {
            mass,
            spring,
            belt,
            breakaway,
            sliding,
        } = self;
        let law = law.replace("#b", &format!("{breakaway:?}"));
        format!(
            "model M
              Real x(start = 0, fixed = true), v(start = {belt:?}), w, f;
              Boolean slip(start = false, fixed = true);
            equation
              der(x) = v; {mass:?}*der(v) = -{spring:?}*x - f; w = v - {belt:?};
              {law}
              if slip then f = -{sliding:?}; else w = 0; end if;
            end M;"
        )
    }
}

const LAWS: [&str; 4] = [
    "slip = if pre(slip) then w < 0 else f < -#b;",
    "slip = pre(slip) and w < 0 or not pre(slip) and f < -#b;",
    "when not pre(slip) and f < -#b then slip = true; elsewhen pre(slip) and w >= 0 then slip = false; end when;",
    "slip = if pre(slip) then not w >= 0 else not f >= -#b;",
];

#[test]
fn each_slip_ends_where_the_speeds_agree() {
    let mut random = Random::named("stick and slip");
    let mut wrong = Vec::new();
    for number in 0..48 {
        let (block, law) = (Block::random(&mut random), LAWS[number % LAWS.len()]);
        let method = random.of(&[Method::Auto, Method::Dop853, Method::Radau, Method::Bdf]);
        let text = block.text(law);
        let session = Session::new();
        session.add_text("M.mo", &text);
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}"));
        let wanted = block.times(4);
        let stop = wanted[wanted.len() - 1] + 0.1 / block.frequency();
        let run = match model.run().stop(stop).tolerance(1e-8).solver(method).simulate() {
            Ok(run) => run,
            Err(failed) => {
                wrong.push(format!("{number}: {:?} with {method:?}\n{text}", failed.diagnostic()));
                continue;
            }
        };
        let mut found: Vec<f64> = run
            .trajectory
            .events()
            .iter()
            .map(|event| event.time)
            .filter(|&time| time > 0.0)
            .collect();
        found.dedup();
        let agree = found.len() == wanted.len()
            && found
                .iter()
                .zip(&wanted)
                .all(|(found, wanted)| (found - wanted).abs() < 1e-5 * wanted);
        if !agree {
            wrong.push(format!(
                "{number}: {found:?} instead of {wanted:?} with {method:?}\n{text}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of 48:\n{}", wrong.len(), wrong.join("\n"));
}
