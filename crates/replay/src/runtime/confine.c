/* Confinement: a replay does no harm, whatever the program does.

   Before the first step of the program the process gives up what it does not need to follow a witness, and cannot get it
   back. This happens here, and not before the program is started, because here nothing needs to be allowed for starting it: no
   new program, no new process. What is the kernel's to enforce, the kernel enforces:

   Landlock   files are opened for writing, made, changed in size and removed only in the working directory, and there only
              regular files
   seccomp    system calls that are not in the list below do not exist. Those that a program may really need, and does not
              get, end the run with the reason
   limits     size of a file, number of open files, time on the processor, address space, no core file
   session    its own, without a terminal; and it ends with the process that started it

   What no limit of the kernel covers for a single process (memory that is really used, number and size of all files) is for
   the process that waits for the end of this one.

   Without Landlock, or with one that does not know of truncation (before Linux 6.2), no file is opened for writing at all: that
   seccomp can see. */

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#if defined(__x86_64__) && defined(__LP64__)
#define LENO_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define LENO_ARCHITECTURE AUDIT_ARCH_I386
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define LENO_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define LENO_ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define LENO_ARCHITECTURE 0
#endif

#define LENO_MIB ((rlim_t)1 << 20)
#define LENO_FILE_MIB 64
#define LENO_ADDRESS_SPACE_MIB 16384
#define LENO_OPEN_FILES 1024

static int leno_is_confined;

#define leno_unconfined(...) leno_end("unconfined " __VA_ARGS__)

/* ---- files: Landlock (the headers of older systems do not have it) */

enum {
    LENO_FILE_WRITE = 1 << 1,
    LENO_REMOVE_DIRECTORY = 1 << 4,
    LENO_REMOVE_FILE = 1 << 5,
    LENO_MAKE_ANYTHING = 0x7f << 6, /* devices, directories, regular files, sockets, pipes, links */
    LENO_MAKE_FILE = 1 << 8,
    LENO_TO_ANOTHER_DIRECTORY = 1 << 13,
    LENO_TRUNCATE = 1 << 14,
    LENO_DEVICE_CONTROL = 1 << 15,
    LENO_FIRST_USEFUL_LANDLOCK = 3
};

struct leno_ruleset { u64 files, network, scope; };
struct leno_rule { u64 allowed; int directory; } __attribute__((packed));

static void leno_allow_below(int ruleset, const char *path, u64 what) {
    struct leno_rule rule = {what, open(path, O_PATH | O_CLOEXEC)};
    /* What is not there cannot be written either. */
    if (rule.directory >= 0 && syscall(445, ruleset, 1, &rule, 0))
        leno_unconfined("Landlock does not accept a rule: %s", strerror(errno));
    if (rule.directory >= 0) close(rule.directory);
}

/* 0 if this kernel has no Landlock that is good enough. */
static int leno_confine_files(void) {
    long version = syscall(444, 0, 0, 1);
    if (version < LENO_FIRST_USEFUL_LANDLOCK) return 0;
    struct leno_ruleset handled = {LENO_FILE_WRITE | LENO_REMOVE_DIRECTORY | LENO_REMOVE_FILE | LENO_MAKE_ANYTHING |
                                       LENO_TO_ANOTHER_DIRECTORY | LENO_TRUNCATE, 0, 0};
    if (version >= 5) handled.files |= LENO_DEVICE_CONTROL;
    /* Connections, signals and abstract sockets to the outside: seccomp has none of them anyway. */
    if (version >= 4) handled.network = 3;
    if (version >= 6) handled.scope = 3;
    long ruleset = syscall(444, &handled, version < 4 ? 8 : version < 6 ? 16 : 24, 0);
    if (ruleset < 0) leno_unconfined("Landlock gives no set of rules: %s", strerror(errno));
    leno_allow_below(ruleset, ".", LENO_FILE_WRITE | LENO_REMOVE_FILE | LENO_MAKE_FILE | LENO_TRUNCATE);
    leno_allow_below(ruleset, "/dev/null", LENO_FILE_WRITE | LENO_TRUNCATE);
    leno_allow_below(ruleset, "/dev/full", LENO_FILE_WRITE | LENO_TRUNCATE);
    if (syscall(446, ruleset, 0)) leno_unconfined("Landlock does not begin: %s", strerror(errno));
    close(ruleset);
    return 1;
}

