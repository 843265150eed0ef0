// A proof of a program that does not look at its arguments assumes nothing of them: see crates/leno/tests/suite/outside.rs.
//~ SAFE
#include <assert.h>

int main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    int x = 1;
    assert(x == 1);
    return 0;
}
