// `alloca` lives until the function returns; addresses of locals differ between activations.
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static int build(int n) {
    char *parts[4];
    for (int i = 0; i < n; i++) {
        parts[i] = alloca(i + 2);
        memset(parts[i], 'a' + i, i + 1);
        parts[i][i + 1] = 0;
    }
    int total = 0;
    for (int i = 0; i < n; i++) total += strlen(parts[i]) * 10 + parts[i][0] - 'a';
    return total;
}

static int distinct(int *outer, int n) {
    int mine = n;
    if (n == 0) return 1;
    return outer != &mine && distinct(&mine, n - 1) && mine == n;
}

int main(void) {
    int x = 0;
    printf("%d %d\n", build(4), distinct(&x, 5));
    return 0;
}
//~ STDOUT: 106 1
