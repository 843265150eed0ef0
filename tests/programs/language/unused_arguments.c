// Arguments that a builtin does not need are evaluated all the same, and those that C does not evaluate are not. (gcc
// agrees with every line.)
#include <stdio.h>
#include <stdatomic.h>
#include <string.h>
#include <stdlib.h>
#include <pthread.h>
#include <semaphore.h>
int c; int x, y, z; _Bool b; char buf[16];
int bump(void) { return c++; }
atomic_int at; atomic_flag fl;
pthread_mutex_t m; pthread_cond_t cv; sem_t s; pthread_barrier_t ba; pthread_rwlock_t rw; pthread_spinlock_t sp;
pthread_attr_t attr;
void *f(void *p) { return p; }
int pick(int i) { return i ? 5 : 5; }
#define SHOW(what) printf("%s %d\n", #what, c)
void *nothing(void) { c++; return 0; }
typedef struct { int a[4]; } rec;
void par(int n, int a[n++]) { printf("par %d\n", n); }
int main(void) {
  __atomic_store_n(&x, 1, ++c ? 5 : 5); SHOW(store_n);
  __atomic_store(&x, &y, pick(c++)); SHOW(store);
  (void)__atomic_load_n(&x, pick(c++)); SHOW(load_n);
  __atomic_load(&x, &y, pick(c++)); SHOW(load);
  __atomic_exchange_n(&x, 2, pick(c++)); SHOW(exn);
  __atomic_exchange(&x, &y, &z, pick(c++)); SHOW(ex);
  __atomic_compare_exchange_n(&x, &y, 3, bump() > 100, pick(bump()), pick(bump())); SHOW(casn);
  __atomic_compare_exchange(&x, &y, &z, (bump(), 0), pick(bump()), pick(bump())); SHOW(cas);
  __atomic_fetch_add(&x, 1, pick(c++)); SHOW(fadd);
  __atomic_add_fetch(&x, 1, pick(c++)); SHOW(addf);
  __atomic_test_and_set(&b, pick(c++)); SHOW(tas);
  __atomic_clear(&b, pick(c++)); SHOW(clr);
  __atomic_thread_fence(pick(c++)); SHOW(fence);
  __atomic_signal_fence(pick(c++)); SHOW(sfence);
  __atomic_is_lock_free(c++ ? 4 : 4, nothing()); SHOW(lockfree);
  atomic_store_explicit(&at, bump(), pick(bump())); SHOW(ase);
  (void)atomic_load_explicit(&at, pick(c++)); SHOW(ale);
  atomic_fetch_add_explicit(&at, 1, pick(c++)); SHOW(afe);
  int e = 1; atomic_compare_exchange_strong_explicit(&at, &e, 4, pick(bump()), pick(bump())); SHOW(ace);
  atomic_flag_test_and_set_explicit(&fl, pick(c++)); SHOW(aft);
  atomic_flag_clear_explicit(&fl, pick(c++)); SHOW(afc);
  atomic_thread_fence(pick(c++)); SHOW(atf);
  atomic_signal_fence(pick(c++)); SHOW(asf);
  __sync_fetch_and_add(&x, 1, c++); SHOW(sync);
  __sync_bool_compare_and_swap(&x, bump(), bump()); SHOW(syncb);
  __sync_lock_release(&x); SHOW(syncr);
  x = __builtin_expect(bump(), bump()); SHOW(expect);
  if (__builtin_expect(!!(c++ > 3), 1)) SHOW(expect2);
  __builtin_assume_aligned(buf, 8, c++); SHOW(aligned);
  __builtin_prefetch(nothing()); SHOW(prefetch);
  __builtin_prefetch(nothing(), 0, 1); SHOW(prefetch);
  x = __builtin_constant_p(c++); SHOW(constp);
  x = __builtin_object_size(nothing(), 0); SHOW(osize);
  x = __builtin_choose_expr(1, c++, bump()); SHOW(choose);
  x = __builtin_types_compatible_p(int, typeof(c++)); SHOW(types);
  __builtin___memcpy_chk(buf, "abc", 4, bump() ? 16 : 16); SHOW(chk);
  __builtin_memset(buf, c++, 2); SHOW(memset);
  x = _Generic(c++, int: 1, default: 2); SHOW(generic);
  x = _Generic(1, int: c++, default: bump()); SHOW(generic2);
  typeof(c++) q = 3; SHOW(typeof);
  x = sizeof(c++); SHOW(sizeof);
  x = sizeof(int[c++ + 1]); SHOW(sizeofvla);
  int n = 3; int v[n++]; SHOW(vla); printf("%d %d\n", n, (int)(sizeof v));
  typeof(int[n++]) w; printf("%d %d\n", n, (int)(sizeof w));
  x = (int)sizeof(*(int(*)[n++])0); printf("%d %d\n", n, x);
  x = (int)(unsigned long)(int (*)[n++])&v; printf("n %d\n", n);
  par(3, v);
  x = (c++, 5); SHOW(comma);
  (void)c++; SHOW(void);
  (void)bump(); SHOW(void);
  x = c++ * 0; SHOW(mul0); x = bump() & 0; SHOW(and0); x = bump() || 1; SHOW(or1); x = 1 || bump(); SHOW(nor);
  x = bump() && 0; SHOW(and); x = 0 && bump(); SHOW(nand);
  x = 0 ? bump() : 1; SHOW(cond); x = bump() ? 1 : 1; SHOW(cond2); x = bump() ?: 4; SHOW(elvis);
  x = (bump(), bump(), 3); SHOW(comma3);
  x = ({ bump(); 7; }); SHOW(stmt);
  x = ((rec){{bump(), bump()}}).a[0]; SHOW(compound);
  x = (rec){{1}}.a[c++ & 3]; SHOW(index);
  int arr[5] = {[2] = bump(), bump()}; SHOW(init);
  switch (c++) { default: break; } SHOW(switch);
  { int *p = &x; p += bump() * 0; *p++ = bump(); } SHOW(ptr);
  pthread_mutex_init(&m, nothing()); SHOW(minit);
  pthread_cond_init(&cv, nothing()); SHOW(cinit);
  sem_init(&s, bump(), bump() ? 1 : 1); SHOW(seminit);
  pthread_barrier_init(&ba, nothing(), (c++, 1)); SHOW(binit);
  pthread_rwlock_init(&rw, nothing()); SHOW(rwinit);
  pthread_spin_init(&sp, c++); SHOW(spinit);
  pthread_t t; pthread_create(&t, nothing(), f, nothing()); SHOW(create);
  pthread_join(t, nothing()); SHOW(join);
  pthread_mutex_destroy((c++, &m)); SHOW(mdestroy);
  abs(bump()); SHOW(abs); strlen((bump(), "x")); SHOW(strlen); free(nothing()); SHOW(free);
  x = __builtin_isnan((double)c++); SHOW(isnan);
  x = __builtin_clz(c++ | 1); SHOW(clz);
  x = __builtin_bswap32(c++); SHOW(bswap);
  int r; __builtin_add_overflow(bump(), bump(), (bump(), &r)); SHOW(ovf);
  __builtin_alloca(c++ & 7); SHOW(alloca);
  setvbuf(stdout, nothing(), (bump(), _IOLBF), (bump(), 100)); SHOW(setvbuf);
  return 0;
}
