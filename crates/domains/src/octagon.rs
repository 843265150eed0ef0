//! Octagons: what is known of sums and differences of two variables, `±x ± y <= c`.
//!
//! The variables are integers of mathematics: who uses an octagon for machine integers says which reading (signed or unsigned)
//! is meant, and relates only what has not wrapped around. The matrix has two rows for each variable `v`, one for `v` and one for
//! `-v`; the entry of rows `i` and `j` is the greatest value that `x_j - x_i` may have. It is always kept *tightly closed*: every
//! bound that follows from others over the integers is there. So variables can be dropped by dropping their rows, bounds can be
//! read off, and two octagons compared entry by entry. A variable that is not there may be anything.

use crate::domain::{Domain, Thresholds};
use std::fmt::Debug;

/// A variable, or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Side<V> {
    pub variable: V,
    pub is_negated: bool,
}

impl<V> Side<V> {
    pub fn plus(variable: V) -> Side<V> {
        Side { variable, is_negated: false }
    }

    pub fn minus(variable: V) -> Side<V> {
        Side { variable, is_negated: true }
    }

    pub fn negated(self) -> Side<V> {
        Side { is_negated: !self.is_negated, ..self }
    }
}

/// `left + right <= most`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constraint<V> {
    pub left: Side<V>,
    pub right: Side<V>,
    pub most: i128,
}

/// Not bounded. Far enough from the ends for sums of a few of them.
const ANY: i128 = i128::MAX / 16;

