//! Figures, checked by their structure.

use saltus_results::figure::{Figure, FigureOptions, Panel, default_selection, figure};
use saltus_results::*;

/// Rows from a function of time; the schema is filled in order.
fn run(signals: Vec<Signal>, rows: usize, f: impl Fn(f64) -> Vec<f64>, mode: impl Fn(f64) -> u32) -> Trajectory {
    let manifest = Manifest {
        model: "Pkg.<Model> & \"more\"".into(),
        ..Manifest::default()
    };
    run_with(manifest, signals, rows, f, mode)
}

fn run_with(
    manifest: Manifest,
    signals: Vec<Signal>,
    rows: usize,
    f: impl Fn(f64) -> Vec<f64>,
    mode: impl Fn(f64) -> u32,
) -> Trajectory {
    let mut result = Trajectory::new();
    result.begin(&Schema::new(signals).unwrap(), &manifest).unwrap();
    for row in 0..rows {
        let t = row as f64 / (rows - 1) as f64 * 10.0;
        result.row(t, RowKind::Regular, mode(t), &f(t)).unwrap();
    }
    result.finish(&Summary::default()).unwrap();
    result
}

fn draw(trajectory: &Trajectory, signals: &[&str]) -> (Figure, String) {
    let signals = signals.iter().map(|s| s.to_string()).collect();
    let options = FigureOptions {
        signals,
        ..FigureOptions::default()
    };
    let figure = figure(trajectory, &options).unwrap();
    let svg = figure.to_svg();
    assert_well_formed(&svg);
    (figure, svg)
}

/// Tags are closed in order, attributes are quoted, no stray `&` or `<`, no NaN in coordinates.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "stray `>`");
        let end = start + rest[start..].find('>').expect("tag is closed");
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    for part in svg.split('&').skip(1) {
        assert!(
            ["amp;", "lt;", "gt;", "quot;"].iter().any(|e| part.starts_with(e)),
            "&{:.9}",
            part
        );
    }
    assert!(
        !svg.contains("NaN") && !svg.contains("inf"),
        "numbers that cannot be drawn"
    );
}

#[test]
fn units_make_panels_and_are_shown() {
    let signals = vec![
        Signal::new("phi").with_unit("rad").with_display_unit("deg"),
        Signal::new("psi").with_unit("rad").with_display_unit("deg"),
        Signal::new("T").with_unit("K").with_display_unit("degC"),
        Signal::new("on").with_kind(SignalKind::Boolean),
    ];
    let trajectory = run(
        signals,
        50,
        |t| vec![t / 10.0, -t / 10.0, 273.15 + t, f64::from(t > 5.0)],
        |_| 0,
    );
    let (figure, svg) = draw(&trajectory, &["*"]);
    let [
        Panel::Values { curves, unit, .. },
        Panel::Values { range, .. },
        Panel::Strips(strips),
    ] = &figure.panels[..]
    else {
        panic!("{:?}", figure.panels)
    };
    assert_eq!((curves.len(), unit.as_str()), (2, "deg"));
    let last = curves[0].pieces[0].last().unwrap();
    assert!((last.1 - 1f64.to_degrees()).abs() < 1e-9);
    assert!(range.0 < 0.0 && range.1 > 10.0 && range.1 < 12.0, "{range:?}");
    assert_eq!(strips[0].stretches.len(), 2);
    for text in [
        ">[deg]<",
        ">[°C]<",
        ">time [s]<",
        ">phi<",
        ">psi<",
        ">T<",
        ">on<",
        "class=\"on\"",
        "class=\"off\"",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains("Pkg.&lt;Model&gt; &amp; &quot;more&quot;"));
}

