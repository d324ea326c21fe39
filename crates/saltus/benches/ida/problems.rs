//! The problems: models in Modelica, the same equations by hand, and what is known of the solutions.

/// F(t, y, y') to be zero.
pub(crate) type Residual = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64])>;
/// ∂F/∂y + cj·∂F/∂y' in the order of the pattern.
pub(crate) type Jacobian = Box<dyn Fn(f64, f64, &[f64], &mut [f64])>;

/// The equations by hand.
#[allow(dead_code, reason = "only the peer reads them")]
pub(crate) struct ByHand {
    pub y: Vec<f64>,
    /// Consistent with `y`.
    pub dy: Vec<f64>,
    /// Typical sizes, for absolute tolerances.
    pub nominal: Vec<f64>,
    /// Whether a component is differentiated.
    pub differential: Vec<bool>,
    pub residual: Residual,
    pub jacobian: Jacobian,
    /// Compressed columns; `None` for a dense Jacobian, column by column.
    pub pattern: Option<(Vec<i64>, Vec<i64>)>,
    /// Which components are compared.
    pub outputs: Vec<usize>,
}

pub(crate) struct Problem {
    pub name: &'static str,
    pub equations: usize,
    pub model: &'static str,
    /// The parameter `n` of the model.
    pub size: Option<usize>,
    pub end: f64,
    /// What is compared, its value at the end and its size.
    pub columns: Vec<String>,
    pub expected: Vec<f64>,
    pub sizes: Vec<f64>,
    #[allow(dead_code, reason = "only the peer reads it")]
    pub by_hand: ByHand,
}

pub(crate) fn problems() -> Vec<Problem> {
    vec![
        robertson(),
        amplifier(),
        pendulum(),
        ladder("RC ladder", 500),
        plate("heat on a plate 40×40", 40),
        ladder("long RC ladder", 10_000),
        plate("heat on a plate 110×110", 110),
    ]
}