/* ---- system calls: seccomp */

static const int leno_allowed_calls[] = {
    /* memory */
    SYS_brk, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_mincore, SYS_msync, SYS_membarrier, SYS_mlock,
    SYS_munlock, SYS_mmap,
    /* threads, and waiting */
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_gettid, SYS_exit, SYS_exit_group,
    SYS_restart_syscall, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getscheduler, SYS_sched_getparam,
    SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_getcpu, SYS_wait4, SYS_waitid,
    /* time */
    SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_times, SYS_setitimer,
    SYS_getitimer, SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete,
    SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    /* signals to itself */
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigsuspend,
    SYS_sigaltstack, SYS_signalfd4,
    /* files that are open */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_lseek, SYS_close,
    SYS_dup, SYS_dup3, SYS_pipe2, SYS_eventfd2, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_ppoll, SYS_pselect6,
    SYS_ftruncate, SYS_fallocate, SYS_fadvise64, SYS_flock, SYS_fsync, SYS_fdatasync, SYS_sendfile, SYS_splice, SYS_tee,
    SYS_getdents64, SYS_fstatfs, SYS_statfs,
#ifdef SYS_fstat
    SYS_fstat,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
    SYS_faccessat, SYS_readlinkat, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_umask,
    /* about itself */
    SYS_getpid, SYS_getppid, SYS_getpgid, SYS_getsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid,
    SYS_getresgid, SYS_getgroups, SYS_getrusage, SYS_getpriority, SYS_uname, SYS_sysinfo, SYS_getrandom,
#ifdef SYS_getrlimit
    SYS_getrlimit,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
#ifdef SYS_copy_file_range
    SYS_copy_file_range,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
#ifdef SYS_preadv2
    SYS_preadv2, SYS_pwritev2,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
#ifdef SYS_stat /* what newer architectures have only in its general form */
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_dup2, SYS_pipe, SYS_poll, SYS_select, SYS_epoll_create,
    SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_pause, SYS_alarm, SYS_time, SYS_getpgrp, SYS_arch_prctl,
    SYS_set_thread_area, SYS_get_thread_area,
#endif
#ifdef __i386__
    SYS_mmap2, SYS__llseek, SYS_fstat64, SYS_stat64, SYS_lstat64, SYS_fstatat64, SYS_fstatfs64, SYS_statfs64, SYS_ftruncate64,
    SYS_sendfile64, SYS_fadvise64_64, SYS__newselect, SYS_ugetrlimit, SYS_getuid32, SYS_geteuid32, SYS_getgid32,
    SYS_getegid32, SYS_getresuid32, SYS_getresgid32, SYS_getgroups32, SYS_sigreturn, SYS_sigprocmask, SYS_sigaction,
    SYS_sigpending, SYS_sigsuspend, SYS_waitpid,
#ifdef SYS_futex_time64
    SYS_futex_time64, SYS_clock_gettime64, SYS_clock_getres_time64, SYS_clock_nanosleep_time64, SYS_ppoll_time64,
    SYS_pselect6_time64, SYS_rt_sigtimedwait_time64, SYS_timer_settime64, SYS_timer_gettime64, SYS_timerfd_settime64,
    SYS_timerfd_gettime64,
#endif
#endif
};

/* Removing and changing files by name: only where Landlock says which. */
static const int leno_file_calls[] = {
    SYS_truncate, SYS_unlinkat,
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_renameat2,
#ifdef SYS_open
    SYS_creat, SYS_unlink, SYS_rename,
#endif
#ifdef __i386__
    SYS_truncate64,
#endif
};

