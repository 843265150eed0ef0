//! Which memory library functions read and write, and how far.
//!
//! One table for everybody who cannot run a known function, but has to know what it touches: the points-to analysis,
//! the staged engine, replay. The interpreter runs the functions, and records every byte that they touch.
//!
//! An access begins where a parameter points to, and goes as far as its [`Extent`] says. Through a null pointer nothing
//! is accessed, where the function allows one. What the directives of a format access is in the variable arguments
//! ([`Touch::Prints`], [`Touch::Scans`]). A stream ([`Touch::Stream`]) has a lock of its own: using it never races, but
//! it has to be open.

use crate::interp::directive::Print;
use crate::program::{Expr, ObjectKind, Program};

/// How far an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// So many bytes.
    Fixed(u64),
    /// So many words of a pointer's size.
    Words(u64),
    /// As many bytes as this parameter says.
    Bytes(u32),
    /// The product of these parameters.
    Product(u32, u32),
    /// Up to the terminating zero, and with it.
    Text,
    /// A text that is printed, with its terminating zero.
    Printed,
    /// The same, but no more than this parameter says.
    PrintedWithin(u32),
}

/// Where the arguments of a format are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arguments {
    /// In the area that this parameter points to.
    Area(u32),
    /// In the `va_list` that is this parameter.
    List(u32),
}

impl Arguments {
    pub fn parameter(self) -> u32 {
        match self {
            Arguments::Area(index) | Arguments::List(index) => index,
        }
    }
}

/// An access of a library function. The number is that of the parameter that says where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    Reads(u32, Extent),
    Writes(u32, Extent),
    /// Bytes from a file are written here, at most so many.
    Receives(u32, Extent),
    /// A format of `printf`, which is read as a text: `%s` reads a text, `%n` writes a number.
    Prints {
        format: u32,
        arguments: Arguments,
    },
    /// A format of `scanf`, which is read as a text: directives write what they find.
    Scans {
        format: u32,
        arguments: Arguments,
    },
    /// A stream, which must be open.
    Stream(u32),
}

use Arguments::{Area, List};
use Extent::{Bytes, Fixed, Printed, PrintedWithin, Product, Text, Words};
use Touch::{Prints, Reads, Receives, Scans, Stream, Writes};

/// The bytes of a `struct tm` that are read and written: its nine `int`s.
const DATE: u64 = 36;

/// What a known function accesses. Those that are not here access no memory of the program.
pub fn touches(name: &str) -> &'static [Touch] {
    match standard_name(name) {
        "printf" => &[Prints { format: 0, arguments: Area(1) }],
        "vprintf" => &[Prints { format: 0, arguments: List(1) }],
        "fprintf" => &[Stream(0), Prints { format: 1, arguments: Area(2) }],
        "vfprintf" => &[Stream(0), Prints { format: 1, arguments: List(2) }],
        "dprintf" => &[Prints { format: 1, arguments: Area(2) }],
        "vdprintf" => &[Prints { format: 1, arguments: List(2) }],
        "sprintf" => &[Prints { format: 1, arguments: Area(2) }, Writes(0, Printed)],
        "vsprintf" => &[Prints { format: 1, arguments: List(2) }, Writes(0, Printed)],
        "snprintf" => &[Prints { format: 2, arguments: Area(3) }, Writes(0, PrintedWithin(1))],
        "vsnprintf" => &[Prints { format: 2, arguments: List(3) }, Writes(0, PrintedWithin(1))],
        "scanf" => &[Scans { format: 0, arguments: Area(1) }],
        "vscanf" => &[Scans { format: 0, arguments: List(1) }],
        "fscanf" => &[Stream(0), Scans { format: 1, arguments: Area(2) }],
        "vfscanf" => &[Stream(0), Scans { format: 1, arguments: List(2) }],
        "sscanf" => &[Reads(0, Text), Scans { format: 1, arguments: Area(2) }],
        "vsscanf" => &[Reads(0, Text), Scans { format: 1, arguments: List(2) }],
        "puts" | "remove" | "unlink" | "getenv" | "perror" | "atof" => &[Reads(0, Text)],
        "fputs" | "fputs_unlocked" => &[Reads(0, Text), Stream(1)],
        "putc" | "fputc" | "_IO_putc" | "putc_unlocked" | "fputc_unlocked" | "ungetc" => &[Stream(1)],
        "fwrite" | "fwrite_unlocked" => &[Reads(0, Product(1, 2)), Stream(3)],
        "write" | "pwrite" | "pwrite64" => &[Reads(1, Bytes(2))],
        "read" | "pread" | "pread64" => &[Receives(1, Bytes(2))],
        "fread" | "fread_unlocked" => &[Receives(0, Product(1, 2)), Stream(3)],
        "fgets" | "fgets_unlocked" => &[Receives(0, Bytes(1)), Stream(2)],
        "fopen" | "fopen64" => &[Reads(0, Text), Reads(1, Text)],
        "fclose" | "fflush" | "getc" | "fgetc" | "_IO_getc" | "getc_unlocked" | "fgetc_unlocked" | "feof"
        | "ferror" | "clearerr" | "fileno" | "fseek" | "ftell" | "rewind" | "setvbuf" | "setbuf" => &[Stream(0)],
        "strtod" | "strtof" | "strtold" => &[Reads(0, Text), Writes(1, Words(1))],
        "frexp" | "frexpf" | "frexpl" | "modff" => &[Writes(1, Fixed(4))],
        "modf" => &[Writes(1, Fixed(8))],
        "modfl" => &[Writes(1, Fixed(10))],
        "time" => &[Writes(0, Words(1))],
        "gmtime_r" | "localtime_r" => &[Reads(0, Words(1)), Writes(1, Fixed(DATE))],
        "mktime" | "timegm" => &[Reads(0, Fixed(DATE)), Writes(0, Fixed(DATE))],
        "asctime_r" => &[Reads(0, Fixed(DATE)), Writes(1, Fixed(26))],
        "ctime_r" => &[Reads(0, Words(1)), Writes(1, Fixed(26))],
        "strftime" => &[Reads(2, Text), Reads(3, Fixed(DATE)), Receives(0, Bytes(1))],
        "gettimeofday" => &[Writes(0, Words(2))],
        "clock_gettime" => &[Writes(1, Words(2))],
        _ => &[],
    }
}

