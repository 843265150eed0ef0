//! Random formulas as plain graphs, which nothing simplifies: made, evaluated and printed by this file alone, and
//! handed to `Terms` operation by operation.

use leno_logic::term::{Sort, Term, Terms};
pub use leno_testing::Random;
use std::fmt::Write;

/// What formulas are made of.
pub trait Pieces {
    /// Constants that rules care about, and others.
    fn constant(&mut self, width: u32) -> u128;

    fn width(&mut self) -> u32;
}

impl Pieces for Random {
    fn constant(&mut self, width: u32) -> u128 {
        let any = u128::from(self.bits()) << 64 | u128::from(self.bits());
        let sign = 1u128 << (width - 1);
        let value = match self.below(10) {
            0 => 0,
            1 => 1,
            2 => u128::MAX,
            3 => sign,
            4 => sign - 1,
            5 => 1 << self.below(width as usize),
            6 => (1u128 << self.below(width as usize)).wrapping_sub(1),
            7 => any % 7,
            8 => u128::from(width).wrapping_add(any % 3).wrapping_sub(1),
            _ => any,
        };
        value & mask(width)
    }

    fn width(&mut self) -> u32 {
        match self.below(12) {
            0 => 1,
            1..=3 => 8,
            4 | 5 => 16,
            6 | 7 => 32,
            8 => 64,
            9 => 2 + self.below(6) as u32,
            10 => 1 + self.below(128) as u32,
            _ => self.pick(&[3, 4, 127, 128, 65, 33]),
        }
    }
}

pub fn mask(width: u32) -> u128 {
    if width == 128 { u128::MAX } else { (1 << width) - 1 }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Variable,
    Constant(u128),
    Not,
    And,
    Or,
    Xor,
    Implies,
    Iff,
    Ite,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    UaddOverflow,
    SaddOverflow,
    UsubOverflow,
    SsubOverflow,
    UmulOverflow,
    SmulOverflow,
    SnegOverflow,
    SdivOverflow,
    BitsToBool,
    BoolToBits,
    Neg,
    BvNot,
    BvAnd,
    BvOr,
    BvXor,
    Add,
    Sub,
    Mul,
    Udiv,
    Urem,
    Sdiv,
    Srem,
    Shl,
    Lshr,
    Ashr,
    Concat,
    Extract(u32),
    ZeroExtend,
    SignExtend,
}

use Op::*;

const CONNECTIVES: &[Op] = &[Not, And, Or, Xor, Implies, Iff, Ite, Ite, And, Or];
const PREDICATES: &[Op] = &[
    Eq,
    Eq,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    UaddOverflow,
    SaddOverflow,
    UsubOverflow,
    SsubOverflow,
    UmulOverflow,
    SmulOverflow,
    SnegOverflow,
    SdivOverflow,
    BitsToBool,
];
const FUNCTIONS: &[Op] = &[
    Neg, BvNot, BvAnd, BvOr, BvXor, Add, Add, Add, Sub, Sub, Mul, Mul, Udiv, Urem, Sdiv, Srem, Shl, Lshr, Ashr, Concat,
    Concat, Ite, Ite, Ite,
];
const SUMS: &[Op] = &[Neg, BvNot, Add, Add, Add, Sub, Sub, Mul, Ite, Shl];
const MASKS: &[Op] = &[BvAnd, BvAnd, BvOr, BvXor, BvNot, Concat, Concat, Concat, Shl, Lshr, Ashr, Ite];
const RESIZES: &[Op] = &[Extract(0), Extract(0), ZeroExtend, SignExtend, BoolToBits];
/// What is hard to solve when the operands are wide and neither is a constant.
const HARD: &[Op] = &[Mul, Udiv, Urem, Sdiv, Srem, UmulOverflow, SmulOverflow];

#[derive(Clone, Debug)]
pub struct PlainNode {
    pub op: Op,
    pub arguments: Vec<usize>,
    /// 0 for Booleans.
    pub width: u32,
}

