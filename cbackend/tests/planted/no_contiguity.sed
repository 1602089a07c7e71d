s/return at_the_beginning || .*/return (void)count, (void)at_the_beginning, (void)empty, next;/
