//! Orders, dominators and loops against their definitions, on random graphs; and on graphs too deep to recurse on.

use std::collections::BTreeSet;

use leno_ir::analysis::weak_topological_order::{Element, weak_topological_order};
use leno_ir::cfg::{Cfg, LoopId};
use leno_ir::graph::Rows;
use leno_ir::index::Idx;
use leno_ir::program::BlockId;
use leno_ir::text;

use crate::random::Random;

type Edges = Vec<(BlockId, BlockId)>;

fn random_graph(random: &mut Random) -> (usize, Edges) {
    let blocks = 1 + random.below(14);
    let count = random.below(2 * blocks + 2);
    let mut edges: Edges =
        (0..count).map(|_| (BlockId::new(random.below(blocks)), BlockId::new(random.below(blocks)))).collect();
    edges.sort_unstable();
    edges.dedup();
    (blocks, edges)
}

/// What `from` reaches without going through `without`.
fn reach(edges: &Edges, from: BlockId, without: Option<BlockId>) -> BTreeSet<BlockId> {
    let mut reached = BTreeSet::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) != without && reached.insert(block) {
            work.extend(edges.iter().filter(|(source, _)| *source == block).map(|(_, target)| *target));
        }
    }
    reached
}

#[test]
fn orders_and_dominators_agree_with_their_definitions() {
    let mut random = Random(1);
    for _ in 0..3000 {
        let (blocks, edges) = random_graph(&mut random);
        let cfg = Cfg::from_edges(blocks, &edges);
        let dominators = cfg.dominators();
        let reachable = reach(&edges, BlockId(0), None);
        let order: BTreeSet<BlockId> = cfg.reverse_post_order().iter().copied().collect();
        assert_eq!(order, reachable, "{edges:?}");
        assert_eq!(order.len(), cfg.reverse_post_order().len(), "no block twice");
        for below in (0..blocks).map(BlockId::new) {
            assert_eq!(cfg.is_reachable(below), reachable.contains(&below));
            let mut strict = Vec::new();
            for above in (0..blocks).map(BlockId::new) {
                let both = reachable.contains(&above) && reachable.contains(&below);
                let expected = both && !reach(&edges, BlockId(0), Some(above)).contains(&below);
                assert_eq!(dominators.dominates(above, below), expected, "{above} dominates {below} in {edges:?}");
                if expected && above != below {
                    strict.push(above);
                }
            }
            // The immediate one is dominated by all the others.
            let immediate = strict.iter().find(|id| strict.iter().all(|other| dominators.dominates(*other, **id)));
            assert_eq!(dominators.immediate(below), immediate.copied(), "{below} in {edges:?}");
        }
    }
}

#[test]
fn post_dominators_agree_with_their_definition() {
    let mut random = Random(2);
    for _ in 0..2000 {
        let (blocks, edges) = random_graph(&mut random);
        let post = Cfg::from_edges(blocks, &edges).post_dominators();
        let is_end = |block: &BlockId| edges.iter().all(|(source, _)| source != block);
        for from in (0..blocks).map(BlockId::new) {
            let ends = reach(&edges, from, None).iter().any(is_end);
            for above in (0..blocks).map(BlockId::new) {
                let avoided = reach(&edges, from, Some(above)).iter().any(is_end);
                assert_eq!(post.dominates(above, from), ends && !avoided, "{above} after {from} in {edges:?}");
            }
        }
    }
}

