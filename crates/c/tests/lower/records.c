// Records go by address; copies are scalar by scalar, unions by words, large ones in a loop.
struct pair { int a; char b; };
union word { long l; char *p; char c[12]; };
struct large { int a[20]; };
struct pair make(int a) { struct pair p = {a}; return p; }
struct pair pass(struct pair p) { p.a++; return make(p.a); }
void copy(struct pair *to, struct pair *from) { *to = *from; }
void copy_union(union word *to, union word *from) { *to = *from; }
void copy_large(struct large *to, struct large *from) { *to = *from; }
int member(int a) { return make(a).b; }
int call(struct pair *p) { return pass(*p).a; }
void choice(int c, struct pair *a, struct pair *b) { *a = c ? *b : make(1); }
void text(void) { extern void use(char *); char s[4] = "ab"; use(s); }
