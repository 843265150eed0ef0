// Of two calls in one expression, either may come first: SAFE assumes the left one where that may matter.
//~ SAFE
//~ SAFE -DMATTERS
#include <assert.h>

static int next_id;
static int apples = 1, pears = 2;

static int id(void) {
    return next_id++;
}

static int more_apples(void) {
    return ++apples;
}

static int more_pears(void) {
    return ++pears;
}

static int sum(int n) {
    return n == 0 ? 0 : n + sum(n - 1);
}

int main(void) {
#ifdef MATTERS
    assert(id() - id() == -1);
#else
    int first = id(), second = id();
    assert(first < second && id() == 2 && id() == 3);
    assert(more_apples() + more_pears() == 5);
    assert(sum(3) + sum(4) == 16);
#endif
    return 0;
}
