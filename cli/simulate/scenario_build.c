/*
 * scenario_build: builds a world from the documents of a scenario, with the code of the controller.
 * drover's kinds are decoded by their field tables and converted by
 * controller/claims/world_objects.h; pods and Nodes are read by controller/tenant/projection.h.
 *
 * There are two passes, so that the order of documents does not matter: objects to which others
 * refer (tenants, Providers, Machines, records) are decoded first.
 * Tests: tests/unit/cli/simulate/test_scenario.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/buf.h"
#include "base/data/fields.h"
#include "base/data/scan.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate/scenario.h"
#include "controller/burst/policy_objects.h"
#include "controller/burst/state.h"
#include "controller/claims/world_objects.h"
#include "controller/rules/proof.h"
#include "controller/tenant/pod_groups.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/tenant.h"
#include "kube/apiserver/strict.h"

#define DAY_MS INT64_C(86400000)
#define YEARS_MS (3660 * DAY_MS)

/* --- the Scenario object ---------------------------------------------------------------------- */

struct head_machines {
	struct object_name_ref provider_ref;
	const char *instance_type;
	int64_t count;
	struct labels labels;
};
struct head {
	struct object_meta meta;
	struct {
		const char *version, *host_version, *arrivals;
		int64_t until;
		struct {
			int64_t boot, drain, wipe, idle, settle;
		} times;
		struct {
			struct head_machines *v;
			size_t n;
		} machines;
	} spec;
};

static const struct field ref_fields[] = {
	FIELD(object_name_ref, name, "name", FIELD_STR, .required = true, .max_len = 253),
	FIELDS_END,
};
static const struct field machines_fields[] = {
	FIELD_OBJ(head_machines, provider_ref, "providerRef", ref_fields, .required = true),
	FIELD(head_machines, instance_type, "instanceType", FIELD_STR, .required = true,
	      .max_len = 63),
	FIELD(head_machines, count, "count", FIELD_I64, .required = true, .min = 0,
	      .max = SCENARIO_MACHINES),
	FIELD(head_machines, labels, "labels", FIELD_MAP, .max_items = 64),
	FIELDS_END,
};
static const struct field times_fields[] = {
	FIELD_IN(head, spec.times, boot, "boot", FIELD_DURATION, .max = DAY_MS, .def = "\"5m\""),
	FIELD_IN(head, spec.times, drain, "drain", FIELD_DURATION, .max = DAY_MS, .def = "\"1m\""),
	FIELD_IN(head, spec.times, wipe, "wipe", FIELD_DURATION, .max = DAY_MS, .def = "\"10m\""),
	FIELD_IN(head, spec.times, idle, "idle", FIELD_DURATION, .min = 1000, .max = YEARS_MS,
		 .def = "\"10m\""),
	FIELD_IN(head, spec.times, settle, "settle", FIELD_DURATION, .min = 1000, .max = DAY_MS),
	FIELDS_END,
};
static const struct field spec_fields[] = {
	FIELD_IN(head, spec, version, "kubernetesVersion", FIELD_STR, .max_len = 16),
	FIELD_IN(head, spec, host_version, "hostVersion", FIELD_STR, .max_len = 16),
	FIELD_IN(head, spec, arrivals, "arrivals", FIELD_STR, .max_len = 1024),
	FIELD_IN(head, spec, until, "until", FIELD_DURATION, .min = 1000, .max = YEARS_MS),
	FIELD_IN(head, spec, times, "times", FIELD_OBJECT, .sub = times_fields,
		 .size = sizeof(((struct head *)0)->spec.times), .def = "{}"),
	FIELD_IN(head, spec, machines, "machines", FIELD_LIST, .sub = machines_fields,
		 .size = sizeof(struct head_machines), .max_items = 1024),
	FIELDS_END,
};
static const struct field head_fields[] = {
	FIELD(head, meta, "metadata", FIELD_OBJECT, .sub = object_meta_fields, .required = true,
	      .size = sizeof(struct object_meta)),
	FIELD_OBJ(head, spec, "spec", spec_fields, .def = "{}"),
	FIELDS_END,
};

/* --- documents and their lines ---------------------------------------------------------------- */

