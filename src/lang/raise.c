/* raise.c -- room lang: Diag -> Lua error object and back. An error object is a table with fields id, message, file,
   line, notes, where, traceback that also answers to the string methods: pcall(f) -> e; e:find("partition"). */
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

/* Our own chunks, and the installed files of the kernel library. */
static bool is_ours(const char *source) {
  return strncmp(source, "=nki/", 5) == 0 || strncmp(source, "@nki/", 5) == 0 ||
         (*source == '@' && strstr(source, "/nki/kernels/"));
}

/* The innermost line of the user's. Outside a kernel a file is written relative to its own folder. */
static void find_line(lua_State *L, Diag *d) {
  lua_Debug ar;
  const Drive *drive = lang_ctx(L)->drive;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline < 0 || is_ours(ar.source)) continue;
    char name[LANG_PATH], own[LANG_PATH];
    const char *dir = drive ? drive->dir : lang_dir_of(ar.source, own, sizeof own);
    diag_at(d, lang_relative(dir, ar.source, name, sizeof name), ar.currentline);
    return;
  }
}

static void set_string(lua_State *L, const char *key, const char *s, size_t n) {
  lua_pushlstring(L, s, n);
  lua_setfield(L, -2, key);
}

void lang_push_error(lua_State *L, Diag *d) {
  luaL_checkstack(L, 8, NULL);
  if (d->line == 0 && d->file[0] == '\0') find_line(L, d);
  lua_createtable(L, 0, 7);
  set_string(L, "id", err_name(d->id), strlen(err_name(d->id)));
  const char *message = diag_message(d);
  set_string(L, "message", message, strlen(message));
  set_string(L, "file", d->file, strlen(d->file));
  lua_pushinteger(L, d->line);
  lua_setfield(L, -2, "line");
  set_string(L, "notes", text_str(&d->notes), d->notes.len);
  set_string(L, "where", text_str(&d->where), d->where.len);
  /* Lua's own costs far more than the rest. A kernel's body has the chain of lines already, and may be one that tries
     thousands of calls under pcall; an error that leaves the body gets Lua's in drive_on_error. */
  const Drive *drive = lang_ctx(L)->drive;
  if (drive && drive->L == L && d->where.len) {
    set_string(L, "traceback", text_str(&d->where), d->where.len);
  } else {
    luaL_traceback(L, L, NULL, 0);
    lua_setfield(L, -2, "traceback");
  }
  luaL_setmetatable(L, LANG_ERROR);
  diag_clear(d);
}

int lang_raise(lua_State *L, Diag *d) {
  lang_push_error(L, d);
  return lua_error(L);
}

int lang_no_memory(lua_State *L) {
  LangCtx *c = lang_ctx(L);
  DIAG0(&c->diag, nomem);
  return lang_raise(L, &c->diag);
}

/* ---- the object as text ------------------------------------------------------------------------------------------ */

bool lang_is_error(lua_State *L, int i) {
  if (lua_type(L, i) != LUA_TTABLE || !lua_getmetatable(L, i)) return false;
  const void *mt = lua_topointer(L, -1);
  lua_pop(L, 1);
  return mt == lang_ctx(L)->mt_error;
}

/* Pushes field key of the table at i as a string, "" when it is none. */
static const char *push_field(lua_State *L, int i, const char *key) {
  i = lua_absindex(L, i);
  lua_pushstring(L, key);
  lua_rawget(L, i);
  if (lua_isstring(L, -1)) return lua_tostring(L, -1);
  lua_pop(L, 1);
  return lua_pushliteral(L, "");
}

