s/if (was == becomes || /if (was == becomes || becomes || /