enum extra { SCENARIO = OBJECT_KINDS, BURST_STATE, POD, NODE, GROUP, KINDS };
struct doc {
	const struct scenario_doc *d;
	/* enum object_kind_id or enum extra */
	int kind;
	/* API group of the PodGroup or Workload, if kind is GROUP */
	enum gang_kind gang;
	void *object;
};
struct build {
	const struct scenario_file *f;
	struct scenario *s;
	struct doc *docs;
	/* for each kind: name -> decoded object */
	struct map *of[KINDS];
	/* the Scenario object; NULL: the file has none */
	struct head *head;
	const char *head_path;
	/* the BurstState; NULL: the file has none */
	const struct doc *state;
	struct burst_input bursts;
	size_t machines;
	struct arena *a;
	struct err *e;
};

/* Returns the number of the line on which the last name of a path such as spec.template.spec.x
 * occurs. Searches for each name after the position of the name before it. If a name is not found,
 * returns the line of the name before it. */
static size_t line_of(const struct scenario_doc *d, const char *path)
{
	size_t at = 0, line = d->line;
	const char *p = path;

	while (*p) {
		const size_t n = strcspn(p, ".[: ");
		const char *hit = NULL;

		for (size_t i = at; n && i + n < d->len && !hit; i++)
			if (memcmp(d->text + i, p, n) == 0 && strchr(":\"'", d->text[i + n]) &&
			    (i == 0 || strchr(" {,\n\"'\t", d->text[i - 1])))
				hit = d->text + i;
		if (!hit)
			break;
		at = (size_t)(hit - d->text) + n;
		p += n;
		while (*p && strchr(".[]0123456789", *p))
			p++;
		if (*p == ':' || *p == ' ')
			break;
	}
	for (size_t i = 0; i < at && i < d->len; i++)
		line += d->text[i] == '\n';
	return line;
}

/* Prepends file, line and object to the error in b->e, which must be "PATH: what" as
 * fields_decode() sets it. Always returns -1. */
static int refused(struct build *b, const struct doc *x, const char *kind)
{
	const struct err said = *b->e;
	const char *name = json_str_at(x->d->j, "metadata", "name");

	return err_set(b->e, ERR_INVALID, 0, "%s:%zu: %s %.63s: %s", x->d->path,
		       line_of(x->d, said.text), kind, str_or(name, "without a name"), said.text);
}

static int complain(struct build *b, const struct doc *x, const char *path, const char *what,
		    const char *name)
{
	return err_set(b->e, ERR_INVALID, 0, "%s:%zu: %s: %s '%.63s'", x->d->path,
		       line_of(x->d, path), path, what, str_or(name, ""));
}

static const char *kind_name(int kind)
{
	return kind == SCENARIO	     ? "Scenario"
	       : kind == BURST_STATE ? "BurstState"
	       : kind == POD	     ? "Pod"
	       : kind == NODE	     ? "Node"
	       : kind == GROUP	     ? "PodGroup"
				     : object_kinds[kind].kind;
}

/* True if the document is a PodGroup or Workload in a version that the controller reads; then sets
 * x->kind and x->gang. */
static bool is_group(struct doc *x, const char *version, const char *kind)
{
	for (int k = 0; k < GANG_KINDS; k++)
		for (int i = 0; pod_groups_resource((enum gang_kind)k, i); i++) {
			const struct kube_resource *r = pod_groups_resource((enum gang_kind)k, i);
			const size_t n = strlen(r->group);

			if (str_eq(kind, r->kind) && str_starts(version, r->group) &&
			    version[n] == '/' && str_eq(version + n + 1, r->version)) {
				x->kind = GROUP;
				x->gang = (enum gang_kind)k;
				return true;
			}
		}
	return false;
}

static int find_kind(struct build *b, struct doc *x)
{
	const char *kind = str_or(json_str_at(x->d->j, "kind"), ""),
		   *version = str_or(json_str_at(x->d->j, "apiVersion"), "");

	if (is_group(x, version, kind))
		return 0;
	for (x->kind = 0; x->kind < GROUP; x->kind++) {
		const bool core = x->kind == POD || x->kind == NODE;

		if (!str_eq(kind, kind_name(x->kind)) || x->kind == OBJECT_DRAIN)
			continue;
		if (!str_eq(version, core ? "v1" : OBJECT_API_VERSION))
			return complain(b, x, "apiVersion", "not a version of this kind:", version);
		return 0;
	}
	return complain(b, x, "kind", "simulate does not support kind", kind);
}

