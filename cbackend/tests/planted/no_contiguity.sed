s/return count <= to_the_end ? next : next + to_the_end;/return (void)to_the_end, (void)count, next;/
