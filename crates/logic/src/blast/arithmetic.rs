//! Arithmetic as circuits. Vectors are slices of wires, the lowest bit first.
//!
//! Adders ripple: a chain of majorities is what SAT solvers propagate best. Products with constants are sums and
//! differences of shifted copies, as few as possible. Division is the method of long division, whose behaviour when
//! dividing by zero is just what SMT-LIB asks for: every subtraction of 0 succeeds.

use super::circuit::{Circuit, Wire};

impl Circuit {
    /// `a + b + carry`, as wide as they are.
    pub fn sum(&mut self, a: &[Wire], b: &[Wire], mut carry: Wire) -> Vec<Wire> {
        let mut result = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let (bit, next) = self.full_adder(a, b, carry);
            result.push(bit);
            carry = next;
        }
        result
    }

    pub fn difference(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let inverted: Vec<Wire> = b.iter().map(|&wire| !wire).collect();
        self.sum(a, &inverted, Wire::TRUE)
    }

    /// The sum and the carry of three bits.
    fn full_adder(&mut self, a: Wire, b: Wire, c: Wire) -> (Wire, Wire) {
        let partial = self.xor(a, b);
        (self.xor(partial, c), self.majority(a, b, c))
    }

    pub fn choose(&mut self, condition: Wire, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        a.iter().zip(b).map(|(&a, &b)| self.choose_wire(condition, a, b)).collect()
    }

    pub fn equal(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let mut result = Wire::TRUE;
        for (&a, &b) in a.iter().zip(b) {
            let different = self.xor(a, b);
            result = self.and(result, !different);
        }
        result
    }

    /// Unsigned less than: the borrow of the difference.
    pub fn less(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        a.iter().zip(b).fold(Wire::FALSE, |borrow, (&a, &b)| self.majority(!a, b, borrow))
    }

    pub fn signed_less(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let top = a.len() - 1;
        let borrow = self.less(&a[..top], &b[..top]);
        self.majority(a[top], !b[top], borrow)
    }

    /// `factor · a`: sums and differences of shifted copies, one for each digit of the factor in the form without
    /// neighbouring digits (a run of ones is one subtraction).
    pub fn multiple(&mut self, factor: u128, a: &[Wire]) -> Vec<Wire> {
        let width = a.len();
        let mut result = vec![Wire::FALSE; width];
        let mut rest = factor;
        for shift in 0..width {
            if rest & 1 == 1 {
                let shifted = &a[..width - shift];
                let negative = rest & 2 == 2 && shift + 1 < width;
                let upper = result[shift..].to_vec();
                let upper =
                    if negative { self.difference(&upper, shifted) } else { self.sum(&upper, shifted, Wire::FALSE) };
                result[shift..].copy_from_slice(&upper);
                // A negative digit is made up for by one more of the next digit but one. Past the top it does not
                // matter.
                rest = if negative { rest.wrapping_add(1) } else { rest - 1 };
            }
            rest >>= 1;
        }
        result
    }

    /// `a · b`, as wide as they are: one row for each bit of the one with more known bits.
    pub fn product(&mut self, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let constants = |wires: &[Wire]| wires.iter().filter(|wire| wire.gate() == 0).count();
        let (a, b) = if constants(a) > constants(b) { (b, a) } else { (a, b) };
        let width = a.len();
        let mut result: Vec<Wire> = a.iter().map(|&bit| self.and(bit, b[0])).collect();
        for shift in 1..width {
            let row: Vec<Wire> = a[..width - shift].iter().map(|&bit| self.and(bit, b[shift])).collect();
            let upper = result[shift..].to_vec();
            let upper = self.sum(&upper, &row, Wire::FALSE);
            result[shift..].copy_from_slice(&upper);
        }
        result
    }

    /// Whether the unsigned product needs more bits. It does if two bits whose places add up to the width are set;
    /// otherwise it needs one bit more at most, and that one can be looked at (Schulte, Gok, Balzola and Brocato,
    /// 2000).
    pub fn product_overflows(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let far = self.places_meet(a, b, a.len());
        let (a, b) = ([a, &[Wire::FALSE]].concat(), [b, &[Wire::FALSE]].concat());
        let product = self.product(&a, &b);
        self.or(far, product[product.len() - 1])
    }

    /// The same for two's complement: bits that differ from the sign take the place of bits that are set, and the two
    /// highest bits of a product with one bit more have to be equal.
    pub fn signed_product_overflows(&mut self, a: &[Wire], b: &[Wire]) -> Wire {
        let top = a.len() - 1;
        let size_a: Vec<Wire> = a[..top].iter().map(|&bit| self.xor(bit, a[top])).collect();
        let size_b: Vec<Wire> = b[..top].iter().map(|&bit| self.xor(bit, b[top])).collect();
        let far = self.places_meet(&size_a, &size_b, top);
        let (a, b) = ([a, &[a[top]]].concat(), [b, &[b[top]]].concat());
        let product = self.product(&a, &b);
        let differ = self.xor(product[top + 1], product[top]);
        self.or(far, differ)
    }

    /// Whether some bit of `a` and some bit of `b`, at places that add up to `total` or more, are both set.
    fn places_meet(&mut self, a: &[Wire], b: &[Wire], total: usize) -> Wire {
        let mut above = Wire::FALSE;
        let mut result = Wire::FALSE;
        for place in (0..b.len()).rev() {
            above = self.or(above, b[place]);
            // Now `above` says whether `b` has a bit from `place` on.
            if let Some(&partner) = total.checked_sub(place).and_then(|partner| a.get(partner)) {
                let both = self.and(partner, above);
                result = self.or(result, both);
            }
        }
        result
    }

    /// Long division.
    pub fn quotient_and_remainder(&mut self, dividend: &[Wire], divisor: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
        let width = dividend.len();
        let wide_divisor = [divisor, &[Wire::FALSE]].concat();
        let mut quotient = vec![Wire::FALSE; width];
        let mut remainder = vec![Wire::FALSE; width];
        for place in (0..width).rev() {
            remainder.insert(0, dividend[place]);
            let too_small = self.less(&remainder, &wide_divisor);
            let reduced = self.difference(&remainder[..width], divisor);
            quotient[place] = !too_small;
            // What is left is smaller than the divisor, or a part of the dividend: one bit less is enough.
            remainder = self.choose(too_small, &remainder[..width], &reduced);
        }
        (quotient, remainder)
    }

    /// Shifts towards the lowest bit; `fill` comes in from above. One stage for each bit of the amount that makes a
    /// difference, and one for all others together.
    pub fn shift_right(&mut self, a: &[Wire], amount: &[Wire], fill: Wire) -> Vec<Wire> {
        let width = a.len();
        let stages = width.next_power_of_two().trailing_zeros() as usize;
        let mut result = a.to_vec();
        for (stage, &by) in amount[..stages].iter().enumerate() {
            let distance = 1usize << stage;
            let shifted: Vec<Wire> = (0..width).map(|place| *result.get(place + distance).unwrap_or(&fill)).collect();
            result = self.choose(by, &shifted, &result);
        }
        let far = self.any(amount[stages..].iter().copied());
        self.choose(far, &vec![fill; width], &result)
    }
}
