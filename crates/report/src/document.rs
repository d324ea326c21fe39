//! The whole page.

use saltus_results::{Report, Trajectory};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::encode::base64;
use crate::escape;
use crate::sheet::Sheet;
use crate::{Context, events, scene, tables};

const PLOT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const PLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const PLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const SCRIPT: &str = include_str!("../assets/report.js");
const SCENE: &str = include_str!("../assets/scene.js");
const STYLE: &str = include_str!("../assets/report.css");

pub(crate) fn document(sheet: &Sheet, result: &Trajectory, comparison: Option<&Report>, context: &Context) -> String {
    let (plot, style) = (plot(), style());
    let script = script(!scene::scene(result, sheet).is_null());
    let policy = policy(&[&plot, &script], &style);
    let mut page = format!(
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta http-equiv=Content-Security-Policy content=\"{policy}\">\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <meta name=color-scheme content=\"light dark\">\n\
         <meta name=generator content=\"Saltus\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        escape::html(&sheet.title)
    );
    page += &body(sheet, result, comparison, context);
    for (number, column) in sheet.columns.iter().enumerate() {
        page += &format!("<script type=text/plain id=c{number}>{}</script>\n", column.text);
    }
    page += &format!(
        "<script type=application/json id=data>{}</script>\n",
        data(sheet, result, context)
    );
    page += &format!("<script>{plot}</script>\n<script>{script}</script>\n</body>\n</html>\n");
    page
}

fn body(sheet: &Sheet, result: &Trajectory, comparison: Option<&Report>, context: &Context) -> String {
    let parts = [
        tables::messages(context),
        tables::comparison(comparison),
        tables::event_table(result, sheet),
        tables::mode_table(result),
        tables::parameters(result.schema()),
        tables::statistics(result, context),
        tables::sources(result, context),
    ];
    format!(
        "<header>\n<div>{}</div>\n<div id=tools></div>\n</header>\n<div id=columns>\n\
         <aside id=signals aria-label=Signals></aside>\n<main>\n\
         <noscript><p class=note>Scripts are switched off: these tables are all there is to see.</p>\n{}</noscript>\n\
         <div id=plots tabindex=0 aria-label=\"Curves: arrow keys move the cursor\"></div>\n<div id=scene></div>\n\
         {}</main>\n</div>\n",
        tables::heading(sheet, result),
        tables::signal_table(result),
        parts.concat()
    )
}

/// What scripts read.
fn data(sheet: &Sheet, result: &Trajectory, context: &Context) -> String {
    let mut value = sheet.to_json();
    value["events"] = events::to_json(result, sheet);
    value["impulses"] = events::impulses(result, sheet);
    value["weights"] = weights(sheet);
    value["names"] = json!(events::mode_names(result));
    value["scene"] = scene::scene(result, sheet);
    value["files"] = context.sources.iter().map(|source| source.name.as_str()).collect();
    escape::json(&value)
}

/// Units of impulses by the unit of the signal.
fn weights(sheet: &Sheet) -> serde_json::Value {
    let mut units = serde_json::Map::new();
    for signal in &sheet.signals {
        units.insert(signal.unit.clone(), json!(signal.weight_units));
    }
    serde_json::Value::Object(units)
}

/// Scripts and styles of all pages, as a policy names them. A page that shows reports inside itself hands its own policy on to
/// them, and has to allow these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Hashes of scripts.
    pub scripts: Vec<String>,
    /// Hashes of styles.
    pub styles: Vec<String>,
}

/// What is in the pages of this version.
pub fn allowed() -> Allowed {
    let scripts = [plot(), script(false), script(true)];
    Allowed {
        scripts: scripts.iter().map(|script| hash(script)).collect(),
        styles: vec![hash(&style())],
    }
}

fn plot() -> String {
    format!("/*\n{PLOT_LICENCE}*/\n{PLOT}")
}

fn style() -> String {
    format!("{PLOT_STYLE}\n{STYLE}")
}

fn script(is_moving: bool) -> String {
    compact(&if is_moving {
        format!("{SCENE}{SCRIPT}")
    } else {
        SCRIPT.to_owned()
    })
}

/// A script without comments on lines of their own and without indentation.
fn compact(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    let code =
        lines.filter(|line| !line.is_empty() && !["//", "/**", "* ", "*/"].iter().any(|mark| line.starts_with(mark)));
    code.map(|line| format!("{line}\n")).collect()
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

/// Scripts and styles of this page and nothing else; nothing is loaded, and no text becomes part of the page as markup.
fn policy(scripts: &[&str], style: &str) -> String {
    let scripts: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        scripts.join(" "),
        hash(style)
    )
}
