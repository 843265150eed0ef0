// Cleanup handlers: what pthread_cleanup_push and pthread_cleanup_pop of the system's headers become.
//
// A handler is remembered in the buffer that the headers put on the stack of the scope that pushes it.

void *__leno_thread_start(void *(*function)(void *), void *argument);

typedef struct handler {
    void (*routine)(void *);
    void *argument;
    struct handler *next;
} handler;

static _Thread_local handler *innermost;

void __leno_cleanup_push(void *buffer, void (*routine)(void *), void *argument)
{
    handler *new = buffer;
    new->routine = routine;
    new->argument = argument;
    new->next = innermost;
    innermost = new;
}

void __leno_cleanup_pop(void *buffer)
{
    innermost = ((handler *)buffer)->next;
}

void _pthread_cleanup_push(void *buffer, void (*routine)(void *), void *argument)
{
    __leno_cleanup_push(buffer, routine, argument);
}

void _pthread_cleanup_pop(void *buffer, int execute)
{
    handler *last = buffer;
    innermost = last->next;
    if (execute)
        last->routine(last->argument);
}

void __leno_run_cleanups(void)
{
    while (innermost) {
        handler *last = innermost;
        innermost = last->next;
        last->routine(last->argument);
    }
}
