// scanf and its family on texts; strtod.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    int i = 0, j = 0, k = 0, r;
    unsigned u = 0;
    char s[32] = "", t[32] = "", c = 0;
    float f = 0;
    double d = 0;
    long double ld = 0;
    long l = 0;
    short h = 0;
    signed char hh = 0;
    r = sscanf("12 -34 0x1f", "%d %d %i", &i, &j, &k);
    printf("%d: %d %d %d\n", r, i, j, k);
    r = sscanf("077 08 99", "%i %i %d", &i, &j, &k);
    printf("%d: %d %d %d\n", r, i, j, k);
    r = sscanf("hello world!", "%s %[a-z]%c", s, t, &c);
    printf("%d: %s %s %c\n", r, s, t, c);
    r = sscanf("1.5 2.25e3 -0x1.8p1", "%f %lf %Lf", &f, &d, &ld);
    printf("%d: %f %f %Lf\n", r, f, d, ld);
    r = sscanf("123456", "%2d%3d%*c%d", &i, &j, &k);
    printf("%d: %d %d %d\n", r, i, j, k);
    r = sscanf("-1 70000 300", "%ld %hd %hhd", &l, &h, &hh);
    printf("%d: %ld %d %d\n", r, l, h, hh);
    r = sscanf("ff 0XFF 777", "%x %x %o", &i, &u, &j);
    printf("%d: %d %u %d\n", r, i, u, j);
    r = sscanf("", "%d", &i);
    printf("%d\n", r);
    r = sscanf("abc", "%d", &i);
    printf("%d\n", r);
    r = sscanf("5 apples", "%d oranges", &i);
    printf("%d %d\n", r, i);
    int n = 0;
    r = sscanf("10%  20", "%d%% %n%d", &i, &n, &j);
    printf("%d %d %d %d\n", r, i, n, j);
    r = sscanf("key=value;rest", "%[^=]=%[^;]", s, t);
    printf("%d %s %s\n", r, s, t);
    const char *texts[] = {"1", "  -2.5e-3xyz", "inf", "-INFINITY", "nan", "1e400", "0x1p-3", ".5.", "e5", "1e", "+7", "0x", "123456789.123456789", "4.9e-324", ""};
    for (int x = 0; x < sizeof texts / sizeof *texts; x++) {
        char *end;
        double v = strtod(texts[x], &end);
        float w = strtof(texts[x], NULL);
        long double y = strtold(texts[x], NULL);
        printf("%.17g %.9g %.21Lg %d\n", v, w, y, (int)(end - texts[x]));
    }
    printf("%g\n", atof("3.25abc"));
    return 0;
}
