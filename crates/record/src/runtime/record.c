/* The recorder. Every thread writes into a chunk of the trace file that is mapped into memory and belongs to it alone:
   what has been written is in the file whatever becomes of the process. A full chunk gets a checksum and is left; the
   next one is mapped. A clock is advanced by every step that synchronises; other records only say when they see that it
   has moved.

   Most loads return a value that the thread has seen before. Every thread keeps a load table: what it has loaded from
   or stored to an address is in the table under the low bits of the address. The engine that walks the thread's path
   later computes the same addresses, and keeps the same table. So a load that returns what the table holds (a hit) is
   only counted; the value of any other load is recorded, whether the memory was changed by another thread, by the
   kernel, or by this thread at another address with the same low bits.

   The recorder neither prints nor changes what the program does. An error of the recorder ends the recording, not the
   program. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    LENO_CLOCK = 0x01, LENO_HITS1 = 0x07, LENO_HITS4, LENO_HITS8, LENO_CLOCK_NEAR,
    LENO_SLOT = 0x10, LENO_ALLOCATED, LENO_FREED, LENO_CALL, LENO_RETURN, LENO_PRIVATE, LENO_RETURN_NARROW, LENO_TOUCHED, LENO_BYTES,
    LENO_SYNC = 0x20, LENO_RELEASE, LENO_RESULT, LENO_SYNC_NEAR, LENO_RELEASE_NEAR, LENO_RESULT_ZERO,
    LENO_SPAWN = 0x30, LENO_JOIN, LENO_STARTED, LENO_FINISHED, LENO_BEGIN, LENO_STATIC, LENO_END, LENO_FAILED,
    LENO_VALUE = 0x40 /* up to seven hits before it, times 8; and the logarithm of the bytes */
};

#define LENO_CHUNK 65536u
#define LENO_CHUNK_MAGIC 0x4b4e4843u
#define LENO_LONGEST 48 /* of what is written at once */
#define LENO_TABLE (1u << 20)
#define LENO_SPACE (LENO_TABLE + 16 + 8 * LENO_SLOTS)

struct leno_chunk {
    u32 magic, thread, number, used;
    u64 checksum; /* of the bytes that are used, when the chunk is sealed */
    u32 sealed, interrupted; /* how often a signal handler ran meanwhile */
    u64 hits; /* loads that returned what the load table held */
    u8 bytes[LENO_CHUNK - 40];
};

static struct { u64 now; char alone[120]; } leno_clock __attribute__((aligned(128)));
static int leno_file = -1;
static u64 leno_data; /* where chunks begin */
static u32 leno_chunks, leno_threads;
static int leno_is_off;

/* For threads that are not recorded. */
static struct leno_chunk leno_no_chunk;
static u8 leno_no_table[LENO_SPACE];

struct leno_writer {
    struct leno_chunk *chunk;
    u8 *table;
    u64 clock; /* as this thread has last seen it */
    u64 told;  /* hits of this chunk that are in its records */
    u32 used, limit, thread, number;
    u64 at;    /* of the chunk in the file */
    u32 interrupted; /* by signal handlers, while it had no chunk */
    u8 is_known, is_mute;
};
static __thread struct leno_writer leno_me = { &leno_no_chunk, leno_no_table };

static u64 leno_checksum(const u8 *bytes, u32 count) {
    u64 sum = 0xcbf29ce484222325ull;
    for (u32 i = 0; i < count; i += 8) {
        u64 word = 0;
        __builtin_memcpy(&word, bytes + i, count - i < 8 ? count - i : 8);
        sum = (sum ^ word) * 0x100000001b3ull;
        sum ^= sum >> 32;
    }
    return sum;
}

static void leno_seal(void) {
    struct leno_chunk *chunk = leno_me.chunk;
    if (chunk == &leno_no_chunk) return;
    u64 sum = (leno_checksum(chunk->bytes, leno_me.used) ^ chunk->hits) * 0x100000001b3ull;
    chunk->checksum = sum ^ sum >> 32;
    __atomic_store_n(&chunk->sealed, 1, __ATOMIC_RELEASE);
    leno_me.chunk = &leno_no_chunk; /* (first: a signal handler may run in between) */
    leno_me.limit = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    munmap(chunk, LENO_CHUNK);
    /* What was not needed of it need not be kept: there may be thousands of threads. */
    u64 kept = (40 + leno_me.used + 4095) & ~4095ull;
    if (kept < LENO_CHUNK)
        fallocate(leno_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(leno_me.at + kept), (off_t)(LENO_CHUNK - kept));
}

