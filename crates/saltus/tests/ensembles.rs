//! Many runs: designs, outputs, threads, failures, values that shape the equations.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use saltus::ensemble::{Design, EnsembleRow, Factor, Output, RunTable};
use saltus::simulate::Cancel;
use saltus::source::codes;
use saltus::{Model, ModelFileOptions, Session};
use saltus_testing::repository;

fn factors(texts: &[&str]) -> Vec<Factor> {
    texts.iter().map(|text| Factor::parse(text).unwrap()).collect()
}

fn outputs(text: &str) -> Vec<Output> {
    Output::parse_list(text).unwrap()
}

fn session(text: &str) -> Session {
    let session = Session::new();
    session.add_text("M.mo", text);
    session
}

fn clutch() -> Model {
    let session = Session::new();
    session.add_file(repository().join("examples/mechanics/SlippingClutch.mo"));
    session.compile("SlippingClutch").into_result().unwrap()
}

fn values(row: &EnsembleRow) -> &[f64] {
    row.outcome.as_deref().unwrap_or_else(|error| panic!("{error:?}"))
}

/// Closed forms of the example, over all combinations.
#[test]
fn a_sweep_follows_the_closed_form() {
    let model = clutch();
    let design = Design::grid(factors(&["torque=6:24:6", "J2=1,3,6", "w0=50,100"])).unwrap();
    let outputs =
        outputs("first(locked),heat,max(w2),min(w1),mean(tau),modes(),events(),end(),time_of_max(w1),initial(w1),time");
    let rows = model
        .ensemble(&design, &outputs)
        .configure(|run| run.tolerance(1e-9))
        .simulate()
        .unwrap();
    assert_eq!(rows.len(), 24);
    for row in &rows {
        let point: Vec<f64> = design.point(row.run).iter().map(|text| text.parse().unwrap()).collect();
        let (torque, j2, w0) = (point[0], point[1], point[2]);
        let reduced = 2.0 * j2 / (2.0 + j2);
        let locks = reduced * w0 / torque;
        let close = |found: f64, wanted: f64| {
            assert!(
                (found - wanted).abs() <= 1e-5 * wanted.abs(),
                "{point:?}: {found} {wanted}"
            )
        };
        let found = values(row);
        if locks < 30.0 {
            close(found[0], locks);
            close(found[1], 0.5 * reduced * w0 * w0);
            close(found[2], 2.0 * w0 / (2.0 + j2));
            close(found[3], 2.0 * w0 / (2.0 + j2));
            close(found[4], torque * locks / 30.0);
            assert_eq!(found[5..7], [2.0, 1.0]);
        } else {
            assert!(found[0].is_nan());
            assert_eq!(found[5..7], [1.0, 0.0]);
        }
        assert_eq!(found[7..], [30.0, 0.0, w0, 30.0]);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let model = clutch();
    let design = Design::latin_hypercube(factors(&["torque=3:50", "J2=0.5:8", "w0=10,50,100"]), 40, 5).unwrap();
    let outputs = outputs("first(locked),heat,max(w2),mean(tau)");
    let table = RunTable::new(&design, &outputs);
    let text = |threads: usize, first: usize| {
        let mut text = String::new();
        let ensemble = model.ensemble(&design, &outputs).threads(threads).first(first);
        let ran = ensemble.simulate_into(|row| {
            text.push_str(&table.line(&row));
            ControlFlow::Continue(())
        });
        ran.unwrap();
        text
    };
    let one = text(1, 0);
    assert_eq!(one.lines().count(), 40);
    for threads in [2, 3, 7] {
        assert_eq!(text(threads, 0), one, "{threads}");
    }
    // Gone on with anywhere, it is the same.
    for first in [1, 17, 39] {
        let rest: String = one.split_inclusive('\n').skip(first).collect();
        assert_eq!(text(2, first), rest, "{first}");
    }
}

#[test]
fn grids_count_like_digits() {
    for shape in [vec![1, 1], vec![3, 2], vec![2, 3, 4], vec![5], vec![2, 1, 2, 3]] {
        let names = shape.iter().enumerate().map(|(at, count)| {
            let values: Vec<String> = (0..*count).map(|value| value.to_string()).collect();
            format!("p{at}={}", values.join(","))
        });
        let names: Vec<String> = names.collect();
        let design = Design::grid(names.iter().map(|text| Factor::parse(text).unwrap()).collect()).unwrap();
        assert_eq!(design.len(), shape.iter().product::<usize>());
        for run in 0..design.len() {
            let digits: Vec<usize> = design.point(run).iter().map(|digit| digit.parse().unwrap()).collect();
            let number = digits
                .iter()
                .zip(&shape)
                .fold(0, |number, (digit, count)| number * count + digit);
            assert_eq!(number, run);
        }
    }
}

#[test]
fn ranges_have_the_digits_that_were_meant() {
    let levels = |text: &str| {
        let design = Design::grid(factors(&[text])).unwrap();
        (0..design.len())
            .map(|run| design.point(run).remove(0))
            .collect::<Vec<_>>()
    };
    assert_eq!(levels("p=0:0.5:0.1"), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    assert_eq!(levels("p=1:5:2"), ["1", "3", "5"]);
    assert_eq!(levels("p=1:2:0.3"), ["1", "1.3", "1.6", "1.9"]);
    assert_eq!(levels("p=1:-1:-1"), ["1", "0", "-1"]);
    assert_eq!(levels("p=3:3:1"), ["3"]);
    assert_eq!(
        levels("p=1e-9:3e-9:1e-9"),
        ["0.000000001", "0.000000002", "0.000000003"]
    );
    assert_eq!(levels("p=true,false"), ["true", "false"]);
    for count in [7, 50, 1000] {
        assert_eq!(
            levels(&format!("p=0:1:{}", 1.0 / f64::from(count))).len(),
            count as usize + 1
        );
    }
}

#[test]
fn what_is_no_range_is_refused() {
    for text in [
        "p",
        "=1",
        "p=",
        "p=1:0.5:5",
        "p=5:1",
        "p=1:2:0",
        "p=1:2:-1",
        "p=a:b",
        "p=1:2:3:4",
        "p=1,,2",
        "p=0:1:1e-9",
        "p=1:inf:1",
    ] {
        let refused = Factor::parse(text).and_then(|factor| Design::latin_hypercube(vec![factor], 3, 0));
        assert_eq!(refused.unwrap_err().code, codes::E0709, "{text}");
    }
    assert!(Design::grid(factors(&["p=1:2"])).is_err());
    assert!(Design::grid(factors(&["p=1,2", "p=3"])).is_err());
    assert!(Design::grid(Vec::new()).is_err());
    assert!(Design::sobol(factors(&["p=1:2"]), 0, None).is_err());
    assert!(Design::list_from_csv("p,q\n1,2\n3\n").is_err());
    assert!(Design::list_from_csv("").is_err());
    assert!(Design::list_from_csv("p\n\"1\n2\"\n").is_err());
    let large = ["a=0:1:1e-5", "b=0:1:1e-5", "c=0:1:1e-5", "d=0:1:1e-5"];
    assert!(Design::grid(factors(&large)).is_err());
    let many: Vec<Factor> = (0..30)
        .map(|at| Factor::parse(&format!("p{at}=0:1")).unwrap())
        .collect();
    let refused = Design::sobol(many, 8, None).unwrap_err();
    assert!(refused.help[0].contains("Latin"), "{refused:?}");
}

/// Every stratum of every range holds one run, whatever the seed.
#[test]
fn latin_hypercubes_meet_every_stratum() {
    for (seed, count) in [(0, 1), (1, 10), (2, 97), (3, 1000), (u64::MAX, 64)] {
        let make = || Design::latin_hypercube(factors(&["p=2:5", "q=-1:0", "r=a,b,c,d"]), count, seed).unwrap();
        let design = make();
        let (mut p, mut q, mut r) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for run in 0..count {
            let point = design.point(run);
            let number = |at: usize| point[at].parse::<f64>().unwrap();
            p.insert(((number(0) - 2.0) / 3.0 * count as f64 + 1e-9) as usize);
            q.insert(((number(1) + 1.0) * count as f64 + 1e-9) as usize);
            r.push(point[2].clone());
        }
        assert_eq!((p.len(), q.len()), (count, count), "{seed}");
        for value in ["a", "b", "c", "d"] {
            let met = r.iter().filter(|found| *found == value).count();
            assert!(met.abs_diff(count / 4) <= 1, "{value}: {met} of {count}");
        }
        assert_eq!(make(), design);
    }
    let other = |seed| Design::latin_hypercube(factors(&["p=0:1"]), 20, seed).unwrap().point(0);
    assert_ne!(other(1), other(2));
}

#[test]
fn sobol_points_are_scaled() {
    let design = Design::sobol(factors(&["p=0:1", "q=10:20", "r=a,b"]), 4, None).unwrap();
    let points: Vec<Vec<String>> = (0..4).map(|run| design.point(run)).collect();
    let known = [["0", "10"], ["0.5", "15"], ["0.75", "12.5"], ["0.25", "17.5"]];
    for (point, known) in points.iter().zip(known) {
        assert_eq!(point[..2], known);
    }
    assert_eq!(points.iter().filter(|point| point[2] == "a").count(), 2);
    let shifted = Design::sobol(factors(&["p=0:1"]), 4, Some(1)).unwrap();
    assert_ne!(shifted.point(0), ["0"]);
}

#[test]
fn lists_come_as_they_are() {
    let design = Design::list_from_csv("torque, J2\n10,1\n20,\"2\"\n").unwrap();
    let rows = clutch()
        .ensemble(&design, &outputs("first(locked)"))
        .simulate()
        .unwrap();
    let found: Vec<f64> = rows.iter().map(|row| values(row)[0]).collect();
    assert!(
        (found[0] - 2.0 / 3.0 * 10.0).abs() < 1e-4 && (found[1] - 5.0).abs() < 1e-4,
        "{found:?}"
    );
}

/// What fails is a row like others.
#[test]
fn failures_are_recorded() {
    let session = session(
        "model Root parameter Real a = 1; Real x(start = 1, fixed = true), y; \
         equation der(x) = -a; y = sqrt(x); end Root;",
    );
    let model = session.compile("Root").into_result().unwrap();
    let design = Design::grid(factors(&["a=0.5,2,0.25,-1,3"])).unwrap();
    let outputs = outputs("y,min(x)");
    let rows = model.ensemble(&design, &outputs).simulate().unwrap();
    let failed: Vec<bool> = rows.iter().map(|row| row.outcome.is_err()).collect();
    assert_eq!(failed, [false, true, false, false, true]);
    assert_eq!(rows[1].outcome.as_ref().unwrap_err().code, codes::E0608);
    let line = RunTable::new(&design, &outputs).line(&rows[1]);
    assert!(
        line.starts_with("2,2,,,E0608,\"") || line.starts_with("2,2,,,E0608,"),
        "{line}"
    );
}

#[test]
fn mistakes_are_told_before_the_first_run() {
    let model = clutch();
    let refused = |vary: &str, wanted: &str| {
        let (design, outputs) = (Design::grid(factors(&[vary])).unwrap(), outputs(wanted));
        let mut rows = 0;
        let ran = model.ensemble(&design, &outputs).set("w0", "10").simulate_into(|_| {
            rows += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(rows, 0);
        ran.unwrap_err().code
    };
    assert_eq!(refused("torqe=1,2", "w1"), codes::E0614);
    assert_eq!(refused("torque=1,x", "w1"), codes::E0614);
    assert_eq!(refused("w1=1,2", "w1"), codes::E0614);
    assert_eq!(refused("torque=1,2", "w3"), codes::E0704);
    assert_eq!(refused("w0=1,2", "w1"), codes::E0709);
    for wrong in ["sin(w1)", "max()", "", "w1,", "events(w1)"] {
        assert_eq!(Output::parse_list(wrong).unwrap_err().code, codes::E0709, "{wrong}");
    }
    assert_eq!(outputs("a[1,2],max(b[1,2]),'x,y'").len(), 3);
}

const SHAPED: &str = "
    model Shaped
      parameter Integer n = 2;
      parameter Real k = 1, m = 1;
      Real x[n](each start = 1, each fixed = true), total;
    equation
      for i in 1:n loop
        der(x[i]) = -k*x[i];
      end for;
      total = m*sum(x);
    end Shaped;";

/// Sizes, start values and coefficients that vanish: the equations are others in every run.
#[test]
fn values_that_shape_the_equations_are_compiled() {
    let session = session(SHAPED);
    let model = session.compile("Shaped").into_result().unwrap();
    let outputs = outputs("total");
    let design = Design::grid(factors(&["n=1:5:1", "k=0,0.5,1"])).unwrap();
    let refused = model.ensemble(&design, &outputs).simulate().unwrap_err();
    assert_eq!(refused.code, codes::E0614);
    let run = |threads| {
        let ensemble = model.ensemble(&design, &outputs).compile_in(&session).threads(threads);
        ensemble
            .set("m", "2")
            .configure(|run| run.tolerance(1e-9))
            .simulate()
            .unwrap()
    };
    let rows = run(2);
    for row in &rows {
        let point: Vec<f64> = design.point(row.run).iter().map(|text| text.parse().unwrap()).collect();
        let wanted = 2.0 * point[0] * (-point[1]).exp();
        assert!((values(row)[0] - wanted).abs() < 1e-6, "{point:?}: {:?}", row.outcome);
    }
    assert_eq!(run(1), rows);
    // A coefficient that vanishes at one point only: compiled there, or refused.
    let corner = Design::sobol(factors(&["m=0:2"]), 4, None).unwrap();
    let rows = model
        .ensemble(&corner, &outputs)
        .compile_in(&session)
        .simulate()
        .unwrap();
    for (row, m) in rows.iter().zip([0.0, 1.0, 1.5, 0.5]) {
        assert!(
            (values(row)[0] - m * 2.0 * (-1.0_f64).exp()).abs() < 1e-4,
            "{m}: {row:?}"
        );
    }
    assert_eq!(
        model.ensemble(&corner, &outputs).simulate().unwrap_err().code,
        codes::E0614
    );
    let whole = Design::latin_hypercube(factors(&["n=1:3"]), 4, 0).unwrap();
    let rows = model.ensemble(&whole, &outputs).compile_in(&session).simulate();
    assert!(rows.is_err() || rows.unwrap().iter().all(|row| row.outcome.is_err()));
    // A file has one shape.
    let file = Model::from_bytes(&model.to_bytes(ModelFileOptions::default()).unwrap()).unwrap();
    let refused = file.ensemble(&design, &outputs).simulate().unwrap_err();
    assert!(
        refused.code == codes::E0614 && refused.help[0].contains("model file"),
        "{refused:?}"
    );
    let design = Design::grid(factors(&["k=0.5,1"])).unwrap();
    let (direct, read) = (model.ensemble(&design, &outputs), file.ensemble(&design, &outputs));
    assert_eq!(read.simulate().unwrap(), direct.simulate().unwrap());
}

#[test]
fn a_sweep_can_be_stopped() {
    let model = clutch();
    let design = Design::sobol(factors(&["torque=3:50"]), 1000, None).unwrap();
    let outputs = outputs("w1");
    let mut rows = Vec::new();
    let ran = model.ensemble(&design, &outputs).simulate_into(|row| {
        rows.push(row.run);
        if rows.len() < 7 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    ran.unwrap();
    assert_eq!(rows, (0..7).collect::<Vec<_>>());
    let cancel = Cancel::new();
    let token = cancel.clone();
    let mut count = 0;
    let ran = model.ensemble(&design, &outputs).cancel(cancel).simulate_into(|_| {
        count += 1;
        token.cancel();
        ControlFlow::Continue(())
    });
    ran.unwrap();
    assert!((1..50).contains(&count), "{count}");
}

/// Whatever is left of a table, what is kept of it are its complete rows, and only if they are those of the design.
#[test]
fn tables_are_gone_on_with() {
    let model = clutch();
    let design = Design::grid(factors(&["torque=6,12", "J2=1,2,3"])).unwrap();
    let outputs = outputs("first(locked),heat");
    let table = RunTable::new(&design, &outputs);
    let rows = model.ensemble(&design, &outputs).simulate().unwrap();
    let lines: Vec<String> = rows.iter().map(|row| table.line(row)).collect();
    let text = table.header() + &lines.concat();
    for cut in 0..=text.len() {
        let kept = table.kept(&text.as_bytes()[..cut]).unwrap();
        let complete = text[..cut].matches('\n').count();
        assert_eq!(kept.rows, complete.saturating_sub(1));
        assert!(kept.bytes <= cut && (kept.bytes == 0 || text.as_bytes()[kept.bytes - 1] == b'\n'));
        let rest: String = lines[kept.rows..].concat();
        let begun = if kept.bytes == 0 {
            table.header()
        } else {
            text[..kept.bytes].to_owned()
        };
        assert_eq!(begun + &rest, text);
    }
    let other = Design::grid(factors(&["torque=6,12", "J2=1,2,4"])).unwrap();
    assert!(RunTable::new(&other, &outputs).kept(text.as_bytes()).is_err());
    assert!(
        RunTable::new(&design, &self::outputs("heat"))
            .kept(text.as_bytes())
            .is_err()
    );
    assert!(table.kept(&[0xff, b'\n']).is_err());
    assert!(table.kept((text.clone() + &lines[5]).as_bytes()).is_err());
}

/// A list without names has runs of the model as it is; other designs vary something.
#[test]
fn nothing_varied() {
    let session = Session::new();
    session.add_text(
        "M.mo",
        "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;",
    );
    let model = session.compile("M").into_result().unwrap();
    let design = Design::list(Vec::new(), vec![Vec::new(); 3]).unwrap();
    let rows = model.ensemble(&design, &outputs("x")).simulate().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(
        rows.iter()
            .all(|row| row.outcome == rows[0].outcome && row.outcome.is_ok())
    );
    assert!(Design::list(Vec::new(), Vec::new()).is_err());
    assert!(Design::grid(Vec::new()).is_err());
}
