/*
 * explain_ask: reads objects from the host cluster's API server and, for a pod, from its tenant's
 * API server. controller/explain/explain.c explains them.
 * Tests: tests/unit/cli/test_explain.c, tests/unit/cli/test_why.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/client.h"
#include "controller/explain/chain.h"
#include "controller/explain/explain.h"
#include "controller/tenant/gang_names.h"
#include "cli/explain_ask.h"
#include "api/target.h"
#include "kube/config.h"
#include "kube/call.h"

/* maximum number of objects that are read for the chain of one answer */
#define LINKS_MAX 12
/* maximum number of machines of one Drain in the chain */
#define DRAIN_LINKS 4

struct explain_question {
	struct explain_asker with;
	/* tenant: client for the API server of the pod's tenant; NULL: none */
	struct kube_client *host, *tenant;
	/* the call in progress */
	struct kube_call *call;
	struct loop *loop;
	/* memory of the parts of the target and of the decoded objects */
	struct arena *a;
	/* name: name of the object, or of the tenant if the target is a pod. ns, pod: namespace and
	 * name of the pod; NULL unless the target is a pod. */
	const char *name, *ns, *pod;
	/* index in kinds[] of the kind that is being tried */
	size_t asked;
	/* true: the target names its kind, so no other kind is tried */
	bool only;
	/* the claim that the target names, or the claim of the pod */
	struct node_claim *claim;
	/* the claim that the machine of the target serves, and its NodePool; NULL: none, or not
	 * readable */
	const struct node_claim *served;
	const struct node_pool *pool;
	/* the machine that the target names, or the machine of `claim`; NULL: none */
	struct machine *machine;
	/* the Drain named in status.leave of machine; NULL: none, or not readable */
	struct drain *drain;
	/* VirtualCluster of the pod's tenant */
	struct virtual_cluster *vc;
	/* objects of the chain (controller/explain/chain.h), in the order in which they are added.
	 * object: the decoded object; NULL: it must be read. */
	struct {
		enum object_kind_id kind;
		const char *name;
		const void *object;
	} links[LINKS_MAX];
	/* number of entries in links[], and of those that are in the answer */
	size_t nlinks, linked;
	/* wanted: name of the gang that the target names; NULL: the target is no gang. member: the
	 * pod of the gang that is explained, preferably one that waits. pods, waiting: number of
	 * the gang's pods, and of those without a Node. */
	const char *wanted;
	json_t *member;
	size_t pods, waiting;
	/* key of the pod's gang (controller/tenant/gang_names.h); NULL: none, or not known */
	const char *gang;
	/* uid: UID of the pod; NULL: unknown. node: Node to which the pod is bound; NULL: not
	 * bound. */
	const char *uid, *node;
	json_t *answer;
	void (*done)(const json_t *answer, const struct err *e, void *arg);
	void *arg;
};

static void free_question(struct explain_question *q)
{
	json_decref(q->answer);
	json_decref(q->member);
	kube_client_free(q->tenant);
	arena_free(q->a);
	free(q);
}

static void finish(struct explain_question *q, const struct err *e)
{
	q->done(e ? NULL : q->answer, e, q->arg);
	free_question(q);
}

void explain_ask_cancel(struct explain_question *q)
{
	if (!q)
		return;
	kube_call_cancel(q->call);
	free_question(q);
}

/* Returns the decoded object. NULL: o is invalid; the query has ended with an error and q is
 * freed. */
static void *decode(struct explain_question *q, enum object_kind_id kind, const json_t *o)
{
	struct err e;
	void *out;

	if (object_decode(&object_kinds[kind], o, q->a, &out, &e) == 0)
		return out;
	err_note_wrap(&e, "%s %s", object_kinds[kind].kind, q->name);
	finish(q, &e);
	return NULL;
}

/* --- the chain -------------------------------------------------------------------------------- */

/* Adds an object to those of the chain. Adds nothing if name is empty or the object is there
 * already. object: the decoded object; NULL: it must be read. */
static void add_known(struct explain_question *q, enum object_kind_id kind, const char *name,
		      const void *object)
{
	if (str_empty(name) || q->nlinks == LINKS_MAX)
		return;
	for (size_t i = 0; i < q->nlinks; i++)
		if (q->links[i].kind == kind && str_eq(q->links[i].name, name))
			return;
	q->links[q->nlinks].kind = kind;
	q->links[q->nlinks].object = object;
	q->links[q->nlinks++].name = name;
}

