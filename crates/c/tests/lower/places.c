// Bit-fields, volatile, nested aggregates: one access an instruction.
struct bits { unsigned a : 3; int b : 5; unsigned whole : 32; };
struct inner { int x[4]; struct bits b; };
struct outer { char c; struct inner in[3]; };
volatile int v;
int read_bits(struct bits *p) { return p->a + p->b; }
int write_bits(struct bits *p, int x) { p->whole = x; return p->b = x; }
void update_bits(struct bits *p) { p->a += 2; }
void volatile_update(void) { v += v; }
int nested(struct outer *o, int i) { return o->in[i].x[2] + o->in[1].b.b; }
int dead_read(int *p) { *p; return 0; }
