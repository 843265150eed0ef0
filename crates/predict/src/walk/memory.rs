//! Thread-private memory, as the walk keeps it: pages by address, zeros where nothing was written.

use crate::walk::objects::{Instances, RecordedAddresses};
use leno_ir::program::{ObjectKind, Program};
use leno_symbolic::contents::datum_bytes;
use leno_trace::{ThreadIndex, ThreadPrivate};
use rustc_hash::FxHashMap;

const PAGE: u64 = 4096;

/// Addresses, and what is there.
pub(crate) type InitialBytes = Vec<(u64, Vec<u8>)>;

type Page = Box<[u8; PAGE as usize]>;

#[derive(Clone, Default)]
pub struct Memory {
    numbers: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    /// The page that was used last: most accesses are near each other.
    last: Option<(u64, u32)>,
}

impl Memory {
    pub fn new(initial: &[(u64, Vec<u8>)]) -> Memory {
        let mut memory = Memory::default();
        for (address, bytes) in initial {
            memory.write_bytes(*address, bytes);
        }
        memory
    }

    fn find(&mut self, address: u64) -> Option<u32> {
        let number = address / PAGE;
        match self.last {
            Some((last, index)) if last == number => Some(index),
            _ => {
                let index = *self.numbers.get(&number)?;
                self.last = Some((number, index));
                Some(index)
            }
        }
    }

    fn page(&mut self, address: u64) -> &mut Page {
        let index = self.find(address).unwrap_or_else(|| {
            let index = self.pages.len() as u32;
            self.pages.push(Box::new([0; PAGE as usize]));
            self.numbers.insert(address / PAGE, index);
            self.last = Some((address / PAGE, index));
            index
        });
        &mut self.pages[index as usize]
    }

    pub fn read(&mut self, address: u64, bytes: u32) -> u128 {
        let (offset, length) = ((address % PAGE) as usize, bytes as usize);
        if offset + length <= PAGE as usize {
            let Some(index) = self.find(address) else { return 0 };
            let mut word = [0; 16];
            word[..length].copy_from_slice(&self.pages[index as usize][offset..offset + length]);
            return u128::from_le_bytes(word);
        }
        (0..bytes).rev().fold(0, |value, index| value << 8 | self.read(address.wrapping_add(index.into()), 1))
    }

    pub fn write(&mut self, address: u64, bytes: u32, value: u128) {
        let word = value.to_le_bytes();
        self.write_bytes(address, &word[..bytes as usize]);
    }

    fn write_bytes(&mut self, mut address: u64, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let offset = (address % PAGE) as usize;
            let count = bytes.len().min(PAGE as usize - offset);
            self.page(address)[offset..offset + count].copy_from_slice(&bytes[..count]);
            address = address.wrapping_add(count as u64);
            bytes = &bytes[count..];
        }
    }

    /// Zeros, for a new object. Pages that do not exist are zeros already.
    pub fn clear(&mut self, mut address: u64, mut bytes: u64) {
        if bytes / PAGE > self.pages.len() as u64 {
            let end = address.saturating_add(bytes);
            let inside = |page: &u64| (page + 1).saturating_mul(PAGE) > address && page * PAGE < end;
            let pages: Vec<u64> = self.numbers.keys().copied().filter(inside).collect();
            for page in pages {
                let (from, to) = ((page * PAGE).max(address), (page * PAGE).saturating_add(PAGE).min(end));
                self.clear(from, to - from);
            }
            return;
        }
        while bytes > 0 {
            let offset = address % PAGE;
            let count = bytes.min(PAGE - offset);
            if let Some(index) = self.find(address) {
                self.pages[index as usize][offset as usize..(offset + count) as usize].fill(0);
            }
            address = address.wrapping_add(count);
            bytes -= count;
        }
    }
}

/// The initial contents of the static objects that unrecorded loads read: the thread-local ones of a thread, or all
/// others.
pub(crate) fn initial_bytes(
    program: &Program,
    private: &ThreadPrivate,
    instances: &Instances,
    thread: Option<ThreadIndex>,
) -> InitialBytes {
    let mut initial = InitialBytes::new();
    for (id, object) in program.objects.iter_enumerated() {
        let is_thread_local = object.kind == ObjectKind::ThreadLocal;
        if !private.is_readable(id) || is_thread_local != thread.is_some() {
            continue;
        }
        let owner = thread.unwrap_or(ThreadIndex::MAIN);
        let Some(start) = instances.address_of(program, owner, id) else { continue };
        for (offset, datum) in &object.init {
            // (A thread without all addresses is not walked.)
            if let Ok(bytes) = datum_bytes(program, datum, &mut RecordedAddresses { program, instances }) {
                initial.push((start.wrapping_add(*offset), bytes));
            }
        }
    }
    initial
}
