/* The list that an owner gets of the roots that have ended. */
#include <stdlib.h>

#include "trees.h"

enum { SMALLEST_CAPACITY = 64 };

vp_endings *vp_endings_new(void)
{
    return calloc(1, sizeof(vp_endings));
}

void vp_endings_free(vp_endings *endings)
{
    free(endings->trees);
    free(endings->reasons);
    free(endings);
}

int vp_endings_reserve(vp_endings *endings, uint64_t more)
{
    uint64_t capacity = endings->capacity ? endings->capacity : SMALLEST_CAPACITY;
    while (capacity < endings->length + more)
        capacity *= 2;
    if (capacity == endings->capacity)
        return 0;
    uint64_t *trees = realloc(endings->trees, capacity * sizeof *trees);
    if (!trees)
        return VP_NO_MEMORY;
    endings->trees = trees;
    uint32_t *reasons = realloc(endings->reasons, capacity * sizeof *reasons);
    if (!reasons)
        return VP_NO_MEMORY;
    endings->reasons = reasons;
    endings->capacity = capacity;
    return 0;
}

void vp_table_tell(vp_table *table, vp_endings *endings, uint64_t tree, uint32_t reason)
{
    endings->trees[endings->length] = tree;
    endings->reasons[endings->length++] = reason;
    table->open--;
}
