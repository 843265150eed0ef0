// Marks of a block that its author expects to be atomic. They enforce nothing: `leno predict` looks whether it is.

void leno_expect_atomic_begin(void)
{
}

void leno_expect_atomic_end(void)
{
}
