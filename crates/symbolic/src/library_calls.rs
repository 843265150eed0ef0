//! What library functions that are known, but not part of the program, return, read and write: input, output, the time.
//!
//! What they access is in the table of [`leno_ir::library_memory`]; here it becomes addresses, lengths and conditions as
//! terms. The results of input functions, and what they write to memory, are unconstrained, so that a proof holds for
//! every input. The interpreter, which has to confirm a model, has an empty standard input and no files. So an effect
//! has *plain* conditions, which say that nothing comes in: models that keep them are worth asking for first, since the
//! others may not be confirmed.
//!
//! Functions that depend on nothing but the values of their arguments are in [`crate::floats`].

use crate::operators::{fit, width};
use leno_ir::interp::directive::{Count, Length, PlacedPrint, Scan};
use leno_ir::library_memory::{self, Arguments, Extent, Touch, touches};
use leno_ir::program::{DataModel, Function};
use leno_logic::term::{Sort, Term, Terms};

/// What a call can see of an engine's memory.
pub trait Surroundings {
    fn terms(&mut self) -> &mut Terms;
    fn model(&self) -> DataModel;
    /// The constant text that begins at an address.
    fn constant_text(&mut self, address: Term) -> Option<Vec<u8>>;
    /// How many bytes there are from an address to the end of its object, if it is known.
    fn room(&mut self, address: u64) -> Option<u64>;
    /// The word at an address in an area of variable arguments.
    fn word_at(&mut self, address: u64) -> Option<Term>;
    /// Whether an address is that of an open stream.
    fn is_stream(&self, address: u64) -> bool;
}

/// How much is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadLength {
    Bytes(u64),
    /// Up to and with a zero, but not more than so many bytes.
    Text {
        most: Option<u64>,
    },
}

/// Bytes that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    pub address: Term,
    pub length: ReadLength,
    /// The parameter that is the address, or among whose variable arguments it is.
    pub parameter: u32,
}

/// Bytes that get any value, where the condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overwritten {
    pub address: Term,
    pub bytes: u64,
    pub condition: Term,
    /// It is a text: one of the bytes is the zero at its end.
    pub is_text: bool,
    /// It is a text that is printed, from which none of the texts that are read may be taken.
    pub is_printed: bool,
    /// It is a row of numbers, which are less than these.
    pub limits: Option<Limits>,
    /// What it is, if that is known.
    pub value: Option<Term>,
    /// As of a [`Read`].
    pub parameter: u32,
}

/// Numbers of so many bytes each, one after the other from the beginning, and what they are less than.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub bytes: u32,
    pub below: &'static [u64],
}

/// What a call does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effect {
    /// None if the function returns nothing.
    pub result: Option<Term>,
    pub reads: Vec<Read>,
    pub writes: Vec<Overwritten>,
    /// What holds of the result.
    pub constraints: Vec<Term>,
    /// What holds if nothing comes in.
    pub plain: Vec<Term>,
    /// It may write more than there is room for.
    pub may_overrun: bool,
    /// It reads something that is not among its reads.
    pub reads_more: bool,
    /// Its format asks for arguments that are not there.
    pub lacks_arguments: bool,
}

