//! Colours that people with any kind of colour vision can tell apart.

/// Okabe and Ito's palette without its yellow, which is too light for lines.
pub(super) const LINES: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333",
];
/// After all colours were used they come again dashed.
const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];
/// Backgrounds of modes: light enough for every line colour in front. The first mode is left white.
const MODES: [&str; 8] = [
    "#ffffff", "#dcecf9", "#fdebd3", "#dcf2e4", "#f8e0ec", "#fbf7cf", "#e6e1f4", "#e9e9e9",
];

pub(super) fn line(index: usize) -> &'static str {
    LINES[index % LINES.len()]
}

pub(super) fn dashes(index: usize) -> &'static str {
    DASHES[(index / LINES.len()) % DASHES.len()]
}

pub(super) fn mode(index: usize) -> &'static str {
    MODES[if index < MODES.len() {
        index
    } else {
        1 + (index - 1) % (MODES.len() - 1)
    }]
}

/// A colour mixed with white; 1 is the full colour.
pub(super) fn tint(color: &str, share: f64) -> String {
    let channel = |at: usize| u8::from_str_radix(color.get(at..at + 2).unwrap_or("80"), 16).unwrap_or(128);
    let mixed = [1, 3, 5].map(|at| (255.0 - share * (255.0 - f64::from(channel(at)))).round() as u8);
    format!("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2])
}
