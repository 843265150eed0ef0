// What memcpy and its relatives copy must not overlap what they write. The same area twice is let pass.
//~ SAFE
//~ UNSAFE -DBUG=1: copy between overlapping objects
//~ UNSAFE -DBUG=2: copy between overlapping objects
//~ UNSAFE -DBUG=3: copy between overlapping objects
//~ UNSAFE -DBUG=4: copy between overlapping objects
//~ UNSAFE -DBUG=5: copy between overlapping objects
//~ UNSAFE -DBUG=6: copy between overlapping objects
#include <assert.h>
#include <string.h>

int main(void) {
    char text[16] = "abcde", other[16] = "";
#if BUG == 1
    memcpy(text + 2, text, 5);
#elif BUG == 2
    memcpy(text, text + 2, 3);
#elif BUG == 3
    strcpy(text + 1, text);
#elif BUG == 4
    strcpy(text, text + 2);
#elif BUG == 5
    strcat(text, text);
#elif BUG == 6
    strncpy(text + 3, text, 4);
#else
    memmove(text + 1, text, 6);
    memcpy(text, text, sizeof text);
    memcpy(text + 8, text, 8);
    strcpy(other, text);
    strcat(other, text + 8);
    strncpy(other, text, 3);
    assert(other[0] == 'a' && other[1] == 'a' && other[7] == 'a');
#endif
    return 0;
}