static int keep(struct build *b, struct doc *x, const char *name)
{
	if (map_has(b->of[x->kind], name))
		return complain(b, x, "metadata.name",
				"more than one object of this kind has the name", name);
	map_put(b->of[x->kind], name, x->object);
	return 0;
}

static int decode_object(struct build *b, struct doc *x)
{
	const struct object_kind *k = &object_kinds[x->kind];
	OWN_JSON j = scenario_body(x->d->j);

	x->object = arena_alloc(b->a, k->size);
	if (fields_decode_strict(k->fields, j, NULL, x->object, b->a, b->e) < 0 ||
	    object_decode(k, x->d->j, b->a, &x->object, b->e) < 0 ||
	    object_check(k, x->object, NULL, b->e) < 0)
		return refused(b, x, k->kind);
	return keep(b, x, object_meta_of(x->object)->name);
}

static int decode_head(struct build *b, struct doc *x)
{
	OWN_JSON j = scenario_body(x->d->j);

	if (b->head)
		return complain(b, x, "kind", "a file has at most one", "Scenario");
	b->head = arena_new_obj(b->a, struct head);
	b->head_path = x->d->path;
	if (fields_decode_strict(head_fields, j, NULL, b->head, b->a, b->e) < 0)
		return refused(b, x, "Scenario");
	return 0;
}

/* --- bursts ----------------------------------------------------------------------------------- */

static int decode_state(struct build *b, struct doc *x)
{
	OWN_JSON j = scenario_body(x->d->j);

	if (b->state)
		return complain(b, x, "kind", "a file has at most one", "BurstState");
	b->state = x;
	if (burst_state_decode(j, &b->bursts, b->a, b->e) < 0)
		return refused(b, x, "BurstState");
	if (b->bursts.nwork)
		return complain(b, x, "spec.work",
				"remove it: simulate takes its work from the arrivals of the",
				"Scenario");
	return 0;
}

/* Sets b->s->bursts if the file has BurstPolicies. */
static int take_bursts(struct build *b)
{
	const size_t n = map_size(b->of[OBJECT_BURST_POLICY]);
	struct burst_policy_in *v = arena_calloc(b->a, n + 1, sizeof(*v));
	struct burst_input *in = arena_new_obj(b->a, struct burst_input);

	if (!n)
		return 0;
	if (!b->state)
		return err_set(b->e, ERR_INVALID, 0,
			       "%s: a BurstPolicy needs a BurstState with the offers of clouds "
			       "(docs/simulate.md)",
			       b->f->path);
	if (!b->head || !b->head->spec.arrivals)
		return err_set(b->e, ERR_INVALID, 0,
			       "%s: a BurstPolicy needs jobs: set spec.arrivals of the Scenario",
			       b->f->path);
	*in = b->bursts;
	in->policies = v;
	for (size_t i = 0; i < b->f->n; i++)
		if (b->docs[i].kind == OBJECT_BURST_POLICY)
			v[in->npolicies++] =
				burst_object_policy(b->docs[i].object, b->s->zones, b->a);
	b->s->bursts = in;
	return 0;
}

/* --- gangs ------------------------------------------------------------------------------------ */

static const char *group_key(const char *tenant, enum gang_kind kind, const char *ns,
			     const char *name, struct arena *a)
{
	return arena_printf(a, "%.253s/%d/%.253s/%.253s", tenant, (int)kind, ns, name);
}

static int decode_group(struct build *b, struct doc *x)
{
	const char *tenant = json_str_at(x->d->j, "tenant"),
		   *name = json_str_at(x->d->j, "metadata", "name"),
		   *ns = str_or(json_str_at(x->d->j, "metadata", "namespace"), "default");
	char *text = json_text(x->d->j);
	OWN_JSON read = scan_parse(text, strlen(text), gang_want_group, b->e);
	const char *key;

	free(text);
	if (str_empty(tenant) || str_empty(name))
		return complain(b, x, tenant ? "metadata.name" : "tenant", "want a name, got",
				tenant ? name : tenant);
	if (!read)
		return refused(b, x, json_str_at(x->d->j, "kind"));
	key = group_key(tenant, x->gang, ns, name, b->a);
	x->object = gang_project_group(read, b->a, NULL, b->e);
	return keep(b, x, key);
}

