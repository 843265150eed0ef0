// Runs the models next to the C library on random inputs and compares results and memory. Model functions are compiled
// with `leno_` before their names.
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <wctype.h>
#include <search.h>

#define MODEL(name) extern __typeof__(name) leno_##name
MODEL(memcpy); MODEL(memmove); MODEL(mempcpy); MODEL(memset); MODEL(memcmp); MODEL(memchr); MODEL(memrchr); MODEL(memccpy);
MODEL(memmem); MODEL(bcopy); MODEL(bzero);
MODEL(strlen); MODEL(strnlen); MODEL(strcpy); MODEL(strncpy); MODEL(stpcpy); MODEL(stpncpy); MODEL(strcat); MODEL(strncat);
MODEL(strcmp); MODEL(strncmp); MODEL(strcasecmp); MODEL(strncasecmp); MODEL(strchr); MODEL(strrchr); MODEL(strchrnul);
MODEL(strstr); MODEL(strcasestr); MODEL(strspn); MODEL(strcspn); MODEL(strpbrk); MODEL(strtok_r); MODEL(strsep);
MODEL(strdup); MODEL(strndup); MODEL(realloc); MODEL(reallocarray); MODEL(posix_memalign); MODEL(aligned_alloc);
MODEL(qsort); MODEL(qsort_r); MODEL(bsearch); MODEL(lfind);
MODEL(abs); MODEL(labs); MODEL(llabs); MODEL(div); MODEL(ldiv); MODEL(lldiv);
MODEL(strtol); MODEL(strtoul); MODEL(strtoll); MODEL(strtoull); MODEL(atoi); MODEL(atol); MODEL(atoll);
MODEL(isalpha); MODEL(isdigit); MODEL(isalnum); MODEL(isspace); MODEL(isupper); MODEL(islower); MODEL(ispunct); MODEL(isprint);
MODEL(isgraph); MODEL(iscntrl); MODEL(isxdigit); MODEL(isblank); MODEL(tolower); MODEL(toupper);
MODEL(__ctype_b_loc); MODEL(__ctype_tolower_loc); MODEL(__ctype_toupper_loc);
MODEL(iswalpha); MODEL(iswdigit); MODEL(iswxdigit); MODEL(iswspace); MODEL(iswpunct); MODEL(iswcntrl); MODEL(iswprint);
MODEL(iswgraph); MODEL(iswblank); MODEL(towlower); MODEL(towupper);
MODEL(wcslen); MODEL(wcscpy); MODEL(wcsncpy); MODEL(wcscmp); MODEL(wcsncmp); MODEL(wcschr); MODEL(wcsrchr); MODEL(wcsstr);
MODEL(wcscat); MODEL(wcsncat); MODEL(wmemmove); MODEL(wmemset);
MODEL(mbstowcs); MODEL(wcstombs); MODEL(mbtowc); MODEL(wctomb);
MODEL(ffs); MODEL(ffsl); MODEL(ffsll); MODEL(__errno_location);
extern size_t leno_strlcpy(char *, const char *, size_t), leno_strlcat(char *, const char *, size_t);
extern int leno___leno_popcount32(unsigned), leno___leno_popcount64(unsigned long long), leno___leno_clz32(unsigned),
    leno___leno_clz64(unsigned long long), leno___leno_ctz32(unsigned), leno___leno_ctz64(unsigned long long),
    leno___leno_parity32(unsigned), leno___leno_parity64(unsigned long long), leno___leno_clrsb32(int),
    leno___leno_clrsb64(long long);
extern unsigned short leno___leno_bswap16(unsigned short);
extern unsigned leno___leno_bswap32(unsigned);
extern unsigned long long leno___leno_bswap64(unsigned long long);
extern int leno_atexit(void (*)(void)), leno_on_exit(void (*)(int, void *), void *);
// Nothing that overlaps is copied here.
void __leno_assert_apart(int is_apart)
{
    if (!is_apart)
        abort();
}

