/* enums.c -- room ir: operators, activations and enumerations, read from enums.def. */
#include "ir.h"
#include "names.h"

#define VECTOR EM_VECTOR
#define SCALAR EM_SCALAR
#define GPSIMD EM_GPSIMD

const AluInfo alu_info[ALU_count] = {
    [ALU_none] = {.name = "none", .doc = ""},
#define ALU(id, class, arity_, reduce_, engines_, gen_, doc_) \
  [ALU_##id] = {#id, AC_##class, arity_, reduce_, engines_, gen_, doc_},
#include "enums.def"
};

#define ACT_ALL .limited = false
#define ACT_IN(a, b) .limited = true, .lo = (a), .hi = (b)
#define ACT_MAG(a, b) .limited = true, .magnitude = true, .lo = (a), .hi = (b)
const ActInfo act_info[ACT_count] = {
    [ACT_none] = {.name = "none", .doc = ""},
#define ACT(id, range, gen_, doc_) [ACT_##id] = {.name = #id, range, .gen = gen_, .doc = doc_},
#include "enums.def"
};

static const char *const alu_list[] = {
#define ALU(id, ...) #id,
#include "enums.def"
    NULL};
static const char *const act_list[] = {
#define ACT(id, ...) #id,
#include "enums.def"
    NULL};
const char *const *alu_names(void) { return alu_list; }
const char *const *act_names(void) { return act_list; }
Alu alu_parse(const char *name, size_t n) { return (Alu)(name_index(alu_list, name, n) + 1); }
Act act_parse(const char *name, size_t n) { return (Act)(name_index(act_list, name, n) + 1); }

/* One flat list of all members in file order. EnumType has the file's order too, so shifting each member by its type
   leaves a NULL behind the last member of every type: each type's names are a NULL-terminated list inside it. */
enum {
#define ENUM(type, id, value) AT_##type##_##id,
#include "enums.def"
  AT_count
};
static const char *const member_name[AT_count + ET_count] = {
#define ENUM(type, id, value) [AT_##type##_##id + ET_##type] = #id,
#include "enums.def"
};
typedef struct Member {
  uint8_t type;
  int8_t value;
} Member;
static const Member member[AT_count + ET_count] = {
#define ENUM(type_, id, value_) [AT_##type_##_##id + ET_##type_] = {ET_##type_, value_},
#include "enums.def"
};

static int first_member(EnumType t) {
  int i = 0;
  while (i < AT_count + ET_count - 1 && member[i].type != t) i++;
  return i;
}

const char *const *enum_names(EnumType t) { return &member_name[first_member(t)]; }

const char *enum_name(EnumType t, int value) {
  for (int i = first_member(t); member[i].type == t && t != ET_none; i++)
    if (member[i].value == value) return member_name[i];
  return NULL;
}

bool enum_has(EnumType t, int64_t value) {
  if (value < 0 || value > 127) return false;
  switch ((int)t << 8 | (int)value) {
#define ENUM(type, id, v) case ET_##type << 8 | (v):
#include "enums.def"
    return true;
    default:
      return false;
  }
}

bool enum_parse(EnumType t, const char *name, size_t n, int *out) {
  int first = first_member(t), i = name_index(&member_name[first], name, n);
  if (i < 0 || t == ET_none) return false;
  *out = member[first + i].value;
  return true;
}

bool enum_is_text(EnumType t) { return t == ET_matmul_perf_mode; }

const char *enum_type_name(EnumType t) {
  static const char *const type_names[ET_count] = {
      "none",       "engine",     "reduce_cmd",    "dge_mode",     "oob_mode", "matmul_perf_mode",
      "nc_version", "dma_engine", "sim_binary_op", "sim_unary_op",
  };
  return type_names[t];
}
