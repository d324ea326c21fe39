//! Time per row from 10³ to 10⁶ rows and its growth: a slope of 1 in log-log is linear.
//!
//! `cargo bench -p saltus-graph`

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

use saltus_testing::Random;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use saltus_graph::{
    Adjacency, Bipartite, Column, DulmageMendelsohn, Matcher, Row, Tearer, WeightedAdjacency, WeightedBipartite,
    block_triangular_order, connected_components, highest_value_transversal, match_and_order,
};

type Rows = Vec<Vec<(u32, i32)>>;

/// C v' = i − i₊; R i = v₋ − v: states and a long chain of couplings.
fn rc_ladder(cells: u32) -> Rows {
    let (v, i) = (|k: u32| 2 * k, |k: u32| 2 * k + 1);
    let mut rows = Rows::new();
    for k in 0..cells {
        let next = (k + 1 < cells).then(|| (i(k + 1), 0));
        rows.push([(v(k), 1), (i(k), 0)].into_iter().chain(next).collect());
        let before = k.checked_sub(1).map(|k| (v(k), 0));
        rows.push([(i(k), 0), (v(k), 0)].into_iter().chain(before).collect());
    }
    rows
}

/// The same without capacitors: one algebraic block.
fn resistor_ladder(cells: u32) -> Rows {
    let mut rows = rc_ladder(cells);
    rows.iter_mut().flatten().for_each(|entry| entry.1 = 0);
    rows
}

/// J w' = τ₋ − τ; two of three clutches engaged (w = w₊, index 2), the others open (τ = 0).
fn clutch_chain(cells: u32) -> Rows {
    let (w, tau) = (|k: u32| 2 * k, |k: u32| 2 * k + 1);
    let mut rows = Rows::new();
    for k in 0..cells {
        let before = k.checked_sub(1).map(|k| (tau(k), 0));
        rows.push([(w(k), 1), (tau(k), 0)].into_iter().chain(before).collect());
        let engaged = k % 3 != 2 && k + 1 < cells;
        rows.push(if engaged {
            vec![(w(k), 0), (w(k + 1), 0)]
        } else {
            vec![(tau(k), 0)]
        });
    }
    rows
}

/// Masses on rods: x'' and y'' with the forces of two rods, rods of constant length (index 3).
fn pendulum_chain(cells: u32) -> Rows {
    let (x, y, force) = (|k: u32| 3 * k, |k: u32| 3 * k + 1, |k: u32| 3 * k + 2);
    let mut rows = Rows::new();
    for k in 0..cells {
        for position in [x, y] {
            let mut newton = vec![(position(k), 2), (force(k), 0)];
            newton.extend(k.checked_sub(1).map(|k| (position(k), 0)));
            if k + 1 < cells {
                newton.extend([(force(k + 1), 0), (position(k + 1), 0)]);
            }
            rows.push(newton);
        }
        let mut rod = vec![(x(k), 0), (y(k), 0)];
        rod.extend(k.checked_sub(1).into_iter().flat_map(|k| [(x(k), 0), (y(k), 0)]));
        rows.push(rod);
    }
    rows
}

/// A hidden perfect matching and two random entries per row: no structure to exploit.
fn random_sparse(n: u32) -> Rows {
    let mut random = Random(7);
    let mut next = |bound: u32| random.below(bound as usize) as u32;
    let row = |i: u32| {
        let mut row = vec![
            (i, next(4) as i32),
            (next(n), next(4) as i32),
            (next(n), next(4) as i32),
        ];
        row.rotate_left(next(3) as usize);
        row
    };
    (0..n).map(row).collect()
}

/// Rows and columns in pseudo-random order: no locality left.
fn shuffled(rows: Rows) -> Rows {
    let n = rows.len();
    let mut random = Random(1);
    let (row_order, column_of) = (random.permutation(n), random.permutation(n));
    let row = |&r: &usize| {
        let entries = rows[r].iter();
        let mut row: Vec<_> = entries.map(|&(c, w)| (column_of[c as usize] as u32, w)).collect();
        row.sort_unstable();
        row
    };
    row_order.iter().map(row).collect()
}

fn build(rows: &Rows) -> WeightedBipartite {
    let row = |row: &Vec<(u32, i32)>| row.iter().map(|&(c, w)| (Column(c), w)).collect::<Vec<_>>();
    WeightedBipartite::from_rows(rows.len(), rows.iter().map(row))
}

