// Normal, recursive and error-checking mutexes, tried, timed and destroyed.
//~ SAFE
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static pthread_mutex_t static_recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static const char *name(int error) {
    switch (error) {
    case 0: return "ok";
    case EBUSY: return "busy";
    case EDEADLK: return "deadlock";
    case EPERM: return "permission";
    case ETIMEDOUT: return "timeout";
    default: return "?";
    }
}

static void *other(void *arg) {
    pthread_mutex_t *m = arg;
    struct timespec deadline = {1, 0};
    printf("%s ", name(pthread_mutex_trylock(m)));
    printf("%s\n", name(pthread_mutex_timedlock(m, &deadline)));
    return NULL;
}

static void from_another_thread(pthread_mutex_t *m) {
    pthread_t t;
    pthread_create(&t, NULL, other, m);
    pthread_join(t, NULL);
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &attr);
    pthread_mutexattr_destroy(&attr);

    printf("%s ", name(pthread_mutex_lock(&normal)));
    printf("%s ", name(pthread_mutex_trylock(&normal)));
    from_another_thread(&normal);
    printf("%s\n", name(pthread_mutex_unlock(&normal)));

    printf("%s ", name(pthread_mutex_lock(&recursive)));
    printf("%s ", name(pthread_mutex_lock(&recursive)));
    printf("%s ", name(pthread_mutex_trylock(&recursive)));
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    from_another_thread(&recursive);
    printf("%s\n", name(pthread_mutex_unlock(&recursive)));

    printf("%s ", name(pthread_mutex_lock(&static_recursive)));
    printf("%s ", name(pthread_mutex_lock(&static_recursive)));
    pthread_mutex_unlock(&static_recursive);
    printf("%s\n", name(pthread_mutex_unlock(&static_recursive)));

    printf("%s ", name(pthread_mutex_unlock(&checking)));
    printf("%s ", name(pthread_mutex_lock(&checking)));
    printf("%s ", name(pthread_mutex_lock(&checking)));
    from_another_thread(&checking);
    printf("%s ", name(pthread_mutex_unlock(&checking)));
    printf("%s\n", name(pthread_mutex_destroy(&checking)));
    return 0;
}
//~ STDOUT: ok busy busy timeout
//~ STDOUT: ok
//~ STDOUT: ok ok ok busy timeout
//~ STDOUT: ok
//~ STDOUT: ok ok ok
//~ STDOUT: permission ok deadlock busy timeout
//~ STDOUT: ok ok
