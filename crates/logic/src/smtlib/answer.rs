//! Reading what solvers say.
//!
//! `sat`, `unsat` or `unknown` comes first; values follow, in the form of `get-value` or of `get-model`, with vectors
//! in any of the three notations that solvers use. What follows `unsat` does not matter: there, asking for values is an
//! error.

use crate::smtlib::Script;
use crate::term::{Assignment, Terms, Value};
use std::collections::BTreeMap;

/// What a solver said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Satisfiable(Model),
    Unsatisfiable,
    /// And why, if the solver said it.
    Unknown(String),
}

/// Values by the text of what they are values of.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Model {
    constants: BTreeMap<String, Value>,
    integers: BTreeMap<String, i128>,
}

impl Model {
    /// The value of a Boolean or of a bit-vector.
    pub fn constant(&self, name: &str) -> Option<Value> {
        self.constants.get(name).copied()
    }

    pub fn integer(&self, name: &str) -> Option<i128> {
        self.integers.get(name).copied()
    }

    /// The values of the script's variables.
    pub fn assignment(&self, terms: &Terms, script: &Script) -> Assignment {
        let mut assignment = Assignment::new();
        for (variable, name) in script.variables() {
            if let Some(value) = self.constant(name) {
                assignment.set(terms, *variable, value.number());
            }
        }
        assignment
    }

    fn insert(&mut self, name: &Expression, value: &Expression) {
        if let Some(value) = value.constant() {
            self.constants.insert(name.text(), value);
        } else if let Some(value) = value.integer() {
            self.integers.insert(name.text(), value);
        }
    }
}

/// Reads the answer to a question of a [`Script`]. The error is what the solver said instead of an answer.
pub fn parse_answer(text: &str) -> Result<Verdict, String> {
    let mut reader = Reader { rest: text };
    let first = reader.expression()?.ok_or("the solver said nothing")?;
    match first.text().as_str() {
        "unsat" => Ok(Verdict::Unsatisfiable),
        "unknown" | "timeout" => Ok(Verdict::Unknown(reader.rest.trim().chars().take(200).collect())),
        "sat" => {
            let mut model = Model::default();
            while let Some(expression) = reader.expression()? {
                read_values(&expression, &mut model)?;
            }
            Ok(Verdict::Satisfiable(model))
        }
        other => Err(other.chars().take(400).collect()),
    }
}

/// Takes the values out of one answer: pairs, or definitions.
fn read_values(answer: &Expression, model: &mut Model) -> Result<(), String> {
    let Expression::List(items) = answer else { return Ok(()) };
    if let [Expression::Atom(word), message, ..] = items.as_slice()
        && word == "error"
    {
        return Err(message.text());
    }
    for item in items {
        let Expression::List(parts) = item else { continue };
        match parts.as_slice() {
            [name, value] => model.insert(name, value),
            [Expression::Atom(word), name, _, _, value] if word == "define-fun" => model.insert(name, value),
            _ => {}
        }
    }
    Ok(())
}

/// An s-expression.
enum Expression {
    Atom(String),
    List(Vec<Expression>),
}

impl Expression {
    fn text(&self) -> String {
        match self {
            // The bars of a quoted symbol are not part of it.
            Expression::Atom(atom) => atom.trim_matches('|').to_string(),
            Expression::List(items) => {
                let items: Vec<String> = items.iter().map(Expression::text).collect();
                format!("({})", items.join(" "))
            }
        }
    }

    fn constant(&self) -> Option<Value> {
        match self {
            Expression::Atom(atom) => match atom.as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => {
                    let (digits, radix, each) = match (atom.strip_prefix("#x"), atom.strip_prefix("#b")) {
                        (Some(digits), _) => (digits, 16, 4),
                        (_, Some(digits)) => (digits, 2, 1),
                        _ => return None,
                    };
                    let value = u128::from_str_radix(digits, radix).ok()?;
                    Some(Value::Bits { width: u32::try_from(digits.len()).ok()? * each, value })
                }
            },
            Expression::List(items) => match items.as_slice() {
                [Expression::Atom(mark), Expression::Atom(number), Expression::Atom(width)] if mark == "_" => {
                    let value = number.strip_prefix("bv")?.parse().ok()?;
                    Some(Value::Bits { width: width.parse().ok()?, value })
                }
                _ => None,
            },
        }
    }

    fn integer(&self) -> Option<i128> {
        match self {
            Expression::Atom(atom) => atom.parse().ok(),
            Expression::List(items) => match items.as_slice() {
                [Expression::Atom(minus), Expression::Atom(number)] if minus == "-" => {
                    number.parse::<i128>().ok().map(|number| -number)
                }
                _ => None,
            },
        }
    }
}