/* Returns the pod p with the size of its gang, as the controller passes it to the planner. */
static const struct world_pod *with_gang(struct build *b, const struct tenant_pod *p)
{
	const struct gang_name *g = p->gang;
	int64_t size = g ? g->size : 0;
	const char *why = g ? g->wait : NULL;

	if (g && g->kind < GANG_KINDS)
		why = pod_groups_size(p,
				      map_get(b->of[GROUP], group_key(p->world.tenant, g->kind,
								      p->world.ns, g->name, b->a)),
				      &size, b->a);
	return pod_groups_sized(p, &p->world, size, why, b->a);
}

/* --- Pods and Nodes --------------------------------------------------------------------------- */

/* True if Kubernetes knows all fields of the object. Otherwise b->e names the unknown field. */
static bool is_known(struct build *b, struct doc *x)
{
	OWN_JSON j = json_deep_copy(x->d->j);

	json_object_del(j, "tenant");
	return strict_check(kind_name(x->kind), j, b->a, b->e) == 0;
}

/* Returns those fields of the object that the controller reads (want), owned by the caller. NULL
 * with b->e: a field is unknown or invalid. */
static json_t *read_of(struct build *b, struct doc *x, const struct scan_want *want)
{
	OWN_JSON j = scenario_body(x->d->j);
	char *text;
	json_t *some;

	if (!is_known(b, x)) {
		(void)refused(b, x, kind_name(x->kind));
		return NULL;
	}
	json_object_del(j, "tenant");
	text = json_text(j);
	some = scan_parse(text, strlen(text), want, b->e);
	free(text);
	return some;
}

static void set_default(json_t *o, const char *key, const char *value)
{
	if (!json_is_string(json_object_get(o, key)))
		json_object_set_new(o, key, json_string(value));
}

/* Sets the default namespace and UID of a pod. A pod without status and node is marked as
 * unschedulable, so that it waits. */
static void complete_pod(struct build *b, json_t *j)
{
	json_t *meta = json_object_get(j, "metadata");

	set_default(meta, "namespace", "default");
	set_default(meta, "uid",
		    arena_printf(b->a, "%.253s/%.253s", json_str_at(meta, "namespace"),
				 str_or(json_str_at(meta, "name"), "")));
	if (!json_object_get(j, "status") && !json_at(j, "spec", "nodeName"))
		json_object_set_new(j, "status",
				    json_pack("{s:[{s:s, s:s, s:s}]}", "conditions", "type",
					      "PodScheduled", "status", "False", "reason",
					      "Unschedulable"));
}

static int put_pod(struct build *b, struct doc *x, struct tenant *t)
{
	OWN_JSON j = read_of(b, x, tenant_want_pod);
	const struct tenant_pod *p;

	if (!j)
		return -1;
	complete_pod(b, j);
	if (!str_is_dns_label(json_str_at(j, "metadata", "namespace")))
		return complain(b, x, "metadata.namespace", "want a DNS label, got",
				json_str_at(j, "metadata", "namespace"));
	p = tenant_project_pod(j, b->a, t, b->e);
	if (p) /* p is NULL if the pod has ended; the plan ignores such a pod */
		(void)world_put_pod(b->s->world, with_gang(b, p));
	return 0;
}

static int put_node(struct build *b, struct doc *x, struct tenant *t)
{
	OWN_JSON j = read_of(b, x, tenant_want_node);
	const struct tenant_node *n;

	if (!j)
		return -1;
	n = tenant_project_node(j, b->a, t, b->e);
	if (!n)
		return refused(b, x, "Node");
	if (!n->unregistered)
		(void)world_put_node(b->s->world, &n->world);
	return 0;
}

static int put_tenants_own(struct build *b, struct doc *x)
{
	const char *tenant = json_str_at(x->d->j, "tenant");
	const struct virtual_cluster *vc =
		tenant ? map_get(b->of[OBJECT_VIRTUAL_CLUSTER], tenant) : NULL;
	const char *name = json_str_at(x->d->j, "metadata", "name");
	struct tenant t = {.name = (char *)tenant};

	if (!vc)
		return complain(b, x, "tenant", "want the name of a VirtualCluster, got", tenant);
	if (!name || !str_is_dns_subdomain(name))
		return complain(b, x, "metadata.name", "want a DNS name, got", name);
	t.on_host = vc->spec.nodes == VIRTUAL_CLUSTER_HOST;
	return x->kind == POD ? put_pod(b, x, &t) : put_node(b, x, &t);
}

