#include "there_is_no_such_header.h" //~ ERROR: there_is_no_such_header.h
int main(void) { return 0; }
