// Square roots by Newton's method, each in a thread of its own until it changes no more.
//~ SAFE
//~ HOLDS
//~ UNSAFE -DBUG: data race
//~ PREDICTED -DBUG
#include <assert.h>
#include <math.h>
#include <pthread.h>

struct task {
    double number, root;
    int steps;
};

static int most_steps;

static void *find_root(void *argument) {
    struct task *task = argument;
    double guess = task->number, last = 0;
    while (fabs(guess - last) > 1e-12) {
        last = guess;
        guess = (guess + task->number / guess) / 2;
        task->steps++;
    }
    task->root = guess;
#ifdef BUG
    if (task->steps > most_steps)
        most_steps = task->steps;
#endif
    return 0;
}

int main(void) {
    struct task tasks[2] = {{2, 0, 0}, {10, 0, 0}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, find_root, &tasks[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < 2; i++)
        assert(fabs(tasks[i].root - sqrt(tasks[i].number)) < 1e-9);
    return 0;
}
