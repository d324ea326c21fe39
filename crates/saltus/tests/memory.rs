//! The bytes that large models take: in proportion to their unknowns, and not many for each.

use saltus::results::Discard;
use saltus::{Model, Session};
use saltus_testing::{CountedBytes, Random};

#[global_allocator]
static BYTES: CountedBytes = CountedBytes::new();

/// What each unknown more may take, from the text to the end of a run, where equations differ in their variables only, and where
/// each has a number of its own.
const MOST_OF_ALIKE: f64 = 3500.0;
const MOST_OF_OTHERS: f64 = 5200.0;

/// How much more that may be where there are twice as many: tables that grow by doubling are as full in both.
const MOST_GROWTH: f64 = 1.1;

fn compiled(text: &str) -> Model {
    let session = Session::new();
    session.add_text("Large.mo", text);
    let model = session.find_model(None).into_result().expect("a model");
    session.compile(&model).into_result().expect("a model")
}

/// A ladder of nodes with currents between them, stated in loops: which equation comes first, units, start values, elements that
/// differ and links to nodes farther away vary. With the bytes that each unknown may take.
fn ladder(random: &mut Random, count: usize) -> (String, f64) {
    let (resistance, capacitance) = (random.power(-1.0, 1.0), random.power(-1.0, 1.0));
    let unit = if random.below(2) == 0 {
        ""
    } else {
        "each unit = \"V\", "
    };
    let fixed = if random.below(2) == 0 { "true" } else { "false" };
    let apart = 1 + random.below(3);
    let (first, most) = if random.below(2) == 0 {
        ("k", MOST_OF_OTHERS)
    } else {
        ("1", MOST_OF_ALIKE)
    };
    let mut loops = [
        format!(
            "for k in 1:{count} loop R*(1 + {first}/{count})*i[k] = (if k > {apart} then v[k - {apart}] else 1) - v[k]; end for;"
        ),
        format!("for k in 1:{count} loop C*der(v[k]) = i[k] - (if k < {count} then i[k + 1] else 0); end for;"),
    ];
    if random.below(2) == 0 {
        loops.swap(0, 1);
    }
    let text = format!(
        "model Large parameter Real R = {resistance}, C = {capacitance}; Real v[{count}]({unit}each start = 0, each fixed = {fixed}); \
         Real i[{count}]; equation {} annotation(experiment(StopTime = 0.1)); end Large;",
        loops.join(" "),
    );
    (text, most)
}

#[test]
fn large_models_take_bytes_in_proportion() {
    let mut random = Random(15);
    for _ in 0..3 {
        let seed = random.below(1 << 30);
        let bytes = [2000, 4000, 8000].map(|count| {
            let (text, _) = ladder(&mut Random(seed as u64), count);
            let (summary, bytes) = BYTES.most_during(|| compiled(&text).run().simulate_into(&mut Discard));
            assert!(summary.failure.is_none(), "{:?} of {text}", summary.failure);
            bytes as f64
        });
        let (_, most) = ladder(&mut Random(seed as u64), 1);
        let [few, many] = [(bytes[1] - bytes[0]) / 4000.0, (bytes[2] - bytes[1]) / 8000.0];
        assert!(
            many < most,
            "{many} bytes for each unknown instead of {most}, seed {seed}"
        );
        assert!(
            many < MOST_GROWTH * few,
            "{few}, then {many} bytes for each unknown, seed {seed}"
        );
    }
}
