//! Calls of what is not part of the program, by which threads may wait for each other or tell each other something.
//!
//! A thread writes to a pipe, another one reads from it: what the first did before comes before what the second does
//! after. Nothing of that is in memory. So the recorder notes when such a call begins and when it is over, and
//! prediction keeps the order: what comes before a call that *releases* comes before what follows a call that
//! *acquires*, if the first had begun when the second was over.
//!
//! Of a function that nobody knows, both are assumed. Streams are taken for files, unless the program makes pipes or
//! sockets.

use leno_ir::analysis::features::has_op;
use leno_ir::library_memory::{only_shows, standard_name};
use leno_ir::program::{Body, Callee, Expr, FuncId, Op, Program};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Communication {
    /// Others may know of the call as soon as it has begun.
    pub releases: bool,
    /// The call may wait for others, or its result may depend on them.
    pub acquires: bool,
}

impl Communication {
    const NONE: Communication = Communication { releases: false, acquires: false };
    const RELEASES: Communication = Communication { releases: true, acquires: false };
    const ACQUIRES: Communication = Communication { releases: false, acquires: true };
    const BOTH: Communication = Communication { releases: true, acquires: true };

    /// What a call is to other threads, if the function has no body.
    pub fn of_call(program: &Program, callee: &Callee) -> Communication {
        match callee {
            Callee::Direct(id) | Callee::Indirect(Expr::Function(id)) => Communication::of_function(program, *id),
            Callee::Indirect(_) => Communication::BOTH,
        }
    }

    /// Whether threads of a program may wait for each other in such a call.
    pub fn is_possible(program: &Program) -> bool {
        has_op(program, |op| match op {
            Op::Call { callee, .. } => match callee {
                // (Nearly all calls through pointers are of functions of the program.)
                Callee::Indirect(Expr::Function(_)) | Callee::Direct(_) => {
                    Communication::of_call(program, callee) != Communication::NONE
                }
                Callee::Indirect(_) => false,
            },
            _ => false,
        })
    }

    fn of_function(program: &Program, id: FuncId) -> Communication {
        let function = &program.functions[id];
        let Body::External(external) = &function.body else { return Communication::NONE };
        let name = standard_name(&function.name);
        match name {
            "write"
            | "pwrite"
            | "pwrite64"
            | "writev"
            | "send"
            | "sendto"
            | "sendmsg"
            | "kill"
            | "raise"
            | "pthread_kill"
            | "sigqueue"
            | "funlockfile"
            | "eventfd_write"
            | "__leno_outside_kill"
            | "__leno_outside_raise"
            | "__leno_outside_thread_kill" => Communication::RELEASES,
            "read"
            | "pread"
            | "pread64"
            | "readv"
            | "recv"
            | "recvfrom"
            | "recvmsg"
            | "poll"
            | "select"
            | "epoll_wait"
            | "accept"
            | "sigwait"
            | "sigwaitinfo"
            | "sigtimedwait"
            | "flockfile"
            | "eventfd_read"
            | "__leno_outside_wait"
            | "__leno_outside_suspend"
            | "__leno_outside_pending"
            | "__leno_outside_signal" => Communication::ACQUIRES,
            "getpid" | "gettid" | "getppid" | "getuid" | "geteuid" | "sysconf" | "isatty" | "strerror" | "pipe"
            | "pipe2" | "socketpair" | "eventfd" | "usleep" | "sleep" | "sched_yield" => Communication::NONE,
            _ if name.starts_with("__leno_") => Communication::NONE,
            _ if !external.known => Communication::BOTH,
            _ if !makes_pipes(program) => Communication::NONE,
            _ if only_shows(name) => Communication::RELEASES,
            "fread" | "fread_unlocked" | "fgets" | "fgets_unlocked" | "getc" | "fgetc" | "_IO_getc" | "getchar"
            | "scanf" | "fscanf" | "vfscanf" | "vscanf" => Communication::ACQUIRES,
            _ => Communication::NONE,
        }
    }
}

/// Whether streams of the program may lead to another thread of it.
fn makes_pipes(program: &Program) -> bool {
    let is_pipe = |name: &str| {
        matches!(name, "pipe" | "pipe2" | "popen" | "fdopen" | "socket" | "socketpair" | "mkfifo" | "openpty")
    };
    program.functions.iter().any(|function| matches!(function.body, Body::External(_)) && is_pipe(&function.name))
}
