// Switches that jump into loops, around blocks, over declarations; Duff's device.
#include <stdio.h>

static void copy(char *to, const char *from, int count) {
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0: do { *to++ = *from++;
    case 7:      *to++ = *from++;
    case 6:      *to++ = *from++;
    case 5:      *to++ = *from++;
    case 4:      *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--n > 0);
    }
}

static int middle(int n) {
    int r = 0;
    switch (n)
        if (n > 100) {
    case 1: r += 1;
        } else {
    case 2: r += 2;
        }
    return r;
}

static int unusual(int n) {
    int r = 1000;
    switch (n) {
        int x;
        r = 5;
    default: r = -1; break;
    case 3: x = 30; r = x; break;
    case 4: { case 5: r = 50; }
    }
    switch (n) r++;
    switch (n) {}
    switch (n) case 7: r = 70;
    return r;
}

static int nested(int a, int b) {
    switch (a) {
    case 1:
        switch (b) {
        case 1: return 11;
        default: break;
        }
        return 12;
    case 2:
        for (int i = 0;; i++) switch (i) { case 4: goto done; case 2: continue; }
    done:
        return 20;
    }
    return 0;
}

static int types(long long v) {
    int r = 0;
    switch (v) { case 1LL << 40: r = 1; break; case -1: r = 2; }
    switch ((unsigned char)v) { case 255: r += 10; }
    switch ((signed char)v) { case -1: r += 100; }
    switch (v == -1) { case 1: r += 1000; }
    return r;
}

int main(void) {
    char text[32] = {0};
    copy(text, "0123456789abcdefghi", 19);
    puts(text);
    printf("%d %d %d\n", middle(1), middle(2), middle(3));
    for (int i = 2; i < 8; i++) printf("%d ", unusual(i));
    puts("");
    printf("%d %d %d %d\n", nested(1, 1), nested(1, 2), nested(2, 0), nested(3, 0));
    printf("%d %d %d\n", types(1LL << 40), types(-1), types(255));
    int i = 0, n = 0;
    while (i < 10) {
        switch (i++) {
        case 3: continue;
        case 7: break;
        default: n += i;
        }
    }
    printf("%d\n", n);
    return 0;
}
//~ STDOUT: 0123456789abcdefghi
//~ STDOUT: 1 2 0
//~ STDOUT: -1 30 50 50 -1 70
//~ STDOUT: 11 12 20 0
//~ STDOUT: 1 1112 110
//~ STDOUT: 43
