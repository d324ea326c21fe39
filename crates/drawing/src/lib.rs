//! Pictures: what is needed to write SVG, and diagrams of boxes and arrows. Figures of results and graphs of modes are drawn with it.

mod diagram;
mod svg;
pub mod text;

pub use diagram::{Diagram, DiagramEdge, DiagramNode, EdgeKind, NodeKind, shortened, wrapped};
pub use svg::Svg;
