#include "draw.h"

#include <math.h>

static uint64_t random_word(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = (*seed ^ *seed >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 29;
}

uint32_t random_below(uint64_t *seed, uint32_t bound)
{
    return (uint32_t)((random_word(seed) >> 32) * bound >> 32);
}

double random_share(uint64_t *seed)
{
    return (double)(random_word(seed) >> 11) * 0x1p-53;
}

static uint32_t partitions_of(const load_shape *shape)
{
    return shape->partitions ? shape->partitions : 1;
}

uint32_t draw_partition_rows(const load_shape *shape)
{
    return shape->rows / partitions_of(shape);
}

/* At places that have nothing to do with their ranks. */
void draw_prepare(load *of)
{
    uint32_t rows = draw_partition_rows(&of->shape);
    uint64_t seed = 99;
    double sum = 0;
    for (uint32_t i = 0; i < rows; i++) {
        of->ranks[i] = i;
        sum += pow(i + 1, -of->shape.skew);
        of->shares[i] = sum;
    }
    for (uint32_t i = rows - 1; i > 0; i--) {
        uint32_t other = random_below(&seed, i + 1), row = of->ranks[i];
        of->ranks[i] = of->ranks[other];
        of->ranks[other] = row;
    }
}

/* Within a partition. */
static uint32_t draw_place(const load *of, uint64_t *seed)
{
    uint32_t low = 0, high = draw_partition_rows(&of->shape) - 1;
    double share = random_share(seed) * of->shares[high];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (of->shares[middle] < share)
            low = middle + 1;
        else
            high = middle;
    }
    return of->ranks[low];
}

/* The partitions of one transaction. */
typedef struct {
    uint32_t home, length; /* length: 0: any */
} reach;

static reach draw_reach(const load *of, uint64_t *seed)
{
    reach of_one = {random_below(seed, partitions_of(&of->shape)), 1};
    if (of->shape.partitions && random_share(seed) < of->shape.crossing)
        of_one.length = of->shape.length;
    return of_one;
}

static uint32_t draw_at(const load *of, uint64_t *seed, reach within, uint32_t place)
{
    uint32_t partitions = partitions_of(&of->shape);
    uint32_t partition = within.length ? (within.home + place % within.length) % partitions : random_below(seed, partitions);
    return draw_place(of, seed) * partitions + partition;
}

/* rows[count], which must differ from those before it. */
static void draw_another(const load *of, uint64_t *seed, reach within, uint32_t place, uint32_t *rows, uint32_t count)
{
    bool is_new;
    do {
        rows[count] = draw_at(of, seed, within, place);
        is_new = true;
        for (uint32_t k = 0; k < count; k++)
            is_new &= rows[k] != rows[count];
    } while (!is_new);
}

void draw_rows(const load *of, uint64_t *seed, uint32_t *rows, uint32_t count)
{
    reach within = draw_reach(of, seed);
    for (uint32_t i = 0; i < count; i++)
        draw_another(of, seed, within, i, rows, i);
}

void draw_pairs(const load *of, uint64_t *seed, uint32_t *first, uint32_t *second, uint32_t count)
{
    reach within = draw_reach(of, seed);
    for (uint32_t i = 0; i < count; i++) {
        draw_another(of, seed, within, 2 * i, first, i);
        draw_another(of, seed, within, 2 * i + 1, second, i);
    }
}

uint32_t draw_row(const load *of, uint64_t *seed)
{
    return draw_place(of, seed);
}
