//! Derivatives that results show and a mode does not compute: where `x` is a state in one mode and follows from `x = -5` in
//! another, `der(x)` is a column of both.

use saltus_mdae::Derivative;

use super::Run;
use super::output::Layout;
use crate::engine::{Engine, ModeId, tools};
use crate::modes::jets::{Beyond, Jets};

/// So many modes are kept ready; with more, all are made anew.
const MOST_MODES: usize = 256;

/// What rows of a mode show beyond its leading derivatives.
#[derive(Clone, Debug)]
pub(super) struct ShownBeyond {
    columns: Vec<ShownColumn>,
    /// Apart from those that events use: when rows are written must not matter for these.
    jets: Jets,
}

#[derive(Clone, Debug)]
struct ShownColumn {
    column: usize,
    of: Derivative,
    /// How it is computed, where the equations of the mode say it.
    computed: Option<Beyond>,
}

impl Run {
    /// The present values of all columns of the results. Derivatives that nothing determines are not a number.
    pub(super) fn fill_row(&mut self, row: &mut Vec<f64>) {
        self.layout.row(&self.engine.memory, row);
        // Modes of networks all have the same leading derivatives.
        let Some(mode) = self.engine.mode.filter(|_| self.network_mode().is_none()) else {
            return;
        };
        let (engine, shown) = (&mut self.engine, &mut self.shown_beyond);
        if shown.len() > MOST_MODES && !shown.contains_key(&mode) {
            shown.clear();
        }
        let shown = shown.entry(mode);
        if let Some(shown) = shown.or_insert_with(|| engine.shown_beyond(mode, &self.layout)) {
            shown.fill(engine, row);
        }
    }

    /// The present value of a derivative; not a number where nothing determines it.
    pub(super) fn value(&mut self, of: Derivative) -> f64 {
        if of.order == 0 {
            return self.engine.memory.get(of.var, 0);
        }
        let highest = match self.network_mode() {
            Some(_) => self.highest_in_network(of.var),
            None => self
                .engine
                .mode
                .and_then(|mode| self.engine.modes[mode].highest_order(of.var)),
        };
        if highest.is_none_or(|highest| of.order <= highest) {
            return self.engine.memory.get(of.var, of.order);
        }
        if self.network_mode().is_some() {
            return f64::NAN;
        }
        let mut row = Vec::new();
        self.fill_row(&mut row);
        let column = self.layout.derivatives().find(|&(_, shown)| shown == of);
        column.map_or(f64::NAN, |(column, _)| row[column])
    }
}

impl Engine {
    /// What of the columns a mode does not compute; `None` if it computes all, as most do.
    fn shown_beyond(&self, mode: ModeId, layout: &Layout) -> Option<Box<ShownBeyond>> {
        let runtime = &self.modes[mode];
        // What is dead is buried already.
        let beyond =
            |of: Derivative| Some(of.order.saturating_sub(runtime.highest_order(of.var)?)).filter(|&level| level > 0);
        let mut columns: Vec<(usize, Derivative, u16)> = Vec::new();
        columns.extend(
            layout
                .derivatives()
                .filter_map(|(column, of)| Some((column, of, beyond(of)?))),
        );
        if columns.is_empty() {
            return None;
        }
        let tools = tools(&self.compiled, &self.cache, &self.nominal, &self.options);
        let mut jets = runtime.jets_aside(tools);
        let columns = columns.into_iter().map(|(column, of, level)| {
            let wanted = Beyond { var: of.var, level };
            let computed = jets.determine(tools, &self.pool, [wanted]).then_some(wanted);
            ShownColumn { column, of, computed }
        });
        let columns = columns.collect();
        Some(Box::new(ShownBeyond { columns, jets }))
    }
}

impl ShownBeyond {
    fn fill(&mut self, engine: &mut Engine, row: &mut [f64]) {
        let saved = engine.memory.values.clone();
        let tools = tools(&engine.compiled, &engine.cache, &engine.nominal, &engine.options);
        for &ShownColumn { column, of, computed } in &self.columns {
            let known = computed.is_some_and(|wanted| {
                let memory = &mut engine.memory;
                self.jets.compute(tools, &engine.pool, [wanted], memory, None)
            });
            row[column] = if known {
                engine.memory.get(of.var, of.order)
            } else {
                f64::NAN
            };
        }
        engine.memory.values = saved;
    }
}
