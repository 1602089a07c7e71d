#include "heap.h"

uint64_t ro_heap_size(uint64_t room)
{
    return sizeof(ro_heap) + room * sizeof(ro_early);
}

ro_heap *ro_heap_format(void *memory, uint64_t room, ro_downstream downstream)
{
    ro_heap *made = memory;
    pthread_mutex_init(&made->lock, NULL);
    made->downstream = downstream;
    made->room = room;
    return made;
}

static void push(ro_heap *heap, ro_early output)
{
    uint64_t place = heap->length++;
    for (uint64_t above; place > 0 && output.first < heap->outputs[above = (place - 1) / 2].first; place = above)
        heap->outputs[place] = heap->outputs[above];
    heap->outputs[place] = output;
}

static ro_early pop(ro_heap *heap)
{
    ro_early least = heap->outputs[0], last = heap->outputs[--heap->length];
    uint64_t place = 0;
    for (uint64_t below; (below = 2 * place + 1) < heap->length; place = below) {
        if (below + 1 < heap->length && heap->outputs[below + 1].first < heap->outputs[below].first)
            below++;
        if (last.first <= heap->outputs[below].first)
            break;
        heap->outputs[place] = heap->outputs[below];
    }
    heap->outputs[place] = last;
    return least;
}

bool ro_heap_send(ro_heap *heap, uint64_t first, uint64_t count, uint64_t output)
{
    pthread_mutex_lock(&heap->lock);
    bool fits = first + count <= heap->next + heap->room;
    if (fits)
        push(heap, (ro_early){first, count, output});
    while (heap->length > 0 && heap->outputs[0].first == heap->next) {
        ro_early due = pop(heap);
        heap->downstream.send(heap->downstream.context, due.first, due.count, due.output);
        heap->next += due.count;
    }
    pthread_mutex_unlock(&heap->lock);
    return fits;
}
