//! Pages, checked by their structure. How they behave in a browser is tested by `tests/browser`.

use std::collections::BTreeSet;

use saltus_report::{Context, Message, PageOptions, SourceText, comparison_page, page, thin};
use saltus_results::*;
use sha2::{Digest, Sha256};

/// What strangers might call things.
const HOSTILE: [&str; 12] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "<!--<script>",
    "]]>",
    "javascript:alert(1)",
    "</style><style>*{display:none}",
    "</noscript></title><b>",
    "\u{202e}gnp.exe\u{2028}\u{0}",
    "${alert(1)}`\\u003cimg>",
    "&lt;b&gt;&amp;#x27;",
];

fn sample(names: &[&str], rows: usize) -> Trajectory {
    let mut signals: Vec<Signal> = names
        .iter()
        .map(|name| {
            Signal::new(*name)
                .with_unit(*name)
                .with_description(format!("about {name}"))
        })
        .collect();
    signals.push(Signal::constant("parameter <b>", 2.5).with_description("</td><script>"));
    let kind = SignalKind::Enumeration(names.iter().map(|name| name.to_string()).collect());
    signals.push(Signal::new("choice").with_kind(kind));
    let mut result = Trajectory::new();
    let manifest = Manifest {
        program: "saltus".into(),
        version: "<0>".into(),
        model: names[0].into(),
        options: [("stop</b>".to_owned(), "1<i>".to_owned())].into(),
        inputs: vec![InputHash {
            path: "a<b>.mo".into(),
            hash: "sha256:&".into(),
        }],
        ..Manifest::default()
    };
    result.begin(&Schema::new(signals).unwrap(), &manifest).unwrap();
    for (mode, name) in (0u32..).zip(names.iter().take(2)) {
        let record = ModeRecord {
            mode,
            label: name.to_string(),
            valuation: vec![(name.to_string(), mode == 0)],
            since: None,
            structure: Some(ModeShape {
                index: 1,
                states: 40,
                first_states: vec![name.to_string(); 24],
            }),
        };
        result.mode(&record).unwrap();
    }
    for row in 0..rows {
        let time = row as f64 / rows as f64;
        let mut values: Vec<f64> = (0..names.len()).map(|k| (time * (k + 1) as f64).sin()).collect();
        values.push(1.0);
        result
            .row(time, RowKind::Regular, u32::from(time > 0.5), &values)
            .unwrap();
    }
    let span = SourceSpan {
        file: "M<.mo".into(),
        line: 2,
        ..SourceSpan::default()
    };
    result
        .event(&EventRecord {
            time: 0.5,
            instant: 1,
            from_mode: 0,
            to_mode: 1,
            triggers: names
                .iter()
                .map(|n| Trigger {
                    condition: n.to_string(),
                    span: Some(span.clone()),
                })
                .collect(),
            impulses: vec![Impulse {
                variable: names[0].into(),
                order: 1,
                weight: 3.0,
            }],
            jumps: vec![Jump {
                variable: names[0].into(),
                left: 1.0,
                right: f64::NAN,
            }],
        })
        .unwrap();
    let status = Status::Failed(names[0].into());
    result
        .finish(&Summary {
            status,
            final_time: 1.0,
            ..Summary::default()
        })
        .unwrap();
    result
}

fn hostile_context() -> Context {
    Context {
        sources: vec![SourceText {
            name: "M<.mo".into(),
            text: HOSTILE.join("\n"),
        }],
        messages: vec![Message {
            severity: "warning".into(),
            text: HOSTILE.concat(),
        }],
        statistics: HOSTILE
            .iter()
            .map(|text| (text.to_string(), text.to_string()))
            .collect(),
    }
}

/// The elements of a page: name and attributes as written, and the raw text of scripts and styles.
fn elements(page: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let mut quoted = None;
        let end = rest.char_indices().find(|&(_, c)| {
            match (quoted, c) {
                (None, '"' | '\'') => quoted = Some(c),
                (Some(open), c) if c == open => quoted = None,
                _ => {}
            }
            quoted.is_none() && c == '>'
        });
        let (end, _) = end.expect("every tag ends");
        let tag = &rest[1..end];
        let (name, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        rest = &rest[end + 1..];
        let mut content = String::new();
        if matches!(name, "script" | "style" | "title") {
            let close = rest.find(&format!("</{name}")).expect("it is closed");
            content = rest[..close].to_owned();
            rest = &rest[close..];
        }
        found.push((name.to_ascii_lowercase(), attributes.to_owned(), content));
    }
    found
}

fn is_code(element: &(String, String, String)) -> bool {
    element.0 == "script" && element.1.is_empty()
}

#[test]
fn nothing_of_a_model_becomes_part_of_the_page() {
    let result = sample(&HOSTILE, 50);
    let pages = [
        page(&result, &hostile_context(), &PageOptions::default()).unwrap(),
        comparison_page(
            &result,
            &sample(&HOSTILE, 40),
            &compare(&result, &sample(&HOSTILE, 40), &Tolerances::default()),
            &PageOptions::default(),
        )
        .unwrap(),
    ];
    let known: BTreeSet<&str> = [
        "!doctype", "html", "head", "meta", "title", "style", "body", "header", "div", "h1", "h2", "h3", "p", "span",
        "b", "aside", "main", "noscript", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "code",
        "small", "br", "ul", "li", "pre", "script", "svg", "i", "rect", "text", "defs", "marker", "path", "circle",
    ]
    .into();
    for html in pages {
        let elements = elements(&html);
        assert_eq!(elements.iter().filter(|e| is_code(e)).count(), 2);
        for (name, attributes, _) in &elements {
            assert!(known.contains(name.trim_start_matches('/')), "<{name} {attributes}>");
            let names = attributes.split_whitespace().map(|a| a.split('=').next().unwrap());
            assert!(
                !names.into_iter().any(|a| a.starts_with("on") && a != "on"),
                "<{name} {attributes}>"
            );
            assert!(!attributes.contains("style="), "<{name} {attributes}>");
        }
        assert!(!html.contains('\u{202e}') && !html.contains('\u{0}'));
    }
}

