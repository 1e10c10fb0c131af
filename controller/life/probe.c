/*
 * probe: proves by test packets in which segment the machine is.
 * Tests: tests/world/test_probe.c
 */
#include "controller/life/probe.h"

#include <string.h>

#include "api/annotations.h"
#include "base/address.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/core/keys.h"
#include "controller/hardware/segments.h"
#include "controller/life/agent_boot.h"
#include "controller/rules/api_path.h"
#include "controller/rules/probe_judge.h"

struct collect {
	struct probe_targets *targets;
	struct arena *arena;
	/* segment of the tenant in which the machine is; NULL: the machine is in one of drover's
	 * segments */
	const char *mine;
	/* True: collect addresses in the segment `mine`. False: collect addresses in all other
	 * segments. */
	bool own;
};

static bool add_tenant(const struct kube_entry *e, void *arg)
{
	const struct virtual_cluster *vc = e->object;
	struct collect *c = arg;
	char *segment = arena_calloc(c->arena, TENANT_SEGMENT, 1);
	const char **way = arena_calloc(c->arena, 1, sizeof(*way));
	const struct strings ways = {way, api_path_own_address(vc) != NULL};

	segment_of_tenant(vc, segment);
	*way = ways.n ? arena_strdup(c->arena, api_path_own_address(vc)) : NULL;
	if (c->own && str_eq(segment, c->mine)) {
		probe_targets_own(c->targets, &vc->spec.network.probe, segment);
	} else if (!c->own && !str_eq(segment, c->mine)) {
		probe_targets_others(c->targets, &vc->spec.network.probe, segment);
		probe_targets_others(c->targets, &ways, segment);
	}
	return true;
}

/* Returns the addresses to probe from one of drover's own segments. */
static struct probe_targets *targets_of(const struct life *l, struct arena *a)
{
	const struct provider_object_network *n = &life_provider(l)->spec.network;
	struct collect c = {.targets = arena_new_obj(a, struct probe_targets), .arena = a};
	const char *quarantine = str_or(n->segments.quarantine, "quarantine");
	const char *provisioning = str_or(n->segments.provisioning, "provisioning");

	if (str_eq(l->m->status.network.segment, quarantine)) {
		probe_targets_own(c.targets, &n->probe.quarantine, quarantine);
		probe_targets_others(c.targets, &n->probe.provisioning, provisioning);
	} else {
		probe_targets_own(c.targets, &n->probe.provisioning, provisioning);
		probe_targets_others(c.targets, &n->probe.quarantine, quarantine);
	}
	kube_cache_each(l->c->cache[OBJECT_VIRTUAL_CLUSTER], add_tenant, &c);
	return c.targets;
}

/* Returns the addresses to probe from the tenant's segment. The API server that the machine joins
 * (endpoint; NULL: as vc names it) is one of the segment's own addresses. */
static struct probe_targets *targets_of_tenant(const struct life *l,
					       const struct virtual_cluster *vc,
					       const char *endpoint, struct arena *a)
{
	const struct provider_object_network *n = &life_provider(l)->spec.network;
	struct collect c = {
		.targets = arena_new_obj(a, struct probe_targets), .arena = a, .own = true};
	char *mine = arena_calloc(a, TENANT_SEGMENT, 1), host[ADDRESS_TEXT];
	const char **join = arena_calloc(a, 1, sizeof(*join));
	uint16_t port;

	segment_of_tenant(vc, mine);
	c.mine = mine;
	*join = endpoint ? endpoint : api_path_address(vc);
	if (address_service(*join, host, &port))
		probe_targets_own(c.targets, &(struct strings){join, 1}, mine);
	/* without a fabric, other segments are not separated: do not probe them */
	if (n->type == FABRIC_NONE)
		return c.targets;
	kube_cache_each(l->c->cache[OBJECT_VIRTUAL_CLUSTER], add_tenant, &c);
	probe_targets_others(c.targets, &n->probe.quarantine,
			     str_or(n->segments.quarantine, "quarantine"));
	probe_targets_others(c.targets, &n->probe.provisioning,
			     str_or(n->segments.provisioning, "provisioning"));
	c.own = false;
	kube_cache_each(l->c->cache[OBJECT_VIRTUAL_CLUSTER], add_tenant, &c);
	return c.targets;
}