/// A formula: nodes, of which later ones refer to earlier ones. The last one is the Boolean that is asked about.
#[derive(Clone, Default, Debug)]
pub struct Plain {
    pub nodes: Vec<PlainNode>,
    /// The widest operands of hard operations, if neither is a constant.
    widest_hard: u32,
    widest_division: u32,
    variables: usize,
    taste: Taste,
}

/// What a formula is mostly made of, so that all rules meet what they are about.
#[derive(Clone, Copy, Default, Debug)]
enum Taste {
    #[default]
    Mixed,
    /// Connectives and choices over a few Booleans.
    Logic,
    /// Sums, differences and multiples of a few vectors.
    Sums,
    /// Concatenations, extracts, extensions and masks.
    Slices,
}

impl Plain {
    /// Anything at all, for evaluation.
    pub fn any(random: &mut Random, size: usize) -> Plain {
        let plain = Plain { widest_hard: 128, widest_division: 128, ..Plain::default() };
        plain.fill(random, size)
    }

    /// Something that SAT solvers decide quickly.
    pub fn solvable(random: &mut Random, size: usize) -> Plain {
        let plain = Plain { widest_hard: 9, widest_division: 16, ..Plain::default() };
        plain.fill(random, size)
    }

    /// Sums that grow beyond what is put into normal form.
    pub fn long_sums(random: &mut Random) -> Plain {
        let mut plain = Plain::default();
        let width = random.width();
        for _ in 0..20 {
            plain.variable(width);
        }
        let mut newest = 0;
        while plain.nodes.len() < 100 {
            let op = if random.chance(80) { random.pick(&[Add, Sub]) } else { random.pick(&[BvNot, Neg, Mul]) };
            let start = if random.chance(90) { newest } else { random.below(plain.nodes.len()) };
            let other = if random.chance(25) { plain.constant(random, width) } else { random.below(plain.nodes.len()) };
            let arguments = match op {
                BvNot | Neg => vec![start],
                Mul => vec![start, plain.constant(random, width)],
                _ => vec![start, other],
            };
            newest = plain.push(op, arguments, width);
        }
        for _ in 0..10 {
            let arguments = vec![random.below(100), 20 + random.below(80)];
            plain.push(Eq, arguments, 0);
        }
        plain
    }

    fn fill(mut self, random: &mut Random, size: usize) -> Plain {
        self.taste = random.pick(&[Taste::Mixed, Taste::Mixed, Taste::Logic, Taste::Sums, Taste::Slices]);
        for _ in 0..1 + random.below(3) {
            let width = random.width();
            self.variable(width);
        }
        let booleans = if matches!(self.taste, Taste::Logic) { 2 + random.below(2) } else { 1 };
        for _ in 0..booleans {
            self.variable(0);
        }
        while self.nodes.len() < size {
            match (self.taste, random.below(10)) {
                (Taste::Logic, 0..=5) | (_, 9) => self.connective(random),
                (Taste::Slices, 0..=4) | (_, 5 | 6) => self.resize(random),
                (_, 7 | 8) => self.predicate(random),
                _ => self.function(random),
            };
        }
        for _ in 0..4 {
            self.predicate(random);
        }
        self.conclude(random);
        self
    }

    /// The conjunction of some Booleans that are neither true nor false under all of a few assignments, rather with the
    /// value that they have less often: so it is seldom clear at once whether there is a model.
    fn conclude(&mut self, random: &mut Random) {
        const TRIALS: usize = 24;
        let mut times_true = vec![0; self.nodes.len()];
        for _ in 0..TRIALS {
            let inputs: Vec<u128> = self.nodes.iter().map(|node| random.constant(node.width.max(1))).collect();
            for (count, value) in times_true.iter_mut().zip(self.evaluate(|number| inputs[number])) {
                *count += usize::from(value == 1);
            }
        }
        let open = |&number: &usize| self.nodes[number].width == 0 && (1..TRIALS).contains(&times_true[number]);
        let lively: Vec<usize> = (0..self.nodes.len()).filter(open).collect();
        let mut root = self.predicate(random);
        for round in 0..2 + random.below(5) {
            if lively.is_empty() {
                break;
            }
            let chosen = random.pick(&lively);
            let mostly_true = times_true[chosen] * 2 > TRIALS;
            let part = if mostly_true == random.chance(70) { self.push(Not, vec![chosen], 0) } else { chosen };
            let op = if random.chance(85) { And } else { Or };
            root = if round == 0 { self.push(Or, vec![part, part], 0) } else { self.push(op, vec![root, part], 0) };
        }
    }