#[test]
fn jumps_gaps_and_impulses() {
    let mut trajectory = Trajectory::new();
    let schema = Schema::new(vec![
        Signal::new("f").with_unit("N"),
        Signal::new("i").with_unit("A"),
        Signal::alias("reaction", SignalId(0), AliasSign::Negated).with_unit("N"),
    ])
    .unwrap();
    trajectory.begin(&schema, &Manifest::default()).unwrap();
    let mode = |mode, label: &str| ModeRecord {
        mode,
        label: label.into(),
        ..ModeRecord::default()
    };
    trajectory.mode(&mode(0, "free")).unwrap();
    trajectory.mode(&mode(1, "stuck <fast>")).unwrap();
    for (time, kind, mode, values) in [
        (0.0, RowKind::Regular, 0, [0.0, f64::NAN]),
        (1.0, RowKind::EventLeft, 0, [0.0, f64::NAN]),
        (1.0, RowKind::EventRight, 1, [4.0, 1.0]),
        (2.0, RowKind::EventLeft, 1, [4.0, 2.0]),
        (2.0, RowKind::EventRight, 0, [1.0, f64::NAN]),
        (3.0, RowKind::Regular, 0, [1.0, f64::NAN]),
    ] {
        trajectory.row(time, kind, mode, &values).unwrap();
    }
    let impulses = vec![Impulse {
        variable: "f".into(),
        order: 1,
        weight: 2.5,
    }];
    trajectory
        .event(&EventRecord {
            time: 1.0,
            to_mode: 1,
            impulses,
            ..EventRecord::default()
        })
        .unwrap();
    trajectory.finish(&Summary::default()).unwrap();
    let (figure, svg) = draw(&trajectory, &["f", "i"]);
    let [
        Panel::Values { curves: force, .. },
        Panel::Values { curves: current, .. },
    ] = &figure.panels[..]
    else {
        panic!("{:?}", figure.panels)
    };
    assert_eq!((force[0].pieces.len(), force[0].jumps.len()), (3, 2));
    assert_eq!((current[0].pieces.len(), current[0].jumps.len()), (1, 0));
    assert_eq!(svg.matches("class=\"jump\"").count(), 2);
    assert_eq!(svg.matches("class=\"impulse\"").count(), 1);
    assert!(svg.contains(">2.5 N·s<"));
    let (_, of_alias) = draw(&trajectory, &["reaction"]);
    assert!(of_alias.contains(">−2.5 N·s<"), "an alias has the impulse too");
    let bands: Vec<_> = figure.mode_bands.iter().map(|b| (b.start, b.stop, b.color)).collect();
    assert_eq!(bands, [(0.0, 1.0, 0), (1.0, 2.0, 1), (2.0, 3.0, 0)]);
    assert!(svg.contains(">stuck &lt;fast&gt;<"));
}

#[test]
fn large_results_make_small_pictures() {
    let signals = vec![
        Signal::new("x"),
        Signal::new("b").with_kind(SignalKind::Boolean),
        Signal::new("s"),
    ];
    let dead = |t: f64| {
        if ((t * 1e4) as u64).is_multiple_of(2) {
            f64::NAN
        } else {
            t
        }
    };
    let values = |t: f64| {
        vec![
            (1e3 * t).sin(),
            f64::from(((t * 1e4) as u64).is_multiple_of(2)),
            dead(t),
        ]
    };
    let trajectory = run(signals, 200_000, values, |t| (t * 1e4) as u32 % 3);
    let (_, svg) = draw(&trajectory, &["x", "b", "s"]);
    assert!(svg.len() < 300_000, "{}", svg.len());
}

#[test]
fn the_default_selection_is_small_and_sensible() {
    let mut signals = vec![
        Signal::new("still").with_role(Role::State),
        Signal::new("secret").with_role(Role::State).protected(),
        Signal::new("x").with_unit("m").with_role(Role::State),
        Signal::new("v").with_unit("m/s").with_role(Role::State),
        Signal::new("der(v)").with_unit("m/s2").with_role(Role::Derivative),
        Signal::constant("m", 1.0),
        Signal::alias("same_as_x", SignalId(2), AliasSign::Same),
    ];
    signals.extend((0..40).map(|k| Signal::new(format!("deep.in.the.model[{k}].y")).with_unit(format!("u{}", k % 9))));
    let trajectory = run(signals, 50, |t| [vec![1.0], vec![t; 44]].concat(), |_| 0);
    let chosen = default_selection(&trajectory);
    let names: Vec<&str> = chosen
        .iter()
        .map(|&id| trajectory.schema().signal(id).name.as_str())
        .collect();
    assert_eq!(names[..2], ["x", "v"]);
    assert!(names.len() <= 8, "{names:?}");
    for absent in ["still", "secret", "m", "same_as_x"] {
        assert!(!names.contains(&absent), "{names:?}");
    }
    let (figure, _) = draw(&trajectory, &[]);
    assert!(figure.panels.len() <= 4);
}

