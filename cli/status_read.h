#ifndef CLI_STATUS_READ_H
#define CLI_STATUS_READ_H

#include "cli/view_client.h"

/*
 * status_read: collects what `drover status` shows: machines and waiting pods from the leader's
 * view, or, if the view cannot be read, from the objects of the API; everything else from objects.
 * Tests: tests/unit/cli/test_status.c
 */
#define STATUS_PODS_MAX 100 /* maximum number of pods in member queue.pods */

/* Returns the status, owned by the caller; NULL after printing why objects could not be read. v:
 * NULL: read objects only.
 *
 *   time      RFC 3339
 *   source    "leader", or "objects" if the view was not read; problem: why
 *   machines  total, gpus, byState {STATE: number}, racks [{rack, total, serving, free, moving,
 *             out, other}], those with the most machines out of use first; a machine without a rack
 *             has the rack ""
 *   queue     total, since (the longest wait), pods: the first STATUS_PODS_MAX (docs/view.md)
 *   tenants   [{name, state, quota {}, allocated {}, waiting}], those with the most waiting pods
 *             first
 *   stopped   paused pools, Providers and tenants, sleeping tenants, and open circuit breakers:
 *             rows of cli/stuck.h
 *   needs     {NEED: number of objects} by the names of cli/stuck.h */
json_t *status_read(struct cli_client *c, struct view_client *v);

#endif