/* A fresh chunk for this thread; without one, nothing more is recorded. */
static __attribute__((noinline, cold)) int leno_more(void) {
    if (leno_is_off || leno_me.is_mute) return 0;
    int saved = errno;
    leno_seal();
    if (!leno_me.is_known) { /* A library has started this thread. */
        leno_me.is_known = 1;
        leno_me.thread = 0x80000000u | __atomic_fetch_add(&leno_threads, 1, __ATOMIC_RELAXED);
    }
    u64 at = leno_data + (u64)__atomic_fetch_add(&leno_chunks, 1, __ATOMIC_RELAXED) * LENO_CHUNK;
    void *map = MAP_FAILED;
    if (!posix_fallocate(leno_file, (off_t)at, LENO_CHUNK))
        map = mmap(0, LENO_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, leno_file, (off_t)at);
    if (map == MAP_FAILED) {
        leno_is_off = 1;
    } else {
        leno_me.chunk = map;
        leno_me.at = at;
        leno_me.used = leno_me.told = 0;
        leno_me.limit = sizeof leno_me.chunk->bytes - LENO_LONGEST;
        leno_me.chunk->thread = leno_me.thread;
        leno_me.chunk->number = leno_me.number++;
        __atomic_fetch_add(&leno_me.chunk->interrupted, leno_me.interrupted, __ATOMIC_RELAXED);
        leno_me.interrupted = 0;
        __atomic_store_n(&leno_me.chunk->magic, LENO_CHUNK_MAGIC, __ATOMIC_RELEASE);
    }
    errno = saved;
    return map != MAP_FAILED;
}

LENO_INLINE int leno_has_room(void) {
    return __builtin_expect(leno_me.used < leno_me.limit, 1) || leno_more();
}

/* One record: a byte that says what it is, and up to three words of which `bytes` bytes are kept. There is room. */
LENO_INLINE void leno_write(u8 what, u64 a, u64 b, u64 c, u32 bytes) {
    u8 *at = leno_me.chunk->bytes + leno_me.used;
    at[0] = what;
    __builtin_memcpy(at + 1, &a, 8);
    if (bytes > 8) __builtin_memcpy(at + 9, &b, 8);
    if (bytes > 16) __builtin_memcpy(at + 17, &c, 8);
    leno_me.used += 1 + bytes;
    __atomic_store_n(&leno_me.chunk->used, leno_me.used, __ATOMIC_RELEASE);
}

LENO_INLINE void leno_put(u8 what, u64 a, u64 b, u64 c, u32 bytes) {
    if (leno_has_room()) leno_write(what, a, b, c, bytes);
}

/* The hits that are not told yet; there is room for it. */
static void leno_tell_hits(u64 hits) {
    leno_me.told += hits;
    if (hits < 256) leno_write(LENO_HITS1, hits, 0, 0, 1);
    else if (hits >> 32 == 0) leno_write(LENO_HITS4, hits, 0, 0, 4);
    else leno_write(LENO_HITS8, hits, 0, 0, 8);
}

static __attribute__((noinline)) void leno_ticked(u64 now) {
    u64 moved = now - leno_me.clock;
    leno_me.clock = now;
    if (!leno_has_room()) return;
    u64 hits = leno_me.chunk->hits - leno_me.told;
    if (hits) leno_tell_hits(hits); /* those were before it */
    if (moved < 256) leno_write(LENO_CLOCK_NEAR, moved, 0, 0, 1);
    else leno_write(LENO_CLOCK, now, 0, 0, 8);
}
LENO_INLINE void leno_tick(void) {
    u64 now = __atomic_load_n(&leno_clock.now, __ATOMIC_RELAXED);
    if (__builtin_expect(now != leno_me.clock, 0)) leno_ticked(now);
}
static u64 leno_next(void) {
    u64 now = __atomic_fetch_add(&leno_clock.now, 1, __ATOMIC_SEQ_CST);
    leno_me.clock = now + 1;
    return now;
}
/* A step, with the moment as so much after the last one that this thread has seen. */
static void leno_step(u8 near, u8 far, u64 result) {
    u64 seen = leno_me.clock, now = leno_next();
    if (now - seen < 256 && !result) leno_put(near, now - seen, 0, 0, 1);
    else leno_put(far, now, result, 0, far == LENO_SYNC ? 16 : 8);
}

