// Designators: out of order, nested, overriding, ranges, and the positions that follow them.
#include <stdio.h>

struct point { int x, y, z; };
struct shape { const char *name; struct point corner[3]; union { int count; float scale; } u; };

static int table[10] = {[3] = 3, 4, [8] = 8, [0] = 100, 101};
static int ranges[8] = {[0 ... 3] = 1, [2 ... 5] = 2, 9};
static struct shape shapes[] = {
    [1] = {.name = "triangle", .corner = {[2] = {1, 2, 3}, [0].y = 7}, .u.count = 5},
    [0].name = "nothing", [0].corner[1].z = 42,
};
static int grid[2][3] = {[1] = {[1] = 5}, [0][2] = 6};
static struct point old_style = {y: 2, x: 1};
enum colour { RED, GREEN, BLUE };
static const char *names[] = {[BLUE] = "blue", [RED] = "red"};

int main(void) {
    for (int i = 0; i < 10; i++) printf("%d ", table[i]);
    puts("");
    for (int i = 0; i < 8; i++) printf("%d ", ranges[i]);
    puts("");
    printf("%zu %s %s\n", sizeof shapes / sizeof *shapes, shapes[0].name, shapes[1].name);
    for (int s = 0; s < 2; s++)
        for (int c = 0; c < 3; c++)
            printf("%d,%d,%d ", shapes[s].corner[c].x, shapes[s].corner[c].y, shapes[s].corner[c].z);
    printf("\n%d %d %d %d\n", grid[0][0], grid[0][2], grid[1][1], grid[1][2]);
    printf("%d %d %d\n", old_style.x, old_style.y, old_style.z);
    printf("%s %d %s\n", names[0], names[1] == NULL, names[2]);
    int n = 4;
    struct point local = {.z = n * 2, .x = n, n + 1};
    int array[5] = {[1] = n, n + 1, [4] = n + 2};
    printf("%d %d %d %d %d %d\n", local.x, local.y, local.z, array[0], array[2], array[4]);
    struct point moved = {.y = 1, .y = 2, .x = 5};
    printf("%d %d\n", moved.x, moved.y);
    return 0;
}
//~ STDOUT: 100 101 0 3 4 0 0 0 8 0
//~ STDOUT: 1 1 2 2 2 2 9 0
//~ STDOUT: 2 nothing triangle
//~ STDOUT: 0,0,0 0,0,42 0,0,0 0,7,0 0,0,0 1,2,3
//~ STDOUT: 0 6 5 0
//~ STDOUT: 1 2 0
//~ STDOUT: red 1 blue
//~ STDOUT: 4 5 8 0 5 6
//~ STDOUT: 5 2
