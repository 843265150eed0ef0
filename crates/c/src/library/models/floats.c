// Classes of floating-point numbers: what __builtin_fpclassify and __builtin_isnormal become.

int __leno_fpclassify(int nan, int infinite, int normal, int subnormal, int zero, double x)
{
    double size = x < 0 ? -x : x;
    if (x != x)
        return nan;
    if (size > 1.7976931348623157e308)
        return infinite;
    if (size == 0)
        return zero;
    return size < 2.2250738585072014e-308 ? subnormal : normal;
}

int __leno_isnormal(double x)
{
    return __leno_fpclassify(0, 0, 1, 0, 0, x);
}
