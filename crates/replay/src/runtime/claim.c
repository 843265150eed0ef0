/* When all steps have been made: does the promised thing happen?

   The watcher lets the threads in question go on to their next points, one after the other, and then does what the claim
   asks for. */

static void leno_advance(struct leno_thread *thread) {
    if (thread->state != LENO_BETWEEN) return;
    leno_give_turn(thread);
    while (thread->turn) pthread_cond_wait(&leno_watcher, &leno_lock);
}

/* Lets a thread that stands at a point make its step. */
static void leno_let_pass(struct leno_thread *thread) {
    leno_give_turn(thread);
    while (thread->turn) pthread_cond_wait(&leno_watcher, &leno_lock);
}

static void leno_tell(struct leno_thread *thread) {
    switch (thread->state) {
    case LENO_STANDING:
        leno_report("at %s %u %#llx %llu %d", thread->name, thread->place, (unsigned long long)thread->address,
                    (unsigned long long)thread->bytes, thread->flags);
        break;
    case LENO_STOPPED: leno_report("away %s has been stopped by an assumption that is false", thread->name); break;
    case LENO_ENDED: leno_report("away %s has ended", thread->name); break;
    default: leno_report("away %s has left its atomic section", thread->name); break;
    }
}

static int leno_is_claimed_place(const struct leno_claimed *claimed, struct leno_thread *thread) {
    for (u32 i = 0; i < claimed->count; i++)
        if (thread->state == LENO_STANDING && claimed->places[i] == thread->place) return 1;
    return 0;
}

static struct leno_thread *leno_claimed_thread(u32 i) {
    struct leno_thread *thread = leno_find(leno_claim[i].thread);
    if (!thread) leno_end("away %s was never started", leno_names[leno_claim[i].thread]);
    return thread;
}

/* ---- a step that goes wrong; with luck the process does not survive it */

static void leno_claim_violation(void) {
    struct leno_thread *thread = leno_claimed_thread(0);
    /* An object that is dead has died in a return, which is no step: who has made his last one goes on to his next point. */
    for (struct leno_thread *other = leno_threads; other && LENO_AFTER_SCOPE; other = other->next)
        if (other != thread && other->index != LENO_NOBODY) leno_advance(other);
    leno_advance(thread);
    if (leno_is_claimed_place(&leno_claim[0], thread)) {
        leno_report("passes %s %u", thread->name, thread->place);
        leno_let_pass(thread);
        leno_end("survived %s %u", thread->name, thread->place);
    }
    leno_tell(thread);
    _exit(0);
}

/* ---- a race: both stand at their access */

/* Freeing is an access to all that there is. */
static void leno_measure(struct leno_thread *thread) {
    if (thread->state == LENO_STANDING && thread->flags & LENO_FREES && thread->address)
        thread->bytes = malloc_usable_size((void *)thread->address);
}

static int leno_conflict(struct leno_thread *a, struct leno_thread *b) {
    if (a->state != LENO_STANDING || b->state != LENO_STANDING || !((a->flags | b->flags) & LENO_WRITES)) return 0;
    return a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}

extern int leno_print(char *to, size_t size, const char *format, ptr list) __asm__("vsnprintf");

/* One of the accesses of a library function that a thread stands before is the one that it is about to make. */
static void leno_set_access(struct leno_thread *thread, u32 i) {
    if (thread->state != LENO_STANDING || i >= thread->touched_count) return;
    struct leno_touched *touched = &thread->touched[i];
    thread->address = touched->address;
    thread->bytes = touched->bytes;
    thread->flags = touched->flags & ~LENO_TEXT;
    if (!(touched->flags & LENO_TEXT) || !touched->address) return;
    ptr length = touched->format ? (ptr)leno_print(0, 0, (const char *)touched->format, leno_va_list(touched->area))
                                 : strnlen((const char *)touched->address, touched->bytes);
    if (length < touched->bytes) thread->bytes = length + 1;
}

