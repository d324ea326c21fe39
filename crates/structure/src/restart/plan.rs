//! The restart system as expressions (step 12).

use rustc_hash::FxHashMap;
use saltus_graph::{Bipartite, Column, Matching, Row, block_triangular_order};
use saltus_mdae::{Derivative, ExprId, ExprPool, Node, VarId};

use super::array::{ArrayVariable, Frame, Part};
use super::concrete::{Coefficient, Concrete, ConcreteEquation, OrderedTerm};
use super::heights::Attempt;
use super::integral::{Average, ImpulsivePart};
use super::programs::PlanPrograms;
use super::rescale::{Offsets, highest_order, order};

/// An unknown of the restart system: ε^μ · x'^m@k for ε → 0.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PlanUnknown {
    /// The array variable.
    pub variable: ArrayVariable,
    /// Its offset μ: 0 for finite ones, else it is impulsive.
    pub mu: u32,
    /// The variable that stands for it in the plan's expressions.
    pub symbol: VarId,
}

/// An equation of the restart system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanEquation {
    /// What it is an instance of.
    pub equation: ConcreteEquation,
    /// Zero at the restart: symbols of the plan's unknowns, `Node::Pre` of left limits, inputs, parameters, discrete
    /// variables and time as they are, symbols of means.
    pub residual: ExprId,
    /// Means of coefficients that change while the unknowns jump.
    pub averages: Vec<Average>,
    /// Coefficients of impulses, in the model's variables, that must not jump: the result would depend on how the change
    /// happens.
    pub steady: Vec<ExprId>,
}

impl PlanEquation {
    /// The variables in the equation, with those in its means.
    pub(crate) fn occurrences(&self, pool: &ExprPool) -> Vec<Derivative> {
        let mut found = pool.occurrences(self.residual);
        for average in &self.averages {
            found.extend(pool.occurrences(average.integrand));
        }
        found
    }
}

/// Where the right limit of a state comes from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RightLimitSource {
    /// It equals the left limit.
    LeftLimit,
    /// It is an unknown of the restart system (position in [`RestartPlan::unknowns`]).
    Unknown(usize),
}

/// The right limit of `x'^m`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct RightLimit {
    /// The variable.
    pub var: VarId,
    /// Derivative order m.
    pub order: u16,
    /// Where its value comes from.
    pub source: RightLimitSource,
}

/// How to restart: a square system, and where the right limits are in it. States of the new mode that are not listed
/// belong to untouched components and keep their left limits.
#[derive(Clone, Debug, Default)]
pub struct RestartPlan {
    /// The unknowns.
    pub unknowns: Vec<PlanUnknown>,
    /// The equations.
    pub equations: Vec<PlanEquation>,
    /// Equations in block triangular order, dependencies first, each with the unknown it is matched to.
    pub blocks: Vec<Vec<(usize, usize)>>,
    /// Right limits of the touched components.
    pub right_limits: Vec<RightLimit>,
    /// Restart equations that the tail entails, to be checked after solving: position and residual.
    pub checks: Vec<(u32, ExprId)>,
    /// Unknowns (positions) whose values are impulses.
    pub impulses: Vec<usize>,
    /// The equations and checks ready for evaluation, made when first solved.
    programs: std::sync::OnceLock<PlanPrograms>,
}

impl RestartPlan {
    /// The equations and checks ready for evaluation.
    pub fn programs(&self, pool: &ExprPool) -> &PlanPrograms {
        self.programs.get_or_init(|| PlanPrograms::new(pool, self))
    }
}

/// The array from which plans are made.
pub(crate) struct Source<'a, 'b> {
    pub(crate) frame: Frame<'a, 'b>,
    pub(crate) attempt: &'a Attempt,
    pub(crate) concrete: &'a Concrete,
    pub(crate) offsets: &'a Offsets,
}

