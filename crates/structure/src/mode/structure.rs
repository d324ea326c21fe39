//! The structure of one mode.

use saltus_graph::{BipartiteBuilder, Blocks, Column, Row, WeightedAdjacency, connected_components};
use saltus_mdae::walk::NodeWalk;
use saltus_mdae::{ConditionId, Derivative, EquationId, Idx, Mdae, Node, Role, VarId};

use super::choice::{ChoiceEntry, ChoiceGroup, Dependence, GroupSelection, Selection};
use super::guards::{Modes, Valuation};
use super::select::select_states;
use crate::linear::Coefficient;
use crate::sigma::{Piece, Sigma, SigmaFailure, SigmaMatrix, Singularity};

/// What the Σ-method says about one mode.
#[derive(Clone, Debug)]
pub struct ModeStructure {
    /// The mode.
    pub valuation: Valuation,
    /// The active equations, in order. Positions in this list are the rows of `sigma` and `blocks`.
    pub equations: Vec<EquationId>,
    /// The unknowns that occur in them, in order. Positions in this list are the columns of `sigma`.
    pub unknowns: Vec<VarId>,
    /// The unknowns of the model without an active equation.
    pub dead: Vec<VarId>,
    /// Offsets c (by equation) and d (by unknown) and the transversal.
    pub sigma: Sigma,
    /// The leading incidence in block triangular order: rows are positions in `equations`.
    pub blocks: Blocks,
    /// The constraints with the unknowns among which states are chosen.
    pub groups: Vec<ChoiceGroup>,
    /// A choice of states: final where a group is constant, otherwise a start from structure and preferences.
    pub selection: Selection,
    /// What makes differentiated equations jump: their changes go through a restart like mode changes.
    pub jumps: Vec<JumpSources>,
}

/// What may jump inside an equation with c > 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JumpSources {
    /// The equation.
    pub equation: EquationId,
    /// How often it is differentiated.
    pub differentiations: u16,
    /// The conditions of its if-expressions (value switches).
    pub conditions: Vec<ConditionId>,
    /// Its discrete variables.
    pub discrete: Vec<VarId>,
    /// Its inputs.
    pub inputs: Vec<VarId>,
}

/// Why a mode has no structure.
#[derive(Clone, Debug, PartialEq)]
pub enum ModeFailure {
    /// No perfect matching between equations and unknowns.
    Singular {
        /// Number of active equations.
        equations: usize,
        /// Number of unknowns in them.
        unknowns: usize,
        /// How many equations can be matched.
        structural_rank: usize,
        /// Too many equations.
        overdetermined: Vec<SingularPiece>,
        /// Too few equations.
        underdetermined: Vec<SingularPiece>,
    },
    /// An equation would have to be differentiated beyond every reason.
    TooManyDifferentiations {
        /// The equation.
        equation: EquationId,
    },
    /// Constraints with constant coefficients that depend on each other: regular in structure, singular in numbers.
    DependentConstraints {
        /// All constraints of the group.
        equations: Vec<EquationId>,
        /// Those that follow from, or contradict, the others.
        dependent: Vec<EquationId>,
        /// The unknowns they are about.
        unknowns: Vec<VarId>,
    },
}

/// Equations and unknowns that cannot be matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingularPiece {
    /// The equations, in order.
    pub equations: Vec<EquationId>,
    /// The unknowns, in order.
    pub unknowns: Vec<VarId>,
}

impl ModeStructure {
    /// Differentiation index (structural).
    pub fn index(&self) -> u16 {
        self.sigma.index()
    }
    /// Number of states.
    pub fn degrees_of_freedom(&self) -> usize {
        self.sigma.degrees_of_freedom()
    }
    /// c of an active equation.
    pub fn c_of(&self, equation: EquationId) -> Option<u16> {
        let row = self.equations.binary_search(&equation).ok()?;
        Some(self.sigma.c[row])
    }
    /// d of an unknown that is alive.
    pub fn d_of(&self, var: VarId) -> Option<u16> {
        let column = self.unknowns.binary_search(&var).ok()?;
        Some(self.sigma.d[column])
    }
    /// The unknown an equation is matched to.
    pub fn matched_unknown(&self, equation: EquationId) -> Option<VarId> {
        let row = self.equations.binary_search(&equation).ok()?;
        let column = self.sigma.matching.column_of(Row::from_index(row))?;
        Some(self.unknowns[column.index()])
    }
    /// The equation, unknown and derivative order of every leading entry of one row.
    pub(super) fn leading_columns<'a>(
        &'a self,
        matrix: &'a SigmaMatrix,
        row: Row,
    ) -> impl Iterator<Item = (Column, u16)> + 'a {
        let entries = matrix.matrix().entries_of(row);
        entries
            .map(|(column, order)| (column, order as u16))
            .filter(move |&(column, order)| self.sigma.is_leading(row, column, order))
    }
    /// The signature matrix of the active equations.
    pub fn matrix(&self, modes: &Modes) -> SigmaMatrix {
        let rows = self.equations.iter().map(|e| modes.signatures().row(e.index()));
        SigmaMatrix::with_unknowns(self.unknowns.clone(), rows)
    }
}