// What becomes instructions, or is not modelled: nothing here comes to it.
void __leno_unmodelled_cancel(void)
{
    abort();
}

void __leno_unmodelled_signal(void)
{
    abort();
}

int __leno_sem_wait(void *semaphore)
{
    abort();
}

int __leno_sem_post(void *semaphore)
{
    abort();
}

extern void leno___leno_run_exit_handlers(int);
extern int leno_pthread_key_create(unsigned *, void (*)(void *)), leno_pthread_key_delete(unsigned),
    leno_pthread_setspecific(unsigned, const void *);
extern void *leno_pthread_getspecific(unsigned);
extern void leno___leno_run_key_destructors(void), leno___leno_cleanup_push(void *, void (*)(void *), void *),
    leno___leno_cleanup_pop(void *), leno___leno_run_cleanups(void);

// What models ask of Leno itself.
unsigned __leno_nondet_uint(void) { return (unsigned)random() * 2654435761u; }
unsigned char __leno_nondet_uchar(void) { return (unsigned char)random(); }
int __leno_nondet_int(void) { return (int)__leno_nondet_uint(); }
unsigned long long __leno_nondet_ulonglong(void) { return (unsigned long long)__leno_nondet_uint() << 32 | __leno_nondet_uint(); }
void __leno_use(int value) {}
void __leno_assert_room(int has_room) { if (!has_room) exit(4); }
int __leno_is_time(const long *time) { return time[1] >= 0 && time[1] < 1000000000; }
void __leno_atomic_begin(void) {}
void __leno_atomic_end(void) {}
void __leno_assume(int c) { if (!c) exit(3); }
void __leno_exit_now(int s) { exit(s); }
void __leno_exit_thread(void *r) {}
void __leno_if_loaded_run_cleanups(void) {}
void __leno_if_loaded_run_key_destructors(void) {}
void __leno_if_loaded_forget_thread(void) {}
void __leno_if_loaded_set_stack(unsigned long size) {}
void __leno_if_loaded_await_semaphore(void *semaphore, int clock, const long *deadline) {}
int __leno_attribute(const int *attr) { return *attr; }
void __leno_if_loaded_cancellation_point(void) {}
unsigned long __leno_self(void) { return 1; }
unsigned long __leno_object_size(const void *p) { return malloc_usable_size((void *)p); }
void *__leno_allocate(unsigned long size, unsigned long align) { return memalign(align, size); }
void __leno_spawn(unsigned long *h, void *(*f)(void *, void *, void *), void *a, void *b, void *c) { *h = 2; }
int __leno_cond_sleep(void *c, void *m) { return 0; }
int __leno_cond_wake(void *c, void *m) { return 0; }
int __leno_cond_wake_timed(void *c, void *m, const void *d) { return 0; }
int __leno_cond_relock(void *m) { return 0; }
int __leno_cond_broadcast(void *c) { return 0; }
int __leno_sem_trywait(void *s) { return -1; }

static int failures;
static long checks;
#define CHECK(name, condition) do { checks++; if (!(condition)) { if (failures++ < 20) printf("%s, line %d: %s\n", name, __LINE__, #condition); } } while (0)
#define SIGN(x) (((x) > 0) - ((x) < 0))

static unsigned long long seed = 88172645463325252ull;
static unsigned next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16);
}
static unsigned below(unsigned n) { return next() % n; }

enum { SIZE = 96 };
static _Alignas(8) char a[SIZE], b[SIZE], c[SIZE], d[SIZE];

static void random_text(char *s, unsigned longest)
{
    static const char letters[] = "abcABC \t./\xe4z";
    unsigned length = below(longest + 1);
    for (unsigned i = 0; i < length; i++)
        s[i] = letters[below(sizeof letters - 1)];
    s[length] = 0;
}