impl Source<'_, '_> {
    /// The plan of the given equations; their unknowns must be exactly those they are matched to.
    pub(crate) fn plan(&self, pool: &mut ExprPool, equations: &[usize]) -> RestartPlan {
        let mut chosen: Vec<usize> = equations
            .iter()
            .map(|&equation| self.offsets.partner[equation])
            .collect();
        chosen.sort_unstable();
        let mut plan = RestartPlan::default();
        let mut symbols = FxHashMap::default();
        for &unknown in &chosen {
            let variable = self.concrete.unknowns[unknown];
            let symbol = pool.symbol(Derivative::new(variable.var, variable.order), variable.instant);
            symbols.insert(variable, symbol);
            plan.unknowns.push(PlanUnknown {
                variable,
                mu: self.offsets.unknowns[unknown] as u32,
                symbol,
            });
        }
        for &equation in equations {
            plan.equations.push(self.equation(pool, equation, &symbols));
        }
        plan.blocks = self.blocks(pool, &plan, equations, &chosen);
        plan.right_limits = self.right_limits(&plan);
        plan.checks = self.checks(pool, &symbols);
        plan.impulses = self.impulses(&plan);
        plan
    }

    /// The terms of maximal order: what is left of ε^μ times the equation for ε → 0.
    fn equation(
        &self,
        pool: &mut ExprPool,
        equation: usize,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> PlanEquation {
        let highest = highest_order(&self.concrete.terms[equation], &self.offsets.unknowns);
        let part = match self.impulsive_part(pool, equation, highest, symbols) {
            Some(part) => part,
            None => ImpulsivePart {
                residual: self.leading_part(pool, equation, highest, symbols),
                averages: Vec::new(),
                steady: Vec::new(),
            },
        };
        PlanEquation {
            equation: self.concrete.equations[equation],
            residual: part.residual,
            averages: part.averages,
            steady: part.steady,
        }
    }

    fn leading_part(
        &self,
        pool: &mut ExprPool,
        equation: usize,
        highest: i64,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> ExprId {
        let terms = &self.concrete.terms[equation];
        let mu = &self.offsets.unknowns;
        let mut sum = pool.real(0.0);
        for term in terms.terms.iter().filter(|term| order(term, mu) == highest) {
            let part = self.term(pool, equation, term, symbols);
            sum = if negative_sign(pool, term.coefficient) {
                pool.sub(sum, part)
            } else {
                pool.add(sum, part)
            };
        }
        sum
    }

    /// A term without the sign of a coefficient −1.
    fn term(
        &self,
        pool: &mut ExprPool,
        equation: usize,
        term: &OrderedTerm,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> ExprId {
        let mut product = match term.coefficient {
            _ if negative_sign(pool, term.coefficient) && !matches!(term.coefficient, Coefficient::LeftLimit(..)) => {
                pool.real(1.0)
            }
            Coefficient::Number(value) => pool.real(value),
            Coefficient::LeftLimit(_, var, order) => pool.pre_var(var, order),
            Coefficient::Expression(expression) => {
                let candidate = self.concrete.candidates[equation].expect("only array equations have expressions");
                let candidate = &self.attempt.array.candidates[candidate];
                self.substituted(pool, expression, candidate.part, candidate.label.instant, symbols)
            }
        };
        for &(unknown, power) in &term.powers {
            let symbol = pool.var(symbols[&self.concrete.unknowns[unknown]]);
            for _ in 0..power {
                product = pool.mul(product, symbol);
            }
        }
        product
    }

    /// Array variables become symbols, past ones left limits.
    pub(crate) fn substituted(
        &self,
        pool: &mut ExprPool,
        expression: ExprId,
        part: Part,
        instant: u16,
        symbols: &FxHashMap<ArrayVariable, VarId>,
    ) -> ExprId {
        let change = &self.frame.inquiry.change;
        pool.rewrite(&[expression], |pool, _, node| match node {
            Node::Var { var, order } if (change.is_unknown)(var) => {
                let variable = self.frame.array_variable(var, order, part, instant);
                Some(match symbols.get(&variable) {
                    Some(&symbol) => pool.var(symbol),
                    None => pool.pre_var(var, order),
                })
            }
            _ => None,
        })[0]
    }

    fn blocks(
        &self,
        pool: &ExprPool,
        plan: &RestartPlan,
        equations: &[usize],
        chosen: &[usize],
    ) -> Vec<Vec<(usize, usize)>> {
        let column: FxHashMap<VarId, usize> = plan.unknowns.iter().enumerate().map(|(i, u)| (u.symbol, i)).collect();
        let partner: Vec<usize> = equations
            .iter()
            .map(|&equation| {
                chosen
                    .binary_search(&self.offsets.partner[equation])
                    .expect("a chosen unknown")
            })
            .collect();
        let rows = plan.equations.iter().zip(&partner).map(|(equation, &partner)| {
            let symbols = equation.occurrences(pool).into_iter();
            let mut columns: Vec<Column> = symbols
                .filter_map(|Derivative { var, .. }| column.get(&var).map(|&i| Column::from_index(i)))
                .collect();
            // A coefficient may simplify to zero; the matched unknown stays part of the structure.
            columns.push(Column::from_index(partner));
            columns.sort_unstable();
            columns.dedup();
            columns
        });
        let graph = Bipartite::from_rows(plan.unknowns.len(), rows);
        let mut matching = Matching::empty(equations.len(), plan.unknowns.len());
        for (row, &column) in partner.iter().enumerate() {
            matching.insert(Row::from_index(row), Column::from_index(column));
        }
        let blocks = block_triangular_order(&graph, &matching);
        let pair = |row: &Row| (row.index(), partner[row.index()]);
        blocks.iter().map(|rows| rows.iter().map(pair).collect()).collect()
    }

    fn right_limits(&self, plan: &RestartPlan) -> Vec<RightLimit> {
        let new = self.frame.inquiry.change.new;
        let mut limits = Vec::new();
        for (&component, &instant) in &self.frame.heights.of {
            for &column in self.frame.heights.touched.columns(component) {
                let var = new.unknown(column);
                for order in 0..new.unknown_offset(column) {
                    let variable = ArrayVariable { var, order, instant };
                    let source = match plan.unknowns.binary_search_by_key(&variable, |u| u.variable) {
                        Ok(unknown) => RightLimitSource::Unknown(unknown),
                        Err(_) if self.frame.is_past(variable) => RightLimitSource::LeftLimit,
                        Err(_) => continue,
                    };
                    limits.push(RightLimit { var, order, source });
                }
            }
        }
        limits.sort_unstable_by_key(|limit| (limit.var, limit.order));
        limits
    }

    fn checks(&self, pool: &mut ExprPool, symbols: &FxHashMap<ArrayVariable, VarId>) -> Vec<(u32, ExprId)> {
        let restart = self.frame.inquiry.change.restart_equations;
        let mut checks = Vec::new();
        for &position in &self.attempt.array.dropped {
            let residual = restart[position as usize].residual;
            if self.is_determined(pool, residual, symbols) {
                checks.push((position, self.substituted(pool, residual, Part::Restart, 0, symbols)));
            }
        }
        checks
    }

    /// Whether the plan determines all right limits in a restart equation: the plan of a refused change is of a part.
    fn is_determined(&self, pool: &ExprPool, residual: ExprId, symbols: &FxHashMap<ArrayVariable, VarId>) -> bool {
        let frame = self.frame;
        pool.occurrences(residual).into_iter().all(|Derivative { var, order }| {
            let variable = frame.array_variable(var, order, Part::Restart, 0);
            let is_unknown = (frame.inquiry.change.is_unknown)(var);
            !is_unknown || frame.is_past(variable) || symbols.contains_key(&variable)
        })
    }

    fn impulses(&self, plan: &RestartPlan) -> Vec<usize> {
        let before_tail = |unknown: &PlanUnknown| {
            let height = self.frame.height(unknown.variable.var);
            height.is_none_or(|height| unknown.variable.instant < height)
        };
        let numbered = plan.unknowns.iter().enumerate();
        numbered
            .filter(|(_, unknown)| unknown.mu > 0 && before_tail(unknown))
            .map(|(i, _)| i)
            .collect()
    }
}

/// Whether a coefficient is −1, or −1 times a left limit.
fn negative_sign(pool: &ExprPool, coefficient: Coefficient) -> bool {
    match coefficient {
        Coefficient::Number(value) | Coefficient::LeftLimit(value, ..) => value == -1.0,
        Coefficient::Expression(expression) => pool.constant(expression) == Some(-1.0),
    }
}
