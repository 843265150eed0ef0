//! Abstract domains of machine integers, and the fixpoint that all analyses use.
//!
//! A [`Domain`] is a lattice with widening; [`Numbers`] are domains of machine integers, where wrapping around is
//! part of the meaning. [`Interval`], [`Congruence`] and [`KnownBits`] each see something else of a number, and
//! [`Product`] all of it; an [`Octagon`] relates variables to each other. A [`System`] of equations over the nodes of a [`Graph`] has a solution by [`solve`],
//! whatever the domain. This crate knows neither programs nor terms, and depends on nothing.
//!
//! ```
//! use leno_domains::{Binary, Domain, Graph, Node, NodeVec, Numbers, Predicate, Product, Strategy, System, solve};
//!
//! /// for (i = 0; i < 30; i += 3) ...
//! struct Loop;
//!
//! const HEAD: Node = Node(0);
//! const BODY: Node = Node(1);
//! const EXIT: Node = Node(2);
//!
//! impl System for Loop {
//!     type Value = Product;
//!
//!     fn space(&self, _: Node) -> u32 {
//!         32
//!     }
//!
//!     fn evaluate(&mut self, node: Node, values: &NodeVec<Product>) -> Product {
//!         let number = |value| Product::constant(32, value);
//!         let under = |holds| Product::assume(Predicate::SLt, holds, 32, &values[HEAD], &number(30)).0;
//!         match node {
//!             HEAD => number(0).join(&Product::binary(Binary::Add, 32, &values[BODY], &number(3))),
//!             BODY => under(true),
//!             _ => under(false),
//!         }
//!     }
//! }
//!
//! let graph = Graph::new(3, &[(HEAD, BODY), (BODY, HEAD), (HEAD, EXIT)]);
//! let values = solve(&graph, &mut Loop, &Strategy::default()).unwrap();
//! assert_eq!(values[EXIT], Product::constant(32, 30));
//! ```

pub mod congruence;
pub mod domain;
pub mod fixpoint;
pub mod graph;
pub mod interval;
pub mod known_bits;
pub mod octagon;
pub mod operator;
pub mod product;
mod range;
pub mod word;

pub use congruence::Congruence;
pub use domain::{Domain, Numbers, Thresholds, Truth};
pub use fixpoint::{Stopped, Strategy, System, solve, solve_from};
pub use graph::{Graph, Node, NodeVec};
pub use interval::Interval;
pub use known_bits::KnownBits;
pub use octagon::{Constraint, Octagon, Side};
pub use operator::{Binary, Predicate, Unary};
pub use product::Product;
