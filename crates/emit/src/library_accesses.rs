//! What a library function is about to read and write, for the runtime that stops before it.
//!
//! Written as `{address, bytes, flags, format, area}`, each with C expressions, from the table of
//! [`leno_ir::library_memory`]. How far a text goes is found out when it matters: then `bytes` is the most, and the flags
//! say so. A text that is to be printed has its format and arguments. What is not known when the call is written (a
//! format that is computed) is left out.

use crate::instr::Writer;
use leno_ir::interp::directive::{Count, PlacedPrint, Scan};
use leno_ir::library_memory::{Arguments, Extent, Touch, touches};
use leno_ir::program::{Body, Expr, FuncId, ObjectKind};

const ALL: &str = "(ptr)-1";

impl Writer<'_> {
    pub(crate) fn library_accesses(&self, callee: FuncId, args: &[Expr]) -> Vec<String> {
        let function = &self.program().functions[callee];
        if !matches!(&function.body, Body::External(external) if external.known) {
            return Vec::new();
        }
        let touches = touches(&function.name);
        touches.iter().flat_map(|touch| self.touched(*touch, touches, args).unwrap_or_default()).collect()
    }

    fn touched(&self, touch: Touch, touches: &[Touch], args: &[Expr]) -> Option<Vec<String>> {
        let argument = |index: u32| Some(self.scope.value(args.get(index as usize)?));
        Some(match touch {
            Touch::Reads(index, Extent::Text) => vec![text(&argument(index)?, ALL)],
            Touch::Reads(index, extent) => vec![access(&argument(index)?, &self.extent(extent, args)?, "0")],
            Touch::Writes(index, Extent::Printed) => vec![self.destination(&argument(index)?, ALL, touches, args)?],
            Touch::Writes(index, Extent::PrintedWithin(most)) => {
                vec![self.destination(&argument(index)?, &argument(most)?, touches, args)?]
            }
            Touch::Writes(index, extent) | Touch::Receives(index, extent) => {
                vec![access(&argument(index)?, &self.extent(extent, args)?, "LENO_WRITES")]
            }
            Touch::Prints { format, arguments } => self.printed(format, arguments, args)?,
            Touch::Scans { format, arguments } => self.scanned(format, arguments, args)?,
            Touch::Stream(_) => Vec::new(),
        })
    }

    fn extent(&self, extent: Extent, args: &[Expr]) -> Option<String> {
        let argument = |index: u32| Some(self.scope.value(args.get(index as usize)?));
        Some(match extent {
            Extent::Fixed(bytes) => bytes.to_string(),
            Extent::Words(words) => format!("{words} * sizeof(ptr)"),
            Extent::Bytes(index) => argument(index)?,
            Extent::Product(a, b) => format!("(ptr){} * (ptr){}", argument(a)?, argument(b)?),
            Extent::Text | Extent::Printed | Extent::PrintedWithin(_) => return None,
        })
    }

    /// Where a text is printed to.
    fn destination(&self, address: &str, most: &str, touches: &[Touch], args: &[Expr]) -> Option<String> {
        let (format, arguments) = touches.iter().find_map(|touch| match touch {
            Touch::Prints { format, arguments } => Some((*format, *arguments)),
            _ => None,
        })?;
        let directives = PlacedPrint::all(&self.constant_text(format, args)?, self.scope.model().pointer_bytes())?;
        if directives.iter().any(|placed| placed.directive.conversion == b'n') {
            return None;
        }
        let format = self.scope.value(args.get(format as usize)?);
        let area = self.area(arguments, args)?;
        Some(format!("{{(ptr){address}, (ptr)({most}), LENO_WRITES | LENO_TEXT, (ptr){format}, (ptr){area}}}"))
    }

    fn area(&self, arguments: Arguments, args: &[Expr]) -> Option<String> {
        let last = self.scope.value(args.get(arguments.parameter() as usize)?);
        Some(match arguments {
            Arguments::Area(_) => last,
            Arguments::List(_) => format!("leno_va_area({last})"),
        })
    }

    fn constant_text(&self, index: u32, args: &[Expr]) -> Option<Vec<u8>> {
        let Some(Expr::Object(object)) = args.get(index as usize) else { return None };
        let object = &self.program().objects[*object];
        (object.kind == ObjectKind::Constant).then(|| object.text(0)).flatten()
    }

    fn printed(&self, format: u32, arguments: Arguments, args: &[Expr]) -> Option<Vec<String>> {
        let word = self.scope.model().pointer_bytes();
        let directives = PlacedPrint::all(&self.constant_text(format, args)?, word)?;
        let area = self.area(arguments, args)?;
        let at = |offset: u64| format!("(ptr)leno_va_word({area}, {})", offset / word);
        let touched = directives.iter().filter_map(|placed| match placed.directive.conversion {
            b's' => {
                let most = match (placed.directive.precision, placed.precision_at) {
                    (Some(Count::Number(count)), _) => count.to_string(),
                    (_, Some(offset)) => format!("(ptr)(int){}", at(offset)),
                    _ => ALL.to_string(),
                };
                Some(text(&at(placed.value_at), &most))
            }
            b'n' => {
                let bytes = placed.directive.length.bytes(word).to_string();
                Some(access(&at(placed.value_at), &bytes, "LENO_WRITES"))
            }
            _ => None,
        });
        Some(touched.collect())
    }

    fn scanned(&self, format: u32, arguments: Arguments, args: &[Expr]) -> Option<Vec<String>> {
        let word = self.scope.model().pointer_bytes();
        let directives = Scan::all(&self.constant_text(format, args)?, word)?;
        let area = self.area(arguments, args)?;
        let stored = directives.iter().filter(|directive| !directive.suppressed).enumerate();
        let touched = stored.map(|(index, directive)| {
            // Of a text at least its end is written.
            let bytes = directive.most_bytes(word).unwrap_or(1).to_string();
            access(&format!("(ptr)leno_va_word({area}, {index})"), &bytes, "LENO_WRITES")
        });
        Some(touched.collect())
    }
}

fn access(address: &str, bytes: &str, flags: &str) -> String {
    format!("{{(ptr){address}, (ptr)({bytes}), {flags}, 0, 0}}")
}

/// Up to a zero, but not more than so many bytes.
fn text(address: &str, most: &str) -> String {
    access(address, most, "LENO_TEXT")
}
