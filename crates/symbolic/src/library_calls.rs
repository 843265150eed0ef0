//! What library functions that are known, but not part of the program, return and write: input, output, the time.
//!
//! The results of input functions, and what they write to memory, are unconstrained, so that a proof holds for every
//! input. The interpreter, which has to confirm a model, has an empty standard input and no files. So an effect has
//! *plain* conditions, which say that nothing comes in: models that keep them are worth asking for first, since the
//! others may not be confirmed.
//!
//! Functions that depend on nothing but the values of their arguments are in [`crate::floats`].

use crate::operators::{fit, width};
use leno_ir::interp::directive::{Count, Length, Print, Scan};
use leno_ir::program::{Body, DataModel, Function, Type};
use leno_logic::term::{Sort, Term, Terms};

/// What a call can see of an engine's memory.
pub trait Surroundings {
    fn terms(&mut self) -> &mut Terms;
    fn model(&self) -> DataModel;
    /// The constant text that begins at an address.
    fn constant_text(&mut self, address: Term) -> Option<Vec<u8>>;
    /// How many bytes there are from an address to the end of its object, if the function can write there.
    fn room(&mut self, address: u64) -> Option<u64>;
    /// The pointer at an address in an area of variable arguments.
    fn pointer_at(&mut self, address: u64) -> Option<Term>;
    /// Whether bytes up to a zero can be read at an address.
    fn is_text(&mut self, address: Term) -> bool;
    /// Whether an address is that of an open stream.
    fn is_stream(&self, address: u64) -> bool;
}

/// Bytes that get any value, where the condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overwritten {
    pub address: u64,
    pub bytes: u64,
    pub condition: Term,
}

/// What a call does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effect {
    /// None if the function returns nothing.
    pub result: Option<Term>,
    pub writes: Vec<Overwritten>,
    /// What holds of the result.
    pub constraints: Vec<Term>,
    /// What holds if nothing comes in.
    pub plain: Vec<Term>,
    /// It may write more than there is room for.
    pub may_overrun: bool,
}

/// The name that a function has in the standard.
pub fn standard_name(function: &Function) -> &str {
    let name = ["__isoc99_", "__isoc23_"].iter().find_map(|prefix| function.name.strip_prefix(prefix));
    name.unwrap_or(&function.name)
}

/// The result of a function that depends on nothing but its arguments; none if it has to be left open.
pub fn pure_call(terms: &mut Terms, model: DataModel, function: &Function, values: &[Option<Term>]) -> Option<Term> {
    let result = width(model, function.ret?);
    let mut arguments = Vec::new();
    for (value, local) in values.iter().zip(function.locals.iter()).take(function.params as usize) {
        let width = width(model, local.ty);
        arguments.push(match value {
            Some(value) => fit(terms, *value, width),
            None => terms.variable(Sort::Bits(width), "undefined"),
        });
    }
    let has_rule = (1..=3).contains(&arguments.len());
    has_rule.then(|| crate::floats::Floats { terms, model }.library(&function.name, result, &arguments))
}

/// What a call of a known function does; none if that has no rule here.
pub fn call(around: &mut impl Surroundings, function: &Function, values: &[Option<Term>]) -> Option<Effect> {
    let Some(ty) = function.ret else { return Some(Effect::default()) };
    let (name, word) = (standard_name(function), around.model().pointer_bytes());
    let width = width(around.model(), ty);
    let result = around.terms().variable(Sort::Bits(width), name.to_string());
    let mut call = Call { around, name, values, width, effect: Effect { result: Some(result), ..Effect::default() } };
    match name {
        "time" => call.overwrite(0, word)?,
        "gettimeofday" | "clock_gettime" => {
            call.overwrite(usize::from(name == "clock_gettime"), 2 * word)?;
            call.effect.result = Some(call.number(0));
        }
        "scanf" | "fscanf" | "sscanf" => call.scan(result)?,
        "sprintf" | "snprintf" => call.print_to_memory()?,
        "fgets" | "read" | "fread" => call.read_bytes(result)?,
        "getchar" | "getc" | "fgetc" | "_IO_getc" => {
            let byte = call.around.terms().variable(Sort::Bits(8), name.to_string());
            let byte = call.around.terms().zero_extend(byte, width);
            let end = call.end_of_input();
            call.returns_unless_plain(byte, end);
        }
        "fopen" | "fopen64" => {
            let mode = call.argument(1).and_then(|mode| call.around.constant_text(mode));
            if mode.is_some_and(|mode| mode.starts_with(b"r")) {
                let null = call.number(0);
                call.returns_unless_plain(result, null);
            }
        }
        _ => {
            let Body::External(external) = &function.body else { return None };
            let mut is_null = |index: &u32| call.known(*index as usize) == Some(0);
            if !external.writes.iter().all(&mut is_null) {
                return None;
            }
        }
    }
    Some(call.effect)
}