    fn push(&mut self, op: Op, arguments: Vec<usize>, width: u32) -> usize {
        self.nodes.push(PlainNode { op, arguments, width });
        self.nodes.len() - 1
    }

    fn variable(&mut self, width: u32) -> usize {
        self.variables += 1;
        self.push(Variable, vec![], width)
    }

    fn constant(&mut self, random: &mut Random, width: u32) -> usize {
        let value = random.constant(width);
        self.push(Constant(value), vec![], width)
    }

    /// A node of this width, newer ones rather than older ones.
    fn pick(&mut self, random: &mut Random, width: u32) -> usize {
        if width > 0 && random.chance(14) {
            return self.constant(random, width);
        }
        if width > 0 && matches!(self.taste, Taste::Sums) && self.variables < 24 && random.chance(15) {
            return self.variable(width);
        }
        let matching: Vec<usize> = (0..self.nodes.len()).filter(|&n| self.nodes[n].width == width).collect();
        if matching.is_empty() {
            return if self.variables < 5 { self.variable(width) } else { self.constant(random, width) };
        }
        let newer = matching.len().saturating_sub(8);
        if random.chance(60) { matching[newer + random.below(matching.len() - newer)] } else { random.pick(&matching) }
    }

    /// A width that is in use.
    fn used_width(&self, random: &mut Random) -> u32 {
        let widths: Vec<u32> = self.nodes.iter().map(|node| node.width).filter(|&width| width > 0).collect();
        random.pick(&widths)
    }

    fn connective(&mut self, random: &mut Random) -> usize {
        let op = random.pick(CONNECTIVES);
        let count = [2, 1, 3][usize::from(op == Not) + 2 * usize::from(op == Ite)];
        let arguments = (0..count).map(|_| self.pick(random, 0)).collect();
        self.push(op, arguments, 0)
    }

    fn predicate(&mut self, random: &mut Random) -> usize {
        let op = random.pick(PREDICATES);
        let width = self.used_width(random);
        let count = if matches!(op, SnegOverflow | BitsToBool) { 1 } else { 2 };
        let arguments = self.operands(random, op, width, count);
        self.push(op, arguments, 0)
    }

    fn function(&mut self, random: &mut Random) -> usize {
        let op = match self.taste {
            Taste::Sums => random.pick(SUMS),
            Taste::Slices => random.pick(MASKS),
            Taste::Logic if random.chance(60) => Ite,
            Taste::Logic | Taste::Mixed => random.pick(FUNCTIONS),
        };
        let width = self.used_width(random);
        match op {
            Ite => {
                // The same conditions again and again, so that choices by them meet.
                let variables =
                    (0..self.nodes.len()).filter(|&n| self.nodes[n].op == Variable && self.nodes[n].width == 0);
                let variables: Vec<usize> = variables.collect();
                let condition = if random.chance(60) { random.pick(&variables) } else { self.pick(random, 0) };
                let arguments = vec![condition, self.pick(random, width), self.pick(random, width)];
                self.push(op, arguments, width)
            }
            Concat if width < 128 => {
                let mut other = self.used_width(random);
                if width + other > 128 {
                    other = 1 + random.below(128 - width as usize) as u32;
                }
                let arguments = vec![self.pick(random, width), self.pick(random, other)];
                self.push(op, arguments, width + other)
            }
            Concat => self.pick(random, width),
            Neg | BvNot => {
                let argument = self.pick(random, width);
                self.push(op, vec![argument], width)
            }
            _ => {
                let arguments = self.operands(random, op, width, 2);
                self.push(op, arguments, width)
            }
        }
    }

