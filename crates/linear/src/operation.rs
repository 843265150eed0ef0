//! The operations of a data structure: which functions they are, where their arguments come from, and what they give back.
//!
//! Arguments follow from types. A pointer to a structure that every operation takes is *the* data structure; a pointer to
//! another structure is an element, and each call gets one of its own; numbers, and pointers to anything, are values, another
//! one for each call; a pointer to a number that may be written is where a result goes.

use leno_c::signature::{Kind, Parameter, Signature, Target};
use std::fmt;

/// Where an argument comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of the data structure.
    Structure,
    /// The value of this call, as a number.
    Number,
    /// The value of this call, as the address of an object that is known by it.
    Address,
    /// The address of an element of this call's own, of this type.
    Element(String),
    /// The address of a variable of this type, for a result.
    Result { spelled: String, is_pointer: bool },
    /// The number of the thread, from 0.
    Thread,
}

/// What a call gives back: its value, then what it has written through its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returned {
    Nothing,
    /// Whether it was done: if not, what it has written means nothing.
    Boolean,
    Integer,
    Float,
    Pointer,
    /// A pointer to a number, which matters more than its address.
    PointerToNumber,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What the user calls it.
    pub name: String,
    pub function: String,
    pub arguments: Vec<Argument>,
    pub returned: Returned,
}

impl Operation {
    pub fn takes_value(&self) -> bool {
        self.arguments.iter().any(|argument| matches!(argument, Argument::Number | Argument::Address))
    }

    /// What its results are: its value, and what it writes.
    pub fn result_kinds(&self) -> impl Iterator<Item = Returned> + '_ {
        let value = (self.returned != Returned::Nothing).then_some(self.returned);
        let written = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Result { is_pointer: true, .. } => Some(Returned::Pointer),
            Argument::Result { is_pointer: false, .. } => Some(Returned::Integer),
            _ => None,
        });
        value.into_iter().chain(written)
    }

    /// How many results a call has.
    pub fn results(&self) -> usize {
        self.result_kinds().count()
    }
}

/// How the data structure comes into being.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Initialisation {
    pub function: String,
    pub arguments: Vec<InitialArgument>,
    /// It returns the address of the structure.
    pub makes_structure: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InitialArgument {
    Structure,
    Number(i64),
    Null,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operations {
    pub all: Vec<Operation>,
    /// The type of the data structure, as C: none if operations take none, because it is global.
    pub structure: Option<String>,
    pub initialisation: Option<Initialisation>,
}

/// What the user says about the operations.
#[derive(Clone, Default, Debug)]
pub struct OperationNames {
    /// `push` or `push=stack_push`.
    pub operations: Vec<String>,
    pub initialisation: Option<String>,
    /// The numbers that the initialisation is given, in order; 2 where there are no more.
    pub initial_numbers: Vec<i64>,
    /// The parameter that is the number of the thread, wherever it occurs.
    pub thread_parameter: Option<String>,
}

/// What is wrong with what the user says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    pub message: String,
    pub help: String,
}

impl Mistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Mistake {
        Mistake { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n  = help: {}", self.message, self.help)
    }
}

/// A room of two elements, say, is enough to be full and empty in small clients.
const USUAL_NUMBER: i64 = 2;

impl Operations {
    pub fn new(signatures: &[Signature], names: &OperationNames) -> Result<Operations, Mistake> {
        let mut chosen = Vec::new();
        for text in &names.operations {
            let (name, function) = text.split_once('=').unwrap_or((text, text));
            chosen.push((name.trim().to_string(), find(signatures, function.trim())?));
        }
        if chosen.is_empty() {
            let defined: Vec<&str> = signatures.iter().map(|signature| signature.name.as_str()).collect();
            let help = format!("name them, with --op: {}", defined.join(", "));
            return Err(Mistake::new("there are no operations to check", help));
        }
        let initialisation = match &names.initialisation {
            Some(name) => Some(find(signatures, name)?),
            None => None,
        };
        let structure = structure(chosen.iter().map(|(_, signature)| *signature), initialisation)?;
        let thread = names.thread_parameter.as_deref();
        let mut all = Vec::new();
        for (name, signature) in chosen {
            all.push(operation(name, signature, structure.as_deref(), thread)?);
        }
        let initialisation = initialisation
            .map(|signature| initialise(signature, structure.as_deref(), &names.initial_numbers))
            .transpose()?;
        Ok(Operations { all, structure, initialisation })
    }
}

fn find<'s>(signatures: &'s [Signature], name: &str) -> Result<&'s Signature, Mistake> {
    signatures.iter().find(|signature| signature.name == name).ok_or_else(|| {
        let defined: Vec<&str> = signatures.iter().map(|signature| signature.name.as_str()).collect();
        let help = format!("these functions are: {}", defined.join(", "));
        Mistake::new(format!("no function `{name}` is defined"), help)
    })
}

