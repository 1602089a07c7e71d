s/return find_place(ring, tail, count, bytes, place); .* D1 .*/return false;/
