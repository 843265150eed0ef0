//~ WriteToConstant in main.1
#include <pthread.h>
char *text = "constant";
void *write(void *unused) { text[0] = 'C'; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, write, 0);
    pthread_join(t, 0);
}
