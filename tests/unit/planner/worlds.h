#ifndef TESTS_UNIT_PLANNER_WORLDS_H
#define TESTS_UNIT_PLANNER_WORLDS_H

#include "base/arena.h"
#include "planner/plan.h"

/*
 * worlds: builds small planner worlds from short texts, and prints plans as text.
 *
 *   resources  "cpu=2,memory=4Gi"      labels  "a=b,c=d"
 *   taints     "key=value:NoSchedule"  terms   "a in (b,c),!d"
 *
 * A malformed text fails the test. All results are allocated in the arena.
 */
struct resources worlds_resources(struct arena *a, const char *text);
struct labels worlds_labels(struct arena *a, const char *text);
struct world_taints worlds_taints(struct arena *a, const char *text);
struct selector worlds_term(struct arena *a, const char *text);

/* Returns a world with tenant "acme" (label team=a, Kubernetes 1.36), Provider "metal" with the
 * types small (4 cpu, 8Gi), big (16 cpu, 64Gi) and gpu (64 cpu, 512Gi, 8 GPUs, label gpu=h100), and
 * pool "main" of weight 10. The world has no machines. */
struct world *worlds_new(struct arena *a);
struct world_tenant worlds_tenant(struct arena *a);
struct world_provider worlds_provider(struct arena *a);
struct world_pool worlds_pool(struct arena *a);
/* Returns a free and clean machine of Provider metal. */
struct world_machine worlds_machine(const char *name, const char *type);
/* Returns a pod of tenant acme in namespace default, unschedulable since 1000 (Unix ms). */
struct world_pod worlds_pod(struct arena *a, const char *name, const char *requests);
/* Returns a Ready node of tenant acme with 4 cpu, 8Gi and 10 pods allocatable. */
struct world_node worlds_node(struct arena *a, const char *name);
/* Returns a claim of tenant acme and pool main on this machine, of type small. The claim is not
 * ready. */
struct world_claim worlds_claim(struct arena *a, const char *name, const char *machine);

/* Returns the plan as text: one line for each pod, then one for each claim. */
const char *worlds_text(const struct plan *p, struct arena *a);
/* Returns the plan's line of pod default/name, without the name. */
const char *worlds_pod_text(const struct plan *p, const char *name, struct arena *a);

#endif