static __attribute__((noinline)) void leno_record(u64 low, u64 high, u32 size) {
    leno_tick();
    if (!leno_has_room()) return;
    u64 hits = leno_me.chunk->hits - leno_me.told;
    if (hits > 7) {
        leno_tell_hits(hits);
        hits = 0;
    }
    leno_me.told += hits;
    leno_write((u8)(LENO_VALUE | hits << 3 | size), low, high, 0, 1u << size);
}
static __attribute__((unused)) void leno_record_value(u64 bits, u32 bytes) {
    leno_record(bits, 0, bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3);
}
static __attribute__((unused)) void leno_record_wide(u64 low, u64 high) {
    leno_record(low, high, 4);
}

#define LENO_ACCESS(width, size) \
    LENO_INLINE void leno_load##width(ptr at, u##width bits) { \
        mem##width *known = (mem##width *)(leno_me.table + (at & (LENO_TABLE - 1))); \
        leno_tick(); \
        if (__builtin_expect(*known == bits, 1)) { \
            leno_me.chunk->hits++; \
        } else { \
            *known = bits; \
            leno_record(bits, 0, size); \
        } \
    } \
    LENO_INLINE void leno_store##width(ptr at, u##width bits) { \
        *(mem##width *)(leno_me.table + (at & (LENO_TABLE - 1))) = bits; \
    } \
    LENO_INLINE void leno_updated##width(ptr at, u##width bits) { \
        leno_store##width(at, bits); \
        leno_record(bits, 0, size); \
    }
LENO_ACCESS(8, 0)
LENO_ACCESS(16, 1)
LENO_ACCESS(32, 2)
LENO_ACCESS(64, 3)

LENO_INLINE void leno_record_slot(ptr address, u64 bytes) {
    leno_put(LENO_SLOT, address, bytes, 0, 16);
}
/* Most stack objects are where they were in the last call of their function. */
LENO_INLINE void leno_private_slot(u32 number, ptr address) {
    mem64 *known = (mem64 *)(leno_me.table + LENO_TABLE + 16 + 8 * number);
    if (__builtin_expect(*known == address, 1)) {
        leno_me.chunk->hits++;
    } else {
        *known = address;
        leno_record(address, 0, 3);
    }
}
static __attribute__((unused)) void leno_record_allocated(ptr address, u64 bytes) {
    leno_put(LENO_ALLOCATED, address, bytes, leno_next(), 24);
}
static __attribute__((unused)) void leno_record_private(ptr address, u64 bytes) {
    leno_put(LENO_PRIVATE, address, bytes, 0, 16);
}

/* Code that an external function calls back is not walked: its accesses do not use the table, and its hits are counted
   apart. */
