s/if (job->has_others && job->deciders == 0) {/if (job->has_others \&\& job->deciders == 0 \&\& job->parts == 0) {/
