// Jumps into loops, cases inside loops, ranges, computed gotos, cleanups on every way out.
void step(int);
void done(int *p);
void duff(int n, int k) { switch (n) { case 0: do { step(0); case 1: step(1); } while (--k > 0); } }
int ranges(unsigned x) { switch (x) { case 1 ... 3: return 1; case 100 ... 5000: return 2; default: return 3; case 9:; } return 4; }
int computed(int i) { static void *to[] = {&&a, &&b}; goto *to[i]; a: step(1); b: return 2; }
int cleanup(int c) { int x __attribute__((cleanup(done))) = 1; while (c) { int y __attribute__((cleanup(done))) = 2; if (c == 3) break; if (c == 4) goto out; return y; } out: return x; }
void endless(void) { for (;;); }
int dead(int x) { return x; step(9); }
int falls_off(int x) { if (x) return 1; }
int deep(int x) { return x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+(x*(x+1)))))))))))))))))))))))); }
