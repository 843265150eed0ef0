/* What the program has allocated and not freed, when it is about to end.

   The list is not in memory that could keep an object alive. What points to an object is looked for where static objects are, and in
   objects that something points to. (What threads that have not ended know is for the interpreter to judge.) */

#include <sys/mman.h>

#ifndef LENO_ALLOCATE
#define LENO_ALLOCATE leno_allocate
#define LENO_FREE (free)
#endif

struct leno_object { u8 *address; size_t size; int reached; };
static struct leno_object *leno_objects;
static size_t leno_object_count, leno_object_room;

static ptr leno_note_object(ptr address, ptr size) {
    if (!address) return address;
    if (leno_object_count == leno_object_room) {
        size_t room = leno_object_room ? leno_object_room * 2 : 1024;
        struct leno_object *more = mmap(0, room * sizeof *more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) leno_end("blind there is no memory for a list of objects");
        if (leno_objects) memcpy(more, leno_objects, leno_object_count * sizeof *more);
        leno_objects = more;
        leno_object_room = room;
    }
    leno_objects[leno_object_count++] = (struct leno_object){(u8 *)address, size, 0};
    return address;
}

static void leno_free_object(void *address) {
    for (size_t i = leno_object_count; i-- > 0;)
        if (leno_objects[i].address == address) {
            leno_objects[i] = leno_objects[--leno_object_count];
            break;
        }
    LENO_FREE(address);
}

static void leno_reach_word(const u8 *word) {
    for (size_t i = 0; i < leno_object_count; i++) {
        struct leno_object *object = &leno_objects[i];
        if (!object->reached && word >= object->address && word <= object->address + object->size) object->reached = 1;
    }
}

static void leno_reach(const u8 *from, const u8 *to) {
    for (; from + sizeof(u8 *) <= to; from++) {
        u8 *word;
        memcpy(&word, from, sizeof word);
        leno_reach_word(word);
    }
}

extern u8 __data_start[], _end[];

static u32 leno_count_leaks(void) {
    if (!LENO_LEAKS) return (u32)leno_object_count;
    leno_reach(__data_start, _end);
    for (int more = 1; more;) {
        more = 0;
        for (size_t i = 0; i < leno_object_count; i++)
            if (leno_objects[i].reached == 1) {
                leno_objects[i].reached = 2;
                leno_reach(leno_objects[i].address, leno_objects[i].address + leno_objects[i].size);
                more = 1;
            }
    }
    u32 count = 0;
    for (size_t i = 0; i < leno_object_count; i++) count += !leno_objects[i].reached;
    return count;
}

static void leno_claim_leak(void) {
    struct leno_thread *thread = leno_claimed_thread(0);
    for (struct leno_thread *any = leno_threads; any; any = any->next) leno_advance(any);
    if (leno_is_claimed_place(&leno_claim[0], thread))
        leno_end("leaks %s %u %u", thread->name, thread->place, leno_count_leaks());
    leno_tell(thread);
    _exit(0);
}

#define leno_allocate(size, ...) leno_note_object(LENO_ALLOCATE(size, __VA_ARGS__), size)
#define free(object) leno_free_object(object)
