/* Synchronisation, on the program's own objects.

   Mutexes, read-write locks, spin locks and semaphores are the system's. Before a step is made we look whether it would have to
   wait: by what the object itself says (its owner, its value), or by trying. A schedule never makes such a step.
   What POSIX does in one call and the representation in several steps is done on state of our own, as the semantics
   page has it: condition variables, barriers, once. */

enum leno_step {
    LENO_NO_SYNC, LENO_JOIN,
    LENO_MUTEX_INIT, LENO_MUTEX_DESTROY, LENO_MUTEX_LOCK, LENO_MUTEX_TRYLOCK, LENO_MUTEX_UNLOCK,
    LENO_SPIN_INIT, LENO_SPIN_DESTROY, LENO_SPIN_LOCK, LENO_SPIN_TRYLOCK, LENO_SPIN_UNLOCK,
    LENO_RW_INIT, LENO_RW_DESTROY, LENO_READ_LOCK, LENO_TRY_READ_LOCK, LENO_WRITE_LOCK, LENO_TRY_WRITE_LOCK, LENO_RW_UNLOCK,
    LENO_COND_INIT, LENO_COND_DESTROY, LENO_COND_SLEEP, LENO_COND_WAKE, LENO_COND_WAKE_TIMED, LENO_COND_SIGNAL, LENO_COND_BROADCAST,
    LENO_SEM_INIT, LENO_SEM_DESTROY, LENO_SEM_WAIT, LENO_SEM_TRYWAIT, LENO_SEM_POST, LENO_SEM_VALUE,
    LENO_BARRIER_INIT, LENO_BARRIER_DESTROY, LENO_BARRIER_ARRIVE, LENO_BARRIER_LEAVE,
    LENO_ONCE_BEGIN, LENO_ONCE_END
};

/* The object that a step is made on: all of it is accessed. */
static ptr leno_object_bytes(int step) {
    if (step <= LENO_MUTEX_UNLOCK) return sizeof(pthread_mutex_t);
    if (step <= LENO_SPIN_UNLOCK) return sizeof(pthread_spinlock_t);
    if (step <= LENO_RW_UNLOCK) return sizeof(pthread_rwlock_t);
    if (step <= LENO_COND_BROADCAST) return sizeof(pthread_cond_t);
    if (step <= LENO_SEM_VALUE) return sizeof(sem_t);
    return step <= LENO_BARRIER_LEAVE ? sizeof(pthread_barrier_t) : sizeof(pthread_once_t);
}

static int leno_object_flags(int step) {
    switch (step) {
    case LENO_MUTEX_INIT: case LENO_MUTEX_DESTROY: case LENO_SPIN_INIT: case LENO_SPIN_DESTROY: case LENO_RW_INIT: case LENO_RW_DESTROY:
    case LENO_COND_INIT: case LENO_COND_DESTROY: case LENO_SEM_INIT: case LENO_SEM_DESTROY: case LENO_BARRIER_INIT: case LENO_BARRIER_DESTROY:
        return LENO_WRITES;
    default: return LENO_WRITES | LENO_ATOMIC;
    }
}

static void leno_sync_point(u32 place, int step, ptr at, u64 operand) {
    leno_expect(at, leno_object_bytes(step), leno_object_flags(step), step, at, operand);
    leno_arrive(place);
}

static void leno_join_point(u32 place, ptr handle) {
    leno_expect(0, 0, 0, LENO_JOIN, handle, 0);
    leno_arrive(place);
}

/* ---- who holds what the system keeps no record of: spin locks, and read-write locks for reading */

static struct leno_hold {
    ptr at;
    struct leno_thread *thread;
} *leno_holds;
static u32 leno_held, leno_room_for_holds;

static void leno_hold(ptr at, struct leno_thread *thread) {
    if (leno_held == leno_room_for_holds) {
        leno_room_for_holds = leno_room_for_holds * 2 + 16;
        leno_holds = realloc(leno_holds, leno_room_for_holds * sizeof *leno_holds);
        if (!leno_holds) leno_diverge("no memory");
    }
    leno_holds[leno_held++] = (struct leno_hold){at, thread};
}

