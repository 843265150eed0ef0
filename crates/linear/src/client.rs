//! Small clients: which thread makes which calls.
//!
//! A client is given by what its threads do, not by who does it, so only one of each class of clients that differ in the
//! names of threads or of values is made. A history of a client with fewer calls is the beginning of a history of a larger
//! one, in which the other calls come later; so larger clients find all that smaller ones do. The smaller ones come first all
//! the same: what they find is easier to read.

use crate::operation::Operations;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Call {
    /// Which of the operations.
    pub operation: usize,
    /// Its value, from 1; 0 if it takes none.
    pub value: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Client {
    /// Calls that are made before any thread starts.
    pub prepared: Vec<Call>,
    pub threads: Vec<Vec<Call>>,
}

#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub threads: usize,
    /// How many calls each thread makes.
    pub calls: usize,
    /// How many different values there are; none: each call has its own.
    pub values: Option<u32>,
    /// Operations, by name, that are called before any thread starts.
    pub prepared: Vec<String>,
}

impl Client {
    /// All calls that threads make, thread by thread, with the number of the thread.
    pub fn calls(&self) -> impl Iterator<Item = (usize, Call)> + '_ {
        self.threads.iter().enumerate().flat_map(|(thread, calls)| calls.iter().map(move |call| (thread, *call)))
    }

    /// By call, in the order of [`Client::calls`]: how many calls its thread makes before it.
    pub fn positions(&self) -> Vec<usize> {
        self.threads.iter().flat_map(|calls| 0..calls.len()).collect()
    }

    /// All orders of the calls in which each thread makes its own one after the other; none if there are more than `most`.
    pub fn orders(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        let firsts: Vec<usize> = self.threads.iter().scan(0, |at, calls| Some(advance(at, calls.len()))).collect();
        let mut all = vec![(Vec::new(), vec![0; self.threads.len()])];
        for _ in 0..self.calls().count() {
            let mut longer = Vec::new();
            for (order, made) in &all {
                let has_more = |thread: &usize| made[*thread] < self.threads[*thread].len();
                for thread in (0..self.threads.len()).filter(has_more) {
                    let mut order: Vec<usize> = order.clone();
                    let mut made = made.clone();
                    order.push(firsts[thread] + made[thread]);
                    made[thread] += 1;
                    longer.push((order, made));
                }
            }
            if longer.len() > most {
                return None;
            }
            all = longer;
        }
        Some(all.into_iter().map(|(order, _)| order).collect())
    }
}

fn advance(at: &mut usize, by: usize) -> usize {
    std::mem::replace(at, *at + by)
}

/// Clients of growing size, up to what the options say.
pub fn clients(operations: &Operations, options: &ClientOptions) -> Vec<Client> {
    let mut sizes: Vec<(usize, usize)> = (2..=options.threads.max(2))
        .flat_map(|threads| (1..=options.calls.max(1)).map(move |calls| (threads, calls)))
        .collect();
    sizes.sort_by_key(|(threads, calls)| (threads * calls, *threads));
    sizes.iter().flat_map(|(threads, calls)| of_size(operations, options, *threads, *calls)).collect()
}

fn of_size(operations: &Operations, options: &ClientOptions, threads: usize, calls: usize) -> Vec<Client> {
    let mut sequences: Vec<Vec<Call>> = vec![Vec::new()];
    let kinds = kinds(operations, options.values);
    for _ in 0..calls {
        let longer = |sequence: &Vec<Call>| {
            let sequence = sequence.clone();
            kinds.iter().map(move |call| sequence.iter().copied().chain([*call]).collect())
        };
        sequences = sequences.iter().flat_map(longer).collect();
    }
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..threads {
        let more = |choice: &Vec<usize>| {
            let (choice, from) = (choice.clone(), choice.last().copied().unwrap_or(0));
            (from..sequences.len()).map(move |next| choice.iter().copied().chain([next]).collect())
        };
        chosen = chosen.iter().flat_map(more).collect();
    }
    let client = |choice: &Vec<usize>| {
        let mut client = Client {
            prepared: prepared(operations, options),
            threads: choice.iter().map(|number| sequences[*number].clone()).collect(),
        };
        if options.values.is_none() {
            number_values(operations, &mut client);
        }
        client
    };
    chosen.iter().map(client).collect()
}

/// The calls that can be made: each operation with each value.
fn kinds(operations: &Operations, values: Option<u32>) -> Vec<Call> {
    let of = |(operation, takes_value): (usize, bool)| {
        let values = if takes_value { 1..=values.unwrap_or(1).max(1) } else { 0..=0 };
        values.map(move |value| Call { operation, value })
    };
    operations.all.iter().map(|operation| operation.takes_value()).enumerate().flat_map(of).collect()
}

fn prepared(operations: &Operations, options: &ClientOptions) -> Vec<Call> {
    let find = |name: &String| operations.all.iter().position(|operation| operation.name == *name);
    let call = |(number, operation): (usize, usize)| {
        let value = number as u32 % options.values.unwrap_or(u32::MAX) + 1;
        Call { operation, value: if operations.all[operation].takes_value() { value } else { 0 } }
    };
    options.prepared.iter().filter_map(find).enumerate().map(call).collect()
}

/// Each call has a value of its own.
fn number_values(operations: &Operations, client: &mut Client) {
    let calls = client.prepared.iter_mut().chain(client.threads.iter_mut().flatten());
    let mut next = 0;
    for call in calls.filter(|call| operations.all[call.operation].takes_value()) {
        next += 1;
        call.value = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Argument, Operation, Returned};

    fn queue() -> Operations {
        let operation = |name: &str, arguments, returned| Operation {
            name: name.to_string(),
            function: name.to_string(),
            arguments,
            returned,
        };
        Operations {
            all: vec![
                operation("enqueue", vec![Argument::Number], Returned::Nothing),
                operation("dequeue", Vec::new(), Returned::Integer),
            ],
            structure: None,
            initialisation: None,
        }
    }

    #[test]
    fn clients_that_differ_in_the_names_of_threads_are_made_once() {
        let options = ClientOptions { threads: 3, calls: 2, values: None, prepared: Vec::new() };
        let all = clients(&queue(), &options);
        // Of two threads, 3 with one call and 10 with two; of three, 4 and 20.
        assert_eq!(all.len(), 3 + 10 + 4 + 20);
        let last = all.last().expect("a client");
        assert_eq!(last.calls().count(), 6);
        assert_eq!(last.orders(1000).map(|orders| orders.len()), Some(90));
        assert_eq!(last.orders(89), None);
    }

    #[test]
    fn values_are_different_or_chosen_from_a_few() {
        let mut options = ClientOptions { threads: 2, calls: 2, values: None, prepared: vec!["enqueue".to_string()] };
        let first = &clients(&queue(), &options)[3];
        let values: Vec<u32> =
            first.prepared.iter().copied().chain(first.calls().map(|(_, call)| call)).map(|call| call.value).collect();
        assert_eq!(values, [1, 2, 3, 4, 5]);
        options.values = Some(2);
        let kinds = kinds(&queue(), options.values);
        assert_eq!(kinds.len(), 3);
    }
}
