/* env.h -- room base: environment variables for who asks for some at every call: getenv compares each name with all
 * there are. */
#ifndef NK_ENV_H
#define NK_ENV_H

/* values[k] becomes what getenv(names[k]) gives, for n names that all begin with 'N', in one pass. */
void env_read(const char *const *names, int n, const char **values);
#endif
