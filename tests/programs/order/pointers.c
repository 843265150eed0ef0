// Whether two pointers lead to the same object is decided when it matters.
//~ SAFE
//~ UNSAFE -DSAME: two writes of one object that nothing orders
//~ HOLDS
//~ PREDICTED -DSAME: unsequenced accesses
#include <pthread.h>

struct queue {
    int tail;
    int values[4];
};

static struct queue q;
static int x, y;

static void *move(void *to) {
    int *target = to, *source = &x;
    *target = (*source)++;
    return 0;
}

int main(void) {
    pthread_t thread;
    char text[4] = "abc", copy[4], *from = text, *to = copy;
    while ((*to++ = *from++) != 0)
        ;
    struct queue *p = &q;
    p->values[p->tail++] = copy[1];
#ifdef SAME
    pthread_create(&thread, 0, move, &x);
#else
    pthread_create(&thread, 0, move, &y);
#endif
    pthread_join(thread, 0);
    return p->values[0] == 'x';
}
