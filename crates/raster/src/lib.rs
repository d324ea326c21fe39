//! Pictures as dots: PNG of the SVG that Saltus draws, the same on every machine. The letters are carried along, and nothing of the
//! system is looked at.
//!
//! ```
//! let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="red"/></svg>"#;
//! let png = saltus_raster::png(svg, saltus_raster::SHARP).unwrap();
//! assert_eq!(&png[1..4], b"PNG");
//! assert_eq!(&png[16..24], [0, 0, 0, 60, 0, 0, 0, 40]);
//! ```

use std::fmt;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Dots per pixel with which pictures look sharp on screens and on paper.
pub const SHARP: f32 = 2.0;

/// Dots of a picture at most: 256 MB while it is drawn.
const MOST_DOTS: f64 = 64e6;

const FAMILY: &str = "DejaVu Sans";
const LETTERS: [&[u8]; 2] = [
    include_bytes!("../assets/DejaVuSans.ttf"),
    include_bytes!("../assets/DejaVuSans-Bold.ttf"),
];

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RasterError {
    /// The text is no picture.
    Unreadable(String),
    /// So many dots wide and high is too large.
    TooLarge(u64, u64),
}

impl fmt::Display for RasterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RasterError::Unreadable(why) => write!(f, "the picture cannot be drawn: {why}"),
            RasterError::TooLarge(width, height) => write!(f, "a picture of {width} × {height} dots is too large"),
        }
    }
}

impl std::error::Error for RasterError {}

/// The picture as PNG on white, with so many dots per pixel.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, RasterError> {
    let unreadable = |why: String| RasterError::Unreadable(why);
    let tree = Tree::from_str(svg, &options()).map_err(|error| unreadable(error.to_string()))?;
    let size = tree.size();
    let dots = |length: f32| (f64::from(length) * f64::from(scale)).ceil().max(1.0);
    let (width, height) = (dots(size.width()), dots(size.height()));
    let too_large = || RasterError::TooLarge(width as u64, height as u64);
    if width * height > MOST_DOTS {
        return Err(too_large());
    }
    let mut dots = Pixmap::new(width as u32, height as u32).ok_or_else(too_large)?;
    dots.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut dots.as_mut());
    dots.encode_png().map_err(|error| unreadable(error.to_string()))
}

fn options() -> Options<'static> {
    let mut letters = fontdb::Database::new();
    for data in LETTERS {
        letters.load_font_data(data.to_vec());
    }
    letters.set_sans_serif_family(FAMILY);
    Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::new(letters),
        ..Options::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(inside: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"40\" \
             font-family=\"'Helvetica Neue', Helvetica, sans-serif\">{inside}</svg>"
        )
    }

    fn dark_dots(inside: &str) -> usize {
        let tree = Tree::from_str(&picture(inside), &options()).unwrap();
        let mut dots = Pixmap::new(200, 40).unwrap();
        dots.fill(resvg::tiny_skia::Color::WHITE);
        resvg::render(&tree, Transform::identity(), &mut dots.as_mut());
        dots.pixels().iter().filter(|dot| dot.red() < 128).count()
    }

    /// Every kind of letter that figures use is there, without a font of the system.
    #[test]
    fn letters_are_drawn() {
        for text in ["speed", "ω̇ ≤ 10⁻³", "Größe", "N·m²", "→ ∞", "Скорость", "rad/s"] {
            let plain = dark_dots(&format!("<text x=\"5\" y=\"25\">{text}</text>"));
            assert!(plain > 20, "{text}: {plain}");
        }
        let text = |weight: &str| dark_dots(&format!("<text x=\"5\" y=\"25\" font-weight=\"{weight}\">speed</text>"));
        assert!(text("bold") > text("normal"));
        // A letter that no font has is a box or nothing, not a failure.
        png(&picture("<text x=\"5\" y=\"25\">漢字 \u{10ffff}</text>"), SHARP).unwrap();
    }

    #[test]
    fn the_same_picture_is_the_same_file() {
        let svg = picture("<text x=\"5\" y=\"25\">x</text>");
        assert_eq!(png(&svg, SHARP), png(&svg, SHARP));
        assert_ne!(png(&svg, 1.0), png(&svg, SHARP));
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        for svg in [
            "",
            "<svg",
            "<b/>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"1\"/>",
        ] {
            assert!(matches!(png(svg, SHARP), Err(RasterError::Unreadable(_))), "{svg}");
        }
        let large = picture("")
            .replace("\"200\"", "\"200000\"")
            .replace("\"40\"", "\"4000\"");
        assert_eq!(png(&large, 1.0), Err(RasterError::TooLarge(200_000, 4_000)));
    }
}
