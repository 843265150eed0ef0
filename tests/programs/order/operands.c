// Operands are evaluated in any order: a write beside another access of the same object is undefined (C11 6.5p2).
//~ SAFE
//~ UNSAFE -DBUG=1: two writes of `i` that nothing orders
//~ UNSAFE -DBUG=2: a read and a write of `i` that nothing orders
//~ UNSAFE -DBUG=3: a read and a write of `i` that nothing orders
//~ UNSAFE -DBUG=4: two writes of `i` that nothing orders
//~ UNSAFE -DBUG=5: a read and a write of `i` that nothing orders
//~ UNSAFE -DBUG=6: unsequenced accesses
//~ UNSAFE -DBUG=7: two writes of `total` that nothing orders
#include <assert.h>

static int total;

static int sum(int a, int b) {
    return a + b;
}

int main(void) {
    int i = 1, a[4] = {0};
#if BUG == 1
    i = i++ + 1;
#elif BUG == 2
    total = sum(i++, i);
#elif BUG == 3
    a[i] = i++;
#elif BUG == 4
    total = sum(i++, 0) + sum(i++, 0);
#elif BUG == 5
    for (int round = 0; round < 3; round++)
        total += (round == 1 ? i++ : 0) + (round == 0 ? 0 : i);
#elif BUG == 6
    int j = 1;
    a[i] = a[j]++;
#elif BUG == 7
    total += total++;
#else
    // Operators come after the reads of their operands, calls after their arguments, and `,`, `&&`, `||`, `?:` are in order.
    i = i + 1;
    i = (i++, i);
    i = sum(i++, 0);
    assert(i == 3);
    int is_next = i++ == 3 && i++ == 4 && i == 5;
    assert(is_next);
    i = i > 4 ? i - 4 : i++;
    for (int round = 0; round < 3; round++)
        total += (round == 1 ? i++ : 0) + (round == 1 ? 0 : i);
    a[i] = a[i + 1]++;
    assert(total == 4 && i == 2 && a[2] == 0 && a[3] == 1);
#endif
    return 0;
}
