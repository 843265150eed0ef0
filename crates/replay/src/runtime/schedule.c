/* The scheduler of a replay.

   One turn is handed from thread to thread. Who has it runs: first what nobody else can notice, up to the next point;
   there the place must be the one that the table of steps has next; then the step itself, after which the turn goes to
   the thread of the next step. Everybody else waits, each on a condition variable of its own. So exactly one thread runs at any
   time, and no clock decides anything. Whatever does not go as the table says is reported, and ends the process.

   The main thread of the process is none of the program's: it watches, and takes over when the table is at its end. */

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define LENO_WITH_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LENO_WITH_ASAN
#endif
#endif

#define LENO_WRITES 1
#define LENO_ATOMIC 2
#define LENO_FREES 4
#define LENO_TEXT 8

enum leno_state {
    LENO_BETWEEN,  /* after a step, or before the first one */
    LENO_RUNNING,  /* it has the turn */
    LENO_STANDING, /* at a point */
    LENO_BLOCKING, /* let into an operation that should never come back */
    LENO_STOPPED,  /* an assumption was false */
    LENO_ENDED
};

struct leno_slot {
    void *frame, *object;
    ptr size;
};

/* An access of a library function. Of a text, bytes is the most; one that is to be printed has a format and arguments. */
struct leno_touched {
    ptr address, bytes;
    int flags;
    ptr format, area;
};

struct leno_thread {
    char *name;
    u32 index; /* in the table of names; LENO_NOBODY if it is not there */
    pthread_t handle;
    pid_t tid;
    int joinable;
    enum leno_state state;
    int turn;     /* under leno_lock */
    int block;    /* the turn is for blocking */
    int in_step;  /* past a point, and the step is not over */
    int runs_on;  /* inside a section that may be split: goes on to the next point before others run */
    u32 sections; /* atomic sections that it is in */
    u32 children, inputs;
    u32 activations[LENO_FRESH_REGISTERS + 1]; /* of the functions of registers with initial values */
    u64 high; /* of the last input */
    jmp_buf end; /* where it goes to end */
    void *result;
    struct leno_slot *slots; /* its stack objects, as far as they may be alive */
    u32 slot_count, slot_room;
    pthread_cond_t wake;
    struct leno_thread *next;
    /* What it is about to do. */
    u32 place;
    ptr address, bytes;
    int flags;
    u32 touched_count; /* of the accesses of a library function */
    struct leno_touched *touched;
    int step; /* LENO_NO_SYNC, LENO_JOIN, or what is done to a synchronisation object */
    ptr at;
    u64 operand;
};

#define LENO_NOBODY 0xffffffffu

static pthread_mutex_t leno_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t leno_watcher = PTHREAD_COND_INITIALIZER;
static struct leno_thread *leno_threads; /* in order of creation */
static u32 leno_position;                /* how many steps have been made */
static int leno_claiming;                /* the table is at its end */
static struct leno_thread *leno_section; /* who is inside an atomic section */
static int leno_report_to = 2;
static _Thread_local struct leno_thread *leno_me;
static _Thread_local int leno_begins;

static void leno_program(int argc, char **argv);
static int leno_blocks(struct leno_thread *thread);
static void leno_block(struct leno_thread *me);

/* ---- telling what happened: one line, words first, then text for people */

static void leno_report(const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    if (length > (int)sizeof line - 2) length = sizeof line - 2;
    line[length++] = '\n';
    for (int written = 0; written < length;) {
        ssize_t count = write(leno_report_to, line + written, length - written);
        if (count < 0 && errno != EINTR) return;
        if (count > 0) written += count;
    }
}

#define leno_end(...) (leno_report(__VA_ARGS__), _exit(0))
#define leno_diverge(...) leno_end("diverged %u " LENO_FIRST(__VA_ARGS__), leno_position LENO_REST(__VA_ARGS__))
#define LENO_FIRST(first, ...) first
#define LENO_REST(first, ...) , ##__VA_ARGS__

