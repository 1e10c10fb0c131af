#ifndef PLANNER_TOPOLOGY_H
#define PLANNER_TOPOLOGY_H

#include "planner/groups.h"

/*
 * topology: where pods may be placed relative to other pods: topology spread, affinity and
 * anti-affinity, by the rules of kube-scheduler (PodTopologySpread, InterPodAffinity).
 *
 * For kubernetes.io/hostname a new machine always adds one empty domain, so the minimum count of a
 * spread over nodes is 0. For any other key, the domains of a spread are those of the nodes and
 * claims that the spread's policies count (inclusion.h), and those in which a machine is still
 * free. If there are fewer of them than minDomains, the minimum counts as 0.
 *
 * During a plan, counts only grow. So a bin (candidate node, bins.h) is excluded for good if too
 * many pods of a spread over nodes, or pods that anti-affinity excludes, are in its domain. A bin
 * whose domain is full for another spread is excluded until the emptiest domain has more pods.
 * topology_bin() returns which of the two cases applies, so that a search need not check excluded
 * bins again.
 */
struct topology_cell;

/* Returns a new evaluator of the topology constraints for pods of class c and profile s; NULL if no
 * constraint restricts these pods. Call after groups_meet() for all profiles. */
struct topology_cell *topology_cell(struct planning *p, struct plan_class *c,
				    const struct plan_profile *s);

/* Evaluates the constraints for the present counts; the result is valid until a pod is placed or a
 * bin is added. False: at present the constraints admit no location. */
bool topology_begin(struct topology_cell *t);
/* True if the constraints admit no location until another pod is placed that the affinity of these
 * pods requires. */
bool topology_waits(const struct topology_cell *t);

/* True if pods that are placed later may let the constraints admit further locations: pods that an
 * affinity requires, or pods in the emptiest domain of a spread. */
bool topology_may_open(const struct topology_cell *t);

enum topology_answer { TOPOLOGY_YES, TOPOLOGY_NOT_NOW, TOPOLOGY_NEVER };
enum topology_answer topology_bin(const struct topology_cell *t, size_t bin);
/* True if the constraints admit a new node in these domains. domains: number of the node's domain,
 * by topology key. */
bool topology_new_ok(const struct topology_cell *t, const int *domains);

/* Returns a number that grows whenever a bin for which topology_bin() returned TOPOLOGY_NOT_NOW may
 * have become admissible. */
uint64_t topology_epoch(const struct topology_cell *t);
#define TOPOLOGY_FEW 64
/* Returns a topology key with at most TOPOLOGY_FEW domains by which a spread restricts the pods;
 * -1: none. *admitted: bit set of the domains that the spread admits now. */
int topology_few(const struct topology_cell *t, uint64_t *admitted);
/* True if an affinity restricts the pods to few bins, those that topology_list() returns. */
bool topology_is_listed(const struct topology_cell *t);
/* Writes to *bin the next bin that the affinity may admit. *i and *k store the position between
 * calls and must be 0 before the first call. False: no more bins. Call only if topology_is_listed()
 * returned true. */
bool topology_list(const struct topology_cell *t, size_t *i, size_t *k, size_t *bin);

/* Returns how many pods of the cell (interchangeable pods) may be on one node; SIZE_MAX: no
 * limit. */
size_t topology_on_one(const struct topology_cell *t);
/* Returns the number of domains over which the pods of the cell (interchangeable pods) are spread;
 * 1: they are not spread. */
size_t topology_parts(const struct topology_cell *t);

/* True if the constraints depend on the domains in which machines are free for the class. */
bool topology_needs_free_domains(const struct topology_cell *t);
/* Begins a new collection in c->free_domains of the domains in which machines are free for the
 * class. */
void topology_free_domains_begin(struct planning *p, struct plan_class *c);
/* Adds the domains of a free machine to c->free_domains. domains: number of the machine's domain,
 * by topology key. */
void topology_admits_new(struct planning *p, struct plan_class *c, const int *domains);
/* True if c->free_domains contains all known domains, so that further machines add none. */
bool topology_admits_all(const struct planning *p, const struct plan_class *c);

#endif
