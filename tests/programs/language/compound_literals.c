// Compound literals: lvalues with a storage of their own.
#include <stdio.h>

struct vec { int x, y; };
static struct vec *at_file_scope = &(struct vec){3, 4};
static int *numbers = (int[]){1, 2, 3};

static int dot(struct vec a, const struct vec *b) { return a.x * b->x + a.y * b->y; }

static int sum(const int *values, int count) {
    int total = 0;
    while (count--) total += *values++;
    return total;
}

int main(void) {
    printf("%d\n", dot((struct vec){1, 2}, &(struct vec){.y = 10, .x = 5}));
    at_file_scope->x++;
    numbers[1] = 20;
    printf("%d %d\n", at_file_scope->x, sum(numbers, 3));
    printf("%d %zu\n", sum((int[]){1, 2, 3, 4}, 4), sizeof((int[]){1, 2, 3, 4}));
    int *p = &(int){41};
    ++*p;
    printf("%d\n", *p);
    struct vec *last = 0;
    for (int i = 0; i < 3; i++) {
        struct vec *v = &(struct vec){i};
        v->y += 5;
        if (i == 2) printf("%d %d\n", v->x, v->y);
        last = v;
    }
    (void)last;
    printf("%d\n", (int){7} + (struct vec){1, 2}.y);
    const char *s = (char[]){"literal"};
    (void)(((char *)s)[0] = 'L');
    puts(s);
    int i = 1;
    struct vec w = (struct vec){i++, 9};
    printf("%d %d %d\n", w.x, w.y, i);
    return 0;
}
//~ STDOUT: 25
//~ STDOUT: 4 24
//~ STDOUT: 10 16
//~ STDOUT: 42
//~ STDOUT: 2 5
//~ STDOUT: 9
//~ STDOUT: Literal
//~ STDOUT: 1 9 2
