// What is in buffers is not written out.
#include <stdio.h>
#include <unistd.h>
int main(void) {
    printf("not written");
    _exit(4);
}
