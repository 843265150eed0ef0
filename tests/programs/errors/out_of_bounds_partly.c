// Only the last byte of the access is outside.
static char bytes[7];
int main(void) {
    return *(int *)(bytes + 4); //~ VIOLATION: bounds
}
