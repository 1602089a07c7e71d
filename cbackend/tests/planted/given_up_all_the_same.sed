s/<= number) {/<= number + 1) {/
