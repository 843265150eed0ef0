// Lists, trees and a hash table on the heap.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree { int key; struct tree *child[2]; };
static struct tree *insert(struct tree *t, int key) {
    if (!t) { t = calloc(1, sizeof *t); t->key = key; return t; }
    t->child[key > t->key] = insert(t->child[key > t->key], key);
    return t;
}
static int walk(const struct tree *t, int *out) {
    if (!t) return 0;
    int n = walk(t->child[0], out);
    out[n++] = t->key;
    return n + walk(t->child[1], out + n);
}
static void drop(struct tree *t) { if (t) { drop(t->child[0]); drop(t->child[1]); free(t); } }

struct list { struct list *next; int v; };
static struct list *reverse(struct list *l) {
    struct list *r = NULL;
    while (l) { struct list *next = l->next; l->next = r; r = l; l = next; }
    return r;
}

struct entry { const char *key; int count; struct entry *next; };
static struct entry *buckets[8];
static unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h; }
static struct entry *lookup(const char *key) {
    struct entry **e = &buckets[hash(key) % 8];
    for (; *e; e = &(*e)->next) if (strcmp((*e)->key, key) == 0) return *e;
    *e = malloc(sizeof **e);
    **e = (struct entry){.key = key};
    return *e;
}

int main(void) {
    struct tree *root = NULL;
    int keys[] = {5, 2, 8, 1, 9, 3}, out[6];
    for (int i = 0; i < 6; i++) root = insert(root, keys[i]);
    int n = walk(root, out);
    for (int i = 0; i < n; i++) printf("%d ", out[i]);
    drop(root);
    struct list *l = NULL;
    for (int i = 0; i < 5; i++) { struct list *node = malloc(sizeof *node); node->v = i; node->next = l; l = node; }
    l = reverse(l);
    for (struct list *p = l; p; p = p->next) printf("%d", p->v);
    puts("");
    while (l) { struct list *next = l->next; free(l); l = next; }
    const char *words[] = {"the", "cat", "the", "dog", "cat", "the"};
    for (int i = 0; i < 6; i++) lookup(words[i])->count++;
    printf("%d %d %d %d\n", lookup("the")->count, lookup("cat")->count, lookup("dog")->count, lookup("cow")->count);
    for (int i = 0; i < 8; i++) while (buckets[i]) { struct entry *e = buckets[i]; buckets[i] = e->next; free(e); }
    return 0;
}
//~ STDOUT: 1 2 3 5 8 9 01234
//~ STDOUT: 3 2 1 0
