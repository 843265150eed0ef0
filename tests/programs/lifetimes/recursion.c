// Each activation has variables of its own in its blocks.
//~ SAFE
//~ UNSAFE -DBUG: use of a dead local object
#include <assert.h>

int *last;

static int nested(int depth, const int *above) {
    int leaves = 0;
    for (int i = 0; i < 2; i++) {
        int here = depth;
        assert(!above || *above == depth + 1);
        leaves += depth > 0 ? nested(depth - 1, &here) : 1;
        last = &here;
    }
    return leaves;
}

int main(void) {
    assert(nested(2, 0) == 8);
#ifdef BUG
    return *last;
#endif
    return 0;
}
