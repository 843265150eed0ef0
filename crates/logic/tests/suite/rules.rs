//! What simplification has to find: an engine's formulas rely on it.

use leno_logic::term::{Node, Sort, Term, Terms};

struct Fixture {
    terms: Terms,
    x: Term,
    y: Term,
    z: Term,
    p: Term,
    q: Term,
    r: Term,
}

fn fixture() -> Fixture {
    let mut terms = Terms::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| terms.variable(Sort::Bits(32), name));
    let [p, q, r] = ["p", "q", "r"].map(|name| terms.variable(Sort::Bool, name));
    Fixture { terms, x, y, z, p, q, r }
}

#[test]
fn sums_cancel() {
    let Fixture { mut terms, x, y, z, .. } = fixture();
    let one = terms.bits(32, 1);
    let more = terms.add(x, one);
    assert_eq!(terms.sub(more, one), x);
    let sum = terms.add(x, y);
    assert_eq!(terms.sub(sum, x), y);
    let (two, three) = (terms.bits(32, 2), terms.bits(32, 3));
    let (twice, thrice) = (terms.mul(x, two), terms.mul(x, three));
    assert_eq!(terms.add(twice, x), thrice);
    let (left, right) = (terms.add(sum, z), terms.add(y, z));
    assert_eq!(terms.add(x, right), left);
    let (complement, all_ones) = (terms.bvnot(x), terms.bits(32, u128::MAX));
    assert_eq!(terms.add(x, complement), all_ones);
    assert_eq!(terms.shl(x, one), twice);
}

#[test]
fn addresses_are_told_apart() {
    let Fixture { mut terms, x, y, .. } = fixture();
    let size = terms.bits(32, 12);
    let (one, four, eight) = (terms.bits(32, 1), terms.bits(32, 4), terms.bits(32, 8));
    let next = terms.add(y, one);
    let (offset, next_offset) = (terms.mul(y, size), terms.mul(next, size));
    let (element, next_element) = (terms.add(x, offset), terms.add(x, next_offset));
    let (field, other_field) = (terms.add(element, four), terms.add(element, eight));
    assert_eq!(terms.eq(field, other_field), Term::FALSE);
    assert_eq!(terms.eq(element, next_element), Term::FALSE);
    let last = terms.add(other_field, four);
    assert_eq!(terms.eq(last, next_element), Term::TRUE);
}

#[test]
fn long_sums_stay_short() {
    let mut terms = Terms::new();
    let variables: Vec<Term> = (0..2000).map(|_| terms.variable(Sort::Bits(16), "v")).collect();
    let mut sum = terms.bits(16, 1);
    for &variable in &variables {
        sum = terms.add(sum, variable);
    }
    assert!(terms.len() < 6 * variables.len(), "{} terms for 2000 additions", terms.len());
}

/// Graphs whose parts are shared have exponentially many paths, which no rule may follow all of.
#[test]
fn sharing_costs_nothing() {
    let mut terms = Terms::new();
    let mut value = terms.variable(Sort::Bits(16), "x");
    for _ in 0..200 {
        let [left, right] = ["a", "b"].map(|name| terms.variable(Sort::Bits(16), name));
        let (left, right) = (terms.bvor(value, left), terms.bvor(value, right));
        value = terms.bvor(left, right);
    }
    let before = terms.len();
    let zero = terms.bits(16, 0);
    terms.eq(value, zero);
    assert!(terms.len() < before + 500, "{} terms for one equation", terms.len() - before);
}

#[test]
fn guards_join() {
    let Fixture { mut terms, p, q, r, .. } = fixture();
    let not_q = terms.not(q);
    let (then, otherwise) = (terms.and2(p, q), terms.and2(p, not_q));
    assert_eq!(terms.or2(then, otherwise), p);
    assert_eq!(terms.and2(then, otherwise), Term::FALSE);
    let deep = terms.and2(then, r);
    assert_eq!(terms.and2(deep, p), deep);
    assert_eq!(terms.and2(deep, not_q), Term::FALSE);
    assert_eq!(terms.implies(deep, q), Term::TRUE);
    let broken = terms.not(then);
    assert_eq!(terms.and2(p, broken), otherwise);
}

