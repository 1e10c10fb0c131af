#ifndef PLANNER_TOPOLOGY_H
#define PLANNER_TOPOLOGY_H

#include "planner/groups.h"

/*
 * topology: where pods may be for the sake of other pods: spread, affinity and anti-affinity, as
 * kube-scheduler filters (PodTopologySpread, InterPodAffinity).
 *
 * For kubernetes.io/hostname a new machine is always one more domain, so nothing is ever required
 * to be even there. The domains of any other spread are those of the nodes and claims that its
 * policies count (inclusion.h), and those in which there is still a machine to be had. Where these
 * are fewer than minDomains, each is compared with an empty one.
 *
 * Counts only grow while a plan is made. So a bin that has too many on it, or somebody whom the pod
 * keeps away from, is out for good; one whose domain is full is out until the emptiest domain has
 * more. Who looks for a bin is told which, and need not look again at what is out.
 */
struct topology_cell;

/* NULL: its pods may be anywhere.  Once all sides have met. */
struct topology_cell *topology_cell(struct planning *p, struct plan_class *c,
				    const struct plan_side *s);

/* How things are now; holds until a pod is placed or a bin is added. False: they may be nowhere
 * now. */
bool topology_begin(struct topology_cell *t);
/* Nothing is admitted before another pod is placed: one that it wants to be with. */
bool topology_waits(const struct topology_cell *t);

enum topology_answer { TOPOLOGY_YES, TOPOLOGY_NOT_NOW, TOPOLOGY_NEVER };
enum topology_answer topology_bin(const struct topology_cell *t, size_t bin);
/* Of a node to be, by its domains. */
bool topology_new_ok(const struct topology_cell *t, const int *domains);

/* Grows whenever what was NOT_NOW may be otherwise. */
uint64_t topology_epoch(const struct topology_cell *t);
/* A key by whose domains, few, a spread chooses: those that it admits now, by bit; -1: there is
 * none. */
#define TOPOLOGY_FEW 64
int topology_few(const struct topology_cell *t, uint64_t *admitted);
/* The only bins that may be admitted, where these are few: one after the other from *i = 0 on;
 * false: no more of them. */
bool topology_is_listed(const struct topology_cell *t);
bool topology_list(const struct topology_cell *t, size_t *i, size_t *k, size_t *bin);

/* How many of them one node may have, and over how many domains they go; SIZE_MAX and 1 where
 * nothing says so. */
size_t topology_on_one(const struct topology_cell *t);
size_t topology_parts(const struct topology_cell *t);

/* Does it matter in which domains there is a machine for the class? */
bool topology_asks_for_news(const struct topology_cell *t);
/* There are machines for the class in these domains, of those of a search that began with
 * topology_news(). */
void topology_news(struct planning *p, struct plan_class *c);
void topology_admits_new(struct planning *p, struct plan_class *c, const int *domains);

#endif
