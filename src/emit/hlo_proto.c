/* hlo_proto.c -- room emit: the module around a custom-call as a binary xla.HloModuleProto, written by hand: the wire
   format of protocol buffers is tag, then varint or length and bytes. Fields are in ascending order and those with
   their default value are left out, so the bytes depend on the module alone. */
#include <string.h>

#include "hlo.h"

/* Field numbers of xla.proto's messages (xla/service/hlo.proto, xla/xla_data.proto). */
enum {
  MODULE_NAME = 1,
  MODULE_ENTRY_NAME = 2,
  MODULE_COMPUTATIONS = 3,
  MODULE_HOST_PROGRAM_SHAPE = 4,
  MODULE_ENTRY_ID = 6,
  MODULE_INPUT_OUTPUT_ALIAS = 8,
  COMPUTATION_NAME = 1,
  COMPUTATION_INSTRUCTIONS = 2,
  COMPUTATION_PROGRAM_SHAPE = 4,
  COMPUTATION_ID = 5,
  COMPUTATION_ROOT_ID = 6,
  INS_NAME = 1,
  INS_OPCODE = 2,
  INS_SHAPE = 3,
  INS_METADATA = 7,
  INS_LITERAL = 8,
  INS_PARAMETER_NUMBER = 9,
  INS_TUPLE_INDEX = 13,
  INS_CALL_TARGET = 28,
  INS_ID = 35,
  INS_OPERAND_IDS = 36,
  INS_BACKEND_CONFIG = 43,
  INS_FRONTEND_ATTRIBUTES = 68,
  INS_ALIASING = 74,
  INS_API_VERSION = 77,
  METADATA_OP_TYPE = 1,
  METADATA_OP_NAME = 2,
  METADATA_SOURCE_FILE = 3,
  METADATA_SOURCE_LINE = 4,
  SHAPE_ELEMENT_TYPE = 2,
  SHAPE_DIMENSIONS = 3,
  SHAPE_TUPLE_SHAPES = 4,
  SHAPE_LAYOUT = 5,
  SHAPE_IS_DYNAMIC = 6,
  LAYOUT_MINOR_TO_MAJOR = 1,
  LAYOUT_TAIL_PADDING = 16,
  PROGRAM_PARAMETERS = 1,
  PROGRAM_RESULT = 2,
  PROGRAM_PARAMETER_NAMES = 3,
  ALIASING_OUTPUT_INDEX = 1, /* of a custom-call */
  ALIASING_OPERAND = 2,
  ALIAS_ENTRIES = 1, /* of a module */
  ALIAS_OUTPUT_INDEX = 1,
  ALIAS_PARAMETER = 2,
  ALIAS_KIND = 4,
  ALIAS_KIND_MAY = 1,
  MAP_ENTRY = 1,
  MAP_KEY = 1,
  MAP_VALUE = 2,
  LITERAL_SHAPE = 1,
  TYPE_TUPLE = 13, /* of xla.PrimitiveType */
  ENTRY_COMPUTATION = 1
};

/* Element types: the number of xla.PrimitiveType and the LiteralProto field that holds such elements. */
typedef struct XlaType {
  const char *name;
  int number, literal;
} XlaType;

static const XlaType types[] = {
    {"pred", 1, 2},     {"s8", 2, 15},        {"s16", 3, 17},     {"s32", 4, 4},         {"u8", 6, 3},
    {"u16", 7, 16},     {"u32", 8, 6},        {"f16", 10, 11},    {"f32", 11, 8},        {"bf16", 16, 13},
    {"f8e5m2", 19, 19}, {"f8e4m3fn", 20, 20}, {"f8e4m3", 28, 28}, {"f8e8m0fnu", 33, 33},
};

static const XlaType *type_of(DType t) {
  const XlaType *type = types;
  while (strcmp(type->name, dtype_info[t].hlo) != 0) type++;
  return type;
}

int hlo_element_type(DType t) { return type_of(t)->number; }

static void put_varint(Text *out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) text_putc(out, (char)(v | 0x80));
  text_putc(out, (char)v);
}

static void put_int(Text *out, int field, int64_t v) {
  if (v == 0) return;
  put_varint(out, (uint64_t)field << 3);
  put_varint(out, (uint64_t)v);
}