#[test]
fn odd_results_are_drawn_too() {
    let constant = run(vec![Signal::new("c")], 2, |_| vec![5.0], |_| 0);
    let empty = Trajectory::from_columns(
        Schema::new(vec![Signal::new("c")]).unwrap(),
        vec![],
        vec![],
        vec![vec![]],
    )
    .unwrap();
    let point = run(vec![Signal::new("c")], 2, |_| vec![1e300], |_| 0);
    let wild = run(
        vec![Signal::new("c")],
        9,
        |t| vec![if t > 5.0 { f64::INFINITY } else { -1e308 * t / 5.0 }],
        |_| 0,
    );
    let dead = run(vec![Signal::new("c")], 9, |_| vec![f64::NAN], |_| 0);
    for trajectory in [constant, empty, point, wild, dead] {
        draw(&trajectory, &[]);
        draw(&trajectory, &["c"]);
    }
    let none = Trajectory::from_columns(Schema::default(), vec![0.0, 1.0], vec![0, 0], vec![]).unwrap();
    draw(&none, &[]);
}

#[test]
fn names_that_are_not_there() {
    let trajectory = run(vec![Signal::new("speed")], 2, |t| vec![t], |_| 0);
    let options = FigureOptions {
        signals: vec!["sped".into()],
        ..FigureOptions::default()
    };
    let error = figure(&trajectory, &options).unwrap_err();
    assert_eq!(error.help().unwrap(), "similar names: `speed`");
}

#[test]
fn explicit_panels_and_time_range() {
    let signals = vec![
        Signal::new("a").with_unit("m"),
        Signal::new("b").with_unit("s"),
        Signal::new("c"),
    ];
    let trajectory = run(signals, 101, |t| vec![t, 2.0 * t, 1e6], |_| 0);
    let panels = vec![vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]];
    let options = FigureOptions {
        panels,
        time_range: Some((2.0, 4.0)),
        ..FigureOptions::default()
    };
    let figure = figure(&trajectory, &options).unwrap();
    assert_eq!(figure.panels.len(), 2);
    let Panel::Values { curves, range, .. } = &figure.panels[0] else {
        panic!()
    };
    assert_eq!(curves[1].label, "b [s]");
    assert!(range.1 < 9.0, "the axis fits what is shown: {range:?}");
    assert_well_formed(&figure.to_svg());
}

/// However quickly modes follow each other, each is drawn or counted in a hatched stretch.
#[test]
fn no_mode_is_left_out() {
    for changes in [3u32, 40, 200, 400, 3_000, 20_000] {
        let signals = vec![Signal::new("x"), Signal::new("on").with_kind(SignalKind::Boolean)];
        let rows = 5 * changes as usize + 1;
        let mode = |t: f64| ((t / 10.0 * f64::from(changes)) as u32).min(changes - 1) % 5;
        let trajectory = run(signals, rows, |t| vec![t, f64::from(mode(t) % 2)], mode);
        let mut spans = 1;
        spans += trajectory.modes().windows(2).filter(|pair| pair[0] != pair[1]).count();
        let (figure, svg) = draw(&trajectory, &["x", "on"]);
        let shown: usize = figure.mode_bands.iter().map(|band| band.quick.max(1)).sum();
        assert_eq!(shown, spans, "{changes} changes");
        let quick = figure.mode_bands.iter().any(|band| band.quick > 0);
        assert_eq!(svg.contains("url(#quick)"), quick);
        assert_eq!(quick, changes >= 200, "{changes} changes in 810 columns");
        assert!(svg.len() < 200_000, "{}", svg.len());
    }
}

#[test]
fn every_arrow_has_its_weight() {
    for (count, scale) in [(1, 1.0), (7, 1e-3), (30, 1e3)] {
        let mut result = run(
            vec![Signal::new("k").with_unit("N/m")],
            100,
            |t| vec![scale * t.sin()],
            |_| 0,
        );
        for at in 0..count {
            let impulses = vec![Impulse {
                variable: "k".into(),
                order: 1 + at % 2,
                weight: scale * f64::from(at + 1),
            }];
            let time = 1.0 + 8.0 * f64::from(at) / f64::from(count);
            result
                .event(&EventRecord {
                    time,
                    impulses,
                    ..EventRecord::default()
                })
                .unwrap();
        }
        let (_, svg) = draw(&result, &["k"]);
        assert_eq!(svg.matches("class=\"impulse\"").count(), count as usize);
        assert_eq!(svg.matches(" N·s/m</text>").count(), count.div_ceil(2) as usize);
        assert_eq!(svg.matches(" N·s²/m</text>").count(), (count / 2) as usize);
    }
}

