//! Declarations of the C library, for small programs that need no preprocessor.

/// Threads, locks, condition variables, semaphores, memory, and the words of verifiers.
pub const HEADER: &str = "\
typedef unsigned long pthread_t;
typedef union { char bytes[40]; long align; } pthread_mutex_t;
typedef union { char bytes[48]; long align; } pthread_cond_t;
typedef union { char bytes[32]; long align; } sem_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *), pthread_join(pthread_t, void **);
void pthread_exit(void *);
int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_trylock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_cond_signal(pthread_cond_t *), pthread_cond_broadcast(pthread_cond_t *);
int sem_init(sem_t *, int, unsigned), sem_wait(sem_t *), sem_post(sem_t *);
void *malloc(unsigned long); void free(void *); void exit(int); void abort(void);
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __VERIFIER_assume(int);
_Bool __VERIFIER_nondet_bool(void);
void reach_error(void);
";
