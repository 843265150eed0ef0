// Every operator that can overflow, and conversions that cannot. (gcc -fsanitize=signed-integer-overflow reports each.)
//~ PROPERTY: overflow
//~ SAFE -DCASE=0
//~ UNSAFE -DCASE=1: signed overflow
//~ UNSAFE -DCASE=2: signed overflow
//~ UNSAFE -DCASE=3: signed overflow
//~ UNSAFE -DCASE=4: signed overflow
//~ UNSAFE -DCASE=5: signed overflow
//~ UNSAFE -DCASE=6: signed overflow
//~ UNSAFE -DCASE=7: signed overflow
//~ UNSAFE -DCASE=8: signed overflow
//~ UNSAFE -DCASE=9: signed overflow
#include <limits.h>
#include <stdatomic.h>
#ifndef CASE
#define CASE 0
#endif

int same(int value) {
    return value;
}

atomic_int shared = INT_MAX;
_Atomic short narrow_shared = SHRT_MAX;

int main(void) {
    int least = same(INT_MIN), most = same(INT_MAX), minus = same(-1);
    // Computed as `int`, and cut: no overflow.
    short narrow = SHRT_MAX;
    narrow++;
    narrow += most - SHRT_MAX;
    signed char small = (signed char)(CHAR_MIN * same(1));
    small--;
    unsigned wraps = 0;
    wraps--;
    narrow_shared++;
    // A fetch-and-add wraps silently (C11 7.17.7.5).
    atomic_fetch_add(&shared, 1);
    atomic_fetch_sub(&shared, 1);
    switch (CASE) {
    case 1: least = -least; break;
    case 2: least = least / minus; break;
    case 3: least = least % minus; break;
    case 4: most++; break;
    case 5: --least; break;
    case 6: most *= 2; break;
    case 7: least %= minus; break;
    case 8: most += 1.5 < 2; break;
    case 9: shared++; break;
    }
    return (least == most) + (narrow == small) + (wraps == 0);
}
