// Loops of each kind, empty bodies, `break` and `continue` in each.
#include <stdio.h>

int main(void) {
    int sum = 0, i;
    for (i = 0; i < 10; i++) { if (i == 3) continue; if (i == 7) break; sum += i; }
    printf("%d %d\n", sum, i);
    while (i-- > 0) if (i % 2) continue; else sum++;
    printf("%d %d\n", sum, i);
    do { i++; if (i == 2) continue; sum += 100; } while (i < 3);
    printf("%d %d\n", sum, i);
    do sum++; while (0);
    for (;;) { if (++i > 10) break; }
    for (int a = 0, b = 10; a < b; a++, b--) sum += b - a;
    printf("%d %d\n", sum, i);
    for (i = 0; i < 5; i++);
    while (i --> 0);
    printf("%d\n", i);
    int n = 27, steps = 0;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; }
    printf("%d\n", steps);
    for (struct { int x, y; } s = {0, 3}; s.x < s.y; s.x++) printf("%d ", s.x);
    puts("");
    unsigned u = 3;
    while (u) { u--; switch (u) { case 1: continue; default: printf("%u ", u); } }
    puts("");
    int sieve[50] = {0}, count = 0;
    for (int p = 2; p < 50; p++) { if (sieve[p]) continue; count++; for (int q = p * p; q < 50; q += p) sieve[q] = 1; }
    printf("%d\n", count);
    if (n == 1) if (steps == 0) puts("then"); else puts("dangling else");
    return 0;
}
//~ STDOUT: 18 7
//~ STDOUT: 22 -1
//~ STDOUT: 322 3
//~ STDOUT: 353 11
//~ STDOUT: -1
//~ STDOUT: 111
//~ STDOUT: 0 1 2
//~ STDOUT: 2 0
//~ STDOUT: 15
//~ STDOUT: dangling else
