// What the preprocessor leaves behind: macros, stringification, variadic macros, line markers.
#include <stdio.h>

#define STR(x) #x
#define XSTR(x) STR(x)
#define CAT(a, b) a##b
#define VALUE 42
#define SHOW(format, ...) printf("[" format "]\n", ##__VA_ARGS__)
#define EACH(X) X(alpha) X(beta) X(gamma)
#define DECLARE(name) static int name##_count = sizeof #name;
EACH(DECLARE)
#define RECURSIVE RECURSIVE_
static int RECURSIVE_ = 3;
#ifdef NOT_DEFINED
syntax error here
#elif VALUE > 40 && defined(VALUE)
static const char *chosen = "elif";
#else
#error never
#endif

int main(void) {
    puts(STR(VALUE + 1) " " XSTR(VALUE));
    printf("%d\n", CAT(VAL, UE));
    SHOW("plain");
    SHOW("%d %s", 1, "two");
    printf("%d %d %d\n", alpha_count, beta_count, gamma_count);
    printf("%d %s %d\n", RECURSIVE, chosen, __LINE__ > 20);
#line 1000 "elsewhere.c"
    printf("%d %s\n", __LINE__, __FILE__);
    printf("%d\n", __COUNTER__ + __COUNTER__ * 10);
    int spl\
it = 5;
    printf("%d %s\n", split, "a/*b*/c//d");
    return 0 /* comment */;
}
//~ STDOUT: VALUE + 1 42
//~ STDOUT: 42
//~ STDOUT: [plain]
//~ STDOUT: [1 two]
//~ STDOUT: 6 5 6
//~ STDOUT: 3 elif 1
//~ STDOUT: 1000 elsewhere.c
//~ STDOUT: 10
//~ STDOUT: 5 a/*b*/c//d
