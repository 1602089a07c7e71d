#include "lanes.h"

#include "canonical.h"

IN_VECTORS void lanes_hash(uint64_t *words, int count, unsigned char kind)
{
    for (int i = 0; i < count; i++)
        words[i] = hash_of_word(words[i], kind);
}

void lanes_start(Lanes *lanes)
{
    Sip start = hash_start();
    for (int i = 0; i < LANES; i++) {
        lanes->v0[i] = start.v0;
        lanes->v1[i] = start.v1;
        lanes->v2[i] = start.v2;
        lanes->v3[i] = start.v3;
    }
}

static inline Sip lane(const Lanes *lanes, int i)
{
    return (Sip){lanes->v0[i], lanes->v1[i], lanes->v2[i], lanes->v3[i]};
}

IN_VECTORS void lanes_word(Lanes *lanes, const uint64_t *restrict words, int count)
{
    for (int i = 0; i < count; i++) {
        Sip state = sip_word(lane(lanes, i), words[i]);
        lanes->v0[i] = state.v0;
        lanes->v1[i] = state.v1;
        lanes->v2[i] = state.v2;
        lanes->v3[i] = state.v3;
    }
}

IN_VECTORS void lanes_end(const Lanes *lanes, uint64_t last, uint64_t *restrict hashes, int count)
{
    for (int i = 0; i < count; i++)
        hashes[i] = sip_end(lane(lanes, i), last);
}
