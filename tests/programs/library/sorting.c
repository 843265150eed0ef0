// qsort and bsearch call back into the program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;
static int by_value(const void *a, const void *b) { calls++; return *(const int *)a - *(const int *)b; }
static int descending(const void *a, const void *b) { return by_value(b, a); }
static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
struct record { char name[8]; int age; };
static int by_age(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    return (x->age > y->age) - (x->age < y->age);
}

int main(void) {
    int v[] = {5, -2, 9, 0, 7, 3, -8, 1};
    qsort(v, 8, sizeof *v, by_value);
    for (int i = 0; i < 8; i++) printf("%d ", v[i]);
    int key = 7, *found = bsearch(&key, v, 8, sizeof *v, by_value);
    printf("%td %d\n", found - v, calls > 0);
    key = 6;
    printf("%d\n", bsearch(&key, v, 8, sizeof *v, by_value) == NULL);
    qsort(v, 8, sizeof *v, descending);
    printf("%d %d\n", v[0], v[7]);
    const char *names[] = {"pear", "apple", "fig", "banana"};
    qsort(names, 4, sizeof *names, by_name);
    for (int i = 0; i < 4; i++) printf("%s ", names[i]);
    puts("");
    struct record people[] = {{"ann", 40}, {"bob", 25}, {"cid", 31}};
    qsort(people, 3, sizeof *people, by_age);
    printf("%s %s %s\n", people[0].name, people[1].name, people[2].name);
    qsort(v, 0, sizeof *v, by_value);
    qsort(v, 1, sizeof *v, by_value);
    return 0;
}
//~ STDOUT: -8 -2 0 1 3 5 7 9 6 1
//~ STDOUT: 1
//~ STDOUT: 9 -8
//~ STDOUT: apple banana fig pear
//~ STDOUT: bob cid ann
