static void (*callback)(void);
int main(void) {
    callback(); //~ VIOLATION: null
}
