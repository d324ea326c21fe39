//! Graph algorithms of structural analysis; knows no equations.
//!
//! An incidence structure is a bipartite graph between [`Row`]s (equations, to the callers) and
//! [`Column`]s (unknowns). Everything here is iterative, deterministic and exact:
//!
//! - [`Bipartite`] (compressed rows) and [`Overlay`] (a few rows replaced cheaply),
//! - [`Matcher`]: maximum matching, priority augmentation; [`IncrementalMatching`],
//! - [`Blocks`]: strongly connected components in block lower triangular order;
//!   [`IncrementalBlocks`],
//! - [`DulmageMendelsohn`]: over-, well- and underdetermined parts, conflicting sets,
//! - [`highest_value_transversal`] and [`canonical_offsets`] (the Σ-method's assignment problem);
//!   [`IncrementalTransversal`],
//! - [`DifferenceSystem`]: least solutions of difference constraints,
//! - [`Tearer`], [`color_columns`], [`connected_components`].
#![warn(missing_docs)]

mod bipartite;
mod coloring;
mod components;
mod difference;
mod dulmage_mendelsohn;
mod hungarian;
mod incremental;
mod incremental_blocks;
mod incremental_transversal;
mod index;
mod locality;
mod longest_paths;
mod matching;
mod offsets;
mod overlay;
mod strong;
mod tearing;
mod transversal;
mod weighted;
mod weighted_overlay;

pub use bipartite::{Adjacency, Bipartite, BipartiteBuilder, transposed};
pub use coloring::{Coloring, color_columns};
pub use components::{Components, connected_components, connected_components_where};
pub use difference::{DifferenceSystem, PositiveCycle};
pub use dulmage_mendelsohn::{
    AlternatingSet, DulmageMendelsohn, FineDecomposition, Part, conflicting_set, undetermined_set,
};
pub use incremental::{IncrementalMatching, Rematch};
pub use incremental_blocks::{IncrementalBlocks, RowDependencies};
pub use incremental_transversal::{IncrementalTransversal, RowChange, TransversalChange};
pub use index::{BlockId, Column, ComponentId, ConstraintId, Node, Row};
pub use matching::{Matcher, Matching};
pub use offsets::{ImprovingCycle, Offsets, canonical_offsets};
pub use overlay::Overlay;
pub use strong::{Blocks, block_triangular_order, match_and_order};
pub use tearing::{Tearer, Tearing};
pub use transversal::{HighestValueTransversal, StructurallySingular, highest_value_transversal};
pub use weighted::{WeightedAdjacency, WeightedBipartite, WeightedBipartiteBuilder};
pub use weighted_overlay::WeightedOverlay;
