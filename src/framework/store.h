/* store.h -- room framework: private; artifacts in files. */
#ifndef NK_STORE_H
#define NK_STORE_H
#include "bytes.h"
#include "file.h"
#include "fw.h"

extern const char fw_build_id[]; /* version and a digest of all sources; generated */

/* saved.c: the bytes of one file. */
typedef struct Saved {
  Span key, warnings, trail, nodes; /* warnings: of the trace */
  Span head, ir;                    /* the backend_config without its program, and that */
} Saved;
/* False when memory is out. */
bool saved_write(Text *out, const Saved *s);
/* NULL: s points into data; else why the bytes are not to be trusted. Any bytes whatever may be given. */
const char *saved_read(const char *data, size_t n, Saved *s);
/* The same of a view, which is read no further than it looks like one of ours. */
const char *saved_read_file(const FileIn *in, Saved *s, Diag *d);
/* The artifact whose key is the one of the request, exactly as it was; NULL: *why says why there is none. */
const Artifact *saved_artifact(const Saved *s, const char *call_target, Alloc alloc, const char **why);
bool saved_of(Text *out, const Artifact *a, const void *key, size_t n);

/* trail.c: the loop iterations that instructions come from, which IR text leaves out but messages tell. */
void trail_write(Text *out, const IrModule *m);
bool trail_read(Span trail, IrModule *m); /* false: it is not of this module, or memory is out */

/* nodes.c: the kernels that were called inside, likewise. */
void nodes_write(Text *out, const IrModule *m);
bool nodes_read(Span nodes, IrModule *m);

/* explain.c: how a key differs from the nearest earlier one. */
typedef struct Explain {
  const FwPipeline *p;
  const FwRequest *r;
  Span key;
  uint32_t count; /* differences to the nearest key so far: 1 is as near as can be; UINT32_MAX: there is none yet */
  Text said, scratch;
} Explain;
void explain_begin(Explain *e, const FwPipeline *p, const FwRequest *r, Alloc alloc);
void explain_with(Explain *e, Span earlier);
bool explain_same_name(const Explain *e, Span earlier); /* the key is one of a kernel of that name */
void explain_end(Explain *e);

/* store.c */
/* Retained for the caller. NULL: *why says why not, or is NULL when there simply is no file. */
const Artifact *store_get(FwStore *s, Span key, const char *call_target, const char **why);
/* NULL: it is on disk now; else why not. */
const char *store_put(FwStore *s, Span key, const Artifact *a);
void store_explain(FwStore *s, Explain *e); /* with the kernels of that name in the folder */
#endif
