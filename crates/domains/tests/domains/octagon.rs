//! Octagons against all points of a small cube.

use crate::sample::Random;
use leno_domains::{Domain, Octagon, Side, Thresholds};

/// Variables go from here to there.
const LEAST: i128 = -4;
const MOST: i128 = 3;
const VARIABLES: usize = 3;

type Point = [i128; VARIABLES];
type Shape = Octagon<usize>;

fn cube() -> Vec<Point> {
    let line = || LEAST..=MOST;
    line().flat_map(|x| line().flat_map(move |y| line().map(move |z| [x, y, z]))).collect()
}

fn value(side: Side<usize>, point: &Point) -> i128 {
    if side.is_negated { -point[side.variable] } else { point[side.variable] }
}

fn side(random: &mut Random) -> Side<usize> {
    Side { variable: random.below(VARIABLES), is_negated: random.chance(50) }
}

fn in_cube() -> Shape {
    let mut octagon = Octagon::default();
    (0..VARIABLES).for_each(|variable| octagon.restrict(variable, Some(LEAST), Some(MOST)));
    octagon
}

/// An octagon in the cube, and its points, by the constraints that it was made of.
fn sample(random: &mut Random) -> (Shape, Vec<Point>) {
    let (mut octagon, mut points) = (in_cube(), cube());
    for _ in 0..random.below(5) {
        let (left, right, most) = (side(random), side(random), random.below(15) as i128 - 6);
        octagon.constrain(left, right, most);
        points.retain(|point| value(left, point) + value(right, point) <= most);
    }
    (octagon, points)
}

/// The smallest octagon around some points.
#[track_caller]
fn assert_is_best(octagon: &Shape, points: &[Point], what: &str) {
    assert_eq!(octagon.is_bottom(), points.is_empty(), "{what}: {octagon:?}");
    if points.is_empty() {
        return;
    }
    for left in sides() {
        for right in sides().filter(|right| *right != left.negated()) {
            let best = points.iter().map(|point| value(left, point) + value(right, point)).max();
            let most = octagon.most(left, right);
            let best = if left == right { best.map(|twice| 2 * twice.div_euclid(2)) } else { best };
            assert_eq!(most, best, "{what}: {left:?} + {right:?} of {octagon:?}");
        }
    }
}

fn sides() -> impl Iterator<Item = Side<usize>> {
    (0..VARIABLES).flat_map(|variable| [Side::plus(variable), Side::minus(variable)])
}

#[test]
fn constraints_are_tightly_closed() {
    let mut random = Random::new(1);
    for _ in 0..4_000 {
        let (octagon, points) = sample(&mut random);
        assert_is_best(&octagon, &points, "constraints");
    }
}

#[test]
fn joins_meets_and_comparisons_are_exact() {
    let mut random = Random::new(2);
    for _ in 0..2_000 {
        let ((a, in_a), (b, in_b)) = (sample(&mut random), sample(&mut random));
        let either: Vec<Point> = in_a.iter().chain(&in_b).copied().collect();
        assert_is_best(&a.join(&b), &either, "join");
        let both: Vec<Point> = in_a.iter().filter(|point| in_b.contains(point)).copied().collect();
        assert_is_best(&a.meet(&b, &()), &both, "meet");
        assert_eq!(a.leq(&b), in_a.iter().all(|point| in_b.contains(point)), "{a:?} <= {b:?}");
    }
}

#[test]
fn assignments_are_exact() {
    let mut random = Random::new(3);
    for _ in 0..4_000 {
        let (mut octagon, points) = sample(&mut random);
        let (variable, from) = (random.below(VARIABLES), side(&mut random));
        let least = random.below(7) as i128 - 3;
        let most = least + if random.chance(70) { 0 } else { random.below(3) as i128 };
        octagon.assign(variable, from, Some(least), Some(most));
        let after = points.iter().flat_map(|point| {
            (least..=most).map(|added| {
                let mut after = *point;
                after[variable] = value(from, point) + added;
                after
            })
        });
        assert_is_best(&octagon, &after.collect::<Vec<Point>>(), "assignment");
    }
}

#[test]
fn what_is_forgotten_may_be_anything_and_the_rest_stays() {
    let mut random = Random::new(4);
    for _ in 0..2_000 {
        let (octagon, points) = sample(&mut random);
        let variable = random.below(VARIABLES);
        let mut less = octagon.clone();
        less.forget(variable);
        assert!(octagon.leq(&less));
        less.restrict(variable, Some(LEAST), Some(MOST));
        let mut after: Vec<Point> = Vec::new();
        for point in &points {
            after.extend((LEAST..=MOST).map(|any| {
                let mut point = *point;
                point[variable] = any;
                point
            }));
        }
        assert_is_best(&less, &after, "forgotten");
    }
}

#[test]
fn the_constraints_that_are_listed_are_all() {
    let mut random = Random::new(5);
    for _ in 0..2_000 {
        let (octagon, points) = sample(&mut random);
        if octagon.is_bottom() {
            continue;
        }
        let mut again = Octagon::default();
        for variable in 0..VARIABLES {
            let (least, most) = octagon.bounds(variable);
            again.restrict(variable, least, most);
        }
        octagon.constraints().iter().for_each(|it| again.constrain(it.left, it.right, it.most));
        assert_is_best(&again, &points, "listed");
        let turned = octagon.rename(|variable| VARIABLES - 1 - variable);
        let mirrored: Vec<Point> = points.iter().map(|[x, y, z]| [*z, *y, *x]).collect();
        assert_is_best(&turned, &mirrored, "renamed");
    }
}

#[test]
fn widening_contains_both_and_ends() {
    let mut random = Random::new(6);
    let thresholds = Thresholds::new([-2, 0, 1, 5]);
    for _ in 0..500 {
        let (mut wide, _) = sample(&mut random);
        let mut changes = 0;
        for step in 0..200 {
            let (next, _) = sample(&mut random);
            let patient = if step < 100 { &thresholds } else { &Thresholds::NONE };
            let wider = wide.widen(&next, &(), patient);
            assert!(wide.leq(&wider) && next.leq(&wider), "{wide:?} and {next:?} in {wider:?}");
            changes += usize::from(wider != wide);
            wide = wider;
        }
        assert!(changes <= 40, "{changes} changes");
    }
}
