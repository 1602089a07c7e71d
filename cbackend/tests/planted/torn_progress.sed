s/before != after || before % 2/before != after/
