//! What Leno says about the user's text: a message, a place, and what to do.

mod render;

pub use render::{render, render_excerpt};

use crate::source::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// A message about one place of one translation unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub span: Span,
    pub message: String,
    /// What the reader can do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, span, message: message.into(), help: None }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, span, message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// The result of a step that stops at the first error.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A piece of the user's text inside of a message: between backquotes, short, and fit for a terminal.
pub(crate) fn quoted(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let head = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]);
    let mut quoted = "`".to_string();
    for character in head.chars().take(LONGEST) {
        if character.is_control() { quoted.extend(character.escape_default()) } else { quoted.push(character) }
    }
    quoted.push_str(if head.chars().nth(LONGEST).is_some() { "…`" } else { "`" });
    quoted
}