/* Of the accesses of two threads, those that conflict. */
static void leno_choose_accesses(struct leno_thread *first, struct leno_thread *second) {
    u32 i = 0;
    do {
        leno_set_access(first, i);
        u32 k = 0;
        do {
            leno_set_access(second, k);
            if (leno_conflict(first, second)) return;
        } while (++k < second->touched_count);
    } while (++i < first->touched_count);
}

/* A thread before or in an atomic section makes all of its accesses at once: it goes on to the one that is meant. */
static void leno_find_access(u32 i, struct leno_thread *thread, struct leno_thread *other) {
    int found = leno_is_claimed_place(&leno_claim[i], thread);
    leno_report("section %s %u", thread->name, thread->place);
    while (!(found && leno_conflict(thread, other)) && thread->state == LENO_STANDING && !leno_blocks(thread)) {
        leno_let_pass(thread);
        if (!thread->sections) return;
        leno_advance(thread);
        found |= leno_is_claimed_place(&leno_claim[i], thread);
    }
}

static int leno_has_section(struct leno_thread *thread) {
    for (u32 i = 0; i < LENO_SECTIONS; i++)
        if (thread->state == LENO_STANDING && leno_sections[i] == thread->place) return 1;
    return thread->sections != 0;
}

static void leno_claim_race(void) {
    struct leno_thread *first = leno_claimed_thread(0), *second = leno_claimed_thread(1);
    leno_advance(first);
    leno_advance(second);
    leno_measure(first);
    leno_measure(second);
    leno_choose_accesses(first, second);
    int there = leno_is_claimed_place(&leno_claim[0], first) && leno_is_claimed_place(&leno_claim[1], second);
    if (!(there && leno_conflict(first, second))) {
        if (leno_has_section(first)) leno_find_access(0, first, second);
        else if (leno_has_section(second)) leno_find_access(1, second, first);
    }
    leno_tell(first);
    leno_tell(second);
    leno_end("race");
}

/* ---- a block that is not atomic: two of the accesses have been made and noted, and the last one is about to be */

static void leno_claim_atomicity(void) {
    struct leno_thread *thread = leno_claimed_thread(0);
    leno_advance(thread);
    leno_measure(thread);
    leno_tell(thread);
    leno_end("interleaved");
}

/* ---- a deadlock: everybody is let into the real operation, and then seen asleep

   Two rounds are made through the threads' states as the kernel tells them. If all are asleep in both, and none has been
   switched to in between, then there was a moment at which all of them were asleep. In an operation without time-out only
   another thread of the process can wake them, and there is none but us. */

static int leno_is_asleep(pid_t tid, unsigned long long *switches) {
    char path[64], line[256], state = 0;
    unsigned long long count;
    int counts = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *file = fopen(path, "r");
    if (!file) leno_end("blind /proc does not tell the states of threads");
    *switches = 0;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "State: %c", &state);
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &count) == 1) {
            *switches += count;
            counts++;
        }
    }
    fclose(file);
    if (counts != 2) leno_end("blind /proc does not tell how often a thread was switched to");
    return state == 'S';
}

static void leno_see_all_asleep(void) {
    static unsigned long long before[LENO_CLAIMED], after[LENO_CLAIMED];
    for (int rounds = 0; rounds < 2;) {
        int asleep = 1;
        for (u32 i = 0; i < LENO_CLAIMED; i++) {
            struct leno_thread *thread = leno_find(leno_claim[i].thread);
            /* A spinning thread never sleeps: that it waits is known from who has the lock. */
            if (thread->step == LENO_SPIN_LOCK) continue;
            asleep &= leno_is_asleep(thread->tid, rounds ? &after[i] : &before[i]);
        }
        if (rounds && memcmp(before, after, sizeof before)) asleep = 0;
        rounds = asleep ? rounds + 1 : 0;
        struct timespec moment = {0, 1000000}; /* leaves the processor to those who are on their way to sleep */
        if (!asleep) nanosleep(&moment, 0);
    }
}

static int leno_is_claimed(struct leno_thread *thread) {
    for (u32 i = 0; i < LENO_CLAIMED; i++)
        if (thread && leno_claim[i].thread == thread->index) return 1;
    return 0;
}

