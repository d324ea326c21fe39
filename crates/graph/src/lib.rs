//! Graph algorithms of structural analysis; knows no equations.
//!
//! An incidence structure is a bipartite graph between [`Row`]s (equations, to the callers) and
//! [`Column`]s (unknowns). Everything here is iterative, deterministic and exact:
//!
//! - [`Bipartite`]: compressed rows; [`WeightedBipartite`] with weights on the edges,
//! - [`Matcher`]: maximum matching, priority augmentation,
//! - [`Blocks`]: strongly connected components in block lower triangular order,
//! - [`DulmageMendelsohn`]: over-, well- and underdetermined parts, conflicting sets,
//! - [`highest_value_transversal`]: the Σ-method's assignment problem with its canonical offsets,
//! - [`Tearer`], [`connected_components`].

mod bipartite;
mod components;
mod dulmage_mendelsohn;
mod hungarian;
mod index;
mod locality;
mod matching;
mod offsets;
mod strong;
mod tearing;
mod transversal;
mod weighted;

pub use bipartite::{Adjacency, Bipartite, BipartiteBuilder, transposed};
pub use components::{Components, connected_components, connected_components_where};
pub use dulmage_mendelsohn::{AlternatingSet, DulmageMendelsohn, FineDecomposition, Part, conflicting_set};
pub use index::{BlockId, Column, ComponentId, Node, Row};
pub use matching::{Matcher, Matching};
pub use offsets::Offsets;
pub use strong::{Blocks, block_triangular_order, match_and_order};
pub use tearing::{Tearer, Tearing};
pub use transversal::{HighestValueTransversal, StructurallySingular, highest_value_transversal};
pub use weighted::{WeightedAdjacency, WeightedBipartite, WeightedBipartiteBuilder};