#[test]
fn planes_of_two_signals() {
    let signals = vec![
        Signal::new("x").with_unit("m"),
        Signal::new("v").with_unit("m/s"),
        Signal::new("a").with_unit("m/s2"),
    ];
    let circle = run(signals, 200, |t| vec![t.cos(), -t.sin(), -t.cos()], |_| 0);
    let options = FigureOptions {
        x: Some("x".into()),
        signals: vec!["v".into(), "x".into()],
        ..FigureOptions::default()
    };
    let figure = figure(&circle, &options).unwrap();
    assert_well_formed(&figure.to_svg());
    assert_eq!(figure.abscissa.as_deref(), Some("x [m]"));
    assert!(figure.mode_bands.is_empty());
    let [Panel::Values { curves, .. }] = &figure.panels[..] else {
        panic!("{:?}", figure.panels)
    };
    assert!(
        curves[0]
            .pieces
            .concat()
            .iter()
            .all(|(x, v)| (x * x + v * v - 1.0).abs() < 1e-12)
    );
    let unknown = FigureOptions {
        x: Some("nobody".into()),
        ..FigureOptions::default()
    };
    assert!(matches!(
        saltus_results::figure::figure(&circle, &unknown),
        Err(ResultError::UnknownVariable { .. })
    ));
}

#[test]
fn logarithmic_axes() {
    let result = run(
        vec![Signal::new("y")],
        1001,
        |t| vec![if t > 9.0 { -1.0 } else { 10f64.powf(t - 3.0) }],
        |_| 0,
    );
    let options = FigureOptions {
        log_x: true,
        log_y: true,
        signals: vec!["y".into()],
        ..FigureOptions::default()
    };
    let figure = figure(&result, &options).unwrap();
    let svg = figure.to_svg();
    assert_well_formed(&svg);
    assert!(figure.time_range.0 > 0.0);
    let [
        Panel::Values {
            curves,
            logarithmic: true,
            ..
        },
    ] = &figure.panels[..]
    else {
        panic!("{:?}", figure.panels)
    };
    let points = curves[0].pieces.concat();
    assert!(
        points
            .iter()
            .all(|(t, log)| (log - (t - 3.0)).abs() < 1e-9 && *t <= 9.0),
        "what is not positive is a gap"
    );
    for label in [">0.1<", ">1<", ">10⁶<", ">0.01<"] {
        assert!(svg.contains(label), "{label}");
    }
}

#[test]
fn one_result_over_another() {
    let signals = || vec![Signal::new("x").with_unit("m"), Signal::new("only").with_unit("m")];
    let (first, second) = (
        run(signals(), 50, |t| vec![t, 1.0], |_| 0),
        run(signals(), 70, |t| vec![100.0 + t, 1.0], |_| 0),
    );
    let options = FigureOptions {
        signals: vec!["x".into()],
        ..FigureOptions::default()
    };
    let figure = saltus_results::figure::figure_over(&first, &[("other.csv", &second)], &options).unwrap();
    let [Panel::Values { curves, range, .. }] = &figure.panels[..] else {
        panic!("{:?}", figure.panels)
    };
    let names: Vec<(&str, bool)> = curves
        .iter()
        .map(|curve| (curve.label.as_str(), curve.is_other))
        .collect();
    assert_eq!(names, [("x", false), ("x (other.csv)", true)]);
    assert_eq!(curves[0].color, curves[1].color);
    assert!(range.0 < 0.1 && range.1 > 109.0);
    assert_well_formed(&figure.to_svg());
}