/// More nesting than any value has.
const DEPTH: usize = 200;

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// The next s-expression; `None` at the end.
    fn expression(&mut self) -> Result<Option<Expression>, String> {
        let mut open: Vec<Vec<Expression>> = Vec::new();
        loop {
            let Some(token) = self.token()? else {
                return if open.is_empty() { Ok(None) } else { Err("the solver's answer breaks off".to_string()) };
            };
            let complete = match token.as_str() {
                "(" if open.len() == DEPTH => return Err("the solver's answer nests too deeply".to_string()),
                "(" => {
                    open.push(Vec::new());
                    continue;
                }
                ")" => Expression::List(open.pop().ok_or("the solver's answer has a stray `)`")?),
                _ => Expression::Atom(token),
            };
            match open.last_mut() {
                Some(list) => list.push(complete),
                None => return Ok(Some(complete)),
            }
        }
    }

    fn token(&mut self) -> Result<Option<String>, String> {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix(';') else { break };
            self.rest = comment.find('\n').map_or("", |end| &comment[end..]);
        }
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let length = match first {
            '(' | ')' => 1,
            '"' | '|' => {
                let end = self.rest[1..].find(first).ok_or("the solver's answer breaks off in a quotation")?;
                end + 2
            }
            _ => self.rest.find(|c: char| c.is_whitespace() || "()\"|;".contains(c)).unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Some(token.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> Model {
        match parse_answer(text) {
            Ok(Verdict::Satisfiable(model)) => model,
            other => panic!("{text} is {other:?}"),
        }
    }

    #[test]
    fn all_notations_of_values() {
        let model = model("sat\n((a.0 #x0f) (|b c| #b101)\n ; so much\n (d (_ bv7 128)) (e true) (f (- 5)) ((g 1) 9))");
        assert_eq!(model.constant("a.0"), Some(Value::Bits { width: 8, value: 15 }));
        assert_eq!(model.constant("b c"), Some(Value::Bits { width: 3, value: 5 }));
        assert_eq!(model.constant("d"), Some(Value::Bits { width: 128, value: 7 }));
        assert_eq!(model.constant("e"), Some(Value::Bool(true)));
        assert_eq!(model.integer("f"), Some(-5));
        assert_eq!(model.integer("(g 1)"), Some(9));
    }

    #[test]
    fn models_are_read_too() {
        for text in [
            "sat (model (define-fun x () (_ BitVec 4) #xa) (define-fun y () Bool false))",
            "sat ((define-fun x () (_ BitVec 4) #xa) (define-fun y () Bool false))",
        ] {
            assert_eq!(model(text).constant("x"), Some(Value::Bits { width: 4, value: 10 }));
            assert_eq!(model(text).constant("y"), Some(Value::Bool(false)));
        }
    }

    #[test]
    fn other_answers() {
        assert_eq!(parse_answer("unsat\n(error \"line 3: model is not available\")"), Ok(Verdict::Unsatisfiable));
        assert_eq!(parse_answer("unknown\n"), Ok(Verdict::Unknown(String::new())));
        assert_eq!(parse_answer("(error \"no such logic\")"), Err("(error \"no such logic\")".to_string()));
        assert_eq!(parse_answer("sat (error \"no model\")"), Err("\"no model\"".to_string()));
        assert!(parse_answer("").is_err());
        assert!(parse_answer("sat ((x #x0").is_err());
        assert!(parse_answer("sat )").is_err());
        assert!(parse_answer("sat \"").is_err());
        assert!(parse_answer(&format!("sat {}", "(".repeat(100_000))).is_err());
    }
}
