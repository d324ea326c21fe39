//! Units of equations made at random: consistent ones are never complained about, and one wrong exponent always is.

use std::sync::Arc;

use saltus_lang::{FlattenOptions, flatten};
use saltus_source::SourceMap;
use saltus_syntax::library::{Disk, Library};
use saltus_testing::Random;

/// Exponents of metre, kilogram, second and ampere.
type Unit = [i32; 4];

const BASES: [(&str, &str); 4] = [("length", "m"), ("mass", "kg"), ("duration", "s"), ("current", "A")];

fn random_unit(random: &mut Random) -> Unit {
    std::array::from_fn(|_| random.below(5) as i32 - 2)
}

fn text(unit: Unit) -> String {
    let factors: Vec<String> = BASES
        .iter()
        .zip(unit)
        .filter(|(_, exponent)| *exponent != 0)
        .map(|((_, name), exponent)| format!("{name}{exponent}"))
        .collect();
    if factors.is_empty() {
        "1".to_owned()
    } else {
        factors.join(".")
    }
}

fn minus(a: Unit, b: Unit) -> Unit {
    std::array::from_fn(|at| a[at] - b[at])
}

/// A product of powers of the base quantities.
fn product(unit: Unit) -> String {
    let factors: Vec<String> = BASES
        .iter()
        .zip(unit)
        .filter(|(_, exponent)| *exponent != 0)
        .map(|((name, _), exponent)| format!("{name}^({exponent})"))
        .collect();
    if factors.is_empty() {
        "(length/length)".to_owned()
    } else {
        format!("({})", factors.join("*"))
    }
}

struct Family {
    random: Random,
    /// Variables with their units; whether they declare them.
    variables: Vec<(String, Unit, bool)>,
    literals: bool,
}

impl Family {
    /// An expression of a unit.
    fn expression(&mut self, unit: Unit, depth: usize) -> String {
        if depth == 0 {
            return product(unit);
        }
        match self.random.below(if self.literals { 9 } else { 8 }) {
            0 => format!(
                "({} + {})",
                self.expression(unit, depth - 1),
                self.expression(unit, depth - 1)
            ),
            1 => format!(
                "({} - {})",
                self.expression(unit, depth - 1),
                self.expression(unit, depth - 1)
            ),
            2 => format!("sqrt({})", self.expression(unit.map(|e| 2 * e), depth - 1)),
            3 => format!(
                "max({}, {})",
                self.expression(unit, depth - 1),
                self.expression(unit, depth - 1)
            ),
            // Nothing is learnt of what has no unit from branches, so these are of what is declared.
            4 => format!("(if time > 1 then {0} else {0} + {0})", product(unit)),
            5 => format!("{}*sin({})", self.expression(unit, depth - 1), product([0; 4])),
            8 => format!("{}*{}", self.random.below(9) + 2, product(unit)),
            _ => {
                let at = self.random.below(self.variables.len());
                let (name, own, _) = self.variables[at].clone();
                let rest = self.expression(minus(unit, own), depth - 1);
                format!("{name}*{rest}")
            }
        }
    }

    /// A model; with a wrong exponent in one of its equations.
    fn model(&mut self, broken: bool) -> String {
        let count = 2 + self.random.below(5);
        let bases: Vec<String> = BASES
            .iter()
            .map(|(name, unit)| format!("  parameter Real {name}(unit = \"{unit}\") = 2;\n"))
            .collect();
        let (mut declarations, mut equations) = (bases.concat(), Vec::new());
        for number in 0..count {
            let unit = random_unit(&mut self.random);
            let declared = self.random.below(3) > 0;
            let name = format!("x{number}");
            let attribute = if declared {
                format!("(unit = \"{}\")", text(unit))
            } else {
                String::new()
            };
            declarations.push_str(&format!("  Real {name}{attribute};\n"));
            self.variables.push((name, unit, declared));
        }
        let wrong = self.random.below(count);
        for number in 0..count {
            let (name, unit, declared) = self.variables[number].clone();
            // Each is computed from those before it, and from the base quantities.
            let later = self.variables.split_off(number.max(1));
            let depth = if number == 0 { 0 } else { 1 + self.random.below(3) };
            let mut value = self.expression(unit, depth);
            self.variables.extend(later);
            if broken && number == wrong {
                value = format!("{value}*{}", BASES[self.random.below(4)].0);
            }
            equations.push(format!("  {name} = {value};\n"));
            // What is not declared has its unit from elsewhere as well.
            if !declared {
                declarations.push_str(&format!("  Real y{number}(unit = \"{}\");\n", text(unit)));
                equations.push(format!("  y{number} = {name};\n"));
            }
        }
        // In any order.
        self.random.shuffle(&mut equations);
        format!("model M\n{declarations}equation\n{}end M;\n", equations.concat())
    }
}

