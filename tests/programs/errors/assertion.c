#include <assert.h>
static int square(int x) { return x * x; }
int main(void) {
    assert(square(2) == 4);
    assert(square(3) == 8); //~ VIOLATION: square(3) == 8
}
