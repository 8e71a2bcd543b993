/* faults.h -- room lang: all faults of the arguments of one call. */
#ifndef NK_LANG_FAULTS_H
#define NK_LANG_FAULTS_H
#include "call.h"

enum { FAULTS_WANT = 96 };
/* What an argument of an instruction must be, for messages. */
const char *faults_want(const IrParam *p, char buf[FAULTS_WANT]);
/* Is tok (NULL: none) a value of p's kind, an operator, an activation or a member of its enumeration? */
bool faults_token_fits(const LToken *tok, const IrParam *p);
/* The dtype of the tile that the call writes, DT_none when there is none; its arguments are told as below. */
DType faults_written(lua_State *L, const OpInfo *op, int npos, int kw);
/* Raises the unknown keywords of the table at kw and the parameters that are missing; npos are given by position. */
int faults_call(lua_State *L, const BindSpec *spec, int npos, int kw);
/* Raises every argument of the wrong kind, missing or unknown; returns when there is none of these. npos arguments by
   position from 1 on, the keywords at kw (0: none). */
void faults_instruction(lua_State *L, const BindSpec *spec, const OpInfo *op, int npos, int kw);
#endif
