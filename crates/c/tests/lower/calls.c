// Variable arguments lie in memory as the ABI's stack has them; calls obey the callee's own signature.
typedef __builtin_va_list va_list;
int variadic(int n, ...) { va_list ap; __builtin_va_start(ap, n); int x = __builtin_va_arg(ap, int); long double y = __builtin_va_arg(ap, long double); __builtin_va_end(ap); return x + (int)y; }
int call(void) { return variadic(1, 2, 3.0L, (char)4); }
int old(a, c) int a; char c; { return a + c; }
int unprototyped() { return old(1, 2) + later(7, 8.5); }
int later(long a, float b) { return a + b; }
int indirect(int (*f)(long, ...), double (*g)()) { return f(1, 2) + (int)g(3, 'x'); }
_Noreturn void stop(void);
int never(int x) { if (x) stop(); return 1; }
int vla(int n) { int a[n][3]; a[1][2] = n; return sizeof a + a[1][2]; }
