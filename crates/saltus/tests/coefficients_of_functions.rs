//! Ladders of resistors with capacitances that functions compute from a parameter and the voltage. Where the parameter is zero the
//! node has no state, whatever way the function takes; the same ladder with these nodes written as algebraic equations tells.

use saltus::{Session, Simulation};
use saltus_testing::Random;

/// Ways to multiply a capacitance by something of the voltage; all but the first only show that when they are followed.
const FUNCTIONS: &str = "
  function plain
    input Real c, v; output Real C;
  algorithm
    C := c*(1 + v^2);
  end plain;
  function branched
    input Real c, v; output Real C, q;
  protected
    Real czof;
  algorithm
    if v < 0.3 then
      C := c*exp(-v);
    else
      czof := c/2;
      C := czof*(1 + 2*v);
    end if;
    q := C*v;
  end branched;
  function summed
    input Real c, v; input Integer n = 4; output Real C;
  protected
    Real parts[4];
  algorithm
    C := 0;
    for k in 1:n loop
      parts[k] := c*k*(1 + v)/10;
      C := C + parts[k];
      if C > 1e9 then
        break;
      end if;
    end for;
  end summed;
  function passed
    input Real c, v; output Real C, rest;
  protected
    Real other;
  algorithm
    (C, other) := branched(2*c, v);
    C := min(C, summed(c, v) + C);
    rest := other + v;
    if v > 100 then
      return;
    end if;
    C := 0.5*C;
  end passed;
";

/// Nodes with their capacitances and how these are computed.
struct Ladder {
    nodes: Vec<(f64, &'static str)>,
}

impl Ladder {
    fn random(random: &mut Random) -> Self {
        let node = |random: &mut Random| {
            let c = if random.below(2) == 0 {
                0.0
            } else {
                random.between(0.2, 2.0)
            };
            (c, ["plain", "branched", "summed", "passed"][random.below(4)])
        };
        let count = 2 + random.below(4);
        Ladder {
            nodes: (0..count).map(|_| node(random)).collect(),
        }
    }

    /// The model, with a capacitance for every node or only where there is one.
    fn text(&self, all: bool) -> String {
        let mut declared = String::new();
        let mut equations = String::new();
        let count = self.nodes.len();
        for (k, (c, function)) in self.nodes.iter().enumerate() {
            let before = if k == 0 { "s".to_owned() } else { format!("u{}", k - 1) };
            let after = if k + 1 == count {
                "0".to_owned()
            } else {
                format!("u{}", k + 1)
            };
            let current = format!("({before} - u{k})/2 + ({after} - u{k})/3");
            declared.push_str(&format!("  parameter Real c{k} = {c};\n  Real C{k};\n"));
            if all || *c != 0.0 {
                let start = if *c == 0.0 { "" } else { "(start = 0.1, fixed = true)" };
                declared.push_str(&format!("  Real u{k}{start};\n"));
                equations.push_str(&format!(
                    "  C{k} = {function}(c{k}, u{k});\n  C{k}*der(u{k}) = {current};\n"
                ));
            } else {
                declared.push_str(&format!("  Real u{k};\n"));
                equations.push_str(&format!("  C{k} = 0;\n  0 = {current};\n"));
            }
        }
        format!("model M\n{FUNCTIONS}{declared}  Real s = 1 + sin(3*time);\nequation\n{equations}end M;\n")
    }
}

fn simulated(text: &str) -> Simulation {
    let session = Session::new();
    session.add_text("M.mo", text);
    let model = session
        .compile("M")
        .into_result()
        .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let run = model.run().stop(2.0).interval(0.1).tolerance(1e-9);
    run.simulate().unwrap_or_else(|failure| panic!("{failure}\n{text}"))
}

#[test]
fn nodes_without_capacitance_are_no_states() {
    let mut random = Random(11);
    let mut vanished = 0;
    for _ in 0..24 {
        let ladder = Ladder::random(&mut random);
        vanished += ladder.nodes.iter().filter(|(c, _)| *c == 0.0).count();
        let text = ladder.text(true);
        let (found, expected) = (simulated(&text), simulated(&ladder.text(false)));
        for k in 0..ladder.nodes.len() {
            let name = format!("u{k}");
            let last = |run: &Simulation| *run.values(&name).unwrap().last().unwrap();
            let (found, expected) = (last(&found), last(&expected));
            assert!(
                (found - expected).abs() < 1e-6,
                "{name}: {found} instead of {expected}\n{text}"
            );
        }
    }
    assert!(vanished > 20, "some nodes have no capacitance");
}