/// The name that a function has in the standard.
pub fn standard_name(function: &Function) -> &str {
    library_memory::standard_name(&function.name)
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

/// What a call of a known function does; none if that is not known here.
pub fn call(around: &mut impl Surroundings, function: &Function, values: &[Option<Term>]) -> Option<Effect> {
    let name = standard_name(function);
    let mut call = Call { around, name, values, width: 0, effect: Effect::default() };
    if let Some(ty) = function.ret {
        call.width = width(call.around.model(), ty);
        call.effect.result = Some(call.around.terms().variable(Sort::Bits(call.width), name.to_string()));
    }
    let touches = touches(name);
    for touch in touches {
        call.touch(*touch)?;
        if call.effect.lacks_arguments {
            return Some(call.effect);
        }
    }
    call.constrain_result()?;
    Some(call.effect)
}

/// What the numbers are less than that a function writes which tells the time: seconds up to the year 2242, and a fraction of
/// a second; or the fields of a date. (Nothing is known of the year.)
fn limits(name: &str, word: u64) -> Option<Limits> {
    let bytes = word as u32;
    match name {
        "clock_gettime" => Some(Limits { bytes, below: &[1 << 33, 1_000_000_000] }),
        "gettimeofday" => Some(Limits { bytes, below: &[1 << 33, 1_000_000] }),
        "gmtime_r" | "localtime_r" | "mktime" | "timegm" => {
            Some(Limits { bytes: 4, below: &[61, 60, 24, 32, 12, 1 << 32, 7, 366, 2] })
        }
        _ => None,
    }
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

    fn touch(&mut self, touch: Touch) -> Option<()> {
        match touch {
            Touch::Reads(index, extent) => self.read(index, extent),
            Touch::Writes(index, extent) | Touch::Receives(index, extent) => self.overwrite(index, extent)?,
            Touch::Prints { format, arguments } => match self.print(format, arguments) {
                Some(()) => {}
                None => self.effect.reads_more = true,
            },
            Touch::Scans { format, arguments } => self.scan(format, arguments)?,
            Touch::Stream(index) => {
                let may_be_null = self.name == "fflush";
                let known = self.known(index as usize);
                let is_open = known.is_some_and(|at| self.around.is_stream(at) || (at == 0 && may_be_null));
                self.effect.reads_more |= !is_open;
            }
        }
        Some(())
    }

    /// What the result of a function can be.
    fn constrain_result(&mut self) -> Option<()> {
        let Some(result) = self.effect.result else { return Some(()) };
        match self.name {
            "clock_gettime" => {
                // (What is no clock sets `errno`, which is not encoded. Linux has these.)
                self.known(0).filter(|clock| *clock as u32 <= 11)?;
                self.effect.result = Some(self.number(0));
            }
            "gettimeofday" => self.effect.result = Some(self.number(0)),
            "time" => {
                let most = self.number(1 << 33);
                let is_time = if self.width > 33 { self.around.terms().ult(result, most) } else { Term::TRUE };
                self.effect.constraints.push(is_time);
            }
            "gmtime_r" | "localtime_r" | "asctime_r" | "ctime_r" => self.effect.result = self.argument(1),
            "strftime" => {
                let size = self.known(1)?;
                let most = self.number(size.saturating_sub(1).into());
                let fits = self.around.terms().ule(result, most);
                self.effect.constraints.push(fits);
            }
            "fgets" | "fgets_unlocked" => {
                let (buffer, null) = (self.argument(0)?, self.number(0));
                let result = self.returns_unless_plain(buffer, null);
                let fails = self.around.terms().eq(result, null);
                let succeeds = self.around.terms().not(fails);
                self.effect.writes.iter_mut().for_each(|write| write.condition = succeeds);
            }
            "sprintf" | "vsprintf" | "snprintf" | "vsnprintf" if !self.effect.lacks_arguments => {
                let (most, is_exact) = self.longest().unwrap_or((u64::MAX, false));
                let most = self.number(most.min(i32::MAX as u64).into());
                if is_exact {
                    self.effect.result = Some(most);
                } else {
                    let fits = self.around.terms().ule(result, most);
                    self.effect.constraints.push(fits);
                }
            }
            "read" | "pread" | "pread64" => self.returns_count(result, 2, true)?,
            "fread" | "fread_unlocked" => self.returns_count(result, 2, false)?,
            "getchar" | "getc" | "fgetc" | "_IO_getc" | "getchar_unlocked" | "getc_unlocked" | "fgetc_unlocked" => {
                let byte = self.around.terms().variable(Sort::Bits(8), self.name.to_string());
                let (width, end) = (self.width, self.end_of_input());
                let byte = self.around.terms().zero_extend(byte, width);
                self.returns_unless_plain(byte, end);
            }
            "fopen" | "fopen64" => {
                let mode = self.argument(1).and_then(|mode| self.around.constant_text(mode));
                if mode.is_some_and(|mode| mode.starts_with(b"r")) {
                    let null = self.number(0);
                    self.returns_unless_plain(result, null);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// The result is at most what a parameter says, or perhaps -1.
    fn returns_count(&mut self, result: Term, index: usize, may_fail: bool) -> Option<()> {
        let limit = self.known(index)?;
        let (limit, error, zero) = (self.number(limit.into()), self.number(u128::MAX), self.number(0));
        let terms = self.around.terms();
        let mut fits = terms.ule(result, limit);
        if may_fail {
            let failed = terms.eq(result, error);
            fits = terms.or2(fits, failed);
        }
        self.effect.constraints.push(fits);
        self.returns_unless_plain(result, zero);
        Some(())
    }

    /// So many bytes, if that is known.
    fn bytes(&mut self, extent: Extent) -> Option<u64> {
        match extent {
            Extent::Fixed(bytes) => Some(bytes),
            Extent::Words(words) => Some(words * self.around.model().pointer_bytes()),
            Extent::Bytes(index) => self.known(index as usize),
            Extent::Product(a, b) => self.known(a as usize)?.checked_mul(self.known(b as usize)?),
            Extent::Text | Extent::Printed | Extent::PrintedWithin(_) => None,
        }
    }

    fn read(&mut self, parameter: u32, extent: Extent) {
        let Some(address) = self.argument(parameter as usize) else {
            self.effect.reads_more = true;
            return;
        };
        if self.name == "perror" && self.known(parameter as usize) == Some(0) {
            return;
        }
        let length = match extent {
            Extent::Text => Some(ReadLength::Text { most: None }),
            extent => self.bytes(extent).map(ReadLength::Bytes),
        };
        match length {
            Some(length) => self.effect.reads.push(Read { address, length, parameter }),
            None => self.effect.reads_more = true,
        }
    }

    /// Any bytes where an argument points to; nothing where it is null.
    fn overwrite(&mut self, parameter: u32, extent: Extent) -> Option<()> {
        let address = self.argument(parameter as usize)?;
        let known = self.known(parameter as usize);
        if known == Some(0) && matches!(self.name, "snprintf" | "vsnprintf" | "time" | "gettimeofday" | "clock_gettime")
            || known == Some(0) && self.name.starts_with("strto")
        {
            return Some(());
        }
        let room = known.and_then(|known| self.around.room(known));
        let mut may_be_less = !matches!(extent, Extent::Fixed(_) | Extent::Words(_));
        let bytes = match extent {
            Extent::Printed | Extent::PrintedWithin(_) => {
                let printed = self.longest();
                let most = match extent {
                    Extent::PrintedWithin(index) => Some(self.known(index as usize)?),
                    _ => None,
                };
                may_be_less = printed.is_none_or(|(_, is_exact)| !is_exact);
                let printed = printed.map(|(longest, _)| longest.saturating_add(1));
                [printed, most].into_iter().flatten().min()
            }
            extent => Some(self.bytes(extent)?),
        };
        let bytes = match (bytes, room) {
            (Some(bytes), Some(room)) if bytes > room && may_be_less => {
                self.effect.may_overrun = true;
                room
            }
            (Some(bytes), _) => bytes,
            (None, room) => {
                self.effect.may_overrun = true;
                room?
            }
        };
        let is_printed = matches!(extent, Extent::Printed | Extent::PrintedWithin(_));
        let is_text = is_printed || matches!(self.name, "fgets" | "fgets_unlocked" | "asctime_r" | "ctime_r");
        let limits = limits(self.name, self.around.model().pointer_bytes());
        let condition = Term::TRUE;
        let value = self.effect.result.filter(|_| self.name == "time");
        let write = Overwritten { address, bytes, condition, is_text, is_printed, limits, value, parameter };
        self.effect.writes.push(write);
        Some(())
    }

    /// Where the variable arguments begin.
    fn first_argument(&mut self, arguments: Arguments) -> Option<u64> {
        let at = self.known(arguments.parameter() as usize)?;
        match (arguments, self.around.model()) {
            (Arguments::Area(_), _) | (Arguments::List(_), DataModel::Ilp32) => Some(at),
            (Arguments::List(_), DataModel::Lp64) => {
                let area = self.around.word_at(at.checked_add(8)?)?;
                self.around.terms().as_bits(area).map(|bits| bits as u64)
            }
        }
    }

    /// The `scanf` family: so many of the places are written, from the first one on, as the result says.
    fn scan(&mut self, format: u32, arguments: Arguments) -> Option<()> {
        self.read(format, Extent::Text);
        let count = self.effect.result?;
        let text = self.argument(format as usize)?;
        let text = self.around.constant_text(text)?;
        let word = self.around.model().pointer_bytes();
        let directives = Scan::all(&text, word)?;
        let all = directives.iter().filter(|directive| !directive.suppressed && directive.conversion != b'n').count();
        let (end, most) = (self.end_of_input(), self.number(all as u128));
        let terms = self.around.terms();
        let (is_end, fits) = (terms.eq(count, end), terms.ule(count, most));
        let fits = terms.or2(is_end, fits);
        self.effect.constraints.push(fits);
        let is_text = self.name.ends_with("sscanf");
        let result = if is_text { count } else { self.returns_unless_plain(count, end) };
        let mut next = self.first_argument(arguments)?;
        let mut assigned = 0;
        for directive in directives.into_iter().filter(|directive| !directive.suppressed) {
            let address = self.next_word(&mut next)?;
            let is_count = directive.conversion == b'n';
            let condition = self.is_reached(assigned, result, is_count);
            assigned += u128::from(!is_count);
            let bytes = match directive.most_bytes(word) {
                Some(bytes) => bytes,
                None if matches!(directive.conversion, b's' | b'[') && directive.length == Length::Int => {
                    self.effect.may_overrun = true;
                    let known = self.around.terms().as_bits(address)? as u64;
                    self.around.room(known)?
                }
                None => return None,
            };
            let (parameter, is_text) = (arguments.parameter(), matches!(directive.conversion, b's' | b'['));
            let (is_printed, limits, value) = (false, None, None);
            let write = Overwritten { address, bytes, condition, is_text, is_printed, limits, value, parameter };
            self.effect.writes.push(write);
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

    /// The `printf` family: the texts that are printed are read, and `%n` is written.
    fn print(&mut self, format: u32, arguments: Arguments) -> Option<()> {
        self.read(format, Extent::Text);
        let text = self.argument(format as usize)?;
        let text = self.around.constant_text(text)?;
        let directives = PlacedPrint::all(&text, self.around.model().pointer_bytes())?;
        if directives.is_empty() {
            return Some(());
        }
        let area = self.first_argument(arguments)?;
        let parameter = arguments.parameter();
        let room = if area == 0 { Some(0) } else { self.around.room(area) };
        for placed in directives {
            if room.is_some_and(|room| placed.ends_at > room) {
                self.effect.lacks_arguments = true;
                return Some(());
            }
            match self.printed(&placed, area)? {
                Printed::Value => {}
                Printed::Text { address, most } => {
                    // (A null pointer is printed as a word.)
                    if self.around.terms().as_bits(address) != Some(0) {
                        self.effect.reads.push(Read { address, length: ReadLength::Text { most }, parameter });
                    }
                }
                Printed::Count { address, bytes } => {
                    let (condition, is_text, is_printed, limits) = (Term::TRUE, false, false, None);
                    let value = None;
                    let write =
                        Overwritten { address, bytes, condition, is_text, is_printed, limits, value, parameter };
                    self.effect.writes.push(write);
                }
            }
        }
        Some(())
    }

    /// The most bytes that a function that prints to memory may print, and whether it prints just so many.
    fn longest(&mut self) -> Option<(u64, bool)> {
        let (format, arguments) = touches(self.name).iter().find_map(|touch| match touch {
            Touch::Prints { format, arguments } => Some((*format, *arguments)),
            _ => None,
        })?;
        let text = self.argument(format as usize)?;
        let text = self.around.constant_text(text)?;
        let directives = PlacedPrint::all(&text, self.around.model().pointer_bytes())?;
        let (mut longest, mut is_exact) = (text.len() as u64, true);
        if directives.is_empty() {
            return Some((longest, is_exact));
        }
        let area = self.first_argument(arguments)?;
        for placed in directives {
            let width = match placed.directive.width {
                Some(Count::Argument(_)) => return None,
                Some(Count::Number(width)) => width,
                None => 0,
            };
            let (most, is_all) = self.longest_piece(&placed, area)?;
            is_exact &= is_all;
            longest = longest.checked_add(most.max(width))?.saturating_sub(placed.letters as u64);
        }
        Some((longest, is_exact))
    }

    /// The same for what a directive prints, before it is filled up to its width.
    fn longest_piece(&mut self, placed: &PlacedPrint, area: u64) -> Option<(u64, bool)> {
        let directive = placed.directive;
        Some(match (self.printed(placed, area)?, directive.conversion, directive.precision) {
            (Printed::Text { address, most }, _, _) => {
                let most = most.unwrap_or(u64::MAX);
                if let Some(text) = self.around.constant_text(address) {
                    return Some(((text.len() as u64).min(most), true));
                }
                let address = self.around.terms().as_bits(address);
                let room = address.and_then(|address| self.around.room(address as u64));
                // (With a zero at its end, if it is not cut.)
                (room.map_or(u64::MAX, |room| room.saturating_sub(1)).min(most), false)
            }
            (Printed::Count { .. }, _, _) => (0, true),
            (_, b'%' | b'c', _) => (1, true),
            (_, b'd' | b'i' | b'u', None) => {
                let bytes = directive.length.bytes(self.around.model().pointer_bytes());
                let value = self.around.word_at(area + placed.value_at)?;
                // (The rest of its cell is undefined.)
                let value = self.around.terms().extract(value, 0, 32);
                match self.around.terms().as_bits(value) {
                    Some(bits) if bytes == 4 && !directive.plus && !directive.space => {
                        let is_signed = directive.conversion != b'u';
                        let digits = if is_signed { (bits as i32).to_string() } else { (bits as u32).to_string() };
                        (digits.len() as u64, true)
                    }
                    _ if bytes <= 4 => (11, false),
                    _ => (21, false),
                }
            }
            // Octal digits, a sign and a prefix.
            (_, b'o' | b'x' | b'X' | b'p', None) => (25, false),
            _ => return None,
        })
    }

    /// What a directive prints, whose arguments are in this area. None if it is not known where that is.
    fn printed(&mut self, placed: &PlacedPrint, area: u64) -> Option<Printed> {
        let PlacedPrint { directive, precision_at, value_at, .. } = placed;
        match directive.conversion {
            b's' => {
                let most = match (directive.precision, precision_at) {
                    (Some(Count::Number(count)), _) => Some(count),
                    (_, Some(at)) => {
                        let count = self.around.word_at(area + at)?;
                        // (A negative one is none.)
                        u64::try_from(self.around.terms().as_bits(count)? as u32 as i32).ok()
                    }
                    _ => None,
                };
                Some(Printed::Text { address: self.around.word_at(area + value_at)?, most })
            }
            b'n' => {
                let bytes = directive.length.bytes(self.around.model().pointer_bytes());
                Some(Printed::Count { address: self.around.word_at(area + value_at)?, bytes })
            }
            _ => Some(Printed::Value),
        }
    }

    /// The next word among variable arguments.
    fn next_word(&mut self, next: &mut u64) -> Option<Term> {
        let word = self.around.word_at(*next)?;
        *next += self.around.model().pointer_bytes();
        Some(word)
    }
}

/// What the argument of a directive that prints is.
enum Printed {
    Value,
    Text {
        address: Term,
        most: Option<u64>,
    },
    /// A number of so many bytes is written there.
    Count {
        address: Term,
        bytes: u64,
    },
}