    fn operands(&mut self, random: &mut Random, op: Op, width: u32, count: usize) -> Vec<usize> {
        let mut arguments: Vec<usize> = (0..count).map(|_| self.pick(random, width)).collect();
        let division = matches!(op, Udiv | Urem | Sdiv | Srem);
        if HARD.contains(&op) && (width > self.widest_hard || division && width > self.widest_division) {
            arguments[1] = self.constant(random, width);
            if division && width > self.widest_division {
                let power = 1u128 << random.below(width as usize);
                arguments[1] = self.push(Constant(power), vec![], width);
            }
        }
        arguments
    }

    fn resize(&mut self, random: &mut Random) -> usize {
        let width = self.used_width(random);
        let other = random.width();
        match random.pick(RESIZES) {
            Extract(_) => {
                let argument = self.pick(random, width);
                // Halves and quarters, so that pieces fit together; or anything.
                let piece = width / random.pick(&[2, 4, 4]);
                let (size, low) = if piece > 0 && random.chance(60) {
                    let first = random.below((width / piece) as usize) as u32;
                    (piece, first * piece)
                } else {
                    let size = 1 + random.below(width as usize) as u32;
                    (size, random.below((width - size) as usize + 1) as u32)
                };
                self.push(Extract(low), vec![argument], size)
            }
            BoolToBits => {
                let argument = self.pick(random, 0);
                self.push(BoolToBits, vec![argument], width)
            }
            op => {
                let argument = self.pick(random, width.min(other));
                self.push(op, vec![argument], width.max(other))
            }
        }
    }

    /// The terms of all nodes.
    pub fn build(&self, terms: &mut Terms) -> Vec<Term> {
        let mut built: Vec<Term> = Vec::with_capacity(self.nodes.len());
        for (number, node) in self.nodes.iter().enumerate() {
            let a = |n: usize| built[node.arguments[n]];
            let term = match node.op {
                Variable if node.width == 0 => terms.variable(Sort::Bool, format!("n{number}")),
                Variable => terms.variable(Sort::Bits(node.width), format!("n{number}")),
                Constant(value) => terms.bits(node.width, value),
                Not => terms.not(a(0)),
                And => terms.and(&[a(0), a(1)]),
                Or => terms.or(&[a(0), a(1)]),
                Xor => terms.xor(a(0), a(1)),
                Implies => terms.implies(a(0), a(1)),
                Iff => terms.iff(a(0), a(1)),
                Ite => terms.ite(a(0), a(1), a(2)),
                Eq => terms.eq(a(0), a(1)),
                Ult => terms.ult(a(0), a(1)),
                Ule => terms.ule(a(0), a(1)),
                Slt => terms.slt(a(0), a(1)),
                Sle => terms.sle(a(0), a(1)),
                UaddOverflow => terms.uadd_overflow(a(0), a(1)),
                SaddOverflow => terms.sadd_overflow(a(0), a(1)),
                UsubOverflow => terms.usub_overflow(a(0), a(1)),
                SsubOverflow => terms.ssub_overflow(a(0), a(1)),
                UmulOverflow => terms.umul_overflow(a(0), a(1)),
                SmulOverflow => terms.smul_overflow(a(0), a(1)),
                SnegOverflow => terms.sneg_overflow(a(0)),
                SdivOverflow => terms.sdiv_overflow(a(0), a(1)),
                BitsToBool => terms.bits_to_bool(a(0)),
                BoolToBits => terms.bool_to_bits(a(0), node.width),
                Neg => terms.neg(a(0)),
                BvNot => terms.bvnot(a(0)),
                BvAnd => terms.bvand(a(0), a(1)),
                BvOr => terms.bvor(a(0), a(1)),
                BvXor => terms.bvxor(a(0), a(1)),
                Add => terms.add(a(0), a(1)),
                Sub => terms.sub(a(0), a(1)),
                Mul => terms.mul(a(0), a(1)),
                Udiv => terms.udiv(a(0), a(1)),
                Urem => terms.urem(a(0), a(1)),
                Sdiv => terms.sdiv(a(0), a(1)),
                Srem => terms.srem(a(0), a(1)),
                Shl => terms.shl(a(0), a(1)),
                Lshr => terms.lshr(a(0), a(1)),
                Ashr => terms.ashr(a(0), a(1)),
                Concat => terms.concat(a(0), a(1)),
                Extract(low) => terms.extract(a(0), low, node.width),
                ZeroExtend => terms.zero_extend(a(0), node.width),
                SignExtend => terms.sign_extend(a(0), node.width),
            };
            built.push(term);
        }
        built
    }