static void put_bytes(Text *out, int field, const void *s, size_t n) {
  put_varint(out, (uint64_t)field << 3 | 2);
  put_varint(out, n);
  text_add(out, s, n);
}

static void put_string(Text *out, int field, const char *s) {
  if (*s) put_bytes(out, field, s, strlen(s));
}

/* A message or packed list: what is written between begin and end gets its length in front. */
static size_t begin(Text *out, int field) {
  put_varint(out, (uint64_t)field << 3 | 2);
  return out->len;
}

static void end(Text *out, size_t start) {
  size_t n = out->len - start, head = 1;
  for (uint64_t v = n; v >= 0x80; v >>= 7) head++;
  if (out->oom || !text_reserve(out, head)) return;
  memmove(out->data + start + head, out->data + start, n);
  for (size_t i = 0; i < head; i++) out->data[start + i] = (char)((n >> (7 * i) & 0x7f) | (i + 1 < head ? 0x80 : 0));
  text_commit(out, head);
}

static void put_array(Text *out, int field, const IrBuf *b) {
  size_t shape = begin(out, field), list;
  put_int(out, SHAPE_ELEMENT_TYPE, type_of(b->dtype)->number);
  if (b->rank) {
    list = begin(out, SHAPE_DIMENSIONS);
    for (int i = 0; i < b->rank; i++) put_varint(out, (uint64_t)b->shape[i]);
    end(out, list);
  }
  size_t layout = begin(out, SHAPE_LAYOUT);
  if (b->rank) {
    list = begin(out, LAYOUT_MINOR_TO_MAJOR);
    for (int i = b->rank - 1; i >= 0; i--) put_varint(out, (uint64_t)i);
    end(out, list);
  }
  put_int(out, LAYOUT_TAIL_PADDING, 1);
  end(out, layout);
  if (b->rank) {
    list = begin(out, SHAPE_IS_DYNAMIC);
    for (int i = 0; i < b->rank; i++) put_varint(out, 0);
    end(out, list);
  }
  end(out, shape);
}

static void put_shape(Text *out, int field, const HloShape *s) {
  if (!s->tuple) {
    put_array(out, field, s->part[0]);
    return;
  }
  size_t shape = begin(out, field);
  put_int(out, SHAPE_ELEMENT_TYPE, TYPE_TUPLE);
  for (uint32_t k = 0; k < s->n; k++) put_array(out, SHAPE_TUPLE_SHAPES, s->part[k]);
  end(out, shape);
}

static void put_program_shape(Text *out, int field, const HloModule *h) {
  size_t start = begin(out, field);
  for (uint32_t i = 0; i < h->nparams; i++) put_array(out, PROGRAM_PARAMETERS, h->params.part[i]);
  put_shape(out, PROGRAM_RESULT, &h->result);
  for (uint32_t i = 0; i < h->nparams; i++) put_string(out, PROGRAM_PARAMETER_NAMES, h->ins[i].name);
  end(out, start);
}

/* 32-bit integers are varints, the others their bytes. */
static void put_literal(Text *out, const IrBuf *b) {
  const XlaType *type = type_of(b->dtype);
  bool is_signed = dtype_info[b->dtype].cls == DC_INT, varints = is_signed || dtype_info[b->dtype].hlo[0] == 'u';
  size_t literal = begin(out, INS_LITERAL);
  put_array(out, LITERAL_SHAPE, b);
  size_t list = begin(out, type->literal);
  if (varints && dtype_bytes(b->dtype) == 4) {
    for (int64_t i = 0; i < b->count; i++) {
      uint32_t bits = (uint32_t)literal_bits(b, i);
      put_varint(out, is_signed ? (uint64_t)(int64_t)(int32_t)bits : bits);
    }
  } else {
    text_add(out, b->data, (size_t)(b->count * dtype_bytes(b->dtype)));
  }
  end(out, list);
  end(out, literal);
}

static void put_metadata(Text *out, const HloModule *h) {
  size_t start = begin(out, INS_METADATA);
  put_string(out, METADATA_OP_TYPE, HLO_OP);
  put_string(out, METADATA_OP_NAME, HLO_OP);
  if (h->source_file) put_string(out, METADATA_SOURCE_FILE, h->source_file);
  put_int(out, METADATA_SOURCE_LINE, h->source_line);
  end(out, start);
}

