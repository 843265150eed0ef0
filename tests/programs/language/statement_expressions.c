// `({ ... })` has the value of its last expression; jumps may leave it.
#include <stdio.h>

struct pair { int a, b; };

static int find(const int *values, int count, int wanted) {
    for (int i = 0; i < count; i++) {
        int unused = ({ if (values[i] == wanted) return i; values[i]; });
        (void)unused;
    }
    return -1;
}

int main(void) {
    int x = ({ int y = 3; int z = 4; y * z; });
    struct pair p = ({ struct pair q = {x, x + 1}; q.a++; q; });
    int total = 0;
    for (int i = 0; i < 10; i++)
        total += ({ if (i % 2) continue; if (i == 8) break; i; });
    ({ total += 100; });
    int values[] = {5, 6, 7};
    printf("%d %d %d %d\n", x, p.a, p.b, total);
    printf("%d %d\n", find(values, 3, 7), find(values, 3, 8));
    printf("%d\n", ({ int a = 1; ({ int a = 2; a; }) + a; }));
    printf("%d\n", ({ struct pair q = {8, 9}; q; }).b);
    int nested = ({ int s = 0; for (int i = 0; i < 3; i++) s += ({ int t = i * i; t + 1; }); s; });
    printf("%d\n", nested);
    return 0;
}
//~ STDOUT: 12 13 13 112
//~ STDOUT: 2 -1
//~ STDOUT: 3
//~ STDOUT: 9
//~ STDOUT: 8
