/* The recorder. Every thread writes into a chunk of the trace file that is mapped into memory and belongs to it alone: what has
   been written is in the file whatever becomes of the process. A full chunk gets a checksum and is left; the next one is mapped.
   A clock is advanced by every step that synchronises; other records only say when they see that it has moved.

   Nothing here prints or changes what the program does. What goes wrong with the trace ends the recording, not the program. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LENO_CLOCK = 0x01,
    LENO_VALUE1 = 0x02, LENO_VALUE2, LENO_VALUE4, LENO_VALUE8, LENO_WIDE,
    LENO_SLOT = 0x10, LENO_ALLOCATED, LENO_FREED, LENO_CALL, LENO_RETURN,
    LENO_SYNC = 0x20, LENO_RELEASE, LENO_RESULT,
    LENO_SPAWN = 0x30, LENO_JOIN, LENO_STARTED, LENO_FINISHED, LENO_BEGIN, LENO_STATIC, LENO_END, LENO_FAILED
};

#define LENO_CHUNK 65536u
#define LENO_CHUNK_MAGIC 0x4b4e4843u
#define LENO_LONGEST 48 /* of a record */

struct leno_chunk {
    u32 magic, thread, number, used;
    u64 checksum; /* of the bytes that are used, when the chunk is sealed */
    u32 sealed, reserved;
    u8 bytes[LENO_CHUNK - 32];
};

static struct { u64 now; char alone[120]; } leno_clock __attribute__((aligned(128)));
static int leno_file = -1;
static u64 leno_data; /* where chunks begin */
static u32 leno_chunks, leno_threads;
static int leno_is_off;

struct leno_writer {
    struct leno_chunk *chunk;
    u32 used, thread, number;
    u64 clock;
    u8 is_known;
};
static __thread struct leno_writer leno_me;

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
    if (!chunk) return;
    chunk->checksum = leno_checksum(chunk->bytes, leno_me.used);
    __atomic_store_n(&chunk->sealed, 1, __ATOMIC_RELEASE);
    munmap(chunk, LENO_CHUNK);
    leno_me.chunk = 0;
}

/* A fresh chunk for this thread; without one, nothing more is recorded. */
static __attribute__((noinline, cold)) int leno_more(void) {
    if (leno_is_off) return 0;
    int saved = errno;
    leno_seal();
    if (!leno_me.is_known) { /* Somebody else has started this thread. */
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
        leno_me.used = 0;
        leno_me.chunk->thread = leno_me.thread;
        leno_me.chunk->number = leno_me.number++;
        __atomic_store_n(&leno_me.chunk->magic, LENO_CHUNK_MAGIC, __ATOMIC_RELEASE);
    }
    errno = saved;
    return map != MAP_FAILED;
}

/* One record: a byte that says what it is, and up to three words of which `bytes` bytes are kept. */
LENO_INLINE void leno_put(u8 what, u64 a, u64 b, u64 c, u32 bytes) {
    if (__builtin_expect(!leno_me.chunk || leno_me.used + LENO_LONGEST > sizeof leno_me.chunk->bytes, 0) && !leno_more()) return;
    u8 *at = leno_me.chunk->bytes + leno_me.used;
    at[0] = what;
    __builtin_memcpy(at + 1, &a, 8);
    if (bytes > 8) __builtin_memcpy(at + 9, &b, 8);
    if (bytes > 16) __builtin_memcpy(at + 17, &c, 8);
    leno_me.used += 1 + bytes;
    __atomic_store_n(&leno_me.chunk->used, leno_me.used, __ATOMIC_RELEASE);
}

LENO_INLINE void leno_tick(void) {
    u64 now = __atomic_load_n(&leno_clock.now, __ATOMIC_RELAXED);
    if (now != leno_me.clock) {
        leno_me.clock = now;
        leno_put(LENO_CLOCK, now, 0, 0, 8);
    }
}

static u64 leno_next(void) {
    return __atomic_fetch_add(&leno_clock.now, 1, __ATOMIC_SEQ_CST);
}

LENO_INLINE void leno_record_value(u64 bits, u32 bytes) {
    leno_tick();
    leno_put(bytes == 1 ? LENO_VALUE1 : bytes == 2 ? LENO_VALUE2 : bytes == 4 ? LENO_VALUE4 : LENO_VALUE8, bits, 0, 0, bytes);
}
static __attribute__((unused)) void leno_record_wide(u64 low, u64 high) {
    leno_tick();
    leno_put(LENO_WIDE, low, high, 0, 16);
}
LENO_INLINE void leno_record_slot(ptr address, u64 bytes) {
    leno_put(LENO_SLOT, address, bytes, 0, 16);
}
static __attribute__((unused)) void leno_record_allocated(ptr address, u64 bytes) {
    leno_put(LENO_ALLOCATED, address, bytes, leno_next(), 24);
}
static __attribute__((unused)) void leno_record_call(void) {
    leno_tick();
    leno_put(LENO_CALL, 0, 0, 0, 0);
}
static __attribute__((unused)) void leno_record_return(u64 low, u64 high) {
    leno_put(LENO_RETURN, low, high, 0, 16);
}
static __attribute__((unused)) void leno_record_sync(int result) {
    leno_put(LENO_SYNC, leno_next(), (u64)(s64)result, 0, 16);
}
static __attribute__((unused)) void leno_record_release(void) {
    leno_put(LENO_RELEASE, leno_next(), 0, 0, 8);
}
static __attribute__((unused)) void leno_record_result(int result) {
    leno_put(LENO_RESULT, (u64)(s64)result, 0, 0, 8);
}
static void leno_record_static(ptr address) {
    leno_put(LENO_STATIC, address, 0, 0, 8);
}
static __attribute__((unused)) void leno_record_end(void) {
    leno_put(LENO_END, leno_next(), 0, 0, 8);
}
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
static __attribute__((unused, cold, noreturn)) void leno_assertion_failed(const char *text, const char *file, unsigned line, const char *function) {
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
    leno_me.chunk = 0;
}

static void leno_record_begin(u64 argc, ptr argv) {
    const char *path = getenv("LENO_TRACE"), *data = getenv("LENO_TRACE_DATA");
    leno_me.is_known = 1;
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
    unsetenv("LENO_TRACE");
    unsetenv("LENO_TRACE_DATA");
    errno = 0;
    atexit(leno_seal);
    leno_put(LENO_BEGIN, argc, argv, 0, 16);
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
    if (pthread_create(&handle, 0, run, record)) leno_fail("a thread could not be started");
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
    leno_me.is_known = 1;
    leno_me.thread = start->thread;
    leno_put(LENO_STARTED, leno_next(), 0, 0, 8);
    leno_record_thread_locals();
}
static __attribute__((unused)) void *leno_finished(void *result) {
    leno_put(LENO_FINISHED, leno_next(), 0, 0, 8);
    leno_seal();
    return result;
}
static __attribute__((unused, noreturn)) void leno_thread_exit(void *result) {
    pthread_exit(leno_finished(result));
}
static __attribute__((unused)) ptr leno_join(ptr handle) {
    void *result = 0;
    u32 thread = leno_thread_of((pthread_t)handle);
    /* One that is refused has joined nobody. */
    if (pthread_join((pthread_t)handle, &result)) thread = 0xffffffffu;
    leno_put(LENO_JOIN, leno_next(), thread, (u64)(ptr)result, 24);
    return (ptr)result;
}