static void add_link(struct explain_question *q, enum object_kind_id kind, const char *name)
{
	add_known(q, kind, name, NULL);
}

static void link_machine(struct explain_question *q, const struct machine *m)
{
	add_link(q, OBJECT_PROVIDER, m->spec.provider_ref.name);
}

/* Adds the objects that an object of the chain names. The Providers of a NodePool and the machines
 * of a Drain are not added for a machine or claim: it depends on its own alone. */
static void link_further(struct explain_question *q, enum object_kind_id kind, const void *object)
{
	const bool all = !q->machine && !q->claim;
	const struct node_pool *p = object;
	const struct drain *d = object;
	const struct burst_policy *b = object;
	size_t n = 0;

	if (kind == OBJECT_NODE_CLAIM)
		add_link(q, OBJECT_NODE_POOL,
			 ((const struct node_claim *)object)->spec.node_pool_ref.name);
	if (kind == OBJECT_MACHINE)
		link_machine(q, object);
	if (kind == OBJECT_NODE_POOL && all)
		for (size_t i = 0; i < p->spec.template_.spec.provider_refs.n; i++)
			add_link(q, OBJECT_PROVIDER,
				 p->spec.template_.spec.provider_refs.v[i].name);
	for (size_t i = 0; kind == OBJECT_BURST_POLICY && i < b->spec.offers.n; i++)
		add_link(q, OBJECT_PROVIDER, b->spec.offers.v[i].provider);
	if (kind != OBJECT_DRAIN || !all)
		return;
	for (size_t i = 0; i < d->status.targets.n && n < DRAIN_LINKS; i++)
		if (!str_eq(d->status.targets.v[i].phase, "Done")) {
			add_link(q, OBJECT_MACHINE, d->status.targets.v[i].machine);
			n++;
		}
}

static void next_link(struct explain_question *q);

/* Adds a decoded object of links[] to the answer, and to links[] the objects that it names. */
static void put_link(struct explain_question *q, enum object_kind_id kind, const void *object)
{
	chain_add(q->answer, kind, object, loop_wall(q->loop));
	if (kind == OBJECT_VIRTUAL_CLUSTER)
		explain_tenant(q->answer, object, q->machine);
	if (kind == OBJECT_MACHINE)
		chain_add_device(q->answer, object);
	if (kind == OBJECT_NODE_CLAIM && str_eq(q->machine->status.state, "serving"))
		q->served = object;
	if (kind == OBJECT_NODE_POOL && q->served)
		q->pool = object;
	link_further(q, kind, object);
}

static void on_link(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	const enum object_kind_id kind = q->links[q->linked].kind;
	const char *name = q->links[q->linked++].name;
	struct err bad;
	void *out;

	if (!e && object_decode(&object_kinds[kind], o, q->a, &out, &bad) < 0)
		e = &bad;
	if (e)
		chain_add_unread(q->answer, kind, name, e);
	else
		put_link(q, kind, out);
	next_link(q);
}

/* Adds the next objects of the chain, and reads the first one that must be read. If there is none,
 * ends the query. */
static void next_link(struct explain_question *q)
{
	for (; q->linked < q->nlinks && q->links[q->linked].object; q->linked++)
		put_link(q, q->links[q->linked].kind, q->links[q->linked].object);
	if (q->linked < q->nlinks) {
		q->call = kube_get(q->host, &object_resources[q->links[q->linked].kind], NULL,
				   q->links[q->linked].name, on_link, q);
		return;
	}
	if (q->served)
		explain_serving(q->answer, q->served, q->pool, loop_wall(q->loop));
	if (q->machine)
		chain_add_device(q->answer, q->machine);
	chain_end(q->answer);
	finish(q, NULL);
}

/* Builds the answer from q->claim, q->machine and q->drain. Then starts to read further objects
 * that add to the answer. */
