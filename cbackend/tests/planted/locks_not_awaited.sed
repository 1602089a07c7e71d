s/^            wait_for(scheme, &parts\[i\]);/            (void)wait_for;/
