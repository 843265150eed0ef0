// A set of small numbers, a flag for each. With -DCHECK_THEN_ACT, `insert` looks before it writes.
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool present[8];

bool insert(int key) {
#ifdef CHECK_THEN_ACT
    if (atomic_load(&present[key]))
        return false;
    atomic_store(&present[key], true);
    return true;
#else
    return !atomic_exchange(&present[key], true);
#endif
}

bool removed(int key) {
    return atomic_exchange(&present[key], false);
}

bool contains(int key) {
    return atomic_load(&present[key]);
}
