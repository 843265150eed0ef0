// A semaphore whose initialisation fails stays as it was.
//~ PROPERTY: assert
//~ SAFE
#include <assert.h>
#include <semaphore.h>

static sem_t s;

int main(void) {
    assert(sem_init(&s, 0, 3000000000u) == -1);
    assert(sem_trywait(&s) == -1);
    return 0;
}
