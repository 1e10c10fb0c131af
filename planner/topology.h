#ifndef PLANNER_TOPOLOGY_H
#define PLANNER_TOPOLOGY_H

#include "planner/groups.h"

/*
 * topology: where pods may be placed relative to other pods: topology spread, affinity and
 * anti-affinity, as kube-scheduler filters (PodTopologySpread, InterPodAffinity).
 *
 * For kubernetes.io/hostname a new machine is always one more, empty domain, so the minimum of a
 * spread over nodes is 0. The domains of any other spread are those of the nodes and claims that
 * the spread's policies count (inclusion.h), and those in which a machine is still free. If these
 * are fewer than minDomains, each domain is compared with an empty one.
 *
 * Counts only grow while a plan is made. So a bin (candidate node, bins.h) is excluded for good if
 * too many pods, or pods that anti-affinity excludes, are on it. A bin whose domain is full is
 * excluded until the emptiest domain has more pods. topology_bin() returns which of the two
 * applies, so that a search need not check excluded bins again.
 */
struct topology_cell;

/* Returns the evaluation of the topology constraints for pods of class c and profile s; NULL if no
 * constraint restricts them. Call after groups_meet() for all profiles. */
struct topology_cell *topology_cell(struct planning *p, struct plan_class *c,
				    const struct plan_side *s);

/* Evaluates the constraints for the present counts; valid until a pod is placed or a bin is added.
 * False: at present no location is admissible. */
bool topology_begin(struct topology_cell *t);
/* True if no location is admissible until a pod is placed that the affinity of these pods
 * requires. */
bool topology_waits(const struct topology_cell *t);

enum topology_answer { TOPOLOGY_YES, TOPOLOGY_NOT_NOW, TOPOLOGY_NEVER };
enum topology_answer topology_bin(const struct topology_cell *t, size_t bin);
/* True if a new node in these domains (array by topology key) would be admitted. */
bool topology_new_ok(const struct topology_cell *t, const int *domains);

/* Returns a number that grows whenever a bin for which topology_bin() returned TOPOLOGY_NOT_NOW may
 * have become admissible. */
uint64_t topology_epoch(const struct topology_cell *t);
#define TOPOLOGY_FEW 64
/* Returns a topology key with at most TOPOLOGY_FEW domains by which a spread restricts the pods;
 * -1: none. *admitted: bit set of the domains that the spread admits now. */
int topology_few(const struct topology_cell *t, uint64_t *admitted);
/* True if an affinity admits only few bins: those that topology_list() returns. */
bool topology_is_listed(const struct topology_cell *t);
/* Writes to *bin the next bin that the affinity may admit. *i and *k hold the position and must be
 * 0 at first. False: no more bins. Call only if topology_is_listed() returned true. */
bool topology_list(const struct topology_cell *t, size_t *i, size_t *k, size_t *bin);

/* Returns how many pods of the cell one node may have; SIZE_MAX: no limit. */
size_t topology_on_one(const struct topology_cell *t);
/* Returns over how many domains the pods of the cell spread; 1: they do not spread. */
size_t topology_parts(const struct topology_cell *t);

/* True if the constraints depend on the domains in which machines are free for the class. */
bool topology_asks_for_news(const struct topology_cell *t);
/* Begins a new collection in c->news of the domains in which machines are free for the class. */
void topology_news(struct planning *p, struct plan_class *c);
/* Adds the domains of a free machine (array by topology key) to c->news. */
void topology_admits_new(struct planning *p, struct plan_class *c, const int *domains);

#endif
