// The greater and the lesser of a value and memory, in one step: clang's __sync_fetch_and_max and its kin, which gcc lacks.

void __leno_atomic_begin(void);
void __leno_atomic_end(void);

int __sync_fetch_and_max(int *at, int value)
{
    __leno_atomic_begin();
    int old = __atomic_load_n(at, 5);
    __atomic_store_n(at, old > value ? old : value, 5);
    __leno_atomic_end();
    return old;
}

int __sync_fetch_and_min(int *at, int value)
{
    __leno_atomic_begin();
    int old = __atomic_load_n(at, 5);
    __atomic_store_n(at, old < value ? old : value, 5);
    __leno_atomic_end();
    return old;
}

unsigned __sync_fetch_and_umax(unsigned *at, unsigned value)
{
    __leno_atomic_begin();
    unsigned old = __atomic_load_n(at, 5);
    __atomic_store_n(at, old > value ? old : value, 5);
    __leno_atomic_end();
    return old;
}

unsigned __sync_fetch_and_umin(unsigned *at, unsigned value)
{
    __leno_atomic_begin();
    unsigned old = __atomic_load_n(at, 5);
    __atomic_store_n(at, old < value ? old : value, 5);
    __leno_atomic_end();
    return old;
}
