s/^            if (begin > first)$/            if (begin >= merge->number)/
