// Shifts that C does not define (C11 6.5.7), at every type. (gcc -fsanitize=shift reports each; `-DCASE=0` has none.)
//~ PROPERTY: overflow
//~ SAFE -DCASE=0
//~ UNSAFE -DCASE=1: shift by a negative or too large amount
//~ UNSAFE -DCASE=2: shift by a negative or too large amount
//~ UNSAFE -DCASE=3: shift by a negative or too large amount
//~ UNSAFE -DCASE=4: signed left shift that does not fit
//~ UNSAFE -DCASE=5: signed left shift that does not fit
//~ UNSAFE -DCASE=6: signed left shift that does not fit
//~ UNSAFE -DCASE=7: shift by a negative or too large amount
//~ UNSAFE -DCASE=8: signed left shift that does not fit
#ifndef CASE
#define CASE 0
#endif

int amount(int value) {
    return value;
}

int main(void) {
    int number = amount(1), minus = -number;
    unsigned bits = 1u << amount(31);
    bits >>= amount(31);
    unsigned short narrow = 0xffff;
    long wide = 1L << amount(62);
    number = number << amount(30) >> amount(30);
    number = narrow << amount(15);
    minus >>= amount(31);
    switch (CASE) {
    case 1: bits = bits << amount(32); break;
    case 2: number = amount(1) >> amount(-1); break;
    case 3: number = amount(1) << (1L << amount(32)); break;
    case 4: number = amount(1) << amount(31); break;
    case 5: number = amount(-1) << amount(1); break;
    case 6: number = narrow << amount(16); break;
    case 7: bits <<= wide; break;
    case 8: wide <<= amount(1); break;
    }
    return number == 0 || bits == 0 || wide == 0;
}
