//! The page "Analysis as JSON" against what is printed: every field is documented with its type, and every documented
//! field is printed somewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::support::*;

/// Object → key → type, from the tables of the page.
fn documented() -> BTreeMap<String, BTreeMap<String, String>> {
    let page = saltus_testing::repository().join("docs/src/reference/analysis.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut objects: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut object = String::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            object = name.to_owned();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", key, ty, ..] = cells[..]
            && let Some(key) = key.strip_prefix('`').and_then(|key| key.strip_suffix('`'))
        {
            let ty = ty.trim_matches('`').to_owned();
            let twice = objects.entry(object.clone()).or_default().insert(key.to_owned(), ty);
            assert_eq!(twice, None, "{object}.{key}");
        }
    }
    objects
}

struct Schema {
    objects: BTreeMap<String, BTreeMap<String, String>>,
    seen: BTreeSet<(String, String)>,
    /// What was found that the page does not say.
    wrong: BTreeSet<String>,
}

impl Schema {
    fn check(&mut self, ty: &str, value: &Value, path: &str) {
        if let Some(inner) = ty.strip_suffix('?') {
            if !value.is_null() {
                self.check(inner, value, path);
            }
            return;
        }
        if let Some(inner) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
            return match value.as_array() {
                Some(items) => items.iter().for_each(|item| self.check(inner, item, path)),
                None => self.report(ty, value, path),
            };
        }
        if let Some(inner) = ty.strip_prefix('{').and_then(|ty| ty.strip_suffix('}')) {
            return match value.as_object() {
                Some(items) => items.values().for_each(|item| self.check(inner, item, path)),
                None => self.report(ty, value, path),
            };
        }
        let fits = match ty {
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64(),
            "number" => value.is_number(),
            // Documented with the diagnostics.
            "diagnostic" => value.is_object(),
            _ => return self.check_object(ty, value, path),
        };
        if !fits {
            self.report(ty, value, path);
        }
    }

    fn check_object(&mut self, object: &str, value: &Value, path: &str) {
        let Some(fields) = value.as_object() else {
            return self.report(object, value, path);
        };
        let singular = object == "mode" && value["singular"] == true;
        for (key, value) in fields {
            let mut owners = vec![object];
            owners.extend(singular.then_some("refusal"));
            let owner = owners.into_iter().find(|&owner| self.objects[owner].contains_key(key));
            let Some(owner) = owner else {
                self.wrong.insert(format!("{path}.{key} is not documented"));
                continue;
            };
            self.seen.insert((owner.to_owned(), key.clone()));
            let ty = self.objects[owner][key].clone();
            self.check(&ty, value, &format!("{path}.{key}"));
        }
        let brief = singular || value["verdict"] == "singular mode" || object == "step";
        for key in self.objects[object].keys().filter(|_| !brief) {
            if !fields.contains_key(key) {
                self.wrong.insert(format!("{path}.{key} is missing"));
            }
        }
    }

    fn report(&mut self, ty: &str, value: &Value, path: &str) {
        self.wrong.insert(format!("{path} is no {ty}: {value}"));
    }
}

/// A capacitor that is put on ideal sources.
const TWO_SOURCES: &str = "\
model Sources
  Real u(start = 0, fixed = true), i1, i2;
equation
  der(u) = -u - i1 - i2;
  if time > 0.2 then u = 1; else i1 = 0; end if;
  if time > 0.6 then u = 2; else i2 = 0; end if;
end Sources;
";

/// Thermostats that know nothing of each other.
const MANY: &str = "\
model Many
  Real x[14](each start = 1, each fixed = true), u[14];
equation
  for k in 1:14 loop
    der(x[k]) = -x[k] + u[k];
    if x[k] > 0.05*k then u[k] = 0; else u[k] = 1 + x[k]^2; end if;
  end for;
end Many;
";

/// A clutch with open flanges.
const PARTS: &str = "\
package Parts
  connector Flange
    Real w;
    flow Real tau;
  end Flange;
  model Clutch
    Flange a, b;
    input Boolean engaged;
  equation
    a.tau + b.tau = 0;
    if engaged then a.w = b.w; else a.tau = 0; end if;
  end Clutch;
end Parts;
";

#[test]
fn the_page_about_json_is_true() {
    let mut schema = Schema {
        objects: documented(),
        seen: BTreeSet::new(),
        wrong: BTreeSet::new(),
    };
    let folder = Folder::new()
        .with("Sources.mo", TWO_SOURCES)
        .with("Parts.mo", PARTS)
        .with("Many.mo", MANY);
    for name in [
        "MotorAndLoad.mo",
        "mechanics/CupAndBall.mo",
        "mechanics/CupAndBallContradiction.mo",
        "mechanics/CupAndBallElastic.mo",
        "mechanics/RecombinedClutch.mo",
        "electrical/BuckConverter.mo",
        "electrical/DerivedImpulse.mo",
        "basics/UnilateralConstraint.mo",
    ] {
        let path = example(name);
        let path = path.to_str().unwrap();
        let json = folder.expect(0, &["analyze", path, "--json"]).json();
        schema.check("analysis", &json, name);
        let json = folder.expect(0, &["analyze", path, "--constructive", "--json"]).json();
        schema.check("constructive", &json, name);
    }
    let json = folder
        .expect(0, &["analyze", "Parts.mo", "--class", "Parts.Clutch", "--json"])
        .json();
    schema.check("class", &json, "Parts.Clutch");
    let json = folder
        .expect(0, &["analyze", "Many.mo", "--constructive", "--json"])
        .json();
    assert_eq!(json["parts"].as_array().map(Vec::len), Some(14));
    schema.check("constructive", &json, "Many.mo");
    let json = folder
        .expect(0, &["analyze", "Sources.mo", "--all-modes", "--json"])
        .json();
    schema.check("analysis", &json, "Sources.mo");
    assert!(schema.wrong.is_empty(), "{:#?}", schema.wrong);
    let documented = schema.objects.iter();
    let documented = documented.flat_map(|(object, keys)| keys.keys().map(move |key| (object.clone(), key.clone())));
    let never: Vec<(String, String)> = documented.filter(|field| !schema.seen.contains(field)).collect();
    assert!(never.is_empty(), "documented, but never printed: {never:?}");
}
