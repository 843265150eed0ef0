//! Which model defines which function: a table to look names up in.
//!
//! The table is sorted by name; a test compares it with what the models really define, as a C compiler sees it.

/// A file of C code, given to the front end like a file of the program, except that the program's own definitions win.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Model {
    /// The name to show in messages.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! models {
    ($($file:literal)*) => {
        /// All models, sorted by name.
        pub static MODELS: &[Model] = &[$(Model {
            name: concat!("<leno>/", $file, ".c"),
            text: include_str!(concat!("models/", $file, ".c")),
        }),*];
    };
}

models! {
    "allocate"
    "attributes"
    "bits"
    "cancel"
    "cleanup"
    "copy"
    "ctype"
    "ctype_tables"
    "dates"
    "environment"
    "errno"
    "error_texts"
    "exit"
    "expect"
    "fill"
    "floats"
    "integers"
    "keys"
    "lines"
    "memory_search"
    "multibyte"
    "mutex_attributes"
    "options"
    "parse_number"
    "print_allocated"
    "process"
    "random"
    "scheduling"
    "search"
    "semaphores"
    "signal_sets"
    "signals"
    "sort"
    "string_compare"
    "string_copy"
    "string_duplicate"
    "string_length"
    "string_search"
    "string_tokens"
    "sync_attributes"
    "sync_extremes"
    "thread"
    "verifiers"
    "wide_ctype"
    "wide_string"
}

/// What takes the place of some models in a program that runs for real, see [`Options`](super::Options).
pub static REAL_PROCESS: Model = Model { name: "<leno>/real_process.c", text: include_str!("models/real_process.c") };

/// The models that a program that runs for real does without.
const OF_NO_PROCESS: &[&str] = &["<leno>/environment.c", "<leno>/process.c", "<leno>/random.c", "<leno>/signals.c"];

/// The names that bring [`REAL_PROCESS`].
const OF_REAL_PROCESS: &[&str] = &[
    "_Exit",
    "__leno_exit_now",
    "__sysv_signal",
    "_exit",
    "bsd_signal",
    "clock_nanosleep",
    "getenv",
    "kill",
    "mtx_timedlock",
    "nanosleep",
    "pause",
    "pthread_kill",
    "pthread_mutex_clocklock",
    "pthread_mutex_timedlock",
    "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
    "pthread_sigmask",
    "raise",
    "secure_getenv",
    "setlocale",
    "sigaction",
    "signal",
    "sigpending",
    "sigprocmask",
    "sigsuspend",
    "sigwait",
    "sleep",
    "thrd_sleep",
    "usleep",
];

/// The models that ask [`REAL_PROCESS`] for something if the program runs for real.
pub const WITH_REAL_PROCESS: &[&str] = &["<leno>/attributes.c", "<leno>/semaphores.c"];

/// The model that defines a function in a program that runs for real.
pub fn real_model_of(name: &str) -> Option<&'static Model> {
    match OF_REAL_PROCESS.contains(&name) {
        true => Some(&REAL_PROCESS),
        false => model_of(name).filter(|model| !OF_NO_PROCESS.contains(&model.name)),
    }
}

/// Whether a function without a body is one that a program that runs for real leaves to the system, or stands for what
/// models do not model.
pub fn is_of_process(name: &str) -> bool {
    name.starts_with("__leno_outside_")
        || name.starts_with("__leno_unmodelled_")
        || model_of(name).is_some_and(|model| OF_NO_PROCESS.contains(&model.name))
}

/// The model that defines a function.
pub fn model_of(name: &str) -> Option<&'static Model> {
    let found = DEFINED_IN.binary_search_by_key(&name, |(name, _)| name).ok()?;
    let file = DEFINED_IN[found].1;
    MODELS.iter().find(|model| model.name.strip_prefix("<leno>/").and_then(|n| n.strip_suffix(".c")) == Some(file))
}

