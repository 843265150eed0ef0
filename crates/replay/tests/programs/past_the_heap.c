//~ OutOfBounds in main.1
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
char *text;
void *copy(void *unused) { strcpy(text, "seven!!"); return 0; }
int main(void) {
    pthread_t t;
    text = malloc(7);
    pthread_create(&t, 0, copy, 0);
    pthread_join(t, 0);
}
