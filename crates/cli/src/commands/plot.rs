//! `saltus plot`: a figure of results.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use saltus::report::{Context, PageOptions, page};
use saltus::results::figure::{FigureOptions, figure_over};
use saltus::results::{ResultError, Storage, Trajectory, read_event_log};

use crate::console::Console;
use crate::files::clash;
use crate::status::Status;
use crate::streams::{Files, is_standard, read_result};

/// Draws results, as SVG, PNG or an interactive page: one panel per unit, modes as coloured bands, jumps as vertical lines,
/// impulses as arrows.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Without names the variables that say most about the model are drawn.

Examples:
  saltus plot out.csv
  saltus plot out.csv motor.w load.w -o speeds.svg
  saltus plot out.csv 'clutch.*' --from 290 --to 310
  saltus plot out.csv --panel motor.w,load.w --panel clutch.tau
  saltus plot out.csv --over other.csv
  saltus plot out.csv v --x s -o phase.png
  saltus plot out.csv --events events.json --report out.html")]
pub(crate) struct PlotArguments {
    /// Result file (.csv or .mat), `-` for CSV on standard input
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,

    /// Variables to draw; `*` and `?` stand for any text and any character
    #[arg(value_name = "VARIABLE")]
    pub variables: Vec<String>,

    /// The picture to write (.svg or .png, `-` for SVG on standard output); RESULT with the extension .svg if not given
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write an interactive page instead of a picture
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["output", "width", "no_modes"])]
    pub report: Option<PathBuf>,

    /// Variables of one panel, separated by commas; may be repeated
    #[arg(long = "panel", value_name = "VARIABLES", conflicts_with = "variables")]
    pub panels: Vec<String>,

    /// Event log, for the impulses
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,

    /// First time shown
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub from: Option<f64>,

    /// Last time shown
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub to: Option<f64>,

    /// Title; the name of the model if not given
    #[arg(long)]
    pub title: Option<String>,

    /// Width in pixels
    #[arg(long, default_value_t = 900.0, value_name = "PIXELS")]
    pub width: f64,

    /// Height of a panel in pixels; chosen by their number if not given
    #[arg(long, value_name = "PIXELS")]
    pub height: Option<f64>,

    /// Draw over this variable instead of time (a phase portrait)
    #[arg(long, value_name = "VARIABLE", conflicts_with = "report")]
    pub x: Option<String>,

    /// Logarithmic horizontal axis
    #[arg(long, conflicts_with = "report")]
    pub log_x: bool,

    /// Logarithmic axes of values; what is not positive is a gap
    #[arg(long, conflicts_with = "report")]
    pub log_y: bool,

    /// Draw the same variables of another result over them, dashed; may be repeated
    #[arg(long, value_name = "RESULT", conflicts_with_all = ["report", "x"])]
    pub over: Vec<PathBuf>,

    /// No bands for the modes
    #[arg(long)]
    pub no_modes: bool,
}

/// Draws.
pub(crate) fn run(arguments: &PlotArguments, console: &Console) -> Status {
    let output = match arguments.report.as_ref().or(arguments.output.as_ref()) {
        Some(path) => path.clone(),
        None if is_standard(&arguments.result) => arguments.result.clone(),
        None => arguments.result.with_extension("svg"),
    };
    let mut read = vec![("the result", arguments.result.as_path())];
    read.extend(arguments.over.iter().map(|other| ("--over", other.as_path())));
    read.extend(arguments.events.as_deref().map(|events| ("--events", events)));
    if let Some(clash) = clash(&[("the output", output.as_path())], &read) {
        console.message(&format!("error: {clash}"));
        return Status::Usage;
    }
    match draw(arguments, &output) {
        Ok(()) => {
            if !is_standard(&output) {
                console.summary(&format!("{}\n", output.display()));
            }
            Status::Success
        }
        Err(error) => {
            super::result_error(console, &error);
            Status::Usage
        }
    }
}

