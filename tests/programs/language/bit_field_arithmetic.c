// What arithmetic on bit-fields promotes to, and what an assignment to one is worth.
#include <stdio.h>

struct s { unsigned u3 : 3; int i3 : 3; unsigned u32 : 32; unsigned long long u33 : 33; long long i40 : 40; };

int main(void) {
    struct s s = {7, -1, 0xffffffffu, 0x1ffffffffULL, -1};
    printf("%d\n", s.u3 - 8 < 0);
    printf("%d\n", s.u32 - 8u > 0);
    printf("%d\n", -s.u3 < 0);
    printf("%d %d\n", s.i3 < 0, s.i40 < 0);
    printf("%d\n", (s.u3 = 13));
    printf("%d\n", (s.i3 = 5));
    int before = s.u3++;
    printf("%d %d\n", before, s.u3);
    s.u3 = 7;
    printf("%d ", ++s.u3);
    printf("%d\n", s.u3);
    s.i3 = 3;
    s.i3 += 2;
    printf("%d\n", s.i3);
    s.u33 += 1;
    printf("%llu\n", (unsigned long long)s.u33);
    s.i40 = 1LL << 39;
    printf("%lld\n", (long long)s.i40);
    s.u3 = 5;
    s.u3 |= 2;
    s.u3 <<= 1;
    s.u3 ^= 1;
    printf("%d\n", s.u3);
    struct s *p = &s;
    p->u3--;
    int old = p->u3--;
    printf("%d %d\n", old, p->u3);
    s.u3 = s.i3 = -2;
    printf("%d %d\n", s.u3, s.i3);
    return 0;
}
