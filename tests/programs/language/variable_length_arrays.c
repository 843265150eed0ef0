// Variable-length arrays: in two dimensions, as parameters, in typedefs, and under jumps.
#include <stdio.h>

static int trace(int n, int m[n][n]) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += m[i][i];
    return sum;
}

static int last(int n, int a[static n]) { return a[n - 1]; }

static int sizes;
static int count(void) { sizes++; return 3; }

int main(void) {
    int n = 4;
    int m[n][n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m[i][j] = i * 10 + j;
    printf("%zu %zu %d\n", sizeof m, sizeof m[0], trace(n, m));
    n = 2;
    printf("%zu\n", sizeof m);
    typedef int row[n + 1];
    n = 50;
    row r;
    r[2] = 7;
    printf("%zu %d\n", sizeof(row), last(3, r));
    int total = 0;
    for (int i = 1; i < 6; i++) {
        int a[i];
        for (int j = 0; j < i; j++) a[j] = j;
        if (i == 4) continue;
        total += a[i - 1];
    }
    printf("%d\n", total);
    int again = 0;
retry:;
    int size = again + 2;
    char text[size];
    text[size - 1] = again;
    if (again++ < 3) goto retry;
    printf("%zu %d\n", sizeof text, text[size - 1]);
    int (*p)[size] = (int(*)[size])m;
    printf("%zu %d\n", sizeof *p, (int)((char *)(p + 1) - (char *)p));
    size_t bytes = sizeof(int[count()]);
    printf("%zu %d\n", bytes, sizes);
    int b[count()][2];
    b[2][1] = 8;
    printf("%zu %d %d\n", sizeof b / sizeof b[0], b[2][1], sizes);
    return 0;
}
//~ STDOUT: 64 16 66
//~ STDOUT: 64
//~ STDOUT: 12 7
//~ STDOUT: 7
//~ STDOUT: 5 3
//~ STDOUT: 20 20
//~ STDOUT: 12 1
//~ STDOUT: 3 8 2