/// Analyses the mode in which the guards have the given values.
pub fn analyze_mode(model: &Mdae, modes: &Modes, valuation: &Valuation) -> Result<ModeStructure, ModeFailure> {
    analyze_equations(model, modes, valuation, modes.active(valuation).collect())
}

/// Analyses a mode by a list of equations, sorted, that stand for those its guards select. An equation of which nothing is
/// left (`i = 0` once more, where i is zero anyway) is left out if that makes the mode regular.
pub fn analyze_equations(
    model: &Mdae,
    modes: &Modes,
    valuation: &Valuation,
    equations: Vec<EquationId>,
) -> Result<ModeStructure, ModeFailure> {
    let says_nothing = |id: &EquationId| model.pool.constant(model.equations[*id].residual) == Some(0.0);
    if !equations.iter().any(says_nothing) {
        return analyze_all(model, modes, valuation, equations);
    }
    let telling = equations.iter().copied().filter(|id| !says_nothing(id)).collect();
    let failure = match analyze_all(model, modes, valuation, equations) {
        Err(failure) => failure,
        regular => return regular,
    };
    // `x = y; y = x`: what nothing is left of was needed.
    if !nowhere_determined(model, modes).is_empty() {
        return Err(failure);
    }
    analyze_all(model, modes, valuation, telling).map_err(|_| failure)
}

/// Unknowns that stand in no equation of any mode.
fn nowhere_determined(model: &Mdae, modes: &Modes) -> Vec<VarId> {
    let all: Vec<EquationId> = model.equations.ids().collect();
    alive_and_dead(model, modes, &all).1
}

fn analyze_all(
    model: &Mdae,
    modes: &Modes,
    valuation: &Valuation,
    equations: Vec<EquationId>,
) -> Result<ModeStructure, ModeFailure> {
    let (unknowns, dead) = alive_and_dead(model, modes, &equations);
    let rows = equations.iter().map(|e| modes.signatures().row(e.index()));
    let matrix = SigmaMatrix::with_unknowns(unknowns, rows);
    let sigma = matrix
        .solve()
        .map_err(|failure| failure_in_model(failure, &equations, matrix.unknowns().len()))?;
    let blocks = sigma.blocks(&matrix);
    let mut structure = ModeStructure {
        valuation: valuation.clone(),
        equations,
        unknowns: matrix.unknowns().to_vec(),
        dead,
        sigma,
        blocks,
        groups: Vec::new(),
        selection: Selection::default(),
        jumps: Vec::new(),
    };
    structure.groups = choice_groups(model, modes, &structure, &matrix);
    structure.selection = first_selection(modes, &structure.groups)?;
    structure.jumps = jump_sources(model, &structure);
    Ok(structure)
}

fn alive_and_dead(model: &Mdae, modes: &Modes, equations: &[EquationId]) -> (Vec<VarId>, Vec<VarId>) {
    let mut occurs = vec![false; model.variables.len()];
    for equation in equations {
        for &Derivative { var, .. } in modes.signatures().row(equation.index()) {
            occurs[var.index()] = true;
        }
    }
    let unknowns = model.variables.ids().filter(|&var| model.is_unknown(var));
    unknowns.partition(|var| occurs[var.index()])
}

fn failure_in_model(failure: SigmaFailure, equations: &[EquationId], unknowns: usize) -> ModeFailure {
    let equation = |row: &Row| equations[row.index()];
    let pieces = |pieces: &[Piece]| {
        let piece = |piece: &Piece| SingularPiece {
            equations: piece.rows.iter().map(equation).collect(),
            unknowns: piece.unknowns.clone(),
        };
        pieces.iter().map(piece).collect()
    };
    match failure {
        SigmaFailure::Singular(Singularity {
            structural_rank,
            overdetermined,
            underdetermined,
        }) => ModeFailure::Singular {
            equations: equations.len(),
            unknowns,
            structural_rank,
            overdetermined: pieces(&overdetermined),
            underdetermined: pieces(&underdetermined),
        },
        SigmaFailure::TooManyDifferentiations { row } => ModeFailure::TooManyDifferentiations {
            equation: equation(&row),
        },
    }
}

/// The connected groups of differentiated equations inside each diagonal block.
fn choice_groups(model: &Mdae, modes: &Modes, structure: &ModeStructure, matrix: &SigmaMatrix) -> Vec<ChoiceGroup> {
    let constraints: Vec<Row> = (0..structure.equations.len())
        .filter(|&row| structure.sigma.c[row] > 0)
        .map(Row::from_index)
        .collect();
    if constraints.is_empty() {
        return Vec::new();
    }
    let mut builder = BipartiteBuilder::new(structure.unknowns.len());
    for &row in &constraints {
        let block = structure.blocks.block_of(row);
        let leading = structure.leading_columns(matrix, row);
        builder.push_row(leading.map(|(column, _)| column).filter(|&column| {
            let solved_by = structure.sigma.matching.row_of(column);
            solved_by.and_then(|row| structure.blocks.block_of(row)) == block
        }));
    }
    let graph = builder.finish();
    let components = connected_components(&graph);
    let mut reader = GroupReader {
        model,
        modes,
        structure,
        position: vec![0; structure.unknowns.len()],
    };
    let members = components.rows().into_iter().filter(|rows| !rows.is_empty());
    members
        .map(|rows| {
            let rows: Vec<(Row, &[Column])> = rows
                .into_iter()
                .map(|row| {
                    (
                        constraints[row.index()],
                        saltus_graph::Adjacency::columns_of(&graph, row),
                    )
                })
                .collect();
            reader.read(&rows)
        })
        .collect()
}

