#ifndef TESTS_UNIT_PLANNER_WORLDS_H
#define TESTS_UNIT_PLANNER_WORLDS_H

#include "base/arena.h"
#include "planner/plan.h"

/*
 * worlds: small worlds written as short texts, and plans as text.
 *
 *   resources  "cpu=2,memory=4Gi"      labels  "a=b,c=d"
 *   taints     "key=value:NoSchedule"  terms   "a in (b,c),!d"
 *
 * A malformed text fails the test. Everything is allocated in the arena.
 */
struct resources worlds_resources(struct arena *a, const char *text);
struct labels worlds_labels(struct arena *a, const char *text);
struct world_taints worlds_taints(struct arena *a, const char *text);
struct selector worlds_term(struct arena *a, const char *text);

/* World with tenant "acme" (team=a, 1.36), provider "metal" with types small (4 cpu, 8Gi), big (16
 * cpu, 64Gi) and gpu (64 cpu, 512Gi, 8 GPUs, gpu=h100), pool "main" of weight 10. No machines. */
struct world *worlds_new(struct arena *a);
struct world_tenant worlds_tenant(struct arena *a);
struct world_provider worlds_provider(struct arena *a);
struct world_pool worlds_pool(struct arena *a);
/* A free and clean machine of provider metal. */
struct world_machine worlds_machine(const char *name, const char *type);
/* A pod of tenant acme, namespace default, unschedulable since 1000. */
struct world_pod worlds_pod(struct arena *a, const char *name, const char *requests);
/* A ready node of acme: 4 cpu, 8Gi, 10 pods. */
struct world_node worlds_node(struct arena *a, const char *name);
/* A claim of acme and pool main on that machine, type small; not ready. */
struct world_claim worlds_claim(struct arena *a, const char *name, const char *machine);

/* Returns one line for each pod, then one for each claim. */
const char *worlds_text(const struct plan *p, struct arena *a);
/* Returns the line of one pod of the default namespace, without its name. */
const char *worlds_pod_text(const struct plan *p, const char *name, struct arena *a);

#endif
