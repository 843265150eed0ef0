struct item { int n; const char *name; };
extern int shared_counter;
extern const char *const banner;
extern const char *table[2];
int other_helper(void);
void bump(void);
struct item make_item(int);
int apply(int (*)(int), int);
static inline int inline_twice(int x) { return 2 * x; }