struct leno_inside {
    u8 *table;
};
static __attribute__((unused)) struct leno_inside leno_outside(void) {
    struct leno_inside inside = { leno_me.table };
    leno_tick();
    if (leno_has_room()) {
        u64 hits = leno_me.chunk->hits - leno_me.told;
        if (hits) leno_tell_hits(hits);
        leno_write(LENO_CALL, 0, 0, 0, 0);
    }
    leno_me.table = leno_no_table;
    return inside;
}
static __attribute__((unused)) void leno_record_return(struct leno_inside inside, u64 low, u64 high) {
    leno_me.table = inside.table;
    if (!leno_has_room()) return;
    u64 hits = leno_me.chunk->hits - leno_me.told;
    if (hits) leno_tell_hits(hits);
    leno_write(high ? LENO_RETURN : LENO_RETURN_NARROW, low, high, 0, high ? 16 : 8);
}
/* What a library function is about to read, or has written. Of more than so many bytes the contents are not kept. */
#define LENO_WRITES 1
#define LENO_TEXT 8
#define LENO_MOST_CONTENTS 4096u
struct leno_touched { ptr address, bytes; u32 flags; ptr format, area; };
enum { LENO_ALL_RECEIVED = -1, LENO_TEXT_RECEIVED = -2 };
static __attribute__((unused)) void leno_record_touched(const struct leno_touched *touched, u32 count, u32 writes,
                                                        s64 received) {
    for (u32 i = 0; i < count; i++) {
        const u8 *from = (const u8 *)touched[i].address;
        u64 bytes = touched[i].bytes;
        if ((touched[i].flags & LENO_WRITES) != writes || !from || !bytes) continue;
        if (touched[i].flags & LENO_TEXT || (writes && received == LENO_TEXT_RECEIVED)) {
            u64 length = strnlen((const char *)from, bytes);
            if (length < bytes) bytes = length + 1;
        } else if (writes && received >= 0 && (u64)received < bytes) {
            bytes = (u64)received;
        }
        if (!bytes) continue;
        leno_put(LENO_TOUCHED, touched[i].address, bytes | (u64)writes << 63, 0, 16);
        for (u64 k = 0; k < bytes && bytes <= LENO_MOST_CONTENTS; k += 16) {
            u64 words[2] = { 0, 0 };
            __builtin_memcpy(words, from + k, bytes - k < 16 ? bytes - k : 16);
            leno_put(LENO_BYTES, words[0], words[1], 0, 16);
        }
    }
}
static __attribute__((unused)) void leno_record_sync(int result) {
    leno_step(LENO_SYNC_NEAR, LENO_SYNC, (u64)(s64)result);
}
static __attribute__((unused)) void leno_record_release(void) {
    leno_step(LENO_RELEASE_NEAR, LENO_RELEASE, 0);
}
static __attribute__((unused)) void leno_record_result(int result) {
    if (result) leno_put(LENO_RESULT, (u64)(s64)result, 0, 0, 8);
    else leno_put(LENO_RESULT_ZERO, 0, 0, 0, 0);
}
static void leno_record_static(ptr address) {
    leno_put(LENO_STATIC, address, 0, 0, 8);
}
static __attribute__((unused)) void leno_record_end(void) {
    leno_put(LENO_END, leno_next(), 0, 0, 8);
}
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
static __attribute__((unused, cold, noreturn)) void leno_assertion_failed(const char *text, const char *file,
                                                                         unsigned line, const char *function) {
    leno_put(LENO_FAILED, leno_next(), 0, 0, 8);
    __assert_fail(text, file, line, function);
}

/* What is freed is kept for a while, so that two objects of one run seldom have the same address. */
#define LENO_KEPT 4096u
#define LENO_KEPT_BYTES (64u << 20)
static struct { void *object; u64 bytes; } leno_kept[LENO_KEPT];
static u64 leno_kept_bytes;
static u32 leno_kept_first, leno_kept_count;
static pthread_mutex_t leno_kept_lock = PTHREAD_MUTEX_INITIALIZER;
extern size_t malloc_usable_size(void *);
static __attribute__((unused)) void leno_free(ptr address) {
    leno_put(LENO_FREED, address, leno_next(), 0, 16);
    if (!address) return;
    void *object = (void *)address;
    u64 bytes = malloc_usable_size(object);
    pthread_mutex_lock(&leno_kept_lock);
    while (leno_kept_count && (leno_kept_count == LENO_KEPT || leno_kept_bytes + bytes > LENO_KEPT_BYTES)) {
        free(leno_kept[leno_kept_first].object);
        leno_kept_bytes -= leno_kept[leno_kept_first].bytes;
        leno_kept_first = (leno_kept_first + 1) % LENO_KEPT;
        leno_kept_count--;
    }
    if (bytes > LENO_KEPT_BYTES) {
        free(object);
    } else {
        u32 last = (leno_kept_first + leno_kept_count) % LENO_KEPT;
        leno_kept[last].object = object;
        leno_kept[last].bytes = bytes;
        leno_kept_bytes += bytes;
        leno_kept_count++;
    }
    pthread_mutex_unlock(&leno_kept_lock);
}

