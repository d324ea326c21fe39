//! Figures as PNG.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::Figure;
use crate::ResultError;

/// Larger pictures are scaled down to this many pixels along either side.
const LARGEST_SIDE: f32 = 16_000.0;

impl Figure {
    /// Draws it as PNG with the fonts of this computer; 2 is twice as fine as the screen size of the SVG.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, ResultError> {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        let options = Options {
            fontdb: Arc::new(fonts),
            ..Options::default()
        };
        let failed = |_| ResultError::Misuse("the figure is not valid SVG");
        let tree = Tree::from_str(&self.to_svg(), &options).map_err(failed)?;
        let size = tree.size();
        let limit = LARGEST_SIDE / size.width().max(size.height());
        let scale = if scale.is_finite() {
            scale.clamp(0.05, limit.max(0.05))
        } else {
            1.0
        };
        let (width, height) = (
            (size.width() * scale).ceil() as u32,
            (size.height() * scale).ceil() as u32,
        );
        let mut pixels = Pixmap::new(width, height).ok_or(ResultError::Misuse("an empty picture"))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels
            .encode_png()
            .map_err(|_| ResultError::Misuse("the picture cannot be encoded"))
    }
}

#[cfg(test)]
mod tests {
    use crate::figure::{FigureOptions, figure};
    use crate::{Schema, Signal, Trajectory};

    #[test]
    fn a_png_of_the_right_size() {
        let schema = Schema::new(vec![Signal::new("x")]).unwrap();
        let trajectory = Trajectory::from_columns(schema, vec![0.0, 1.0], vec![0, 0], vec![vec![0.0, 1.0]]).unwrap();
        let png = figure(&trajectory, &FigureOptions::default())
            .unwrap()
            .to_png(2.0)
            .unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1800);
    }
}
