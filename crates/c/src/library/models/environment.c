// The environment, which is empty when the program starts: getenv, setenv, unsetenv, putenv, clearenv.
//
// A text that was in the environment stays where it is, as in the C library: a thread that has its address may still use it.

void *malloc(unsigned long size);
int *__errno_location(void);

struct variable {
    char *text;
    struct variable *next;
};

static struct variable *variables;

static int failed(int error)
{
    *__errno_location() = error;
    return -1;
}

// The length of a name, up to an equals sign.
static unsigned long length_of(const char *name)
{
    unsigned long length = 0;
    while (name[length] && name[length] != '=')
        length++;
    return length;
}

static struct variable **find(const char *name, unsigned long length)
{
    struct variable **link = &variables;
    for (; *link; link = &(*link)->next) {
        unsigned long i = 0;
        while (i < length && (*link)->text[i] == name[i])
            i++;
        if (i == length && (*link)->text[length] == '=')
            break;
    }
    return link;
}

char *getenv(const char *name)
{
    unsigned long length = length_of(name);
    struct variable *found = *find(name, length);
    return found && length && !name[length] ? found->text + length + 1 : 0;
}

char *secure_getenv(const char *name)
{
    return getenv(name);
}

static int put(struct variable **link, char *text)
{
    if (!*link) {
        struct variable *new = malloc(sizeof(struct variable));
        if (!new)
            return failed(12);
        new->next = 0;
        *link = new;
    }
    (*link)->text = text;
    return 0;
}

int setenv(const char *name, const char *value, int overwrite)
{
    unsigned long length = name ? length_of(name) : 0, size = 0;
    if (!length || name[length])
        return failed(22);
    struct variable **link = find(name, length);
    if (*link && !overwrite)
        return 0;
    while (value[size])
        size++;
    char *text = malloc(length + size + 2);
    if (!text)
        return failed(12);
    for (unsigned long i = 0; i < length; i++)
        text[i] = name[i];
    text[length] = '=';
    for (unsigned long i = 0; i <= size; i++)
        text[length + 1 + i] = value[i];
    return put(link, text);
}

int unsetenv(const char *name)
{
    unsigned long length = name ? length_of(name) : 0;
    if (!length || name[length])
        return failed(22);
    struct variable **link = find(name, length);
    if (*link)
        *link = (*link)->next;
    return 0;
}

// The text itself becomes part of the environment.
int putenv(char *text)
{
    unsigned long length = length_of(text);
    if (!text[length])
        return unsetenv(text);
    return put(find(text, length), text);
}

int clearenv(void)
{
    variables = 0;
    return 0;
}