#[test]
fn loops_agree_with_their_definition() {
    let mut random = Random(3);
    let (mut found_nested, mut found_irreducible) = (false, false);
    for _ in 0..3000 {
        let (blocks, edges) = random_graph(&mut random);
        let cfg = Cfg::from_edges(blocks, &edges);
        let dominators = cfg.dominators();
        let loops = cfg.loops(&dominators);
        let reachable = reach(&edges, BlockId(0), None);
        let mut headers = BTreeSet::new();
        for (latch, header) in edges.iter().filter(|(from, _)| reachable.contains(from)) {
            if dominators.dominates(*header, *latch) {
                headers.insert(*header);
            }
        }
        let known: BTreeSet<BlockId> = loops.loops.iter().map(|l| l.header).collect();
        assert_eq!(known, headers, "{edges:?}");
        for (id, found) in loops.loops.iter_enumerated() {
            assert!(loops.is_header(found.header));
            let mut body = BTreeSet::from([found.header]);
            for latch in &found.latches {
                let reaches = |block: &BlockId| {
                    *block != found.header && reach(&edges, *block, Some(found.header)).contains(latch)
                };
                body.extend(reachable.iter().filter(|block| reaches(block)));
            }
            for block in (0..blocks).map(BlockId::new) {
                assert_eq!(loops.contains(id, block), body.contains(&block), "{block} in {found:?} of {edges:?}");
            }
            found_nested |= found.depth > 1;
            assert_eq!(found.depth, found.parent.map_or(1, |parent| loops.loops[parent].depth + 1));
        }
        found_irreducible |= !loops.irreducible.is_empty();
    }
    assert!(found_nested && found_irreducible, "the random graphs are too simple");
}

/// The blocks in order, each with the heads of the loops around it, outermost first.
fn flatten(elements: &[Element], heads: &mut Vec<BlockId>, order: &mut Vec<(BlockId, Vec<BlockId>)>) {
    for element in elements {
        match element {
            Element::Block(block) => order.push((*block, heads.clone())),
            Element::Loop(found) => {
                let first = order.len();
                heads.push(found.head);
                flatten(&found.elements, heads, order);
                heads.pop();
                assert_eq!(order[first].0, found.head, "the head comes first");
                let mut blocks: Vec<BlockId> = order[first..].iter().map(|(block, _)| *block).collect();
                blocks.sort();
                assert_eq!(blocks, found.blocks);
            }
        }
    }
}

#[test]
fn weak_topological_orders_agree_with_their_definition() {
    let mut random = Random(5);
    let mut deepest = 0;
    for _ in 0..3000 {
        let (blocks, edges) = random_graph(&mut random);
        let cfg = Cfg::from_edges(blocks, &edges);
        let mut order = Vec::new();
        flatten(&weak_topological_order(&cfg), &mut Vec::new(), &mut order);
        let all: BTreeSet<BlockId> = order.iter().map(|(block, _)| *block).collect();
        assert_eq!((all.len(), &all), (order.len(), &reach(&edges, BlockId(0), None)), "each block once in {edges:?}");
        let position = |block: BlockId| order.iter().position(|(other, _)| *other == block).expect("a place");
        for (from, to) in edges.iter().filter(|(from, _)| all.contains(from)) {
            let (before, after) = (position(*from), position(*to));
            let goes_on = before < after;
            // Bourdoncle: an edge back leads to the head of a loop that its source is in.
            assert!(goes_on || order[before].1.contains(to), "{from} -> {to} in {edges:?}: {order:?}");
        }
        for (block, heads) in &order {
            let is_cyclic = |head: &BlockId| {
                reach(&edges, *block, None).contains(head) && reach(&edges, *head, None).contains(block)
            };
            assert!(heads.iter().all(is_cyclic), "{block} in {edges:?}");
            deepest = deepest.max(heads.len());
        }
    }
    assert!(deepest > 2, "the random graphs are too simple");
}

#[test]
fn components_are_sets_of_nodes_that_reach_each_other() {
    let mut random = Random(4);
    for _ in 0..2000 {
        let (blocks, edges) = random_graph(&mut random);
        let components = Rows::new(blocks, &edges).components();
        assert_eq!(components.iter().map(<[_]>::len).sum::<usize>(), blocks);
        let mut before: BTreeSet<BlockId> = BTreeSet::new();
        for component in components.iter() {
            let first = component[0];
            for block in (0..blocks).map(BlockId::new) {
                let mutual = reach(&edges, first, None).contains(&block) && reach(&edges, block, None).contains(&first);
                assert_eq!(component.contains(&block), mutual, "{first}, {block} in {edges:?}");
            }
            before.extend(component);
            assert!(reach(&edges, first, None).is_subset(&before), "targets come first in {edges:?}");
        }
    }
}

