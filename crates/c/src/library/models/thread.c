// The life of a thread in a program that uses keys, cleanup handlers or cancellation.
//
// Threads then start here, and everything that has to happen at their end happens here. What belongs to a model that the
// program does not need is not loaded, and its call is nothing.

void __leno_run_cleanups(void);
void __leno_run_key_destructors(void);
void __leno_forget_thread(void);
void __leno_exit_thread(void *result);

void *__leno_thread_start(void *(*function)(void *), void *argument)
{
    void *result = function(argument);
    __leno_run_key_destructors();
    __leno_forget_thread();
    return result;
}

void __leno_thread_leave(void *result)
{
    __leno_run_cleanups();
    __leno_run_key_destructors();
    __leno_forget_thread();
    __leno_exit_thread(result);
}
