/* What the processes of a test do at a named point of the backend: this one stops or dies, and leaves a mark. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crash.h"

void vp_crash_arm(const char *name, uint64_t passes, int number, const char *mark);

static struct {
    char name[64];
    char mark[1024];
    uint64_t left; /* 0: nothing happens */
    int number;
} armed;

/* The point of this name sends a signal to its process at so many passes, unless the mark is there already;
 * 0: never. */
void vp_crash_arm(const char *name, uint64_t passes, int number, const char *mark)
{
    armed.left = 0;
    strncpy(armed.name, name, sizeof armed.name - 1);
    strncpy(armed.mark, mark, sizeof armed.mark - 1);
    armed.number = number;
    armed.left = passes;
}

void vp_crash_point(const char *name)
{
    if (!armed.left || strcmp(name, armed.name) != 0 || --armed.left)
        return;
    int mark = open(armed.mark, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (mark < 0)
        return;
    dprintf(mark, "%d\n", (int)getpid());
    close(mark);
    kill(getpid(), armed.number);
}
