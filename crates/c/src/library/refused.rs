//! Functions that Leno will not pretend to understand.

/// Why a call is refused, and what the user can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub reason: &'static str,
    pub help: &'static str,
}

/// Whether a call of this undefined function, or taking its address, is an error. (The `__sigsetjmp` inside
/// `pthread_cleanup_push` never gets here: the checker knows that macro.)
pub fn refusal(name: &str) -> Option<Refusal> {
    match name {
        "setjmp" | "_setjmp" | "__setjmp" | "sigsetjmp" | "__sigsetjmp" | "longjmp" | "_longjmp" | "siglongjmp"
        | "__longjmp_chk" | "__builtin_setjmp" | "__builtin_longjmp" => Some(Refusal {
            reason: "jumps out of functions (setjmp, longjmp) are not supported",
            help: "return an error code instead, or end the thread with pthread_exit",
        }),
        "getcontext" | "setcontext" | "makecontext" | "swapcontext" => Some(Refusal {
            reason: "user-level contexts (ucontext) are not supported",
            help: "use threads for what runs concurrently",
        }),
        "fork" | "vfork" | "_Fork" | "clone" => Some(Refusal {
            reason: "programs of several processes are not supported",
            help: "use threads, or check each process's program on its own",
        }),
        "execl" | "execle" | "execlp" | "execv" | "execve" | "execvp" | "execvpe" | "fexecve" => Some(Refusal {
            reason: "replacing the running program (exec) is not supported",
            help: "check that program on its own",
        }),
        "pthread_mutexattr_setrobust"
        | "pthread_mutexattr_getrobust"
        | "pthread_mutex_consistent"
        | "pthread_mutexattr_setrobust_np"
        | "pthread_mutexattr_getrobust_np"
        | "pthread_mutex_consistent_np" => Some(Refusal {
            reason: "robust mutexes are not supported: what happens to a mutex whose owner has ended is not modelled",
            help: "leave the attribute out: then a thread that waits for such a mutex is reported as a deadlock",
        }),
        _ => None,
    }
}
