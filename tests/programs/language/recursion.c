// Recursion: direct, mutual, deep, and with arrays in each activation.
#include <stdio.h>

static int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int is_odd(int n);
static int is_even(int n) { return n == 0 || is_odd(n - 1); }
static int is_odd(int n) { return n != 0 && is_even(n - 1); }
static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }

static int permutations(int *a, int n, int k) {
    if (k == n) return a[0] < a[n - 1];
    int count = 0;
    for (int i = k; i < n; i++) {
        int t = a[k]; a[k] = a[i]; a[i] = t;
        count += permutations(a, n, k + 1);
        t = a[k]; a[k] = a[i]; a[i] = t;
    }
    return count;
}

static int frames(int n) {
    int mine[4] = {n, n, n, n};
    int *p = &mine[n % 4];
    if (n > 0) frames(n - 1);
    return *p;
}

static void hanoi(int n, char from, char to, char via, int *moves) {
    if (n == 0) return;
    hanoi(n - 1, from, via, to, moves);
    ++*moves;
    hanoi(n - 1, via, to, from, moves);
}

int main(void) {
    int a[] = {1, 2, 3, 4, 5}, moves = 0;
    hanoi(6, 'a', 'b', 'c', &moves);
    printf("%d %d %d\n", ackermann(2, 3), is_even(100), is_odd(7));
    printf("%d %d %d %d\n", depth(5000), permutations(a, 5, 0), frames(20), moves);
    return 0;
}
//~ STDOUT: 9 1 1
//~ STDOUT: 5000 60 20 63
