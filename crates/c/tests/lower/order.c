// Operands are evaluated left to right; a register that a later operand assigns is saved first, and only then.
int f(int, int);
int saved(int a) { return a + (a = 3); }
int saved_on_one_path(int a, int c, int *p) { return a + (c ? (a = *p) : 4); }
int not_saved(int a, int b) { return a + (b = 3) + b; }
int argument(int i) { return f(i, i++); }
void place_first(int *p, int i) { p[i] = i++; }
int comma(int a) { return (a++, a) + (a++, a); }
int old_value(int *p) { return (*p)++ + ++*p; }