static void leno_claim_deadlock(void) {
    int others = 0;
    for (u32 i = 0; i < LENO_CLAIMED; i++) {
        struct leno_thread *thread = leno_claimed_thread(i);
        leno_advance(thread);
        if (!leno_is_claimed_place(&leno_claim[i], thread)) {
            leno_tell(thread);
            _exit(0);
        }
    }
    for (struct leno_thread *thread = leno_threads; thread; thread = thread->next)
        others += thread->state != LENO_ENDED && !leno_is_claimed(thread);
    for (u32 i = 0; i < LENO_CLAIMED; i++) {
        struct leno_thread *thread = leno_claimed_thread(i), *owner = leno_owner(thread);
        if (!leno_waits(thread)) leno_end("free %s %u", thread->name, thread->place);
        /* While others could still run, only a cycle of owners is for ever, or an owner that has ended; spinning is
           waiting only for somebody. */
        if ((others || thread->step == LENO_SPIN_LOCK) && !leno_is_claimed(owner) && !(owner && owner->state == LENO_ENDED))
            leno_end("open %s %u %s could still end its waiting", thread->name, thread->place, owner ? owner->name : "another thread");
    }
    for (u32 i = 0; i < LENO_CLAIMED; i++) {
        struct leno_thread *thread = leno_claimed_thread(i);
        thread->block = 1;
        leno_give_turn(thread);
        while (thread->state != LENO_BLOCKING) pthread_cond_wait(&leno_watcher, &leno_lock);
    }
    leno_see_all_asleep();
    leno_end("deadlock %d", others);
}

/* ---- crashes */

static void leno_crashed(const char *how) {
    struct leno_thread *me = leno_me;
    leno_report("crashed %s %u %u %s", me ? me->name : "-", me ? me->place : 0, leno_position, how);
}

#ifdef LENO_WITH_ASAN
void __asan_set_death_callback(void (*callback)(void));
const char *__asan_get_report_description(void);
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0:detect_stack_use_after_return=1:allocator_may_return_null=1:symbolize=0:color=never:handle_abort=0";
}
static void leno_asan_died(void) {
    const char *how = __asan_get_report_description();
    leno_crashed(how && *how ? how : "SEGV");
}
static void leno_watch_crashes(void) {
    __asan_set_death_callback(leno_asan_died);
}
#else
static void leno_on_signal(int number) {
    char how[32];
    snprintf(how, sizeof how, "signal-%d", number);
    leno_crashed(how);
    _exit(0);
}
static void leno_watch_crashes(void) {
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (u32 i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], leno_on_signal);
}
#endif

/* ---- the beginning */

static int leno_argc;
static char **leno_argv;

static void *leno_run_program(void *start) {
    leno_program(leno_argc, leno_argv);
    leno_end("ended %u main returns from the program", leno_position);
    return start;
}

/* Reports go to a file whose number is none that the program would get. */
static void leno_open_report(void) {
    const char *report = getenv("LENO_REPORT");
    if (!report) return;
    int file = open(report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    leno_report_to = fcntl(file, F_DUPFD_CLOEXEC, LENO_OPEN_FILES - 1);
    if (leno_report_to < 0) leno_report_to = file;
    else close(file);
    unsetenv("LENO_REPORT");
}

int main(int argc, char **argv) {
    const char *confined = getenv("LENO_CONFINED");
    if (confined) leno_close_inherited();
    leno_open_report();
    leno_argc = argc;
    leno_argv = argv;
    leno_watch_crashes();
    if (confined) leno_confine(confined);
    unsetenv("LENO_CONFINED");
    pthread_mutex_lock(&leno_lock);
    static struct leno_start start;
    start.thread = leno_new_thread("main", 0);
    start.run = leno_run_program;
    if (pthread_create(&start.thread->handle, 0, leno_live, &start)) leno_diverge("the main thread cannot be started");
    leno_next();
    while (!leno_claiming) pthread_cond_wait(&leno_watcher, &leno_lock);
    leno_report("followed %u", leno_position);
    LENO_CLAIM();
    return 0;
}
