//! Accesses of the current execution: the dependences of a new event on those before it.
//!
//! For every word of memory and every synchronisation object the events that touched it, in order. A new event depends
//! on the last write of its bytes, or, if it writes, also on the reads since; going back stops at the first write that
//! covers them, since everything earlier happened before that. The search goes back and forth, so what is added last is
//! removed first.

use crate::event::{Access, SyncKind};
use leno_ir::program::MOST_OBJECT_BYTES;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// One access of one event.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: u32,
    access: Access,
}

/// Addresses hash well enough by one multiplication.
#[derive(Clone, Copy, Default)]
pub struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 29;
    }
}

type Table = HashMap<u64, Vec<Entry>, BuildHasherDefault<WordHasher>>;

#[derive(Clone, Default)]
pub struct History {
    words: Table,
    /// By the address of a synchronisation object.
    objects: Table,
    /// Where there are synchronisation objects, or have been.
    object_starts: BTreeSet<u64>,
    /// Accesses of more than a word (the end of an object's life), of everything, of the heap, and creations and
    /// handles of threads.
    wide: Vec<Entry>,
}

/// What a new access depends on.
#[derive(Default)]
pub struct Dependences {
    /// Events that happened before it because of this access.
    pub before: Vec<u32>,
    /// Events that might have come after it instead, if nothing lies between.
    pub candidates: Vec<u32>,
    /// Events that may have kept it waiting: it might have come before them, whatever lies between.
    pub waits: Vec<u32>,
}

impl History {
    pub fn dependences(&self, access: Access, found: &mut Dependences) {
        for entry in self.wide.iter().filter(|entry| entry.access.conflicts(access)) {
            found.before.push(entry.event);
            found.candidates.push(entry.event);
        }
        match access {
            Access::Data { address, len, .. } if len <= 8 => {
                self.data_dependences(address / 8, access, found);
                let last = (address + u64::from(len) - 1) / 8;
                if len > 0 && last != address / 8 {
                    self.data_dependences(last, access, found);
                }
                self.object_dependences(address, access, found);
            }
            Access::Sync { address, len, step, .. } => {
                self.sync_dependences(address, step, found);
                let first = found.candidates.len();
                (words_of(address, len)).for_each(|word| self.data_dependences(word, access, found));
                if matches!(step, SyncKind::Acquire | SyncKind::Await) {
                    // A store may have kept it waiting, too.
                    found.waits.extend_from_slice(&found.candidates[first..]);
                }
            }
            // (Which are among the wide ones themselves.)
            Access::Handle(_) | Access::Heap(_) => {}
            Access::Data { .. } | Access::End { .. } | Access::Everything | Access::Spawn => {
                let all = self.words.values().chain(self.objects.values()).flatten();
                for entry in all.filter(|entry| entry.access.conflicts(access)) {
                    found.before.push(entry.event);
                    found.candidates.push(entry.event);
                }
            }
        }
    }

    fn data_dependences(&self, word: u64, access: Access, found: &mut Dependences) {
        let Some(entries) = self.words.get(&word) else { return };
        for entry in entries.iter().rev() {
            if !entry.access.conflicts(access) {
                continue;
            }
            found.before.push(entry.event);
            found.candidates.push(entry.event);
            if covers(entry.access, access) {
                break;
            }
        }
    }

    /// Data accesses to a synchronisation object.
    fn object_dependences(&self, address: u64, access: Access, found: &mut Dependences) {
        if self.object_starts.is_empty() {
            return;
        }
        let from = address.saturating_sub(u64::from(MOST_OBJECT_BYTES));
        for start in self.object_starts.range(from..address.saturating_add(8)) {
            let Some(entries) = self.objects.get(start) else { continue };
            for entry in entries.iter().filter(|entry| entry.access.conflicts(access)) {
                found.before.push(entry.event);
                found.candidates.push(entry.event);
            }
        }
    }

    fn sync_dependences(&self, address: u64, step: SyncKind, found: &mut Dependences) {
        let Some(entries) = self.objects.get(&address) else { return };
        let Some(last) = entries.last() else { return };
        found.before.push(last.event);
        let kind = |entry: &Entry| match entry.access {
            Access::Sync { step, .. } => step,
            _ => SyncKind::Other,
        };
        match step {
            SyncKind::Acquire => {
                // The release of the lock can never come later; the last acquire, and attempts since then, might have.
                for entry in entries.iter().rev().filter(|entry| kind(entry) != SyncKind::Release) {
                    found.waits.push(entry.event);
                    if kind(entry) == SyncKind::Acquire {
                        break;
                    }
                }
            }
            SyncKind::Await => found.waits.extend(entries.iter().map(|entry| entry.event)),
            SyncKind::Release | SyncKind::Other => {
                let rest = entries.iter().rev().take_while(|entry| kind(entry) == SyncKind::Await);
                found.candidates.extend(rest.map(|entry| entry.event));
                found.candidates.push(last.event);
            }
        }
    }

    /// The events that may have taken away what a thread waits for at this object.
    pub fn takers(&self, address: u64) -> impl Iterator<Item = u32> + '_ {
        let objects = self.objects.get(&address).map_or(&[][..], Vec::as_slice);
        let object = Access::Sync { address, len: MOST_OBJECT_BYTES, step: SyncKind::Other, usage: None };
        let stored = words_of(address, MOST_OBJECT_BYTES).filter_map(|word| self.words.get(&word)).flatten();
        let stored = stored.chain(&self.wide).filter(move |entry| entry.access.conflicts(object));
        let takes = |entry: &&Entry| {
            matches!(entry.access, Access::Sync { step: SyncKind::Acquire | SyncKind::Await | SyncKind::Other, .. })
        };
        objects.iter().rev().filter(takes).chain(stored).map(|entry| entry.event)
    }

    pub fn push(&mut self, event: u32, access: Access) {
        let entry = Entry { event, access };
        if let Access::Sync { address, .. } = access {
            self.object_starts.insert(address);
        }
        self.each_list(access, |list| list.push(entry));
    }

    /// Takes back the last `push` of this access.
    pub fn pop(&mut self, access: Access) {
        self.each_list(access, |list| {
            list.pop();
        });
    }

    fn each_list(&mut self, access: Access, mut apply: impl FnMut(&mut Vec<Entry>)) {
        match access {
            Access::Data { address, len, .. } if len <= 8 => {
                apply(self.words.entry(address / 8).or_default());
                let last = (address + u64::from(len.max(1)) - 1) / 8;
                if last != address / 8 {
                    apply(self.words.entry(last).or_default());
                }
            }
            Access::Sync { address, .. } => apply(self.objects.entry(address).or_default()),
            Access::Data { .. }
            | Access::End { .. }
            | Access::Everything
            | Access::Spawn
            | Access::Handle(_)
            | Access::Heap(_) => apply(&mut self.wide),
        }
    }
}

/// The words that an object touches.
fn words_of(address: u64, len: u32) -> std::ops::RangeInclusive<u64> {
    address / 8..=address.saturating_add(u64::from(len.max(1)) - 1) / 8
}

/// Whether everything that conflicts with `access` and came before `entry` also happened before it.
fn covers(entry: Access, access: Access) -> bool {
    match (entry, access) {
        (Access::Data { address: a, len: m, kind, .. }, Access::Data { address: b, len: n, .. }) => {
            kind.overwrites() && a <= b && b + u64::from(n) <= a + u64::from(m)
        }
        _ => false,
    }
}
