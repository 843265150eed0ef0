//! What the records tell, and what the table foretells.
//!
//! Every thread has a table of what it last saw at addresses, as the recorder had. A load returned what the table says, or there is
//! a record with its value. Which of the two it was follows from how many loads were foreseen before the next record that speaks of
//! them; where the next record is about something else altogether, the load was foreseen. See `trace`.

use crate::trace::{Record, Records, TABLE};
use crate::walk::{Going, Halt, Listener, Walk};

/// The records of a thread, with a look at the next one.
pub(crate) struct Ahead {
    records: Records,
    next: Option<Record>,
}

impl Ahead {
    pub(crate) fn new(mut records: Records) -> Ahead {
        let next = records.next();
        Ahead { records, next }
    }

    pub(crate) fn peek(&self) -> Option<Record> {
        self.next
    }

    pub(crate) fn take(&mut self) -> Option<Record> {
        std::mem::replace(&mut self.next, self.records.next())
    }
}

impl<L: Listener> Walk<'_, '_, L> {
    /// The next record of a thread; the clock's own are taken on the way.
    pub(crate) fn next(&mut self, number: u32) -> Result<Record, Halt> {
        let until = self.until;
        let thread = self.thread(number)?;
        loop {
            let record = thread.records.take().ok_or(Halt::Over)?;
            thread.silent = 0;
            if let Some(clock) = record.clock() {
                if until.is_some_and(|until| clock > until) {
                    return Err(Halt::Over);
                }
                thread.clock = clock;
                thread.stepped = !matches!(record, Record::Clock(_));
            }
            match record {
                Record::Clock(_) => {}
                Record::Hits(hits) => thread.hits = thread.hits.saturating_sub(hits),
                record => return Ok(record),
            }
        }
    }

    /// A value that came into the thread.
    pub(crate) fn next_value(&mut self, number: u32) -> Result<u128, Halt> {
        match self.next(number)? {
            Record::Value { bits, .. } => {
                self.thread(number)?.hits = 0;
                Ok(bits)
            }
            other => Err(self.misfit(number, "a value", other)),
        }
    }

    /// What a load gave if it was not foreseen; None if it was.
    pub(crate) fn next_news(&mut self, number: u32) -> Result<Option<u128>, Halt> {
        let until = self.until;
        let thread = self.thread(number)?;
        loop {
            match thread.records.peek().ok_or(Halt::Over)? {
                Record::Clock(clock) => {
                    if until.is_some_and(|until| clock > until) {
                        return Err(Halt::Over);
                    }
                    (thread.clock, thread.stepped) = (clock, false);
                }
                Record::Hits(hits) if thread.hits >= hits => thread.hits -= hits,
                Record::Value { bits, hits } if thread.hits >= hits => {
                    thread.records.take();
                    (thread.hits, thread.silent) = (0, 0);
                    return Ok(Some(bits));
                }
                _ => {
                    thread.hits += 1;
                    return Ok(None);
                }
            }
            thread.records.take();
            thread.silent = 0;
        }
    }

    /// What a load of so many bytes gave.
    pub(crate) fn next_load(&mut self, number: u32, address: u64, bytes: u32) -> Result<u128, Halt> {
        let length = bytes.next_power_of_two() as usize;
        if length > 8 {
            return self.next_value(number);
        }
        let news = self.next_news(number)?;
        let place = table_place(address);
        let thread = self.thread(number)?;
        let Some(known) = thread.table.get_mut(place..place + length) else { return Err(Halt::Over) };
        match news {
            Some(bits) => {
                known.copy_from_slice(&bits.to_le_bytes()[..length]);
                Ok(bits)
            }
            None => {
                let mut word = [0; 16];
                word[..length].copy_from_slice(known);
                Ok(u128::from_le_bytes(word))
            }
        }
    }

    /// From here on the thread expects this at an address.
    pub(crate) fn expect(&mut self, number: u32, address: u64, bytes: u32, bits: u128) -> Going {
        let length = bytes.next_power_of_two() as usize;
        let place = table_place(address);
        let thread = self.thread(number)?;
        if let (true, Some(known)) = (length <= 8, thread.table.get_mut(place..place + length)) {
            known.copy_from_slice(&bits.to_le_bytes()[..length]);
        }
        Ok(())
    }
}

/// Where the value of an address is in the table.
fn table_place(address: u64) -> usize {
    address as usize & (TABLE - 1)
}
