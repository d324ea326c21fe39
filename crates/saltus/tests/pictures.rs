//! What models say about pictures of their results: shapes in the plane, and figures.

use saltus::Session;
use saltus::report::PageOptions;
use saltus::results::{Manifest, ModelAxis, ModelCurve, Role, Shape, ShapeValue};
use saltus_testing::Random;

fn manifest(text: &str, model: &str) -> (Manifest, String) {
    let session = Session::new();
    session.add_text("M.mo", text);
    let compiled = session.compile(model).into_result().expect("it compiles");
    let simulation = compiled.run().stop(0.1).simulate().expect("it runs");
    let page = simulation.report(&compiled, &PageOptions::default()).expect("a page");
    (simulation.trajectory.manifest().clone(), page)
}

fn variable(shape: &Shape, name: &str) -> String {
    match shape.values.get(name) {
        Some(ShapeValue::Variable(name)) => name.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

/// The shapes in the data of a page.
fn drawn(page: &str) -> usize {
    let data = page.split("\"scene\":").nth(1).expect("a scene");
    let data = data.split(",\"signals\"").next().expect("an end");
    data.matches("\"k\":").count()
}

/// Chains of masses and bars in arrays, of any length and at any depth, have their full names.
#[test]
fn components_of_the_plane_are_drawn() {
    for count in [1, 2, 4] {
        let text = format!(
            "model Chain
               parameter Integer n = {count};
               Saltus.Planar.Fixed top(y = 3);
               Saltus.Planar.Bar bar[n](each L = 0.5);
               Saltus.Planar.PointMass mass[n](x(start = {{0.5*i for i in 1:n}}, each fixed = true), each y(start = 3),
                 each vx(start = 0, fixed = true));
             equation
               connect(top.joint, bar[1].a);
               for i in 1:n loop connect(bar[i].b, mass[i].joint); end for;
               for i in 2:n loop connect(mass[i - 1].joint, bar[i].a); end for;
             end Chain;
             model Outer Chain inside; end Outer;"
        );
        let (manifest, page) = manifest(&text, "Outer");
        let of = |kind: &str| {
            manifest
                .shapes
                .iter()
                .filter(|s| s.kind == kind)
                .cloned()
                .collect::<Vec<Shape>>()
        };
        assert_eq!(
            (of("Fixed").len(), of("Line").len(), of("Point").len()),
            (1, count, count)
        );
        let last = &of("Point")[count - 1];
        assert_eq!(last.component, format!("inside.mass[{count}]"));
        assert_eq!(variable(last, "x"), format!("inside.mass[{count}].x"));
        assert_eq!(variable(&of("Line")[0], "x2"), "inside.bar[1].b.x");
        assert_eq!(drawn(&page), 1 + 2 * count);
    }
}

#[test]
fn shapes_are_inherited_and_wrong_ones_left_out() {
    let (manifest, page) = manifest(
        "model Ball
           Real x(start = 0, fixed = true), y = 1, v[2] = {x, y};
         equation
           der(x) = 1;
           annotation(__Saltus(drawing = {Point(x = x, y = v[2]), Fixed(x = -1.5, y = 2), Cloud(x = x), Line(x1 = x), 3, Point(x = gone, y = y)}));
         end Ball;
         model Tennis extends Ball; end Tennis;",
        "Tennis",
    );
    let kinds: Vec<&str> = manifest.shapes.iter().map(|shape| shape.kind.as_str()).collect();
    assert_eq!(kinds, ["Point", "Fixed", "Cloud", "Line", "Point"]);
    assert_eq!(variable(&manifest.shapes[0], "y"), "v[2]");
    assert_eq!(manifest.shapes[1].values["x"], ShapeValue::Number(-1.5));
    // What is unknown, incomplete or about nothing is not drawn.
    assert_eq!(drawn(&page), 2);
}

#[test]
fn figures_of_the_documentation() {
    let (manifest, page) = manifest(
        "model M
           Real x(start = 1, fixed = true), y, z[2];
         equation
           der(x) = -x; y = 2*x; z = {x, y};
           annotation(Documentation(info = \"…\", figures = {
             Figure(title = \"Plane\", plots = {Plot(curves = {Curve(x = x, y = y)})}),
             Figure(title = \"Over time\", preferred = true, plots = {
               Plot(title = \"First\", curves = {Curve(x = time, y = z[2], legend = \"second\"), Curve(y = der(x))},
                 y = Axis(min = -2, max = 1e3, unit = \"m\", label = \"far\", scale = Log(base = 10)), x = Axis(scale = Linear()))})}));
         end M;",
        "M",
    );
    let [plane, time] = &manifest.figures[..] else {
        panic!("{:?}", manifest.figures)
    };
    assert_eq!((plane.title.as_str(), plane.preferred), ("Plane", false));
    let curve = |over: Option<&str>, variable: &str, legend: &str| ModelCurve {
        over: over.map(str::to_owned),
        variable: variable.to_owned(),
        legend: legend.to_owned(),
    };
    assert_eq!(plane.plots[0].curves, [curve(Some("x"), "y", "")]);
    assert!(time.preferred);
    let plot = &time.plots[0];
    assert_eq!(plot.curves, [curve(None, "z[2]", "second"), curve(None, "der(x)", "")]);
    assert_eq!(
        (plot.title.as_str(), &plot.horizontal),
        ("First", &ModelAxis::default())
    );
    let vertical = ModelAxis {
        label: "far".to_owned(),
        unit: "m".to_owned(),
        min: Some(-2.0),
        max: Some(1e3),
        is_logarithmic: true,
    };
    assert_eq!(plot.vertical, vertical);
    assert!(page.contains("\"panels\":[[") && page.contains("<title>M</title>"));
}

/// Differences of two inputs of a block are noted, whatever their names, factors and depth; those of other variables are not.
#[test]
fn set_points_are_found_by_what_is_subtracted() {
    let mut random = Random::named("set points");
    for round in 0..24 {
        let name = |random: &mut Random, first: char| format!("{first}{}", random.below(1000));
        let (a, b) = (name(&mut random, 'a'), name(&mut random, 'b'));
        let (controller, sum) = (name(&mut random, 'c'), name(&mut random, 's'));
        let k = 0.5 + random.unit();
        let difference = match round % 4 {
            0 => format!("{a} - {b}"),
            1 => format!("k*{a} - {b}"),
            2 => format!("k*{a} + w*{b}"),
            _ => format!("-{b} + {a}*k"),
        };
        let nested = round % 3 == 0;
        let block = format!(
            "connector In = input Real; connector Out = output Real;
             block Sum In {a}, {b}; Out e; parameter Real k = {k}, w = -1; equation e = {difference}; end Sum;
             block Plus In p, q; Out y; equation y = p + q; end Plus;
             block Lag In p; Out y(start = 0, fixed = true); equation der(y) = p - y; end Lag;"
        );
        let (inside, path) = if nested {
            let shell = format!(
                "block Shell In {a}, {b}; Out e; Sum {sum}; equation
                   connect({a}, {sum}.{a}); connect({b}, {sum}.{b}); connect({sum}.e, e); end Shell;"
            );
            (format!("{block} {shell}"), "Shell")
        } else {
            (block, "Sum")
        };
        let text = format!(
            "model M {inside} {path} {controller}; Lag plant; Plus other; Out wanted = 1 + time;
             equation
               connect(wanted, {controller}.{a}); connect(plant.y, {controller}.{b}); connect({controller}.e, plant.p);
               connect(wanted, other.p); connect(plant.y, other.q); end M;"
        );
        let (manifest, _) = manifest(&text, "M");
        let expected = (format!("{controller}.{a}"), format!("{controller}.{b}"));
        assert_eq!(manifest.set_points, [expected], "{text}");
    }
}

/// Outputs of a model are told from its other variables.
#[test]
fn outputs_have_their_role() {
    let text = "model M output Real x(start = 1, fixed = true); output Real y; output Real z = x; Real other; equation
        der(x) = -x; y = 2*x; other = 3*x; end M;";
    let session = Session::new();
    session.add_text("M.mo", text);
    let compiled = session.compile("M").into_result().expect("it compiles");
    let simulation = compiled.run().stop(0.1).simulate().expect("it runs");
    let schema = simulation.trajectory.schema();
    for (name, role) in [
        ("x", Role::Output),
        ("y", Role::Output),
        ("z", Role::Output),
        ("other", Role::Local),
    ] {
        let id = schema.find(name).expect(name);
        assert_eq!(schema.signal(id).role, role, "{name}");
    }
}
