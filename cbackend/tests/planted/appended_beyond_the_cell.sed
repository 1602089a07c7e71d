s/before + length > vp_heap_room(before)/before + length > 2 * vp_heap_room(before)/