/// All functions and objects that models define, by name, with the file that does.
#[rustfmt::skip]
pub static DEFINED_IN: &[(&str, &str)] = &[
    ("__VERIFIER_hazptr_alloc", "verifiers"),
    ("__VERIFIER_hazptr_clear", "verifiers"),
    ("__VERIFIER_hazptr_free", "verifiers"),
    ("__VERIFIER_hazptr_protect", "verifiers"),
    ("__VERIFIER_hazptr_retire", "verifiers"),
    ("__VERIFIER_load_await_aint", "verifiers"),
    ("__VERIFIER_nondet_memory", "verifiers"),
    ("__VERIFIER_opt_begin", "verifiers"),
    ("__VERIFIER_xchg_await_aint", "verifiers"),
    ("__ctype_b_loc", "ctype_tables"),
    ("__ctype_get_mb_cur_max", "ctype_tables"),
    ("__ctype_tolower_loc", "ctype_tables"),
    ("__ctype_toupper_loc", "ctype_tables"),
    ("__errno_location", "errno"),
    ("__getdelim", "lines"),
    ("__isoc23_strtol", "parse_number"),
    ("__isoc23_strtoll", "parse_number"),
    ("__isoc23_strtoul", "parse_number"),
    ("__isoc23_strtoull", "parse_number"),
    ("__leno_await_end", "cancel"),
    ("__leno_bswap16", "bits"),
    ("__leno_bswap32", "bits"),
    ("__leno_bswap64", "bits"),
    ("__leno_cancellable_sem_wait", "cancel"),
    ("__leno_cancellable_wait", "cancel"),
    ("__leno_cancellation_point", "cancel"),
    ("__leno_cleanup_pop", "cleanup"),
    ("__leno_cleanup_push", "cleanup"),
    ("__leno_clrsb32", "bits"),
    ("__leno_clrsb64", "bits"),
    ("__leno_clz32", "bits"),
    ("__leno_clz64", "bits"),
    ("__leno_copy", "copy"),
    ("__leno_create_thread", "cancel"),
    ("__leno_ctz32", "bits"),
    ("__leno_ctz64", "bits"),
    ("__leno_errno", "errno"),
    ("__leno_ffs32", "bits"),
    ("__leno_ffs64", "bits"),
    ("__leno_forget_thread", "cancel"),
    ("__leno_fpclassify", "floats"),
    ("__leno_isnormal", "floats"),
    ("__leno_parity32", "bits"),
    ("__leno_parity64", "bits"),
    ("__leno_popcount32", "bits"),
    ("__leno_popcount64", "bits"),
    ("__leno_prepare_thread", "attributes"),
    ("__leno_run_cleanups", "cleanup"),
    ("__leno_run_exit_handlers", "exit"),
    ("__leno_run_key_destructors", "keys"),
    ("__leno_thread_leave", "thread"),
    ("__leno_thread_start", "thread"),
    ("__leno_waking_sem_post", "cancel"),
    ("__memcpy_chk", "copy"),
    ("__memmove_chk", "copy"),
    ("__mempcpy", "copy"),
    ("__mempcpy_chk", "copy"),
    ("__memset_chk", "fill"),
    ("__sched_cpucount", "scheduling"),
    ("__stpcpy", "string_copy"),
    ("__stpcpy_chk", "string_copy"),
    ("__stpncpy_chk", "string_copy"),
    ("__strcat_chk", "string_copy"),
    ("__strcpy_chk", "string_copy"),
    ("__strdup", "string_duplicate"),
    ("__strncat_chk", "string_copy"),
    ("__strncpy_chk", "string_copy"),
    ("__strtok_r", "string_tokens"),
    ("__sync_fetch_and_max", "sync_extremes"),
    ("__sync_fetch_and_min", "sync_extremes"),
    ("__sync_fetch_and_umax", "sync_extremes"),
    ("__sync_fetch_and_umin", "sync_extremes"),
    ("__sysv_signal", "signals"),
    ("__xpg_strerror_r", "error_texts"),
    ("_pthread_cleanup_pop", "cleanup"),
    ("_pthread_cleanup_push", "cleanup"),
    ("_tolower", "ctype"),
    ("_toupper", "ctype"),
    ("abs", "integers"),
    ("alarm", "signals"),
    ("aligned_alloc", "allocate"),
    ("arc4random", "random"),
    ("arc4random_uniform", "random"),
    ("asctime", "dates"),
    ("asprintf", "print_allocated"),
    ("at_quick_exit", "exit"),
    ("atexit", "exit"),
    ("atoi", "parse_number"),
    ("atol", "parse_number"),
    ("atoll", "parse_number"),
    ("basename", "string_search"),
    ("bcmp", "memory_search"),
    ("bcopy", "copy"),
    ("bsd_signal", "signals"),
    ("bsearch", "search"),
    ("btowc", "multibyte"),
    ("bzero", "fill"),
    ("cfree", "allocate"),
    ("clearenv", "environment"),
    ("clock_getres", "dates"),
    ("ctime", "dates"),
    ("difftime", "dates"),
    ("div", "integers"),
    ("drand48", "random"),
    ("erand48", "random"),
    ("explicit_bzero", "fill"),
    ("ffs", "bits"),
    ("ffsl", "bits"),
    ("ffsll", "bits"),
    ("get_nprocs", "process"),
    ("get_nprocs_conf", "process"),
    ("getdelim", "lines"),
    ("getegid", "process"),
    ("getenv", "environment"),
    ("geteuid", "process"),
    ("getgid", "process"),
    ("getline", "lines"),
    ("getopt", "options"),
    ("getpagesize", "process"),
    ("getpid", "process"),
    ("getppid", "process"),
    ("gettid", "process"),
    ("getuid", "process"),
    ("gmtime", "dates"),
    ("htonl", "bits"),
    ("htons", "bits"),
    ("imaxabs", "integers"),
    ("imaxdiv", "integers"),
    ("index", "string_search"),
    ("initstate", "random"),
    ("isalnum", "ctype"),
    ("isalpha", "ctype"),
    ("isascii", "ctype"),
    ("isblank", "ctype"),
    ("iscntrl", "ctype"),
    ("isdigit", "ctype"),
    ("isgraph", "ctype"),
    ("islower", "ctype"),
    ("isprint", "ctype"),
    ("ispunct", "ctype"),
    ("isspace", "ctype"),
    ("isupper", "ctype"),
    ("iswalnum", "wide_ctype"),
    ("iswalpha", "wide_ctype"),
    ("iswblank", "wide_ctype"),
    ("iswcntrl", "wide_ctype"),
    ("iswdigit", "wide_ctype"),
    ("iswgraph", "wide_ctype"),
    ("iswlower", "wide_ctype"),
    ("iswprint", "wide_ctype"),
    ("iswpunct", "wide_ctype"),
    ("iswspace", "wide_ctype"),
    ("iswupper", "wide_ctype"),
    ("iswxdigit", "wide_ctype"),
    ("isxdigit", "ctype"),
    ("kill", "signals"),
    ("labs", "integers"),
    ("ldiv", "integers"),
    ("leno_expect_atomic_begin", "expect"),
    ("leno_expect_atomic_end", "expect"),
    ("lfind", "search"),
    ("llabs", "integers"),
    ("lldiv", "integers"),
    ("localtime", "dates"),
    ("lrand48", "random"),
    ("lsearch", "search"),
    ("malloc_usable_size", "allocate"),
    ("mblen", "multibyte"),
    ("mbstowcs", "multibyte"),
    ("mbtowc", "multibyte"),
    ("memalign", "allocate"),
    ("memccpy", "memory_search"),
    ("memchr", "memory_search"),
    ("memcmp", "memory_search"),
    ("memcpy", "copy"),
    ("memmem", "memory_search"),
    ("memmove", "copy"),
    ("mempcpy", "copy"),
    ("memrchr", "memory_search"),
    ("memset", "fill"),
    ("mrand48", "random"),
    ("nice", "scheduling"),
    ("nrand48", "random"),
    ("ntohl", "bits"),
    ("ntohs", "bits"),
    ("on_exit", "exit"),
    ("optarg", "options"),
    ("opterr", "options"),
    ("optind", "options"),
    ("optopt", "options"),
    ("posix_memalign", "allocate"),
    ("pthread_atfork", "scheduling"),
    ("pthread_attr_destroy", "attributes"),
    ("pthread_attr_getdetachstate", "attributes"),
    ("pthread_attr_getguardsize", "attributes"),
    ("pthread_attr_getinheritsched", "attributes"),
    ("pthread_attr_getschedparam", "attributes"),
    ("pthread_attr_getschedpolicy", "attributes"),
    ("pthread_attr_getscope", "attributes"),
    ("pthread_attr_getstack", "attributes"),
    ("pthread_attr_getstacksize", "attributes"),
    ("pthread_attr_init", "attributes"),
    ("pthread_attr_setaffinity_np", "attributes"),
    ("pthread_attr_setdetachstate", "attributes"),
    ("pthread_attr_setguardsize", "attributes"),
    ("pthread_attr_setinheritsched", "attributes"),
    ("pthread_attr_setschedparam", "attributes"),
    ("pthread_attr_setschedpolicy", "attributes"),
    ("pthread_attr_setscope", "attributes"),
    ("pthread_attr_setstack", "attributes"),
    ("pthread_attr_setstackaddr", "attributes"),
    ("pthread_attr_setstacksize", "attributes"),
    ("pthread_barrierattr_destroy", "sync_attributes"),
    ("pthread_barrierattr_getpshared", "sync_attributes"),
    ("pthread_barrierattr_init", "sync_attributes"),
    ("pthread_barrierattr_setpshared", "sync_attributes"),
    ("pthread_cancel", "cancel"),
    ("pthread_condattr_destroy", "sync_attributes"),
    ("pthread_condattr_getclock", "sync_attributes"),
    ("pthread_condattr_getpshared", "sync_attributes"),
    ("pthread_condattr_init", "sync_attributes"),
    ("pthread_condattr_setclock", "sync_attributes"),
    ("pthread_condattr_setpshared", "sync_attributes"),
    ("pthread_getaffinity_np", "scheduling"),
    ("pthread_getattr_default_np", "attributes"),
    ("pthread_getattr_np", "attributes"),
    ("pthread_getconcurrency", "scheduling"),
    ("pthread_getcpuclockid", "scheduling"),
    ("pthread_getname_np", "scheduling"),
    ("pthread_getschedparam", "scheduling"),
    ("pthread_getspecific", "keys"),
    ("pthread_key_create", "keys"),
    ("pthread_key_delete", "keys"),
    ("pthread_kill", "signals"),
    ("pthread_mutexattr_destroy", "sync_attributes"),
    ("pthread_mutexattr_getprioceiling", "mutex_attributes"),
    ("pthread_mutexattr_getprotocol", "mutex_attributes"),
    ("pthread_mutexattr_getpshared", "mutex_attributes"),
    ("pthread_mutexattr_gettype", "sync_attributes"),
    ("pthread_mutexattr_init", "sync_attributes"),
    ("pthread_mutexattr_setprioceiling", "mutex_attributes"),
    ("pthread_mutexattr_setprotocol", "mutex_attributes"),
    ("pthread_mutexattr_setpshared", "mutex_attributes"),
    ("pthread_mutexattr_settype", "sync_attributes"),
    ("pthread_rwlockattr_destroy", "sync_attributes"),
    ("pthread_rwlockattr_getkind_np", "sync_attributes"),
    ("pthread_rwlockattr_getpshared", "sync_attributes"),
    ("pthread_rwlockattr_init", "sync_attributes"),
    ("pthread_rwlockattr_setkind_np", "sync_attributes"),
    ("pthread_rwlockattr_setpshared", "sync_attributes"),
    ("pthread_setaffinity_np", "scheduling"),
    ("pthread_setcancelstate", "cancel"),
    ("pthread_setcanceltype", "cancel"),
    ("pthread_setconcurrency", "scheduling"),
    ("pthread_setname_np", "scheduling"),
    ("pthread_setschedparam", "scheduling"),
    ("pthread_setschedprio", "scheduling"),
    ("pthread_setspecific", "keys"),
    ("pthread_sigmask", "signals"),
    ("pthread_testcancel", "cancel"),
    ("putenv", "environment"),
    ("qsort", "sort"),
    ("qsort_r", "sort"),
    ("quick_exit", "exit"),
    ("raise", "signals"),
    ("rand", "random"),
    ("rand_r", "random"),
    ("random", "random"),
    ("rawmemchr", "memory_search"),
    ("realloc", "allocate"),
    ("reallocarray", "allocate"),
    ("rindex", "string_search"),
    ("sched_get_priority_max", "scheduling"),
    ("sched_get_priority_min", "scheduling"),
    ("sched_getaffinity", "scheduling"),
    ("sched_getcpu", "scheduling"),
    ("sched_getscheduler", "scheduling"),
    ("sched_setaffinity", "scheduling"),
    ("sched_setparam", "scheduling"),
    ("sched_setscheduler", "scheduling"),
    ("secure_getenv", "environment"),
    ("sem_clockwait", "semaphores"),
    ("sem_timedwait", "semaphores"),
    ("sem_trywait", "semaphores"),
    ("setenv", "environment"),
    ("setlocale", "process"),
    ("setstate", "random"),
    ("sigaction", "signals"),
    ("sigaddset", "signal_sets"),
    ("sigdelset", "signal_sets"),
    ("sigemptyset", "signal_sets"),
    ("sigfillset", "signal_sets"),
    ("sigismember", "signal_sets"),
    ("signal", "signals"),
    ("sigpending", "signals"),
    ("sigprocmask", "signals"),
    ("sigwait", "signals"),
    ("srand", "random"),
    ("srand48", "random"),
    ("srandom", "random"),
    ("stpcpy", "string_copy"),
    ("stpncpy", "string_copy"),
    ("strcasecmp", "string_compare"),
    ("strcasestr", "string_search"),
    ("strcat", "string_copy"),
    ("strchr", "string_search"),
    ("strchrnul", "string_search"),
    ("strcmp", "string_compare"),
    ("strcoll", "string_compare"),
    ("strcpy", "string_copy"),
    ("strcspn", "string_search"),
    ("strdup", "string_duplicate"),
    ("strerror_r", "error_texts"),
    ("strlcat", "string_copy"),
    ("strlcpy", "string_copy"),
    ("strlen", "string_length"),
    ("strncasecmp", "string_compare"),
    ("strncat", "string_copy"),
    ("strncmp", "string_compare"),
    ("strncpy", "string_copy"),
    ("strndup", "string_duplicate"),
    ("strnlen", "string_length"),
    ("strpbrk", "string_search"),
    ("strrchr", "string_search"),
    ("strsep", "string_tokens"),
    ("strspn", "string_search"),
    ("strstr", "string_search"),
    ("strtoimax", "parse_number"),
    ("strtok", "string_tokens"),
    ("strtok_r", "string_tokens"),
    ("strtol", "parse_number"),
    ("strtoll", "parse_number"),
    ("strtoul", "parse_number"),
    ("strtoull", "parse_number"),
    ("strtoumax", "parse_number"),
    ("strxfrm", "string_compare"),
    ("sysconf", "process"),
    ("timespec_get", "dates"),
    ("toascii", "ctype"),
    ("tolower", "ctype"),
    ("toupper", "ctype"),
    ("towlower", "wide_ctype"),
    ("towupper", "wide_ctype"),
    ("tss_create", "keys"),
    ("tss_delete", "keys"),
    ("tss_get", "keys"),
    ("tss_set", "keys"),
    ("unsetenv", "environment"),
    ("valloc", "allocate"),
    ("vasprintf", "print_allocated"),
    ("wcscat", "wide_string"),
    ("wcschr", "wide_string"),
    ("wcscmp", "wide_string"),
    ("wcscpy", "wide_string"),
    ("wcsdup", "wide_string"),
    ("wcslen", "wide_string"),
    ("wcsncat", "wide_string"),
    ("wcsncmp", "wide_string"),
    ("wcsncpy", "wide_string"),
    ("wcsnlen", "wide_string"),
    ("wcsrchr", "wide_string"),
    ("wcsstr", "wide_string"),
    ("wcstombs", "multibyte"),
    ("wctob", "multibyte"),
    ("wctomb", "multibyte"),
    ("wmemchr", "wide_string"),
    ("wmemcmp", "wide_string"),
    ("wmemcpy", "wide_string"),
    ("wmemmove", "wide_string"),
    ("wmemset", "wide_string"),
];