/* Its entry, of this thread or (null) of any. */
static struct leno_hold *leno_hold_of(ptr at, struct leno_thread *thread) {
    for (u32 i = leno_held; i-- > 0;)
        if (leno_holds[i].at == at && (!thread || leno_holds[i].thread == thread)) return &leno_holds[i];
    return 0;
}

static void leno_drop(struct leno_hold *hold) {
    *hold = leno_holds[--leno_held];
}

/* ---- condition variables: sleepers in order of arrival; a token may be taken by so many of the first ones */

static struct leno_sleepers {
    ptr at;
    struct leno_thread **threads;
    u32 *tokens;
    u32 asleep, signals, room;
    struct leno_sleepers *next;
} *leno_conditions;

static struct leno_sleepers *leno_sleepers(ptr at) {
    struct leno_sleepers *all = leno_conditions;
    while (all && all->at != at) all = all->next;
    return all;
}

static u32 leno_sleeper(struct leno_sleepers *all, struct leno_thread *thread) {
    u32 position = 0;
    while (position < all->asleep && all->threads[position] != thread) position++;
    return position;
}

static void leno_fall_asleep(ptr at, struct leno_thread *thread) {
    struct leno_sleepers *all = leno_sleepers(at);
    if (!all) {
        all = calloc(1, sizeof *all);
        if (!all) leno_diverge("no memory");
        all->at = at;
        all->next = leno_conditions;
        leno_conditions = all;
    }
    if (all->asleep == all->room) {
        all->room = all->room * 2 + 4;
        all->threads = realloc(all->threads, all->room * sizeof *all->threads);
        all->tokens = realloc(all->tokens, all->room * sizeof *all->tokens);
        if (!all->threads || !all->tokens) leno_diverge("no memory");
    }
    all->threads[all->asleep++] = thread;
}

/* The first token that is for this sleeper, or the number of tokens. */
static u32 leno_token(struct leno_sleepers *all, u32 position) {
    u32 token = 0;
    while (token < all->signals && all->tokens[token] <= position) token++;
    return token;
}

static int leno_sleeps(ptr at, struct leno_thread *thread) {
    struct leno_sleepers *all = leno_sleepers(at);
    return all && leno_sleeper(all, thread) < all->asleep;
}

static int leno_is_woken(ptr at, struct leno_thread *thread) {
    struct leno_sleepers *all = leno_sleepers(at);
    if (!all) return 1;
    u32 position = leno_sleeper(all, thread);
    return position == all->asleep || leno_token(all, position) < all->signals;
}

/* Takes the oldest token that is for this sleeper, if there is one, and lets it go in any case. */
static int leno_wake(ptr at, struct leno_thread *thread) {
    struct leno_sleepers *all = leno_sleepers(at);
    if (!all) return 1;
    u32 position = leno_sleeper(all, thread), kept = 0;
    if (position == all->asleep) return 1;
    u32 token = leno_token(all, position);
    int signalled = token < all->signals;
    for (u32 i = position; i + 1 < all->asleep; i++) all->threads[i] = all->threads[i + 1];
    all->asleep--;
    for (u32 i = 0; i < all->signals; i++) {
        if (i == token) continue;
        u32 limit = all->tokens[i] > position ? all->tokens[i] - 1 : all->tokens[i];
        if (limit > kept) all->tokens[kept++] = limit;
    }
    all->signals = kept;
    return signalled;
}

static void leno_signal(ptr at, int everyone) {
    struct leno_sleepers *all = leno_sleepers(at);
    if (!all) return;
    if (everyone) {
        for (all->signals = 0; all->signals < all->asleep; all->signals++) all->tokens[all->signals] = all->asleep;
    } else if (all->signals < all->asleep) {
        all->tokens[all->signals++] = all->asleep;
    }
}