/// Whether all that a function reads are texts, for certain.
pub fn reads_texts(around: &mut impl Surroundings, function: &Function, values: &[Option<Term>]) -> bool {
    let Body::External(external) = &function.body else { return false };
    if external.pure {
        return true;
    }
    let name = standard_name(function);
    let mut call = Call { around, name, values, width: 0, effect: Effect::default() };
    let fixed = (function.params as usize).saturating_sub(usize::from(external.variadic));
    for (index, local) in function.locals.iter().take(fixed).enumerate() {
        if local.ty != Type::Ptr || external.writes.contains(&(index as u32)) {
            continue;
        }
        let Some(value) = call.argument(index) else { return false };
        let may_be_null = matches!(name, "fflush" | "perror" | "gettimeofday" | "setbuf" | "setvbuf");
        let known = call.known(index);
        let is_good = known.is_some_and(|address| call.around.is_stream(address) || (address == 0 && may_be_null));
        let has_length = matches!(name, "fwrite" | "write" | "gettimeofday");
        if !is_good && (has_length || !call.around.is_text(value)) {
            return false;
        }
    }
    if !external.variadic || name.ends_with("scanf") {
        return !name.starts_with('v');
    }
    call.prints_texts(fixed).unwrap_or(false)
}

/// A call whose effect is being collected.
struct Call<'a, S> {
    around: &'a mut S,
    name: &'a str,
    values: &'a [Option<Term>],
    /// Of the result.
    width: u32,
    effect: Effect,
}

impl<S: Surroundings> Call<'_, S> {
    fn argument(&self, index: usize) -> Option<Term> {
        self.values.get(index).copied().flatten()
    }

    /// The value of an argument that is a constant.
    fn known(&mut self, index: usize) -> Option<u64> {
        let value = self.argument(index)?;
        self.around.terms().as_bits(value).map(|bits| bits as u64)
    }

    fn number(&mut self, value: u128) -> Term {
        self.around.terms().bits(self.width, value)
    }

    /// `EOF`
    fn end_of_input(&mut self) -> Term {
        self.number(u128::MAX)
    }

    /// The result is `otherwise` when nothing comes in, and in other cases perhaps too.
    fn returns_unless_plain(&mut self, value: Term, otherwise: Term) -> Term {
        let terms = self.around.terms();
        let ends = terms.variable(Sort::Bool, "nothing comes in");
        let result = terms.ite(ends, otherwise, value);
        self.effect.plain.push(ends);
        self.effect.result = Some(result);
        result
    }

    /// Any bytes where an argument points to; nothing where it is null.
    fn overwrite(&mut self, index: usize, bytes: u64) -> Option<()> {
        let address = self.known(index)?;
        if address != 0 {
            self.effect.writes.push(Overwritten { address, bytes, condition: Term::TRUE });
        }
        Some(())
    }

    /// `fgets`, `read`, `fread`: bytes from a file.
    fn read_bytes(&mut self, result: Term) -> Option<()> {
        let (place, most) = match self.name {
            "fgets" => (0, self.known(1)?),
            "read" => (1, self.known(2)?),
            _ => (0, self.known(1)?.checked_mul(self.known(2)?)?),
        };
        self.overwrite(place, most)?;
        let zero = self.number(0);
        if self.name == "fgets" {
            let buffer = self.argument(0)?;
            self.returns_unless_plain(buffer, zero);
            return Some(());
        }
        let limit = if self.name == "read" { most } else { self.known(2)? };
        let (limit, error) = (self.number(limit.into()), self.number(u128::MAX));
        let terms = self.around.terms();
        let mut fits = terms.ule(result, limit);
        if self.name == "read" {
            let failed = terms.eq(result, error);
            fits = terms.or2(fits, failed);
        }
        self.effect.constraints.push(fits);
        self.returns_unless_plain(result, zero);
        Some(())
    }

    /// The `scanf` family: so many of the places are written, from the first one on, as the result says.
    fn scan(&mut self, count: Term) -> Option<()> {
        let format = usize::from(self.name != "scanf");
        let text = self.argument(format)?;
        let text = self.around.constant_text(text)?;
        let word = self.around.model().pointer_bytes();
        let directives = Scan::all(&text, word)?;
        let all = directives.iter().filter(|directive| !directive.suppressed && directive.conversion != b'n').count();
        let (end, most) = (self.end_of_input(), self.number(all as u128));
        let terms = self.around.terms();
        let (is_end, fits) = (terms.eq(count, end), terms.ule(count, most));
        let fits = terms.or2(is_end, fits);
        self.effect.constraints.push(fits);
        let result = if self.name == "sscanf" { count } else { self.returns_unless_plain(count, end) };
        let mut next = self.known(format + 1)?;
        let mut assigned = 0;
        for directive in directives.into_iter().filter(|directive| !directive.suppressed) {
            let pointer = self.next_pointer(&mut next)?;
            let address = self.around.terms().as_bits(pointer)? as u64;
            let is_count = directive.conversion == b'n';
            let condition = self.is_reached(assigned, result, is_count);
            assigned += u128::from(!is_count);
            let bytes = self.scanned_bytes(&directive, address)?;
            self.effect.writes.push(Overwritten { address, bytes, condition });
        }
        Some(())
    }

    /// Whether a directive of `scanf` is carried out, after so many that were assigned. One that only counts is not
    /// part of the result: if the scan ends between its neighbours, it may have been reached or not.
    fn is_reached(&mut self, assigned: u128, result: Term, is_count: bool) -> Term {
        let before = self.number(assigned);
        let terms = self.around.terms();
        // Both as signed numbers: nothing is assigned at the end of the input.
        let goes_beyond = terms.slt(before, result);
        if !is_count {
            return goes_beyond;
        }
        let may_be = terms.variable(Sort::Bool, "counted");
        let ends_here = if assigned == 0 { Term::TRUE } else { terms.eq(before, result) };
        let counted = terms.and2(may_be, ends_here);
        terms.or2(goes_beyond, counted)
    }

    /// How many bytes a directive of `scanf` may write.
    fn scanned_bytes(&mut self, directive: &Scan, address: u64) -> Option<u64> {
        let word = self.around.model().pointer_bytes();
        Some(match (directive.conversion, directive.width) {
            (b's' | b'[' | b'c', _) if directive.length != Length::Int => return None,
            (b's' | b'[', Some(width)) => (width as u64).checked_add(1)?,
            (b'c', width) => width.unwrap_or(1) as u64,
            (b's' | b'[', None) => {
                self.effect.may_overrun = true;
                self.around.room(address)?
            }
            (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'n', _) => directive.length.bytes(word),
            (b'p', _) => word,
            (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', _) => u64::from(directive.float_kind().bits() / 8),
            _ => return None,
        })
    }

    /// `sprintf` and `snprintf`.
    fn print_to_memory(&mut self) -> Option<()> {
        let room = match self.known(0)? {
            0 => return (self.name == "snprintf").then_some(()),
            address => self.around.room(address)?,
        };
        let bytes = match self.name {
            "snprintf" => self.known(1)?,
            _ => match self.longest() {
                Some(longest) if longest < room => longest + 1,
                _ => {
                    self.effect.may_overrun = true;
                    room
                }
            },
        };
        self.overwrite(0, bytes)
    }

    /// The most bytes that `sprintf` may print.
    fn longest(&mut self) -> Option<u64> {
        let text = self.argument(1)?;
        let text = self.around.constant_text(text)?;
        let mut longest = text.len() as u64;
        let mut next = self.known(2)?;
        for (directive, letters) in Print::all(&text, self.around.model().pointer_bytes())? {
            let address = self.printed(&directive, &mut next)?;
            let width = match directive.width {
                Some(Count::Argument(_)) => return None,
                Some(Count::Number(width)) => width,
                None => 0,
            };
            let most = match (directive.conversion, directive.precision) {
                (b'%' | b'c', _) => 1,
                (b's', _) => {
                    let address = self.around.terms().as_bits(address?)? as u64;
                    self.around.room(address)?
                }
                (b'd' | b'i' | b'u', None) if directive.length.bytes(8) <= 4 => 11,
                (b'd' | b'i' | b'u', None) => 20,
                // Octal digits, a sign and a prefix.
                (b'o' | b'x' | b'X' | b'p', None) => 25,
                _ => return None,
            };
            longest = longest.checked_add(most.max(width))?.saturating_sub(letters as u64);
        }
        Some(longest)
    }

    /// Whether all texts that a function prints, whose format is argument `fixed - 1`, are texts for certain.
    fn prints_texts(&mut self, fixed: usize) -> Option<bool> {
        let format = self.argument(fixed.checked_sub(1)?)?;
        let format = self.around.constant_text(format)?;
        let directives = Print::all(&format, self.around.model().pointer_bytes())?;
        let Some(mut next) = self.known(fixed) else { return Some(directives.is_empty()) };
        for (directive, _) in directives {
            if let Some(address) = self.printed(&directive, &mut next)?
                && !self.around.is_text(address)
            {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Moves past the argument of a directive that prints; gives it if it is the address of a text. None where it is of
    /// a kind that is not understood here.
    fn printed(&mut self, directive: &Print, next: &mut u64) -> Option<Option<Term>> {
        let word = self.around.model().pointer_bytes();
        let is_argument = |count: &Option<Count>| matches!(count, Some(Count::Argument(_)));
        *next += word * [directive.width, directive.precision].iter().filter(|count| is_argument(count)).count() as u64;
        match directive.conversion {
            _ if directive.position.is_some() => return None,
            b'%' => {}
            b's' if directive.precision.is_none() && directive.length == Length::Int => {
                return Some(Some(self.next_pointer(next)?));
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => match (directive.length, word) {
                (Length::LongDouble, 8) => *next = next.checked_next_multiple_of(16)? + 16,
                (Length::LongDouble, _) => *next += 12,
                _ => *next += 8,
            },
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => *next += directive.length.bytes(word).max(word),
            b'c' if directive.length == Length::Int => *next += word,
            b'p' => *next += word,
            _ => return None,
        }
        Some(None)
    }

    /// The next pointer among variable arguments.
    fn next_pointer(&mut self, next: &mut u64) -> Option<Term> {
        let pointer = self.around.pointer_at(*next)?;
        *next += self.around.model().pointer_bytes();
        Some(pointer)
    }
}
