// A flexible array member has the memory that was allocated for it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message { int length; char text[]; };
struct old { short n; int values[0]; };
static struct message greeting = {5, "hello"};

int main(void) {
    struct message *m = malloc(sizeof *m + 10);
    m->length = 9;
    strcpy(m->text, "flexible!");
    printf("%zu %d %s\n", sizeof *m, m->length, m->text);
    free(m);
    printf("%d %s\n", greeting.length, greeting.text);
    struct old *o = malloc(sizeof *o + 3 * sizeof(int));
    o->n = 3;
    for (int i = 0; i < o->n; i++) o->values[i] = i * i;
    printf("%zu %d\n", sizeof *o, o->values[0] + o->values[1] + o->values[2]);
    free(o);
    return 0;
}
//~ STDOUT: 4 9 flexible!
//~ STDOUT: 5 hello
//~ STDOUT: 4 5