/* The functions of the program itself. */
static ptr *leno_inside;
static u32 leno_inside_count;
static void leno_add_inside(ptr address) {
    if (leno_inside_count % 256 == 0) {
        void *more = realloc(leno_inside, (leno_inside_count + 256) * sizeof *leno_inside);
        if (!more) return;
        leno_inside = more;
    }
    leno_inside[leno_inside_count++] = address;
}
static int leno_compare(const void *a, const void *b) {
    ptr x = *(const ptr *)a, y = *(const ptr *)b;
    return x < y ? -1 : x > y;
}
static void leno_sort_inside(void) {
    if (leno_inside_count) qsort(leno_inside, leno_inside_count, sizeof *leno_inside, leno_compare);
}
static __attribute__((unused)) int leno_is_outside(ptr address) {
    return !leno_inside_count || !bsearch(&address, leno_inside, leno_inside_count, sizeof *leno_inside, leno_compare);
}

static void leno_in_child(void) {
    leno_is_off = 1;
    leno_me.chunk = &leno_no_chunk;
    leno_me.limit = 0;
}

/* A table for this thread. */
static void leno_begin_thread(u32 thread) {
    leno_me.is_known = 1;
    leno_me.thread = thread;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *map = leno_is_off ? MAP_FAILED : mmap(0, LENO_SPACE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (map == MAP_FAILED) leno_is_off = 1;
    else leno_me.table = map;
}

static void leno_record_begin(u64 argc, ptr argv) {
    const char *path = getenv("LENO_TRACE"), *data = getenv("LENO_TRACE_DATA");
    leno_threads = 1;
    leno_is_off = 1;
    if (path && data) {
        int file = open(path, O_RDWR | O_CLOEXEC);
        /* The program's own files get the numbers that they would have had. */
        leno_file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 1000);
        if (leno_file < 0) leno_file = file; else close(file);
        leno_data = strtoull(data, 0, 10);
        leno_is_off = leno_file < 0;
        pthread_atfork(0, 0, leno_in_child);
    }
    /* Who records us has blocked these, to pass them on. */
    sigset_t passed_on;
    sigemptyset(&passed_on);
    sigaddset(&passed_on, SIGINT);
    sigaddset(&passed_on, SIGTERM);
    sigaddset(&passed_on, SIGHUP);
    if (path) pthread_sigmask(SIG_UNBLOCK, &passed_on, 0);
    unsetenv("LENO_TRACE");
    unsetenv("LENO_TRACE_DATA");
    leno_begin_thread(0);
    errno = 0;
    atexit(leno_seal);
    leno_put(LENO_BEGIN, argc, argv, LENO_FINGERPRINT, 24);
}

/* Threads: a number for each, and which handle is whose. */
static struct { pthread_t handle; u32 thread; } *leno_handles;
static u32 leno_handle_count, leno_handle_space;
static pthread_mutex_t leno_handle_lock = PTHREAD_MUTEX_INITIALIZER;
static void leno_record_thread_locals(void);

static u32 leno_thread_of(pthread_t handle) {
    u32 found = 0xffffffffu;
    pthread_mutex_lock(&leno_handle_lock);
    for (u32 i = leno_handle_count; i-- && found == 0xffffffffu;)
        if (pthread_equal(leno_handles[i].handle, handle)) found = leno_handles[i].thread;
    pthread_mutex_unlock(&leno_handle_lock);
    return found;
}

static void leno_add_handle(pthread_t handle, u32 thread) {
    pthread_mutex_lock(&leno_handle_lock);
    if (leno_handle_count == leno_handle_space) {
        void *more = realloc(leno_handles, (leno_handle_space + 256) * sizeof *leno_handles);
        if (more) {
            leno_handles = more;
            leno_handle_space += 256;
        }
    }
    if (leno_handle_count < leno_handle_space) {
        leno_handles[leno_handle_count].handle = handle;
        leno_handles[leno_handle_count++].thread = thread;
    }
    pthread_mutex_unlock(&leno_handle_lock);
}

