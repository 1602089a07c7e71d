s/while \(\(int32_t\)\(.*\) > 0\) \{/while (place != known) {/