fn record(kind: &Kind) -> Option<(&str, bool)> {
    match kind {
        Kind::Pointer(Target::Record { spelled, is_complete }) => Some((spelled, *is_complete)),
        _ => None,
    }
}

/// The structure that all operations take, and that the initialisation takes or returns.
fn structure<'s>(
    operations: impl Iterator<Item = &'s Signature> + Clone,
    initialisation: Option<&Signature>,
) -> Result<Option<String>, Mistake> {
    let takes = |signature: &Signature, spelled: &str| {
        signature.params.iter().any(|param| record(&param.kind).is_some_and(|(other, _)| other == spelled))
    };
    let made = |spelled: &str| {
        initialisation
            .is_none_or(|init| takes(init, spelled) || record(&init.result).is_some_and(|(other, _)| other == spelled))
    };
    let Some(first) = operations.clone().next() else { return Ok(None) };
    let candidates = first.params.iter().filter_map(|param| record(&param.kind));
    let mut common = candidates
        .filter(|(spelled, _)| operations.clone().all(|signature| takes(signature, spelled)) && made(spelled));
    match common.next() {
        Some((spelled, is_complete)) => {
            let makes = initialisation.is_some_and(|init| record(&init.result).is_some());
            match is_complete || makes {
                true => Ok(Some(spelled.to_string())),
                false => Err(Mistake::new(
                    format!("`{spelled}` is not defined here, so that there can be none"),
                    "name the function that makes one, with --init",
                )),
            }
        }
        None => Ok(None),
    }
}

fn operation(
    name: String,
    signature: &Signature,
    structure: Option<&str>,
    thread: Option<&str>,
) -> Result<Operation, Mistake> {
    if signature.is_variadic {
        return Err(unsuitable(signature, "takes any number of arguments"));
    }
    let arguments = signature.params.iter().map(|param| argument(signature, param, structure, thread));
    let returned = match &signature.result {
        Kind::Void => Returned::Nothing,
        Kind::Boolean => Returned::Boolean,
        Kind::Integer => Returned::Integer,
        Kind::Float => Returned::Float,
        Kind::Pointer(Target::Scalar { spelled, .. }) if !spelled.ends_with('*') => Returned::PointerToNumber,
        Kind::Pointer(_) => Returned::Pointer,
        Kind::Other(_) => return Err(unsuitable(signature, "returns what is neither a number nor a pointer")),
    };
    Ok(Operation { name, function: signature.name.clone(), arguments: arguments.collect::<Result<_, _>>()?, returned })
}

fn argument(
    signature: &Signature,
    param: &Parameter,
    structure: Option<&str>,
    thread: Option<&str>,
) -> Result<Argument, Mistake> {
    if thread == Some(param.name.as_str()) {
        return Ok(Argument::Thread);
    }
    Ok(match &param.kind {
        Kind::Boolean | Kind::Integer | Kind::Float => Argument::Number,
        Kind::Pointer(Target::Record { spelled, .. }) if structure == Some(spelled) => Argument::Structure,
        Kind::Pointer(Target::Record { spelled, is_complete: true }) => Argument::Element(spelled.clone()),
        Kind::Pointer(Target::Scalar { spelled, is_const: false }) => {
            Argument::Result { spelled: spelled.clone(), is_pointer: spelled.ends_with('*') }
        }
        Kind::Pointer(_) => Argument::Address,
        Kind::Void | Kind::Other(_) => {
            let what = format!("takes `{}`, which is neither a number nor a pointer", param.name);
            return Err(unsuitable(signature, &what));
        }
    })
}

fn unsuitable(signature: &Signature, what: &str) -> Mistake {
    Mistake::new(format!("`{}` {what}", signature.name), "write a function that calls it, and name that one")
}

fn initialise(signature: &Signature, structure: Option<&str>, numbers: &[i64]) -> Result<Initialisation, Mistake> {
    let mut numbers = numbers.iter().copied();
    let mut arguments = Vec::new();
    for param in &signature.params {
        arguments.push(match &param.kind {
            Kind::Pointer(Target::Record { spelled, .. }) if structure == Some(spelled) => InitialArgument::Structure,
            Kind::Boolean | Kind::Integer | Kind::Float => {
                InitialArgument::Number(numbers.next().unwrap_or(USUAL_NUMBER))
            }
            Kind::Pointer(_) => InitialArgument::Null,
            Kind::Void | Kind::Other(_) => return Err(unsuitable(signature, "cannot be called here")),
        });
    }
    let is_structure = |(spelled, _): (&str, bool)| structure == Some(spelled);
    let makes_structure = record(&signature.result).is_some_and(is_structure);
    Ok(Initialisation { function: signature.name.clone(), arguments, makes_structure })
}
