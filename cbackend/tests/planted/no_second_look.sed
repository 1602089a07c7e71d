s/if (!find_place(ring, tail, count, bytes, place)) \/\* D1 \*\//if (ring)/
