// `_Atomic` objects: one instruction where the machine has one, a loop where it has not.
_Atomic int n;
_Atomic(char *) p;
_Atomic float f;
int plain(void) { n = 3; return n; }
int add(void) { n += 2; return n++; }
void multiply(int by) { n *= by; }
void shift(void) { p++; }
void floating(void) { f += 1; }
int exchange(int *expected, int new) { return __atomic_compare_exchange_n(&n, expected, new, 0, 5, 0); }
int new_value(int *q) { return __atomic_add_fetch(q, 2, 5) + __sync_fetch_and_or(q, 4); }
void __VERIFIER_atomic_swap(int *a, int *b) { int t = *a; if (t) return; *a = *b; *b = t; }
