// Thread-specific data and cleanup handlers, with pthread_exit out of the middle.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_key_t key, other;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy(void *text)
{
    printf("destroy %s, now %s\n", (char *)text, pthread_getspecific(key) ? "set" : "null");
    free(text);
}

static void unlock(void *mutex)
{
    printf("cleanup\n");
    pthread_mutex_unlock(mutex);
}

static void say(void *text) { printf("say %s\n", (char *)text); }

static void *worker(void *name)
{
    pthread_setspecific(key, strdup(name));
    pthread_cleanup_push(say, "popped and run");
    pthread_cleanup_pop(1);
    pthread_cleanup_push(say, "popped only");
    pthread_cleanup_pop(0);
    pthread_cleanup_push(say, "outer");
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    if (strcmp(name, "leaves") == 0)
        pthread_exit((void *)5);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return (void *)6;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_key_create(&key, destroy);
    pthread_key_create(&other, NULL);
    pthread_setspecific(key, strdup("main's"));
    pthread_create(&t, NULL, worker, "leaves");
    pthread_join(t, &result);
    printf("result %ld\n", (long)result);
    pthread_create(&t, NULL, worker, "returns");
    pthread_join(t, &result);
    printf("result %ld\n", (long)result);
    printf("%s %d\n", (char *)pthread_getspecific(key), pthread_getspecific(other) == NULL);
    free(pthread_getspecific(key));
    pthread_key_delete(key);
    printf("%d\n", pthread_key_delete(other));
    return 0;
}