static void answer(struct explain_question *q)
{
	const struct machine *m = q->machine;

	if (q->claim) {
		q->answer = explain_claim(q->claim, m, q->drain, loop_wall(q->loop));
		add_link(q, OBJECT_VIRTUAL_CLUSTER, q->claim->spec.virtual_cluster_ref.name);
		link_further(q, OBJECT_NODE_CLAIM, q->claim);
		if (m)
			link_machine(q, m);
	} else {
		q->answer = explain_machine(m, q->drain, loop_wall(q->loop));
		if (m->status.claim_ref)
			add_link(q, OBJECT_VIRTUAL_CLUSTER, m->status.tenant.name);
		if (m->status.claim_ref)
			add_link(q, OBJECT_NODE_CLAIM, m->status.claim_ref->name);
		if (m->status.leave)
			add_known(q, OBJECT_DRAIN, m->status.leave->drain, q->drain);
		link_machine(q, m);
	}
	next_link(q);
}

static void on_drain(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	struct err bad;
	void *out;

	if (!e && object_decode(&object_kinds[OBJECT_DRAIN], o, q->a, &out, &bad) == 0)
		q->drain = out;
	answer(q);
}

static void ask_drain(struct explain_question *q)
{
	const struct machine_leave *lv = q->machine ? q->machine->status.leave : NULL;

	if (lv && !str_empty(lv->drain))
		q->call = kube_get(q->host, &object_resources[OBJECT_DRAIN], NULL, lv->drain,
				   on_drain, q);
	else
		answer(q);
}

static void on_claims_machine(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;

	if (e && e->kind != ERR_NOT_FOUND) {
		finish(q, e);
		return;
	}
	if (!e && !(q->machine = decode(q, OBJECT_MACHINE, o)))
		return;
	ask_drain(q);
}

/* Kinds to which a name without a type may belong, in the order in which they are tried. */
static const enum object_kind_id kinds[] = {
	OBJECT_MACHINE,	 OBJECT_NODE_CLAIM, OBJECT_VIRTUAL_CLUSTER, OBJECT_NODE_POOL,
	OBJECT_PROVIDER, OBJECT_DRAIN,	    OBJECT_BURST_POLICY};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void ask_kind(struct explain_question *q);

/* Called if there is no object of kinds[q->asked] with the name. Tries the next kind, or ends the
 * query with ERR_NOT_FOUND. */
static void none_here(struct explain_question *q)
{
	const struct object_kind *k = &object_kinds[kinds[q->asked]];
	struct err none;

	if (!q->only && ++q->asked < KINDS) {
		ask_kind(q);
		return;
	}
	if (q->only)
		err_note(&none, ERR_NOT_FOUND, 0, "there is no %s %s; `drover get %s` lists them",
			 k->kind, q->name, k->plural);
	else
		err_note(&none, ERR_NOT_FOUND, 0,
			 "drover has no object named %s; `drover get machines,claims` lists "
			 "machines and claims; name a pod as TENANT/NAMESPACE/POD",
			 q->name);
	finish(q, &none);
}

static void on_other(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	void *object;

	if (e && e->kind == ERR_NOT_FOUND) {
		none_here(q);
		return;
	}
	if (e) {
		finish(q, e);
		return;
	}
	object = decode(q, kinds[q->asked], o);
	if (!object)
		return;
	q->answer = explain_object(kinds[q->asked], object, loop_wall(q->loop));
	link_further(q, kinds[q->asked], object);
	next_link(q);
}

static void on_claim(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	const struct object_ref *r;

	if (e && e->kind == ERR_NOT_FOUND) {
		none_here(q);
		return;
	}
	if (e) {
		finish(q, e);
		return;
	}
	q->claim = decode(q, OBJECT_NODE_CLAIM, o);
	if (!q->claim)
		return;
	r = q->claim->status.machine_ref ? q->claim->status.machine_ref
					 : q->claim->spec.machine_ref;
	if (r && r->name) {
		q->call = kube_get(q->host, &object_resources[OBJECT_MACHINE], NULL, r->name,
				   on_claims_machine, q);
		return;
	}
	answer(q);
}

static void on_machine(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;

	if (e && e->kind == ERR_NOT_FOUND) {
		none_here(q);
		return;
	}
	if (e) {
		finish(q, e);
		return;
	}
	q->machine = decode(q, OBJECT_MACHINE, o);
	if (q->machine)
		ask_drain(q);
}

