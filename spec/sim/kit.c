/* kit.c -- spec/sim: see kit.h. */
#include "kit.h"

static void print_to(void *ud, const char *s, size_t n) { text_add(ud, s, n); }

void kit_open(Kit *k, Target target) {
  memset(k, 0, sizeof *k);
  k->m = ir_module_new(alloc_std, target);
  k->f = ir_func_new(k->m, "k");
  k->m->name = "k";
  diag_init(&k->d, alloc_std);
  text_init(&k->report.lines, alloc_std);
  text_init(&k->printed, alloc_std);
  k->opt.alloc = alloc_std;
  k->opt.print = print_to;
  k->opt.print_ud = &k->printed;
  k->line = 1;
  k->verify = true;
}

void kit_close(Kit *k) {
  ir_release(k->m);
  diag_free(&k->d);
  text_free(&k->report.lines);
  text_free(&k->printed);
  for (uint32_t i = 0; i < k->nout; i++) free(k->out[i].data);
}

static SimTensor tensor(DType dt, int rank, const int64_t *shape, void *data) {
  SimTensor t = {.dtype = dt, .rank = rank, .data = data};
  for (int i = 0; i < rank; i++) t.shape[i] = shape[i];
  return t;
}

static IrBuf *buf(Kit *k, const IrBufSpec *spec) {
  IrBuf *b = ir_buf_new(k->m, k->f, spec);
  assert_non_null(b);
  return b;
}

const IrTile *kit_in(Kit *k, DType dt, void *data, int rank, const int64_t *shape) {
  IrBufSpec spec = {.kind = BUF_ARG, .space = SP_shared_hbm, .dtype = dt, .rank = rank, .shape = shape};
  k->in[k->nin++] = tensor(dt, rank, shape, data);
  return ir_whole(k->f, buf(k, &spec)->id);
}

const IrTile *kit_buf(Kit *k, Space space, DType dt, int rank, const int64_t *shape) {
  IrBufSpec spec = {.kind = BUF_ALLOC,
                    .space = space,
                    .dtype = dt,
                    .rank = rank,
                    .shape = shape,
                    .loc = ir_loc(k->m, "k.lua", k->line, false, 0)};
  uint32_t id = buf(k, &spec)->id;
  IrVal v = I(id);
  IrIns *ins = ir_append(k->m, k->f, (Op)CORE_alloc, &v, 1);
  ins->loc = spec.loc;
  return ir_whole(k->f, id);
}

const IrTile *kit_out(Kit *k, DType dt, int rank, const int64_t *shape) {
  const IrTile *t = kit_buf(k, SP_shared_hbm, dt, rank, shape);
  int64_t bytes = k->f->bufs[t->buf]->count * dtype_bytes(dt);
  k->rets[k->nout] = t->buf;
  k->out[k->nout++] = tensor(dt, rank, shape, calloc(1, (size_t)bytes + 1));
  return t;
}

const IrTile *kit_cast(Kit *k, const IrTile *t, DType dt, int rank, const int64_t *shape) {
  IrBufSpec spec = {
      .kind = BUF_VIEW, .space = k->f->bufs[t->buf]->space, .dtype = dt, .rank = rank, .shape = shape, .base = t->buf};
  return ir_whole(k->f, buf(k, &spec)->id);
}

const IrTile *kit_ap(Kit *k, const IrTile *of, int64_t offset, int npairs, const int64_t *pairs) {
  IrTile *t = ir_tile_new(k->m);
  t->buf = of->buf;
  t->rank = (uint8_t)npairs;
  t->offset = offset;
  for (int i = 0; i < npairs; i++) t->dim[i] = (IrDim){pairs[2 * i], pairs[2 * i + 1]};
  return t;
}

const IrTile *kit_dyn(Kit *k, const IrTile *t, uint32_t idx, int64_t max) {
  IrTile *d = ir_tile_new(k->m);
  *d = *t;
  d->whole = false;
  d->dyn = idx;
  d->dyn_max = max;
  return d;
}

IrVal T(const IrTile *t) { return (IrVal){.kind = V_TILE, .u.tile = t}; }
IrVal N(double v) { return (IrVal){.kind = V_NUM, .u.num = v}; }
IrVal I(int64_t v) { return (IrVal){.kind = V_INT, .u.i = v}; }
IrVal X(uint32_t idx) { return (IrVal){.kind = V_IDX, .u.idx = idx}; }
IrVal REG(uint32_t reg) { return (IrVal){.kind = V_REG, .u.reg = reg}; }
IrVal S(const char *s) { return (IrVal){.kind = V_STR, .n = (uint32_t)strlen(s), .u.str = s}; }

static const int64_t *ints(Kit *k, int n, const int64_t *v) {
  int64_t *p = arena_newn(&k->m->arena, int64_t, n);
  memcpy(p, v, (size_t)n * sizeof *v);
  return p;
}
IrVal LIST(Kit *k, int n, const int64_t *v) {
  return (IrVal){.kind = V_INTS, .n = (uint32_t)n, .u.ints = ints(k, n, v)};
}
IrVal LIST_PAIRS(Kit *k, int npairs, const int64_t *v) {
  return (IrVal){.kind = V_PAIRS, .n = (uint32_t)npairs, .u.ints = ints(k, 2 * npairs, v)};
}

static IrIns *append(Kit *k, Op op, const IrVal *v, uint32_t n) {
  IrIns *ins = ir_append(k->m, k->f, op, v, n);
  assert_non_null(ins);
  ins->loc = ir_loc(k->m, "k.lua", k->line++, false, 0);
  return ins;
}

