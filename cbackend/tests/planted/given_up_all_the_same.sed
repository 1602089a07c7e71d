s/>> OWNER_BITS <= number) {/>> OWNER_BITS <= number + 1) {/