fn plus(a: i128, b: i128) -> i128 {
    if a >= ANY || b >= ANY { ANY } else { a + b }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Octagon<V> {
    /// Sorted.
    variables: Vec<V>,
    /// Row by row.
    matrix: Vec<i128>,
    is_empty: bool,
}

impl<V: Copy + Ord + Debug> Default for Octagon<V> {
    fn default() -> Octagon<V> {
        Octagon { variables: Vec::new(), matrix: Vec::new(), is_empty: false }
    }
}

impl<V: Copy + Ord + Debug> Octagon<V> {
    fn empty() -> Octagon<V> {
        Octagon { is_empty: true, ..Octagon::default() }
    }

    pub fn variables(&self) -> &[V] {
        &self.variables
    }

    pub fn contains(&self, variable: V) -> bool {
        self.position(variable).is_some()
    }

    fn position(&self, variable: V) -> Option<usize> {
        self.variables.binary_search(&variable).ok()
    }

    fn row(&self, side: Side<V>) -> Option<usize> {
        Some(2 * self.position(side.variable)? + usize::from(side.is_negated))
    }

    fn rows(&self) -> usize {
        2 * self.variables.len()
    }

    fn at(&self, i: usize, j: usize) -> i128 {
        self.matrix[i * self.rows() + j]
    }

    fn lower(&mut self, i: usize, j: usize, to: i128) {
        let rows = self.rows();
        let entry = &mut self.matrix[i * rows + j];
        *entry = (*entry).min(to);
    }

    /// The same, about these variables only, in this (sorted) order; those that are new may be anything.
    fn on(&self, variables: Vec<V>) -> Octagon<V> {
        let old: Vec<Option<usize>> = variables.iter().map(|variable| self.position(*variable)).collect();
        let rows = 2 * variables.len();
        let mut matrix = vec![ANY; rows * rows];
        for i in 0..rows {
            for j in 0..rows {
                matrix[i * rows + j] = match (old[i / 2], old[j / 2]) {
                    _ if i == j => 0,
                    (Some(a), Some(b)) => self.at(2 * a + i % 2, 2 * b + j % 2),
                    _ => ANY,
                };
            }
        }
        Octagon { variables, matrix, is_empty: self.is_empty }
    }

    fn ensure(&mut self, variable: V) {
        if let Err(at) = self.variables.binary_search(&variable) {
            let mut variables = self.variables.clone();
            variables.insert(at, variable);
            *self = self.on(variables);
        }
    }

    /// The variable may be anything now.
    pub fn forget(&mut self, variable: V) {
        self.retain(|other| other != variable);
    }

    pub fn retain(&mut self, mut is_kept: impl FnMut(V) -> bool) {
        let variables: Vec<V> = self.variables.iter().copied().filter(|variable| is_kept(*variable)).collect();
        if variables.len() != self.variables.len() {
            *self = self.on(variables);
        }
    }

    /// Other names, no two of which are the same.
    pub fn rename(&self, mut name: impl FnMut(V) -> V) -> Octagon<V> {
        let mut named: Vec<(V, V)> = self.variables.iter().map(|old| (name(*old), *old)).collect();
        named.sort_unstable_by_key(|(new, _)| *new);
        let old = Octagon { variables: named.iter().map(|(_, old)| *old).collect(), ..Octagon::default() };
        // (Positions in the old one are looked up by its own, sorted names.)
        let places: Vec<usize> = old.variables.iter().filter_map(|variable| self.position(*variable)).collect();
        let rows = self.rows();
        let mut matrix = vec![0; rows * rows];
        for i in 0..rows {
            for j in 0..rows {
                matrix[i * rows + j] = self.at(2 * places[i / 2] + i % 2, 2 * places[j / 2] + j % 2);
            }
        }
        Octagon { variables: named.into_iter().map(|(new, _)| new).collect(), matrix, is_empty: self.is_empty }
    }

    /// The greatest value that a sum may have; of one side with itself: twice its greatest value.
    pub fn most(&self, left: Side<V>, right: Side<V>) -> Option<i128> {
        let (j, i) = (self.row(left)?, self.row(right.negated())?);
        Some(self.at(i, j)).filter(|most| *most < ANY)
    }

    /// The least and greatest value of a variable.
    pub fn bounds(&self, variable: V) -> (Option<i128>, Option<i128>) {
        let twice = |side: Side<V>| self.most(side, side).map(|twice| twice.div_euclid(2));
        (twice(Side::minus(variable)).map(|least| -least), twice(Side::plus(variable)))
    }

    /// `left + right <= most` holds from now on.
    pub fn constrain(&mut self, left: Side<V>, right: Side<V>, most: i128) {
        if self.is_empty || most >= ANY {
            return;
        }
        if left.variable == right.variable && left.is_negated != right.is_negated {
            if most < 0 {
                *self = Octagon::empty();
            }
            return;
        }
        self.ensure(left.variable);
        self.ensure(right.variable);
        let (Some(b), Some(a)) = (self.row(left), self.row(right.negated())) else { return };
        if self.at(a, b) > most {
            self.add(a, b, most);
        }
    }

    /// `least <= variable <= most` holds from now on.
    pub fn restrict(&mut self, variable: V, least: Option<i128>, most: Option<i128>) {
        if let Some(most) = most {
            self.constrain(Side::plus(variable), Side::plus(variable), 2 * most);
        }
        if let Some(least) = least {
            self.constrain(Side::minus(variable), Side::minus(variable), -2 * least);
        }
    }

    /// `variable = from + [least, most]`.
    pub fn assign(&mut self, variable: V, from: Side<V>, least: Option<i128>, most: Option<i128>) {
        if self.is_empty {
            return;
        }
        if from.variable == variable {
            self.change(variable, from.is_negated, least, most);
            return;
        }
        self.forget(variable);
        self.ensure(from.variable);
        if let Some(most) = most {
            self.constrain(Side::plus(variable), from.negated(), most);
        }
        if let Some(least) = least {
            self.constrain(Side::minus(variable), from, -least);
        }
    }

    /// `variable = ±variable + [least, most]`.
    fn change(&mut self, variable: V, is_negated: bool, least: Option<i128>, most: Option<i128>) {
        let Some(position) = self.position(variable) else { return };
        let rows = self.rows();
        let (v, minus) = (2 * position, 2 * position + 1);
        if is_negated {
            for i in 0..rows {
                self.matrix.swap(i * rows + v, i * rows + minus);
            }
            for j in 0..rows {
                self.matrix.swap(v * rows + j, minus * rows + j);
            }
        }
        // How much the value in a row grows at most when it is added, and when it is taken away.
        let grows = |row: usize| match row {
            row if row == v => most,
            row if row == minus => least.map(|least| -least),
            _ => Some(0),
        };
        for i in 0..rows {
            for j in (0..rows).filter(|j| *j != i) {
                let entry = self.matrix[i * rows + j];
                self.matrix[i * rows + j] = match (grows(j), grows(i ^ 1)) {
                    (Some(added), Some(taken)) if entry < ANY => entry + added + taken,
                    _ => ANY,
                };
            }
        }
        self.close();
    }

    /// `x_b - x_a <= most`, with what follows from it.
    fn add(&mut self, a: usize, b: usize, most: i128) {
        let (not_a, not_b, rows) = (a ^ 1, b ^ 1, self.rows());
        let (across, back) = (self.at(b, not_b), self.at(not_a, a));
        let to_a: Vec<i128> = (0..rows).map(|i| self.at(i, a)).collect();
        let to_not_b: Vec<i128> = (0..rows).map(|i| self.at(i, not_b)).collect();
        let from_b: Vec<i128> = (0..rows).map(|j| self.at(b, j)).collect();
        let from_not_a: Vec<i128> = (0..rows).map(|j| self.at(not_a, j)).collect();
        for i in 0..rows {
            let direct = plus(to_a[i], most);
            let mirrored = plus(to_not_b[i], most);
            let to_b = direct.min(plus(plus(mirrored, back), most));
            let to_mirror = mirrored.min(plus(plus(direct, across), most));
            for j in 0..rows {
                let through = plus(to_b, from_b[j]).min(plus(to_mirror, from_not_a[j]));
                self.lower(i, j, through);
            }
        }
        self.tighten();
    }

    /// All that follows, from any matrix.
    fn close(&mut self) {
        let rows = self.rows();
        for k in 0..rows {
            for i in 0..rows {
                let first = self.at(i, k);
                if first >= ANY {
                    continue;
                }
                for j in 0..rows {
                    let through = plus(first, self.at(k, j));
                    self.lower(i, j, through);
                }
            }
        }
        self.tighten();
    }

    /// Bounds of single variables are even; and sums of two of them. What was closed by paths is tightly closed then.
    fn tighten(&mut self) {
        let rows = self.rows();
        if (0..rows).any(|i| self.at(i, i) < 0) {
            *self = Octagon::empty();
            return;
        }
        for i in 0..rows {
            let twice = self.at(i, i ^ 1);
            if twice < ANY {
                self.lower(i, i ^ 1, 2 * twice.div_euclid(2));
            }
        }
        if (0..rows).any(|i| plus(self.at(i, i ^ 1), self.at(i ^ 1, i)) < 0) {
            *self = Octagon::empty();
            return;
        }
        for i in 0..rows {
            let first = self.at(i, i ^ 1);
            for j in 0..rows {
                let both = plus(first, self.at(j ^ 1, j));
                if both < ANY && i != j {
                    self.lower(i, j, both / 2);
                }
            }
        }
    }

    /// What is said about two variables that does not follow from their own bounds.
    pub fn constraints(&self) -> Vec<Constraint<V>> {
        let rows = self.rows();
        let side = |row: usize| Side { variable: self.variables[row / 2], is_negated: row % 2 == 1 };
        let mut all = Vec::new();
        for i in 0..rows {
            for j in (0..rows).filter(|j| j / 2 < i / 2) {
                let most = self.at(i, j);
                let both = plus(self.at(i, i ^ 1), self.at(j ^ 1, j));
                if most < ANY && (both >= ANY || most < both / 2) {
                    all.push(Constraint { left: side(j), right: side(i ^ 1), most });
                }
            }
        }
        all
    }

    /// Forgets the variables of which nothing is said but their own bounds.
    pub fn keep_related(&mut self) {
        let constraints = self.constraints();
        self.retain(|variable| {
            constraints.iter().any(|it| it.left.variable == variable || it.right.variable == variable)
        });
    }

    fn common(&self, other: &Octagon<V>) -> Vec<V> {
        self.variables.iter().copied().filter(|variable| other.contains(*variable)).collect()
    }

    fn combine(&self, other: &Octagon<V>, entry: impl Fn(i128, i128) -> i128) -> Octagon<V> {
        let common = self.common(other);
        let (mut this, that) = (self.on(common.clone()), other.on(common));
        for (a, b) in this.matrix.iter_mut().zip(&that.matrix) {
            *a = entry(*a, *b);
        }
        this
    }
}

impl<V: Copy + Ord + Debug> Domain for Octagon<V> {
    type Space = ();

    fn bottom(_: &()) -> Octagon<V> {
        Octagon::empty()
    }

    fn top(_: &()) -> Octagon<V> {
        Octagon::default()
    }

    fn is_bottom(&self) -> bool {
        self.is_empty
    }

    fn leq(&self, other: &Octagon<V>) -> bool {
        if self.is_empty || other.is_empty {
            return self.is_empty;
        }
        let this = self.on(other.variables.clone());
        this.matrix.iter().zip(&other.matrix).all(|(a, b)| a <= b)
    }

    fn join(&self, other: &Octagon<V>) -> Octagon<V> {
        match (self.is_empty, other.is_empty) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => self.combine(other, i128::max),
        }
    }

    fn meet(&self, other: &Octagon<V>, _: &()) -> Octagon<V> {
        if self.is_empty || other.is_empty {
            return Octagon::empty();
        }
        let mut variables = [&self.variables[..], &other.variables[..]].concat();
        variables.sort_unstable();
        variables.dedup();
        let (mut both, that) = (self.on(variables.clone()), other.on(variables));
        both.matrix.iter_mut().zip(&that.matrix).for_each(|(a, b)| *a = (*a).min(*b));
        both.close();
        both
    }

    /// Bounds that grow go to the next threshold, and are then closed again. Without thresholds, variables with a bound that
    /// grows are forgotten: there are only so many of them.
    fn widen(&self, next: &Octagon<V>, _: &(), thresholds: &Thresholds) -> Octagon<V> {
        if self.is_empty || next.is_empty {
            return self.join(next);
        }
        let mut wide = self.join(next);
        let old = self.on(wide.variables.clone());
        let rows = wide.rows();
        if thresholds.numbers().is_empty() {
            let grows = |row: usize| (0..rows).any(|j| old.at(row, j) < wide.at(row, j));
            let grown: Vec<V> = wide.variables.clone();
            let grown: Vec<V> =
                (0..rows / 2).filter(|at| grows(2 * at) || grows(2 * at + 1)).map(|at| grown[at]).collect();
            wide.retain(|variable| !grown.contains(&variable));
            return wide;
        }
        for i in 0..rows {
            for j in (0..rows).filter(|j| *j != i) {
                let most = wide.at(i, j);
                if most <= old.at(i, j) || most >= ANY {
                    continue;
                }
                let threshold = match (j == i ^ 1, j % 2 == 1) {
                    (true, true) => thresholds.at_most(-most.div_euclid(2)).map(|least| -2 * least),
                    (true, false) => thresholds.at_least(most.div_euclid(2)).map(|most| 2 * most),
                    _ => thresholds.at_least(most),
                };
                wide.matrix[i * rows + j] = threshold.unwrap_or(ANY).min(ANY);
            }
        }
        wide.close();
        wide
    }
}