/* ---- would it have to wait? */

#define LENO_MUTEX(at) ((pthread_mutex_t *)(at))
#define LENO_RWLOCK(at) ((pthread_rwlock_t *)(at))
#define LENO_WORD(at, offset) (*(volatile mem32 *)((at) + (offset)))

static int leno_checks_owner(ptr at) {
    int kind = LENO_MUTEX(at)->__data.__kind & 3;
    return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
}

static int leno_owns_mutex(ptr at, struct leno_thread *thread) {
    return LENO_MUTEX(at)->__data.__lock != 0 && LENO_MUTEX(at)->__data.__owner == thread->tid;
}

static int leno_mutex_blocks(ptr at, struct leno_thread *thread) {
    pthread_mutex_t *mutex = LENO_MUTEX(at);
    if (mutex->__data.__kind == -1 || mutex->__data.__lock == 0) return 0;
    return !(leno_owns_mutex(at, thread) && leno_checks_owner(at));
}

/* Whether it waits until another thread does something. A sleeper without a signal does, although it might wake up. */
static int leno_waits(struct leno_thread *thread) {
    ptr at = thread->at;
    struct leno_thread *target;
    int value = 0;
    switch (thread->step) {
    case LENO_JOIN:
        target = leno_of_handle(at);
        return target && target->joinable && target->state != LENO_ENDED;
    case LENO_MUTEX_LOCK: return leno_mutex_blocks(at, thread);
    case LENO_SPIN_LOCK:
        if (pthread_spin_trylock((pthread_spinlock_t *)at)) return 1;
        pthread_spin_unlock((pthread_spinlock_t *)at);
        return 0;
    case LENO_READ_LOCK:
        if (LENO_RWLOCK(at)->__data.__cur_writer == thread->tid) return 0;
        if (pthread_rwlock_tryrdlock(LENO_RWLOCK(at))) return 1;
        pthread_rwlock_unlock(LENO_RWLOCK(at));
        return 0;
    case LENO_WRITE_LOCK:
        if (LENO_RWLOCK(at)->__data.__cur_writer == thread->tid) return 0;
        if (pthread_rwlock_trywrlock(LENO_RWLOCK(at))) return 1;
        pthread_rwlock_unlock(LENO_RWLOCK(at));
        return 0;
    case LENO_COND_WAKE: return !leno_is_woken(at, thread);
    case LENO_SEM_WAIT: return sem_getvalue((sem_t *)at, &value) == 0 && value <= 0;
    case LENO_BARRIER_LEAVE:
        return leno_hold_of(at, thread) && !(thread->operand & 1) && LENO_WORD(at, 8) == (u32)(thread->operand >> 1);
    case LENO_ONCE_BEGIN: return LENO_WORD(at, 0) == 1;
    default: return 0;
    }
}

/* Whether it cannot make its step now. */
static int leno_blocks(struct leno_thread *thread) {
    return !(LENO_SPURIOUS && thread->step == LENO_COND_WAKE) && leno_waits(thread);
}

/* The thread that has what this one waits for, if somebody has it. */
static struct leno_thread *leno_owner(struct leno_thread *thread) {
    ptr at = thread->at;
    pid_t tid = 0;
    struct leno_hold *hold = 0;
    switch (thread->step) {
    case LENO_JOIN: return leno_of_handle(at);
    case LENO_MUTEX_LOCK: tid = LENO_MUTEX(at)->__data.__owner; break;
    case LENO_SPIN_LOCK: hold = leno_hold_of(at, 0); break;
    case LENO_READ_LOCK:
    case LENO_WRITE_LOCK:
        tid = LENO_RWLOCK(at)->__data.__cur_writer;
        /* One that has ended never gives it back, whatever the other readers do. */
        for (u32 i = 0; !tid && i < leno_held && !(hold && hold->thread->state == LENO_ENDED); i++)
            if (leno_holds[i].at == at) hold = &leno_holds[i];
        break;
    default: break;
    }
    if (hold) return hold->thread;
    for (struct leno_thread *other = leno_threads; tid && other; other = other->next)
        if (other->tid == tid) return other;
    return 0;
}