static void ask_kind(struct explain_question *q)
{
	enum object_kind_id kind = kinds[q->asked];

	q->call = kube_get(q->host, &object_resources[kind], NULL, q->name,
			   kind == OBJECT_MACHINE      ? on_machine
			   : kind == OBJECT_NODE_CLAIM ? on_claim
						       : on_other,
			   q);
}

/* --- the pod in its tenant's cluster ---------------------------------------------------------- */

static void on_event(json_t *o, void *arg)
{
	struct explain_question *q = arg;

	explain_pod_event(q->answer, o);
}

static void on_event_restart(void *arg)
{
	struct explain_question *q = arg;

	json_object_del(q->answer, "told");
	json_object_del(q->answer, "history");
}

/* Ends the query for a pod. If the answer on a waiting pod has neither a current reason nor an
 * event, adds a hint where to find drover's events. */
static void pod_end(struct explain_question *q)
{
	if (!q->node && !json_object_get(q->answer, "now") && !json_object_get(q->answer, "told"))
		explain_pod_waits(q->answer, q->ns, q->pod);
	next_link(q);
}

static void on_events(const char *rv, const struct err *e, void *arg)
{
	struct explain_question *q = arg;

	(void)rv;
	(void)e;
	pod_end(q);
}

static void ask_events(struct explain_question *q)
{
	const struct kube_list_spec s = {
		.resource = &KUBE_EVENTS,
		.ns = q->ns,
		.field_selector = arena_printf(
			q->a, "involvedObject.kind=Pod,involvedObject.name=%s", q->pod),
		.on_item = on_event,
		.on_restart = on_event_restart,
		.done = on_events,
		.arg = q,
	};

	q->call = kube_list(q->tenant, &s);
}

/* --- the claim of the pod --------------------------------------------------------------------- */

static void on_policy(json_t *o, void *arg)
{
	struct explain_question *q = arg;
	struct err e;
	void *p;

	if (object_decode(&object_kinds[OBJECT_BURST_POLICY], o, q->a, &p, &e) == 0)
		explain_burst_decisions(q->answer, p, q->name,
					q->gang ? q->gang
						: arena_printf(q->a, "%s/%s", q->ns, q->pod));
}

static void on_policies_restart(void *arg)
{
	json_object_del(((struct explain_question *)arg)->answer, "decisions");
}

/* Called with what the BurstPolicies decided on a waiting pod; if they cannot be read, the answer
 * has no decisions. */
static void on_policies(const char *rv, const struct err *e, void *arg)
{
	struct explain_question *q = arg;

	(void)rv;
	(void)e;
	if (q->tenant && q->uid)
		ask_events(q);
	else
		pod_end(q);
}

static void ask_policies(struct explain_question *q)
{
	const struct kube_list_spec s = {
		.resource = &object_resources[OBJECT_BURST_POLICY],
		.on_item = on_policy,
		.on_restart = on_policies_restart,
		.done = on_policies,
		.arg = q,
	};

	q->call = kube_list(q->host, &s);
}

/* Called when the claim of the pod, if any, is in the answer. Reads what was decided on a waiting
 * pod, or ends the query. */
static void pod_claim_end(struct explain_question *q)
{
	if (q->node)
		pod_end(q);
	else
		ask_policies(q);
}

static void on_pod_machine(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	struct err bad;
	void *out = NULL;

	if (!e && object_decode(&object_kinds[OBJECT_MACHINE], o, q->a, &out, &bad) < 0)
		out = NULL;
	explain_pod_claim(q->answer, q->claim, out, loop_wall(q->loop));
	link_further(q, OBJECT_NODE_CLAIM, q->claim);
	q->machine = out;
	if (q->machine) {
		chain_add(q->answer, OBJECT_MACHINE, q->machine, loop_wall(q->loop));
		link_machine(q, q->machine);
	}
	pod_claim_end(q);
}

static void on_pod_claims(const char *rv, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	const struct object_ref *r;

	(void)rv;
	if (e) {
		finish(q, e);
		return;
	}
	if (!q->claim) {
		pod_claim_end(q);
		return;
	}
	r = q->claim->status.machine_ref ? q->claim->status.machine_ref
					 : q->claim->spec.machine_ref;
	q->call = kube_get(q->host, &object_resources[OBJECT_MACHINE], NULL,
			   r ? str_or(r->name, "-") : "-", on_pod_machine, q);
}