struct leno_need { int number; const char *what; };
static const struct leno_need leno_needs[] = {
    {SYS_clone, "to start a process"},
    {SYS_execve, "to start another program"},
    {SYS_execveat, "to start another program"},
#ifdef SYS_fork
    {SYS_fork, "to start a process"},
    {SYS_vfork, "to start a process"},
#endif
    {SYS_socket, "the network"},
    {SYS_socketpair, "sockets"},
#ifdef SYS_socketcall
    {SYS_socketcall, "the network"},
#endif
    {SYS_kill, "to send a signal to another process"},
    {SYS_tkill, "to send a signal to another process"},
    {SYS_tgkill, "to send a signal to another process"},
    {SYS_rt_sigqueueinfo, "to send a signal to another process"},
    {SYS_rt_tgsigqueueinfo, "to send a signal to another process"},
    {SYS_fcntl, "signals about files to another process"},
#ifdef SYS_fcntl64
    {SYS_fcntl64, "signals about files to another process"},
#endif
    {SYS_ptrace, "to control another process"},
    {SYS_process_vm_readv, "the memory of another process"},
    {SYS_process_vm_writev, "the memory of another process"},
    {SYS_prlimit64, "other limits"},
#ifdef SYS_setrlimit
    {SYS_setrlimit, "other limits"},
#endif
    {SYS_prctl, "to change how the process is run"},
    {SYS_setpriority, "another priority"},
    {SYS_sched_setscheduler, "another scheduling policy"},
    {SYS_sched_setparam, "another scheduling policy"},
    {SYS_sched_setattr, "another scheduling policy"},
    {SYS_sched_setaffinity, "to choose its processors"},
    {SYS_setuid, "to become another user"},
    {SYS_setgid, "to become another user"},
    {SYS_setsid, "a session of its own"},
    {SYS_setpgid, "a process group of its own"},
    {SYS_chroot, "another root directory"},
    {SYS_mount, "to mount a file system"},
    {SYS_umount2, "to unmount a file system"},
    {SYS_ioctl, "to control a device"},
    {SYS_openat, "to open a file for writing"},
    {SYS_truncate, "to change the size of a file"},
    {SYS_unlinkat, "to remove a file"},
    {SYS_renameat2, "to rename a file"},
#ifdef SYS_renameat
    {SYS_renameat, "to rename a file"},
#endif
    {SYS_mkdirat, "to make a directory"},
    {SYS_linkat, "to make a link"},
    {SYS_symlinkat, "to make a link"},
    {SYS_mknodat, "to make a special file"},
    {SYS_fchmod, "to change the mode of a file"},
    {SYS_fchmodat, "to change the mode of a file"},
    {SYS_fchown, "to change the owner of a file"},
    {SYS_fchownat, "to change the owner of a file"},
    {SYS_utimensat, "to change the times of a file"},
#ifdef SYS_open
    {SYS_open, "to open a file for writing"},
    {SYS_creat, "to open a file for writing"},
    {SYS_unlink, "to remove a file"},
    {SYS_rename, "to rename a file"},
    {SYS_rmdir, "to remove a directory"},
    {SYS_mkdir, "to make a directory"},
    {SYS_link, "to make a link"},
    {SYS_symlink, "to make a link"},
    {SYS_mknod, "to make a special file"},
    {SYS_chmod, "to change the mode of a file"},
    {SYS_chown, "to change the owner of a file"},
    {SYS_lchown, "to change the owner of a file"},
    {SYS_utime, "to change the times of a file"},
    {SYS_utimes, "to change the times of a file"},
#endif
#ifdef __i386__
    {SYS_truncate64, "to change the size of a file"},
#endif
    {SYS_setxattr, "to change the attributes of a file"},
    {SYS_lsetxattr, "to change the attributes of a file"},
    {SYS_fsetxattr, "to change the attributes of a file"},
#ifdef SYS_shmget
    {SYS_shmget, "shared memory of the system"},
    {SYS_msgget, "message queues of the system"},
    {SYS_semget, "semaphores of the system"},
#endif
#ifdef SYS_ipc
    {SYS_ipc, "shared memory, queues or semaphores of the system"},
#endif
    {SYS_mq_open, "message queues of the system"},
};