fn draw(arguments: &PlotArguments, output: &Path) -> Result<(), ResultError> {
    let trajectory = read(arguments)?;
    if arguments.report.is_some() {
        let options = PageOptions {
            title: arguments.title.clone(),
            signals: arguments.variables.clone(),
            panels: arguments.panels.iter().map(|panel| split_names(panel)).collect(),
            time_range: time_range(arguments, trajectory.time()),
        };
        return write_page(output, &page(&trajectory, &Context::default(), &options)?);
    }
    let options = FigureOptions {
        title: arguments.title.clone(),
        signals: arguments.variables.clone(),
        panels: arguments.panels.iter().map(|panel| split_names(panel)).collect(),
        time_range: time_range(arguments, trajectory.time()),
        mode_bands: !arguments.no_modes,
        width: arguments.width,
        panel_height: arguments.height,
        x: arguments.x.clone(),
        log_x: arguments.log_x,
        log_y: arguments.log_y,
    };
    let others: Vec<(String, Trajectory)> = arguments
        .over
        .iter()
        .map(|path| Ok((path.display().to_string(), read_result(path)?)))
        .collect::<Result<_, ResultError>>()?;
    let others: Vec<(&str, &Trajectory)> = others.iter().map(|(name, result)| (name.as_str(), result)).collect();
    let svg = figure_over(&trajectory, &others, &options)?.to_svg();
    write_picture(output, &svg)
}

/// Writes a picture, as lines or as dots: its name says which.
pub(crate) fn write_picture(path: &Path, svg: &str) -> Result<(), ResultError> {
    require_extension(path, &["svg", "png"])?;
    if !has_extension(path, "png") {
        return write(path, svg.as_bytes());
    }
    let drawn = saltus_raster::png(svg, saltus_raster::SHARP).map_err(|error| ResultError::TooLarge {
        path: path.to_owned(),
        what: error.to_string(),
    });
    write(path, &drawn?)
}

/// Writes a page.
pub(crate) fn write_page(path: &Path, html: &str) -> Result<(), ResultError> {
    require_extension(path, &["html", "htm"])?;
    write(path, html.as_bytes())
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn require_extension(path: &Path, known: &[&'static str]) -> Result<(), ResultError> {
    if is_standard(path) || known.iter().any(|known| has_extension(path, known)) {
        return Ok(());
    }
    Err(ResultError::UnknownFormat {
        path: path.to_owned(),
        known: known.to_vec(),
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ResultError> {
    let written = Files.create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|source| ResultError::Io {
        path: path.to_owned(),
        action: saltus::results::IoAction::Write,
        source,
    })
}

fn read(arguments: &PlotArguments) -> Result<Trajectory, ResultError> {
    let mut trajectory = read_result(&arguments.result)?;
    if let Some(path) = &arguments.events {
        let file = Files.open(path).map_err(|source| ResultError::Io {
            path: path.clone(),
            action: saltus::results::IoAction::Read,
            source,
        })?;
        trajectory.add_event_log(read_event_log(file, path)?);
    }
    Ok(trajectory)
}

fn time_range(arguments: &PlotArguments, time: &[f64]) -> Option<(f64, f64)> {
    if arguments.from.is_none() && arguments.to.is_none() {
        return None;
    }
    let first = arguments.from.or(time.first().copied()).unwrap_or(0.0);
    Some((first, arguments.to.or(time.last().copied()).unwrap_or(1.0)))
}

/// `a,b[1,2],c`: commas inside brackets and quotes belong to names.
fn split_names(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let (mut depth, mut quoted) = (0_u32, false);
    for character in list.chars() {
        match character {
            '\'' => quoted = !quoted,
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if character == ',' && depth == 0 && !quoted {
            names.push(String::new());
        } else if let Some(name) = names.last_mut() {
            name.push(character);
        }
    }
    let names = names.into_iter().map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas() {
        assert_eq!(split_names("a, A[1,2] ,der(x)"), ["a", "A[1,2]", "der(x)"]);
        assert_eq!(split_names("'a,b',c"), ["'a,b'", "c"]);
        assert!(split_names(" , ").is_empty());
    }
}
