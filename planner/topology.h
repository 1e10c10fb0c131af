#ifndef PLANNER_TOPOLOGY_H
#define PLANNER_TOPOLOGY_H

#include "planner/planning.h"

/*
 * topology: where pods may be for the sake of other pods: spread, affinity and
 * anti-affinity, as kube-scheduler filters (PodTopologySpread,
 * InterPodAffinity).
 *
 * Pods are counted by group (a selector in namespaces, over the domains of one
 * key) as they are placed; equal constraints share a group.  For
 * kubernetes.io/hostname each bin is a domain, and a new machine always one
 * more, so nothing is ever required to be even there.
 *
 * The domains of a spread are those of the nodes and claims that selector and
 * affinity admit, and those in which there is still a machine to be had.
 */
struct topology;

/* What a pod is to others; of world_shape. */
struct plan_side {
	const struct world_pod *pod;
	struct plan_tenant *tenant;
	struct topology_rule *rules; /* its own constraints */
	size_t nrules;
	struct topology_group **counted; /* grow by one when it is placed */
	size_t ncounted;
	struct topology_group **bans; /* pods that are there want it elsewhere */
	size_t nbans;
};

/* Sides of all pods first, then topology_meet() of each, then bins, then pods that are bound.  Of a tenant that is
 * beyond its work no more is kept: what is there of it does not hold. */
struct topology *topology_new(struct planning *p);
struct plan_side *topology_side(struct topology *t, struct world_shape *side);
/* The side of that number; false: there is none, and all is ready. */
bool topology_meet(struct topology *t, size_t side);
void topology_bin(struct topology *t, struct plan_tenant *of, size_t bin,
		  const struct labels *labels);
/* Pods that are being deleted count for affinity, and not for spread (PodTopologySpread's countPodsMatchSelector). */
void topology_place(struct topology *t, const struct plan_side *s, size_t bin, bool terminating);

/* Where pods of this class and side may go now; NULL: anywhere.  Valid until the next call. */
struct topology_view;
struct topology_view *topology_view(struct topology *t, struct plan_class *c,
				    const struct plan_side *s);
/* Nothing is admitted before another pod is placed: one that it wants to be with. */
bool topology_waits(const struct topology_view *v);
/* Of 64 bins, those that the view admits. */
uint64_t topology_word(const struct topology_view *v, size_t word);
/* What bits cannot say: a count on one node. */
bool topology_bin_ok(const struct topology_view *v, size_t bin);
/* Of a node to be, by the domains that topology_domains() gave. */
bool topology_new_ok(const struct topology_view *v, const int *domains);
const int *topology_domains(struct topology *t, const struct labels *labels);

/* For spreads: the class may use this bin, or machines in these domains (on, or no more). */
void topology_admits_bin(struct topology *t, struct plan_class *c, size_t bin);
void topology_admits_new(struct topology *t, struct plan_class *c, const int *domains);
void topology_forget_new(struct topology *t, struct plan_class *c);

#endif
