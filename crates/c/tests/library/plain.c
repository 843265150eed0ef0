// Libc that is modelled in C, through the whole front end.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

static int by_length(const void *a, const void *b)
{
    return (int)strlen(*(char *const *)a) - (int)strlen(*(char *const *)b);
}

int main(void)
{
    char text[64] = "the quick  brown fox", *rest, *word;
    const char *words[20];
    int count = 0;
    for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = strdup(word);
    words[count++] = "jumps";
    qsort(words, count, sizeof *words, by_length);
    for (int i = 0; i < count; i++)
        printf("%s%c", words[i], i + 1 < count ? ' ' : '\n');
    int numbers[40];
    for (int i = 0; i < 40; i++)
        numbers[i] = i * 37 % 40;
    extern int by_int(const void *, const void *);
    qsort(numbers, 40, sizeof(int), by_int);
    int wanted = 17;
    printf("%d %ld\n", numbers[39], (long)((int *)bsearch(&wanted, numbers, 40, sizeof(int), by_int) - numbers));
    long number = strtol("0x7f.", &rest, 0);
    printf("%d %ld %lu %c\n", atoi(" -42x"), number, strtoul("777", NULL, 8), *rest);
    errno = 0;
    long most = strtol("99999999999999999999", NULL, 10);
    printf("%d %d\n", most == LONG_MAX, errno == ERANGE);
    printf("%d %d %c %c %d\n", isalpha('x') != 0, isdigit('x'), toupper('x'), tolower('X'), isspace('\n') != 0);
    div_t d = div(-17, 5);
    printf("%d %d %ld\n", d.quot, d.rem, labs(-5L));
    int *grown = malloc(2 * sizeof(int));
    grown[0] = 1, grown[1] = 2;
    grown = realloc(grown, 100 * sizeof(int));
    grown[99] = 3;
    printf("%d\n", grown[0] + grown[1] + grown[99]);
    free(grown);
    int *zero = calloc(10, sizeof(int));
    printf("%d %d\n", zero[9], calloc((size_t)-1 / 2, 4) == NULL);
    free(zero);
    void *aligned;
    printf("%d", posix_memalign(&aligned, 64, 10));
    printf(" %d\n", (int)((unsigned long)aligned % 64));
    free(aligned);
    printf("%d %d %d\n", __builtin_clz(1u), __builtin_popcountll(~0ull), __builtin_ctzl(64));
    printf("%zu %d %s\n", wcslen(L"wide"), strcasecmp("HeLLo", "hEllO"), strstr("needle in hay", "in"));
    memmove(text + 1, "abcdef", 7);
    printf("%.3s %d %d\n", text + 1, memcmp("ab", "ac", 2) < 0, strcmp("b", "a") > 0);
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], "jumps") != 0)
            free((void *)words[i]);
    return 0;
}

int by_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
