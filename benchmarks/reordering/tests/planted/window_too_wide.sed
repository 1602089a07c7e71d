# An output is taken for a slot that may not be empty yet.
s|first \+ count > next \+ buffer->slot_count|first + count > next + buffer->slot_count + 1|
