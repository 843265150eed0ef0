// What is put into the environment is found there.
//~ SAFE
//~ UNSAFE -DBUG: assertion violated
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char text[] = "LENO_TWO=c";
    assert(setenv("LENO_ONE", "a", 1) == 0 && setenv("LENO_ONE", "b", 0) == 0);
    char *value = getenv("LENO_ONE");
#ifdef BUG
    assert(!value);
#endif
    assert(value && strcmp(value, "a") == 0);
    assert(setenv("LENO_ONE", "b", 1) == 0 && strcmp(getenv("LENO_ONE"), "b") == 0);
    assert(unsetenv("LENO_ONE") == 0 && !getenv("LENO_ONE"));
    assert(putenv(text) == 0);
    text[9] = 'd';
    assert(strcmp(getenv("LENO_TWO"), "d") == 0);
    assert(putenv("LENO_TWO") == 0 && !getenv("LENO_TWO"));
    assert(setenv("", "a", 1) == -1 && setenv("a=b", "a", 1) == -1);
    return 0;
}