/* ---- the turn */

static struct leno_thread *leno_find(u32 index) {
    struct leno_thread *thread = leno_threads;
    while (thread && thread->index != index) thread = thread->next;
    return thread;
}

static void leno_give_turn(struct leno_thread *thread) {
    thread->turn = 1;
    pthread_cond_signal(&thread->wake);
}

/* The turn goes to the thread of the next step. */
static void leno_next(void) {
    if (leno_position >= LENO_STEPS) {
        leno_claiming = 1;
        pthread_cond_signal(&leno_watcher);
        return;
    }
    u32 index = leno_steps[leno_position].thread;
    struct leno_thread *thread = leno_find(index);
    if (!thread) leno_diverge("there is no thread %s", leno_names[index]);
    if (thread->state == LENO_ENDED) leno_diverge("%s has ended", thread->name);
    if (thread->state == LENO_STOPPED) leno_diverge("%s was stopped by an assumption that is false", thread->name);
    struct leno_thread *inside = leno_section;
    if (inside && inside != thread && !(inside->state == LENO_STANDING && leno_blocks(inside)))
        leno_diverge("%s is inside an atomic section, which excludes %s", inside->name, thread->name);
    leno_give_turn(thread);
}

/* Gives the turn up, and waits for it. */
static void leno_wait_turn(struct leno_thread *me, enum leno_state state) {
    pthread_mutex_lock(&leno_lock);
    me->state = state;
    me->turn = 0;
    if (leno_claiming) pthread_cond_signal(&leno_watcher);
    else leno_next();
    while (!me->turn) pthread_cond_wait(&me->wake, &leno_lock);
    me->state = LENO_RUNNING;
    pthread_mutex_unlock(&leno_lock);
}

/* Gives the turn up for good. */
static void leno_leave(struct leno_thread *me, enum leno_state state) {
    pthread_mutex_lock(&leno_lock);
    me->state = state;
    me->turn = 0;
    me->sections = 0;
    if (leno_section == me) leno_section = 0;
    if (leno_claiming) pthread_cond_signal(&leno_watcher);
    else leno_next();
    pthread_mutex_unlock(&leno_lock);
}

/* ---- hooks around steps */

static void leno_done(void) {
    struct leno_thread *me = leno_me;
    if (!me->in_step) return;
    me->in_step = 0;
    leno_section = me->sections ? me : 0;
    if (!leno_claiming) {
        leno_position++;
        if (leno_position < LENO_STEPS && leno_steps[leno_position].thread == me->index) return;
        if (me->sections && leno_position < LENO_STEPS) {
            me->runs_on = 1;
            return;
        }
    }
    leno_wait_turn(me, LENO_BETWEEN);
}

static int leno_enter(void) {
    leno_done();
    int begins = leno_begins;
    leno_begins = 0;
    return begins;
}

static void leno_arrive(u32 place) {
    struct leno_thread *me = leno_me;
    me->place = place;
    int stood = me->runs_on;
    me->runs_on = 0;
    if (stood) leno_wait_turn(me, LENO_STANDING);
    if (leno_claiming) {
        if (!stood) leno_wait_turn(me, LENO_STANDING);
        if (me->block) leno_block(me);
    } else if (leno_steps[leno_position].place != place) {
        leno_diverge("%s is at another place: @%u", me->name, place);
    }
    me->in_step = 1;
}

static void leno_expect(ptr address, ptr bytes, int flags, int step, ptr at, u64 operand) {
    struct leno_thread *me = leno_me;
    leno_done();
    me->address = address;
    me->bytes = bytes;
    me->flags = flags;
    me->touched_count = 0;
    me->step = step;
    me->at = at;
    me->operand = operand;
}

static void leno_point(u32 place) {
    leno_expect(0, 0, 0, 0, 0, 0);
    leno_arrive(place);
}

