//! C programs for the tests of analyses. What a C library's headers would say is declared here, so that no preprocessor
//! has to run.

use leno_c::driver::{Input, Options, compile};
use leno_ir::program::Program;

/// What programs use of the C library, in addition to what generated ones use.
pub const DECLARATIONS: &str = "\
typedef int pthread_spinlock_t;
typedef union { char size[4]; int align; } pthread_mutexattr_t;
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *), pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutexattr_init(pthread_mutexattr_t *), pthread_mutexattr_settype(pthread_mutexattr_t *, int);
int pthread_rwlock_init(pthread_rwlock_t *, const void *), pthread_rwlock_destroy(pthread_rwlock_t *);
int pthread_spin_init(pthread_spinlock_t *, int), pthread_spin_lock(pthread_spinlock_t *), pthread_spin_unlock(pthread_spinlock_t *);
int pthread_spin_trylock(pthread_spinlock_t *);
int pthread_barrier_destroy(pthread_barrier_t *);
void pthread_exit(void *);
void *malloc(size_t), *memset(void *, int, size_t), *memcpy(void *, const void *, size_t);
void abort(void);
int __VERIFIER_nondet_int(void);
";

pub fn compiled(name: &str, text: &str) -> Program {
    let input = Input::Preprocessed { name: name.to_string(), text: text.as_bytes().to_vec() };
    match compile(&[input], &Options::default()) {
        Ok(compiled) => compiled.program,
        Err(failure) => panic!("{failure}\n{text}"),
    }
}

/// With all declarations, which are on one line so that lines keep their numbers.
pub fn compiled_with_declarations(name: &str, text: &str) -> Program {
    let declarations = [leno_generate::DECLARATIONS, DECLARATIONS].concat().replace('\n', " ");
    compiled(name, &[declarations, text.to_string()].concat())
}
