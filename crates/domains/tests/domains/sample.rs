//! Random numbers, and random elements of each domain.

use leno_domains::word::{mask, sign_bit, signed};
use leno_domains::{Congruence, Domain, Interval, KnownBits, Numbers, Product};

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        random.next();
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Numbers near the ends of things, small ones, and others.
    pub fn number(&mut self, width: u32) -> u128 {
        let any = u128::from(self.next()) << 64 | u128::from(self.next());
        let near = any % 5;
        let value = match self.below(8) {
            0 => near,
            1 => near.wrapping_neg(),
            2 => sign_bit(width).wrapping_add(near),
            3 => sign_bit(width).wrapping_sub(near),
            4 => (1u128 << self.below(width as usize)).wrapping_add(near).wrapping_sub(2),
            5 => any % 100,
            6 => (any % 100).wrapping_neg(),
            _ => any,
        };
        value & mask(width)
    }
}

/// Domains of which there are random elements around a number.
pub trait Sample: Numbers {
    fn around(random: &mut Random, width: u32, member: u128) -> Self;

    /// All elements on 4 bits, or many of them.
    fn small() -> Vec<Self>;
}

impl Sample for Interval {
    fn around(random: &mut Random, width: u32, member: u128) -> Interval {
        let exactly = Interval::constant(width, member);
        let mut reach = || if random.chance(70) { random.number(8) } else { random.number(width) };
        let (down, up) = (reach(), reach());
        let arc = Interval::arc(width, member.wrapping_sub(down) & mask(width), member.wrapping_add(up) & mask(width));
        let others = Interval::constant(width, random.number(width));
        match random.below(4) {
            0 => exactly,
            1 => exactly.join(&others),
            2 => exactly.join(&arc),
            _ => exactly.join(&arc).join(&others),
        }
    }

    fn small() -> Vec<Interval> {
        let half = |first: u128| {
            let ranges = (first..first + 8).flat_map(move |low| (low..first + 8).map(move |high| (low, high)));
            let mut all: Vec<Interval> = ranges.map(|(low, high)| Interval::unsigned(4, low, high)).collect();
            all.push(Interval::EMPTY);
            all
        };
        let negative = half(8);
        half(0).iter().flat_map(|plus| negative.iter().map(move |minus| plus.join(minus))).collect()
    }
}

impl Sample for KnownBits {
    fn around(random: &mut Random, width: u32, member: u128) -> KnownBits {
        let known = random.number(width) | if random.chance(50) { random.number(width) } else { 0 };
        KnownBits { zeros: !member & known, ones: member & known }
    }

    fn small() -> Vec<KnownBits> {
        let pairs = (0..16).flat_map(|zeros| (0..16).map(move |ones| KnownBits { zeros, ones }));
        pairs.filter(|bits| !bits.is_bottom()).chain([KnownBits::EMPTY]).collect()
    }
}

impl Sample for Congruence {
    fn around(random: &mut Random, width: u32, member: u128) -> Congruence {
        let modulus = match random.below(4) {
            0 => 0,
            1 => 1 << random.below(width as usize),
            2 => 1 + random.number(5),
            _ => random.number(width),
        };
        // (Through a meet, so that it is written in the one way for this width.)
        Congruence::ANY.meet(&Congruence::class(modulus, signed(width, member)), &width)
    }

    fn small() -> Vec<Congruence> {
        let constants = (0..16).map(|value| Congruence::constant(4, value));
        let mut all: Vec<Congruence> = constants.chain([Congruence::Empty]).collect();
        for modulus in 1..16 {
            for residue in 0..modulus {
                let class = Congruence::ANY.meet(&Congruence::class(modulus as u128, residue), &4);
                if !all.contains(&class) {
                    all.push(class);
                }
            }
        }
        all
    }
}

impl Sample for Product {
    fn around(random: &mut Random, width: u32, member: u128) -> Product {
        let interval = Interval::around(random, width, member);
        let congruence = Congruence::around(random, width, member);
        let bits = KnownBits::around(random, width, member);
        match random.below(6) {
            0 => Product::new(width, interval, Congruence::ANY, KnownBits::ANY),
            1 => Product::new(width, interval, congruence, KnownBits::ANY),
            2 => Product::new(width, interval, Congruence::ANY, bits),
            3 => Product::new(width, Interval::full(width), Congruence::ANY, bits),
            _ => Product::new(width, interval, congruence, bits),
        }
    }

    fn small() -> Vec<Product> {
        let mut random = Random::new(7);
        let mut all = vec![Product::EMPTY, Product::top(&4)];
        for _ in 0..600 {
            let member = random.number(4);
            let element = Product::around(&mut random, 4, member);
            if !all.contains(&element) {
                all.push(element);
            }
        }
        all
    }
}