/* ---- making a step */

static void leno_check_destroy(struct leno_thread *me, int may) {
    if (!may) leno_end("invalid InvalidDestroy %s %u it is in use", me->name, me->place);
}

/* The locks that were destroyed and not made again. */
static struct leno_hold *leno_destroyed;
static u32 leno_destroyed_count, leno_room_for_destroyed;

static void leno_set_destroyed(ptr at, int destroyed) {
    u32 i = 0;
    while (i < leno_destroyed_count && leno_destroyed[i].at != at) i++;
    if (!destroyed) {
        if (i < leno_destroyed_count) leno_destroyed[i] = leno_destroyed[--leno_destroyed_count];
        return;
    }
    if (i < leno_destroyed_count) return;
    if (leno_destroyed_count == leno_room_for_destroyed) {
        leno_room_for_destroyed = leno_room_for_destroyed * 2 + 16;
        leno_destroyed = realloc(leno_destroyed, leno_room_for_destroyed * sizeof *leno_destroyed);
        if (!leno_destroyed) leno_diverge("no memory");
    }
    leno_destroyed[leno_destroyed_count++].at = at;
}

static void leno_check_use(struct leno_thread *me, int step, ptr at) {
    /* The system marks mutexes itself. */
    int is_destroyed = step <= LENO_MUTEX_UNLOCK && LENO_MUTEX(at)->__data.__kind == -1;
    if (step == LENO_MUTEX_INIT) return;
    if (step == LENO_SPIN_INIT || step == LENO_RW_INIT) return leno_set_destroyed(at, 0);
    for (u32 i = 0; step > LENO_MUTEX_UNLOCK && i < leno_destroyed_count; i++) is_destroyed |= leno_destroyed[i].at == at;
    if (is_destroyed) leno_end("invalid UseAfterDestroy %s %u the lock was destroyed", me->name, me->place);
    if (step == LENO_SPIN_DESTROY || step == LENO_RW_DESTROY) leno_set_destroyed(at, 1);
}

static void leno_check_unlock(struct leno_thread *me, int may) {
    if (may) return;
    leno_end("invalid InvalidUnlock %s %u the system's own record says that this thread does not hold the lock", me->name, me->place);
}

static int leno_mutex_unlock(ptr at, struct leno_thread *me) {
    int broken = LENO_MUTEX(at)->__data.__kind == -1;
    leno_check_unlock(me, broken || leno_checks_owner(at) || leno_owns_mutex(at, me));
    return pthread_mutex_unlock(LENO_MUTEX(at));
}

static int leno_spin(int step, ptr at, struct leno_thread *me) {
    pthread_spinlock_t *lock = (pthread_spinlock_t *)at;
    struct leno_hold *hold = leno_hold_of(at, 0);
    int result;
    switch (step) {
    case LENO_SPIN_INIT: return pthread_spin_init(lock, 0);
    case LENO_SPIN_DESTROY: leno_check_destroy(me, !hold); return pthread_spin_destroy(lock);
    case LENO_SPIN_UNLOCK:
        leno_check_unlock(me, hold && hold->thread == me);
        leno_drop(hold);
        return pthread_spin_unlock(lock);
    default:
        result = pthread_spin_trylock(lock);
        if (!result) leno_hold(at, me);
        return result;
    }
}