#[test]
fn choices_collapse() {
    let Fixture { mut terms, x, y, z, p, q, .. } = fixture();
    let inner = terms.ite(p, x, y);
    let direct = terms.ite(p, x, z);
    assert_eq!(terms.ite(p, inner, z), direct);
    let (either, nested) = (terms.or2(p, q), terms.ite(q, x, y));
    let merged = terms.ite(either, x, y);
    assert_eq!(terms.ite(p, x, nested), merged);
    let (one, zero) = (terms.bits(32, 1), terms.bits(32, 0));
    let flag = terms.bool_to_bits(p, 32);
    assert_eq!(terms.bits_to_bool(flag), p);
    assert_eq!(terms.eq(flag, one), p);
    let raised = terms.add(flag, one);
    assert_eq!(terms.eq(raised, zero), Term::FALSE);
    let five = terms.bits(32, 5);
    let chain = terms.ite(q, five, raised);
    let two = terms.bits(32, 2);
    let found = terms.eq(chain, two);
    let not_q = terms.not(q);
    let expected = terms.and2(p, not_q);
    assert_eq!(found, expected);
}

#[test]
fn ranges_decide() {
    let Fixture { mut terms, x, y, .. } = fixture();
    let byte = terms.extract(x, 0, 8);
    let (byte, limit) = (terms.zero_extend(byte, 32), terms.bits(32, 256));
    assert_eq!(terms.ult(byte, limit), Term::TRUE);
    assert_eq!(terms.slt(byte, limit), Term::TRUE);
    let (mask, seven) = (terms.bits(32, 0xFF), terms.bits(32, 7));
    assert_eq!(terms.bvand(byte, mask), byte);
    let odd = terms.bits(32, 1);
    let odd = terms.bvor(y, odd);
    let eight = terms.bits(32, 8);
    assert_eq!(terms.eq(odd, eight), Term::FALSE);
    let rest = terms.urem(x, seven);
    assert_eq!(terms.ult(rest, eight), Term::TRUE);
    let (wide, far) = (terms.sign_extend(byte, 64), terms.bits(64, 1 << 40));
    assert_eq!(terms.slt(wide, far), Term::TRUE);
    let (wide, negative) = (terms.sign_extend(x, 64), terms.bits(64, u128::MAX << 40));
    assert_eq!(terms.slt(wide, negative), Term::FALSE);
}

#[test]
fn pieces_fit_together() {
    let Fixture { mut terms, x, .. } = fixture();
    let bytes: Vec<Term> = (0..4).map(|n| terms.extract(x, n * 8, 8)).collect();
    let low = terms.concat(bytes[1], bytes[0]);
    let high = terms.concat(bytes[3], bytes[2]);
    assert_eq!(terms.concat(high, low), x);
    let (zero, eight) = (terms.bits(32, 0), terms.bits(32, 8));
    let shifted = terms.lshr(x, eight);
    assert_eq!(terms.extract(shifted, 0, 8), bytes[1]);
    let up = terms.shl(x, eight);
    assert_eq!(terms.extract(up, 8, 8), bytes[0]);
    let (wide, narrow) = (terms.zero_extend(bytes[0], 32), terms.bits(8, 0));
    let (small, large) = (terms.eq(bytes[0], narrow), terms.eq(wide, zero));
    assert_eq!(small, large);
    let (one_wide, one) = (terms.bits(32, 1), terms.bits(8, 1));
    let raised = terms.add(wide, one_wide);
    let expected = terms.add(bytes[0], one);
    assert_eq!(terms.extract(raised, 0, 8), expected);
}

#[test]
fn equal_terms_are_one() {
    let Fixture { mut terms, x, y, p, q, .. } = fixture();
    assert_eq!(terms.add(x, y), terms.clone().add(y, x));
    let (xy, yx) = (terms.mul(x, y), terms.mul(y, x));
    assert_eq!(xy, yx);
    let (pq, qp) = (terms.and2(p, q), terms.and2(q, p));
    assert_eq!(pq, qp);
    let (xy, yx) = (terms.eq(x, y), terms.eq(y, x));
    assert_eq!(xy, yx);
    let (left, right) = (terms.sub(x, y), terms.bits(32, 0));
    assert_eq!(terms.eq(left, right), xy);
    assert!(matches!(terms.node(xy), Node::Eq(..)));
}
