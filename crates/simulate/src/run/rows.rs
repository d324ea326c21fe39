//! Rows and events on their way into results.

use saltus_results::{EventRecord, Impulse, Jump, ModeRecord, ModeShape, ResultSink, RowKind, Trigger};

use super::{Run, output_failure};
use crate::engine::{Engine, ModeId};
use crate::error::Failure;
use crate::events::refused::in_words;
use crate::report::EventReport;

impl Run {
    /// Rows at the output points before `end`. They are looks aside: the run goes on as if there had been none.
    pub(super) fn write_outputs(&mut self, mode: ModeId, end: f64, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        if self.output_before(end).is_none() {
            return Ok(());
        }
        let values = self.engine.memory.values.clone();
        let known = self.engine.modes[mode].plan().known();
        while let Some(time) = self.output_before(end) {
            if self.request.cancel.is_cancelled() {
                break;
            }
            self.move_to(mode, time)?;
            // The next point is nearer to this one than to the beginning of the step.
            let engine = &mut self.engine;
            engine.modes[mode].plan_mut().set_anchor(&engine.memory);
            // Writing a row moves on to the next output point.
            self.write_row(sink, RowKind::Regular)?;
        }
        self.engine.memory.values = values;
        self.engine.modes[mode].plan_mut().back_to(known);
        Ok(())
    }

    /// The next output point, if it is before a time: what lies within the error of the location of an event is at it.
    pub(super) fn output_before(&self, end: f64) -> Option<f64> {
        let (start, interval) = (self.engine.options.start, self.engine.options.interval);
        let time = start + self.next_output as f64 * interval;
        let same = self.engine.scales.time_error(end).max(self.location_width);
        (interval > 0.0 && time < end - same).then_some(time)
    }