/// The name that a function has in the standard: the C library has several of one kind.
pub fn standard_name(name: &str) -> &str {
    let stripped = ["__isoc99_", "__isoc23_"].iter().find_map(|prefix| name.strip_prefix(prefix));
    stripped.unwrap_or(name)
}

/// The parameters whose pointee a known function may write, whatever its format: of the area of variable arguments
/// that means what the pointers in it point to.
pub fn written_parameters(name: &str) -> Vec<u32> {
    let written = touches(name).iter().filter_map(|touch| match touch {
        Writes(index, _) | Receives(index, _) => Some(*index),
        Scans { arguments, .. } => Some(arguments.parameter()),
        Reads(..) | Prints { .. } | Stream(_) => None,
    });
    written.collect()
}

/// Whether a parameter of a known function is where its variable arguments are.
pub fn holds_arguments(name: &str, index: u32) -> bool {
    touches(name).iter().any(|touch| match touch {
        Prints { arguments, .. } | Scans { arguments, .. } => arguments.parameter() == index,
        Reads(..) | Writes(..) | Receives(..) | Stream(_) => false,
    })
}

/// The parameter through whose pointers a call of a known function may write a count (`%n`), if its format is not known
/// to have none.
pub fn counts_through(program: &Program, name: &str, args: &[Expr]) -> Option<u32> {
    let (format, arguments) = touches(name).iter().find_map(|touch| match touch {
        Prints { format, arguments } => Some((*format, *arguments)),
        _ => None,
    })?;
    let text = match args.get(format as usize)? {
        Expr::Object(object) if program.objects[*object].kind == ObjectKind::Constant => {
            program.objects[*object].text(0)
        }
        _ => None,
    };
    let directives = text.and_then(|text| Print::all(&text, program.model.pointer_bytes()));
    let counts = directives.is_none_or(|all| all.iter().any(|(directive, _)| directive.conversion == b'n'));
    counts.then_some(arguments.parameter())
}

/// Whether a known function changes nothing that the program can observe, and does not depend on when it is called.
pub fn only_shows(name: &str) -> bool {
    let reads = |touch: &Touch| matches!(touch, Reads(..) | Prints { .. } | Stream(_));
    let shows = matches!(
        standard_name(name),
        "printf"
            | "vprintf"
            | "fprintf"
            | "vfprintf"
            | "dprintf"
            | "vdprintf"
            | "puts"
            | "fputs"
            | "fputs_unlocked"
            | "putchar"
            | "putchar_unlocked"
            | "putc"
            | "fputc"
            | "_IO_putc"
            | "fwrite"
            | "write"
            | "fflush"
            | "perror"
    );
    shows && touches(name).iter().all(reads)
}
