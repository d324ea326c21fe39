//! Fill-reducing column orderings by approximate minimum degree.
//!
//! P. R. Amestoy, T. A. Davis, I. S. Duff, *An approximate minimum degree ordering algorithm*, SIAM J. Matrix Anal.
//! Appl. 17 (1996) 886–905: the elimination graph is kept as a quotient graph of variables and elements (eliminated
//! pivots), so that memory never exceeds that of the matrix; degrees are upper bounds. Of its refinements, element
//! absorption, mass elimination and the deferral of dense nodes are here; supervariables are not.

use super::SparsityPattern;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An order of the columns in which a sparse LU factorisation fills in little.
///
/// On A + Aᵀ where the diagonal is complete and the pattern mostly symmetric (the iteration matrices I − γhJ of
/// physical networks, where the diagonal is the preferred pivot); otherwise on AᵀA, whose fill bounds that of any
/// choice of pivot rows.
pub(super) fn column_order(pattern: &SparsityPattern) -> Vec<usize> {
    let graph = if suits_symmetric_ordering(pattern) {
        symmetric_graph(pattern)
    } else {
        column_graph(pattern)
    };
    QuotientGraph::new(graph).eliminate()
}

fn suits_symmetric_ordering(pattern: &SparsityPattern) -> bool {
    let n = pattern.columns();
    let full_diagonal = (0..n).all(|i| pattern.position(i, i).is_some());
    let mirrored = || {
        let has_mirror = |&(r, c): &(usize, usize)| pattern.position(c, r).is_some();
        pattern.entries().filter(has_mirror).count()
    };
    full_diagonal && 2 * mirrored() >= pattern.len()
}

/// Neighbours in A + Aᵀ, without the diagonal.
fn symmetric_graph(pattern: &SparsityPattern) -> Vec<Vec<usize>> {
    let mut graph = vec![Vec::new(); pattern.columns()];
    for (r, c) in pattern.entries().filter(|(r, c)| r != c) {
        graph[r].push(c);
        graph[c].push(r);
    }
    sorted(graph)
}

/// Columns that share a row; rows so full that they would connect almost everything are ignored, as COLAMD does.
fn column_graph(pattern: &SparsityPattern) -> Vec<Vec<usize>> {
    let n = pattern.columns();
    let limit = dense_limit(n);
    let by_row = pattern.transposed();
    let mut graph = vec![Vec::new(); n];
    for r in 0..pattern.rows() {
        let columns = by_row.column(r);
        if columns.len() > limit {
            continue;
        }
        for &a in columns {
            graph[a].extend(columns.iter().copied().filter(|&b| b != a));
        }
    }
    sorted(graph)
}

fn sorted(mut graph: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for neighbours in &mut graph {
        neighbours.sort_unstable();
        neighbours.dedup();
    }
    graph
}

/// Degree from which a node is dense (the default of AMD and COLAMD).
fn dense_limit(n: usize) -> usize {
    (10.0 * (n as f64).sqrt()).max(16.0) as usize
}

