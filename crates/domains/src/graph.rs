//! What is computed from what, and in which order.
//!
//! The nodes of a [`Graph`] are the unknowns of a system of equations. An edge says that the second node is computed
//! from the first. An order says which of the nodes that have to be computed comes first, and heads are nodes where
//! widening may happen: every cycle has one.
//!
//! The weak topological order (Bourdoncle, Efficient chaotic iteration strategies with widenings, 1993) puts each
//! strongly connected component in one piece, its head first, and orders the rest of it in the same way. Always
//! computing the first node that has to be is then the recursive strategy: inner loops are stable before what comes
//! after them is looked at. Each level of nesting costs a pass over its component. A caller who knows an order
//! (terms: operands first) gives it, and the nodes are computed in rounds: where many unknowns lead to one large
//! expression, it is computed once a round, not once for each of them.

/// An unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

impl Node {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value for each node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeVec<T>(Vec<T>);

impl<T> NodeVec<T> {
    pub fn new(nodes: usize, value: impl FnMut(Node) -> T) -> NodeVec<T> {
        NodeVec((0..nodes as u32).map(Node).map(value).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Node, &T)> {
        (0..).map(Node).zip(&self.0)
    }
}

impl<T> std::ops::Index<Node> for NodeVec<T> {
    type Output = T;

    fn index(&self, node: Node) -> &T {
        &self.0[node.index()]
    }
}

impl<T> std::ops::IndexMut<Node> for NodeVec<T> {
    fn index_mut(&mut self, node: Node) -> &mut T {
        &mut self.0[node.index()]
    }
}

pub struct Graph {
    successors: Successors,
    order: Vec<Node>,
    /// By node: its place in the order.
    position: NodeVec<u32>,
    is_head: NodeVec<bool>,
    is_in_rounds: bool,
}

impl Graph {
    /// In weak topological order. Where nothing else decides, smaller nodes come first.
    pub fn new(nodes: usize, edges: &[(Node, Node)]) -> Graph {
        let successors = Successors::new(nodes, edges);
        let (order, is_head) = weak_topological_order(&successors);
        Graph::with(successors, order, is_head)
    }

    /// In the order of the nodes' numbers. Every cycle must have a head; otherwise only the limit of steps ends the
    /// iteration.
    pub fn in_order(edges: &[(Node, Node)], is_head: NodeVec<bool>) -> Graph {
        let order = (0..is_head.len() as u32).map(Node).collect();
        Graph { is_in_rounds: true, ..Graph::with(Successors::new(is_head.len(), edges), order, is_head) }
    }

    fn with(successors: Successors, order: Vec<Node>, is_head: NodeVec<bool>) -> Graph {
        let mut position = NodeVec::new(is_head.len(), |_| 0);
        for (at, &node) in order.iter().enumerate() {
            position[node] = at as u32;
        }
        Graph { successors, order, position, is_head, is_in_rounds: false }
    }

    pub fn len(&self) -> usize {
        self.is_head.len()
    }

    pub fn is_empty(&self) -> bool {
        self.is_head.is_empty()
    }

    pub fn order(&self) -> &[Node] {
        &self.order
    }

    pub fn is_head(&self, node: Node) -> bool {
        self.is_head[node]
    }

    /// Nodes that are computed from this one.
    pub fn successors(&self, node: Node) -> &[Node] {
        self.successors.of(node)
    }

    /// Whether nodes are computed in rounds, each in the order; otherwise the first that has to be computed is always
    /// the next.
    pub(crate) fn is_in_rounds(&self) -> bool {
        self.is_in_rounds
    }

    pub(crate) fn position(&self, node: Node) -> u32 {
        self.position[node]
    }

