s/return a->component < b->component;/return a->component > b->component;/
