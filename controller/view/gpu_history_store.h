#ifndef CONTROLLER_VIEW_GPU_HISTORY_STORE_H
#define CONTROLLER_VIEW_GPU_HISTORY_STORE_H

#include "controller/core/context.h"
#include "controller/view/gpu_history.h"

/*
 * gpu_history_store: keeps a history of GPUs in ConfigMaps of drover's own namespace, so that the
 * next leader continues it.
 *
 * ConfigMap drover-history-N contains, in binaryData.day, the samples of one day (UTC) as
 * gpu_history_code.h describes; N is the number of the day modulo 8. So a write changes one
 * ConfigMap, or two after midnight. Each write carries the resourceVersion that was read before. If
 * another replica wrote in between, its samples are read and added before the next try.
 *
 * Only the leader reads and writes. A part (one ConfigMap) is not written before it was read. If a
 * part cannot be decoded, the log has a warning, and the next write of that day replaces the part.
 * A ConfigMap without drover's label app.kubernetes.io/managed-by is logged, and never written.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/view/test_gpu_history_store.c
 */
struct gpu_history_store;

/* h must outlive the store. */
struct gpu_history_store *gpu_history_store_new(struct context *c, struct gpu_history *h);
void gpu_history_store_free(struct gpu_history_store *s);
DEFINE_OWN(gpu_history_store)

/* Reads all parts into the history. Call when this replica begins to lead. */
void gpu_history_store_lead(struct gpu_history_store *s);
/* Records that the history has a new sample at this step, and writes all changed parts if the last
 * write began at least 15 minutes ago. */
void gpu_history_store_changed(struct gpu_history_store *s, int64_t step);
/* Writes all changed parts, then calls done(arg) once: at the latest after 3 s, and perhaps before
 * this function returns. A failed write is not repeated. */
void gpu_history_store_finish(struct gpu_history_store *s, void (*done)(void *arg), void *arg);

#endif