#[test]
fn figures_that_the_model_asks_for() {
    let plot = |curves: &[(Option<&str>, &str)]| ModelPlot {
        curves: curves.iter().map(|(x, y)| model_curve(*x, y, "")).collect(),
        ..ModelPlot::default()
    };
    let over_time = ModelFigure {
        title: "Mine".into(),
        preferred: true,
        plots: vec![plot(&[(None, "b")]), plot(&[(None, "a"), (None, "gone")])],
    };
    let plane = ModelFigure {
        title: "Plane".into(),
        preferred: false,
        plots: vec![plot(&[(Some("a"), "b")])],
    };
    let drawn = |figures: Vec<ModelFigure>, options: &FigureOptions| {
        let mut result = Trajectory::new();
        let manifest = Manifest {
            figures,
            ..Manifest::default()
        };
        result
            .begin(
                &Schema::new(["a", "b", "c"].map(Signal::new).into()).unwrap(),
                &manifest,
            )
            .unwrap();
        for row in 0..20 {
            let t = f64::from(row);
            result.row(t, RowKind::Regular, 0, &[t, t.sin(), t.cos()]).unwrap();
        }
        let figure = figure(&result, options).unwrap();
        let names = figure.panels.iter().map(|panel| match panel {
            Panel::Values { curves, .. } => curves
                .iter()
                .map(|curve| curve.name.clone())
                .collect::<Vec<_>>()
                .join(" "),
            Panel::Strips(_) => String::new(),
        });
        (figure.title.clone(), figure.abscissa.clone(), names.collect::<Vec<_>>())
    };
    let nothing = FigureOptions::default();
    let (title, x, panels) = drawn(vec![plane.clone(), over_time.clone()], &nothing);
    assert_eq!(
        (title.as_str(), x, panels),
        ("Mine", None, vec!["b".to_owned(), "a".to_owned()])
    );
    let (title, x, panels) = drawn(vec![plane], &nothing);
    assert_eq!(
        (title.as_str(), x.as_deref(), panels),
        ("Plane", Some("a"), vec!["b".to_owned()])
    );
    let asked = FigureOptions {
        signals: vec!["c".into()],
        ..FigureOptions::default()
    };
    assert_eq!(drawn(vec![over_time], &asked).2, ["c"]);
}

fn model_curve(over: Option<&str>, variable: &str, legend: &str) -> ModelCurve {
    ModelCurve {
        over: over.map(str::to_owned),
        variable: variable.to_owned(),
        legend: legend.to_owned(),
    }
}

#[test]
fn figures_of_models_say_how_they_look() {
    let axis = |label: &str, ends: [Option<f64>; 2], is_logarithmic: bool| ModelAxis {
        label: label.to_owned(),
        min: ends[0],
        max: ends[1],
        is_logarithmic,
        ..ModelAxis::default()
    };
    let drawn = |plots: Vec<ModelPlot>| {
        let mut result = Trajectory::new();
        let manifest = Manifest {
            figures: vec![ModelFigure {
                title: "Mine".into(),
                plots,
                ..ModelFigure::default()
            }],
            ..Manifest::default()
        };
        let signals = vec![
            Signal::new("x").with_unit("m"),
            Signal::new("v").with_unit("m/s"),
            Signal::new("e"),
        ];
        result.begin(&Schema::new(signals).unwrap(), &manifest).unwrap();
        for row in 0..40 {
            let t = f64::from(row) / 4.0;
            result
                .row(t, RowKind::Regular, 0, &[t.cos(), -t.sin(), (-t).exp()])
                .unwrap();
        }
        let figure = figure(&result, &FigureOptions::default()).unwrap();
        assert_well_formed(&figure.to_svg());
        figure
    };
    let over_time = ModelPlot {
        title: "Decay & <all>".into(),
        curves: vec![model_curve(None, "e", "energy <left>"), model_curve(Some("x"), "v", "")],
        horizontal: axis("", [Some(1.0), Some(5.0)], false),
        vertical: axis("how much", [Some(1e-3), None], true),
    };
    let found = drawn(vec![over_time]);
    let Panel::Values {
        title,
        label,
        range,
        logarithmic,
        curves,
        ..
    } = &found.panels[0]
    else {
        panic!("{:?}", found.panels)
    };
    assert_eq!((title.as_str(), label.as_str()), ("Decay & <all>", "how much"));
    assert_eq!((curves.len(), curves[0].label.as_str()), (1, "energy <left>"));
    assert!(*logarithmic && range.0 == -3.0, "{range:?}");
    assert_eq!(
        (found.time_range, found.omitted),
        ((1.0, 5.0), 1),
        "what has another axis is counted"
    );
    let svg = found.to_svg();
    for said in [
        "Decay &amp; &lt;all&gt;",
        "how much",
        "energy &lt;left&gt;",
        "1 more signal",
    ] {
        assert!(svg.contains(said), "{said}");
    }

    let plane = ModelPlot {
        curves: vec![model_curve(Some("x"), "v", "circle")],
        horizontal: axis("place", [Some(-2.0), Some(2.0)], false),
        vertical: ModelAxis {
            unit: "km/h".into(),
            ..axis("speed", [Some(-9.0), None], false)
        },
        ..ModelPlot::default()
    };
    let found = drawn(vec![plane]);
    let [
        Panel::Values {
            range, curves, label, ..
        },
    ] = &found.panels[..]
    else {
        panic!("{:?}", found.panels)
    };
    assert_eq!(found.abscissa.as_deref(), Some("place [m]"));
    assert_eq!(
        (found.time_range, label.as_str(), curves[0].label.as_str()),
        ((-2.0, 2.0), "speed", "circle")
    );
    assert!(range.0 > -2.0, "ends in another unit are not taken: {range:?}");
}

