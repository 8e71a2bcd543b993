/* folder.h -- room base: folders: what a path is, making one with those above it, the files in it. */
#ifndef NK_FOLDER_H
#define NK_FOLDER_H
#include "arena.h"
#include "diag.h"

/* OTHER: a pipe, a device ...; HIDDEN: nobody can say, as when a folder above it may not be searched. */
typedef enum PathKind { PATH_NONE, PATH_FILE, PATH_FOLDER, PATH_OTHER, PATH_HIDDEN } PathKind;
PathKind path_kind(const char *path);
/* Makes the folder and those above it that are missing; one that is there is fine. ERR_folder_make. */
bool folder_make(const char *path, Diag *d);
/* The names in a folder that end so, in the order of their bytes; n: how many. NULL when it cannot be read or memory is
 * out. */
const char **folder_list(const char *path, const char *ending, Arena *arena, size_t *n);
#endif