static void memory(void)
{
    for (int i = 0; i < SIZE; i++)
        a[i] = b[i] = (char)below(4);
    unsigned from = below(40), to = below(40), n = below(50);
    int which = below(8), byte = below(4);
    switch (which) {
    case 0: CHECK("memmove", leno_memmove(a + to, a + from, n) == a + to); memmove(b + to, b + from, n); break;
    case 1: to = from + n < 50 ? 50 : 0; n = n > 40 ? 40 : n; from = to ? 0 : 50;
        CHECK("memcpy", leno_memcpy(a + to, a + from, n) == a + to); memcpy(b + to, b + from, n); break;
    case 2: CHECK("memset", leno_memset(a + to, byte, n) == a + to); memset(b + to, byte, n); break;
    case 3: CHECK("memchr", (void *)leno_memchr(a + from, byte, n) == memchr(a + from, byte, n));
        CHECK("memrchr", (void *)leno_memrchr(a + from, byte, n) == memrchr(a + from, byte, n)); break;
    case 4: CHECK("memcmp", SIGN(leno_memcmp(a + from, a + to, n)) == SIGN(memcmp(a + from, a + to, n))); break;
    case 5: { void *x = leno_memccpy(c, a + from, byte, n), *y = memccpy(d, b + from, byte, n);
        CHECK("memccpy", (x ? (char *)x - c : -1) == (y ? (char *)y - d : -1)); break; }
    case 6: CHECK("memmem", leno_memmem(a, 60, a + from, n % 4) == memmem(a, 60, a + from, n % 4)); break;
    case 7: leno_bcopy(a + from, a + to, n); bcopy(b + from, b + to, n); leno_bzero(a + from, n / 2); bzero(b + from, n / 2); break;
    }
    CHECK("memory", memcmp(a, b, SIZE) == 0);
}

static void strings(void)
{
    char s[48], t[48], set[8];
    random_text(s, 40);
    random_text(t, below(2) ? 3 : 40);
    random_text(set, 4);
    if (below(2)) { memcpy(t, s, sizeof s); if (below(2)) t[below(40)] = 'x'; t[41] = 0; }
    unsigned n = below(48);
    int ch = below(4) ? s[below(strlen(s) + 1)] : 'q';
    CHECK("strlen", leno_strlen(s) == strlen(s));
    CHECK("strnlen", leno_strnlen(s, n) == strnlen(s, n));
    CHECK("strcmp", SIGN(leno_strcmp(s, t)) == SIGN(strcmp(s, t)));
    CHECK("strncmp", SIGN(leno_strncmp(s, t, n)) == SIGN(strncmp(s, t, n)));
    CHECK("strcasecmp", SIGN(leno_strcasecmp(s, t)) == SIGN(strcasecmp(s, t)));
    CHECK("strncasecmp", SIGN(leno_strncasecmp(s, t, n)) == SIGN(strncasecmp(s, t, n)));
    CHECK("strchr", leno_strchr(s, ch) == strchr(s, ch));
    CHECK("strrchr", leno_strrchr(s, ch) == strrchr(s, ch));
    CHECK("strchrnul", leno_strchrnul(s, ch) == strchrnul(s, ch));
    CHECK("strstr", leno_strstr(s, set) == strstr(s, set));
    CHECK("strcasestr", leno_strcasestr(s, set) == strcasestr(s, set));
    CHECK("strspn", leno_strspn(s, set) == strspn(s, set));
    CHECK("strcspn", leno_strcspn(s, set) == strcspn(s, set));
    CHECK("strpbrk", leno_strpbrk(s, set) == strpbrk(s, set));
    memset(a, 7, SIZE); memset(b, 7, SIZE);
    strcpy(a, s); strcpy(b, s);
    switch (below(7)) {
    case 0: CHECK("strcpy", leno_strcpy(a, t) == a); strcpy(b, t); break;
    case 1: CHECK("stpcpy", leno_stpcpy(a, t) - a == stpcpy(b, t) - b); break;
    case 2: leno_strncpy(a, t, n); strncpy(b, t, n); break;
    case 3: CHECK("stpncpy", leno_stpncpy(a, t, n) - a == stpncpy(b, t, n) - b); break;
    case 4: leno_strcat(a, t); strcat(b, t); break;
    case 5: leno_strncat(a, t, n); strncat(b, t, n); break;
    case 6: { // No strlcpy here to compare with: what it is said to do.
        size_t r = leno_strlcpy(a, t, n); CHECK("strlcpy", r == strlen(t)); if (n) { CHECK("strlcpy", strlen(a) == (r < n ? r : n - 1) && !strncmp(a, t, n - 1)); }
        strcpy(a, s); r = leno_strlcat(a, t, SIZE); CHECK("strlcat", r == strlen(s) + strlen(t)); strcat(b, t); memcpy(a, b, SIZE); break; }
    }
    CHECK("string copies", memcmp(a, b, SIZE) == 0);
    char *p = leno_strdup(s), *q = leno_strndup(s, n);
    CHECK("strdup", strcmp(p, s) == 0 && strlen(q) == strnlen(s, n) && strncmp(q, s, strlen(q)) == 0);
    free(p); free(q);
    strcpy(a, s); strcpy(b, s);
    char *rest_a = 0, *rest_b = 0, *x = a, *y = b;
    do {
        x = leno_strtok_r(x, set, &rest_a); y = strtok_r(y, set, &rest_b);
        CHECK("strtok_r", (x ? x - a : -1) == (y ? y - b : -1));
        if (!x || !y) break;
        x = y = 0;
    } while (1);
    CHECK("strtok_r", memcmp(a, b, sizeof s) == 0);
    strcpy(a, s); strcpy(b, s); rest_a = a; rest_b = b;
    do {
        x = leno_strsep(&rest_a, set); y = strsep(&rest_b, set);
        CHECK("strsep", (x ? x - a : -1) == (y ? y - b : -1) && (rest_a ? rest_a - a : -1) == (rest_b ? rest_b - b : -1));
    } while (x && y);
}

