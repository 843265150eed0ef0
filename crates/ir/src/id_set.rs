//! Sets of ids as sparse bit vectors.
//!
//! Points-to analysis unites such sets millions of times. Most are small, some hold thousands, and ids that were
//! made together stay together; so a set is a sorted list of those 64-bit words that are not zero.

use std::fmt;
use std::marker::PhantomData;

use crate::index::Idx;

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdSet<I> {
    /// Number of the word, and its bits. Ascending; no word is zero.
    words: Vec<(u32, u64)>,
    marker: PhantomData<fn(I)>,
}

impl<I: Idx> IdSet<I> {
    pub const fn new() -> Self {
        IdSet { words: Vec::new(), marker: PhantomData }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|(_, bits)| bits.count_ones() as usize).sum()
    }

    /// Whether it was not there before.
    pub fn insert(&mut self, id: I) -> bool {
        let (number, bit) = place(id);
        match self.words.binary_search_by_key(&number, |word| word.0) {
            Ok(at) => {
                let bits = &mut self.words[at].1;
                let is_new = *bits & bit == 0;
                *bits |= bit;
                is_new
            }
            Err(at) => {
                self.words.insert(at, (number, bit));
                true
            }
        }
    }

    pub fn contains(&self, id: I) -> bool {
        let (number, bit) = place(id);
        let found = self.words.binary_search_by_key(&number, |word| word.0);
        found.is_ok_and(|at| self.words[at].1 & bit != 0)
    }

    /// Whether something was added.
    pub fn union_with(&mut self, other: &IdSet<I>) -> bool {
        let mut changed = false;
        let mut at = 0;
        for (position, &(number, bits)) in other.words.iter().enumerate() {
            while at < self.words.len() && self.words[at].0 < number {
                at += 1;
            }
            match self.words.get_mut(at) {
                Some(word) if word.0 == number => {
                    changed |= bits & !word.1 != 0;
                    word.1 |= bits;
                }
                // The common case, that there is room for all, is over.
                _ => {
                    self.merge_from(at, &other.words[position..]);
                    return true;
                }
            }
        }
        changed
    }

    /// Merges `others` with the words from `at` on.
    fn merge_from(&mut self, at: usize, others: &[(u32, u64)]) {
        let mine = self.words.split_off(at);
        self.words.reserve(mine.len() + others.len());
        let (mut left, mut right) = (mine.into_iter().peekable(), others.iter().copied().peekable());
        while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
            let (number, mut bits) = (l.0.min(r.0), 0);
            bits |= left.next_if(|word| word.0 == number).map_or(0, |word| word.1);
            bits |= right.next_if(|word| word.0 == number).map_or(0, |word| word.1);
            self.words.push((number, bits));
        }
        self.words.extend(left);
        self.words.extend(right);
    }

    /// What is in this set but not in `other`.
    pub fn difference(&self, other: &IdSet<I>) -> IdSet<I> {
        let rest = |(number, mine, theirs): (u32, u64, u64)| Some((number, mine & !theirs)).filter(|word| word.1 != 0);
        IdSet { words: self.pairs(other).filter_map(rest).collect(), marker: PhantomData }
    }

    pub fn is_subset_of(&self, other: &IdSet<I>) -> bool {
        self.words.len() <= other.words.len() && self.pairs(other).all(|(_, mine, theirs)| mine & !theirs == 0)
    }

    /// Whether they have an id in common.
    pub fn intersects(&self, other: &IdSet<I>) -> bool {
        self.pairs(other).any(|(_, mine, theirs)| mine & theirs != 0)
    }

    /// This set's words, each with the other's bits at the same place.
    fn pairs<'a>(&'a self, other: &'a IdSet<I>) -> impl Iterator<Item = (u32, u64, u64)> + 'a {
        let mut at = 0;
        self.words.iter().map(move |&(number, bits)| {
            while at < other.words.len() && other.words[at].0 < number {
                at += 1;
            }
            let theirs = other.words.get(at).filter(|word| word.0 == number).map_or(0, |word| word.1);
            (number, bits, theirs)
        })
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.words.iter().flat_map(|&(number, bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(I::new(number as usize * 64 + bit as usize))
            })
        })
    }
}

fn place(id: impl Idx) -> (u32, u64) {
    let index = id.index();
    ((index / 64) as u32, 1 << (index % 64))
}

impl<I: Idx> Default for IdSet<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Idx> FromIterator<I> for IdSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(ids: T) -> Self {
        let mut set = IdSet::new();
        set.extend(ids);
        set
    }
}

impl<I: Idx> Extend<I> for IdSet<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, ids: T) {
        for id in ids {
            self.insert(id);
        }
    }
}

impl<I: Idx> fmt::Debug for IdSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::IdSet;
    use crate::program::BlockId;

    #[test]
    fn agrees_with_ordered_sets() {
        let mut state = 1u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % bound) as u32
        };
        for _ in 0..2000 {
            let left: BTreeSet<BlockId> = (0..next(20)).map(|_| BlockId(next(400))).collect();
            let right: BTreeSet<BlockId> = (0..next(20)).map(|_| BlockId(next(400))).collect();
            let (l, r): (IdSet<BlockId>, IdSet<BlockId>) =
                (left.iter().copied().collect(), right.iter().copied().collect());
            assert!(l.iter().eq(left.iter().copied()));
            assert_eq!(l.len(), left.len());
            assert!((0..400).all(|id| l.contains(BlockId(id)) == left.contains(&BlockId(id))));
            assert_eq!(l.is_subset_of(&r), left.is_subset(&right));
            assert_eq!(l.intersects(&r), !left.is_disjoint(&right));
            assert!(l.difference(&r).iter().eq(left.difference(&right).copied()));
            let mut united = l.clone();
            assert_eq!(united.union_with(&r), !right.is_subset(&left));
            assert!(united.iter().eq(left.union(&right).copied()));
        }
    }
}
