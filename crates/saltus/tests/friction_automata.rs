//! Dry friction written as an automaton (forward, backward, stuck) with a path parameter that stands for an acceleration while
//! sliding and for a torque while stuck, as libraries of drive trains do it: inertias of all sizes, both directions, two
//! elements that lock one after the other or together.

use saltus::Session;
use saltus_testing::Random;

const COULOMB: &str = "
model Coulomb
  parameter Real peak;
  Real w, a, tau, sa;
  Boolean up(start = false, fixed = true), down(start = false, fixed = true), locked(start = false);
  Integer mode(start = 3, fixed = true);
equation
  up = pre(mode) == 0 and (sa > peak or pre(up) and sa > peak) or initial() and w > 0;
  down = pre(mode) == 0 and (sa < -peak or pre(down) and sa < -peak) or initial() and w < 0;
  locked = not (pre(mode) == 1 or up or pre(mode) == -1 or down);
  a = if locked then 0
    else if up or not down and pre(mode) == 1 then sa - peak
    else if down or pre(mode) == -1 then sa + peak
    else sa - sign(w)*peak;
  tau = if locked then sa
    else if up or not down and pre(mode) == 1 then peak
    else if down or pre(mode) == -1 then -peak
    else sign(w)*peak;
  mode = if (pre(mode) == 1 or up) and w > 0 then 1 else if (pre(mode) == -1 or down) and w < 0 then -1 else 0;
end Coulomb;
";

/// A clutch between two inertias, the second one braked: the first turns at the start.
struct Train {
    inertias: [f64; 2],
    speed: f64,
    clutch: f64,
    brake: f64,
}

impl Train {
    fn random(random: &mut Random) -> Self {
        let clutch = random.power(-1.0, 2.0);
        let direction = if random.below(2) == 0 { 1.0 } else { -1.0 };
        Train {
            inertias: [random.power(-4.0, 3.0), random.power(-4.0, 3.0)],
            speed: direction * random.power(-1.0, 2.0),
            clutch,
            brake: clutch * random.power(-1.0, 1.0),
        }
    }

    fn text(&self) -> String {
        let [j1, j2] = self.inertias;
        let (speed, clutch, brake) = (self.speed, self.clutch, self.brake);
        format!(
            "{COULOMB}
            model M
              Real w1(start = {speed:?}, fixed = true), w2(start = 0, fixed = true);
              Coulomb c(peak = {clutch:?}), b(peak = {brake:?});
            equation
              {j1:?}*der(w1) = -c.tau;
              {j2:?}*der(w2) = c.tau - b.tau;
              c.w = w1 - w2; b.w = w2; c.a = der(c.w); b.a = der(b.w);
            end M;"
        )
    }

    /// When the inertias turn together, at which speed, and when they stand.
    fn times(&self) -> (f64, f64, f64) {
        let [j1, j2] = self.inertias;
        let speed = self.speed.abs();
        if self.clutch <= self.brake {
            let stands = j1 * speed / self.clutch;
            return (stands, 0.0, stands);
        }
        let drive = (self.clutch - self.brake) / j2;
        let together = speed / (self.clutch / j1 + drive);
        let common = drive * together;
        (together, common, together + common * (j1 + j2) / self.brake)
    }

    /// The speeds at a time.
    fn speeds(&self, time: f64) -> [f64; 2] {
        let [j1, j2] = self.inertias;
        let (together, common, stands) = self.times();
        let drive = ((self.clutch - self.brake) / j2).max(0.0);
        let speeds = if time < together {
            [self.speed.abs() - self.clutch / j1 * time, drive * time]
        } else if time < stands {
            [common - self.brake / (j1 + j2) * (time - together); 2]
        } else {
            [0.0; 2]
        };
        speeds.map(|speed| speed * self.speed.signum())
    }
}

#[test]
fn a_clutch_and_a_brake_lock_and_stay_locked() {
    let mut random = Random(11);
    for number in 0..40 {
        let train = Train::random(&mut random);
        let session = Session::new();
        session.add_text("M.mo", &train.text());
        let model = session.compile("M").into_result();
        let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}"));
        let run = model.run().stop(1.5 * train.times().2).simulate();
        let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{}", failed.diagnostic(), train.text()));
        let found = ["w1", "w2"].map(|name| run.values(name).unwrap_or_else(|| panic!("{number}: no {name}")));
        for (row, &time) in run.time().iter().enumerate() {
            for (found, wanted) in found.iter().zip(train.speeds(time)) {
                assert!(
                    (found[row] - wanted).abs() <= 1e-3 * train.speed.abs(),
                    "{number}, t = {time}: {} instead of {wanted}\n{}",
                    found[row],
                    train.text()
                );
            }
        }
    }
}
