// Thread-specific data: pthread_key_*, pthread_{set,get}specific, and C11's tss_*.
//
// As many keys as PTHREAD_KEYS_MAX. A key that is deleted and created again has another `generation`, so that values of its
// former life read as null.

void *__leno_thread_start(void *(*function)(void *), void *argument);
void __leno_atomic_begin(void);
void __leno_atomic_end(void);

typedef void destructor(void *value);

typedef struct {
    int in_use;
    unsigned generation;
    destructor *destroy;
} key;

typedef struct {
    unsigned generation;
    void *value;
} slot;

static key keys[1024];
// No key at or above this number has ever been used.
static unsigned highest;
static _Thread_local slot slots[1024];

int pthread_key_create(unsigned *result, destructor *destroy)
{
    unsigned number = 0;
    __leno_atomic_begin();
    while (number < 1024 && keys[number].in_use)
        number++;
    if (number < 1024) {
        keys[number].in_use = 1;
        keys[number].generation++;
        keys[number].destroy = destroy;
        if (number >= highest)
            highest = number + 1;
    }
    __leno_atomic_end();
    if (number == 1024)
        return 11;
    *result = number;
    return 0;
}

int pthread_key_delete(unsigned number)
{
    int was_used = 0;
    __leno_atomic_begin();
    if (number < 1024) {
        was_used = keys[number].in_use;
        keys[number].in_use = 0;
    }
    __leno_atomic_end();
    return was_used ? 0 : 22;
}

// The generation of a key in use, 0 of any other.
static unsigned generation_of(unsigned number)
{
    unsigned generation = 0;
    __leno_atomic_begin();
    if (number < 1024 && keys[number].in_use)
        generation = keys[number].generation;
    __leno_atomic_end();
    return generation;
}

int pthread_setspecific(unsigned number, const void *value)
{
    unsigned generation = generation_of(number);
    if (generation == 0)
        return 22;
    slots[number].generation = generation;
    slots[number].value = (void *)value;
    return 0;
}

void *pthread_getspecific(unsigned number)
{
    unsigned generation = generation_of(number);
    if (generation == 0 || slots[number].generation != generation)
        return 0;
    return slots[number].value;
}

static destructor *destructor_of(unsigned number)
{
    destructor *destroy = 0;
    __leno_atomic_begin();
    if (keys[number].in_use && slots[number].generation == keys[number].generation)
        destroy = keys[number].destroy;
    __leno_atomic_end();
    return destroy;
}

static unsigned limit(void)
{
    __leno_atomic_begin();
    unsigned result = highest;
    __leno_atomic_end();
    return result;
}

// Destructors may set values again: four rounds at most, as PTHREAD_DESTRUCTOR_ITERATIONS says.
void __leno_run_key_destructors(void)
{
    int again = 1;
    for (int round = 0; round < 4 && again; round++) {
        again = 0;
        for (unsigned number = 0; number < limit(); number++) {
            void *value = slots[number].value;
            if (!value)
                continue;
            slots[number].value = 0;
            destructor *destroy = destructor_of(number);
            if (destroy) {
                again = 1;
                destroy(value);
            }
        }
    }
}

int tss_create(unsigned *result, destructor *destroy)
{
    return pthread_key_create(result, destroy) == 0 ? 0 : 2;
}

void tss_delete(unsigned number)
{
    pthread_key_delete(number);
}

void *tss_get(unsigned number)
{
    return pthread_getspecific(number);
}

int tss_set(unsigned number, void *value)
{
    return pthread_setspecific(number, value) == 0 ? 0 : 2;
}