    pub(crate) fn at(&self, position: u32) -> Node {
        self.order[position as usize]
    }
}

/// Edges by their first node, in two arrays.
struct Successors {
    starts: Vec<u32>,
    targets: Vec<Node>,
}

impl Successors {
    fn new(nodes: usize, edges: &[(Node, Node)]) -> Successors {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in edges {
            starts[from.index() + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut targets = vec![Node(0); edges.len()];
        for &(from, to) in edges {
            let at = &mut next[from.index()];
            targets[*at as usize] = to;
            *at += 1;
        }
        Successors { starts, targets }
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, node: Node) -> &[Node] {
        let (start, end) = (self.starts[node.index()], self.starts[node.index() + 1]);
        &self.targets[start as usize..end as usize]
    }
}

/// What is left to be put in order.
enum Part {
    /// Any nodes.
    Nodes(Vec<Node>),
    /// A strongly connected component, its head first.
    Component(Vec<Node>),
}

fn weak_topological_order(successors: &Successors) -> (Vec<Node>, NodeVec<bool>) {
    let nodes = successors.nodes();
    let mut is_head = NodeVec::new(nodes, |_| false);
    let mut order = Vec::with_capacity(nodes);
    let mut finder = Finder::new(successors);
    let mut parts = vec![Part::Nodes((0..nodes as u32).map(Node).collect())];
    while let Some(part) = parts.pop() {
        match part {
            // They are found in reverse: the last one is to be the first to be taken.
            Part::Nodes(nodes) => parts.extend(finder.components(&nodes).into_iter().map(Part::Component)),
            Part::Component(component) => {
                let Some((&head, rest)) = component.split_first() else { continue };
                order.push(head);
                if !rest.is_empty() {
                    is_head[head] = true;
                    parts.push(Part::Nodes(rest.to_vec()));
                } else if successors.of(head).contains(&head) {
                    is_head[head] = true;
                }
            }
        }
    }
    (order, is_head)
}

/// Tarjan's algorithm on some of the nodes, without recursion.
struct Finder<'a> {
    successors: &'a Successors,
    /// By node: its number in the search that goes on, from 1; 0 for nodes that were not found; `DONE` for those that
    /// do not count.
    number: NodeVec<u32>,
    low: NodeVec<u32>,
}

const DONE: u32 = u32::MAX;

impl<'a> Finder<'a> {
    fn new(successors: &'a Successors) -> Finder<'a> {
        let nodes = successors.nodes();
        Finder { successors, number: NodeVec::new(nodes, |_| DONE), low: NodeVec::new(nodes, |_| 0) }
    }

    /// The strongly connected components, each with the node first that was found first; what a component leads to
    /// comes before it.
    fn components(&mut self, nodes: &[Node]) -> Vec<Vec<Node>> {
        for &node in nodes {
            self.number[node] = 0;
        }
        let (mut found, mut count, mut stack) = (Vec::new(), 0, Vec::new());
        for &root in nodes {
            if self.number[root] == 0 {
                self.search(root, &mut count, &mut stack, &mut found);
            }
        }
        found
    }

    fn search(&mut self, root: Node, count: &mut u32, stack: &mut Vec<Node>, found: &mut Vec<Vec<Node>>) {
        let mut open = vec![(root, 0)];
        self.enter(root, count, stack);
        while let Some((node, next)) = open.last_mut() {
            let node = *node;
            if let Some(&to) = self.successors.of(node).get(*next) {
                *next += 1;
                match self.number[to] {
                    DONE => {}
                    0 => {
                        self.enter(to, count, stack);
                        open.push((to, 0));
                    }
                    number => self.low[node] = self.low[node].min(number),
                }
                continue;
            }
            open.pop();
            if let Some(&(parent, _)) = open.last() {
                self.low[parent] = self.low[parent].min(self.low[node]);
            }
            if self.low[node] == self.number[node]
                && let Some(start) = stack.iter().rposition(|&other| other == node)
            {
                let component = stack.split_off(start);
                for &member in &component {
                    self.number[member] = DONE;
                }
                found.push(component);
            }
        }
    }

    fn enter(&mut self, node: Node, count: &mut u32, stack: &mut Vec<Node>) {
        *count += 1;
        (self.number[node], self.low[node]) = (*count, *count);
        stack.push(node);
    }
}
