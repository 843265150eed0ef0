//! Functions that are known, but not part of the program: input, output, the time.
//!
//! What comes from outside may be anything: results, and what is written to memory, are fresh variables, so that a proof holds for every
//! input. The interpreter, which has to confirm a model, has an empty standard input and no files. So there are *plain* conditions, which say
//! that nothing comes in; models that keep them are asked for first, since the others may not be confirmed.
//!
//! Memory that threads share is written in one step, as the interpreter does it; only static objects are, anything else is refused.

use crate::objects::{Initial, InstanceId};
use crate::skeleton::{NodeId, Unit};
use crate::state::State;
use crate::summarize::{Refused, Summarizer};
use leno_ir::interp::directive::{Count, Length, Print, Scan};
use leno_ir::points_to::AbstractObject;
use leno_ir::program::{Body, Datum, FuncId, ObjectKind, Type};
use leno_ir::sharing::Sharing;
use leno_logic::term::{Sort, Term};

/// Bytes that a function may write before we say that they are too many.
const MOST_BYTES: u64 = 1 << 16;

/// Constant texts that a pointer is compared with.
const MOST_TEXTS: usize = 200;

impl Summarizer<'_> {
    /// A call of a known function: the state after it, and its result.
    pub(crate) fn call_known(
        &mut self,
        func: FuncId,
        mut state: State,
        values: &[Option<Term>],
    ) -> Result<(State, Option<Term>), Refused> {
        let function = &self.program.functions[func];
        let width = function.ret.map(|ty| self.width(ty));
        let word = self.program.model.pointer_bytes();
        if self.properties.memory && !self.texts_are_good(func, &mut state, values) {
            self.skeleton.gap(format!("what `{}` reads is not checked", function.name));
        }
        let name = ["__isoc99_", "__isoc23_"].iter().find_map(|prefix| function.name.strip_prefix(prefix));
        let name = name.unwrap_or(&function.name);
        let refused = || Refused::new(format!("`{}` is called, whose effects are not encoded", function.name));
        let Some(width) = width else { return Ok((state, None)) };
        let result = self.terms.variable(Sort::Bits(width), name.to_string());
        match name {
            "time" => self.overwrite(&mut state, values, 0, word).ok_or_else(refused)?,
            "gettimeofday" | "clock_gettime" => {
                let place = usize::from(name == "clock_gettime");
                self.overwrite(&mut state, values, place, 2 * word).ok_or_else(refused)?;
                let zero = self.terms.bits(width, 0);
                return Ok((state, Some(zero)));
            }
            "scanf" | "fscanf" | "sscanf" => {
                let result = self.scan(&mut state, name, values, width).ok_or_else(refused)?;
                return Ok((state, Some(result)));
            }
            "sprintf" | "snprintf" => self.print_to_memory(&mut state, name, values).ok_or_else(refused)?,
            "fgets" | "read" | "fread" => {
                let result = self.read_bytes(&mut state, name, values, result).ok_or_else(refused)?;
                return Ok((state, Some(result)));
            }
            "getchar" | "getc" | "fgetc" | "_IO_getc" => {
                let byte = self.terms.variable(Sort::Bits(8), name.to_string());
                let byte = self.terms.zero_extend(byte, width);
                let end = self.terms.bits(width, (1 << width) - 1);
                let result = self.unless_plain(byte, end);
                return Ok((state, Some(result)));
            }
            "fopen" | "fopen64" => {
                let mode = values.get(1).copied().flatten().and_then(|mode| self.constant_text(mode));
                if mode.is_some_and(|mode| mode.starts_with(b"r")) {
                    let null = self.terms.bits(width, 0);
                    let result = self.unless_plain(result, null);
                    return Ok((state, Some(result)));
                }
            }
            _ => {
                let Body::External(external) = &function.body else { return Err(refused()) };
                let is_null = |index: &u32| self.known(values, *index as usize).is_none_or(|address| address == 0);
                if !external.writes.iter().all(is_null) {
                    return Err(refused());
                }
            }
        }
        Ok((state, Some(result)))
    }

    /// `otherwise` when nothing comes in, and in other cases perhaps too.
    fn unless_plain(&mut self, value: Term, otherwise: Term) -> Term {
        let ends = self.terms.variable(Sort::Bool, "nothing comes in");
        self.skeleton.plain.push(ends);
        self.terms.ite(ends, otherwise, value)
    }

    fn known(&self, values: &[Option<Term>], index: usize) -> Option<u64> {
        values.get(index).copied().flatten().and_then(|value| self.terms.as_bits(value)).map(|bits| bits as u64)
    }

    /// The private object that lives at an address for certain, and the offset.
    fn private_place(&mut self, state: &State, address: u64) -> Option<(InstanceId, u64)> {
        let id = self.instances.at(self.program.model, address)?;
        let instance = self.instances.get(id);
        let is_private = instance.sharing != Sharing::Shared && !instance.is_function && instance.extent.is_none();
        let offset = address.checked_sub(instance.base)?;
        if !is_private || state.memory.dead.contains_key(&id) || offset >= instance.size {
            return None;
        }
        self.borrow(id);
        Some((id, offset))
    }

    /// Fresh bytes where an argument points to; nothing where it is null.
    fn overwrite(&mut self, state: &mut State, values: &[Option<Term>], index: usize, bytes: u64) -> Option<()> {
        match self.known(values, index)? {
            0 => Some(()),
            address => {
                let always = self.terms.bool(true);
                self.overwrite_at(state, address, bytes, always, &mut None)
            }
        }
    }

    /// Fresh bytes at an address. `node` is the moment of the call, if it has one already.
    fn overwrite_at(
        &mut self,
        state: &mut State,
        address: u64,
        bytes: u64,
        condition: Term,
        node: &mut Option<NodeId>,
    ) -> Option<()> {
        let private = self.private_place(state, address).map(|(id, _)| id);
        let id = private.or_else(|| self.shared_place(address))?;
        let instance = self.instances.get(id);
        let (object, room) = (instance.object, instance.size - (address - instance.base));
        if instance.is_constant || bytes > room || bytes > MOST_BYTES {
            return None;
        }
        let mut event = self.event(state, [object].into_iter().collect(), true, false);
        for at in (0..bytes).step_by(8) {
            let bytes = (bytes - at).min(8) as u32;
            let value = self.terms.variable(Sort::Bits(bytes * 8), "from outside");
            let address = self.pointer(address + at);
            match private {
                Some(id) => self.private_write(state, id, condition, address, bytes, value).ok()?,
                None => event.writes.push(Unit { condition, address, value, bytes }),
            }
        }
        if !event.writes.is_empty() {
            let always = self.terms.bool(true);
            self.add_event(state, *node, event, always);
            *node = self.skeleton.events.last().map(|event| event.node);
        }
        Some(())
    }

    /// The static object at an address, which threads share.
    fn shared_place(&self, address: u64) -> Option<InstanceId> {
        let id = self.instances.at(self.program.model, address)?;
        let instance = self.instances.get(id);
        let is_static = matches!(instance.initial, Initial::Static(_)) && !instance.is_heap && instance.owner.is_none();
        (is_static && !instance.is_function && address < instance.base + instance.size).then_some(id)
    }

    /// The bytes from an address to the end of its object.
    fn room(&mut self, state: &State, address: u64) -> Option<u64> {
        let id = self.private_place(state, address).map(|(id, _)| id).or_else(|| self.shared_place(address))?;
        let instance = self.instances.get(id);
        Some(instance.size - (address - instance.base))
    }

    /// `fgets`, `read`, `fread`: bytes from a file.
    fn read_bytes(&mut self, state: &mut State, name: &str, values: &[Option<Term>], result: Term) -> Option<Term> {
        let width = self.terms.width(result);
        let (place, most) = match name {
            "fgets" => (0, self.known(values, 1)?),
            "read" => (1, self.known(values, 2)?),
            _ => (0, self.known(values, 1)?.checked_mul(self.known(values, 2)?)?),
        };
        self.overwrite(state, values, place, most)?;
        let zero = self.terms.bits(width, 0);
        if name == "fgets" {
            return Some(self.unless_plain(values[0]?, zero));
        }
        let limit = if name == "read" { most } else { self.known(values, 2)? };
        let limit = self.terms.bits(width, limit.into());
        let mut fits = self.terms.ule(result, limit);
        if name == "read" {
            let error = self.terms.bits(width, u128::MAX >> (128 - width));
            let failed = self.terms.eq(result, error);
            fits = self.terms.or2(fits, failed);
        }
        self.skeleton.constraints.push(fits);
        Some(self.unless_plain(result, zero))
    }

    /// The `scanf` family: so many of the places are written, from the first one on, as the result says.
    fn scan(&mut self, state: &mut State, name: &str, values: &[Option<Term>], width: u32) -> Option<Term> {
        let format = usize::from(name != "scanf");
        let text = self.constant_text(values.get(format).copied().flatten()?)?;
        let directives = Scan::all(&text, self.program.model.pointer_bytes())?;
        let count = self.terms.variable(Sort::Bits(width), name.to_string());
        let all = directives.iter().filter(|directive| !directive.suppressed && directive.conversion != b'n').count();
        let end = self.terms.bits(width, (1 << width) - 1);
        let most = self.terms.bits(width, all as u128);
        let (is_end, fits) = (self.terms.eq(count, end), self.terms.ule(count, most));
        let fits = self.terms.or2(is_end, fits);
        self.skeleton.constraints.push(fits);
        let result = if name == "sscanf" { count } else { self.unless_plain(count, end) };
        let mut next = self.known(values, format + 1)?;
        let (mut assigned, mut node, word) = (0, None, self.program.model.pointer_bytes());
        for directive in directives.into_iter().filter(|directive| !directive.suppressed) {
            let pointer = self.area_word(state, &mut next)?;
            let pointer = self.terms.as_bits(pointer)? as u64;
            let before = self.terms.bits(width, assigned);
            // Both as signed numbers: nothing is assigned at the end of the input.
            let condition = self.terms.slt(before, result);
            assigned += u128::from(directive.conversion != b'n');
            let bytes = match (directive.conversion, directive.width) {
                (b's' | b'[' | b'c', _) if directive.length != Length::Int => return None,
                (b's' | b'[', Some(width)) => (width as u64).checked_add(1)?,
                (b'c', width) => width.unwrap_or(1) as u64,
                (b's' | b'[', None) => {
                    if self.properties.memory {
                        self.skeleton.gap(format!("`{name}` may write more than there is room for"));
                    }
                    self.room(state, pointer)?
                }
                (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'n', _) => directive.length.bytes(word),
                (b'p', _) => word,
                (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', _) => {
                    u64::from(directive.float_kind().bits() / 8)
                }
                _ => return None,
            };
            self.overwrite_at(state, pointer, bytes, condition, &mut node)?;
        }
        Some(result)
    }

    /// `sprintf` and `snprintf`.
    fn print_to_memory(&mut self, state: &mut State, name: &str, values: &[Option<Term>]) -> Option<()> {
        let room = match self.known(values, 0)? {
            0 => return (name == "snprintf").then_some(()),
            address => self.room(state, address)?,
        };
        let bytes = match name {
            "snprintf" => self.known(values, 1)?,
            _ => match self.longest(state, values) {
                Some(longest) if longest < room => longest + 1,
                _ => {
                    if self.properties.memory {
                        self.skeleton.gap(format!("`{name}` may write more than there is room for"));
                    }
                    room
                }
            },
        };
        self.overwrite(state, values, 0, bytes)
    }

    /// The most bytes that `sprintf` may print.
    fn longest(&mut self, state: &mut State, values: &[Option<Term>]) -> Option<u64> {
        let text = self.constant_text(values.get(1).copied().flatten()?)?;
        let mut longest = text.len() as u64;
        let mut next = self.known(values, 2)?;
        for (directive, letters) in Print::all(&text, self.program.model.pointer_bytes())? {
            let address = self.printed(state, &directive, &mut next)?;
            let width = match directive.width {
                Some(Count::Argument(_)) => return None,
                Some(Count::Number(width)) => width,
                None => 0,
            };
            let most = match (directive.conversion, directive.precision) {
                (b'%' | b'c', _) => 1,
                (b's', _) => self.room(state, self.terms.as_bits(address?)? as u64)?,
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

    /// Moves past the argument of a directive that prints; gives it if it is the address of a text. None where it is of a kind that is not
    /// understood here.
    fn printed(&mut self, state: &mut State, directive: &Print, next: &mut u64) -> Option<Option<Term>> {
        let word = self.program.model.pointer_bytes();
        let is_argument = |count: &Option<Count>| matches!(count, Some(Count::Argument(_)));
        *next += word * [directive.width, directive.precision].iter().filter(|count| is_argument(count)).count() as u64;
        match directive.conversion {
            _ if directive.position.is_some() => return None,
            b'%' => {}
            b's' if directive.precision.is_none() && directive.length == Length::Int => {
                return Some(Some(self.area_word(state, next)?));
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
    fn area_word(&mut self, state: &mut State, next: &mut u64) -> Option<Term> {
        let bytes = self.program.model.pointer_bytes();
        let (id, offset) = self.private_place(state, *next)?;
        *next += bytes;
        Some(self.read_cell(state, id, offset, bytes as u32))
    }

    /// Whether all that a function reads are texts, for certain.
    fn texts_are_good(&mut self, func: FuncId, state: &mut State, values: &[Option<Term>]) -> bool {
        let function = &self.program.functions[func];
        let Body::External(external) = &function.body else { return false };
        if external.pure {
            return true;
        }
        let name = ["__isoc99_", "__isoc23_"].iter().find_map(|prefix| function.name.strip_prefix(prefix));
        let name = name.unwrap_or(&function.name);
        let fixed = function.params as usize - usize::from(external.variadic);
        for (index, local) in function.locals.iter().take(fixed).enumerate() {
            if local.ty != Type::Ptr || external.writes.contains(&(index as u32)) {
                continue;
            }
            let Some(value) = values.get(index).copied().flatten() else { return false };
            let may_be_null = matches!(name, "fflush" | "perror" | "gettimeofday" | "setbuf" | "setvbuf");
            let is_good = self
                .known(values, index)
                .is_some_and(|address| self.streams.contains(&address) || (address == 0 && may_be_null));
            if !is_good && (matches!(name, "fwrite" | "write" | "gettimeofday") || !self.is_text(state, value, name)) {
                return false;
            }
        }
        if !external.variadic || name.ends_with("scanf") {
            return !name.starts_with('v');
        }
        let format = values.get(fixed - 1).copied().flatten().and_then(|format| self.constant_text(format));
        let Some(format) = format else { return false };
        let Some(directives) = Print::all(&format, self.program.model.pointer_bytes()) else { return false };
        let Some(mut next) = self.known(values, fixed) else { return directives.is_empty() };
        for (directive, _) in directives {
            match self.printed(state, &directive, &mut next) {
                None => return false,
                Some(Some(address)) if !self.is_text(state, address, name) => return false,
                Some(_) => {}
            }
        }
        true
    }

    /// Whether bytes up to a zero can be read at an address. If that cannot be seen here, it is a doubt whether it is a constant text.
    fn is_text(&mut self, state: &mut State, address: Term, name: &str) -> bool {
        if let Some(known) = self.terms.as_bits(address) {
            let Some((id, offset)) = self.private_place(state, known as u64) else { return false };
            let size = self.instances.get(id).size;
            return (offset..size.min(offset + MOST_BYTES)).any(|at| {
                let byte = self.read_cell(state, id, at, 1);
                self.terms.as_bits(byte) == Some(0)
            });
        }
        let constants = self.program.objects.iter_enumerated().filter(|(_, data)| data.kind == ObjectKind::Constant);
        let mut others = vec![state.path];
        for (object, _) in constants.take(MOST_TEXTS) {
            let Ok(base) = self.static_address(object) else { return false };
            let base = self.pointer(base);
            if self.constant_text(base).is_some() {
                let same = self.terms.eq(address, base);
                others.push(self.terms.not(same));
            }
        }
        let doubtful = self.terms.and(&others);
        self.skeleton.doubts.push((doubtful, format!("what `{name}` reads is not checked")));
        true
    }

    /// The constant text at an address.
    fn constant_text(&self, address: Term) -> Option<Vec<u8>> {
        let address = self.terms.as_bits(address)? as u64;
        let id = self.instances.at(self.program.model, address)?;
        let instance = self.instances.get(id);
        let Initial::Static(object) = instance.initial else { return None };
        let data = &self.program.objects[object];
        if data.kind != ObjectKind::Constant {
            return None;
        }
        let mut bytes = vec![0; data.size as usize];
        for (at, datum) in &data.init {
            let Datum::Bytes(piece) = datum else { return None };
            bytes.get_mut(*at as usize..*at as usize + piece.len())?.copy_from_slice(piece);
        }
        let rest = bytes.get((address - instance.base) as usize..)?;
        Some(rest[..rest.iter().position(|byte| *byte == 0)?].to_vec())
    }

    /// The value of `stdin`, `stdout` or `stderr`: an address of something that the program cannot look into.
    pub(crate) fn add_stream(&mut self) -> Result<Initial, Refused> {
        let id = self.add_instance(AbstractObject::Unknown, 1, Initial::Zero, false, true)?;
        self.instances.get_mut(id).is_function = true;
        let address = self.instances.get(id).base;
        self.streams.push(address);
        let bytes = address.to_le_bytes()[..self.program.model.pointer_bytes() as usize].to_vec();
        Ok(self.given(bytes))
    }

    /// Contents that are given from outside.
    fn given(&mut self, bytes: Vec<u8>) -> Initial {
        self.given.push(bytes);
        Initial::Given(self.given.len() as u32 - 1)
    }

    /// The arguments of `main`, laid out in memory: their number, and where they are.
    pub(crate) fn lay_out_arguments(&mut self) -> Result<(Term, Term), Refused> {
        let word = self.program.model.pointer_bytes() as usize;
        let command = self.program.command_line();
        let mut table = Vec::new();
        for argument in &command {
            let text: Vec<u8> = argument.iter().copied().chain([0]).collect();
            let (size, initial) = (text.len() as u64, self.given(text));
            let id = self.add_instance(AbstractObject::Unknown, size, initial, false, false)?;
            table.extend_from_slice(&self.instances.get(id).base.to_le_bytes()[..word]);
        }
        table.extend(std::iter::repeat_n(0, word));
        let (size, initial) = (table.len() as u64, self.given(table));
        let id = self.add_instance(AbstractObject::Unknown, size, initial, false, false)?;
        let base = self.instances.get(id).base;
        Ok((self.terms.bits(32, command.len() as u128), self.pointer(base)))
    }
}
