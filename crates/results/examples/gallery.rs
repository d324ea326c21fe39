//! Writes a gallery of figures and result files into the folder given on the command line.

use std::error::Error;
use std::path::PathBuf;

use saltus_results::figure::{FigureOptions, figure};
use saltus_results::*;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out".to_owned()));
    std::fs::create_dir_all(&folder)?;
    for (name, trajectory) in [
        ("ball", ball()?),
        ("rectifier", rectifier()?),
        ("pendulum", pendulum()?),
        ("drive", drive()?),
    ] {
        let all = FigureOptions {
            signals: vec!["*".to_owned()],
            ..FigureOptions::default()
        };
        for (suffix, options) in [("", FigureOptions::default()), ("_all", all)] {
            let picture = figure(&trajectory, &options)?.to_svg();
            std::fs::write(folder.join(format!("{name}{suffix}.svg")), picture)?;
        }
        for extension in ["csv", "mat"] {
            let path = folder.join(format!("{name}.{extension}"));
            let mut sink = Formats::standard().create(&path, &mut Disk, &WriteOptions::default())?;
            trajectory.replay(&mut sink)?;
        }
    }
    Ok(())
}

fn manifest(model: &str) -> Manifest {
    Manifest {
        program: "saltus".into(),
        model: model.into(),
        ..Manifest::default()
    }
}

/// A ball that bounces, then rests: jumps of the speed, impulses of the force, a Boolean, two modes.
fn ball() -> Result<Trajectory, Box<dyn Error>> {
    let schema = Schema::new(vec![
        Signal::new("h")
            .with_unit("m")
            .with_description("Height")
            .with_role(Role::State),
        Signal::new("v").with_unit("m/s").with_role(Role::State),
        Signal::new("f")
            .with_unit("N")
            .with_description("Contact force")
            .with_role(Role::Output),
        Signal::new("resting").with_kind(SignalKind::Boolean),
        Signal::new("n")
            .with_kind(SignalKind::Integer)
            .with_description("Number of impacts"),
    ])?;
    let mut result = Trajectory::new();
    result.begin(&schema, &manifest("Examples.BouncingBall"))?;
    result.mode(&ModeRecord {
        mode: 0,
        label: "flying".into(),
        ..ModeRecord::default()
    })?;
    result.mode(&ModeRecord {
        mode: 1,
        label: "resting".into(),
        ..ModeRecord::default()
    })?;
    let (g, e, mass) = (9.81, 0.7, 1.0);
    let (mut start, mut speed, mut height, mut count) = (0.0, 0.0, 1.0, 0.0);
    for _ in 0..8 {
        let duration = (speed + f64::sqrt(speed * speed + 2.0 * g * height)) / g;
        for k in 0..40 {
            let t = duration * f64::from(k) / 40.0;
            let kind = if k == 0 && count > 0.0 {
                RowKind::EventRight
            } else {
                RowKind::Regular
            };
            let values = [height + speed * t - g * t * t / 2.0, speed - g * t, 0.0, 0.0, count];
            result.row(start + t, kind, 0, &values)?;
        }
        let impact = speed - g * duration;
        start += duration;
        result.row(start, RowKind::EventLeft, 0, &[0.0, impact, 0.0, 0.0, count])?;
        result.event(&EventRecord {
            time: start,
            impulses: vec![Impulse {
                variable: "f".into(),
                order: 1,
                weight: -mass * (1.0 + e) * impact,
            }],
            ..EventRecord::default()
        })?;
        (speed, height, count) = (-e * impact, 0.0, count + 1.0);
    }
    result.row(start, RowKind::EventRight, 1, &[0.0, 0.0, mass * g, 1.0, count])?;
    result.row(start + 0.8, RowKind::Regular, 1, &[0.0, 0.0, mass * g, 1.0, count])?;
    result.finish(&Summary {
        status: Status::Completed,
        final_time: start + 0.8,
        ..Summary::default()
    })?;
    Ok(result)
}

