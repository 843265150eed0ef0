// `&&`, `||`, `?:`, `,` and GNU `?:` evaluate what they must and nothing else.
#include <stdio.h>

static int log_, n;
static int yes(int k) { log_ = log_ * 10 + k; return k; }
static int no(int k) { log_ = log_ * 10 + k; return 0; }
static void show(int value) { printf("%d %d\n", value, log_); log_ = 0; }

int main(void) {
    show(yes(1) && no(2) && yes(3));
    show(no(1) || yes(2) || yes(3));
    show(no(1) && yes(2) || yes(3) && yes(4));
    show(yes(1) ? yes(2) : yes(3));
    show(no(1) ? yes(2) : yes(3) ? yes(4) : yes(5));
    show((yes(1), no(2), yes(3)));
    show(yes(7) ?: yes(3));
    show(no(1) ?: yes(3));
    show(!(no(1) || no(2)) + 2);
    int *p = 0;
    show(p && *p);
    show(p == 0 || *p);
    double d = 0.0;
    show(d || 0.1);
    if (yes(1) && (no(2) || yes(3)) && !no(4)) show(-1);
    while (n < 5 && n != 3) n++;
    printf("%d\n", n);

    int a[] = {(1, 2), 3};
    printf("%zu %d\n", sizeof a / sizeof *a, a[0]);
    const char *s = (n > 2) ? "big" : 0;
    puts(s ?: "none");
    printf("%d\n", (n ? 1 : 0) ?: 9);
    return 0;
}