IrIns *kit_ins(Kit *k, Op op, ...) {
  const OpInfo *info = &op_info[op];
  IrVal v[32];
  for (int i = 0; i < info->nparams; i++) v[i] = info->params[i].def;
  va_list ap;
  va_start(ap, op);
  for (const char *name = va_arg(ap, const char *); name; name = va_arg(ap, const char *)) {
    int i = op_param(info, name, strlen(name));
    if (i < 0) fail_msg("%s has no parameter %s", info->name, name);
    v[i] = va_arg(ap, IrVal);
  }
  va_end(ap);
  return append(k, op, v, (uint32_t)info->nparams);
}

void kit_load(Kit *k, const IrTile *dst, const IrTile *src) {
  kit_ins(k, OP_dma_copy, "dst", T(dst), "src", T(src), NULL);
}

/* ---- registers and loops */
uint32_t kit_reg(Kit *k) {
  IrBufSpec spec = {.kind = BUF_ALLOC, .space = SP_reg, .dtype = DT_int32};
  uint32_t id = buf(k, &spec)->id;
  IrVal v = I(id);
  ir_append(k->m, k->f, (Op)CORE_alloc, &v, 1);
  return id;
}

uint32_t kit_read(Kit *k, uint32_t reg) {
  IrVal v = REG(reg);
  IrIns *ins = append(k, (Op)CORE_reg_read, &v, 1);
  return ins->result = ir_new_index(k->f);
}

uint32_t kit_affine(Kit *k, int64_t coef, uint32_t idx, int64_t add) {
  int64_t i = idx;
  IrVal v[3] = {LIST(k, 1, &coef), LIST(k, 1, &i), I(add)};
  IrIns *ins = append(k, (Op)CORE_idx, v, 3);
  return ins->result = ir_new_index(k->f);
}

uint32_t kit_for(Kit *k, IrVal lower, IrVal upper, int64_t step) {
  IrVal v[3] = {lower, upper, I(step)};
  IrIns *ins = append(k, (Op)CORE_for, v, 3);
  return ins->result = ir_new_index(k->f);
}

void kit_while(Kit *k, uint32_t reg) {
  IrVal v = REG(reg);
  append(k, (Op)CORE_while, &v, 1);
}

void kit_end(Kit *k) {
  uint32_t at = k->f->nins;
  int depth = 0;
  while (at-- > 0) {
    int op = k->f->ins[at]->op;
    if (op == CORE_end_for || op == CORE_end_while) depth++;
    if ((op == CORE_for || op == CORE_while) && depth-- == 0) break;
  }
  IrIns *head = k->f->ins[at];
  IrIns *end = append(k, (Op)(head->op == CORE_for ? CORE_end_for : CORE_end_while), NULL, 0);
  end->match = at;
  head->match = k->f->nins - 1;
}

/* ---- running */
bool kit_run(Kit *k) {
  IrModule *m = k->m;
  for (uint32_t i = 0; i < m->nfunc; i++) {
    m->func[i]->rets = k->rets;
    m->func[i]->nrets = k->nout;
  }
  const char **names = arena_newn(&m->arena, const char *, k->nout + k->nin + 1);
  for (uint32_t i = 0; i < k->nout; i++) names[i] = k->f->bufs[k->rets[i]]->name;
  m->output_names = names;
  m->arg_names = names + k->nout;
  for (uint32_t i = 0; i < k->nin; i++) m->arg_names[i] = k->f->bufs[i]->name;
  assert_false(m->arena.oom);
  if (k->verify && (!ir_place(m, &k->d) || !ir_verify(m, &k->d)))
    fail_msg("%s\n%s\n%s", diag_message(&k->d), text_str(&k->d.notes), text_str(&k->d.where));
  k->opt.report = &k->report;
  return sim_run(m, k->in, k->out, &k->opt, &k->d);
}

void kit_ok(Kit *k) {
  if (!kit_run(k)) fail_msg("%s\n%s\n%s", diag_message(&k->d), text_str(&k->d.notes), text_str(&k->d.where));
}

float kit_f32(const Kit *k, int out, int64_t at) { return ((const float *)k->out[out].data)[at]; }

void kit_expect(const Kit *k, int out, int n, const float *want) {
  for (int i = 0; i < n; i++) {
    float got = kit_f32(k, out, i);
    if (isnan(got) && isnan(want[i])) continue;
    if (memcmp(&got, &want[i], 4) != 0)
      fail_msg("output %d element %d: got %.9g, want %.9g", out, i, (double)got, (double)want[i]);
  }
}

void kit_contains(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

const IrTile *kit_to_sbuf(Kit *k, const IrTile *t) {
  const IrBuf *b = k->f->bufs[t->buf];
  const IrTile *to = kit_buf(k, SP_sbuf, b->dtype, b->rank, b->shape);
  kit_load(k, to, t);
  return to;
}

const IrTile *kit_const(Kit *k, DType dt, const void *data, int rank, const int64_t *shape) {
  IrBufSpec spec = {.kind = BUF_CONST, .space = SP_shared_hbm, .dtype = dt, .rank = rank, .shape = shape, .data = data};
  return ir_whole(k->f, buf(k, &spec)->id);
}

const IrTile *kit_loaded(Kit *k, DType dt, const void *data, int rank, const int64_t *shape) {
  return kit_to_sbuf(k, kit_const(k, dt, data, rank, shape));
}

void kit_store(Kit *k, const IrTile *t) {
  const IrBuf *b = k->f->bufs[t->buf];
  if (b->space == SP_psum) {
    const IrTile *copy = kit_buf(k, SP_sbuf, b->dtype, b->rank, b->shape);
    kit_ins(k, OP_tensor_copy, "dst", T(copy), "src", T(t), NULL);
    t = copy;
  }
  kit_load(k, kit_out(k, b->dtype, b->rank, b->shape), t);
}