fn alarms(model: &str) -> usize {
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text("M.mo", model);
    let flattened = flatten(&library, "M", &FlattenOptions::default());
    assert!(flattened.model.is_some(), "{:?}\n{model}", flattened.diagnostics);
    flattened
        .diagnostics
        .iter()
        .filter(|d| d.code.as_str() == "W0204")
        .count()
}

fn family(seed: u64, literals: bool) -> Family {
    Family {
        random: Random(seed),
        variables: Vec::new(),
        literals,
    }
}

#[test]
fn consistent_equations_are_never_complained_about() {
    for seed in 0..300 {
        let model = family(seed, seed % 2 == 0).model(false);
        assert_eq!(alarms(&model), 0, "seed {seed}\n{model}");
    }
}

/// What declares no unit is noted with the one that it has; so are the sides of equations.
#[test]
fn what_follows_is_noted() {
    let dimension = |text: &str| saltus_lang::unit::Unit::parse(text).expect(text).dimension;
    let mut sides = 0;
    for seed in 0..300 {
        let mut family = family(seed, seed % 2 == 0);
        let model = family.model(false);
        let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
        library.add_text("M.mo", &model);
        let options = FlattenOptions {
            units: true,
            ..FlattenOptions::default()
        };
        let notes = flatten(&library, "M", &options).units;
        for (name, unit, declared) in &family.variables {
            let noted = notes.variables.get(name.as_str()).map_or("1", |unit| unit);
            let expected = if *declared {
                dimension("1")
            } else {
                dimension(&text(*unit))
            };
            assert_eq!(dimension(noted), expected, "seed {seed}: {name}\n{model}");
        }
        for (span, unit) in &notes.expressions {
            let before = model[..span.start as usize].rsplit('\n').next().unwrap_or_default();
            let is_side = model[span.end as usize..].starts_with(';');
            let variable = family
                .variables
                .iter()
                .find(|(name, ..)| before.trim_start() == format!("{name} = "));
            if let (true, Some((_, own, _))) = (is_side, variable) {
                assert_eq!(
                    dimension(unit),
                    dimension(&text(*own)),
                    "seed {seed}: {span:?}\n{model}"
                );
                sides += 1;
            }
        }
    }
    assert!(sides > 500, "{sides}");
}

/// Instances of one class may differ in their units: nothing is said of what is not the same in all of them.
#[test]
fn what_differs_between_instances_is_not_noted() {
    let text = "model Gain\n  parameter Real k = 1;\n  input Real u;\n  Real y = k*u;\nend Gain;\nmodel M\n  \
        Real a(unit = \"V\") = time, b(unit = \"A\") = time;\n  Gain p(u = a), q(u = b);\nend M;\n";
    let library = Library::new(Arc::new(Disk), Arc::new(SourceMap::new()), Vec::new());
    library.add_text("M.mo", text);
    let options = FlattenOptions {
        units: true,
        ..FlattenOptions::default()
    };
    let notes = flatten(&library, "M", &options).units;
    assert_eq!(notes.variables.get("p.u").map(|unit| &**unit), Some("V"));
    assert_eq!(notes.variables.get("q.u").map(|unit| &**unit), Some("A"));
    assert!(notes.expressions.is_empty(), "{notes:?}");
}

#[test]
fn one_wrong_exponent_is_always_found() {
    for seed in 0..300 {
        let model = family(seed, false).model(true);
        assert!(alarms(&model) > 0, "seed {seed}\n{model}");
    }
}

/// The same equations without any units.
#[test]
fn models_without_units_are_never_complained_about() {
    for seed in 0..200 {
        let model = family(seed, true).model(seed % 2 == 0);
        let mut bare = String::new();
        for line in model.lines() {
            let line = match (line.find("(unit = "), line.find("\")")) {
                (Some(from), Some(to)) => format!("{}{}", &line[..from], &line[to + 2..]),
                _ => line.to_owned(),
            };
            bare.push_str(&line);
            bare.push('\n');
        }
        assert_eq!(alarms(&bare), 0, "seed {seed}\n{bare}");
    }
}