static void on_item(json_t *o, void *arg)
{
	struct explain_question *q = arg;
	struct err e;
	void *n;

	if (object_decode(&object_kinds[OBJECT_NODE_CLAIM], o, q->a, &n, &e) == 0 &&
	    explain_is_claim_of_pod(q->answer, n, q->uid, q->node))
		q->claim = n;
}

static void on_restart(void *arg)
{
	struct explain_question *q = arg;

	q->claim = NULL;
}

/* Looks for the claim of the pod. Called after the tenant's API server has answered or failed. */
static void ask_claims(struct explain_question *q)
{
	const struct kube_list_spec s = {
		.resource = &object_resources[OBJECT_NODE_CLAIM],
		.label_selector =
			arena_printf(q->a, "drover.dev/virtual-cluster=%s", q->vc->meta.name),
		.on_item = on_item,
		.on_restart = on_restart,
		.done = on_pod_claims,
		.arg = q,
	};

	if (!q->node)
		explain_pod_now(q->answer, q->vc, q->ns, q->pod);
	q->call = kube_list(q->host, &s);
}

/* Records in the answer why the Pod could not be read. Continues with what the objects in the host
 * cluster show. */
static void pod_unknown(struct explain_question *q, const char *why)
{
	json_object_set_new(q->answer, "podUnknown", json_string(why));
	ask_claims(q);
}

static void on_pod(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	const struct gang_name *gang;
	struct err none;

	if (e && e->kind == ERR_NOT_FOUND) {
		err_note(&none, ERR_NOT_FOUND, 0, "tenant %s has no pod %s/%s", q->name, q->ns,
			 q->pod);
		finish(q, &none);
	} else if (e) {
		pod_unknown(q, arena_printf(q->a, "the tenant's API server: %s", e->text));
	} else {
		explain_pod_seen(q->answer, o);
		gang = gang_name_of(o, q->a);
		q->gang = gang ? gang->key : NULL;
		if (gang)
			json_object_set_new(q->answer, "gang", json_string(gang->key));
		q->uid = arena_strdup(q->a, json_str_at(o, "metadata", "uid"));
		q->node = arena_strdup(q->a, json_str_at(o, "spec", "nodeName"));
		ask_claims(q);
	}
}

/* --- the pods of a gang ----------------------------------------------------------------------- */

/* True if the user's name is the gang's key, its name or the end of its key. */
static bool is_gang(const struct explain_question *q, const struct gang_name *g)
{
	return g && (str_eq(g->key, q->wanted) || str_eq(g->name, q->wanted) ||
		     str_ends(g->key, arena_printf(q->a, "/%s", q->wanted)));
}

static void on_member(json_t *o, void *arg)
{
	struct explain_question *q = arg;
	OWN(arena) a = arena_new();
	const bool waits = str_empty(json_str_at(o, "spec", "nodeName"));

	if (!is_gang(q, gang_name_of(o, a)))
		return;
	q->pods++;
	if (!q->member || (waits && !q->waiting)) {
		json_decref(q->member);
		q->member = json_incref(o);
	}
	q->waiting += waits;
}

static void on_members_restart(void *arg)
{
	struct explain_question *q = arg;

	json_decref(q->member);
	q->member = NULL;
	q->pods = q->waiting = 0;
}

static void on_members(const char *rv, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	struct err none;

	(void)rv;
	if (e) {
		pod_unknown(q, arena_printf(q->a, "the tenant's API server: %s", e->text));
		return;
	}
	if (!q->member) {
		err_note(&none, ERR_NOT_FOUND, 0,
			 "tenant %s has no pods of a gang %s in namespace %s", q->name, q->wanted,
			 q->ns);
		finish(q, &none);
		return;
	}
	q->pod = arena_strdup(q->a, str_or(json_str_at(q->member, "metadata", "name"), "-"));
	json_object_set_new(q->answer, "members",
			    json_pack("{s:I, s:I, s:s}", "pods", (json_int_t)q->pods, "waiting",
				      (json_int_t)q->waiting, "explained", q->pod));
	on_pod(q->member, NULL, q);
}

