// Options of the command line: getopt. It stops at the first argument that is none (glibc puts these last), and prints nothing.

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

// Where in an argument the next option is.
static int next;

int getopt(int count, char *const *arguments, const char *options)
{
    if (optind == 0)
        optind = 1;
    const char *word = optind < count ? arguments[optind] : 0;
    if (next == 0) {
        if (!word || word[0] != '-' || word[1] == 0)
            return -1;
        if (word[1] == '-' && word[2] == 0) {
            optind++;
            return -1;
        }
        next = 1;
    }
    char option = word[next++];
    int is_last = word[next] == 0;
    const char *found = options[0] == ':' ? options + 1 : options;
    while (*found != 0 && *found != option)
        found++;
    optarg = 0;
    if (*found != 0 && option != ':' && found[1] == ':') {
        if (!is_last)
            optarg = (char *)word + next;
        else if (found[2] != ':' && optind + 1 < count)
            optarg = arguments[++optind];
        optind++;
        next = 0;
        if (!optarg && found[2] != ':') {
            optopt = option;
            return options[0] == ':' ? ':' : '?';
        }
        return option;
    }
    if (is_last) {
        optind++;
        next = 0;
    }
    if (*found == 0 || option == ':') {
        optopt = option;
        return '?';
    }
    return option;
}