#[test]
fn a_million_blocks_are_no_problem() {
    // A chain of diamonds that each loop back: a graph as deep as it is large.
    let diamonds = 250_000;
    let mut edges = Vec::new();
    for top in (0..diamonds).map(|index| index * 4) {
        let edge = |from: u32, to: u32| (BlockId(top + from), BlockId(top + to));
        edges.extend([edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, 0)]);
        if top + 4 < diamonds * 4 {
            edges.push(edge(3, 4));
        }
    }
    let cfg = Cfg::from_edges(diamonds as usize * 4, &edges);
    let dominators = cfg.dominators();
    let loops = cfg.loops(&dominators);
    let last = BlockId(diamonds * 4 - 1);
    assert_eq!(dominators.immediate(last), Some(BlockId(diamonds * 4 - 4)));
    assert!(dominators.dominates(BlockId(0), last) && !dominators.dominates(BlockId(1), last));
    assert_eq!(loops.loops.len(), diamonds as usize);
    assert!(cfg.post_dominators().immediate(BlockId(0)).is_none(), "it never ends");
    let rows = Rows::new(cfg.len(), &edges);
    assert_eq!(rows.components().len(), diamonds as usize);
}

/// Every call is followed by `if (error) goto out;`.
#[test]
fn a_long_ladder_takes_linear_time() {
    let steps = 300_000;
    let out = BlockId(steps);
    let mut edges: Edges = (1..steps).map(|step| (BlockId(step - 1), BlockId(step))).collect();
    edges.extend((0..steps).map(|step| (BlockId(step), out)));
    let cfg = Cfg::from_edges(steps as usize + 1, &edges);
    assert_eq!(cfg.dominators().immediate(out), Some(BlockId(0)));
    assert_eq!(cfg.post_dominators().immediate(BlockId(0)), Some(out));
}

#[test]
fn deeply_nested_loops_take_linear_space() {
    // Headers 0..n, one after the other, then the latches back to each of them.
    let depth = 100_000;
    let mut edges: Edges = (1..depth).map(|header| (BlockId(header - 1), BlockId(header))).collect();
    for level in 0..depth {
        let latch = BlockId(depth + level);
        edges.push((if level == 0 { BlockId(depth - 1) } else { BlockId(depth + level - 1) }, latch));
        edges.push((latch, BlockId(depth - 1 - level)));
    }
    let cfg = Cfg::from_edges(2 * depth as usize, &edges);
    let loops = cfg.loops(&cfg.dominators());
    assert_eq!(loops.loops.len(), depth as usize);
    let innermost = loops.innermost(BlockId(depth - 1)).expect("a loop");
    assert_eq!(loops.loops[innermost].depth, depth);
    assert!(loops.contains(LoopId(0), BlockId(depth)));
}

#[test]
fn a_switch_has_one_edge_for_each_block() {
    let source = "program lp64\nfn &f(%a: i32) {\nb0:\n switch %a { 1 => b2, 2 => b1, 3 => b2, default => b1 }\nb1:\n return\nb2:\n goto b1\n}";
    let program = text::parse(source).expect("it parses");
    let cfg = Cfg::of(&program.functions[leno_ir::program::FuncId(0)]).expect("a body");
    assert_eq!(cfg.successors(BlockId(0)), [BlockId(2), BlockId(1)]);
    assert_eq!(cfg.predecessors(BlockId(1)), [BlockId(0), BlockId(2)]);
    assert_eq!(cfg.reverse_post_order(), [BlockId(0), BlockId(2), BlockId(1)]);
}