/* Reads the pods of the namespace to find those of the gang. */
static void ask_members(struct explain_question *q)
{
	const struct kube_list_spec s = {
		.resource = &KUBE_PODS,
		.ns = q->ns,
		.on_item = on_member,
		.on_restart = on_members_restart,
		.done = on_members,
		.arg = q,
	};

	q->call = kube_list(q->tenant, &s);
}

static void on_kubeconfig(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	const struct object_secret_ref *r = &q->vc->spec.kubeconfig_secret_ref;
	struct kube_client_spec cs = {
		.name = q->name, .timeout_ms = 10000, .plain_ok = q->with.plain_ok};
	const char *coded = json_str_at(o, "data", str_or(r->key, "config"));
	struct err bad;

	if (e || !coded) {
		pod_unknown(q, e ? arena_printf(q->a, "the tenant's kubeconfig: %s", e->text)
				 : arena_printf(q->a, "Secret %s has no key %s", r->name,
						str_or(r->key, "config")));
		return;
	}
	OWN(secret)
	text = cli_decoded(coded, &bad);
	OWN(kube_config)
	cfg = text ? kube_config_parse(secret_expose(text), secret_len(text), KUBE_CONFIG_TENANT,
				       q->vc->spec.server, NULL, &bad)
		   : NULL;
	cs.config = cfg;
	if (cfg)
		q->tenant = kube_client_new(q->with.group, q->with.http, &cs, &bad);
	if (!q->tenant)
		pod_unknown(q, arena_printf(q->a, "the tenant's kubeconfig: %s", bad.text));
	else if (q->wanted)
		ask_members(q);
	else
		q->call = kube_get(q->tenant, &KUBE_PODS, q->ns, q->pod, on_pod, q);
}

static void on_tenant(json_t *o, const struct err *e, void *arg)
{
	struct explain_question *q = arg;
	const struct object_secret_ref *r;
	struct err none;

	if (e && e->kind == ERR_NOT_FOUND) {
		err_note(&none, ERR_NOT_FOUND, 0, "there is no tenant (VirtualCluster) %s",
			 q->name);
		e = &none;
	}
	if (e) {
		finish(q, e);
		return;
	}
	q->vc = decode(q, OBJECT_VIRTUAL_CLUSTER, o);
	if (!q->vc)
		return;
	q->answer = explain_pod(q->vc, q->ns, q->pod);
	if (q->wanted)
		json_object_set_new(q->answer, "kind", json_string("Gang"));
	chain_add(q->answer, OBJECT_VIRTUAL_CLUSTER, q->vc, loop_wall(q->loop));
	r = &q->vc->spec.kubeconfig_secret_ref;
	q->call = kube_get(q->host, &KUBE_SECRETS, str_or(r->namespace, q->with.ns), r->name,
			   on_kubeconfig, q);
}

/* Splits the target in q->name: TENANT/NAMESPACE/POD into q->name, q->ns and q->pod, a name behind
 * "gang/" also into q->wanted, and TYPE/NAME into q->asked and q->name. */
static void split(struct explain_question *q)
{
	const bool gang = str_starts(q->name, "gang/");
	char *first = arena_strdup(q->a, q->name + (gang ? strlen("gang/") : 0)),
	     *slash = strchr(first, '/'), *second = slash ? strchr(slash + 1, '/') : NULL;
	enum object_kind_id kind =
		slash ? target_kind(first, (size_t)(slash - first)) : OBJECT_KINDS;

	if (second) {
		*slash = *second = '\0';
		q->name = first;
		q->ns = slash + 1;
		q->pod = second + 1;
		q->wanted = gang ? q->pod : NULL;
		return;
	}
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i] == kind) {
			q->asked = i;
			q->only = true;
			q->name = slash + 1;
		}
}

struct explain_question *explain_ask(const struct explain_asker *with, const char *target,
				     void (*done)(const json_t *answer, const struct err *e,
						  void *arg),
				     void *arg)
{
	struct explain_question *q = mem_new(struct explain_question);

	q->with = *with;
	q->host = with->host;
	q->loop = with->loop;
	q->a = arena_new();
	q->done = done;
	q->arg = arg;
	q->name = arena_strdup(q->a, target);
	split(q);
	if (q->pod)
		q->call = kube_get(q->host, &object_resources[OBJECT_VIRTUAL_CLUSTER], NULL,
				   q->name, on_tenant, q);
	else
		ask_kind(q);
	return q;
}