    /// The values of all nodes, where `variable` says those of the variables.
    pub fn evaluate(&self, mut variable: impl FnMut(usize) -> u128) -> Vec<u128> {
        let mut values: Vec<u128> = Vec::with_capacity(self.nodes.len());
        for (number, node) in self.nodes.iter().enumerate() {
            let value = match node.op {
                Variable => variable(number),
                _ => {
                    let arguments: Vec<u128> = node.arguments.iter().map(|&n| values[n]).collect();
                    let widths: Vec<u32> = node.arguments.iter().map(|&n| self.nodes[n].width).collect();
                    apply(node.op, &arguments, &widths)
                }
            };
            values.push(value & if node.width == 0 { 1 } else { mask(node.width) });
        }
        values
    }

    /// The formula in SMT-LIB, with every node defined by itself.
    pub fn to_smtlib(&self) -> String {
        let mut text = String::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let sort = if node.width == 0 { "Bool".to_string() } else { format!("(_ BitVec {})", node.width) };
            match node.op {
                Variable => writeln!(text, "(declare-const n{number} {sort})").unwrap(),
                _ => {
                    writeln!(text, "(define-fun n{number} () {sort} {})", self.expression(node)).unwrap();
                }
            }
        }
        writeln!(text, "(assert n{})", self.nodes.len() - 1).unwrap();
        text
    }

    fn expression(&self, node: &PlainNode) -> String {
        let names: Vec<String> = node.arguments.iter().map(|n| format!("n{n}")).collect();
        let width = node.width;
        let from = node.arguments.first().map_or(0, |&n| self.nodes[n].width);
        let simple = |name: &str| format!("({name} {})", names.join(" "));
        match node.op {
            Variable => unreachable!("variables are declared"),
            Constant(value) => bits(width, value),
            Not => simple("not"),
            And => simple("and"),
            Or => simple("or"),
            Xor => simple("xor"),
            Implies => simple("=>"),
            Iff | Eq => simple("="),
            Ite => simple("ite"),
            Ult => simple("bvult"),
            Ule => simple("bvule"),
            Slt => simple("bvslt"),
            Sle => simple("bvsle"),
            UaddOverflow => overflow("bvadd", false, 1, from, &names),
            SaddOverflow => overflow("bvadd", true, 1, from, &names),
            UsubOverflow => overflow("bvsub", false, 1, from, &names),
            SsubOverflow => overflow("bvsub", true, 1, from, &names),
            UmulOverflow => overflow("bvmul", false, from, from, &names),
            SmulOverflow => overflow("bvmul", true, from, from, &names),
            SnegOverflow => format!("(= {} {})", names[0], bits(from, 1 << (from - 1))),
            SdivOverflow => {
                let least = bits(from, 1 << (from - 1));
                format!("(and (= {} {least}) (= {} {}))", names[0], names[1], bits(from, mask(from)))
            }
            BitsToBool => format!("(not (= {} {}))", names[0], bits(from, 0)),
            BoolToBits => format!("(ite {} {} {})", names[0], bits(width, 1), bits(width, 0)),
            Neg => simple("bvneg"),
            BvNot => simple("bvnot"),
            BvAnd => simple("bvand"),
            BvOr => simple("bvor"),
            BvXor => simple("bvxor"),
            Add => simple("bvadd"),
            Sub => simple("bvsub"),
            Mul => simple("bvmul"),
            Udiv => simple("bvudiv"),
            Urem => simple("bvurem"),
            Sdiv => simple("bvsdiv"),
            Srem => simple("bvsrem"),
            Shl => simple("bvshl"),
            Lshr => simple("bvlshr"),
            Ashr => simple("bvashr"),
            Concat => simple("concat"),
            Extract(low) => format!("((_ extract {} {low}) {})", low + width - 1, names[0]),
            ZeroExtend => format!("((_ zero_extend {}) {})", width - from, names[0]),
            SignExtend => format!("((_ sign_extend {}) {})", width - from, names[0]),
        }
    }
}

