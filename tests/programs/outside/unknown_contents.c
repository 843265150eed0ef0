// What a function that Leno does not know leaves in memory is what the real one leaves there. (The native run agrees.)
//~ UNKNOWN staged: `swab` is called, whose effects are not encoded
//~ UNKNOWN explore: calls a function that Leno does not know
//~ UNKNOWN staged -DWRONG: `swab` is called, whose effects are not encoded
//~ WARN: swab
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <unistd.h>

int main(void)
{
    char letters[2] = "ab", swapped[2];
    swab(letters, swapped, 2);
#ifdef WRONG
    assert(swapped[0] == 'a'); //~ UNSAFE -DWRONG: assertion violated
#else
    assert(swapped[0] == 'b');
#endif
    return 0;
}
