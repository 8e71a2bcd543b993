/* context_test.c -- spec/api: contexts, scripts, sessions, errors. */
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include "support.h"

static void versions_and_names_are_told(void **state) {
  (void)state;
  assert_int_equal(nkl_version_number(), NKL_VERSION_NUMBER);
  assert_string_equal(nkl_version_string(), NKL_VERSION_STRING);
  assert_string_equal(nkl_status_name(NKL_ERR_TRACE), "NKL_ERR_TRACE");
  assert_string_equal(nkl_status_name(NKL_ERR_INTERNAL), "NKL_ERR_INTERNAL");
  assert_string_equal(nkl_status_name((nkl_status)-99), "NKL_ERR_UNKNOWN");
  assert_int_equal(nkl_dtype_parse("bf16", 4), NKL_BF16);
  assert_int_equal(nkl_dtype_parse("nothing", 7), NKL_INVALID);
  assert_string_equal(nkl_dtype_name(NKL_F8E5M2), "float8_e5m2");
  assert_int_equal(nkl_dtype_size(NKL_BF16), 2);
  assert_int_equal(nkl_dtype_size(NKL_INVALID), 0);
  assert_int_equal(nkl_dtype_size((nkl_dtype)77), 0);
}

static void a_context_opens_and_closes(void **state) {
  (void)state;
  nkl_ctx *c;
  assert_int_equal(nkl_open(&c, NULL), NKL_OK);
  assert_int_equal(nkl_last_error(c)->status, NKL_OK);
  assert_string_equal(nkl_last_error(c)->message, "");
  nkl_close(c);
  nkl_close(NULL);
}

static void wrong_options_are_refused_and_the_message_can_be_read(void **state) {
  (void)state;
  nkl_ctx *c;
  nkl_options o = {.struct_size = 0};
  assert_int_equal(nkl_open(&c, &o), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "nkl_options_init");
  nkl_close(c);
  nkl_options_init(&o);
  o.flags = 1u << 9;
  assert_int_equal(nkl_open(&c, &o), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "unknown flag");
  /* Such a context refuses everything, and does not crash. */
  nkl_kernel *k;
  nkl_buf b;
  int incomplete;
  assert_int_equal(load(c, "return 1"), NKL_ERR_ARG);
  assert_int_equal(nkl_get_kernel(c, NULL, &k), NKL_ERR_ARG);
  assert_null(k);
  assert_int_equal(nkl_eval(c, "1", 1, "=x", &incomplete, &b), NKL_ERR_ARG);
  nkl_interrupt(c);
  nkl_close(c);
  nkl_options_init(&o);
  o.target = "trn9";
  assert_int_equal(nkl_open(&c, &o), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_unknown_platform_target", "trn9");
  nkl_close(c);
}

/* One context with a folder of its own choice: what it says, and the config of the kernel. */
static void specialize_in(const char *dir, Said *warn, nkl_buf *config) {
  nkl_ctx *c;
  nkl_kernel *k;
  nkl_program *p;
  nkl_request r;
  nkl_options o;
  nkl_options_init(&o);
  o.target = "trn2";
  o.flags = NKL_OPT_EXPLAIN_CACHE;
  o.cache_dir = dir;
  o.warn = hear;
  o.warn_ud = warn;
  warn->n = 0;
  assert_int_equal(nkl_open(&c, &o), NKL_OK);
  load_ok(c,
          "local nl = require 'nki.language' return require 'nki'.jit(function(n)\n"
          "local t = nl.ndarray({n, n}, nl.float32, {buffer = nl.shared_hbm}) nl.store(t, nl.zeros({n, n}, nl.float32))"
          " return t end)");
  assert_int_equal(nkl_get_kernel(c, NULL, &k), NKL_OK);
  const nkl_arg n = {.name = "n", .kind = NKL_ARG_INT, .u.i = 4};
  nkl_request_init(&r);
  r.kernel = k;
  r.args = &n;
  r.nargs = 1;
  if (nkl_specialize(c, &r, &p) != NKL_OK) fail_msg("%s", nkl_last_error(c)->message);
  nkl_kernel_release(k);
  nkl_close(c);
  assert_int_equal(nkl_program_render(p, NKL_FMT_BACKEND_CONFIG, config, NULL), NKL_OK);
  nkl_program_release(p);
}

static void a_folder_keeps_specializations(void **state) {
  (void)state;
  char dir[] = "/tmp/nkilua-api-XXXXXX", line[80];
  Said warn;
  nkl_buf first, second, third;
  assert_non_null(mkdtemp(dir));
  specialize_in(dir, &warn, &first);
  assert_string_equal(warn.text, "cache: script: miss: first call; kept in memory and on disk\n");
  specialize_in(dir, &warn, &second);
  assert_string_equal(warn.text, "cache: script: hit on disk\n");
  assert_string_equal(first.data, second.data);
  setenv("NKILUA_CACHE_DIR", dir, 1);
  specialize_in("", &warn, &third); /* none, whatever the environment says */
  assert_string_equal(warn.text, "cache: script: miss: first call; kept in memory\n");
  nkl_buf_free(&third);
  specialize_in(NULL, &warn, &third);
  assert_string_equal(warn.text, "cache: script: hit on disk\n");
  unsetenv("NKILUA_CACHE_DIR");
  nkl_buf_free(&first);
  nkl_buf_free(&second);
  nkl_buf_free(&third);
  snprintf(line, sizeof line, "rm -rf '%s'", dir);
  assert_int_equal(system(line), 0);
}

static void errors_of_scripts_say_what_and_where(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  assert_int_equal(load(c, "\n\nerror('boom')"), NKL_ERR_SCRIPT);
  assert_error(c, NKL_ERR_SCRIPT, "err_lua", "boom");
  assert_string_equal(nkl_last_error(c)->message, "boom");
  assert_string_equal(nkl_last_error(c)->file, "script.lua");
  assert_int_equal(nkl_last_error(c)->line, 3);
  assert_non_null(strstr(nkl_last_error(c)->traceback, "script.lua:3: in main chunk"));
  assert_int_equal(load(c, "error('one\\ntwo\\nthree', 0)"), NKL_ERR_SCRIPT);
  assert_string_equal(nkl_last_error(c)->message, "one");
  assert_string_equal(nkl_last_error(c)->notes, "two\nthree");
  assert_int_equal(load(c, "x x"), NKL_ERR_SYNTAX);
  assert_error(c, NKL_ERR_SYNTAX, "err_lua_syntax", "syntax error near 'x'");
  assert_string_equal(nkl_last_error(c)->traceback, "");
  assert_int_equal(load(c, "error({})"), NKL_ERR_SCRIPT);
  assert_error(c, NKL_ERR_SCRIPT, "err_lua", "(error object is a table value)");
  assert_int_equal(load(c, "error(setmetatable({}, {__tostring = function() error('again') end}))"), NKL_ERR_SCRIPT);
  assert_int_equal(load(c, "return 1"), NKL_OK);
  assert_int_equal(nkl_last_error(c)->status, NKL_OK);
  assert_int_equal(nkl_load_file(c, "no/such/file.lua"), NKL_ERR_IO);
  assert_error(c, NKL_ERR_IO, "err_script_file", "no/such/file.lua");
  assert_int_equal(load(c, "\x1bLua"), NKL_ERR_SYNTAX); /* never bytecode */
  nkl_close(c);
}

static void errors_of_kernels_keep_their_id_and_line(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  assert_int_equal(load(c, "local nl = require 'nki.language'\nnl.load(3)"), NKL_ERR_TRACE);
  assert_error(c, NKL_ERR_TRACE, "err_nki_api_outside_of_nki_kernel", "nl.load");
  assert_int_equal(nkl_last_error(c)->line, 2);
  assert_int_equal(load(c, "require 'nki.language'.laod"), NKL_ERR_SYNTAX);
  assert_int_equal(load(c, "return require 'nki.language'.laod"), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_no_such_name", "did you mean nl.load?");
  nkl_close(c);
}

static void scripts_get_arguments(void **state) {
  (void)state;
  Said out = {.n = 0};
  nkl_ctx *c = open_quiet(&out, NULL);
  const char *argv[] = {"prog", "-x", "script", "one", "two"};
  nkl_script s;
  nkl_script_init(&s);
  s.source = "print(arg[0], arg[-1], arg[-2], arg[1], arg[2], #arg, ...)";
  s.source_len = strlen(s.source);
  s.argv = argv;
  s.argc = 5;
  s.script_index = 2;
  assert_int_equal(nkl_load(c, &s), NKL_OK);
  assert_string_equal(out.text, "script\t-x\tprog\tone\ttwo\t2\tone\ttwo\n");
  s.script_index = 6;
  assert_int_equal(nkl_load(c, &s), NKL_ERR_ARG);
  s.struct_size = 0;
  assert_int_equal(nkl_load(c, &s), NKL_ERR_ARG);
  nkl_script_init(&s);
  assert_int_equal(nkl_load(c, &s), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_api_use", "neither path nor source");
  out.n = 0;
  assert_int_equal(nkl_set_arg(c, argv, 5, 0), NKL_OK);
  load_ok(c, "print(#arg, arg[0])");
  assert_string_equal(out.text, "4\tprog\n");
  nkl_close(c);
}

static void modules_are_required(void **state) {
  (void)state;
  Said out = {.n = 0};
  nkl_ctx *c = open_quiet(&out, NULL);
  assert_int_equal(nkl_require(c, "string", "s"), NKL_OK);
  assert_int_equal(nkl_require(c, "math-v2", NULL), NKL_ERR_SCRIPT);
  assert_error(c, NKL_ERR_SCRIPT, "err_lua", "module 'math-v2' not found");
  assert_int_equal(nkl_require(c, "nki", NULL), NKL_OK);
  load_ok(c, "print(s == string, nki == require 'nki')");
  assert_string_equal(out.text, "true\ttrue\n");
  nkl_close(c);
}

static void warnings_go_where_they_were_asked_to(void **state) {
  (void)state;
  Said warn = {.n = 0};
  nkl_ctx *c = open_quiet(NULL, &warn);
  load_ok(c, "warn('silent')");
  assert_int_equal(warn.n, 0);
  nkl_warnings(c, 1);
  load_ok(c, "warn('a', 'b')");
  assert_string_equal(warn.text, "Lua warning: ab\n");
  load_ok(c, "warn('@off') warn('silent')");
  assert_string_equal(warn.text, "Lua warning: ab\n");
  nkl_close(c);
}

static void the_memory_of_scripts_can_be_limited(void **state) {
  (void)state;
  nkl_ctx *c;
  nkl_options o;
  nkl_options_init(&o);
  o.memory_limit = 4 << 20;
  assert_int_equal(nkl_open(&c, &o), NKL_OK);
  assert_int_equal(load(c, "local t = {} while true do t[#t + 1] = {} end"), NKL_ERR_LIMIT);
  assert_error(c, NKL_ERR_LIMIT, "err_memory_limit", "4194304");
  load_ok(c, "collectgarbage() return string.rep('x', 1000)"); /* it goes on */
  nkl_close(c);
}

static size_t held(void) {
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

/* Strings of one length after another: the room of those that are gone serves the next. */
static void the_limit_is_one_of_memory_in_fact(void **state) {
  (void)state;
  nkl_ctx *c;
  nkl_options o;
  size_t before = held();
  nkl_options_init(&o);
  o.memory_limit = 4 << 20;
  assert_int_equal(nkl_open(&c, &o), NKL_OK);
  load_ok(c,
          "for size = 8, 232, 16 do\n"
          "  local t = {}\n"
          "  for i = 1, (2 << 20) // (size + 64) do t[i] = ('x'):rep(size) .. i end\n"
          "  t = nil\n"
          "  collectgarbage()\n"
          "end");
  size_t grown = held() - before;
  if (grown > (6 << 20)) fail_msg("a limit of 4 MiB, and %zu bytes are held", grown);
  nkl_close(c);
}

/* ---- sessions ------------------------------------------------------------------------------------------------ */

static void shows(nkl_ctx *c, const char *text, const char *want) {
  nkl_buf out;
  int incomplete;
  assert_int_equal(nkl_eval(c, text, strlen(text), "=stdin", &incomplete, &out), NKL_OK);
  assert_int_equal(incomplete, want == NULL);
  assert_string_equal(out.size ? out.data : "", want ? want : "");
  nkl_buf_free(&out);
}

static void chunks_are_evaluated_as_in_a_session(void **state) {
  (void)state;
  Said out = {.n = 0};
  nkl_ctx *c = open_quiet(&out, NULL);
  nkl_buf b;
  int incomplete;
  shows(c, "t", "nil\n");
  shows(c, "1 + 1, 'a'", "2\ta\n");
  shows(c, "=7", "7\n");
  shows(c, "x = 3", "");
  shows(c, "x", "3\n");
  shows(c, "", "");
  shows(c, "{1, 2, a = {b = 'q'}}", "{1, 2, a = {b = \"q\"}}\n");
  shows(c, "for i = 1, 3 do", NULL);
  shows(c, "for i = 1, 3 do\nprint(i)\nend", "");
  assert_string_equal(out.text, "1\n2\n3\n");
  shows(c, "f(", NULL);
  shows(c, "s = [[a", NULL);
  assert_int_equal(nkl_eval(c, "x = \"hello\nworld\"", 16, "=stdin", &incomplete, &b), NKL_ERR_SYNTAX);
  assert_int_equal(incomplete, 0);
  assert_error(c, NKL_ERR_SYNTAX, "err_lua_syntax", "unfinished string");
  assert_int_equal(nkl_eval(c, "error('x', 0)", 13, "=stdin", &incomplete, &b), NKL_ERR_SCRIPT);
  assert_null(b.data);
  shows(c, "local t = {} t.t = t return t", "{t = {(itself)}}\n");
  out.n = 0;
  shows(c, "help('nl.load')", "");
  assert_non_null(strstr(out.text, "nl.load(src, [dtype])"));
  nkl_close(c);
}

static void completes(nkl_ctx *c, const char *text, const char *want) {
  nkl_buf out;
  assert_int_equal(nkl_complete(c, text, strlen(text), &out), NKL_OK);
  assert_string_equal(out.data, want);
  nkl_buf_free(&out);
}

static void names_are_completed_without_running_anything(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  load_ok(c,
          "nl = require 'nki.language'\n"
          "trap = setmetatable({}, {__index = function() error 'ran' end, __pairs = function() error 'ran' end})\n"
          "trap2 = setmetatable({inner = 1}, {__index = {outer = print}})\n"
          "word = 'x'\n");
  completes(c, "string.re", "string.rep\nstring.reverse");
  completes(c, "x = tab", "table");
  completes(c, "print(mat", "math");
  completes(c, "whi", "while");
  completes(c, "nl.loa", "nl.load\nnl.load_transpose2d");
  completes(c, "trap.", "");
  completes(c, "trap.x.y", "");
  completes(c, "trap2.", "trap2.inner\ntrap2.outer");
  completes(c, "trap2:", "trap2:outer");
  completes(c, "word:up", "word:upper");
  completes(c, "", "");
  completes(c, "no.such.thing", "");
  nkl_close(c);
}

static void help_is_given_on_topics(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  static const char *const topics[][2] = {{"nisa.activation", "nisa.activation(dst, op, data"},
                                          {"activation", "nisa.activation("},
                                          {"nl.add", "operator"},
                                          {"bfloat16", "1-8-7"},
                                          {"tensor.permute", "Reorders"},
                                          {"err_nomem", "out of memory"}};
  nkl_buf b;
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
    assert_int_equal(nkl_help(c, topics[i][0], &b), NKL_OK);
    if (!strstr(b.data, topics[i][1])) fail_msg("%s: %s", topics[i][0], b.data);
    nkl_buf_free(&b);
  }
  assert_int_equal(nkl_help(c, NULL, &b), NKL_OK);
  assert_non_null(strstr(b.data, " nc_matmul"));
  nkl_buf_free(&b);
  assert_int_equal(nkl_help(c, "nl.laod", &b), NKL_ERR_ARG);
  assert_error(c, NKL_ERR_ARG, "err_no_topic", "did you mean 'nl.load'?");
  nkl_close(c);
}

static void files_are_linted(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  static const char path[] = "lint_of_a_context_test.lua", source[] = "total = 3";
  nkl_buf b;
  size_t n = 7;
  assert_int_equal(nkl_file_write(c, path, source, sizeof source - 1), NKL_OK);
  for (int json = 0; json < 2; json++) {
    assert_int_equal(nkl_lint(c, path, json, &b, &n), NKL_OK);
    assert_int_equal(n, 1);
    assert_non_null(
        strstr(b.data, json ? "\"line\":1,\"column\":1,\"id\":\"lint_global\"" : ".lua:1:1: lint_global: "));
    nkl_buf_free(&b);
  }
  assert_int_equal(nkl_file_write(c, path, "x = = 3", 7), NKL_OK);
  assert_int_equal(nkl_lint(c, path, 0, &b, &n), NKL_ERR_SYNTAX);
  assert_int_equal(n, 0);
  assert_error(c, NKL_ERR_SYNTAX, "err_lua_syntax", "near '='");
  assert_int_equal(remove(path), 0);
  assert_int_equal(nkl_lint(c, path, 0, &b, &n), NKL_ERR_IO);
  nkl_close(c);
}

static void tables_are_rendered(void **state) {
  (void)state;
  nkl_error_buf err = NKL_ERROR_BUF_INIT;
  nkl_buf b;
  for (int t = NKL_TABLE_OPS; t <= NKL_TABLE_LANGUAGE; t++)
    for (int json = 0; json < 2; json++) {
      assert_int_equal(nkl_render_table((nkl_table)t, json, &b, &err), NKL_OK);
      assert_true(b.size > 100);
      assert_int_equal(b.data[0] == '[', json);
      nkl_buf_free(&b);
    }
  for (int t = NKL_TABLE_STUB_NKI; t <= NKL_TABLE_STUB_COLLECTIVES; t++) {
    assert_int_equal(nkl_render_table((nkl_table)t, 0, &b, &err), NKL_OK);
    assert_memory_equal(b.data, "---@meta nki", 12);
    nkl_buf_free(&b);
    assert_int_equal(nkl_render_table((nkl_table)t, 1, &b, &err), NKL_ERR_ARG);
    assert_non_null(strstr(err.error.message, "there is no JSON of them"));
    nkl_error_buf_free(&err);
  }
  assert_int_equal(nkl_render_table((nkl_table)99, 0, &b, &err), NKL_ERR_ARG);
  assert_string_equal(err.error.id, "err_api_use");
  nkl_error_buf_free(&err);
}

/* ---- interrupts ---------------------------------------------------------------------------------------------- */

static void *stop_soon(void *c) {
  usleep(50000);
  nkl_interrupt(c);
  return NULL;
}

static void stops(nkl_ctx *c, const char *source) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, stop_soon, c), 0);
  nkl_status s = load(c, source);
  pthread_join(thread, NULL);
  assert_int_equal(s, NKL_ERR_CANCELLED);
  assert_error(c, NKL_ERR_CANCELLED, "err_interrupted", "interrupted");
  load_ok(c, "local n = 0 for i = 1, 1000 do n = n + i end assert(n == 500500)"); /* and nothing is left of it */
  load_ok(c,
          "assert(coroutine.wrap(function() local n = 0 for i = 1, 1000 do n = n + i end return n end)() == 500500)");
}

static void another_thread_stops_a_script(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  stops(c, "while true do end");
  stops(c, "coroutine.wrap(function() while true do end end)()");
  stops(c, "while true do pcall(function() while true do end end) end");
  stops(c, "while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end");
  stops(c,
        "while true do local t = {} for i = 1, 100 do t[i] = coroutine.wrap(function() coroutine.yield() end) t[i]() "
        "end end");
  /* Also the coroutine between the main one and the one that runs. */
  stops(c,
        "coroutine.wrap(function() while true do pcall(coroutine.wrap(function() while true do end end)) end end)()");
  nkl_interrupt(c); /* with nothing running, the next call is stopped */
  assert_int_equal(load(c, "while true do end"), NKL_ERR_CANCELLED);
  load_ok(c, "return 1");
  nkl_close(c);
}

static void coroutines_behave_as_lua_has_them(void **state) {
  (void)state;
  nkl_ctx *c = open_quiet(NULL, NULL);
  load_ok(c,
          "local co = coroutine.wrap(function(a, b) local c = coroutine.yield(a + b) return c, nil, 'z' end)\n"
          "assert(co(1, 2) == 3)\n"
          "assert(select('#', co(9)) == 3)\n"
          "local ok, e = pcall(co)\n"
          "assert(not ok and e:find('cannot resume dead coroutine'), e)\n"
          "ok, e = pcall(coroutine.wrap(function() error({code = 7}) end))\n"
          "assert(not ok and e.code == 7)\n"
          "ok, e = coroutine.resume(coroutine.running())\n"
          "assert(not ok and e:find('cannot resume non%-suspended'))\n"
          "local closed = 0\n"
          "co = coroutine.create(function()\n"
          "  local x <close> = setmetatable({}, {__close = function() closed = closed + 1 end})\n"
          "  coroutine.yield()\n"
          "end)\n"
          "coroutine.resume(co)\n"
          "assert(coroutine.close(co) and closed == 1 and coroutine.status(co) == 'dead')\n"
          "ok, e = pcall(coroutine.close, 3)\n"
          "assert(e:find('thread expected'))\n"
          "ok, e = pcall(coroutine.resume, {})\n"
          "assert(e:find('thread expected'))\n");
  nkl_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(versions_and_names_are_told),
      cmocka_unit_test(a_context_opens_and_closes),
      cmocka_unit_test(wrong_options_are_refused_and_the_message_can_be_read),
      cmocka_unit_test(a_folder_keeps_specializations),
      cmocka_unit_test(errors_of_scripts_say_what_and_where),
      cmocka_unit_test(errors_of_kernels_keep_their_id_and_line),
      cmocka_unit_test(scripts_get_arguments),
      cmocka_unit_test(modules_are_required),
      cmocka_unit_test(warnings_go_where_they_were_asked_to),
      cmocka_unit_test(the_memory_of_scripts_can_be_limited),
      cmocka_unit_test(the_limit_is_one_of_memory_in_fact),
      cmocka_unit_test(chunks_are_evaluated_as_in_a_session),
      cmocka_unit_test(names_are_completed_without_running_anything),
      cmocka_unit_test(help_is_given_on_topics),
      cmocka_unit_test(files_are_linted),
      cmocka_unit_test(tables_are_rendered),
      cmocka_unit_test(another_thread_stops_a_script),
      cmocka_unit_test(coroutines_behave_as_lua_has_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
