// The life of a thread in a program that uses keys, cleanup handlers or cancellation.
//
// Threads then start here, and everything that has to happen at their end happens here. A call of __leno_if_loaded_x
// calls __leno_x if the program needs the model that defines it, and otherwise is nothing.

void __leno_if_loaded_run_cleanups(void);
void __leno_if_loaded_run_key_destructors(void);
void __leno_if_loaded_forget_thread(void);
void __leno_exit_thread(void *result);

void *__leno_thread_start(void *(*function)(void *), void *argument)
{
    void *result = function(argument);
    __leno_if_loaded_run_key_destructors();
    __leno_if_loaded_forget_thread();
    return result;
}

void __leno_thread_leave(void *result)
{
    __leno_if_loaded_run_cleanups();
    __leno_if_loaded_run_key_destructors();
    __leno_if_loaded_forget_thread();
    __leno_exit_thread(result);
}
