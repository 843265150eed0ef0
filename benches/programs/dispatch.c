// N workers ask one large function for different things. Which part of it is needed is a constant in every call, so that executing
// the call is little work, and putting a summary of the whole function in its place is more. Size: -DN=…, -DREQUESTS=…
#include <pthread.h>

#ifndef N
#define N 4
#endif
#ifndef REQUESTS
#define REQUESTS 16
#endif

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned value = 1, requests;

static unsigned mix(unsigned a, unsigned b)
{
    for (int i = 0; i < 8; i++) {
        if (a & 1)
            b ^= a << 3;
        a = a >> 1 ^ b;
    }
    return a + b;
}

static void handle(int request, unsigned argument)
{
    pthread_mutex_lock(&lock);
    unsigned now = value;
    switch (request) {
    case 0: now = mix(now, argument); break;
    case 1: now = mix(argument, now) + 1; break;
    case 2: now = mix(now, now) ^ argument; break;
    case 3: now = mix(now ^ argument, argument); break;
    case 4: now = mix(now + argument, 7); break;
    case 5: now = mix(9, now - argument); break;
    case 6: now = mix(now | argument, 3) * 5; break;
    case 7: now = mix(now & argument, now); break;
    }
    value = now;
    requests++;
    pthread_mutex_unlock(&lock);
}

void *worker(void *argument)
{
    unsigned number = (unsigned)(unsigned long)argument;
    for (int i = 0; i < REQUESTS; i++)
        handle(i % 8, number + i);
    return 0;
}

int main(void)
{
    pthread_t workers[N];
    for (unsigned long i = 0; i < N; i++)
        pthread_create(&workers[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(workers[i], 0);
    return 0;
}
