s/if (atomic_compare_exchange_weak(&gate->claimed, &last, mine)) {/if (atomic_exchange(\&gate->claimed, mine) != mine) {/