/* A lock that was waited for until a deadline, just before the program tries to take it: the try has this result. */
static __thread ptr leno_awaited;
static __thread int leno_await_result;
static __attribute__((unused)) int leno_was_awaited(ptr object) {
    int was = leno_awaited == object;
    leno_awaited = 0;
    return was;
}
__attribute__((used)) void __leno_outside_await(u32 what, ptr object, u32 clock, ptr deadline) {
    struct timespec time = *(const struct timespec *)deadline;
    clockid_t id = clock ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    int error;
    switch (what) {
    case 0: error = pthread_mutex_clocklock((pthread_mutex_t *)object, id, &time); break;
    case 1: error = pthread_rwlock_clockrdlock((pthread_rwlock_t *)object, id, &time); break;
    case 2: error = pthread_rwlock_clockwrlock((pthread_rwlock_t *)object, id, &time); break;
    default:
        do error = sem_clockwait((sem_t *)object, id, &time) ? errno : 0;
        while (error == EINTR);
    }
    if (error && error != ETIMEDOUT) return; /* the try will tell */
    leno_awaited = object;
    leno_await_result = !error ? 0 : what < 3 ? EBUSY : -1;
}

/* The end of the process. */
static int leno_ends_at_once;
__attribute__((used)) void __leno_outside_at_once(void) {
    leno_ends_at_once = 1;
}
static __attribute__((unused, noreturn)) void leno_end_process(int status) {
    if (!leno_ends_at_once) exit(status);
    leno_seal();
    _exit(status);
}

static __thread ptr leno_stack; /* of the thread that is started next; 0: as usual */
__attribute__((used)) void __leno_outside_stack(ptr size) {
    leno_stack = size;
}

struct leno_start {
    u32 released, thread;
    ptr function;
};
static __attribute__((unused)) void *leno_new_start(ptr size) {
    struct leno_start *start = calloc(1, size);
    if (!start) leno_fail("no memory to start a thread");
    start->thread = __atomic_fetch_add(&leno_threads, 1, __ATOMIC_RELAXED);
    return start;
}
static __attribute__((unused)) ptr leno_spawn(void *(*run)(void *), void *record) {
    pthread_t handle;
    struct leno_start *start = record;
    u64 now = leno_next();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    /* (The functions of a recorded program need more room.) */
    if (leno_stack > 8u << 20) pthread_attr_setstacksize(&attributes, 2 * leno_stack);
    leno_stack = 0;
    int error = pthread_create(&handle, &attributes, run, record);
    pthread_attr_destroy(&attributes);
    if (error) leno_fail("a thread could not be started");
    leno_add_handle(handle, start->thread);
    leno_put(LENO_SPAWN, now, start->thread, (u64)handle, 24);
    return (ptr)handle;
}
static __attribute__((unused)) void leno_release(void *start) {
    __atomic_store_n(&((struct leno_start *)start)->released, 1, __ATOMIC_RELEASE);
}
static __attribute__((unused)) void leno_await_release(void *record) {
    struct leno_start *start = record;
    while (!__atomic_load_n(&start->released, __ATOMIC_ACQUIRE)) sched_yield();
    leno_begin_thread(start->thread);
    leno_put(LENO_STARTED, leno_next(), 0, 0, 8);
    leno_record_thread_locals();
}
static __attribute__((unused)) void *leno_finished(void *result) {
    leno_put(LENO_FINISHED, leno_next(), 0, 0, 8);
    leno_seal();
    if (leno_me.table != leno_no_table) munmap(leno_me.table, LENO_SPACE);
    leno_me.table = leno_no_table;
    return result;
}
static __attribute__((unused, noreturn)) void leno_thread_exit(void *result) {
    pthread_exit(leno_finished(result));
}
static __attribute__((unused)) ptr leno_join(ptr handle) {
    void *result = 0;
    u32 thread = leno_thread_of((pthread_t)handle);
    /* A join that fails has joined no thread. */
    if (pthread_join((pthread_t)handle, &result)) thread = 0xffffffffu;
    leno_put(LENO_JOIN, leno_next(), thread, (u64)(ptr)result, 24);
    return (ptr)result;
}

/* Signals are real, and a handler may run at any time: perhaps in the middle of the functions above. So the system
   calls our own handler, which puts the thread's writer aside until the program's handler has returned. What that
   handler does is not recorded; that it ran is counted in the header of the chunk.

   Where the program itself has just sent a signal, or sleeps until one comes, handlers are put off until the call is
   over: then the program calls them like any other function, and what they do is recorded. Until then the mask that the
   system had set for them is kept. */
