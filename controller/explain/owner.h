#ifndef CONTROLLER_EXPLAIN_OWNER_H
#define CONTROLLER_EXPLAIN_OWNER_H

#include "api/kinds.h"

/*
 * owner: finds out whose problem an explanation (controller/explain/explain.h) describes. An owner
 * is one of these names:
 *
 *   drover     waits for its turn, or for drover's next attempt
 *   device     the machine, its BMC or its drives
 *   network    the machine's switch port, or the path between machine and cluster
 *   provider   the manager (BCM) or the cloud that provides the machine
 *   tenant     the tenant's cluster, its pods or its users
 *   operator   a user or configuration of drover
 * Tests: tests/unit/controller/explain/test_owner.c
 */

/* Returns the owner of a reason of a machine (api/reasons.h), a VirtualCluster or a waiting pod;
 * NULL: the reason is NULL or unknown. */
const char *owner_of_reason(const char *reason);

/* Returns the member of an explanation that has the reason and the message of its problem; NULL:
 * none. */
const json_t *owner_problem(const json_t *answer);
/* Returns the owner of what an explanation describes; NULL: there is no problem. */
const char *owner_find(const json_t *answer);

#endif