    pub(super) fn write_row(&mut self, sink: &mut dyn ResultSink, kind: RowKind) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let mode = self.shown_mode().map_or(0, |mode| mode.0);
        self.announce_mode(sink)?;
        let mut row = std::mem::take(&mut self.row);
        self.fill_row(&mut row);
        let outcome = sink.row(time, kind, mode, &row);
        self.row = row;
        let (start, interval) = (self.engine.options.start, self.engine.options.interval);
        if interval > 0.0 {
            let passed = ((time + self.engine.scales.time_error(time) - start) / interval).floor();
            self.next_output = self.next_output.max((passed as u64).saturating_add(1));
        }
        outcome.map_err(|error| output_failure(error).at(time))
    }

    /// Says what a mode number stands for before its first row, and before the event that passed through it.
    pub(super) fn announce_mode(&mut self, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        let Some(mode) = self.shown_mode() else { return Ok(()) };
        for record in std::mem::take(&mut self.engine.reported.passed_modes) {
            if record.mode != mode.0 {
                self.announce(ModeId(record.mode), record, sink)?;
            }
        }
        if self.announced.contains(&mode) {
            return Ok(());
        }
        let record = match &self.continuation {
            Some(record) => record.clone(),
            None => self.present_record(mode),
        };
        self.announce(mode, record, sink)
    }

    /// The present mode in words: where there are many conditions, what differs from the mode that was announced last.
    fn present_record(&mut self, mode: ModeId) -> ModeRecord {
        let network = self.network_shape();
        if self.engine.compiled.atoms().len() <= ModeRecord::MOST_CONDITIONS {
            return match network {
                Some(shape) => self.engine.record_of_shape(mode, shape),
                None => self.engine.mode_record(mode),
            };
        }
        let shape = network.unwrap_or_else(|| self.engine.mode_shape(mode));
        let truths = self.engine.compiled.atom_truths(&self.engine.memory);
        let Some((since, before)) = self.announced_last.replace((mode.0, truths.clone())) else {
            return self.engine.record_of_shape(mode, shape);
        };
        let atoms = self.engine.compiled.atoms().iter().zip(truths.iter().zip(&before));
        let changed = atoms.filter(|(_, (now, then))| now != then);
        let valuation: Vec<(String, bool)> = changed.map(|(atom, (&now, _))| (atom.text.clone(), now)).collect();
        ModeRecord {
            mode: mode.0,
            label: format!("mode {since}, but {}", in_words(&valuation)),
            valuation,
            since: Some(since),
            structure: Some(ModeShape {
                first_states: Vec::new(),
                ..shape
            }),
        }
    }

    fn announce(&mut self, mode: ModeId, record: ModeRecord, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        if self.announced.insert(mode) {
            sink.mode(&record).map_err(output_failure)?;
            self.known_modes.push(record);
        }
        Ok(())
    }

    pub(super) fn write_event(
        &mut self,
        sink: &mut dyn ResultSink,
        report: &EventReport,
        left: &[f64],
    ) -> Result<(), Failure> {
        let time = report.time;
        let last = report.instants.len();
        for (n, instant) in report.instants.iter().enumerate() {
            let nothing = instant.changed.is_empty() && instant.impulses.is_empty() && instant.from == instant.to;
            if nothing && n > 0 && n + 1 < last {
                continue;
            }
            let mut record = EventRecord {
                time,
                instant: n as u32 + 1,
                from_mode: instant.from.or(instant.to).map_or(0, |mode| mode.0),
                to_mode: instant.to.map_or(0, |mode| mode.0),
                ..EventRecord::default()
            };
            if instant.from.is_some_and(|from| instant.to != Some(from)) {
                self.engine.counters.mode_changes += 1;
            }
            record.triggers = instant
                .triggers
                .iter()
                .map(|&id| Trigger {
                    condition: self.engine.model.conditions[id].text.to_string(),
                    span: self.request.places.get(id).cloned().flatten(),
                })
                .collect();
            for impulse in &instant.impulses {
                let names = self.engine.compiled.names_of(impulse.var, impulse.derivative);
                record
                    .impulses
                    .extend(names.into_iter().map(|(variable, negated)| Impulse {
                        variable,
                        order: u32::from(impulse.order),
                        weight: if negated { -impulse.weight } else { impulse.weight },
                    }));
            }
            if n + 1 == last {
                record.jumps = self.jumps(left);
            }
            sink.event(&record).map_err(|error| output_failure(error).at(time))?;
        }
        Ok(())
    }

    /// With `all_instants`, the values after every instant of an event but the last.
    pub(super) fn write_instants(&mut self, sink: &mut dyn ResultSink, report: &EventReport) -> Result<(), Failure> {
        let Some((_, earlier)) = report.instants.split_last() else {
            return Ok(());
        };
        let (present, mode) = (self.engine.memory.values.clone(), self.engine.mode);
        let mut outcome = Ok(());
        for instant in earlier {
            let Some(values) = instant.values.as_ref().filter(|_| outcome.is_ok()) else {
                continue;
            };
            self.engine.memory.values.copy_from_slice(values);
            self.engine.mode = instant.to;
            outcome = self.write_row(sink, RowKind::Instant);
        }
        self.engine.memory.values = present;
        self.engine.mode = mode;
        outcome
    }

    pub(super) fn jumps(&self, left: &[f64]) -> Vec<Jump> {
        left.iter()
            .zip(&self.row)
            .enumerate()
            .filter(|(_, (a, b))| (*a - *b).abs() > 1e-7 * (1.0 + a.abs() + b.abs()))
            .map(|(column, (&left, &right))| Jump {
                variable: self.layout.reported(column).to_owned(),
                left,
                right,
            })
            .collect()
    }

    pub(super) fn collect_counters(&mut self) {
        let work = self.integrator.counters();
        let counters = &mut self.engine.counters;
        counters.evaluations = work.rhs as u64;
        counters.rejected_steps = work.rejected as u64;
        counters.jacobians = work.jacobians as u64;
        counters.factorisations = work.factorisations as u64;
        counters.newton_iterations = work.newton_iterations as u64;
        counters.newton_failures = work.newton_failures as u64;
    }

    pub(super) fn counts(&self) -> std::collections::BTreeMap<String, u64> {
        let c = &self.engine.counters;
        [
            ("steps", c.steps),
            ("rejected steps", c.rejected_steps),
            ("evaluations", c.evaluations),
            ("jacobians", c.jacobians),
            ("factorisations", c.factorisations),
            ("newton iterations", c.newton_iterations),
            ("newton failures", c.newton_failures),
            ("events", c.events),
            ("instants", c.instants),
            ("mode changes", c.mode_changes),
            ("candidates", c.candidates),
            ("modes", c.modes),
            ("restarts", c.restarts),
            ("restart analyses", c.restart_analyses),
            ("state choices", c.state_choices),
        ]
        .into_iter()
        .map(|(name, count)| (name.to_string(), count))
        .collect()
    }
}

impl Engine {
    /// A mode in words: the truth values of the conditions and Booleans in its guards.
    pub(crate) fn mode_record(&self, mode: ModeId) -> ModeRecord {
        self.record_of_shape(mode, self.mode_shape(mode))
    }

    /// The present mode in words.
    pub(crate) fn mode_words(&self) -> String {
        in_words(&self.compiled.guard_atoms(&self.memory))
    }

    /// The same with what its equations are like.
    pub(crate) fn record_of_shape(&self, mode: ModeId, shape: ModeShape) -> ModeRecord {
        let valuation = self.compiled.guard_atoms(&self.memory);
        let label = in_words(&valuation);
        ModeRecord {
            mode: mode.0,
            label,
            valuation,
            since: None,
            structure: Some(shape),
        }
    }

    pub(crate) fn mode_shape(&self, mode: ModeId) -> ModeShape {
        let runtime = &self.modes[mode];
        let states = &runtime.plan().states;
        let first = states.iter().take(ModeShape::MOST_NAMES);
        ModeShape {
            index: runtime.structure.index(),
            states: states.len(),
            first_states: first.map(|state| self.compiled.name(state.var, state.order)).collect(),
        }
    }
}