static int leno_read_write(int step, ptr at, struct leno_thread *me) {
    pthread_rwlock_t *lock = LENO_RWLOCK(at);
    struct leno_hold *hold = 0;
    int result = 0;
    switch (step) {
    case LENO_RW_INIT: return pthread_rwlock_init(lock, 0);
    case LENO_RW_DESTROY:
        leno_check_destroy(me, !leno_hold_of(at, 0) && !lock->__data.__cur_writer);
        return pthread_rwlock_destroy(lock);
    case LENO_WRITE_LOCK: return pthread_rwlock_wrlock(lock);
    case LENO_TRY_WRITE_LOCK: return pthread_rwlock_trywrlock(lock);
    case LENO_RW_UNLOCK:
        hold = leno_hold_of(at, me);
        leno_check_unlock(me, hold || lock->__data.__cur_writer == me->tid);
        if (hold) leno_drop(hold);
        return pthread_rwlock_unlock(lock);
    default:
        result = step == LENO_READ_LOCK ? pthread_rwlock_rdlock(lock) : pthread_rwlock_tryrdlock(lock);
        if (!result) leno_hold(at, me);
        return result;
    }
}

static int leno_condition(int step, ptr at, ptr mutex, struct leno_thread *me) {
    struct leno_sleepers *all = leno_sleepers(at);
    int result = 0, woken = 0;
    switch (step) {
    case LENO_COND_INIT: return pthread_cond_init((pthread_cond_t *)at, 0);
    case LENO_COND_DESTROY:
        /* Those who have been given a signal are on their way, and do not need it any more. */
        leno_check_destroy(me, !all || all->signals >= all->asleep);
        if (all) all->signals = all->asleep = 0;
        return pthread_cond_destroy((pthread_cond_t *)at);
    case LENO_COND_SLEEP:
        result = leno_mutex_unlock(mutex, me);
        if (!result) leno_fall_asleep(at, me);
        return result;
    case LENO_COND_SIGNAL: leno_signal(at, 0); return 0;
    case LENO_COND_BROADCAST: leno_signal(at, 1); return 0;
    default:
        woken = leno_wake(at, me);
        return !woken && step == LENO_COND_WAKE_TIMED ? ETIMEDOUT : 0;
    }
}

static s64 leno_barrier(int step, ptr at, u64 operand) {
    u32 expected, arrived, generation;
    switch (step) {
    case LENO_BARRIER_INIT:
        if (!(u32)operand) return EINVAL;
        LENO_WORD(at, 0) = (u32)operand;
        LENO_WORD(at, 4) = 0;
        LENO_WORD(at, 8) = 0;
        return 0;
    case LENO_BARRIER_LEAVE: {
        struct leno_hold *here = leno_hold_of(at, leno_me);
        if (here) leno_drop(here);
        return operand & 1 ? -1 : 0;
    }
    default: break;
    }
    expected = LENO_WORD(at, 0);
    arrived = LENO_WORD(at, 4);
    generation = LENO_WORD(at, 8);
    if (step == LENO_BARRIER_DESTROY) {
        leno_check_destroy(leno_me, !arrived);
        /* It waits for those who have not left yet; here they leave later, without the barrier. */
        for (struct leno_hold *here; (here = leno_hold_of(at, 0));) leno_drop(here);
        LENO_WORD(at, 0) = 0;
        return 0;
    }
    if (!expected) leno_diverge("%s waits at a barrier that was not initialised", leno_me->name);
    int last = arrived + 1 == expected;
    LENO_WORD(at, 4) = last ? 0 : arrived + 1;
    LENO_WORD(at, 8) = generation + last;
    leno_hold(at, leno_me);
    return (s64)generation << 1 | last;
}

static int leno_semaphore(int step, ptr at, u64 operand) {
    sem_t *semaphore = (sem_t *)at;
    int value = 0;
    switch (step) {
    case LENO_SEM_INIT: return sem_init(semaphore, 0, (unsigned)operand);
    case LENO_SEM_DESTROY: return sem_destroy(semaphore);
    case LENO_SEM_POST: return sem_post(semaphore);
    case LENO_SEM_VALUE: sem_getvalue(semaphore, &value); return value;
    default: return sem_trywait(semaphore);
    }
}