#[test]
fn of_a_shaft_that_turns_the_speed() {
    for (unit, turns, expected) in [
        ("rad", 5.0, "w"),
        ("rad", 0.5, "phi"),
        ("deg", 5.0, "w"),
        ("m", 5.0, "phi"),
    ] {
        let size = if unit == "deg" {
            36.0
        } else {
            std::f64::consts::TAU / 10.0
        };
        let signals = vec![
            Signal::new("phi").with_unit(unit).with_role(Role::State),
            Signal::new("der(phi)").with_unit("rad/s"),
            Signal::alias("w", SignalId(1), AliasSign::Same)
                .with_unit("rad/s")
                .with_role(Role::State),
        ];
        let result = run(signals, 50, |t| vec![turns * size * t, 1.0 + 0.1 * t], |_| 0);
        let chosen = default_selection(&result);
        let first = chosen[0];
        assert_eq!(result.schema().signal(first).name, expected, "{turns} turns in {unit}");
    }
}

/// The speed of a position is looked at as much as a state, whatever else there is.
#[test]
fn speeds_come_before_local_quantities() {
    for count in [3, 20] {
        let mut signals: Vec<Signal> = (0..count)
            .map(|k| Signal::new(format!("s{k}.i")).with_unit("A"))
            .collect();
        signals.push(Signal::new("body.s").with_unit("m").with_role(Role::State));
        signals.push(Signal::new("der(body.s)").with_unit("m/s").with_role(Role::Derivative));
        let carrier = SignalId(signals.len() as u32 - 1);
        signals.push(Signal::alias("body.v", carrier, AliasSign::Same).with_unit("m/s"));
        let result = run(signals, 20, |t| vec![t.sin(); count + 2], |_| 0);
        let chosen = default_selection(&result);
        let names: Vec<&str> = chosen
            .iter()
            .map(|&id| result.schema().signal(id).name.as_str())
            .collect();
        assert_eq!(names[..2], ["body.s", "body.v"], "{names:?}");
    }
}

/// A set point and what follows it come first, together, also where the set point stands still; a pair at rest does not.
#[test]
fn set_points_come_with_what_follows_them() {
    for depth in 0..4 {
        let path = "a.".repeat(depth);
        let mut signals: Vec<Signal> = (0..12)
            .map(|k| Signal::new(format!("s{k}")).with_unit("V").with_role(Role::State))
            .collect();
        signals.push(Signal::constant(format!("{path}c.wanted"), 3.0));
        signals.push(Signal::new(format!("{path}c.actual")));
        signals.push(Signal::new(format!("{path}d.wanted")));
        signals.push(Signal::new(format!("{path}d.actual")));
        let values = |t: f64| {
            let mut row = vec![t.sin(); 12];
            row.extend([t, 1.0, 1.0]);
            row
        };
        let pair = |of: &str| (format!("{path}{of}.wanted"), format!("{path}{of}.actual"));
        let manifest = Manifest {
            set_points: vec![pair("d"), pair("c"), pair("missing")],
            ..Manifest::default()
        };
        let result = run_with(manifest, signals, 20, values, |_| 0);
        let names: Vec<String> = default_selection(&result)
            .iter()
            .map(|&id| result.schema().signal(id).name.clone())
            .collect();
        assert_eq!(names[..2], [pair("c").0, pair("c").1], "{names:?}");
        assert!(!names.contains(&pair("d").1), "{names:?}");
    }
}