/* --- the world -------------------------------------------------------------------------------- */

static const struct condition *condition_of(const struct virtual_cluster *vc, const char *type)
{
	for (size_t i = 0; i < vc->status.conditions.n; i++)
		if (str_eq(vc->status.conditions.v[i].type, type))
			return &vc->status.conditions.v[i];
	return NULL;
}

/* Adds a tenant to the world. A tenant with a status is as healthy as its condition Ready reports;
 * a tenant without status counts as healthy. */
static int put_tenant(struct build *b, struct doc *x)
{
	const struct virtual_cluster *vc = x->object;
	const struct condition *ready = condition_of(vc, "Ready"),
			       *takes = condition_of(vc, "TakesNodes");
	struct world_tenant w = world_object_tenant(vc);
	const char *given = b->head ? b->head->spec.version : NULL,
		   *host = b->head ? b->head->spec.host_version : NULL;

	w.version = w.on_host && host ? host : str_or(vc->status.version, given);
	if (str_empty(w.version))
		return complain(b, x, "status.version",
				"set it, or kubernetesVersion of the Scenario, for VirtualCluster",
				vc->meta.name);
	w.probed = w.proof != WORLD_PROOF_NONE && proof_is_probed(vc);
	if (ready && ready->status != CONDITION_TRUE)
		w.paused = true;
	w.paused_reason = vc->meta.deletion_timestamp ? "TenantDeleted"
			  : vc->spec.paused	      ? "TenantPaused"
			  : ready		      ? str_or(ready->reason, "Unknown")
						      : NULL;
	if (takes && takes->status == CONDITION_FALSE)
		w.no_nodes = str_or(takes->message, "Nodes cannot join the tenant's cluster");
	(void)world_put_tenant(b->s->world, &w);
	return 0;
}

static const struct provider_object_instance_type *type_of(struct build *b, const char *provider,
							   const char *type)
{
	const struct provider_object *p =
		provider ? map_get(b->of[OBJECT_PROVIDER], provider) : NULL;

	for (size_t i = 0; p && type && i < p->spec.instance_types.n; i++)
		if (str_eq(p->spec.instance_types.v[i].name, type))
			return &p->spec.instance_types.v[i];
	return NULL;
}

static int put_machine(struct build *b, struct doc *x)
{
	struct machine *m = x->object;
	const char *record = m->status.last_wipe.record;
	struct world_machine w;

	if (!map_has(b->of[OBJECT_PROVIDER], str_or(m->spec.provider_ref.name, "")))
		return complain(b, x, "spec.providerRef", "there is no Provider",
				m->spec.provider_ref.name);
	if (++b->machines > SCENARIO_MACHINES)
		return complain(b, x, "kind", "the file has more than 100000 objects of kind",
				"Machine");
	if (!m->status.state) { /* a Machine without status counts as free and clean */
		m->status.state = "free";
		m->status.clean = true;
	}
	w = world_object_machine(m, record ? map_get(b->of[OBJECT_WIPE_RECORD], record) : NULL,
				 b->a);
	(void)world_put_machine(b->s->world, &w);
	return 0;
}

static int put_claim(struct build *b, struct doc *x)
{
	const struct node_claim *n = x->object;
	const struct object_ref *r =
		n->spec.machine_ref ? n->spec.machine_ref : n->status.machine_ref;
	const struct machine *m = r ? map_get(b->of[OBJECT_MACHINE], r->name) : NULL;
	const char *tenant = n->spec.virtual_cluster_ref.name;
	struct world_claim w;

	if (!map_has(b->of[OBJECT_VIRTUAL_CLUSTER], str_or(tenant, "")))
		return complain(b, x, "spec.virtualClusterRef", "there is no VirtualCluster",
				tenant);
	w = world_object_claim(n, m,
			       m && m->spec.provider_ref.name
				       ? map_get(b->of[OBJECT_PROVIDER], m->spec.provider_ref.name)
				       : NULL,
			       b->a);
	(void)world_put_claim(b->s->world, &w);
	return 0;
}

