/* Freed memory: given out again where the witness says so, and nowhere else.

   An allocation whose memory will be given out again has room for all that will be there. When it is freed it stays where it is,
   and AddressSanitizer is told that nobody may touch it until then. Other memory is really freed only under AddressSanitizer, which
   keeps it for a while: the system's allocator would give it out at once. */

#ifdef LENO_WITH_ASAN
#include <sanitizer/asan_interface.h>
#define LENO_FORBID(address, bytes) ASAN_POISON_MEMORY_REGION((void *)(address), bytes)
#define LENO_ALLOW(address, bytes) ASAN_UNPOISON_MEMORY_REGION((void *)(address), bytes)
#else
#define LENO_FORBID(address, bytes) ((void)0)
#define LENO_ALLOW(address, bytes) ((void)0)
#endif

#define LENO_REUSES (sizeof leno_reuses / sizeof leno_reuses[0] - 1)

static ptr leno_given[LENO_STEPS + 1]; /* by step: what the allocation there returned */

static ptr leno_allocate_again(ptr size, ptr align, int zeroed) {
    u32 next = 0;
    while (next < LENO_REUSES && leno_reuses[next].step != leno_position) next++;
    if (leno_claiming || next == LENO_REUSES) return leno_allocate(size, align, zeroed);
    ptr room = leno_reuses[next].room;
    int is_new = leno_reuses[next].from == leno_reuses[next].step;
    ptr address = is_new ? leno_allocate(room, align, zeroed) : leno_given[leno_reuses[next].from];
    if (!address) return 0;
    LENO_ALLOW(address, room);
    if (zeroed) memset((void *)address, 0, size);
    LENO_FORBID(address + size, room - size);
    leno_given[leno_position] = address;
    return address;
}

static void leno_free_again(void *memory) {
    ptr address = (ptr)memory, room = 0;
    for (u32 i = 0; address && i < LENO_REUSES; i++) {
        if (leno_given[leno_reuses[i].from] != address) continue;
        room = leno_reuses[i].room;
        if (leno_reuses[i].step > leno_position && !leno_claiming) {
            LENO_FORBID(address, room);
            return;
        }
    }
    LENO_ALLOW(address, room);
#ifdef LENO_WITH_ASAN
    (free)(memory);
#endif
}

#define LENO_ALLOCATE leno_allocate_again
#define LENO_FREE leno_free_again
