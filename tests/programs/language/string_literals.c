// String literals: escapes, concatenation, embedded zeros, prefixes, arrays made of them.
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static char array[] = "ab\0cd";
static char exact[3] = "xyz";
static char longer[8] = "hi";
static const char *joined = "one " "two " /* comment */
    "three";

int main(void) {
    printf("%zu %zu %zu\n", sizeof array, sizeof exact, strlen(longer));
    puts(joined);
    printf("%d %d %d %d\n", "\x41"[0], "\101"[0], "\e"[0], "\?"[0]);
    printf("%s", "tab\there \"quoted\" back\\slash\n");
    printf("%zu %d\n", sizeof "\1234", "\1234"[1]);
    printf("%zu\n", sizeof "\x1" "2");
    printf("%c %c\n", "hello"[1], 1["hello"]);
    wchar_t wide[] = L"wide\x263a";
    printf("%zu %x %zu\n", wcslen(wide), (unsigned)wide[4], sizeof wide[0]);
    printf("%zu %zu %zu\n", sizeof u"ab", sizeof U"ab", sizeof u8"ab");
    printf("%s %zu\n", __func__, sizeof __func__);
    printf("%zu\n", sizeof "é");
    char *p = &array[3];
    *p = 'C';
    printf("%s\n", p);
    static const char *table[] = {"alpha", "beta", [3] = "delta"};
    for (int i = 0; i < 4; i++) printf("%s ", table[i] ? table[i] : "-");
    puts("");
    char local[] = "local";
    local[0] = 'L';
    printf("%s %zu %.3s|\n", local, sizeof local, exact);
    printf("%d %d %d %d\n", 'a', '\n', 'ab', '\377');
    printf("%x %x\n", L'\u00e9', u'\xffff');
    return 0;
}
