// Streams: writing, reading back, seeking, pushing back, end of file.
#include <stdio.h>
#include <string.h>

int main(void) {
    FILE *f = fopen("leno_test_file.txt", "w");
    if (!f) return 1;
    fprintf(f, "one %d\ntwo %s\n", 1, "zwei");
    fputs("three\n", f);
    fputc('4', f);
    putc('\n', f);
    fwrite("five\n", 1, 5, f);
    printf("%ld\n", ftell(f));
    fclose(f);
    f = fopen("leno_test_file.txt", "r");
    char line[64];
    while (fgets(line, sizeof line, f)) printf("[%zu] %s", strlen(line), line);
    printf("%d %d\n", !!feof(f), !!ferror(f));
    rewind(f);
    int c = fgetc(f);
    printf("%c %c\n", c, getc(f));
    ungetc('X', f);
    printf("%c\n", fgetc(f));
    fseek(f, 4, SEEK_SET);
    int n = 0;
    char word[16];
    printf("%d", fscanf(f, "%d %15s", &n, word));
    printf(" %d %s\n", n, word);
    fseek(f, -5, SEEK_END);
    char block[8] = {0};
    printf("%zu ", fread(block, 1, 8, f));
    printf("%s", block);
    printf("%d\n", fgetc(f));
    fclose(f);
    f = fopen("leno_test_file.txt", "a+");
    fputs("six", f);
    rewind(f);
    fgets(line, 4, f);
    puts(line);
    fseek(f, 0, SEEK_END);
    printf("%ld\n", ftell(f));
    fclose(f);
    printf("%d\n", remove("leno_test_file.txt"));
    printf("%d\n", fopen("leno_test_file.txt", "r") == NULL);
    fflush(stdout);
    fprintf(stderr, "to stderr\n");
    return 0;
}
