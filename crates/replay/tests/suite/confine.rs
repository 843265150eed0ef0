//! Hostile programs, replayed: whatever they try, the world is as it was.
//!
//! The program calls a function that it does not have, and then fails. The compiler gets a second file that has the
//! function: so it is really called, and can do whatever C can do. (What would end the machine if it were not refused is
//! tried in a harmless form: signal 0, three processes.)

use leno_c::driver::{self, Input};
use leno_engine::{Context, Properties, Task};
use leno_explore::explore;
use leno_ir::analysis::facts::Facts;
use leno_ir::program::{DataModel, Program};
use leno_ir::witness::Witness;
use leno_replay::{Confinement, ReplayOptions, Replayed, replay};
use leno_testing::Scratch;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

const HEADERS: &str = "#define _GNU_SOURCE\n\
    #include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    #include <string.h>\n#include <sys/ioctl.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>\n\
    #include <sys/ptrace.h>\n#include <sys/resource.h>\n#include <sys/shm.h>\n#include <sys/socket.h>\n\
    #include <sys/stat.h>\n#include <sys/syscall.h>\n#include <sys/time.h>\n#include <sys/types.h>\n\
    #include <sys/un.h>\n#include <time.h>\n#include <sys/wait.h>\n#include <sched.h>\n#include <unistd.h>\n";

/// A program that calls a function, and fails; and the way there.
fn failing_program(model: DataModel) -> (Program, Witness) {
    let text = "extern void hostile(void); \
                int main(void) { hostile(); __VERIFIER_error(); return 0; }";
    let mut options = driver::Options::default();
    options.preprocess.data_model = model;
    let input = Input::Preprocessed { name: "hostile.c".to_string(), text: text.as_bytes().to_vec() };
    let program = driver::compile(&[input], &options).unwrap_or_else(|failure| panic!("{failure}")).program;
    let facts = Facts::new(&program);
    let task = Task::new(Properties { assertion: true, ..Properties::NONE });
    let finding = explore(&facts, &task, &Context::default()).finding.expect("it fails");
    let witness = leno_explore::witness(&facts, &finding);
    (program, witness)
}

/// What somebody has: a file, a folder with a file, and what is known of them.
struct Victim(Scratch);

impl Victim {
    fn new() -> Victim {
        let scratch = Scratch::with(&[("data", "precious\n")]);
        fs::create_dir(scratch.path("folder")).expect("a folder");
        scratch.write("folder/inner", "also precious\n");
        Victim(scratch)
    }

    fn state(&self) -> Vec<(String, u32, i64, Vec<u8>)> {
        let mut all = Vec::new();
        for folder in [self.0.folder().to_path_buf(), self.0.path("folder")] {
            for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
                let metadata = entry.metadata().expect("it is there");
                let contents = fs::read(entry.path()).unwrap_or_default();
                let name = entry.file_name().to_string_lossy().into_owned();
                all.push((name, metadata.permissions().mode(), metadata.mtime_nsec(), contents));
            }
        }
        all.sort();
        all
    }
}

fn attack(model: DataModel, body: &str, options: &ReplayOptions, victim: &Path) -> Replayed {
    let scratch = Scratch::new();
    let code = format!(
        "{HEADERS}#define VICTIM \"{}\"\nvoid hostile(void) {{\n{body}\n}}\n",
        victim.to_str().expect("a path in UTF-8")
    );
    let file = scratch.write("attack.c", code);
    let (program, witness) = failing_program(model);
    let cc = Some(format!("cc -D_FILE_OFFSET_BITS=64 {}", file.display()));
    replay(&program, &witness, &ReplayOptions { cc, ..options.clone() })
}

