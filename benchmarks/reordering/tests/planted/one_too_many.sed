# A queue takes a tuple more than it has places.
s|== queue->room|== queue->room + 1|
