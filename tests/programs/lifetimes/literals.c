// A compound literal lives as long as the block around it, where a statement without braces is a block, too; what a
// function returns lives to the end of the full expression; a parameter as long as its function runs.
//~ SAFE
//~ UNSAFE -DLITERAL: use of a dead local object
//~ UNSAFE -DBRANCH: use of a dead local object
//~ UNSAFE -DRESULT: use of a dead local object
//~ UNSAFE -DPARAMETER: use of a dead local object
//~ UNSAFE -DEXPRESSION: use of a dead local object
#include <assert.h>

struct pair {
    int of[2];
};

struct pair *given;

static struct pair make(int a) {
    return (struct pair){{a, a + 1}};
}

static int sum(const int *of) {
    return of[0] + of[1];
}

static int take(struct pair p) {
    p.of[0]++;
    given = &p;
    return given->of[0];
}

int main(void) {
    int *kept = &(int){7};
    int total = 0;
    for (int i = 0; i < 2; i++) {
        total += sum((int[]){i, 1}) + sum(make(i).of) + make(i).of[1];
        total += ({ int x = i; int *p = &x; *p; });
    }
    assert(total == 11 && *kept == 7);
    struct pair mine = make(3);
    assert(take(mine) == 4 && take(mine) == 4);
#ifdef LITERAL
    for (int i = 0; i < 2; i++)
        kept = &(int){i};
#endif
#ifdef BRANCH
    if (total)
        kept = (int[]){1, 2};
#endif
#ifdef RESULT
    kept = make(1).of;
#endif
#ifdef PARAMETER
    kept = given->of;
#endif
#ifdef EXPRESSION
    kept = ({ int x = 1; &x; });
#endif
    return *kept == 0;
}