static void numbers(void)
{
    static const char *const starts[] = {"", " ", "\t\n", "0", "0x", "0X", "-", "+", "-0x", " -0", "+0", "99999999999", "-9223372036854775", "922337203685477580", "184467440737095516", "x", "- ", "0xg", "2147483647", "-2147483648"};
    char text[80];
    int n = sprintf(text, "%s", starts[below(20)]);
    for (unsigned i = below(14); i > 0; i--)
        text[n++] = "0123456789abcdefzZ .x"[below(21)];
    text[n] = 0;
    static const int bases[] = {0, 0, 10, 10, 10, 16, 8, 2, 36, 3, 1, 37, -1};
    int base = bases[below(13)];
#define COMPARE(f) do { \
        char *e1 = (char *)1, *e2 = (char *)1; errno = 0; *leno___errno_location() = 0; \
        __typeof__(f(text, 0, 10)) x = leno_##f(text, &e1, base), y = f(text, &e2, base); \
        CHECK(#f, x == y && e1 == e2 && errno == *leno___errno_location()); \
        if (x != y || e1 != e2 || errno != *leno___errno_location()) printf("  on \"%s\" base %d: end %ld/%ld errno %d/%d\n", text, base, (long)(e1 - text), (long)(e2 - text), *leno___errno_location(), errno); \
    } while (0)
    COMPARE(strtol); COMPARE(strtoul); COMPARE(strtoll); COMPARE(strtoull);
    CHECK("atoi", leno_atoi(text) == atoi(text));
    CHECK("atol", leno_atol(text) == atol(text));
    CHECK("atoll", leno_atoll(text) == atoll(text));
    unsigned long long x = (unsigned long long)next() << 32 | next();
    x >>= below(64);
    unsigned y = (unsigned)x;
    CHECK("popcount", leno___leno_popcount32(y) == __builtin_popcount(y) && leno___leno_popcount64(x) == __builtin_popcountll(x));
    CHECK("parity", leno___leno_parity32(y) == __builtin_parity(y) && leno___leno_parity64(x) == __builtin_parityll(x));
    CHECK("clz", y == 0 ? leno___leno_clz32(y) == 32 : leno___leno_clz32(y) == __builtin_clz(y));
    CHECK("clz", x == 0 ? leno___leno_clz64(x) == 64 : leno___leno_clz64(x) == __builtin_clzll(x));
    CHECK("ctz", y == 0 ? leno___leno_ctz32(y) == 32 : leno___leno_ctz32(y) == __builtin_ctz(y));
    CHECK("ctz", x == 0 ? leno___leno_ctz64(x) == 64 : leno___leno_ctz64(x) == __builtin_ctzll(x));
    CHECK("clrsb", leno___leno_clrsb32(y) == __builtin_clrsb(y) && leno___leno_clrsb64(x) == __builtin_clrsbll(x));
    CHECK("ffs", leno_ffs(y) == ffs(y) && leno_ffsl(x) == ffsl(x) && leno_ffsll(x) == ffsll(x));
    CHECK("bswap", leno___leno_bswap16(y) == __builtin_bswap16(y) && leno___leno_bswap32(y) == __builtin_bswap32(y) && leno___leno_bswap64(x) == __builtin_bswap64(x));
    int i = (int)y >> 1, by = (int)below(2000) - 1000;
    if (by == 0) by = 1;
    CHECK("abs", leno_abs(i) == abs(i) && leno_labs(i) == labs(i) && leno_llabs(-(long long)(x >> 1)) == llabs(-(long long)(x >> 1)));
    div_t d1 = leno_div(i, by), d2 = div(i, by);
    ldiv_t l1 = leno_ldiv(i, by), l2 = ldiv(i, by);
    lldiv_t m1 = leno_lldiv(x, by), m2 = lldiv(x, by);
    CHECK("div", d1.quot == d2.quot && d1.rem == d2.rem && l1.quot == l2.quot && l1.rem == l2.rem && m1.quot == m2.quot && m1.rem == m2.rem);
}