/* The output index is a list of one exactly when the result is a tuple; left out it is empty. */
static void put_alias(Text *out, const HloModule *h, const IrAlias *alias, bool of_call) {
  if (h->result.tuple) {
    size_t index = begin(out, of_call ? ALIASING_OUTPUT_INDEX : ALIAS_OUTPUT_INDEX);
    put_varint(out, (uint64_t)alias->output);
    end(out, index);
  }
  put_int(out, of_call ? ALIASING_OPERAND : ALIAS_PARAMETER, alias->operand);
  if (!of_call) put_int(out, ALIAS_KIND, ALIAS_KIND_MAY);
}

static void put_frontend_attribute(Text *out, const char *key, const char *value) {
  size_t attributes = begin(out, INS_FRONTEND_ATTRIBUTES), entry = begin(out, MAP_ENTRY);
  put_string(out, MAP_KEY, key);
  put_string(out, MAP_VALUE, value);
  end(out, entry);
  end(out, attributes);
}

static void put_call_tail(Text *out, const HloModule *h) {
  put_bytes(out, INS_BACKEND_CONFIG, h->a->backend_config, h->a->backend_config_len);
  if (h->a->has_collectives) put_frontend_attribute(out, "has_collectives", "1");
  for (uint32_t i = 0; i < h->ncall_aliases; i++) {
    size_t start = begin(out, INS_ALIASING);
    put_alias(out, h, &h->aliases[i], true);
    end(out, start);
  }
  put_int(out, INS_API_VERSION, h->api_version);
}

/* Instruction i has id i + 1. */
static void put_instruction(Text *out, const HloModule *h, const HloIns *ins) {
  size_t start = begin(out, COMPUTATION_INSTRUCTIONS);
  bool call = ins->opcode == HLO_CUSTOM_CALL;
  put_string(out, INS_NAME, ins->name);
  put_string(out, INS_OPCODE, hlo_opcode(ins->opcode));
  put_shape(out, INS_SHAPE, &ins->shape);
  if (call) put_metadata(out, h);
  if (ins->opcode == HLO_CONSTANT) put_literal(out, ins->shape.part[0]);
  if (ins->opcode == HLO_PARAMETER) put_int(out, INS_PARAMETER_NUMBER, ins->number);
  if (ins->opcode == HLO_GET_TUPLE_ELEMENT) put_int(out, INS_TUPLE_INDEX, ins->number);
  if (call) put_string(out, INS_CALL_TARGET, h->a->call_target);
  put_int(out, INS_ID, (ins - h->ins) + 1);
  if (ins->noperands) {
    size_t list = begin(out, INS_OPERAND_IDS);
    for (uint32_t i = 0; i < ins->noperands; i++) put_varint(out, ins->first + i + 1);
    end(out, list);
  }
  if (call) put_call_tail(out, h);
  end(out, start);
}

static void put_computation(Text *out, const HloModule *h) {
  size_t start = begin(out, MODULE_COMPUTATIONS);
  put_string(out, COMPUTATION_NAME, "main");
  for (uint32_t i = 0; i < h->nins; i++) put_instruction(out, h, &h->ins[i]);
  put_program_shape(out, COMPUTATION_PROGRAM_SHAPE, h);
  put_int(out, COMPUTATION_ID, ENTRY_COMPUTATION);
  put_int(out, COMPUTATION_ROOT_ID, h->nins);
  end(out, start);
}

static void put_module(Text *out, const HloModule *h) {
  put_string(out, MODULE_NAME, h->name);
  put_string(out, MODULE_ENTRY_NAME, "main");
  put_computation(out, h);
  put_program_shape(out, MODULE_HOST_PROGRAM_SHAPE, h);
  put_int(out, MODULE_ENTRY_ID, ENTRY_COMPUTATION);
  if (!h->naliases) return;
  size_t start = begin(out, MODULE_INPUT_OUTPUT_ALIAS);
  for (uint32_t i = 0; i < h->naliases; i++) {
    size_t entry = begin(out, ALIAS_ENTRIES);
    put_alias(out, h, &h->aliases[i], false);
    end(out, entry);
  }
  end(out, start);
}

bool hlo_proto(const Artifact *a, Text *out, Diag *d) {
  HloModule h;
  bool ok = hlo_describe(&h, a);
  if (ok) put_module(out, &h);
  arena_free(&h.arena);
  return ok && !out->oom ? true : DIAG0(d, nomem);
}
