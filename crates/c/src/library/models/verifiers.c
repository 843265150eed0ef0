// The less common words of other verifiers' vocabularies.

void *malloc(unsigned long size);
void free(void *object);
void __leno_assume(int condition);
int __leno_nondet_int(void);
unsigned char __leno_nondet_uchar(void);

// Nidhugg: waits until `*at` compares to `operand` as the bits of `condition` say (1: greater, 2: equal, 4: less,
// 8: as signed numbers), then exchanges it. Executions in which the wait would last for ever stop there.
static int holds(int value, int condition, int operand)
{
    int less = condition & 8 ? value < operand : (unsigned)value < (unsigned)operand;
    int relation = less ? 4 : value == operand ? 2 : 1;
    return (condition & relation) != 0;
}

int __VERIFIER_load_await_aint(int *at, int condition, int operand)
{
    int value = __atomic_load_n(at, 5);
    __leno_assume(holds(value, condition, operand));
    return value;
}

int __VERIFIER_xchg_await_aint(int *at, int new, int condition, int operand)
{
    int value = __VERIFIER_load_await_aint(at, condition, operand);
    __leno_assume(__atomic_compare_exchange_n(at, &value, new, 0, 5, 5));
    return value;
}

// GenMC's hazard pointers. What is retired is never freed, so what a hazard pointer fails to protect is not found out.
void *__VERIFIER_hazptr_alloc(void)
{
    return malloc(sizeof(void *));
}

void __VERIFIER_hazptr_protect(void *hazard, void *object)
{
}

void __VERIFIER_hazptr_clear(void *hazard)
{
}

void __VERIFIER_hazptr_free(void *hazard)
{
    free(hazard);
}

void __VERIFIER_hazptr_retire(void *object)
{
}

// An optional block may be skipped.
int __VERIFIER_opt_begin(void)
{
    return __leno_nondet_int() & 1;
}

// SV-COMP: fills memory with anything.
void __VERIFIER_nondet_memory(void *memory, unsigned long size)
{
    for (unsigned long i = 0; i < size; i++)
        ((unsigned char *)memory)[i] = __leno_nondet_uchar();
}
