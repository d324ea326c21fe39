//! What models say about pictures of their results: shapes in the plane, and figures.

use saltus::Session;
use saltus::report::PageOptions;
use saltus::results::{Manifest, Shape, ShapeValue};

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
               Plot(title = \"First\", curves = {Curve(x = time, y = z[2], legend = \"second\"), Curve(y = der(x))})})}));
         end M;",
        "M",
    );
    let [plane, time] = &manifest.figures[..] else {
        panic!("{:?}", manifest.figures)
    };
    assert_eq!((plane.title.as_str(), plane.preferred), ("Plane", false));
    assert_eq!(plane.plots[0].curves, [(Some("x".to_owned()), "y".to_owned())]);
    assert!(time.preferred);
    assert_eq!(
        time.plots[0].curves,
        [(None, "z[2]".to_owned()), (None, "der(x)".to_owned())]
    );
    assert!(page.contains("\"panels\":[[") && page.contains("<title>M</title>"));
}
