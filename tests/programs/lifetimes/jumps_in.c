// A jump into a block, or past a declaration, begins lives; a jump back leaves them; a block that is entered again has
// its variables at the same addresses.
//~ SAFE
//~ UNSAFE -DBUG: use of a dead local object
#include <assert.h>

int *kept;

static int into_block(void) {
    int count = 0;
    goto inside;
    {
        int x;
        kept = &x;
inside:
        x = count;
        kept = &x;
        assert(*kept == count);
    }
    if (count++ < 2)
        goto inside;
    return count;
}

static int past_declaration(int skips) {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        if (skips)
            goto set;
        int x = 3;
set:
        if (skips)
            x = 4;
        int *p = &x;
        sum += *p;
    }
    return sum;
}

static int back(void) {
    int *p = 0;
    {
again:
        if (p)
            return *p;
        int x = 5;
        p = &x;
        goto again;
    }
}

static int of_switch(int which) {
    int sum = 0;
    for (int i = 0; i < 2; i++)
        switch (which) {
            int x;
        case 0: x = 1; kept = &x; sum += *kept; break;
        case 1: kept = &x; *kept = 2; sum += x; break;
        }
    return sum;
}

static int *address_of_round(int round) {
    int *first = 0;
    for (int i = 0; i < 2; i++) {
        int x = i;
        if (i == 1)
            assert(first == &x);
        first = &x;
        if (i == round)
            assert(*first == i);
    }
    return first;
}

int main(void) {
    assert(into_block() == 3);
    assert(past_declaration(0) == 6 && past_declaration(1) == 8);
    assert(back() == 5);
    assert(of_switch(0) == 2 && of_switch(1) == 4);
    int *last = address_of_round(1);
#ifdef BUG
    return *last;
#else
    return last == 0;
#endif
}