static s64 leno_sync(int step, ptr at, u64 operand) {
    struct leno_thread *me = leno_me;
    /* The system's functions are not watched by AddressSanitizer, but this is. */
    int is_gone = (step == LENO_BARRIER_LEAVE && !leno_hold_of(at, me)) ||
                  ((step == LENO_COND_WAKE || step == LENO_COND_WAKE_TIMED) && !leno_sleeps(at, me));
    if (!is_gone) (void)LENO_WORD(at, 0);
    if (step == LENO_COND_SLEEP) (void)LENO_WORD((ptr)operand, 0);
    if (leno_blocks(me)) leno_diverge("%s has to wait", me->name);
    if (step >= LENO_MUTEX_INIT && step <= LENO_RW_UNLOCK) leno_check_use(me, step, at);
    if (step == LENO_COND_SLEEP) leno_check_use(me, LENO_MUTEX_UNLOCK, (ptr)operand);
    switch (step) {
    case LENO_MUTEX_INIT: return leno_mutex_init(at, (u32)operand);
    case LENO_MUTEX_DESTROY:
        leno_check_destroy(me, LENO_MUTEX(at)->__data.__lock == 0);
        return pthread_mutex_destroy(LENO_MUTEX(at));
    case LENO_MUTEX_LOCK: return pthread_mutex_lock(LENO_MUTEX(at));
    case LENO_MUTEX_TRYLOCK: return pthread_mutex_trylock(LENO_MUTEX(at));
    case LENO_MUTEX_UNLOCK: return leno_mutex_unlock(at, me);
    case LENO_ONCE_BEGIN:
        if (LENO_WORD(at, 0) == 2) return 0;
        LENO_WORD(at, 0) = 1;
        return 1;
    case LENO_ONCE_END: LENO_WORD(at, 0) = 2; return 0;
    default: break;
    }
    if (step >= LENO_BARRIER_INIT) return leno_barrier(step, at, operand);
    if (step >= LENO_SEM_INIT) return leno_semaphore(step, at, operand);
    if (step >= LENO_COND_INIT) return leno_condition(step, at, (ptr)operand, me);
    if (step >= LENO_RW_INIT) return leno_read_write(step, at, me);
    return leno_spin(step, at, me);
}

/* ---- for a deadlock: the real thing, from which nobody should ever come back */

static void leno_block(struct leno_thread *me) {
    ptr at = me->at;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&leno_lock);
    me->state = LENO_BLOCKING;
    pthread_cond_signal(&leno_watcher);
    pthread_mutex_unlock(&leno_lock);
    switch (me->step) {
    case LENO_JOIN:
        if (leno_of_handle(at)->index == LENO_NOBODY) syscall(SYS_futex, &leno_of_handle(at)->turn, FUTEX_WAIT, 0, 0, 0, 0);
        else pthread_join((pthread_t)at, 0);
        break;
    case LENO_MUTEX_LOCK: pthread_mutex_lock(LENO_MUTEX(at)); break;
    case LENO_SPIN_LOCK: pthread_spin_lock((pthread_spinlock_t *)at); break;
    case LENO_READ_LOCK: pthread_rwlock_rdlock(LENO_RWLOCK(at)); break;
    case LENO_WRITE_LOCK: pthread_rwlock_wrlock(LENO_RWLOCK(at)); break;
    case LENO_SEM_WAIT: while (sem_wait((sem_t *)at) && errno == EINTR) {} break;
    /* The program's mutex was given up a step ago, so another one stands in for it. */
    case LENO_COND_WAKE: pthread_mutex_lock(&own); pthread_cond_wait((pthread_cond_t *)at, &own); break;
    case LENO_BARRIER_LEAVE: syscall(SYS_futex, at + 8, FUTEX_WAIT, LENO_WORD(at, 8), 0, 0, 0); break;
    case LENO_ONCE_BEGIN: syscall(SYS_futex, at, FUTEX_WAIT, 1, 0, 0, 0); break;
    default: break;
    }
    leno_end("returned %s %u", me->name, me->place);
}