typedef struct { char key; unsigned char data[10]; } odd;
static int by_key(const void *x, const void *y) { return *(const char *)x - *(const char *)y; }
static int by_int(const void *x, const void *y) { int l = *(const int *)x, r = *(const int *)y; return (l > r) - (l < r); }
static int by_int_with(const void *x, const void *y, void *sign) { return by_int(x, y) * *(int *)sign; }

static void sorting(void)
{
    unsigned n = below(60);
    int x[60], y[60];
    odd p[60], q[60];
    for (unsigned i = 0; i < n; i++) {
        x[i] = y[i] = (int)below(50);
        p[i].key = (char)below(5);
        memset(p[i].data, i, sizeof p[i].data);
        q[i] = p[i];
    }
    leno_qsort(x, n, sizeof *x, by_int); qsort(y, n, sizeof *y, by_int);
    leno_qsort(p, n, sizeof *p, by_key);
    CHECK("qsort", memcmp(x, y, n * sizeof *x) == 0);
    for (unsigned i = 1; i < n; i++)
        CHECK("qsort is stable", p[i - 1].key < p[i].key || (p[i - 1].key == p[i].key && p[i - 1].data[0] < p[i].data[0]));
    int wanted = (int)below(50);
    CHECK("bsearch", leno_bsearch(&wanted, x, n, sizeof *x, by_int) == bsearch(&wanted, x, n, sizeof *x, by_int));
    size_t count = n;
    CHECK("lfind", leno_lfind(&wanted, x, &count, sizeof *x, by_int) == lfind(&wanted, x, &count, sizeof *x, by_int));
    int minus = -1;
    leno_qsort_r(x, n, sizeof *x, by_int_with, &minus);
    for (unsigned i = 0; i < n; i++)
        CHECK("qsort_r", x[i] == y[n - 1 - i]);
}

