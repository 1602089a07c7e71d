s/if (!is_pending(snapshot, writer, changes, number))/if (note(snapshot, number) || !is_pending(snapshot, writer, changes, number))/
