// A text is written to an array inside of a structure: not beyond it, although the structure goes on.
//~ SAFE
//~ UNSAFE -DBUG=1: written beyond the array
//~ UNSAFE -DBUG=2: written beyond the array
//~ UNSAFE -DBUG=3: written beyond the array
//~ UNSAFE -DBUG=4: written beyond the array
//~ UNSAFE -DBUG=5: written beyond the array
//~ UNSAFE -DBUG=6: written beyond the array
//~ UNSAFE -DBUG=7: written beyond the array
//~ UNSAFE -DBUG=8: written beyond the array
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char name[4];
    int number;
    char rest[1];
};

static struct entry entry;
static char lines[3][4];

int main(void) {
    struct entry *flexible = malloc(sizeof *flexible + 8);
#if BUG == 1
    strcpy(entry.name, "four");
#elif BUG == 2
    strcpy(flexible->name, "abc");
    strcat(flexible->name, "d");
#elif BUG == 3
    strncpy(entry.name, "a", 5);
#elif BUG == 4
    sprintf(entry.name, "%d", 1000);
#elif BUG == 5
    snprintf(entry.name, 8, "%d", 1000);
#elif BUG == 6
    strcpy(lines[1], "four");
#elif BUG == 7
    strcpy(&entry.name[2], "ab");
#elif BUG == 8
    strncat(entry.name, "abcdef", 4);
#else
    strcpy(entry.name, "abc");
    strncpy(entry.name, "abcdef", 4);
    sprintf(entry.name, "%d", 100);
    snprintf(entry.name, 4, "%d", 1000);
    strcpy(lines[1], "abc");
    strcpy(flexible->rest, "abcdef");
    // All of the object may be filled.
    memset(&entry, 0, sizeof entry);
    memcpy(entry.name, flexible->rest, 4);
    assert(entry.number == 0);
#endif
    free(flexible);
    return 0;
}
