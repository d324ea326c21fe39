//! Exact tangents: how everything that a mode determines changes with its states and with whatever else is known.
//!
//! The same passes as for the Jacobian (`jacobian`), with more that is known besides the states: time, inputs, parameters,
//! discrete values. The tangents of what the equations say then follow in the order of the stages.

use rustc_hash::FxHashMap;
use saltus_codegen::{KernelCache, Leaf, Partials, SystemError};
use saltus_mdae::{Derivative, ExprId, ExprPool};
use saltus_numerics::EvalError;

use crate::kernel::slot_of;
use crate::memory::Memory;
use crate::modes::jacobian::{LANES, Residuals, StagePartials, Tangent};
use crate::modes::plan::{Source, Stage};

/// How tangents go through the equations of a mode.
#[derive(Clone, Debug)]
pub(crate) struct TangentPlan {
    stages: Vec<StagePartials>,
    /// From which place to which, and whether with the other sign.
    copies: Vec<(usize, usize, bool)>,
    /// What is known: states first.
    known: Vec<Leaf>,
    place_of: FxHashMap<Leaf, usize>,
    /// What the equations determine and that depends on what is known, with its place.
    determined: Vec<(Derivative, usize)>,
    /// The places of the derivatives of the states; `None` if nothing known reaches them.
    rates: Vec<Option<usize>>,
    places: usize,
}

/// Partial derivatives at a point.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialValues(Vec<Vec<f64>>);

impl TangentPlan {
    /// For stages and their equations; `known` are leaves beside the states.
    pub(crate) fn new(
        (cache, pool, memory): (&KernelCache, &ExprPool, &Memory),
        states: &[Derivative],
        known: &[Leaf],
        (parts, sources): (&[Stage], &[Vec<Source>]),
    ) -> Result<Self, SystemError> {
        let leaf = |&Derivative { var, order }: &Derivative| Leaf::var(var, order);
        let known: Vec<Leaf> = states.iter().map(leaf).chain(known.iter().copied()).collect();
        let mut place_of: FxHashMap<Leaf, usize> = known.iter().copied().zip(0..).collect();
        let (mut stages, mut copies, mut determined) = (Vec::new(), Vec::new(), Vec::new());
        for (stage, (part, equations)) in parts.iter().zip(sources).enumerate() {
            if let Stage::Copies(copied) = part {
                for (unknown, root, negated) in copied.pairs() {
                    let Some(&from) = place_of.get(&leaf(&root)) else {
                        continue;
                    };
                    let place = place_of.len();
                    place_of.insert(leaf(&unknown), place);
                    determined.push((unknown, place));
                    copies.push((from, place, negated));
                }
                continue;
            }
            let residuals: Residuals = equations.iter().map(|&(f, order, _)| (f, order)).collect();
            let partials = Partials::build(cache, pool, &residuals, &place_of, |leaf| slot_of(memory, leaf))?;
            if partials.columns.is_empty() {
                continue;
            }
            let first = place_of.len();
            place_of.extend(part.unknowns().iter().map(leaf).zip(first..));
            determined.extend(part.unknowns().iter().copied().zip(first..));
            stages.push(StagePartials {
                stage,
                first,
                known: partials,
            });
        }
        let rate = |&Derivative { var, order }: &Derivative| place_of.get(&Leaf::var(var, order + 1)).copied();
        Ok(TangentPlan {
            rates: states.iter().map(rate).collect(),
            places: place_of.len(),
            stages,
            copies,
            known,
            place_of,
            determined,
        })
    }

    /// What is known: states first.
    pub(crate) fn known(&self) -> &[Leaf] {
        &self.known
    }

    /// What the equations determine, with its place.
    pub(crate) fn determined(&self) -> &[(Derivative, usize)] {
        &self.determined
    }

    /// The places of the derivatives of the states.
    pub(crate) fn rates(&self) -> &[Option<usize>] {
        &self.rates
    }

    /// Room for the tangents.
    pub(crate) fn room(&self) -> Vec<Tangent> {
        vec![[0.0; LANES]; self.places]
    }

    /// Partial derivatives of the equations at a solution in memory.
    pub(super) fn evaluate(
        &self,
        parts: &mut [Stage],
        memory: &Memory,
        values: &mut PartialValues,
    ) -> Result<(), EvalError> {
        values.0.resize_with(self.stages.len(), Vec::new);
        for (own, values) in self.stages.iter().zip(&mut values.0) {
            values.resize(own.known.columns.len(), 0.0);
            own.known.program.evaluate_unchecked(&memory.values, values);
            if let Stage::Block(block) = &mut parts[own.stage] {
                block
                    .factor_here(memory)
                    .map_err(|failure| EvalError::recoverable(format!("{failure:?}")))?;
            }
        }
        Ok(())
    }

    /// Tangents of everything from those of what is known, which stand first.
    pub(super) fn pass(&self, parts: &mut [Stage], values: &PartialValues, tangents: &mut [Tangent]) {
        let mut column = Vec::new();
        for (own, values) in self.stages.iter().zip(&values.0) {
            match &mut parts[own.stage] {
                Stage::Explicit(equations) => own.pass_explicit(values, &equations.slopes, tangents),
                Stage::Block(block) => own.pass_block(values, block, tangents, &mut column),
                Stage::Copies(_) => {}
            }
        }
        for &(from, to, negated) in &self.copies {
            tangents[to] = tangents[from].map(|tangent| if negated { -tangent } else { tangent });
        }
    }

    /// How a function of the values in memory changes with each place that it reads.
    pub(crate) fn gradient(
        &self,
        (cache, pool, memory): (&KernelCache, &ExprPool, &Memory),
        function: ExprId,
    ) -> Result<Vec<(usize, f64)>, SystemError> {
        let partials = Partials::build(cache, pool, &[(function, 0)], &self.place_of, |leaf| {
            slot_of(memory, leaf)
        })?;
        let mut values = vec![0.0; partials.columns.len()];
        partials.program.evaluate_unchecked(&memory.values, &mut values);
        Ok(partials.columns.into_iter().zip(values).collect())
    }
}
