// A structure is assigned through pointers to where it partly is (C11 6.5.16.1p3).
//~ SAFE
//~ UNSAFE -DBUG: a structure is assigned to where it partly is
#include <assert.h>

struct values {
    int of[4];
};

static void copy(struct values *to, const struct values *from) {
    *to = *from;
}

int main(void) {
    int words[12] = {1, 2, 3, 4};
    struct values *first = (struct values *)words;
    copy(first, first);
    copy(first + 1, first);
#ifdef BUG
    void *middle = words + 1;
    copy(middle, first);
#endif
    assert(words[4] == 1 && words[7] == 4);
    return 0;
}
