//! Random equations over sets of 4-bit numbers: the fixpoint contains the least solution, which is enumerated, and is
//! itself a solution.

use crate::sample::{Random, Sample};
use crate::small::{members, set};
use leno_domains::{
    Binary, Congruence, Graph, Interval, KnownBits, Node, NodeVec, Numbers, Predicate, Product, Stopped, Strategy,
    System, Thresholds, solve,
};
use std::marker::PhantomData;

/// What an edge does with the numbers of its first node.
#[derive(Clone, Copy, Debug)]
enum Action {
    Apply(Binary, u128),
    Assume(Predicate, bool, u128),
    Copy,
}

impl Action {
    fn any(random: &mut Random) -> Action {
        let constant = random.number(4);
        match random.below(5) {
            0 => Action::Copy,
            1 | 2 => Action::Apply(random.one_of(&Binary::ALL), constant),
            _ => Action::Assume(random.one_of(&Predicate::ALL), random.chance(60), constant),
        }
    }

    fn on_element<V: Numbers>(self, value: &V) -> V {
        match self {
            Action::Copy => *value,
            Action::Apply(op, constant) => V::binary(op, 4, value, &V::constant(4, constant)),
            Action::Assume(predicate, holds, constant) => {
                V::assume(predicate, holds, 4, value, &V::constant(4, constant)).0
            }
        }
    }

    fn on_set(self, of: u128) -> u128 {
        let image = |x: u128| match self {
            Action::Copy => Some(x),
            Action::Apply(op, constant) => Some(op.apply(4, x, constant)),
            Action::Assume(predicate, holds, constant) => (predicate.holds(4, x, constant) == holds).then_some(x),
        };
        members(of).filter_map(image).fold(0, |all, x| all | 1 << x)
    }
}

struct Flow<V> {
    nodes: usize,
    starts: Vec<(Node, u128)>,
    edges: Vec<(Node, Node, Action)>,
    domain: PhantomData<V>,
}

impl<V: Numbers> Flow<V> {
    fn any(random: &mut Random) -> Flow<V> {
        let nodes = 1 + random.below(12);
        let node = |random: &mut Random| Node(random.below(nodes) as u32);
        let starts = (0..1 + random.below(2)).map(|_| (node(random), random.number(4))).collect();
        let edges = (0..random.below(2 * nodes + 2)).map(|_| (node(random), node(random), Action::any(random)));
        Flow { nodes, starts, edges: edges.collect(), domain: PhantomData }
    }

    fn graph(&self) -> Graph {
        Graph::new(self.nodes, &self.edges.iter().map(|&(from, to, _)| (from, to)).collect::<Vec<_>>())
    }

    /// What the equations give for these sets.
    fn step(&self, sets: &[u128]) -> Vec<u128> {
        let mut next = vec![0; self.nodes];
        for &(node, value) in &self.starts {
            next[node.index()] |= 1 << value;
        }
        for &(from, to, action) in &self.edges {
            next[to.index()] |= action.on_set(sets[from.index()]);
        }
        next
    }

    fn least(&self) -> Vec<u128> {
        let mut sets = vec![0; self.nodes];
        loop {
            let next = self.step(&sets);
            if next == sets {
                return sets;
            }
            sets = next;
        }
    }
}

impl<V: Numbers> System for Flow<V> {
    type Value = V;

    fn space(&self, _: Node) -> u32 {
        4
    }

    fn evaluate(&mut self, node: Node, values: &NodeVec<V>) -> V {
        let starts = self.starts.iter().filter(|(at, _)| *at == node).map(|&(_, value)| V::constant(4, value));
        let edges = self.edges.iter().filter(|(_, to, _)| *to == node);
        let copied = edges.map(|(from, _, action)| action.on_element(&values[*from]));
        starts.chain(copied).fold(V::bottom(&4), |all, value| all.join(&value))
    }
}

fn solutions<V: Sample>(seed: u64) {
    let mut random = Random::new(seed);
    let (mut found, mut needed) = (0, 0);
    for _ in 0..3000 {
        let mut flow = Flow::<V>::any(&mut random);
        let strategy = Strategy {
            delay: random.below(4) as u32,
            narrowings: random.below(3) as u32,
            thresholds: if random.chance(50) { Thresholds::powers_of_two() } else { Thresholds::NONE },
            to_thresholds: random.below(5) as u32,
            steps: 100_000,
        };
        let graph = flow.graph();
        check_order(&graph);
        let values = solve(&graph, &mut flow, &strategy).expect("it comes to an end");
        assert!(solve(&graph, &mut flow, &strategy).is_ok_and(|again| again == values), "the same again");
        let sets: Vec<u128> = values.iter().map(|(_, value)| set(4, value)).collect();
        let least = flow.least();
        for (node, (is, should)) in flow.step(&sets).iter().zip(&least).enumerate() {
            let place = || format!("node {node} of {:?} {:?}: {values:?}", flow.starts, flow.edges);
            assert_eq!(should & !sets[node], 0, "less than the least solution: {}", place());
            assert_eq!(is & !sets[node], 0, "not a solution: {}", place());
        }
        found += sets.iter().map(|set| set.count_ones()).sum::<u32>();
        needed += least.iter().map(|set| set.count_ones()).sum::<u32>();
    }
    println!("{found} numbers in all solutions; {needed} in the least ones");
}

/// Every node once; and edges that lead back lead to heads.
fn check_order(graph: &Graph) {
    let mut seen: Vec<Node> = graph.order().to_vec();
    seen.sort_unstable();
    assert_eq!(seen, (0..graph.len() as u32).map(Node).collect::<Vec<_>>());
    let place = |node: Node| graph.order().iter().position(|&other| other == node);
    for &node in graph.order() {
        for &to in graph.successors(node) {
            assert!(place(node) < place(to) || graph.is_head(to), "from {node:?} back to {to:?}");
        }
    }
}

#[test]
fn solutions_contain_the_least_one() {
    solutions::<Interval>(1);
    solutions::<KnownBits>(2);
    solutions::<Congruence>(3);
    solutions::<Product>(4);
}

#[test]
fn steps_are_counted() {
    let mut flow = Flow::<Interval> {
        nodes: 1,
        starts: vec![(Node(0), 0)],
        edges: vec![(Node(0), Node(0), Action::Apply(Binary::Add, 1))],
        domain: PhantomData,
    };
    let strategy = Strategy { delay: 1000, steps: 7, ..Strategy::default() };
    assert_eq!(solve(&flow.graph(), &mut flow, &strategy), Err(Stopped::Steps));
    let strategy = Strategy { steps: 7, ..Strategy::default() };
    assert_eq!(solve(&flow.graph(), &mut flow, &strategy).map(|it| it[Node(0)]), Ok(Interval::full(4)));
}

/// Inner loops come in one piece, each after its head.
#[test]
fn nested_loops_are_nested() {
    // 0 → 1 → 2 → 3 → 2, 3 → 1, 1 → 4
    let edges = [(0, 1), (1, 2), (2, 3), (3, 2), (3, 1), (1, 4)].map(|(from, to)| (Node(from), Node(to)));
    let graph = Graph::new(5, &edges);
    assert_eq!(graph.order(), [0, 1, 2, 3, 4].map(Node));
    let heads: Vec<u32> = (0..5).filter(|&node| graph.is_head(Node(node))).collect();
    assert_eq!(heads, [1, 2]);
}
