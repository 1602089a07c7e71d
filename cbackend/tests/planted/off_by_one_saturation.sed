s/ordinal >= field->reserved/ordinal > field->reserved/
