s/last == other_last ? a < b : other_last/last != other_last \&\& other_last/
