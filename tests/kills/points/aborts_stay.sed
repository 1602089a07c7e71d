s:^#include "evaluation.h":#include "txundo.h"\n#define vp_undo_back(undo, length, begun) ((void)(begun), (length))\n&:
