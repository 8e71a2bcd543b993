/* nl_half.c -- room lang: the rows of nki.language's functions that are written in Lua. */
#include "nl.h"

#define LIST(i) (1u << (i))
#define T(i) (1u << (i))

#define NH(name, tiles, lists, params, doc) static const char *const names_##name[] = {params NULL};
#define A(x) #x,
#define O(x) #x,
#include "nl_half.def"

#define NH(name, tiles, lists, params, doc) static const bool required_##name[] = {params false};
#define A(x) true,
#define O(x) false,
#include "nl_half.def"

const LRow nl_half_rows[] = {
#define NH(name_, tiles_, lists_, params_, doc_)                                                                    \
  {.module = "nl",                                                                                                  \
   .name = #name_,                                                                                                  \
   .arg = (int)(tiles_),                                                                                            \
   .bind = {"nl." #name_, names_##name_, required_##name_, (int)(sizeof names_##name_ / sizeof *names_##name_) - 1, \
            lists_},                                                                                                \
   .doc = doc_},
#define A(x)
#define O(x)
#include "nl_half.def"
};
const int nl_half_nrows = (int)(sizeof nl_half_rows / sizeof *nl_half_rows);

const LRow *nl_half_row(const char *name) { return lang_row_named(nl_half_rows, nl_half_nrows, name); }
