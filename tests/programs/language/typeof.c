// `typeof` names the type of an expression without evaluating it.
#include <stdio.h>

#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define SWAP(a, b) do { typeof(a) t = a; a = b; b = t; } while (0)

static int calls;
static long bump(void) { calls++; return 7; }

int main(void) {
    int array[3] = {1, 2, 3};
    typeof(array) copy = {4, 5, 6};
    typeof(array[0]) *first = &array[0];
    typeof(bump()) value = 40;
    __typeof(const char *) text = "text";
    typeof(int (*)(int)) function = 0;
    typeof(&copy[1]) middle = copy + 1;
    unsigned char small = 200;
    typeof(+small) promoted = 1000;
    printf("%zu %d %ld %d\n", sizeof copy, *first, value, calls);
    printf("%s %d %d %d\n", text, function == 0, *middle, promoted);
    double x = 1.5, y = 2.5;
    SWAP(x, y);
    printf("%.1f %.1f %d %.2f\n", x, y, MAX(3, 2 + 2), MAX(x, 2));
    int calls_before = calls;
    int m = MAX(bump(), 3);
    printf("%d %d\n", m, calls - calls_before);
    return 0;
}
//~ STDOUT: 12 1 40 0
//~ STDOUT: text 1 5 1000
//~ STDOUT: 2.5 1.5 4 2.50
//~ STDOUT: 7 1
