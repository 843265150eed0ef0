// What touches memory is control flow, what does not is one expression; comparisons are i1.
int g;
int pure(int a, int b) { return a < b && b != 3 || !a; }
int impure(int a, int *p) { return a && *p; }
void branches(int a, int *p) { if (a > 0 && (*p == 2 || a == 7)) g = 1; else g = 2; }
int select(int a, int b) { return a > b ? a : b; }
int choose(int a, int *p) { return a ? *p : g; }
int gnu(int *p) { return *p ?: 5; }
int truth(double d, char *s, _Bool b) { return !!d + !s + (b ? 10 : 20); }
int divides(int a, int b) { return b && a / b; }
int floats(double a, double b) { return !(a < b) + (a >= b) + (a > b) * 2; }
