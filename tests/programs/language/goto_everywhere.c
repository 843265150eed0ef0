// Jumps into loops, blocks and switches, backwards, and past declarations.
#include <stdio.h>

static int into_a_loop(int n) {
    int sum = 0, i = 5;
    if (n) goto inside;
    for (i = 0; i < 3; i++) {
        sum += 10;
    inside:
        sum += i;
    }
    return sum;
}

static int into_an_if(int n) {
    if (n == 1) goto then_part;
    if (n == 2) goto else_part;
    if (n > 100) {
    then_part:
        return 1;
    } else {
    else_part:
        return 2;
    }
}

static int past_a_declaration(int n) {
    if (n) goto after;
    {
        int x = 5;
        n = 1;
    after:
        x = n + 1;
        return x;
    }
}

static int state_machine(const char *s) {
start:
    switch (*s++) {
    case 'a': goto got_a;
    case 0: return 0;
    default: goto start;
    }
got_a:
    if (*s == 'b') { s++; goto got_ab; }
    goto start;
got_ab:
    return *s == 'c' ? 1 : 2;
}

int main(void) {
    printf("%d %d\n", into_a_loop(0), into_a_loop(1));
    printf("%d %d %d\n", into_an_if(1), into_an_if(2), into_an_if(3));
    printf("%d %d\n", past_a_declaration(0), past_a_declaration(7));
    printf("%d %d %d\n", state_machine("xxabc"), state_machine("aab"), state_machine("aaa"));
    int i = 0;
    do {
        if (i == 2) goto out;
        while (1) {
            i++;
            for (;;) goto next;
        }
    next:;
    } while (i < 10);
out:
    printf("%d\n", i);
    int n = 3;
    goto label;
label: label2: n--;
    if (n) goto label2;
    printf("%d\n", n);
    { goto end; }
    puts("never");
end:;
}
//~ STDOUT: 33 5
//~ STDOUT: 1 2 2
//~ STDOUT: 2 8
//~ STDOUT: 1 2 0
//~ STDOUT: 2
//~ STDOUT: 0