static void leno_on_refused_call(int number, siginfo_t *info, void *context) {
    const char *what = "a system call that is not allowed";
    for (u32 i = 0; i < sizeof leno_needs / sizeof *leno_needs; i++)
        if (leno_needs[i].number == info->si_syscall) what = leno_needs[i].what;
    leno_end("needs %s", what);
}

static void leno_on_limit(int number) {
    if (number == SIGXFSZ) leno_end("needs a file of more than %d MiB", LENO_FILE_MIB);
    leno_end("needs more time");
}

static struct sock_filter leno_filter[2048];
static unsigned short leno_filter_length;

static void leno_add(u16 code, u32 operand, u8 if_true, u8 if_false) {
    leno_filter[leno_filter_length++] = (struct sock_filter){code, if_true, if_false, operand};
}

static void leno_load(size_t offset) { leno_add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void leno_return(u32 action) { leno_add(BPF_RET | BPF_K, action, 0, 0); }

/* With this value, the next instruction; otherwise so many are left out. */
static void leno_unless_skip(u32 value, u8 count) { leno_add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count); }

static void leno_decide(int number, u32 action) {
    leno_unless_skip(number, 1);
    leno_return(action);
}

/* (All architectures above are little-endian: the low word of an argument comes first.) */
#define LENO_LOW(argument) (offsetof(struct seccomp_data, args) + 8 * (argument))

