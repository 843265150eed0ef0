//! Synchronisation: the real thing, on the program's own memory.
//!
//! The representation splits what blocks in the middle into several steps; the POSIX functions do it in one. So one of
//! the steps makes the call, and the others, which do nothing here, only give their results.

use crate::instr::Writer;
use leno_ir::program::{Expr, LocalId, LockKind, SyncOp, Type};

impl Writer<'_> {
    pub(crate) fn synchronise(&self, dst: Option<LocalId>, op: &SyncOp, at: &Expr) -> String {
        match self.sync_call(op, at) {
            Ok(call) => self.result(dst, Type::I32, call),
            Err(why) => {
                let give = dst.map_or(String::new(), |dst| format!("{} = 0; ", self.name(dst)));
                format!("{give}/* {why} */")
            }
        }
    }

    /// The call that makes the step; or why there is none.
    pub(crate) fn sync_call(&self, op: &SyncOp, at: &Expr) -> Result<String, &'static str> {
        let value = |expr: &Expr| self.scope.value(expr);
        let mutex = |expr: &Expr| format!("(pthread_mutex_t *){}", self.scope.address(expr));
        Ok(match op {
            SyncOp::LockInit { lock: LockKind::Mutex, kind } => {
                format!("leno_mutex_init({}, {})", value(at), value(kind))
            }
            SyncOp::LockInit { lock: LockKind::Spin, .. } => {
                self.posix("pthread_spin_init", "pthread_spinlock_t", at, ", 0")
            }
            SyncOp::LockDestroy(lock) => self.on_lock(*lock, "destroy", at),
            SyncOp::Lock(lock) => self.on_lock(*lock, "lock", at),
            SyncOp::TryLock(lock) => self.on_lock(*lock, "trylock", at),
            SyncOp::Unlock(lock) => self.on_lock(*lock, "unlock", at),

            SyncOp::RwInit => self.posix("pthread_rwlock_init", "pthread_rwlock_t", at, ", 0"),
            SyncOp::RwDestroy => self.posix("pthread_rwlock_destroy", "pthread_rwlock_t", at, ""),
            SyncOp::ReadLock => self.posix("pthread_rwlock_rdlock", "pthread_rwlock_t", at, ""),
            SyncOp::TryReadLock => self.posix("pthread_rwlock_tryrdlock", "pthread_rwlock_t", at, ""),
            SyncOp::WriteLock => self.posix("pthread_rwlock_wrlock", "pthread_rwlock_t", at, ""),
            SyncOp::TryWriteLock => self.posix("pthread_rwlock_trywrlock", "pthread_rwlock_t", at, ""),
            SyncOp::RwUnlock => self.posix("pthread_rwlock_unlock", "pthread_rwlock_t", at, ""),

            SyncOp::CondInit => self.posix("pthread_cond_init", "pthread_cond_t", at, ", 0"),
            SyncOp::CondDestroy => self.posix("pthread_cond_destroy", "pthread_cond_t", at, ""),
            SyncOp::CondSleep { .. } => return Err("going to sleep is part of the wait that follows"),
            SyncOp::CondWake { mutex: with, deadline: None } => {
                self.posix("pthread_cond_wait", "pthread_cond_t", at, &format!(", {}", mutex(with)))
            }
            SyncOp::CondWake { mutex: with, deadline: Some(deadline) } => {
                let deadline = format!("(const struct timespec *){}", self.scope.address(deadline));
                self.posix("pthread_cond_timedwait", "pthread_cond_t", at, &format!(", {}, {deadline}", mutex(with)))
            }
            SyncOp::CondRelock => return Err("the wait has taken the mutex again"),
            SyncOp::CondSignal => self.posix("pthread_cond_signal", "pthread_cond_t", at, ""),
            SyncOp::CondBroadcast => self.posix("pthread_cond_broadcast", "pthread_cond_t", at, ""),

            SyncOp::SemInit { value: initial } => {
                self.posix("sem_init", "sem_t", at, &format!(", 0, {}", value(initial)))
            }
            SyncOp::SemDestroy => self.posix("sem_destroy", "sem_t", at, ""),
            SyncOp::SemWait => format!("leno_sem_wait({})", value(at)),
            SyncOp::SemTryWait => self.posix("sem_trywait", "sem_t", at, ""),
            SyncOp::SemPost => self.posix("sem_post", "sem_t", at, ""),
            SyncOp::SemGetValue => format!("leno_sem_value({})", value(at)),

            SyncOp::BarrierInit { count } => {
                self.posix("pthread_barrier_init", "pthread_barrier_t", at, &format!(", 0, {}", value(count)))
            }
            SyncOp::BarrierDestroy => self.posix("pthread_barrier_destroy", "pthread_barrier_t", at, ""),
            SyncOp::BarrierArrive => return Err("arriving is part of the wait that follows"),
            SyncOp::BarrierLeave { .. } => self.posix("pthread_barrier_wait", "pthread_barrier_t", at, ""),

            SyncOp::OnceBegin => format!("leno_once_begin({})", value(at)),
            SyncOp::OnceEnd => format!("leno_once_end({})", value(at)),
        })
    }

    fn posix(&self, function: &str, object: &str, at: &Expr, more: &str) -> String {
        format!("{function}(({object} *){}{more})", self.scope.address(at))
    }

    fn on_lock(&self, lock: LockKind, action: &str, at: &Expr) -> String {
        match lock {
            LockKind::Mutex => self.posix(&format!("pthread_mutex_{action}"), "pthread_mutex_t", at, ""),
            LockKind::Spin => self.posix(&format!("pthread_spin_{action}"), "pthread_spinlock_t", at, ""),
        }
    }
}
