/* A position that is just being written is never read, and never waited for. */
#include "check.h"
#include "progress.h"

static void test_latest_counts(void)
{
    vp_progress progress = {0};
    vp_position read;
    atomic_store(&progress.version, UINT64_MAX - 3); /* even, next to its wrap-around */
    for (int64_t ts = 1; ts < 6; ts++) {
        vp_progress_publish(&progress, (vp_position){ts, 2, 3, 0});
        CHECK(vp_progress_read(&progress, &read));
        CHECK_EQUAL(vp_compare(read, (vp_position){ts, 2, 3, 0}), 0);
    }
}

static void test_a_writer_that_stopped_half_way(void)
{
    vp_progress progress = {0};
    vp_progress_publish(&progress, (vp_position){1, 9, 9, 0});
    atomic_fetch_add(&progress.version, 1);
    atomic_store(&progress.ts, 2);
    vp_position known = at(-5);
    CHECK(!vp_progress_read(&progress, &known));
    CHECK_EQUAL(known.ts, -5);
}

int main(void)
{
    test_latest_counts();
    test_a_writer_that_stopped_half_way();
}