/* Whether a thread is at a place that the claim speaks of. */
static int leno_claims_place_of(struct leno_thread *me) {
    for (u32 i = 0; i < LENO_CLAIMED; i++)
        for (u32 k = 0; k < leno_claim[i].count && leno_claim[i].thread == me->index; k++)
            if (leno_claim[i].places[k] == me->place) return 1;
    return 0;
}

/* Reads what a library function is about to read: sanitizers see into this, and not into every function. */
static void leno_read_touched(const struct leno_touched *touched) {
    if (touched->flags & LENO_WRITES || !touched->address) return;
    for (ptr i = 0; i < touched->bytes; i++)
        if (!((const volatile u8 *)touched->address)[i] && touched->flags & LENO_TEXT) return;
}

/* Before a call of a library function that makes these accesses. */
__attribute__((unused)) static void leno_library(u32 place, u32 count, struct leno_touched *touched) {
    leno_expect(0, 0, 0, 0, 0, 0);
    leno_me->touched_count = count;
    leno_me->touched = touched;
    leno_arrive(place);
    for (u32 i = 0; i < count && LENO_READS_AHEAD && leno_claims_place_of(leno_me); i++) leno_read_touched(&touched[i]);
}

static int leno_has_called_real;

/* Memory that the witness gives contents to, because it is read before anybody writes it. */
static void leno_settle(ptr address, ptr bytes) {
    static u32 next;
    while (next < LENO_SETTLED && leno_settled[next].step < leno_position) next++;
    if (next == LENO_SETTLED || leno_settled[next].step != leno_position) return;
    /* What a function left there is there, if it was really called. */
    if (leno_settled[next].left_by_function && leno_has_called_real) return;
    u8 *memory = (u8 *)address;
    for (ptr i = 0; i < bytes && i < 16; i++) {
        u8 mask = leno_settled[next].mask[i];
        memory[i] = (memory[i] & ~mask) | (leno_settled[next].bits[i] & mask);
    }
}

/* The accesses that a claim speaks of, when they are made. */
static void leno_note_access(struct leno_thread *me) {
    if (leno_claims_place_of(me))
        leno_report("made %s %u %#llx %llu %d", me->name, me->place, (unsigned long long)me->address,
                    (unsigned long long)me->bytes, me->flags);
}

static void leno_access(u32 place, ptr address, ptr bytes, int flags) {
    leno_expect(address, bytes, flags, 0, 0, 0);
    leno_arrive(place);
    if (LENO_NOTES_ACCESSES) leno_note_access(leno_me);
    if (LENO_SETTLED) leno_settle(address, bytes);
}

/* ---- threads */

struct leno_start {
    struct leno_thread *thread;
    void *(*run)(void *);
    ptr function;
};

static struct leno_thread *leno_new_thread(const char *parent, u32 number) {
    struct leno_thread *thread = calloc(1, sizeof *thread);
    size_t length = strlen(parent) + 16;
    char *name = thread ? malloc(length) : 0;
    if (!name) leno_diverge("no memory to start a thread");
    if (number) snprintf(name, length, "%s.%u", parent, number);
    else snprintf(name, length, "%s", parent);
    thread->name = name;
    thread->index = LENO_NOBODY;
    for (u32 i = 0; i < LENO_NAMES; i++)
        if (!strcmp(leno_names[i], name)) thread->index = i;
    thread->joinable = 1;
    pthread_cond_init(&thread->wake, 0);
    struct leno_thread **last = &leno_threads;
    while (*last) last = &(*last)->next;
    *last = thread;
    return thread;
}

static void *leno_new_start(ptr size) {
    void *start = calloc(1, size);
    if (!start) leno_diverge("no memory to start a thread");
    return start;
}

/* AddressSanitizer guards the stack objects of functions that have returned. Those of functions that a thread's end has cut
   off it takes for alive; so we note where they are, and declare them dead ourselves. */
#ifdef LENO_WITH_ASAN
void __asan_poison_memory_region(const volatile void *address, size_t size);
#define leno_slot(object) leno_note_slot(__builtin_frame_address(0), object, sizeof object)