static void characters(void)
{
    for (int i = -1; i < 256; i++) {
#define CLASS(f) CHECK(#f, leno_##f(i) == (f)(i))
        CLASS(isalpha); CLASS(isdigit); CLASS(isalnum); CLASS(isspace); CLASS(isupper); CLASS(islower); CLASS(ispunct);
        CLASS(isprint); CLASS(isgraph); CLASS(iscntrl); CLASS(isxdigit); CLASS(isblank); CLASS(tolower); CLASS(toupper);
#define WIDE(f) CHECK(#f, !leno_##f(i) == !f(i))
        WIDE(iswalpha); WIDE(iswdigit); WIDE(iswxdigit); WIDE(iswspace); WIDE(iswpunct); WIDE(iswcntrl); WIDE(iswprint);
        WIDE(iswgraph); WIDE(iswblank);
        CHECK("towlower", leno_towlower(i) == towlower(i) && leno_towupper(i) == towupper(i));
    }
    for (int i = -128; i < 256; i++) {
        CHECK("__ctype_b_loc", (*leno___ctype_b_loc())[i] == (*__ctype_b_loc())[i]);
        CHECK("__ctype_tolower_loc", (*leno___ctype_tolower_loc())[i] == (*__ctype_tolower_loc())[i]);
        CHECK("__ctype_toupper_loc", (*leno___ctype_toupper_loc())[i] == (*__ctype_toupper_loc())[i]);
    }
}

static void wide(void)
{
    wchar_t s[80], t[80], u[80], v[80];
    unsigned n = below(20);
    for (int i = 0; i < 80; i++) { s[i] = L'a' + below(3); t[i] = below(8) ? s[i] : L'x'; u[i] = v[i] = 9; }
    s[below(30)] = 0; s[30] = 0; t[below(30)] = 0; t[30] = 0;
    CHECK("wcslen", leno_wcslen(s) == wcslen(s));
    CHECK("wcscmp", SIGN(leno_wcscmp(s, t)) == SIGN(wcscmp(s, t)) && SIGN(leno_wcsncmp(s, t, n)) == SIGN(wcsncmp(s, t, n)));
    CHECK("wcschr", leno_wcschr(s, L'b') == wcschr(s, L'b') && leno_wcsrchr(s, L'b') == wcsrchr(s, L'b'));
    wchar_t w[3] = {t[0], t[1] ? t[2] : 0, 0};
    CHECK("wcsstr", leno_wcsstr(s, w) == wcsstr(s, w));
    leno_wcscpy(u, s); wcscpy(v, s); leno_wcscat(u, t); wcscat(v, t);
    CHECK("wcscat", wmemcmp(u, v, 80) == 0);
    leno_wcsncpy(u, t, n); wcsncpy(v, t, n);
    u[40] = v[40] = 0; u[60] = v[60] = 0;
    leno_wcsncat(u, t, n); wcsncat(v, t, n);
    CHECK("wcsncat", wmemcmp(u, v, 80) == 0);
    leno_wmemmove(u + n, u + 5, 30); wmemmove(v + n, v + 5, 30);
    CHECK("wmemmove", wmemcmp(u, v, 80) == 0);
    char text[10], back[12] = {0}, back2[12] = {0};
    random_text(text, 8);
    wchar_t x[12] = {0}, y[12] = {0};
    CHECK("mbstowcs", leno_mbstowcs(x, text, n % 12) == mbstowcs(y, text, n % 12) || strchr(text, '\xe4'));
    if (!strchr(text, '\xe4')) {
        CHECK("mbstowcs", wmemcmp(x, y, 12) == 0);
        CHECK("wcstombs", leno_wcstombs(back, y, 11) == wcstombs(back2, y, 11) && strcmp(back, back2) == 0);
    }
}

