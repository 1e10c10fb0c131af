/* world_objects: the conversions to the planner's structs, one function for each kind of object. */
#include "controller/claims/world_objects.h"

#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/str.h"
#include "controller/rules/claim.h"
#include "controller/rules/machine.h"
#include "controller/rules/proof.h"
#include "controller/rules/provider.h"
#include "controller/rules/wipe_judge.h"

static struct world_taints taints_of(const struct object_taints *t, struct arena *a)
{
	struct world_taints w = {.v = arena_calloc(a, t->n + 1, sizeof(*w.v)), .n = t->n};

	for (size_t i = 0; i < t->n; i++)
		w.v[i] = (struct world_taint){t->v[i].key, t->v[i].value,
					      object_effect_names[t->v[i].effect]};
	return w;
}

static struct selector requirements_of(const struct object_requirements *r, struct arena *a)
{
	const struct object_label_selector s = {.match_expressions = *r};

	return object_selector(&s, a);
}

static bool allows(const struct node_pool_template_spec *t, enum virtual_cluster_nodes nodes)
{
	for (size_t i = 0; i < t->nodes.n; i++)
		if (str_eq(t->nodes.v[i], virtual_cluster_nodes_names[nodes]))
			return true;
	return false;
}

struct world_pool world_object_pool(const struct node_pool *p, struct arena *a)
{
	const struct node_pool_template_spec *t = &p->spec.template_.spec;
	struct world_pool w = {.name = p->meta.name};

	w.weight = p->spec.weight;
	w.expander = (enum world_expander)p->spec.expander;
	w.tenants = object_selector(&p->spec.virtual_cluster_selector, a);
	w.providers = arena_calloc(a, t->provider_refs.n + 1, sizeof(*w.providers));
	for (size_t i = 0; i < t->provider_refs.n; i++)
		w.providers[w.nproviders++] = t->provider_refs.v[i].name;
	w.requirements = requirements_of(&t->requirements, a);
	w.labels = p->spec.template_.metadata.labels;
	w.taints = taints_of(&t->taints, a);
	w.limits = p->spec.limits;
	w.versions = arena_calloc(a, t->images.n + 1, sizeof(*w.versions));
	for (size_t i = 0; i < t->images.n; i++)
		w.versions[w.nversions++] = t->images.v[i].kubernetes_version;
	w.runtime_classes = t->runtime_classes.v;
	w.nruntime_classes = t->runtime_classes.n;
	w.not_private = !allows(t, VIRTUAL_CLUSTER_PRIVATE);
	w.host = allows(t, VIRTUAL_CLUSTER_HOST);
	w.minimum_level_flash = p->spec.wipe.minimum_level.flash;
	w.minimum_level_hdd = p->spec.wipe.minimum_level.hdd;
	w.minimum_trust = p->spec.wipe.minimum_trust;
	w.must_cover = statement_parts(&p->spec.wipe.must_cover);
	w.reclaim = (enum world_reclaim)p->spec.disruption.reclaim;
	w.paused = p->spec.paused || p->meta.deletion_timestamp;
	w.paused_reason = p->meta.deletion_timestamp ? "PoolDeleted" : "PoolPaused";
	w.underused = p->spec.disruption.consolidation_policy == CONSOLIDATION_WHEN_UNDERUSED &&
		      p->spec.disruption.consolidate_after >= 0;
	return w;
}

/* Returns the time (ms) within which half of the machines of a type complete their transition from
 * the state `from`; 0: not known. */
static int64_t path_of(const struct provider_object *p, const char *type, const char *from)
{
	for (size_t i = 0; i < p->status.paths.n; i++)
		if (str_eq(p->status.paths.v[i].instance_type, type) &&
		    str_eq(p->status.paths.v[i].from, from))
			return p->status.paths.v[i].p50;
	return 0;
}

struct world_provider world_object_provider(const struct provider_object *p, struct arena *a)
{
	struct world_provider w = {.name = p->meta.name};

	w.paused = p->spec.paused || p->meta.deletion_timestamp;
	w.elastic = provider_is_elastic(p);
	w.paused_reason = "ProviderPaused";
	w.proof = (enum world_proof)proof_of_network(p);
	w.probed = proof_by_packets(p);
	w.types.v = arena_calloc(a, p->spec.instance_types.n + 1, sizeof(*w.types.v));
	for (size_t i = 0; i < p->spec.instance_types.n; i++) {
		const struct provider_object_instance_type *t = &p->spec.instance_types.v[i];

		w.types.v[w.types.n++] = (struct world_instance_type){
			t->name, t->capacity, t->labels,
			path_of(p, t->name, "draining") + path_of(p, t->name, "claimed")};
	}
	return w;
}

