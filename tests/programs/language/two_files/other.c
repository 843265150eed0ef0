#include "shared.h"

static int hidden = 2;
const char *table[] = {"zero", "one"};
static int helper(void) { return hidden * 10; }
int other_helper(void) { return helper(); }
void bump(void) { shared_counter += 3; }
struct item make_item(int n) { return (struct item){n * 2, banner}; }
int apply(int (*f)(int), int x) { return f(x); }