static void allocation(void)
{
    unsigned n = below(100) + 1, m = below(200) + 1;
    unsigned char *p = leno_realloc(0, n);
    for (unsigned i = 0; i < n; i++)
        p[i] = i;
    p = leno_realloc(p, m);
    for (unsigned i = 0; i < n && i < m; i++)
        CHECK("realloc", p[i] == i);
    CHECK("realloc", leno_realloc(p, 0) == 0);
    *leno___errno_location() = 0;
    CHECK("reallocarray", leno_reallocarray(0, ~0ul / 2, 3) == 0 && *leno___errno_location() == ENOMEM);
    void *q = 0;
    size_t align = 1ul << below(14);
    int error = leno_posix_memalign(&q, align, m);
    CHECK("posix_memalign", error == (align < sizeof(void *) ? EINVAL : 0) && ((uintptr_t)q & (align - 1)) == 0);
    free(q);
    q = leno_aligned_alloc(align, m);
    CHECK("aligned_alloc", q && ((uintptr_t)q & (align - 1)) == 0);
    free(q);
    CHECK("aligned_alloc", leno_aligned_alloc(24, m) == 0);
}

static char order[200];
static void first(void) { strcat(order, "1"); }
static void second(void) { strcat(order, "2"); leno_atexit(first); }
static void third(int status, void *arg) { strcat(order, status == 5 ? arg : "?"); }
static void note(void *value) { strcat(order, value); }
static unsigned again_key;
static int rounds;
static void again(void *value) { rounds++; leno_pthread_setspecific(again_key, value); }

static void handlers(void)
{
    for (int i = 0; i < 40; i++)
        leno_atexit(first);
    leno_atexit(second);
    leno_on_exit(third, "3");
    leno___leno_run_exit_handlers(5);
    char expected[60] = "32";
    for (int i = 0; i < 41; i++)
        strcat(expected, "1");
    CHECK("atexit", strcmp(order, expected) == 0);

    order[0] = 0;
    unsigned k[1024], extra, deleted;
    for (int i = 0; i < 1024; i++)
        CHECK("pthread_key_create", leno_pthread_key_create(&k[i], i == 1023 ? again : note) == 0);
    CHECK("pthread_key_create", leno_pthread_key_create(&extra, 0) == EAGAIN);
    again_key = k[1023];
    deleted = k[3];
    leno_pthread_setspecific(k[1], "x");
    leno_pthread_setspecific(deleted, "y");
    leno_pthread_setspecific(k[4], "z");
    leno_pthread_setspecific(again_key, "w");
    CHECK("pthread_getspecific", strcmp(leno_pthread_getspecific(k[4]), "z") == 0 && leno_pthread_getspecific(k[5]) == 0);
    CHECK("pthread_key_delete", leno_pthread_key_delete(deleted) == 0 && leno_pthread_key_delete(deleted) == EINVAL);
    CHECK("pthread_getspecific", leno_pthread_getspecific(deleted) == 0 && leno_pthread_setspecific(deleted, "a") == EINVAL);
    CHECK("pthread_key_create", leno_pthread_key_create(&extra, note) == 0 && extra == deleted && leno_pthread_getspecific(extra) == 0);
    leno___leno_run_key_destructors();
    CHECK("key destructors", strcmp(order, "xz") == 0 && rounds == 4);

    order[0] = 0;
    void *buffers[4][8];
    leno___leno_cleanup_push(buffers[0], note, "a");
    leno___leno_cleanup_push(buffers[1], note, "b");
    leno___leno_cleanup_pop(buffers[1]);
    leno___leno_cleanup_push(buffers[2], note, "c");
    leno___leno_cleanup_push(buffers[3], note, "d");
    leno___leno_run_cleanups();
    CHECK("cleanup handlers", strcmp(order, "dca") == 0);
}

int main(void)
{
    for (int i = 0; i < 20000; i++) {
        memory();
        strings();
        numbers();
    }
    for (int i = 0; i < 2000; i++) {
        sorting();
        wide();
        allocation();
    }
    characters();
    handlers();
    printf("%ld checks, %d failures\n", checks, failures);
    return failures != 0;
}
