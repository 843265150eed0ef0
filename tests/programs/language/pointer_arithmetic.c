// Pointers into arrays and structures, differences, comparisons, casts to integers and back.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct node { int key; double weight; char tag[5]; };
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

int main(void) {
    int a[10];
    for (int i = 0; i < 10; i++) a[i] = i * i;
    int *p = a + 3, *end = &a[10];
    printf("%d %d %d %td\n", *p, p[-1], *(2 + p), end - p);
    printf("%d %d %d\n", p < end, p == &a[3], end > a);
    printf("%d ", *p++);
    printf("%d ", *++p);
    printf("%d ", (*p)++);
    int was = *p--;
    printf("%d %d\n", was, *p);
    struct node nodes[4] = {{1}, {2}, {3}, {4}};
    struct node *n = nodes + 1;
    printf("%td %td\n", (char *)(n + 1) - (char *)n, &nodes[3] - n);
    double *w = &n->weight;
    printf("%d\n", container_of(w, struct node, weight)->key);
    uintptr_t address = (uintptr_t)&nodes[2];
    printf("%d\n", ((struct node *)(address + sizeof(struct node)))->key);
    char *bytes = (char *)a;
    printf("%d\n", *(int *)(bytes + 2 * sizeof(int)));
    void *v = a;
    v += 4 * sizeof(int);
    printf("%d\n", *(int *)v);
    int m[3][4];
    for (int i = 0; i < 12; i++) m[i / 4][i % 4] = i;
    int (*row)[4] = m;
    printf("%d %d %d %d\n", row[1][2], (*(row + 2))[1], *(*m + 3), **(m + 1));
    printf("%td\n", &m[2] - &m[0]);
    int **pp = &p;
    **pp = -9;
    printf("%d %d\n", *p, p == *pp);
    uintptr_t tagged = (uintptr_t)p | 1;
    printf("%d %d\n", (int)(tagged & 1), *(int *)(tagged & ~(uintptr_t)1));
    ptrdiff_t back = -2;
    printf("%d\n", end[back]);
    return 0;
}