/* True if the machine is being released or cleaned, and will become free again. */
static bool is_coming(const struct machine *m)
{
	const enum machine_state s = machine_state_find(str_or(m->status.state, ""));

	return s >= MACHINE_DRAINING && s < MACHINE_QUARANTINED && !m->meta.deletion_timestamp &&
	       m->spec.management_policy == MACHINE_MANAGE && leave_then(m) == DRAIN_RELEASE;
}

struct world_machine world_object_machine(const struct machine *m, const struct wipe_record *r,
					  struct arena *a)
{
	const bool free_state = machine_is_in(m, MACHINE_FREE);
	struct world_machine w = {.name = m->meta.name, .level_flash = -1, .level_hdd = -1};

	w.provider = m->spec.provider_ref.name;
	w.instance_type = m->spec.instance_type;
	w.labels = machine_topology(m, a);
	w.failures = (unsigned)m->status.failures.n;
	w.warm = warm_is_ready(m);
	w.offered = free_state && m->status.clean && !m->status.claim_ref &&
		    !m->meta.deletion_timestamp && m->spec.management_policy == MACHINE_MANAGE;
	w.coming = is_coming(m);
	w.not_offered = !free_state	      ? str_or(m->status.state, "known")
			: m->status.claim_ref ? "claimed"
			: !m->status.clean    ? "not clean"
					      : "not managed";
	if (r) {
		wipe_judge_levels(&r->spec.evidence, &w.level_flash, &w.level_hdd);
		w.trust = r->spec.evidence.agent_trust;
		w.covered = statement_covered(r->spec.evidence.statements.v,
					      r->spec.evidence.statements.n);
	}
	if (w.offered && warm_is_ending(m)) {
		w.offered = false;
		w.not_offered = "being switched off";
	}
	if (w.offered && m->status.operation &&
	    /* mutant: out-of-reach-taken */
	    machine_is_out_of_reach(m->status.operation->last_error.reason)) {
		w.offered = false;
		w.not_offered = arena_printf(a, "out of reach: %.60s",
					     m->status.operation->last_error.reason);
	}
	return w;
}

/* True if no instance can be launched for the claim now, because its Provider has no offer. False
 * while another offer is being requested: the Machine then still shows the earlier error, but the
 * claim counts as supply again. */
static bool has_no_offer(const struct machine *m)
{
	const struct machine_instance *i = m ? m->status.instance : NULL;

	return m && machine_is_in(m, MACHINE_CLAIMED) &&
	       !(i && !str_empty(i->token) && !i->refused_time) && m->status.operation &&
	       str_eq(m->status.operation->last_error.reason, reason_name(REASON_NoOffer));
}

struct world_claim world_object_claim(const struct node_claim *n, const struct machine *m,
				      const struct provider_object *p, struct arena *a)
{
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct resources *capacity = claim_capacity(n, m, p);
	struct world_claim w = {.name = n->meta.name};

	w.tenant = n->spec.virtual_cluster_ref.name;
	w.pool = n->spec.node_pool_ref.name;
	w.machine = r ? r->name : NULL;
	w.instance_type = claim_instance_type(n, m);
	w.provider = p ? p->meta.name : NULL;
	w.labels = n->spec.labels;
	w.taints = taints_of(&n->spec.taints, a);
	if (capacity)
		w.capacity = *capacity;
	w.failed = str_eq(n->status.phase, "Failed") || has_no_offer(m);
	w.saves = n->spec.checkpoint;
	w.leaving = n->meta.deletion_timestamp != 0 || claim_node_gone(n) ||
		    (m && m->status.claim_ref && str_eq(m->status.claim_ref->uid, n->meta.uid) &&
		     machine_state_find(str_or(m->status.state, "")) >= MACHINE_DRAINING);
	w.ready = condition_is_true(&n->status.conditions, "Ready");
	w.ready_ms =
		w.ready ? condition_get(&n->status.conditions, "Ready")->last_transition_time : 0;
	w.created_ms = n->meta.creation_timestamp;
	w.pods = n->spec.pods.v;
	w.npods = n->spec.pods.n;
	return w;
}

struct world_tenant world_object_tenant(const struct virtual_cluster *vc)
{
	return (struct world_tenant){.name = vc->meta.name,
				     .labels = vc->meta.labels,
				     .quota = vc->spec.quota,
				     .cohort = vc->spec.cohort,
				     .borrowing = vc->spec.borrowing_limit,
				     .lending = vc->spec.lending_limit,
				     .weight = vc->spec.weight,
				     .priority = vc->spec.priority,
				     .proof = (enum world_proof)vc->spec.network.require_proof,
				     .on_host = vc->spec.nodes == VIRTUAL_CLUSTER_HOST,
				     .paused = vc->spec.paused || vc->meta.deletion_timestamp};
}