/* A call whose argument decides: `then` if its low word, as far as the mask goes, is one of the values. */
static void leno_decide_by(int number, int argument, u32 mask, const u32 *values, u32 count, u32 then, u32 otherwise) {
    leno_unless_skip(number, 3 + 2 * count);
    leno_load(LENO_LOW(argument));
    leno_add(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    for (u32 i = 0; i < count; i++) leno_decide(values[i], then);
    leno_return(otherwise);
}

#define LENO_VALUES(...) (const u32[]){__VA_ARGS__}, sizeof(u32[]){__VA_ARGS__} / sizeof(u32)

static void leno_decide_calls(int writes_files) {
    const u32 yes = SECCOMP_RET_ALLOW, no = SECCOMP_RET_TRAP, all = 0xffffffffu, me = getpid();
    /* Threads are allowed, processes are not. What clone3 is asked for is in memory: libraries go back to clone. */
    leno_decide_by(SYS_clone, 0, 0x10000 /* CLONE_THREAD */, LENO_VALUES(0x10000), yes, no);
    leno_decide_by(SYS_kill, 0, all, LENO_VALUES(me, 0), yes, no);
    leno_decide_by(SYS_tgkill, 0, all, LENO_VALUES(me), yes, no);
    leno_decide_by(SYS_rt_sigqueueinfo, 0, all, LENO_VALUES(me), yes, no);
    leno_decide_by(SYS_rt_tgsigqueueinfo, 0, all, LENO_VALUES(me), yes, no);
    leno_decide_by(SYS_fcntl, 1, all, LENO_VALUES(F_SETOWN, F_SETOWN_EX, F_SETSIG), no, yes);
#ifdef SYS_fcntl64
    leno_decide_by(SYS_fcntl64, 1, all, LENO_VALUES(F_SETOWN, F_SETOWN_EX, F_SETSIG), no, yes);
#endif
    leno_decide_by(SYS_ioctl, 1, all, LENO_VALUES(0x5401 /* TCGETS */, FIONREAD, FIONBIO, TIOCGWINSZ), yes, no);
    leno_decide_by(SYS_prctl, 0, all, LENO_VALUES(PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, 0x53564d41 /* PR_SET_VMA */), yes, no);
    leno_decide_by(SYS_personality, 0, all, LENO_VALUES(all), yes, no);
    /* Limits may be asked for: the pointer to new ones is null, in both words. */
    leno_unless_skip(SYS_prlimit64, 7);
    leno_load(LENO_LOW(2));
    leno_add(BPF_MISC | BPF_TAX, 0, 0, 0);
    leno_load(LENO_LOW(2) + 4);
    leno_add(BPF_ALU | BPF_OR | BPF_X, 0, 0, 0);
    leno_decide(0, yes);
    leno_return(no);
    const u32 writing = O_ACCMODE | O_CREAT | O_TRUNC;
    leno_decide_by(SYS_openat, 2, writes_files ? 0 : writing, LENO_VALUES(0), yes, no);
#ifdef SYS_open
    leno_decide_by(SYS_open, 1, writes_files ? 0 : writing, LENO_VALUES(0), yes, no);
#endif
}

static void leno_confine_calls(int writes_files) {
    const u32 absent = SECCOMP_RET_ERRNO | ENOSYS;
    leno_load(offsetof(struct seccomp_data, arch));
    leno_add(BPF_JMP | BPF_JEQ | BPF_K, LENO_ARCHITECTURE, 1, 0);
    leno_return(SECCOMP_RET_KILL);
    leno_load(offsetof(struct seccomp_data, nr));
    for (u32 i = 0; i < sizeof leno_allowed_calls / sizeof(int); i++) leno_decide(leno_allowed_calls[i], SECCOMP_RET_ALLOW);
    for (u32 i = 0; writes_files && i < sizeof leno_file_calls / sizeof(int); i++)
        leno_decide(leno_file_calls[i], SECCOMP_RET_ALLOW);
    leno_decide_calls(writes_files);
    for (u32 i = 0; i < sizeof leno_needs / sizeof *leno_needs; i++) leno_decide(leno_needs[i].number, SECCOMP_RET_TRAP);
    leno_return(absent);
    struct sigaction refused = {.sa_sigaction = leno_on_refused_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &refused, 0);
    struct sock_fprog program = {leno_filter_length, leno_filter};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        leno_unconfined("this system has no filter for system calls (seccomp): %s", strerror(errno));
}

/* ---- limits */

static void leno_limit(int resource, rlim_t most) {
    struct rlimit limit;
    if (getrlimit(resource, &limit)) return;
    if (limit.rlim_max < most) most = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = most;
    if (setrlimit(resource, &limit)) leno_unconfined("a limit cannot be set: %s", strerror(errno));
}

static void leno_confine_resources(rlim_t seconds) {
    signal(SIGXFSZ, leno_on_limit);
    signal(SIGXCPU, leno_on_limit);
    leno_limit(RLIMIT_FSIZE, LENO_FILE_MIB * LENO_MIB);
    leno_limit(RLIMIT_NOFILE, LENO_OPEN_FILES);
    leno_limit(RLIMIT_CPU, seconds);
    /* One byte is too small for any core file, and keeps those from one, too, to which the kernel would pipe it. */
    leno_limit(RLIMIT_CORE, 1);
#if !defined(LENO_WITH_ASAN) && defined(__LP64__)
    leno_limit(RLIMIT_AS, (LENO_ADDRESS_SPACE_MIB + 9 * (rlim_t)LENO_NAMES) * LENO_MIB);
#endif
}

/* ---- all of it */

/* Files that whoever runs us has open are not the program's to write to. */
static void leno_close_inherited(void) {
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, 3u, ~0u, 0)) return;
#endif
    for (int file = 3; file < 65536; file++) close(file);
}

/* The way of confining, who started us, and how many seconds there are: "files 1234 30". */
static void leno_confine(const char *how) {
    char files[16];
    int parent;
    unsigned seconds;
    if (sscanf(how, "%15s %d %u", files, &parent, &seconds) != 3) leno_unconfined("it is not said how");
    if (!LENO_ARCHITECTURE) leno_unconfined("Leno does not know the system calls of this architecture");
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    leno_confine_resources(seconds);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) leno_unconfined("privileges cannot be given up: %s", strerror(errno));
    leno_confine_calls(!strcmp(files, "files") && leno_confine_files());
    leno_is_confined = 1;
}

/* ---- what the program asked the system for, and did not get, in a call of a library function */

static void leno_calls(void) { errno = 0; }

static void leno_called(u32 place) {
    int error = errno;
    if (!leno_is_confined) return;
    if (error == EACCES || error == EPERM || error == EXDEV || error == ENOSYS || error == EMFILE)
        leno_report("refused %u %s", place, strerror(error));
}
