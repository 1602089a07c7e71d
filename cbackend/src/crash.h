/* Named points at which a test lets a process die. They cost nothing where the tests are not built. */
#ifndef VIPER_CRASH_H
#define VIPER_CRASH_H

#ifdef VP_CRASH_POINTS
void vp_crash_point(const char *name);
#define VP_CRASH_POINT(name) vp_crash_point(name)
#else
#define VP_CRASH_POINT(name) ((void)0)
#endif

#endif
