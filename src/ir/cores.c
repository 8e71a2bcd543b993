/* cores.c -- room ir: the physical cores of a grid, and what its programs demand of them. */
#include "verify.h"

int64_t ir_core_count(const IrCores *cores, int naxes) {
  int64_t n = 1;
  for (int i = 0; i < naxes; i++)
    if (cores[i].count > 1 && __builtin_mul_overflow(n, cores[i].count, &n)) return INT64_MAX;
  return n;
}

int ir_core_of(const IrModule *m, int64_t program) {
  int64_t core = 0, scale = 1;
  for (int i = m->ngrid - 1; i >= 0; i--) {
    int64_t at = program % m->grid[i];
    program /= m->grid[i];
    if (m->cores[i].count <= 1) continue;
    core += scale * (at / m->cores[i].block % m->cores[i].count);
    scale *= m->cores[i].count;
  }
  return (int)core;
}

bool ir_check_cores(const char *kernel, Target target, IrGrid g, Diag *d) {
  int64_t n = ir_core_count(g.cores, g.naxes), have = target_cores(target);
  if (n > 1 && have < 2) return DIAG(d, multi_cores_spmd_not_supported, kernel, target_name(target), (int)have);
  if (n > have) return DIAG(d, grid_cores, kernel, (long long)n, target_name(target), (long long)have);
  for (int i = 0; i < g.naxes; i++) {
    IrCores c = g.cores[i];
    if (c.count <= 1) continue;
    if (g.size[i] % c.count != 0 || (c.block != 1 && c.block != g.size[i] / c.count))
      return DIAG(d, ir_module, "an axis of the grid is not spread evenly over its cores");
  }
  return true;
}

/* ---- partners of sendrecv: the other core, a question of the whole module ---------------------------------------- */
static const IrIns *sends_to(const IrFunc *f, int core, bool *receives) {
  for (uint32_t i = 0; i < f->nins; i++) {
    if (f->ins[i]->op != OP_sendrecv) continue;
    const Args_sendrecv *a = ARGS(sendrecv, f->ins[i]);
    *receives = a->send_to_rank.u.i != core;
    if (!*receives || a->recv_from_rank.u.i == core) return f->ins[i];
  }
  return NULL;
}

static bool self_partner(const IrModule *m, const IrIns *ins, bool receives, int64_t program, Diag *d) {
  char rank[2] = {(char)('0' + ir_core_of(m, program)), 0};
  Text t;
  text_init(&t, m->arena.alloc);
  text_printf(&t, "program %lld is on that core itself, its partner is the other one", (long long)program);
  DIAG(d, argument_value, "nisa", "sendrecv", receives ? "recv_from_rank" : "send_to_rank", rank, text_str(&t));
  text_free(&t);
  ir_diag_where(m, ins->loc, ins->iter, d);
  return false;
}

/* One program of each function and core is enough. */
bool verify_partners(const IrModule *m, Diag *d) {
  if (ir_core_count(m->cores, m->ngrid) < 2) return true;
  for (uint32_t k = 0; k < m->nfunc; k++) {
    const IrIns *fault[2];
    bool receives[2];
    for (int core = 0; core < 2; core++) fault[core] = sends_to(m->func[k], core, &receives[core]);
    if (!fault[0] && !fault[1]) continue;
    for (int64_t p = 0; p < m->nprogram; p++) {
      int core = ir_core_of(m, p);
      if ((m->program ? m->program[p] : 0) == k && core < 2 && fault[core])
        return self_partner(m, fault[core], receives[core], p, d);
    }
  }
  return true;
}