/* file:line: id: message, then the lines that led there, then the notes. */
static void push_text(lua_State *L, int i) {
  i = lua_absindex(L, i);
  luaL_checkstack(L, 12, NULL);
  int top = lua_gettop(L);
  const char *file = push_field(L, i, "file"), *line = push_field(L, i, "line"), *id = push_field(L, i, "id");
  const char *message = push_field(L, i, "message"), *where = push_field(L, i, "where"),
             *notes = push_field(L, i, "notes");
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  if (*file) {
    luaL_addstring(&b, file);
    luaL_addchar(&b, ':');
    if (strcmp(line, "0") != 0) {
      luaL_addstring(&b, line);
      luaL_addchar(&b, ':');
    }
    luaL_addchar(&b, ' ');
  }
  luaL_addstring(&b, id);
  luaL_addstring(&b, ": ");
  luaL_addstring(&b, message);
  size_t head = strlen(file);
  bool own = *file && strncmp(where, file, head) == 0 && where[head] == ':'; /* its first line is the position again */
  for (const char *s = own ? where + strcspn(where, "\n") + (strchr(where, '\n') != NULL) : where; *s;) {
    size_t n = strcspn(s, "\n");
    luaL_addstring(&b, "\n  ");
    luaL_addlstring(&b, s, n);
    s += n + (s[n] == '\n');
  }
  if (*notes) {
    luaL_addchar(&b, '\n');
    luaL_addstring(&b, notes);
  }
  luaL_pushresult(&b);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

static int l_tostring(lua_State *L) {
  if (!lang_is_error(L, 1)) return lang_kind_error(L, 1, "error", "self", "an error object");
  push_text(L, 1);
  return 1;
}

static void push_operand(lua_State *L, int i) {
  if (lang_is_error(L, i)) {
    push_text(L, i);
  } else {
    luaL_tolstring(L, i, NULL);
  }
}

static int l_concat(lua_State *L) {
  push_operand(L, 1);
  push_operand(L, 2);
  lua_concat(L, 2);
  return 1;
}

static int l_len(lua_State *L) {
  if (!lang_is_error(L, 1)) return lang_kind_error(L, 1, "error", "self", "an error object");
  push_text(L, 1);
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
  return 1;
}

/* e:find(...): the string function with the object's text as its first argument. */
static int l_method(lua_State *L) {
  int n = lua_gettop(L);
  if (n > 0 && lang_is_error(L, 1)) {
    push_text(L, 1);
    lua_replace(L, 1);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L);
}

static int l_index(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, LUA_STRLIBNAME) != LUA_TTABLE) return 0;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TFUNCTION) return 0;
  lua_pushcclosure(L, l_method, 1);
  return 1;
}

void lang_open_errors(lua_State *L, LangCtx *c) {
  static const luaL_Reg meta[] = {
      {"__tostring", l_tostring}, {"__concat", l_concat}, {"__len", l_len}, {"__index", l_index}, {NULL, NULL}};
  luaL_newmetatable(L, LANG_ERROR);
  luaL_setfuncs(L, meta, 0);
  c->mt_error = lua_topointer(L, -1);
  lua_pop(L, 1);
}

/* ---- back to a Diag ---------------------------------------------------------------------------------------------- */

static void from_object(lua_State *L, int i, Diag *d) {
  luaL_checkstack(L, 8, NULL);
  int top = lua_gettop(L);
  ErrId id = err_by_name(push_field(L, i, "id"));
  diag_failf(d, id == ERR_none ? ERR_lua : id, "%s", push_field(L, i, "message"));
  text_puts(&d->notes, push_field(L, i, "notes"));
  const char *where = push_field(L, i, "where");
  text_puts(&d->where, *where ? where : push_field(L, i, "traceback"));
  const char *file = push_field(L, i, "file"), *line = push_field(L, i, "line");
  if (*file) diag_at(d, file, atoi(line));
  lua_settop(L, top);
}

/* "file:12: text" as Lua's error() makes it: the position goes to its fields. */
static void from_string(const char *s, Diag *d) {
  for (const char *p = strchr(s, ':'); p && !strchr("\n", *p); p = strchr(p + 1, ':')) {
    size_t digits = strspn(p + 1, "0123456789");
    if (digits == 0 || digits > 9 || strncmp(p + 1 + digits, ": ", 2) != 0 || p - s > 200) continue;
    char file[256];
    memcpy(file, s, (size_t)(p - s));
    file[p - s] = '\0';
    diag_at(d, file, atoi(p + 1));
    s = p + digits + 3;
    break;
  }
  diag_failf(d, strcmp(s, "not enough memory") == 0 ? ERR_nomem : ERR_lua, "%s", s);
}

void lang_to_diag(lua_State *L, int i, Diag *d) {
  i = lua_absindex(L, i);
  diag_clear(d);
  if (lang_is_error(L, i)) {
    from_object(L, i, d);
    return;
  }
  if (lua_type(L, i) == LUA_TSTRING) {
    from_string(lua_tostring(L, i), d);
  } else if (luaL_getmetafield(L, i, "__tostring") != LUA_TNIL) {
    lua_pop(L, 1);
    diag_failf(d, ERR_lua, "%s", luaL_tolstring(L, i, NULL));
    lua_pop(L, 1);
  } else {
    diag_failf(d, ERR_lua, "(error object is a %s value)", luaL_typename(L, i));
  }
  const LangCtx *c = lang_ctx(L);
  text_add(&d->where, text_str(&c->traceback), c->traceback.len);
}
