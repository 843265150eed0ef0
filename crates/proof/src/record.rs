//! One line of a proof, word by word.
//!
//! A record is a letter and numbers. Here is all that is known about text; the rest of the checker sees numbers in the
//! ranges that their kinds allow.

use crate::Literal;
use std::str::{FromStr, SplitAsciiWhitespace};

/// A line that is being read.
pub struct Record<'a> {
    pub kind: &'a str,
    words: SplitAsciiWhitespace<'a>,
}

impl<'a> Record<'a> {
    /// The record on `line`; none on an empty line. A comment goes from `#` to its end.
    pub fn new(line: &'a [u8]) -> Result<Option<Record<'a>>, String> {
        let text = str::from_utf8(line).map_err(|_| "this is not text")?;
        let (record, _comment) = text.split_once('#').unwrap_or((text, ""));
        let mut words = record.split_ascii_whitespace();
        Ok(words.next().map(|kind| Record { kind, words }))
    }

    /// The first record of every proof.
    pub fn header(&mut self) -> Result<(), String> {
        match (self.kind, self.words.next(), self.words.next(), self.words.next()) {
            ("p", Some("leno"), Some("1"), None) => Ok(()),
            ("p", Some("leno"), Some(version), None) => {
                Err(format!("format version {version} is not known, only 1 is"))
            }
            _ => Err("a proof begins with `p leno 1`".to_string()),
        }
    }

    /// The next word, if there is one.
    pub fn word(&mut self) -> Option<&'a str> {
        self.words.next()
    }

    fn parse<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.words.next().ok_or_else(|| format!("the line ends where {what} should be"))?;
        word.parse().map_err(|_| format!("`{word}` is not {what}"))
    }

    /// The number of a node, a read or a chain.
    pub fn number(&mut self) -> Result<u32, String> {
        self.parse("a number")
    }

    /// The number of a clause.
    pub fn id(&mut self) -> Result<u64, String> {
        match self.parse("the number of a clause")? {
            0 => Err("clauses are numbered from 1".to_string()),
            id => Ok(id),
        }
    }

    pub fn literal(&mut self) -> Result<Literal, String> {
        match self.parse("a literal")? {
            0 | Literal::MIN => Err("this number is not a literal".to_string()),
            literal => Ok(literal),
        }
    }

    /// Items up to a 0.
    pub fn list<T>(&mut self, item: impl Fn(&mut Record<'a>) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        while self.words.clone().next() != Some("0") {
            items.push(item(self)?);
        }
        self.words.next();
        Ok(items)
    }

    /// The number of a clause and its literals.
    pub fn clause(&mut self) -> Result<(u64, Vec<Literal>), String> {
        Ok((self.id()?, self.list(Record::literal)?))
    }

    /// Nodes up to a -1.
    pub fn path(&mut self) -> Result<Vec<u32>, String> {
        let mut nodes = Vec::new();
        loop {
            let word = self.word().ok_or("the line ends inside a path")?;
            if word == "-1" {
                return Ok(nodes);
            }
            nodes.push(word.parse().map_err(|_| format!("`{word}` is not a node"))?);
        }
    }

    /// Nothing may be left.
    pub fn end(&mut self) -> Result<(), String> {
        self.word().map_or(Ok(()), |word| Err(format!("the record should end before `{word}`")))
    }
}
