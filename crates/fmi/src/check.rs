//! Whether a unit does what the model in it does.

use std::sync::Arc;

use saltus::Model;

use crate::export::Unit;
use crate::instance::{Instance, Loaded, Mode};
use crate::state::{Interface, Version};
use crate::variables::{Causality, Source, Variability};

/// What was found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The model.
    pub model: String,
    /// Variables that were compared.
    pub compared: usize,
    /// Communication points.
    pub points: usize,
    /// The variable that differs most, and by how much of its size.
    pub worst: Option<(String, f64)>,
}

/// Differences up to this part of the size of a variable are none: both runs have the tolerance of the model.
const AGREES: f64 = 1e-3;
/// Communication steps.
const POINTS: usize = 100;

impl CheckReport {
    /// Whether the unit does what the model does.
    pub fn passed(&self) -> bool {
        self.worst.as_ref().is_none_or(|(_, difference)| *difference <= AGREES)
    }
}

/// Checks a unit that Saltus made.
pub fn check(unit: &Unit) -> Result<CheckReport, String> {
    let (Some(model_file), Some(settings)) = (&unit.model_file, &unit.settings) else {
        return Err("the unit was not made by Saltus: there is no model file in it".to_owned());
    };
    let loaded = Arc::new(Loaded::new(model_file.clone(), settings, unit.family.as_deref())?);
    let root = |name: &str| unit.attribute("fmiModelDescription", name);
    let token = root("instantiationToken").or_else(|| root("guid"));
    if token.as_deref() != Some(loaded.token()) {
        return Err("the description is that of another model".to_owned());
    }
    let model = Model::from_bytes(model_file).map_err(|diagnostic| diagnostic.message.clone())?;
    let (start, stop) = model.run().span();
    let interval = (stop - start) / POINTS as f64;
    let policies = loaded.settings();
    let run = model
        .run()
        .redundant(policies.redundant)
        .chattering(policies.chattering)
        .zeno(policies.zeno);
    let own = run.interval(interval).simulate().map_err(|failed| failed.to_string())?;
    let mode = Mode {
        version: Version::Three,
        interface: Interface::CoSimulation,
        event_mode: false,
        early_return: false,
    };
    let mut instance = Instance::new(Arc::clone(&loaded), mode);
    let told = |trouble: crate::instance::Trouble| trouble.message().to_owned();
    instance.set_up(start, Some(stop), None).map_err(told)?;
    instance.enter_initialization().map_err(told)?;
    instance.exit_initialization().map_err(told)?;
    let times = own.time();
    let last_at = |time: f64| times.iter().rposition(|&at| (at - time).abs() <= 1e-9 * interval.abs());
    let compared: Vec<(u32, String)> = loaded
        .variables
        .list
        .iter()
        .enumerate()
        .filter(|(_, shown)| {
            let moves = matches!(shown.source, Source::Value(..)) && shown.variability == Variability::Continuous;
            moves && shown.causality != Causality::Input && own.values(&shown.name).is_some()
        })
        .map(|(at, shown)| (at as u32, shown.name.clone()))
        .collect();
    let mut worst: Option<(String, f64)> = None;
    let mut points = 0;
    for step in 0..=POINTS {
        let time = start + step as f64 * interval;
        if step > 0 {
            let from = start + (step - 1) as f64 * interval;
            let stepped = instance.do_step(from, time - from).map_err(told)?;
            if stepped.terminate {
                break;
            }
        }
        // Just at an event the two may be on different sides of it.
        let Some(row) = last_at(time) else { continue };
        let near = |at: Option<&f64>| at.is_some_and(|at| (at - time).abs() <= 1e-6 * interval);
        if near(row.checked_sub(1).and_then(|before| times.get(before))) || near(times.get(row + 1)) {
            continue;
        }
        points += 1;
        for (reference, name) in &compared {
            let (value, values) = (
                instance.get(*reference).map_err(told)?,
                own.values(name).unwrap_or_default(),
            );
            let size = values
                .iter()
                .filter(|v| v.is_finite())
                .fold(0.0f64, |size, v| size.max(v.abs()));
            let expected = values.get(row).copied().unwrap_or(f64::NAN);
            let difference = (value - expected).abs() / size.max(1e-9);
            if difference.is_finite() && worst.as_ref().is_none_or(|(_, most)| difference > *most) {
                worst = Some((name.clone(), difference));
            }
        }
    }
    Ok(CheckReport {
        model: model.name().to_owned(),
        compared: compared.len(),
        points,
        worst,
    })
}
