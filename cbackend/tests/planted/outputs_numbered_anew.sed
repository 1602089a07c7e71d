/^        else if ((bit > places->first_bit/,/^            return false;/d
