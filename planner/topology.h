#ifndef PLANNER_TOPOLOGY_H
#define PLANNER_TOPOLOGY_H

#include "planner/groups.h"

/*
 * topology: where pods may be placed relative to other pods: topology spread, affinity and
 * anti-affinity, as kube-scheduler filters (PodTopologySpread, InterPodAffinity).
 *
 * For kubernetes.io/hostname a new machine is always one more, empty domain, so the minimum of a
 * spread over nodes is 0. The domains of any other spread are those of the nodes and claims that
 * its policies count (inclusion.h), and those in which a machine is still free. If these are fewer
 * than minDomains, each domain is compared with an empty one.
 *
 * Counts only grow while a plan is made. So a bin is excluded for good if too many pods, or pods
 * that anti-affinity excludes, are on it; a bin whose domain is full is excluded until the emptiest
 * domain has more pods. topology_bin() returns which of the two applies, so that a search need not
 * check excluded bins again.
 */
struct topology_cell;

/* Returns NULL if the pods are not restricted. Call after groups_meet() for all profiles. */
struct topology_cell *topology_cell(struct planning *p, struct plan_class *c,
				    const struct plan_side *s);

/* Evaluates the constraints for the present counts; valid until a pod is placed or a bin is added.
 * False: the pods may be nowhere now. */
bool topology_begin(struct topology_cell *t);
/* True if the pods may be nowhere until a pod is placed that they must be together with
 * (affinity). */
bool topology_waits(const struct topology_cell *t);

enum topology_answer { TOPOLOGY_YES, TOPOLOGY_NOT_NOW, TOPOLOGY_NEVER };
enum topology_answer topology_bin(const struct topology_cell *t, size_t bin);
/* True if a new node in these domains (by key) would be admitted. */
bool topology_new_ok(const struct topology_cell *t, const int *domains);

/* Returns a number that grows whenever a bin answered NOT_NOW may have become admissible. */
uint64_t topology_epoch(const struct topology_cell *t);
#define TOPOLOGY_FEW 64
/* Returns a topology key with at most TOPOLOGY_FEW domains by which a spread restricts the pods,
 * and in *admitted the bit set of the domains that the spread admits now; -1: none. */
int topology_few(const struct topology_cell *t, uint64_t *admitted);
/* True if only the bins of topology_list() may be admitted, which are few. */
bool topology_is_listed(const struct topology_cell *t);
/* Writes the next of these bins to *bin; *i and *k begin at 0. False: no more. */
bool topology_list(const struct topology_cell *t, size_t *i, size_t *k, size_t *bin);

/* Returns how many pods of the cell one node may have; SIZE_MAX: no limit. */
size_t topology_on_one(const struct topology_cell *t);
/* Returns over how many domains the pods of the cell spread; 1: no spread. */
size_t topology_parts(const struct topology_cell *t);

/* True if it matters in which domains machines are free for the class. */
bool topology_asks_for_news(const struct topology_cell *t);
/* Begins a new collection of the domains in which machines are free for the class. */
void topology_news(struct planning *p, struct plan_class *c);
/* Adds domains to that collection. */
void topology_admits_new(struct planning *p, struct plan_class *c, const int *domains);

#endif
