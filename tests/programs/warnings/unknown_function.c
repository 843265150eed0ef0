// A function that nobody defines is reported once, by name.
extern int mystery(int);
int main(void) {
    int a = mystery(1); //~ WARN: mystery
    int b = mystery(2);
    return (a == a) - 1 + (b != b);
}
//~ NO-GCC: mystery does not exist
