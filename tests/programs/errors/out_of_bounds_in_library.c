// The report points into the program, not into the model of strcpy.
#include <string.h>
int main(void) {
    char small[4];
    strcpy(small, "too long"); //~ VIOLATION: bounds
    return small[0];
}