#[test]
fn the_policy_names_every_script_and_style_and_nothing_else() {
    let html = page(&sample(&["x", "y"], 10), &Context::default(), &PageOptions::default()).unwrap();
    let elements = elements(&html);
    let policy = html
        .split("Content-Security-Policy content=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(
        !policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'),
        "{policy}"
    );
    assert!(policy.starts_with("default-src 'none';"));
    let hashes: BTreeSet<&str> = policy
        .split(['\'', ' ', ';'])
        .filter(|word| word.starts_with("sha256-"))
        .collect();
    let contents = elements
        .iter()
        .filter(|e| is_code(e) || e.0 == "style")
        .map(|e| e.2.as_str());
    let expected: BTreeSet<String> = contents.map(|text| format!("sha256-{}", base64(text))).collect();
    assert_eq!(hashes, expected.iter().map(String::as_str).collect());
    // The policy stands before everything it rules.
    assert!(html.find("Content-Security-Policy").unwrap() < html.find("<style").unwrap());
    // Places in the page itself are no loads.
    let rest = html.replace("url(#tip)", "");
    for word in [
        "src=",
        "href=",
        "url(",
        "@import",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "eval(",
        "innerHTML",
    ] {
        assert!(!rest.contains(word), "{word}");
    }
    // What is taken from others keeps its licence.
    assert!(html.contains("Permission is hereby granted, free of charge"));
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = Sha256::digest(text.as_bytes());
    let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let groups = bits.as_bytes().chunks(6).map(|group| {
        let group = format!("{:0<6}", std::str::from_utf8(group).unwrap());
        char::from(DIGITS[usize::from_str_radix(&group, 2).unwrap()])
    });
    groups.collect::<String>() + "="
}

#[test]
fn data_are_valid_and_complete() {
    let result = sample(&["x", "y", "z"], 100);
    let options = PageOptions {
        signals: vec!["z".into(), "x".into()],
        ..PageOptions::default()
    };
    let html = page(&result, &Context::default(), &options).unwrap();
    let elements = elements(&html);
    let data = elements.iter().find(|e| e.1.contains("id=data")).unwrap();
    let data: serde_json::Value = serde_json::from_str(&data.2).unwrap();
    let names: Vec<&str> = data["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["n"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["x", "y", "z", "choice"]);
    let columns = elements.iter().filter(|e| e.1.contains("type=text/plain")).count();
    assert_eq!(data["orders"].as_array().unwrap().len(), columns);
    assert_eq!(data["panels"].to_string(), "[[2],[0]]");
    assert_eq!(data["events"][0][4][0], "x: 3 x·s");
    let unknown = PageOptions {
        signals: vec!["nobody".into()],
        ..PageOptions::default()
    };
    assert!(matches!(
        page(&result, &Context::default(), &unknown),
        Err(ResultError::UnknownVariable { .. })
    ));
    // An empty result has a page as well.
    assert!(page(&Trajectory::new(), &Context::default(), &PageOptions::default()).is_ok());
}

#[test]
fn large_results_are_thinned_and_say_so() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let result = sample(&names, 500_000);
    let html = page(&result, &Context::default(), &PageOptions::default()).unwrap();
    assert!(html.contains("The result has 500000 rows"));
    assert!(html.len() < 10_000_000, "{}", html.len());
    assert!(
        !page(&sample(&names, 100), &Context::default(), &PageOptions::default())
            .unwrap()
            .contains("rows, more than")
    );
}

mod peaks {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_peak_is_lost(
            steps in prop::collection::vec((0.0..1.0f64, prop_oneof![8 => -1e3..1e3f64, 1 => Just(f64::NAN)], any::<bool>()), 1..400),
            columns in 1usize..40,
        ) {
            let mut now = 0.0;
            let (mut time, mut values) = (Vec::new(), Vec::new());
            for (step, value, stays) in steps {
                now += if stays { 0.0 } else { step };
                time.push(now);
                values.push(value);
            }
            let kept = thin(&time, &values, columns);
            prop_assert!(kept.is_sorted() && kept.windows(2).all(|w| w[0] < w[1]));
            prop_assert!(kept.len() <= 5 * columns);
            prop_assert_eq!((kept.first(), kept.last()), (Some(&0), Some(&(time.len() - 1))));
            // In every column the same lowest and highest value as before, and a gap where there was one.
            let width = now / columns as f64;
            let column = |row: usize| if now == 0.0 { 0 } else { ((time[row] / width) as usize).min(columns - 1) };
            for c in 0..columns {
                let of = |rows: &mut dyn Iterator<Item = usize>| {
                    let here: Vec<f64> = rows.filter(|&row| column(row) == c).map(|row| values[row]).collect();
                    let fold = |f: fn(f64, f64) -> f64| here.iter().copied().filter(|v| !v.is_nan()).reduce(f);
                    (fold(f64::min), fold(f64::max), here.iter().any(|v| v.is_nan()))
                };
                let (all, thinned) = (of(&mut (0..time.len())), of(&mut kept.iter().copied()));
                // Rounding may put a row at a border into either column.
                let border = (0..time.len()).any(|row| ((time[row] / width.max(1e-300)).fract() - 0.5).abs() > 0.5 - 1e-9);
                prop_assert!(all == thinned || border, "{:?} {:?}", all, thinned);
            }
        }
    }
}