fn robertson() -> Problem {
    Problem {
        name: "Robertson",
        equations: 3,
        model: "
model Problem
  Real y1(start = 1, fixed = true), y2(start = 0, fixed = true, nominal = 1e-5), y3;
equation
  der(y1) = -0.04*y1 + 1e4*y2*y3;
  der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2^2;
  y1 + y2 + y3 = 1;
end Problem;",
        size: None,
        end: 4e4,
        columns: ["y1", "y2", "y3"].map(str::to_owned).to_vec(),
        expected: vec![0.038983377085487006, 1.6217683159098522e-07, 0.9610164607376874],
        sizes: vec![0.039, 1.6e-7, 1.0],
        by_hand: ByHand {
            y: vec![1.0, 0.0, 0.0],
            dy: vec![-0.04, 0.04, 0.0],
            nominal: vec![1.0, 1e-5, 1.0],
            differential: vec![true, true, false],
            residual: Box::new(|_, y, dy, r| {
                r[0] = dy[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
                r[1] = dy[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
                r[2] = y[0] + y[1] + y[2] - 1.0;
            }),
            jacobian: Box::new(|_, cj, y, j| {
                j.copy_from_slice(&[
                    cj + 0.04,
                    -0.04,
                    1.0,
                    -1e4 * y[2],
                    cj + 1e4 * y[2] + 6e7 * y[1],
                    1.0,
                    -1e4 * y[1],
                    1e4 * y[1],
                    1.0,
                ]);
            }),
            pattern: None,
            outputs: vec![0, 1, 2],
        },
    }
}

/// The amplifier of Hairer and Wanner; values at the end from the Test Set for IVP Solvers.
fn amplifier() -> Problem {
    const C: [f64; 5] = [1e-6, 2e-6, 3e-6, 4e-6, 5e-6];
    const R: f64 = 9000.0;
    let current = |u: f64| 1e-6 * ((u / 0.026).exp() - 1.0);
    let slope = |u: f64| 1e-6 / 0.026 * (u / 0.026).exp();
    Problem {
        name: "transistor amplifier",
        equations: 8,
        model: include_str!("../../../../examples/electrical/TransistorAmplifier.mo"),
        size: None,
        end: 0.2,
        columns: (1..=8).map(|k| format!("U[{k}]")).collect(),
        expected: vec![
            -0.5562145012262709e-2,
            0.3006522471903042e1,
            0.2849958788608128e1,
            0.2926422536206241e1,
            0.2704617865010554e1,
            0.2761837778393145e1,
            0.4770927631616772e1,
            0.1236995868091548e1,
        ],
        sizes: vec![1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 5.0, 1.0],
        by_hand: ByHand {
            y: vec![0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0],
            dy: vec![
                51.338775,
                51.338775,
                -3.0 / (C[1] * R),
                -24.9757667,
                -24.9757667,
                -3.0 / (C[3] * R),
                -10.00564453,
                -10.00564453,
            ],
            nominal: vec![1.0; 8],
            differential: vec![true; 8],
            residual: Box::new(move |t, u, du, r| {
                let input = 0.1 * (200.0 * std::f64::consts::PI * t).sin();
                let (i1, i2) = (current(u[1] - u[2]), current(u[4] - u[5]));
                r[0] = C[0] * (du[0] - du[1]) - (input - u[0]) / 1000.0;
                r[1] = C[0] * (du[1] - du[0]) - (6.0 - 2.0 * u[1]) / R + 0.01 * i1;
                r[2] = C[1] * du[2] - i1 + u[2] / R;
                r[3] = C[2] * (du[3] - du[4]) - (6.0 - u[3]) / R + 0.99 * i1;
                r[4] = C[2] * (du[4] - du[3]) - (6.0 - 2.0 * u[4]) / R + 0.01 * i2;
                r[5] = C[3] * du[5] - i2 + u[5] / R;
                r[6] = C[4] * (du[6] - du[7]) - (6.0 - u[6]) / R + 0.99 * i2;
                r[7] = C[4] * (du[7] - du[6]) + u[7] / R;
            }),
            jacobian: Box::new(move |_, cj, u, j| {
                j.fill(0.0);
                let mut set = |row: usize, column: usize, value: f64| j[column * 8 + row] += value;
                let (g1, g2) = (slope(u[1] - u[2]), slope(u[4] - u[5]));
                for (a, b, c) in [(0, 1, C[0]), (3, 4, C[2]), (6, 7, C[4])] {
                    set(a, a, cj * c);
                    set(a, b, -cj * c);
                    set(b, a, -cj * c);
                    set(b, b, cj * c);
                }
                set(0, 0, 1e-3);
                set(1, 1, 2.0 / R + 0.01 * g1);
                set(1, 2, -0.01 * g1);
                set(2, 1, -g1);
                set(2, 2, cj * C[1] + g1 + 1.0 / R);
                set(3, 1, 0.99 * g1);
                set(3, 2, -0.99 * g1);
                set(3, 3, 1.0 / R);
                set(4, 4, 2.0 / R + 0.01 * g2);
                set(4, 5, -0.01 * g2);
                set(5, 4, -g2);
                set(5, 5, cj * C[3] + g2 + 1.0 / R);
                set(6, 4, 0.99 * g2);
                set(6, 5, -0.99 * g2);
                set(6, 6, 1.0 / R);
                set(7, 7, 1.0 / R);
            }),
            pattern: None,
            outputs: (0..8).collect(),
        },
    }
}

/// Saltus gets the rod as a constraint (index 3); IDA cannot and gets the tension solved for (index 1).
fn pendulum() -> Problem {
    Problem {
        name: "pendulum",
        equations: 5,
        model: "
model Problem
  Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = lambda*x;
  der(vy) = lambda*y - 9.81;
  x^2 + y^2 = 1;
end Problem;",
        size: None,
        end: 10.0,
        columns: ["x", "y"].map(str::to_owned).to_vec(),
        expected: vec![0.275087462576117, -0.961419205099125],
        sizes: vec![1.0, 1.0],
        by_hand: ByHand {
            y: vec![1.0, 0.0, 0.0, 0.0, 0.0],
            dy: vec![0.0, 0.0, 0.0, -9.81, 0.0],
            nominal: vec![1.0; 5],
            differential: vec![true, true, true, true, false],
            residual: Box::new(|_, u, du, r| {
                r[0] = du[0] - u[2];
                r[1] = du[1] - u[3];
                r[2] = du[2] - u[4] * u[0];
                r[3] = du[3] - u[4] * u[1] + 9.81;
                r[4] = u[4] * (u[0] * u[0] + u[1] * u[1]) + u[2] * u[2] + u[3] * u[3] - 9.81 * u[1];
            }),
            jacobian: Box::new(|_, cj, u, j| {
                j.fill(0.0);
                let mut set = |row: usize, column: usize, value: f64| j[column * 5 + row] = value;
                for k in 0..4 {
                    set(k, k, cj);
                }
                set(0, 2, -1.0);
                set(1, 3, -1.0);
                set(2, 0, -u[4]);
                set(2, 4, -u[0]);
                set(3, 1, -u[4]);
                set(3, 4, -u[1]);
                set(4, 0, 2.0 * u[4] * u[0]);
                set(4, 1, 2.0 * u[4] * u[1] - 9.81);
                set(4, 2, 2.0 * u[2]);
                set(4, 3, 2.0 * u[3]);
                set(4, 4, u[0] * u[0] + u[1] * u[1]);
            }),
            pattern: None,
            outputs: vec![0, 1],
        },
    }
}

/// y' = A·y + b with A in compressed columns.
fn linear(columns: Vec<Vec<(usize, f64)>>, source: Vec<f64>, y: Vec<f64>, outputs: Vec<usize>) -> ByHand {
    let n = columns.len();
    let starts: Vec<i64> = std::iter::once(0)
        .chain(columns.iter().scan(0, |sum, column| {
            *sum += column.len() as i64;
            Some(*sum)
        }))
        .collect();
    let rows = columns.iter().flatten().map(|&(row, _)| row as i64).collect();
    let mut dy = source.clone();
    for (column, y) in columns.iter().zip(&y) {
        column.iter().for_each(|&(row, a)| dy[row] += a * y);
    }
    let for_jacobian = columns.clone();
    ByHand {
        y,
        dy,
        nominal: vec![1.0; n],
        differential: vec![true; n],
        residual: Box::new(move |_, y, dy, r| {
            for ((r, dy), b) in r.iter_mut().zip(dy).zip(&source) {
                *r = dy - b;
            }
            for (column, y) in columns.iter().zip(y) {
                for &(row, a) in column {
                    r[row] -= a * y;
                }
            }
        }),
        jacobian: Box::new(move |_, cj, _, j| {
            let entries = for_jacobian
                .iter()
                .enumerate()
                .flat_map(|(c, column)| column.iter().map(move |&(row, a)| if row == c { cj - a } else { -a }));
            j.iter_mut().zip(entries).for_each(|(j, entry)| *j = entry);
        }),
        pattern: Some((starts, rows)),
        outputs,
    }
}

fn ladder(name: &'static str, n: usize) -> Problem {
    let end = 1e3;
    // The sum over the eigenvectors of the line; the sums of their components in closed form.
    let voltage = |node: usize| {
        let modes = (1..=n).map(|k| {
            let angle = (2 * k - 1) as f64 * std::f64::consts::PI / (2 * n + 1) as f64;
            let half = (0.5 * angle).sin();
            let weight = 2.0 / (0.5 * angle).tan() / (2 * n + 1) as f64;
            weight * (node as f64 * angle).sin() * (-4.0 * half * half * end).exp()
        });
        1.0 - modes.sum::<f64>()
    };
    let nodes = [1, 20, 40, 80];
    let mut columns = vec![Vec::new(); n];
    for (c, column) in columns.iter_mut().enumerate() {
        if c > 0 {
            column.push((c - 1, 1.0));
        }
        column.push((c, if c + 1 < n { -2.0 } else { -1.0 }));
        if c + 1 < n {
            column.push((c + 1, 1.0));
        }
    }
    let mut source = vec![0.0; n];
    source[0] = 1.0;
    Problem {
        name,
        equations: 2 * n,
        model: "
model Problem
  parameter Integer n = 10;
  Real v[n](each start = 0, each fixed = true), i[n];
equation
  i[1] = 1 - v[1];
  for k in 2:n loop
    i[k] = v[k - 1] - v[k];
  end for;
  for k in 1:n - 1 loop
    der(v[k]) = i[k] - i[k + 1];
  end for;
  der(v[n]) = i[n];
end Problem;",
        size: Some(n),
        end,
        columns: nodes.iter().map(|node| format!("v[{node}]")).collect(),
        expected: nodes.iter().map(|&node| voltage(node)).collect(),
        sizes: vec![1.0; nodes.len()],
        by_hand: linear(
            columns,
            source,
            vec![0.0; n],
            nodes.iter().map(|node| node - 1).collect(),
        ),
    }
}

fn plate(name: &'static str, n: usize) -> Problem {
    let end = 0.05;
    let h = 1.0 / (n + 1) as f64;
    let place = |i: usize, j: usize| (i - 1) * n + (j - 1);
    let sine = |k: usize| (std::f64::consts::PI * k as f64 * h).sin();
    let decay = 8.0 / (h * h) * (0.5 * std::f64::consts::PI * h).sin().powi(2);
    let mut columns = vec![Vec::new(); n * n];
    let mut y = vec![0.0; n * n];
    for i in 1..=n {
        for j in 1..=n {
            let own = place(i, j);
            y[own] = sine(i) * sine(j);
            let mut column = vec![(own, -4.0 / (h * h))];
            let neighbours = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)];
            let inside = neighbours
                .into_iter()
                .filter(|&(i, j)| (1..=n).contains(&i) && (1..=n).contains(&j));
            column.extend(inside.map(|(i, j)| (place(i, j), 1.0 / (h * h))));
            column.sort_by_key(|&(row, _)| row);
            columns[own] = column;
        }
    }
    let points = [(n / 2, n / 2), (n / 4, n / 3)];
    let solution = |&(i, j): &(usize, usize)| sine(i) * sine(j) * (-decay * end).exp();
    Problem {
        name,
        equations: n * n,
        model: "
model Problem
  parameter Integer n = 5;
  parameter Real h = 1/(n + 1);
  constant Real pi = 3.14159265358979323846;
  Real T[n, n](start = {{sin(pi*i*h)*sin(pi*j*h) for j in 1:n} for i in 1:n}, each fixed = true);
equation
  for i in 1:n loop
    for j in 1:n loop
      der(T[i, j]) = ((if i > 1 then T[max(i - 1, 1), j] else 0) + (if i < n then T[min(i + 1, n), j] else 0)
        + (if j > 1 then T[i, max(j - 1, 1)] else 0) + (if j < n then T[i, min(j + 1, n)] else 0) - 4*T[i, j])/h^2;
    end for;
  end for;
end Problem;",
        size: Some(n),
        end,
        columns: points.iter().map(|(i, j)| format!("T[{i},{j}]")).collect(),
        expected: points.iter().map(solution).collect(),
        sizes: vec![0.4; points.len()],
        by_hand: linear(
            columns,
            vec![0.0; n * n],
            y,
            points.iter().map(|&(i, j)| place(i, j)).collect(),
        ),
    }
}
