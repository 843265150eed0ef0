// Every way out of a block ends the lives of its variables: falling through, `break`, `continue`, `goto`; and
// those of all blocks that it leaves.
//~ SAFE
//~ UNSAFE -DFALL: use of a dead local object
//~ UNSAFE -DBREAK: use of a dead local object
//~ UNSAFE -DCONTINUE: use of a dead local object
//~ UNSAFE -DGOTO: use of a dead local object
//~ UNSAFE -DSWITCH: use of a dead local object
#include <assert.h>

int *kept;

int main(void) {
    int outer = 0;
    kept = &outer;
    for (int i = 0; i < 2; i++) {
        assert(*kept == 0);
        int inner = 0;
        {
            int innermost = 0;
            kept = &innermost;
            assert(*kept == 0);
#ifdef BREAK
            if (i == 1)
                break;
#endif
#ifdef CONTINUE
            kept = &inner;
            if (i == 0)
                continue;
#endif
#ifdef GOTO
            goto out;
#endif
#ifdef SWITCH
            switch (i) {
            case 0: {
                int zero = 0;
                kept = &zero;
                break;
            }
            default: kept = &outer;
            }
            if (*kept == 0)
                innermost = 1;
#endif
        }
#ifndef FALL
        kept = &outer;
#endif
        assert(inner == 0);
    }
#ifdef GOTO
out:
#endif
    return *kept;
}