static struct leno_action { ptr handler; u32 flags; } leno_actions[65];
#define LENO_PUT_OFF 16
static __thread struct { int number; sigset_t mask; } leno_put_off[LENO_PUT_OFF];
static __thread sigset_t leno_masks[LENO_PUT_OFF]; /* of those whose handlers are running: what was before */
static __thread volatile int leno_puts_off, leno_waiting, leno_running;
static __thread unsigned long leno_words[5];

static void leno_handle(int number, siginfo_t *info, void *context) {
    if (leno_puts_off && !(leno_actions[number].flags & SA_SIGINFO) && leno_waiting + leno_running < LENO_PUT_OFF) {
        int at = leno_waiting;
        leno_put_off[at].number = number;
        pthread_sigmask(SIG_SETMASK, 0, &leno_put_off[at].mask);
        leno_waiting = at + 1;
        return;
    }
    struct leno_writer mine = leno_me;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (mine.chunk != &leno_no_chunk) mine.chunk->interrupted++;
    else mine.interrupted++;
    leno_me = (struct leno_writer){ .chunk = &leno_no_chunk, .table = leno_no_table, .is_known = 1, .is_mute = 1 };
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct leno_action action = leno_actions[number];
    if (action.flags & SA_SIGINFO) ((void (*)(int, siginfo_t *, void *))action.handler)(number, info, context);
    else ((void (*)(int))action.handler)(number);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    leno_me = mine;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static sigset_t leno_set(unsigned long mask, unsigned long more) {
    sigset_t set;
    sigemptyset(&set);
    unsigned long words[2] = { mask, more };
    __builtin_memcpy(&set, words, 8);
    return set;
}

/* What a call gives beside its result. */
__attribute__((used)) ptr __leno_outside_word(u32 index) {
    return index < 5 ? leno_words[index] : 0;
}
__attribute__((used)) u32 __leno_outside_action(u32 number, u32 is_set, ptr handler, u32 flags, ptr mask, ptr more) {
    struct sigaction new = { .sa_flags = (int)flags }, old;
    new.sa_mask = leno_set(mask, more);
    if (handler <= 1) {
        new.sa_handler = (void (*)(int))handler;
    } else {
        new.sa_sigaction = leno_handle;
        new.sa_flags |= SA_SIGINFO;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    struct leno_action former = leno_actions[number];
    if (is_set && handler > 1) leno_actions[number] = (struct leno_action){ handler, flags };
    int error = sigaction((int)number, is_set ? &new : 0, &old) ? errno : 0;
    if (error) leno_actions[number] = former;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    int was_ours = !error && old.sa_sigaction == leno_handle;
    leno_words[0] = was_ours ? 2 : (ptr)old.sa_handler;
    leno_words[1] = was_ours ? former.flags : (u32)old.sa_flags;
    __builtin_memcpy(leno_words + 2, &old.sa_mask, 8);
    return (u32)error;
}
__attribute__((used)) u32 __leno_outside_mask(u32 how, u32 is_set, ptr mask, ptr more) {
    sigset_t set = leno_set(mask, more), old;
    int error = pthread_sigmask((int)how, is_set ? &set : 0, &old);
    __builtin_memcpy(leno_words, &old, 8);
    return (u32)error;
}
__attribute__((used)) u32 __leno_outside_pending(void) {
    sigset_t set;
    int error = sigpending(&set) ? errno : 0;
    __builtin_memcpy(leno_words, &set, 8);
    return (u32)error;
}
__attribute__((used)) u32 __leno_outside_wait(ptr mask, ptr more) {
    sigset_t set = leno_set(mask, more);
    int number = 0, error = sigwait(&set, &number);
    return (u32)(error ? -error : number);
}
/* The next handler to run, with its mask. One signal that interrupts another's handler runs first. */
__attribute__((used)) u32 __leno_outside_signal(void) {
    if (!leno_waiting) return 0;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &leno_masks[leno_running]);
    leno_running++;
    int at = --leno_waiting, number = leno_put_off[at].number;
    sigset_t mask = leno_put_off[at].mask;
    pthread_sigmask(SIG_SETMASK, &mask, 0);
    return (u32)number;
}
__attribute__((used)) void __leno_outside_handled(void) {
    if (leno_running) pthread_sigmask(SIG_SETMASK, &leno_masks[--leno_running], 0);
}
#define LENO_SENDS(call) \
    leno_puts_off++; \
    int error = (call); \
    leno_puts_off--; \
    return (u32)(error ? -error : 1);
__attribute__((used)) u32 __leno_outside_raise(u32 number) {
    LENO_SENDS(raise((int)number) ? errno : 0)
}
__attribute__((used)) u32 __leno_outside_kill(u32 process, u32 number) {
    LENO_SENDS(kill((pid_t)process, (int)number) ? errno : 0)
}
__attribute__((used)) u32 __leno_outside_thread_kill(ptr thread, u32 number) {
    LENO_SENDS(pthread_kill((pthread_t)thread, (int)number))
}

/* Sleeps for a time, or until a signal comes. No signal is missed between the decision to sleep and the sleep: the
   system unblocks signals for as long as it sleeps. */
static int leno_sleep(const struct timespec *time, const sigset_t *mask) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    leno_puts_off++;
    int result = time ? ppoll(0, 0, time, mask ? mask : &before) : sigsuspend(mask ? mask : &before);
    int error = result ? errno : 0;
    leno_puts_off--;
    pthread_sigmask(SIG_SETMASK, &before, 0);
    return error;
}
__attribute__((used)) void __leno_outside_suspend(u32 is_set, ptr mask, ptr more) {
    sigset_t set = leno_set(mask, more);
    leno_sleep(0, is_set ? &set : 0);
}
__attribute__((used)) u32 __leno_outside_nanosleep(u32 clock, u32 flags, ptr seconds, ptr nanoseconds) {
    struct timespec time = { (time_t)seconds, (long)nanoseconds }, rest = { 0, 0 }, from, to;
    int error;
    if (flags || clock > CLOCK_MONOTONIC || time.tv_sec < 0 || time.tv_nsec < 0 || time.tv_nsec > 999999999) {
        error = clock_nanosleep((clockid_t)clock, (int)flags, &time, &rest);
    } else {
        clock_gettime(CLOCK_MONOTONIC, &from);
        error = leno_sleep(&time, 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        s64 left = (s64)(time.tv_sec + from.tv_sec - to.tv_sec) * 1000000000 + time.tv_nsec + from.tv_nsec - to.tv_nsec;
        if (left > 0) rest = (struct timespec){ left / 1000000000, left % 1000000000 };
    }
    leno_words[0] = (unsigned long)rest.tv_sec;
    leno_words[1] = (unsigned long)rest.tv_nsec;
    return (u32)error;
}
__attribute__((used)) u32 __leno_outside_sleep(u32 seconds) {
    if (!__leno_outside_nanosleep(0, 0, seconds, 0)) return 0;
    return (u32)leno_words[0];
}
__attribute__((used)) u32 __leno_outside_usleep(u32 microseconds) {
    return __leno_outside_nanosleep(0, 0, microseconds / 1000000, microseconds % 1000000 * 1000);
}

/* The environment: a name comes letter by letter, and a value goes the same way. */
static __thread char *leno_name;
static __thread const char *leno_value;
static __thread size_t leno_letters, leno_room;
__attribute__((used)) void __leno_outside_letter(u32 letter) {
    if (leno_letters == leno_room) {
        char *more = realloc(leno_name, leno_room * 2 + 64);
        if (!more) return;
        leno_name = more;
        leno_room = leno_room * 2 + 64;
    }
    leno_name[leno_letters++] = (char)letter;
}
__attribute__((used)) ptr __leno_outside_variable(u32 is_secure) {
    leno_value = !leno_letters ? 0 : is_secure ? secure_getenv(leno_name) : getenv(leno_name);
    leno_letters = 0;
    return leno_value ? strlen(leno_value) : (ptr)-1;
}
__attribute__((used)) u32 __leno_outside_value(ptr index) {
    return leno_value ? (u8)leno_value[index] : 0;
}
