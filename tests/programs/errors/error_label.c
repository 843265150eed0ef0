// `ERROR: ;` says that this place must not be reached; a label that has something to do says nothing.
int main(void) {
    int value = 3;
    if (value == 2)
        goto ERROR;
    if (value == 3)
        goto cleanup;
cleanup:
    value = 4;
    if (value == 4)
        goto ERROR;
    return 0;
ERROR:; //~ VIOLATION: ERROR is reached
    return 1;
}