fn bits(width: u32, value: u128) -> String {
    format!("(_ bv{value} {width})")
}

/// The operation with more bits differs from the operation, extended.
fn overflow(operation: &str, signed: bool, more: u32, width: u32, names: &[String]) -> String {
    let extend = if signed { "sign_extend" } else { "zero_extend" };
    let wide = |text: &str| format!("((_ {extend} {more}) {text})");
    let (a, b) = (&names[0], &names[1]);
    let narrow = format!("({operation} {a} {b})");
    let _ = width;
    format!("(not (= ({operation} {} {}) {}))", wide(a), wide(b), wide(&narrow))
}

fn signed(width: u32, value: u128) -> i128 {
    if width < 128 && value >> (width - 1) == 1 { (value | !mask(width)) as i128 } else { value as i128 }
}

fn fits(width: u32, value: Option<i128>) -> bool {
    let Some(value) = value else { return false };
    let most = (mask(width) >> 1) as i128;
    (-most - 1..=most).contains(&value)
}

fn apply(op: Op, arguments: &[u128], widths: &[u32]) -> u128 {
    let a = arguments.first().copied().unwrap_or(0);
    let b = arguments.get(1).copied().unwrap_or(0);
    let width = widths.first().copied().unwrap_or(0).max(1);
    let (x, y) = (signed(width, a), signed(width, b));
    let far = b >= u128::from(width);
    match op {
        Variable => 0,
        Constant(value) => value,
        Not => u128::from(a == 0),
        And | BvAnd => a & b,
        Or | BvOr => a | b,
        Xor | BvXor => a ^ b,
        Implies => u128::from(a == 0 || b != 0),
        Iff | Eq => u128::from(a == b),
        Ite => arguments[if a == 1 { 1 } else { 2 }],
        Ult => u128::from(a < b),
        Ule => u128::from(a <= b),
        Slt => u128::from(x < y),
        Sle => u128::from(x <= y),
        UaddOverflow => u128::from(a > mask(width) - b),
        SaddOverflow => u128::from(!fits(width, x.checked_add(y))),
        UsubOverflow => u128::from(a < b),
        SsubOverflow => u128::from(!fits(width, x.checked_sub(y))),
        UmulOverflow => u128::from(a.checked_mul(b).is_none_or(|product| product > mask(width))),
        SmulOverflow => u128::from(!fits(width, x.checked_mul(y))),
        SnegOverflow => u128::from(!fits(width, x.checked_neg())),
        SdivOverflow => u128::from(y != 0 && !fits(width, x.checked_div(y))),
        BitsToBool => u128::from(a != 0),
        BoolToBits | ZeroExtend => a,
        Neg => a.wrapping_neg(),
        BvNot => !a,
        Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Mul => a.wrapping_mul(b),
        Udiv => a.checked_div(b).unwrap_or(u128::MAX),
        Urem => a.checked_rem(b).unwrap_or(a),
        Sdiv if b == 0 => {
            if x < 0 {
                1
            } else {
                u128::MAX
            }
        }
        Sdiv => x.wrapping_div(y) as u128,
        Srem if b == 0 => a,
        Srem => x.wrapping_rem(y) as u128,
        Shl => {
            if far {
                0
            } else {
                a << b
            }
        }
        Lshr => {
            if far {
                0
            } else {
                a >> b
            }
        }
        Ashr => (x >> if far { width - 1 } else { b as u32 }) as u128,
        Concat => a << widths[1] | b,
        Extract(low) => a >> low,
        SignExtend => x as u128,
    }
}