/// A rectifier: many modes with long labels, a current that is dead while the diode blocks.
fn rectifier() -> Result<Trajectory, Box<dyn Error>> {
    let gears = SignalKind::Enumeration(vec!["blocking".into(), "conducting".into()]);
    let schema = Schema::new(vec![
        Signal::new("source.v").with_unit("V").with_role(Role::Output),
        Signal::new("capacitor.v").with_unit("V").with_role(Role::State),
        Signal::new("diode.i").with_unit("A").with_display_unit("mA"),
        Signal::new("diode.state").with_kind(gears),
        Signal::new("housing.T")
            .with_unit("K")
            .with_display_unit("degC")
            .with_role(Role::State),
        Signal::new("a.component.with.a.very.long.hierarchical.name.inner.flange_b.power").with_unit("W"),
    ])?;
    let mut result = Trajectory::new();
    result.begin(&schema, &manifest("Examples.Rectifier"))?;
    result.mode(&ModeRecord {
        mode: 1,
        label: "diode blocking".into(),
        ..ModeRecord::default()
    })?;
    result.mode(&ModeRecord {
        mode: 2,
        label: "on".into(),
        ..ModeRecord::default()
    })?;
    let (mut v, dt) = (0.0, 2e-5);
    let mut was_on = false;
    for k in 0..=5000 {
        let t = f64::from(k) * dt;
        let source = 24.0 * (2.0 * std::f64::consts::PI * 50.0 * t).sin();
        let on = source > v;
        let current = if on { (source - v) / 5.0 } else { 0.0 };
        v += dt * (current - v / 100.0) / 1e-3;
        let temperature = 293.15 + 20.0 * (1.0 - (-t / 0.05).exp());
        let row = |on: bool| {
            let shown = if on { current } else { f64::NAN };
            [
                source,
                v,
                shown,
                1.0 + f64::from(u8::from(on)),
                temperature,
                v * v / 100.0,
            ]
        };
        let mode = |on: bool| 1 + u32::from(on);
        if on != was_on && k > 0 {
            result.row(t, RowKind::EventLeft, mode(was_on), &row(was_on))?;
            result.row(t, RowKind::EventRight, mode(on), &row(on))?;
        } else {
            result.row(t, RowKind::Regular, mode(on), &row(on))?;
        }
        was_on = on;
    }
    result.finish(&Summary {
        status: Status::Completed,
        final_time: 0.1,
        ..Summary::default()
    })?;
    Ok(result)
}

/// One mode, 200,000 rows, angles in degrees, a small change of a large value.
fn pendulum() -> Result<Trajectory, Box<dyn Error>> {
    let schema = Schema::new(vec![
        Signal::new("phi")
            .with_unit("rad")
            .with_display_unit("deg")
            .with_role(Role::State),
        Signal::new("w").with_unit("rad/s").with_role(Role::State),
        Signal::new("x").with_unit("m"),
        Signal::new("y").with_unit("m"),
        Signal::new("p").with_unit("Pa").with_role(Role::Output),
        Signal::constant("L", 1.0),
    ])?;
    let mut result = Trajectory::new();
    result.begin(&schema, &manifest("Examples.Pendulum"))?;
    for k in 0..200_000 {
        let t = f64::from(k) * 1e-4;
        let phi = 1.5 * (3.0 * t).cos() * (-0.05 * t).exp();
        let w = -4.5 * (3.0 * t).sin() * (-0.05 * t).exp();
        let pressure = 101_325.0 + 0.01 * (40.0 * t).sin();
        result.row(t, RowKind::Regular, 0, &[phi, w, phi.sin(), -phi.cos(), pressure])?;
    }
    result.finish(&Summary {
        status: Status::Completed,
        final_time: 20.0,
        ..Summary::default()
    })?;
    Ok(result)
}

/// A drive line with many modes, long names, Booleans and impulses of both signs.
fn drive() -> Result<Trajectory, Box<dyn Error>> {
    let mut signals: Vec<Signal> = (1..=9)
        .map(|k| {
            Signal::new(format!("gearbox.shaft[{k}].w"))
                .with_unit("rad/s")
                .with_display_unit("rpm")
        })
        .collect();
    signals.push(
        Signal::new("gearbox.clutchA.torque")
            .with_unit("N.m")
            .with_role(Role::Output),
    );
    for name in ["clutchA.locked", "clutchB.locked", "brake.active"] {
        signals.push(Signal::new(name).with_kind(SignalKind::Boolean));
    }
    let mut result = Trajectory::new();
    result.begin(&Schema::new(signals)?, &manifest("Examples.DriveLine"))?;
    let mut mode = u32::MAX;
    for k in 0..=3000 {
        let t = f64::from(k) * 0.01;
        let now = (t * 0.9) as u32 % 11;
        let mut values: Vec<f64> = (1..=9)
            .map(|n| 100.0 * (t / 5.0 + f64::from(n)).sin() + 20.0 * f64::from(n))
            .collect();
        values.push(-50.0 * (t / 4.0).cos() - 20.0);
        values.extend([now % 2, u32::from(now > 5), u32::from(now == 3)].map(f64::from));
        if now != mode {
            let label = format!(
                "clutch A {}, gear {now}",
                if now.is_multiple_of(2) { "slips" } else { "locked" }
            );
            result.mode(&ModeRecord {
                mode: now,
                label,
                ..ModeRecord::default()
            })?;
            let weight = if now.is_multiple_of(3) { -12.0 } else { 4.0 + t };
            let impulses = vec![Impulse {
                variable: "gearbox.clutchA.torque".into(),
                order: 1,
                weight,
            }];
            result.event(&EventRecord {
                time: t,
                to_mode: now,
                impulses,
                ..EventRecord::default()
            })?;
        }
        mode = now;
        result.row(t, RowKind::Regular, mode, &values)?;
    }
    result.finish(&Summary {
        status: Status::Completed,
        final_time: 30.0,
        ..Summary::default()
    })?;
    Ok(result)
}