/* Writes the nonce of a probe order to out. It is derived from the order's id, so that the next
 * leader can check the answer to its predecessor's order. */
static void nonce(const struct life *l, const char *order, char out[static 65])
{
	OWN(arena) a = arena_new();

	keys_derive(l->c->keys, arena_printf(a, "probe\n%s\n%s", l->m->meta.uid, order), out);
}

static void write_down(struct life *l, const char *order, const struct probe_verdict *v)
{
	char when[STR_TIME_SIZE];
	json_t *network;

	str_time(when, loop_wall(l->c->loop));
	network = json_pack("{s:{s:s, s:s, s:s?, s:s?, s:b}}", "probe", "order", order, "time",
			    when, "message", v->proved ? NULL : v->why, "leak", v->leak,
			    "apiServer", v->reached);
	if (v->proved || v->leak)
		json_object_set_new(network, "proof",
				    json_string(fabric_proof_names[v->leak ? FABRIC_PROOF_NONE
									   : FABRIC_PROOF_STRONG]));
	if (v->proved)
		json_object_set_new(network, "observedTime", json_string(when));
	if (!v->proved)
		log_warn(v->leak ? "machine reaches another segment" : "segment not proved",
			 LOG_S("machine", l->name), LOG_S("segment", l->m->status.network.segment),
			 LOG_S("why", v->why));
	life_write(l, json_pack("{s:o}", "network", network), NULL);
}

static enum life_decision leaks(struct life *l, const char *text)
{
	if (machine_state_info[l->state].next & 1u << MACHINE_QUARANTINED)
		return life_quarantine(l, EXIT_AUTO, REASON_NetworkLeak, "in segment %s: %s",
				       l->m->status.network.segment, text);
	return life_fail(l, REASON_NetworkLeak, "in segment %s: %s", l->m->status.network.segment,
			 text);
}

bool life_ensure_probed(struct life *l, const char *name, enum life_decision *d)
{
	const struct machine_probe *known = l->m->status.network.probe;
	OWN(arena) a = arena_new();
	struct proto_order o = {.kind = PROTO_PROBE};
	struct probe_verdict v = {0};
	const struct probe_targets *t;
	const struct proto_report *r;
	char order[LIFE_ORDER_ID], hex[65];

	life_order_id(l, name, order);
	if (known && str_eq(known->order, order)) {
		/* mutant: probe-leak-ignored */
		if (known->leak)
			*d = leaks(l, str_or(known->message, known->leak));
		return !known->leak;
	}
	t = targets_of(l, a);
	if (!t->n || life_provider(l)->spec.network.type == FABRIC_NONE)
		return true;
	if (!l->m->status.agent || !l->m->status.agent->probes) {
		str_copy(v.why, sizeof(v.why), "the agent image is too old to send probes");
		write_down(l, order, &v);
		return false;
	}
	o.addresses.v = arena_calloc(a, t->n, sizeof(*o.addresses.v));
	for (size_t i = 0; i < t->n; i++)
		o.addresses.v[o.addresses.n++] = t->v[i].address;
	nonce(l, order, hex);
	o.nonce = hex;
	r = life_order(l, &o, name);
	if (!r)
		return false;
	probe_judge(t, hex, r, &v);
	write_down(l, order, &v);
	return false;
}

/* --- the probe before the join, reported by the Node ------------------------------------------ */

static const char *join_key(const struct life *l, const struct node_claim *n, struct arena *a)
{
	char hex[65];

	nonce(l, n->meta.uid, hex);
	return arena_strdup(a, hex);
}

static const char *listed(const struct probe_targets *t, bool own, struct arena *a)
{
	struct buf b;
	const char *text;

	buf_init(&b, PROTO_PROBES_MAX * 65);
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].own == own)
			buf_printf(&b, "%s%s", b.len ? "," : "", t->v[i].address);
	text = arena_strndup(a, b.len ? b.data : "", b.len);
	buf_done(&b);
	return text;
}

