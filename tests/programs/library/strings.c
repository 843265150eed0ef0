// `str*` functions.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int sign(int n) { return (n > 0) - (n < 0); }

int main(void) {
    char buffer[32] = "hello";
    printf("%zu %zu\n", strlen(buffer), strnlen("abcdef", 3));
    strcat(buffer, ", ");
    strncat(buffer, "world!!!", 5);
    puts(buffer);
    printf("%d %d %d %d\n", sign(strcmp("a", "b")), sign(strcmp("b", "a")), strcmp("x", "x"), sign(strcmp("ab", "a")));
    printf("%d %d\n", strncmp("abcdef", "abcxyz", 3), sign(strncmp("abcdef", "abcxyz", 4)));
    printf("%d %d\n", strcasecmp("HeLLo", "hEllO"), strncasecmp("ABx", "aby", 2));
    printf("%s %s\n", strchr("a.b.c", '.'), strrchr("a.b.c", '.'));
    printf("%d %s\n", strchr("abc", 'z') == NULL, strchr("abc", 0) ? "end" : "none");
    printf("%s %d\n", strstr("finding needles", "need"), strstr("abc", "x") == NULL);
    char padded[8];
    memset(padded, '#', sizeof padded);
    strncpy(padded, "abc", 6);
    printf("%s %d %c\n", padded, padded[5], padded[6]);
    char *copy = strdup("duplicate");
    copy[0] = 'D';
    puts(copy);
    free(copy);
    char *part = strndup("partial", 4);
    puts(part);
    free(part);
    printf("%zu %zu\n", strspn("aabbcc", "ab"), strcspn("hello world", " w"));
    printf("%s\n", strpbrk("key=value", "=:"));
    char list[] = "one,two;;three";
    for (char *t = strtok(list, ",;"); t; t = strtok(NULL, ",;")) printf("[%s]", t);
    puts("");
    char again[] = "a b c", *save;
    for (char *t = strtok_r(again, " ", &save); t; t = strtok_r(NULL, " ", &save)) printf("(%s)", t);
    puts("");
    char *end = stpcpy(buffer, "stp");
    printf("%td %s\n", end - buffer, buffer);
    printf("%d\n", sign(strcmp("\xff", "a")));
    return 0;
}