struct QuotientGraph {
    /// Neighbouring variables that no element covers.
    variables: Vec<Vec<usize>>,
    /// Elements a variable belongs to.
    elements: Vec<Vec<usize>>,
    /// Variables of each element, indexed by its pivot.
    members: Vec<Vec<usize>>,
    is_absorbed: Vec<bool>,
    is_eliminated: Vec<bool>,
    degree: Vec<usize>,
    /// Smallest degree first, then smallest index; entries with outdated degrees are skipped.
    queue: BinaryHeap<Reverse<(usize, usize)>>,
    order: Vec<usize>,
    /// Marks of the present pivot's members, and |Lₑ \ Lₚ| of the elements they touch.
    mark: Vec<usize>,
    outside: Vec<usize>,
    outside_of: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl QuotientGraph {
    fn new(graph: Vec<Vec<usize>>) -> Self {
        let n = graph.len();
        let degree: Vec<usize> = graph.iter().map(Vec::len).collect();
        let mut this = Self {
            queue: degree.iter().enumerate().map(|(i, &d)| Reverse((d, i))).collect(),
            variables: graph,
            elements: vec![Vec::new(); n],
            members: vec![Vec::new(); n],
            is_absorbed: vec![false; n],
            is_eliminated: vec![false; n],
            degree,
            order: Vec::with_capacity(n),
            mark: vec![NONE; n],
            outside: vec![0; n],
            outside_of: vec![NONE; n],
        };
        this.defer_dense_nodes();
        this
    }

    /// Dense nodes go last and out of the graph, so that they do not make every step expensive.
    fn defer_dense_nodes(&mut self) {
        let limit = dense_limit(self.degree.len());
        let dense: Vec<bool> = self.degree.iter().map(|&d| d > limit).collect();
        if !dense.contains(&true) {
            return;
        }
        for i in 0..dense.len() {
            self.is_eliminated[i] = dense[i];
            self.variables[i].retain(|&j| !dense[j]);
            self.degree[i] = self.variables[i].len();
        }
        let live = (0..dense.len()).filter(|&i| !dense[i]);
        self.queue = live.map(|i| Reverse((self.degree[i], i))).collect();
    }

    fn eliminate(mut self) -> Vec<usize> {
        while let Some(Reverse((degree, p))) = self.queue.pop() {
            if !self.is_eliminated[p] && degree == self.degree[p] {
                self.pivot(p);
            }
        }
        let mut last: Vec<usize> = (0..self.degree.len()).collect();
        let mut ordered = vec![false; last.len()];
        self.order.iter().for_each(|&i| ordered[i] = true);
        last.retain(|&i| !ordered[i]);
        self.order.extend(last);
        self.order
    }

    fn pivot(&mut self, p: usize) {
        self.is_eliminated[p] = true;
        self.order.push(p);
        self.form_element(p);
        let members = std::mem::take(&mut self.members[p]);
        self.count_outside(p, &members);
        let mut left = Vec::with_capacity(members.len());
        for &i in &members {
            self.update(i, p, members.len());
            // Nothing but the new element: eliminating it now adds no fill.
            if self.variables[i].is_empty() && self.elements[i].len() == 1 {
                self.is_eliminated[i] = true;
                self.order.push(i);
            } else {
                left.push(i);
            }
        }
        for &i in &left {
            self.queue.push(Reverse((self.degree[i], i)));
        }
        self.members[p] = left;
    }

    /// Lₚ: all live variables next to p, directly or through an element, which is thereby absorbed.
    fn form_element(&mut self, p: usize) {
        let mut members = Vec::new();
        self.mark[p] = p;
        let direct = std::mem::take(&mut self.variables[p]);
        let through = std::mem::take(&mut self.elements[p]);
        let mut add = |i: usize| {
            if !self.is_eliminated[i] && self.mark[i] != p {
                self.mark[i] = p;
                members.push(i);
            }
        };
        direct.into_iter().for_each(&mut add);
        for e in through {
            if !self.is_absorbed[e] {
                std::mem::take(&mut self.members[e]).into_iter().for_each(&mut add);
                self.is_absorbed[e] = true;
            }
        }
        self.members[p] = members;
    }

    /// |Lₑ \ Lₚ| for every element next to a member, by counting down from |Lₑ| (algorithm 2 of the paper).
    fn count_outside(&mut self, p: usize, members: &[usize]) {
        for &i in members {
            for &e in &self.elements[i] {
                if self.is_absorbed[e] {
                    continue;
                }
                if self.outside_of[e] != p {
                    self.outside_of[e] = p;
                    self.members[e].retain(|&j| !self.is_eliminated[j]);
                    self.outside[e] = self.members[e].len();
                }
                self.outside[e] -= 1;
            }
        }
    }

    /// Adjacency and degree bound of a member after the elimination of p.
    fn update(&mut self, i: usize, p: usize, size: usize) {
        let (mark, is_eliminated) = (&self.mark, &self.is_eliminated);
        // Members are neighbours through p now.
        self.variables[i].retain(|&j| mark[j] != p && !is_eliminated[j]);
        let mut degree = self.variables[i].len() + size - 1;
        let mut elements = std::mem::take(&mut self.elements[i]);
        elements.retain(|&e| {
            if !self.is_absorbed[e] && self.outside[e] == 0 {
                // Everything it covers, p covers as well.
                self.is_absorbed[e] = true;
            }
            if self.is_absorbed[e] {
                return false;
            }
            degree += self.outside[e];
            true
        });
        elements.push(p);
        self.elements[i] = elements;
        // The old bound plus the new members is a bound as well.
        self.degree[i] = degree.min(self.degree[i] + size - 1);
    }
}
