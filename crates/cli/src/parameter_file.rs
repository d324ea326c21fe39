//! Values of parameters from a file: JSON, TOML or CSV.

use std::path::Path;

use serde_json::Value;

/// The settings of a command: those of a file, and those of the command line, which count where both have one.
pub(crate) fn settings(
    file: Option<&Path>,
    command_line: &[(String, String)],
) -> Result<Vec<(String, String)>, String> {
    let mut settings = match file {
        Some(path) => read(path)?,
        None => Vec::new(),
    };
    settings.retain(|(name, _)| !command_line.iter().any(|(set, _)| set == name));
    settings.extend_from_slice(command_line);
    Ok(settings)
}

fn read(path: &Path) -> Result<Vec<(String, String)>, String> {
    let wrong = |why: String| format!("`{}`: {why}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "json" => from_json(&text),
        "toml" => from_toml(&text),
        "csv" => from_csv(&text),
        _ => Err("files of parameters end with .json, .toml or .csv".to_owned()),
    }
    .map_err(wrong)
}

fn from_json(text: &str) -> Result<Vec<(String, String)>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    collect_top(&value)
}

fn from_toml(text: &str) -> Result<Vec<(String, String)>, String> {
    let value: Value = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    collect_top(&value)
}

fn collect_top(value: &Value) -> Result<Vec<(String, String)>, String> {
    let Value::Object(members) = value else {
        return Err("an object with the names of parameters is expected".to_owned());
    };
    let mut settings = Vec::new();
    for (name, value) in members {
        collect(name, value, &mut settings)?;
    }
    Ok(settings)
}

/// Objects inside of objects are components, lists of objects arrays of components.
fn collect(name: &str, value: &Value, settings: &mut Vec<(String, String)>) -> Result<(), String> {
    if let Value::Object(members) = value {
        for (member, value) in members {
            collect(&format!("{name}.{member}"), value, settings)?;
        }
        return Ok(());
    }
    if let Value::Array(elements) = value
        && elements.iter().any(Value::is_object)
    {
        for (place, element) in elements.iter().enumerate() {
            collect(&format!("{name}[{}]", place + 1), element, settings)?;
        }
        return Ok(());
    }
    let text = literal(value).ok_or_else(|| format!("`{name}` has no value that a parameter can have"))?;
    settings.push((name.to_owned(), text));
    Ok(())
}

/// As it would be written behind `--set`.
fn literal(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(elements) => {
            let elements: Option<Vec<String>> = elements.iter().map(literal).collect();
            elements.map(|elements| format!("{{{}}}", elements.join(", ")))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// Lines `name,value`; a first line `name,value` is a heading.
fn from_csv(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut settings = Vec::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let unquoted = |field: &str| field.trim().trim_matches('"').trim().to_owned();
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        // The commas of an array belong to its value.
        let Some((name, value)) = line.split_once([',', ';']) else {
            return Err(format!("line {} has no comma between name and value", number + 1));
        };
        let (name, value) = (unquoted(name), unquoted(value));
        if number == 0 && name.eq_ignore_ascii_case("name") {
            continue;
        }
        if name.is_empty() || value.is_empty() {
            return Err(format!("line {} lacks a name or a value", number + 1));
        }
        settings.push((name, value));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn all_forms_say_the_same() {
        let expected = pairs(&[("R", "2.5"), ("motor.J", "3"), ("motor.k", "{1, 2}"), ("on", "true")]);
        let sorted = |found: Result<Vec<(String, String)>, String>| {
            let mut found = found.unwrap();
            found.sort();
            found
        };
        let json = r#"{"R": 2.5, "motor": {"J": 3, "k": [1, 2]}, "on": true}"#;
        assert_eq!(sorted(from_json(json)), expected);
        let toml = "R = 2.5\non = true\n[motor]\nJ = 3\nk = [1, 2]\n";
        assert_eq!(sorted(from_toml(toml)), expected);
        let csv = "name,value\nR,2.5\nmotor.J,3\nmotor.k,\"{1, 2}\"\n\non,true\n";
        assert_eq!(sorted(from_csv(csv)), expected);
    }

    #[test]
    fn what_is_no_value_is_said() {
        assert!(from_json("[1]").is_err());
        assert!(from_json(r#"{"k": null}"#).unwrap_err().contains("`k`"));
        assert!(from_toml("k = ").is_err());
        assert!(from_csv("k 3").unwrap_err().contains("line 1"));
        assert!(from_csv("k,").unwrap_err().contains("line 1"));
    }
}
