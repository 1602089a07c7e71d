s/if (found >> OWNER_BITS > number)/if (false)/