/// Nanoseconds this program has had the processor, where the system tells; it counts in steps of some milliseconds.
fn time_on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Nanoseconds per row, the best of a few runs.
fn time(rows: usize, mut run: impl FnMut()) -> f64 {
    let repetitions = (300_000 / rows).clamp(3, 50);
    let mut best = f64::INFINITY;
    for _ in 0..repetitions {
        let (start, on_processor) = (Instant::now(), time_on_processor());
        run();
        let elapsed = start.elapsed().as_nanos() as f64;
        let spent = time_on_processor().zip(on_processor).map(|(end, start)| end - start);
        // Other programs only ever add to the time that passes.
        let nanoseconds = match spent {
            Some(spent) if spent > 2e7 => spent,
            _ => elapsed,
        };
        best = best.min(nanoseconds / rows as f64);
    }
    best
}

const PASSES: [&str; 7] = [
    "matching",
    "blocks",
    "together",
    "DM",
    "transversal",
    "components",
    "tearing",
];

fn measure(sigma: &WeightedBipartite) -> [f64; 7] {
    let graph: &Arc<Bipartite> = sigma.graph();
    let n = graph.row_count();
    let mut matcher = Matcher::new();
    let matching = matcher.maximum(&**graph);
    let found = highest_value_transversal(sigma).expect("regular by construction");
    let value: i64 = found
        .matching
        .pairs()
        .filter_map(|(r, c)| sigma.weight(r, c))
        .map(i64::from)
        .sum();
    black_box(value);
    let leading = sigma.filtered(|r, c, w| found.offsets.is_tight(r, c, w));
    let blocks = block_triangular_order(&leading, &found.matching);
    let emptied = (0..n).map(Row::from_index).map(|row| {
        if row.index() == n / 2 {
            Vec::new()
        } else {
            graph.columns_of(row).to_vec()
        }
    });
    let singular = Bipartite::from_rows(n, emptied);
    let incomplete = matcher.maximum(&singular);
    let mut tearer = Tearer::new();
    [
        time(n, || drop(black_box(matcher.maximum(&**graph)))),
        time(n, || drop(black_box(block_triangular_order(&**graph, &matching)))),
        time(n, || drop(black_box(match_and_order(&**graph)))),
        time(n, || drop(black_box(DulmageMendelsohn::new(&singular, &incomplete)))),
        time(n, || drop(black_box(highest_value_transversal(sigma)))),
        time(n, || drop(black_box(connected_components(&**graph)))),
        time(n, || {
            for rows in blocks.iter() {
                let columns: Vec<Column> = rows.iter().filter_map(|&row| found.matching.column_of(row)).collect();
                black_box(tearer.tear(&leading, rows, &columns, |_, _| true, |_| 0));
            }
        }),
    ]
}

/// Slope of log(time) against log(rows), by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = points.iter().map(|&(rows, per_row)| (rows.ln(), (rows * per_row).ln()));
    let (mx, my) = logs.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (top, bottom) = logs.fold((0.0, 0.0), |(t, b), (x, y)| {
        (t + (x - mx) * (y - my), b + (x - mx) * (x - mx))
    });
    top / bottom
}

fn family(name: &str, sizes: &[usize], rows_of: fn(usize) -> Rows) {
    println!("\n{name}: ns per row");
    print!("{:>9}", "rows");
    PASSES.iter().for_each(|pass| print!("{pass:>12}"));
    println!();
    let mut points = vec![Vec::new(); PASSES.len()];
    for &size in sizes {
        let sigma = build(&rows_of(size));
        print!("{:>9}", sigma.row_count());
        for (figure, points) in measure(&sigma).into_iter().zip(&mut points) {
            print!("{figure:>12.1}");
            points.push((sigma.row_count() as f64, figure));
        }
        println!();
    }
    print!("{:>9}", "slope");
    points.iter().for_each(|points| print!("{:>12.3}", slope(points)));
    println!();
}

fn main() {
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let measure = |name: &str, sizes: &[usize], rows_of: fn(usize) -> Rows| {
        if wanted(name) {
            family(name, sizes, rows_of);
        }
    };
    let sizes = [1_000, 10_000, 100_000, 1_000_000];
    measure("RC ladder", &sizes, |n| rc_ladder(n as u32 / 2));
    measure("resistor ladder", &sizes, |n| resistor_ladder(n as u32 / 2));
    measure("clutch chain", &sizes, |n| clutch_chain(n as u32 / 2));
    measure("pendulum chain", &sizes, |n| pendulum_chain(n as u32 / 3));
    // What follows shows the cost of missing locality and structure; models have both.
    measure("RC ladder, shuffled", &sizes, |n| shuffled(rc_ladder(n as u32 / 2)));
    measure("pendulum chain, shuffled", &sizes, |n| {
        shuffled(pendulum_chain(n as u32 / 3))
    });
    measure("random sparse", &sizes[..3], |n| random_sparse(n as u32));
}
