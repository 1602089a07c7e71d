s/if (bell && !first)/if (bell \&\& first)/
