static int *escape(void) { int local = 5; int *p = &local; return p; }
int main(void) {
    int *p = escape();
    return *p; //~ VIOLATION: scope
}
