// Numbers that are computed from addresses: they are others on a real machine, and a SAFE says that it assumes those of
// the model. (The line is looked for by `crates/leno/tests/suite/outside.rs`.)
//~ SAFE
//~ SAFE -DHASH
//~ SAFE -DORDER
//~ SAFE -DORDER_OF_NUMBERS
//~ SAFE -DDISTANCE
//~ SAFE -DALIGNMENT
//~ SAFE -DTHROUGH_MEMORY
//~ SAFE -DTRUNCATED
//~ SAFE -DSITES
//~ SAFE -DUNION
//~ SAFE -DCOPIED
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int first, second;
static char letter;
static uintptr_t kept;

static unsigned bucket(uintptr_t number)
{
    return (number >> 4) % 8;
}

static int *make(void)
{
    return malloc(sizeof(int));
}

int main(void)
{
    int *some = make(), *other = make();
#if defined HASH
    assert(bucket((uintptr_t)some) < 8);
#elif defined ORDER
    assert(&first < &second || &first > &second);
#elif defined ORDER_OF_NUMBERS
    assert((uintptr_t)&first != (uintptr_t)&second && ((uintptr_t)&first < (uintptr_t)&second) < 2);
#elif defined DISTANCE
    assert((uintptr_t)some - (uintptr_t)&first != 0);
#elif defined ALIGNMENT
    assert(((uintptr_t)&letter & 15) < 16);
#elif defined THROUGH_MEMORY
    kept = (uintptr_t)some;
    assert(kept % 24 < 24);
#elif defined TRUNCATED
    assert((uint32_t)(uintptr_t)some == (uint32_t)(uintptr_t)some);
#elif defined SITES
    assert(some < other || other < some);
#elif defined UNION
    union {
        int *pointer;
        uintptr_t number;
    } both;
    both.pointer = some;
    assert(both.number % 24 < 24);
#elif defined COPIED
    uintptr_t number;
    memcpy(&number, &some, sizeof number);
    assert(number % 16 < 16 && number % 24 < 24);
#else
    assert(bucket(64) == 4);
#endif
    free(some);
    free(other);
    return 0;
}