static void leno_note_slot(void *frame, void *object, ptr size) {
    struct leno_thread *me = leno_me;
    /* Functions further down the stack have returned. */
    while (me->slot_count && me->slots[me->slot_count - 1].frame < frame) me->slot_count--;
    if (me->slot_count == me->slot_room) {
        me->slot_room = me->slot_room * 2 + 16;
        me->slots = realloc(me->slots, me->slot_room * sizeof *me->slots);
        if (!me->slots) leno_diverge("no memory");
    }
    me->slots[me->slot_count++] = (struct leno_slot){frame, object, size};
}

static void leno_bury_slots(struct leno_thread *me) {
    for (u32 i = 0; i < me->slot_count; i++) __asan_poison_memory_region(me->slots[i].object, me->slots[i].size);
}
#else
#define leno_slot(object) ((void)0)
#define leno_bury_slots(me) ((void)0)
#endif

/* A whole thread. With AddressSanitizer it stays when it has ended: its stack must not be used again by another one. */
static void *leno_live(void *record) {
    struct leno_start *start = record;
    struct leno_thread *me = start->thread;
    leno_me = me;
    me->tid = syscall(SYS_gettid);
    pthread_mutex_lock(&leno_lock);
    while (!me->turn) pthread_cond_wait(&me->wake, &leno_lock);
    me->state = LENO_RUNNING;
    pthread_mutex_unlock(&leno_lock);
    leno_begins = 1;
    if (!setjmp(me->end)) start->run(record);
    leno_bury_slots(me);
    me->in_step = 0;
    if (!leno_claiming) leno_position++;
    leno_leave(me, LENO_ENDED);
#ifdef LENO_WITH_ASAN
    for (;;) pause();
#endif
    return me->result;
}

static ptr leno_spawn(void *(*run)(void *), void *record) {
    struct leno_thread *me = leno_me;
    struct leno_start *start = record;
    pthread_mutex_lock(&leno_lock);
    struct leno_thread *child = start->thread = leno_new_thread(me->name, ++me->children);
    pthread_mutex_unlock(&leno_lock);
    start->run = run;
    /* One that the schedule never lets run need not exist: there may be thousands, and no room for their stacks. */
    if (child->index == LENO_NOBODY) return (ptr)(child->handle = (pthread_t)child);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    /* Many threads do not get stacks of the usual 8 MiB into 32 bits. */
    if (sizeof(ptr) == 4 && LENO_NAMES > 200) pthread_attr_setstacksize(&attributes, 128 << 10);
    int problem = pthread_create(&child->handle, &attributes, leno_live, record);
    pthread_attr_destroy(&attributes);
    if (problem) leno_diverge("%s cannot start a thread: %s", me->name, strerror(problem));
    return (ptr)child->handle;
}

static void leno_release(void *start) {
    (void)start; /* it begins when its first step is due */
}

static void leno_await_release(void *start) {
    (void)start; /* it has its first turn already */
}

static void *leno_finished(void *result) {
    return leno_me->result = result;
}

static __attribute__((noreturn)) void leno_thread_exit(void *result) {
    leno_me->result = result;
    longjmp(leno_me->end, 1);
}

/* A handle may be used again once its thread was joined: the youngest is meant. */
static struct leno_thread *leno_of_handle(ptr handle) {
    struct leno_thread *found = 0;
    for (struct leno_thread *thread = leno_threads; thread; thread = thread->next)
        if ((ptr)thread->handle == handle && (thread->joinable || !found)) found = thread;
    return found;
}

static struct leno_thread *leno_target(ptr handle, const char *what) {
    struct leno_thread *me = leno_me, *target = leno_of_handle(handle);
    if (!target) leno_end("invalid InvalidThread %s %u %s of what is not a thread", me->name, me->place, what);
    if (!target->joinable)
        leno_end("invalid InvalidThread %s %u %s of %s, which has been joined or detached", me->name, me->place, what, target->name);
    return target;
}

