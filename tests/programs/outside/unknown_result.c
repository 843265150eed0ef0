// What a function that Leno does not know returns is up to the function: replay calls the real one. `dup(-1)` is -1 (the native
// run agrees), whatever an engine may try.
//~ UNKNOWN staged: it needs something of which nothing is known
//~ UNKNOWN explore: calls a function that Leno does not know
//~ UNKNOWN staged -DWRONG: it needs something of which nothing is known
//~ WARN: dup
#include <assert.h>
#include <unistd.h>

int main(void)
{
    int copy = dup(-1);
#ifdef WRONG
    assert(copy != -1); //~ UNSAFE -DWRONG: assertion violated
#else
    assert(copy == -1);
#endif
    return 0;
}
