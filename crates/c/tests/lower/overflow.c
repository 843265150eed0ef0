// With overflow checks: an assertion before each signed operation that can overflow, and none before one that cannot.
int arithmetic(int a, int b) { return a + b * 2 - -a; }
int narrow(short a, char b) { return a + b; }
int divide(int a, int b) { return a / b; }
unsigned wraps(unsigned a) { return a * 3; }
void count(int *p) { ++*p; }
int shifts(int a) { return a << 3; }
int builtin(int a, int b, long *r) { return __builtin_mul_overflow(a, b, r); }
int wide(unsigned a, int b, unsigned char *r) { return __builtin_add_overflow(a, b, r); }