/* Returns the addresses that the machine must probe before it joins; NULL: none. */
static struct probe_targets *join_targets(const struct life *l, const struct node_claim *n,
					  const char *endpoint, struct arena *a)
{
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	const struct provider_object *p = life_provider(l);
	struct probe_targets *t;

	if (!vc || !p || (p->spec.network.type == FABRIC_NONE && !vc->spec.network.api_server))
		return NULL;
	t = targets_of_tenant(l, vc, endpoint, a);
	/* Own addresses come first, so the last entry shows whether there are addresses of other
	 * segments. */
	return t->n && (vc->spec.network.api_server || !t->v[t->n - 1].own) ? t : NULL;
}

/* True for a tenant with spec.network.apiServer. No machine may serve such a tenant without proof
 * that the machine reaches the API server. */
static bool has_to_reach(const struct life *l, const struct node_claim *n)
{
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);

	return vc && vc->spec.network.api_server;
}

const struct life_join_probe *life_join_probe(const struct life *l, const struct node_claim *n,
					      const char *endpoint, struct arena *a)
{
	const struct probe_targets *t = join_targets(l, n, endpoint, a);
	struct life_join_probe *p;

	if (!t)
		return NULL;
	p = arena_new_obj(a, struct life_join_probe);
	p->key = join_key(l, n, a);
	p->own = listed(t, true, a);
	p->others = listed(t, false, a);
	return p;
}

bool life_ensure_join_probed(struct life *l, const struct node_claim *n,
			     const struct tenant_node *node, enum life_decision *d)
{
	const struct machine_probe *known = l->m->status.network.probe;
	const struct probe_targets *t;
	struct probe_verdict v;
	OWN(arena) a = arena_new();

	if (known && str_eq(known->order, n->meta.uid)) {
		if (known->leak)
			*d = leaks(l, str_or(known->message, known->leak));
		else if (/* mutant: way-not-reached */ has_to_reach(l, n) && !known->api_server)
			*d = life_fail(
				l, REASON_APIServerNotReached, "%s",
				str_or(known->message,
				       "the image did not report that it reached the API server"));
		else
			return true;
		return false;
	}
	t = join_targets(l, n, NULL, a);
	if (!t)
		return true;
	probe_judge_label(t, join_key(l, n, a), labels_get(&node->world.labels, TENANT_LABEL_PROBE),
			  &v);
	write_down(l, n->meta.uid, &v);
	return false;
}

/* --- what the tenant requires ----------------------------------------------------------------- */

/* Returns the proof that the tenant of claim n requires, as an enum fabric_proof. Strong if the
 * tenant does not exist. */
static int demanded(const struct life *l, const struct node_claim *n)
{
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);

	return vc ? vc->spec.network.require_proof : VIRTUAL_CLUSTER_PROOF_STRONG;
}

bool life_proof_suffices(const struct life *l, const struct node_claim *n,
			 char why[static LIFE_PROOF_TEXT])
{
	const struct machine_probe *p = l->m->status.network.probe;
	int wants = demanded(l, n), has = FABRIC_PROOF_NONE;

	for (int i = FABRIC_PROOF_NONE; i <= FABRIC_PROOF_STRONG; i++)
		if (str_eq(l->m->status.network.proof, fabric_proof_names[i]))
			has = i;
	if (has >= wants)
		return true;
	str_format(why, LIFE_PROOF_TEXT,
		   "the proof for segment %.60s is %s, but tenant %.63s requires %s: %.120s",
		   str_or(l->m->status.network.segment, "(none)"), fabric_proof_names[has],
		   n->spec.virtual_cluster_ref.name, virtual_cluster_proof_names[wants],
		   p ? str_or(p->message, "no further probe was sent") : "no address was probed");
	return false;
}

bool life_proof_may_suffice(const struct life *l, const struct node_claim *n,
			    char why[static LIFE_PROOF_TEXT])
{
	int wants = demanded(l, n);
	OWN(arena) a = arena_new();
	const struct probe_targets *t = join_targets(l, n, NULL, a);

	if ((int)l->port.proof >= wants || (t && t->v[0].own))
		return true;
	str_format(
		why, LIFE_PROOF_TEXT,
		"tenant %.63s requires the proof %s, but its spec.network.probe names no address "
		"that can prove it",
		n->spec.virtual_cluster_ref.name, virtual_cluster_proof_names[wants]);
	return false;
}
