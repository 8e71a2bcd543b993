/* whole.c -- the one source of its own that CMake asks of a library made wholly of archives. */
extern int nk_whole;
