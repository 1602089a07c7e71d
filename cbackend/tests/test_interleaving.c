/* The two looks of a refresh, with the producer getting in before and between them.
 *
 * Linked with --wrap=vp_progress_read: each look at the progress word is preceded and followed by one
 * step of the producer, which adds a tuple and then promises what lies behind it. */
#include "check.h"
#include "progress.h"
#include "reader.h"

static vp_ring *ring;
static int64_t step;

bool __real_vp_progress_read(const vp_progress *progress, vp_position *position);
bool __wrap_vp_progress_read(const vp_progress *progress, vp_position *position);

static void produce(void)
{
    step += 10;
    CHECK(add(ring, step, 1) >= 0);
    heartbeat(ring, at(step + 5));
}

bool __wrap_vp_progress_read(const vp_progress *progress, vp_position *position)
{
    produce();
    bool read = __real_vp_progress_read(progress, position);
    produce();
    return read;
}

int main(void)
{
    ring = new_ring(64, 64);
    vp_reader reader = vp_reader_of(ring, 0);
    for (int64_t expected = 10; expected <= 200; expected += 10) {
        if (!vp_reader_has_tuple(&reader))
            CHECK(vp_reader_refresh(&reader));
        CHECK(vp_reader_has_tuple(&reader));
        CHECK_EQUAL(reader.bound.ts, expected);
        vp_reader_advance(&reader, 1);
        vp_reader_release(&reader);
    }
    free_ring(ring);
}