static ptr leno_join(ptr handle) {
    struct leno_thread *target = leno_target(handle, "join");
    if (target == leno_me) leno_end("invalid InvalidThread %s %u join of itself", leno_me->name, leno_me->place);
    if (leno_blocks(leno_me)) leno_diverge("%s has to wait for the end of %s", leno_me->name, target->name);
#ifndef LENO_WITH_ASAN
    pthread_join(target->handle, 0); /* it has made its last step, and needs nobody to come to its end */
#endif
    target->joinable = 0;
    return (ptr)target->result;
}

static void leno_detach(ptr handle) {
    struct leno_thread *target = leno_target(handle, "detach");
    if (target->index != LENO_NOBODY) pthread_detach(target->handle);
    target->joinable = 0;
}

static void leno_atomic_begin(void) {
    leno_me->sections++;
}

static void leno_atomic_end(void) {
    if (leno_me->sections) leno_me->sections--;
}

/* ---- ends */

static __attribute__((noreturn)) void leno_exit(int status) {
    leno_end("ended %u %s exits the program with status %d", leno_position, leno_me->name, status);
}

static __attribute__((noreturn)) void leno_abort(void) {
    leno_end("ended %u %s aborts the program", leno_position, leno_me->name);
}

static __attribute__((noreturn, cold, noinline)) void leno_fail_at(u32 place) {
    leno_end("failed %s %u %u", leno_me->name, place, leno_position);
}

static __attribute__((noreturn, cold, noinline)) void leno_park(void) {
    struct leno_thread *me = leno_me;
    leno_done();
    if (!leno_claiming && !me->runs_on) leno_diverge("%s is stopped by an assumption that is false", me->name);
    leno_leave(me, LENO_STOPPED);
    for (;;) pause();
}

/* ---- inputs */

static u64 leno_input(unsigned width) {
    struct leno_thread *me = leno_me;
    u64 low = 0;
    me->high = 0;
    if (me->index != LENO_NOBODY && me->inputs < leno_inputs[me->index].count) {
        low = leno_inputs[me->index].values[me->inputs].low;
        me->high = leno_inputs[me->index].values[me->inputs].high;
    }
    me->inputs++;
    return width < 64 ? low & (((u64)1 << width) - 1) : low;
}

static u64 leno_input_high(void) {
    return leno_me->high;
}

/* ---- functions that nothing is known of: the real one counts, if there is one */

#define LENO_NOTED 64
static const char *leno_noted[LENO_NOTED];
static int leno_has_differed;

/* Tells once of each function whether it is the real one. */
static int leno_is_real(const char *name, int linked) {
    u32 i = 0;
    while (i < LENO_NOTED && leno_noted[i] && leno_noted[i] != name) i++;
    if (i < LENO_NOTED && !leno_noted[i]) {
        leno_noted[i] = name;
        leno_report("%s %s", linked ? "real" : "given", name);
    }
    leno_has_called_real |= linked;
    errno = 0;
    return linked;
}

/* Tells the first time that a real function does not return what the witness has. Of addresses only null is comparable. */
static void leno_returned(const char *name, int is_pointer, u64 given, u64 got) {
    int error = errno;
    if (!leno_has_differed && (is_pointer ? !given != !got : given != got)) {
        leno_has_differed = 1;
        leno_report("differs %s %lld %lld", name, (long long)given, (long long)got);
    }
    errno = error;
}

/* The initial value of a register in this activation. */
static u64 leno_fresh(u32 number) {
    struct leno_thread *me = leno_me;
    u32 activation = me->activations[number]++;
    for (u32 i = 0; i < LENO_FRESH; i++)
        if (leno_fresh_values[i].thread == me->index && leno_fresh_values[i].number == number &&
            leno_fresh_values[i].activation == activation)
            return leno_fresh_values[i].bits;
    return 0;
}
