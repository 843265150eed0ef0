// A variable without an initialiser does not keep its value from the round before, in a register, in memory of its own, or
// in memory that a function has had the address of.
//~ SAFE
//~ UNSAFE -DREGISTER: assertion violated
//~ UNSAFE -DARRAY: assertion violated
//~ UNSAFE -DMEMORY: assertion violated
//~ UNSAFE -DGOTO: assertion violated
#include <assert.h>

static void set(int *at) {
    *at = 5;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        int x, array[2], memory;
#ifdef REGISTER
        if (i == 0)
#endif
            x = 5;
#ifdef ARRAY
        if (i == 0)
#endif
            array[1] = 5;
#ifdef MEMORY
        if (i == 0)
#endif
            set(&memory);
        assert(x == 5);
        assert(array[1] == 5);
        assert(memory == 5);
    }
    int rounds = 0;
again:;
    int y;
#ifdef GOTO
    if (rounds == 0)
#endif
        y = 5;
    assert(y == 5);
    if (rounds++ < 1)
        goto again;
    return 0;
}