/// Attacks, and what becomes of each: nothing that stops the program, or what it needs.
const ATTACKS: &[(&str, &str)] = &[
    // Files, by every way to one.
    ("", r#"FILE *f = fopen(VICTIM "/data", "w"); if (f) fputs("gone", f);"#),
    (
        "",
        r#"int f = open(VICTIM "/data", O_RDONLY | O_TRUNC); f = open(VICTIM "/data", O_RDWR); if (f >= 0) write(f, "x", 1);"#,
    ),
    ("", r#"truncate(VICTIM "/data", 0); unlink(VICTIM "/data"); remove(VICTIM "/folder/inner");"#),
    ("", r#"rename(VICTIM "/data", VICTIM "/other"); rename(VICTIM "/data", "mine"); creat(VICTIM "/new", 0600);"#),
    (
        "",
        r#"int d = open(VICTIM, O_PATH | O_DIRECTORY); int f = openat(d, "data", O_WRONLY | O_TRUNC); if (f >= 0) write(f, "x", 1);"#,
    ),
    ("", r#"chdir(VICTIM); FILE *f = fopen("data", "w"); if (f) fputs("gone", f); f = fopen("fresh", "a");"#),
    ("", r#"int f = open(VICTIM, O_TMPFILE | O_RDWR, 0600); f = open("/tmp", O_TMPFILE | O_RDWR, 0600); (void)f;"#),
    (
        "",
        r#"char path[64]; snprintf(path, sizeof path, "/proc/%d/mem", getppid()); int f = open(path, O_RDWR); if (f >= 0) abort();"#,
    ),
    ("", r#"for (int f = 3; f < 2000; f++) write(f, "x\n", 2);"#),
    ("to make a link", r#"symlink(VICTIM "/data", "link");"#),
    ("to make a link", r#"link(VICTIM "/data", "link");"#),
    ("to make a directory", r#"mkdir(VICTIM "/more", 0700);"#),
    ("to make a directory", r#"for (;;) { mkdir("d", 0); chdir("d"); }"#),
    (
        "to remove a ",
        r#"rmdir(VICTIM "/folder"); syscall(SYS_unlinkat, AT_FDCWD, VICTIM "/folder", AT_REMOVEDIR); socket(1, 1, 1);"#,
    ),
    ("to make a special file", r#"mkfifo("pipe", 0600);"#),
    ("to change the mode", r#"chmod(VICTIM "/data", 0);"#),
    ("to change the mode", r#"int f = open(VICTIM "/data", O_RDONLY); fchmod(f, 0);"#),
    ("to change the owner", r#"chown(VICTIM "/data", 1, 1);"#),
    ("to change the times", r#"utimes(VICTIM "/data", 0);"#),
    ("to change the mode", r#"chmod(".", 0);"#),
    // The disk.
    (
        "a file of more than",
        r#"char *m = calloc(1, 1 << 20); int f = open("big", O_WRONLY | O_CREAT, 0600); for (int i = 0; i < 4096; i++) if (write(f, m, 1 << 20) < 0) break;"#,
    ),
    (
        "a file of more than",
        r#"char *m = calloc(1, 1 << 20); for (int i = 0; i < 4096; i++) if (write(2, m, 1 << 20) < 0) break;"#,
    ),
    (
        "in files",
        r#"char name[32], *m = calloc(1, 1 << 20); for (int i = 0; i < 900; i++) { snprintf(name, 32, "f%d", i); int f = open(name, O_WRONLY | O_CREAT, 0600); write(f, m, 1 << 20); close(f); } sleep(2);"#,
    ),
    (
        "more than 1,000 files",
        r#"char name[32]; for (int i = 0; i < 100000; i++) { snprintf(name, 32, "f%d", i); close(open(name, O_WRONLY | O_CREAT, 0600)); } sleep(2);"#,
    ),
    // Memory, output, time.
    (
        "MiB of memory",
        r#"for (long i = 0; i < 8192; i++) { char *m = malloc(1 << 20); if (!m) break; memset(m, 1, 1 << 20); } sleep(2);"#,
    ),
    (
        "MiB of memory",
        r#"char *m = mmap(0, 1 << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); if (m != MAP_FAILED) memset(m, 1, 1 << 30); sleep(2);"#,
    ),
    ("", r#"char *m = calloc(1, 1 << 20); for (int i = 0; i < 4096; i++) fwrite(m, 1, 1 << 20, stdout);"#),
    ("did not come to its next step", "for (;;) ;"),
    ("waits for something", "for (;;) pause();"),
    ("waits for something", "sleep(600);"),
    // Processes, programs, signals.
    ("to start a process", "for (int i = 0; i < 3; i++) if (fork() == 0) sleep(600);"),
    ("to start a process", "if (vfork() == 0) _exit(0);"),
    ("to start a process", "daemon(0, 0);"),
    ("another process", r#"system("rm -rf " VICTIM "/data");"#),
    ("another process", r#"popen("cat > " VICTIM "/data", "w");"#),
    ("to start another program", r#"execl("/bin/rm", "rm", "-f", VICTIM "/data", (char *)0);"#),
    ("to send a signal to another process", "kill(-1, 0);"),
    ("to send a signal to another process", "kill(getppid(), 0);"),
    ("to send a signal to another process", "syscall(SYS_tgkill, getppid(), getppid(), 0);"),
    ("to send a signal to another process", "syscall(SYS_tkill, getppid(), 0);"),
    ("to send a signal to another process", "union sigval v = {0}; sigqueue(getppid(), 0, v);"),
    ("signals about files", "int p[2]; pipe(p); fcntl(p[0], F_SETOWN, getppid());"),
    ("", "kill(getpid(), 0); raise(0); kill(0, 0);"),
    ("to control another process", "ptrace(PTRACE_ATTACH, getppid(), 0, 0);"),
    ("the memory of another process", "syscall(SYS_process_vm_writev, getppid(), 0, 0, 0, 0, 0);"),
    // The network, and what outlives a process.
    ("the network", "socket(AF_INET, SOCK_DGRAM, 0);"),
    ("the network", "socket(AF_UNIX, SOCK_STREAM, 0);"),
    ("shared memory", "shmget(4711, 4096, IPC_CREAT | 0600);"),
    ("", r#"int f = syscall(SYS_memfd_create, "m", 0); if (f >= 0) abort();"#),
    // The limits themselves.
    ("other limits", "struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY}; setrlimit(RLIMIT_FSIZE, &l);"),
    ("", "struct rlimit l; getrlimit(RLIMIT_FSIZE, &l); if (l.rlim_max > (128 << 20)) abort();"),
    ("to change how the process is run", "prctl(PR_SET_PDEATHSIG, 0);"),
    ("another priority", "nice(-5);"),
    ("another scheduling policy", "struct sched_param p = {1}; syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &p);"),
    ("to control a device", "ioctl(0, TIOCSTI, \"x\");"),
    ("reported nothing", "for (int f = 3; f < 2000; f++) close(f);"),
];

fn options() -> ReplayOptions {
    ReplayOptions { memory: 200 << 20, timeout: Duration::from_secs(5), ..ReplayOptions::default() }
}

fn judge(attack: &str, expected: &str, replayed: &Replayed) -> Result<(), String> {
    match replayed {
        Replayed::Confirmed { .. } if expected.is_empty() => Ok(()),
        Replayed::NotConfirmed { why } if !expected.is_empty() && why.contains(expected) => Ok(()),
        other => Err(format!("{attack}\n    expected {expected:?}, got {other:?}")),
    }
}

#[test]
fn hostile_programs_do_no_harm() {
    let only = std::env::var("LENO_ONLY").ok();
    let chosen = ATTACKS.iter().filter(|(_, attack)| only.as_ref().is_none_or(|only| attack.contains(only)));
    let mut failures = Vec::new();
    for (expected, body) in chosen {
        let victim = Victim::new();
        let before = victim.state();
        let start = Instant::now();
        let replayed = attack(DataModel::Lp64, body, &options(), victim.0.folder());
        println!("{:.1} s: {body}: {replayed:?}", start.elapsed().as_secs_f32());
        failures.extend(judge(body, expected, &replayed).err());
        assert_eq!(victim.state(), before, "{body}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The calls of 32-bit programs are others.
#[test]
fn programs_of_32_bits_are_confined_too() {
    let mut failures = Vec::new();
    let names = [
        "fopen",
        "chmod(VICTIM",
        "mkdir(VICTIM",
        "fork()",
        "kill(-1",
        "AF_INET",
        "setrlimit(",
        "system(",
        "shmget",
        "f < 2000; f++) close",
    ];
    for (expected, body) in ATTACKS.iter().filter(|(_, body)| names.iter().any(|name| body.contains(name))) {
        let victim = Victim::new();
        let before = victim.state();
        let replayed = attack(DataModel::Ilp32, body, &options(), victim.0.folder());
        println!("{body}: {replayed:?}");
        // (Shared memory and sockets have one call for all of theirs.)
        let expected = if body.contains("shmget") { "of the system" } else { expected };
        failures.extend(judge(body, expected, &replayed).err());
        assert_eq!(victim.state(), before, "{body}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// As where the kernel has no Landlock.
#[test]
fn without_landlock_no_file_is_opened_for_writing() {
    let options = ReplayOptions { confinement: Confinement::NoFiles, ..options() };
    let cases = [
        ("to open a file for writing", r#"fopen(VICTIM "/data", "w");"#),
        ("to open a file for writing", r#"fopen("own", "w");"#),
        ("to open a file for writing", r#"open(VICTIM "/data", O_RDONLY | O_TRUNC);"#),
        ("to change the size of a file", r#"truncate(VICTIM "/data", 0);"#),
        ("to remove a file", r#"unlink(VICTIM "/data");"#),
        ("to rename a file", r#"rename(VICTIM "/data", VICTIM "/x");"#),
        ("", r#"FILE *f = fopen(VICTIM "/data", "r"); if (!f || fgetc(f) != 'p') abort();"#),
    ];
    for (expected, body) in cases {
        let victim = Victim::new();
        let before = victim.state();
        judge(body, expected, &attack(DataModel::Lp64, body, &options, victim.0.folder())).unwrap();
        assert_eq!(victim.state(), before, "{body}");
    }
}

/// A confined program can still work with files of its own, with pipes, and with the clock.
#[test]
fn a_confined_program_can_work() {
    let body = r#"
        FILE *f = fopen("own", "w+"); if (!f) abort();
        fputs("hello", f); rewind(f); if (fgetc(f) != 'h') abort(); fclose(f);
        if (rename("own", "mine") || truncate("mine", 2) || unlink("mine")) abort();
        int p[2]; char c; if (pipe(p) || p[0] != 3 || write(p[1], "x", 1) != 1 || read(p[0], &c, 1) != 1) abort();
        struct timespec t; if (clock_gettime(CLOCK_REALTIME, &t)) abort();
        f = fopen("/dev/null", "w"); if (!f || fputs("x", f) < 0 || fclose(f)) abort();
        f = fopen("/etc/passwd", "r"); if (!f || fgetc(f) == EOF) abort();
        if (getenv("LENO_REPORT") || getenv("LENO_CONFINED")) abort();"#;
    let victim = Victim::new();
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let replayed = attack(model, body, &options(), victim.0.folder());
        assert!(replayed.is_confirmed(), "{model:?}: {replayed:?}");
    }
}

#[test]
fn without_confinement_the_program_does_what_it_does() {
    let victim = Victim::new();
    let options = ReplayOptions { confinement: Confinement::None, ..options() };
    let body = r#"FILE *f = fopen(VICTIM "/data", "w"); fputs("gone", f); fclose(f);"#;
    let replayed = attack(DataModel::Lp64, body, &options, victim.0.folder());
    assert!(replayed.is_confirmed(), "{replayed:?}");
    assert_eq!(victim.0.read("data"), b"gone");
}