struct GroupReader<'a> {
    model: &'a Mdae,
    modes: &'a Modes,
    structure: &'a ModeStructure,
    /// Position of an unknown in the present group.
    position: Vec<u32>,
}

impl GroupReader<'_> {
    fn read(&mut self, rows: &[(Row, &[Column])]) -> ChoiceGroup {
        let structure = self.structure;
        let mut columns: Vec<Column> = rows.iter().flat_map(|&(_, columns)| columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        for (i, column) in columns.iter().enumerate() {
            self.position[column.index()] = i as u32;
        }
        let mut entries = Vec::new();
        for (i, &(row, columns)) in rows.iter().enumerate() {
            self.read_row(i as u32, row, columns, &mut entries);
        }
        let equation = |row: Row| (structure.equations[row.index()], structure.sigma.c[row.index()]);
        let unknown =
            |column: &Column| Derivative::new(structure.unknowns[column.index()], structure.sigma.d[column.index()]);
        ChoiceGroup {
            equations: rows.iter().map(|&(row, _)| equation(row)).collect(),
            candidates: columns.iter().map(unknown).collect(),
            dependence: dependence(&entries),
            entries,
        }
    }

    fn read_row(&mut self, i: u32, row: Row, columns: &[Column], entries: &mut Vec<ChoiceEntry>) {
        let structure = self.structure;
        let partials = self.modes.partials(self.model, structure.equations[row.index()]);
        for &column in columns {
            let var = structure.unknowns[column.index()];
            let order = structure.sigma.d[column.index()] - structure.sigma.c[row.index()];
            let found = partials.binary_search_by_key(&Derivative { var, order }, |&(derivative, _)| derivative);
            entries.push(ChoiceEntry {
                row: i,
                column: self.position[column.index()],
                order,
                coefficient: found.map_or(Coefficient::Constant(0.0), |at| partials[at].1),
            });
        }
    }
}

fn dependence(entries: &[ChoiceEntry]) -> Dependence {
    let kind = |entry: &ChoiceEntry| match entry.coefficient {
        Coefficient::Constant(_) => Dependence::Constant,
        Coefficient::Parameter => Dependence::Parameter,
        Coefficient::Varying => Dependence::Varying,
    };
    entries.iter().map(kind).max().unwrap_or(Dependence::Constant)
}

/// Constant groups are decided by their numbers, the others provisionally by structure.
fn first_selection(modes: &Modes, groups: &[ChoiceGroup]) -> Result<Selection, ModeFailure> {
    let preference = |var, order| modes.preference(var, order);
    let choose = |group: &ChoiceGroup| -> Result<GroupSelection, ModeFailure> {
        let Some(values) = group.constant_values() else {
            return Ok(group.structural_selection(preference));
        };
        select_states(group, &values, preference).map_err(|deficient| ModeFailure::DependentConstraints {
            equations: group.equations.iter().map(|&(equation, _)| equation).collect(),
            dependent: deficient
                .dependent
                .iter()
                .map(|&i| group.equations[i as usize].0)
                .collect(),
            unknowns: group.candidates.iter().map(|&Derivative { var, .. }| var).collect(),
        })
    };
    let groups = groups.iter().map(choose).collect::<Result<_, _>>()?;
    Ok(Selection { groups })
}

fn jump_sources(model: &Mdae, structure: &ModeStructure) -> Vec<JumpSources> {
    let mut reader = NodeWalk::default();
    let differentiated = structure
        .equations
        .iter()
        .zip(&structure.sigma.c)
        .filter(|&(_, &c)| c > 0);
    differentiated
        .filter_map(|(&equation, &differentiations)| {
            let mut jumps = JumpSources {
                equation,
                differentiations,
                conditions: Vec::new(),
                discrete: Vec::new(),
                inputs: Vec::new(),
            };
            reader.for_each_leaf(&model.pool, model.equations[equation].residual, |leaf| match leaf {
                Node::Condition(condition) => jumps.conditions.push(condition),
                Node::Var { var, .. } => match model.variables[var].role {
                    Role::Discrete => jumps.discrete.push(var),
                    Role::Input => jumps.inputs.push(var),
                    _ => {}
                },
                _ => {}
            });
            jumps.conditions.sort_unstable();
            for list in [&mut jumps.discrete, &mut jumps.inputs] {
                list.sort_unstable();
                list.dedup();
            }
            let any = !(jumps.conditions.is_empty() && jumps.discrete.is_empty() && jumps.inputs.is_empty());
            any.then_some(jumps)
        })
        .collect()
}
