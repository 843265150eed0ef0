// A structure is assigned to another place, or to its own; not to where a part of it is (C11 6.5.16.1p3).
//~ SAFE
//~ UNSAFE -DBUG=1: a structure is assigned to where it partly is
//~ UNSAFE -DBUG=2: a structure is assigned to where it partly is
#include <assert.h>

struct values {
    int of[4];
};

union {
    struct values first;
    struct {
        int before;
        struct values values;
    } shifted;
    struct values same;
} u;

static int words[9];

int main(void) {
#if BUG == 1
    u.first = u.shifted.values;
#elif BUG == 2
    *(struct values *)(words + 2) = *(struct values *)words;
#else
    u.first = u.same;
    *(struct values *)(words + 4) = *(struct values *)words;
    struct values copy = u.first;
    u.shifted.values = copy;
#endif
    assert(words[4] == 0);
    return 0;
}