static int put(struct build *b, struct doc *x)
{
	struct world *w = b->s->world;

	switch (x->kind) {
	case OBJECT_NODE_POOL: {
		const struct world_pool p = world_object_pool(x->object, b->a);

		world_put_pool(w, &p);
		return 0;
	}
	case OBJECT_PROVIDER: {
		const struct world_provider p = world_object_provider(x->object, b->a);

		world_put_provider(w, &p);
		return 0;
	}
	case OBJECT_VIRTUAL_CLUSTER:
		return put_tenant(b, x);
	case OBJECT_MACHINE:
		return put_machine(b, x);
	case OBJECT_NODE_CLAIM:
		return put_claim(b, x);
	case POD:
	case NODE:
		return put_tenants_own(b, x);
	default:
		return 0;
	}
}

/* Adds the machines of which the Scenario contains only the number. They are free, clean and wiped
 * at the highest level. */
static int put_head_machines(struct build *b)
{
	for (size_t i = 0; b->head && i < b->head->spec.machines.n; i++) {
		const struct head_machines *h = &b->head->spec.machines.v[i];

		if (!type_of(b, h->provider_ref.name, h->instance_type))
			return err_set(
				b->e, ERR_INVALID, 0,
				"%s: spec.machines[%zu]: Provider '%.63s' has no type '%.63s'",
				b->f->path, i, h->provider_ref.name, h->instance_type);
		b->machines += (size_t)h->count;
		if (b->machines > SCENARIO_MACHINES)
			return err_set(b->e, ERR_INVALID, 0, "%s: more than %d machines",
				       b->f->path, SCENARIO_MACHINES);
		for (int64_t k = 0; k < h->count; k++) {
			char name[400];
			struct world_machine w = {.name = name,
						  .provider = h->provider_ref.name,
						  .instance_type = h->instance_type,
						  .labels = h->labels,
						  .offered = true,
						  .level_flash = WIPE_PURGE,
						  .level_hdd = WIPE_PURGE,
						  .covered = UINT32_MAX,
						  .trust = WIPE_QUOTE};

			(void)str_format(name, sizeof(name), "%s.%zu-%05lld", h->instance_type, i,
					 (long long)k);
			(void)world_put_machine(b->s->world, &w);
		}
	}
	return 0;
}

static void take_head(struct build *b)
{
	static const struct replay_times usual = {300000, 60000, 600000, 0, 600000};
	const struct head *h = b->head;
	struct scenario *s = b->s;

	s->times = usual;
	s->name = h ? h->meta.name : b->f->path;
	if (!h)
		return;
	s->arrivals = h->spec.arrivals;
	s->path = b->head_path;
	s->until_ms = h->spec.until;
	s->times = (struct replay_times){
		.boot_ms = h->spec.times.boot,
		.drain_ms = h->spec.times.drain,
		.wipe_ms = h->spec.times.wipe,
		.settle_ms = h->spec.times.settle,
		.idle_ms = h->spec.times.idle,
	};
}

static int decode(struct build *b, struct doc *x)
{
	if (find_kind(b, x) < 0)
		return -1;
	if (x->kind < OBJECT_KINDS)
		return decode_object(b, x);
	if (x->kind == GROUP)
		return decode_group(b, x);
	if (x->kind == BURST_STATE)
		return decode_state(b, x);
	return x->kind == SCENARIO ? decode_head(b, x) : 0;
}

static int build(struct build *b)
{
	b->docs = arena_calloc(b->a, b->f->n + 1, sizeof(*b->docs));
	for (size_t i = 0; i < b->f->n; i++) {
		b->docs[i].d = &b->f->v[i];
		if (decode(b, &b->docs[i]) < 0)
			return -1;
	}
	take_head(b);
	for (size_t i = 0; i < b->f->n; i++)
		if (put(b, &b->docs[i]) < 0)
			return -1;
	return put_head_machines(b) < 0 ? -1 : take_bursts(b);
}

int scenario_build(const struct scenario_file *f, struct scenario *s, struct arena *a,
		   struct err *e)
{
	struct build b = {.f = f, .s = s, .a = a, .e = e};
	int rc;

	*s = (struct scenario){.world = world_new(), .zones = zones_new()};
	world_put_clamp(s->world, true);
	for (int i = 0; i < KINDS; i++)
		b.of[i] = map_new(NULL);
	rc = build(&b);
	for (int i = 0; i < KINDS; i++)
		map_free(b.of[i]);
	return rc;
}

void scenario_done(struct scenario *s)
{
	world_free(s->world);
	zones_free(s->zones);
	s->world = NULL;
	s->zones = NULL;
}
