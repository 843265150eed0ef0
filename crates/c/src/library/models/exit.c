// Handlers that run when the process ends: atexit, on_exit, at_quick_exit; quick_exit.
//
// The first 32 of each kind have room here, as C promises; more are allocated. A handler may register others, and a
// handler that calls exit goes on with the rest.

void *malloc(unsigned long size);
void free(void *object);
void __leno_atomic_begin(void);
void __leno_atomic_end(void);
void __leno_exit_now(int status);

typedef struct handler {
    void (*plain)(void);
    void (*with_status)(int, void *);
    void *argument;
    struct handler *next;
} handler;

typedef struct {
    handler room[32];
    int used;
    handler *last;
} handlers;

static handlers at_exit, at_quick;

static int push(handlers *list, void (*plain)(void), void (*with_status)(int, void *), void *argument)
{
    __leno_atomic_begin();
    handler *new = list->used < 32 ? &list->room[list->used++] : malloc(sizeof(handler));
    if (new) {
        new->plain = plain;
        new->with_status = with_status;
        new->argument = argument;
        new->next = list->last;
        list->last = new;
    }
    __leno_atomic_end();
    return new ? 0 : -1;
}

static void run(handlers *list, int status)
{
    for (;;) {
        __leno_atomic_begin();
        handler *last = list->last;
        handler copy = {0, 0, 0, 0};
        if (last) {
            copy = *last;
            list->last = last->next;
            if (last < list->room || last >= list->room + 32)
                free(last);
        }
        __leno_atomic_end();
        if (!last)
            return;
        if (copy.plain)
            copy.plain();
        else if (copy.with_status)
            copy.with_status(status, copy.argument);
    }
}

int atexit(void (*function)(void))
{
    return push(&at_exit, function, 0, 0);
}

int on_exit(void (*function)(int, void *), void *argument)
{
    return push(&at_exit, 0, function, argument);
}

int at_quick_exit(void (*function)(void))
{
    return push(&at_quick, function, 0, 0);
}

void __leno_run_exit_handlers(int status)
{
    run(&at_exit, status);
}

void quick_exit(int status)
{
    run(&at_quick, status);
    __leno_exit_now(status);
}
