//! What a data structure must do, as an automaton that watches two values.
//!
//! An observer (Abdulla and others, TACAS 2013) reads the events of an execution in the order in which operations take
//! effect: `insert a`, `remove b`, `empty`. What is not mentioned does not matter to it. A state from which `error` is
//! reached tells that no sequential data structure behaves so. Observers are text (`observers/*.obs`): a line names the operations
//! that insert and remove, all others say `STATE EVENT -> STATE`, and the state of the first such line is where it starts.

use super::value::Tag;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Event {
    Insert(Tag),
    Remove(Tag),
    Empty,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reaction {
    Goes(u8),
    /// Executions like this need not be looked at.
    Impossible,
    Error(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observer {
    pub insert: String,
    pub remove: String,
    states: Vec<String>,
    rules: Vec<(u8, Event, Reaction)>,
}

pub const START: u8 = 0;

impl Observer {
    /// The observer of this name, if Leno has it.
    pub fn named(name: &str) -> Option<Observer> {
        let text = match name {
            "stack" => include_str!("observers/stack.obs"),
            "queue" => include_str!("observers/queue.obs"),
            _ => return None,
        };
        Observer::parse(text).ok()
    }

    pub fn parse(text: &str) -> Result<Observer, String> {
        let mut observer =
            Observer { insert: String::new(), remove: String::new(), states: Vec::new(), rules: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                observer.line(line).ok_or_else(|| format!("line {} of the observer: `{line}`", number + 1))?;
            }
        }
        match observer.insert.is_empty() || observer.remove.is_empty() || observer.states.is_empty() {
            true => Err("an observer needs `insert`, `remove` and at least one rule".to_string()),
            false => Ok(observer),
        }
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let Some((left, right)) = line.split_once("->") else {
            let (role, name) = line.split_once(char::is_whitespace)?;
            match role {
                "insert" => self.insert = name.trim().to_string(),
                "remove" => self.remove = name.trim().to_string(),
                _ => return None,
            }
            return Some(());
        };
        let words: Vec<&str> = left.split_whitespace().collect();
        let tag = |word: &str| match word {
            "a" => Some(Tag::A),
            "b" => Some(Tag::B),
            _ => None,
        };
        let (state, event) = match words[..] {
            [state, "insert", value] => (state, Event::Insert(tag(value)?)),
            [state, "remove", value] => (state, Event::Remove(tag(value)?)),
            [state, "empty"] => (state, Event::Empty),
            _ => return None,
        };
        let state = self.state(state)?;
        let (target, words) = right.trim().split_once(char::is_whitespace).unwrap_or((right.trim(), ""));
        let reaction = match target {
            "error" => Reaction::Error(words.trim().to_string()),
            "impossible" => Reaction::Impossible,
            name => Reaction::Goes(self.state(name)?),
        };
        self.rules.push((state, event, reaction));
        Some(())
    }

    fn state(&mut self, name: &str) -> Option<u8> {
        if !self.states.iter().any(|state| state == name) {
            self.states.push(name.to_string());
        }
        self.states.iter().position(|state| state == name).and_then(|at| u8::try_from(at).ok())
    }

    pub fn react(&self, state: u8, event: Event) -> Reaction {
        let rule = self.rules.iter().find(|(from, on, _)| *from == state && *on == event);
        rule.map_or(Reaction::Goes(state), |(_, _, reaction)| reaction.clone())
    }

    /// Whether an event may still happen in this state, or in one that it leads to.
    pub fn may_happen(&self, state: u8, event: Event) -> bool {
        let mut seen = vec![state];
        let mut next = 0;
        while next < seen.len() {
            if self.react(seen[next], event) != Reaction::Impossible {
                return true;
            }
            for (from, _, reaction) in &self.rules {
                if let Reaction::Goes(to) = reaction
                    && *from == seen[next]
                    && !seen.contains(to)
                {
                    seen.push(*to);
                }
            }
            next += 1;
        }
        false
    }

    pub fn state_name(&self, state: u8) -> &str {
        self.states.get(usize::from(state)).map_or("?", String::as_str)
    }
}
