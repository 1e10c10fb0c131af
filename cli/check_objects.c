/*
 * check_objects: checks whether an operator must act on an object of drover, with the explanations
 * of `drover why`, and whether the objects to which it refers exist.
 * Tests: tests/unit/cli/test_check.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/check.h"
#include "cli/stuck.h"

#define INSTANCE_TYPE "node.kubernetes.io/instance-type"
/* Maximum number of Secrets that are checked, because more would take minutes. */
enum { SECRETS_MAX = 200 };

struct look {
	struct check *k;
	struct arena *a;
	/* kind of the objects that the API server is listing now */
	enum object_kind_id kind;
	int64_t now;
	/* listed[kind]: all objects of the kind were read, so that an object which was not among
	 * them does not exist */
	bool listed[OBJECT_KINDS];
	size_t seen;
	/* name of a Provider -> {instance type: true} */
	json_t *providers;
	/* "NAMESPACE/NAME" of a Secret -> the first object that refers to it */
	json_t *secrets;
	struct {
		const struct virtual_cluster **v;
		size_t n, cap;
	} tenants;
	size_t person, late;
};

/* --- references ------------------------------------------------------------------------------- */

static void wants_secret(struct look *l, const char *of, const json_t *ref)
{
	OWN(arena) a = arena_new();
	const char *name = json_str_at(ref, "name"),
		   *ns = str_or(json_str_at(ref, "namespace"), l->k->ns);
	const char *key = arena_printf(a, "%s/%s", ns, str_or(name, ""));

	if (name && !json_object_get(l->secrets, key))
		json_object_set_new(l->secrets, key, json_string(of));
}

static void wants_provider(struct look *l, const char *of, const json_t *ref)
{
	const char *name = json_str_at(ref, "name");

	if (name && l->listed[OBJECT_PROVIDER] && !json_object_get(l->providers, name))
		findings_add(
			l->k->f, FINDING_WRONG, of,
			"create the Provider, or correct the name: drover get providers lists the "
			"existing Providers",
			"refers to Provider %s, which does not exist", name);
}

/* Searches o, a part of the spec of object `of`, for references. Collects the references to
 * Secrets, and checks the references to Providers. A reference is recognised by the name of its
 * member, which is the same in every kind. Recursive; the JSON parser limits the depth. */
static void walk(struct look *l, const char *of, json_t *o)
{
	const char *key;
	json_t *v, *x;
	size_t i;

	json_object_foreach (o, key, v) {
		if (str_ends(key, "ecretRef"))
			wants_secret(l, of, v);
		else if (str_eq(key, "providerRef"))
			wants_provider(l, of, v);
		else if (str_eq(key, "providerRefs"))
			json_array_foreach (v, i, x)
				wants_provider(l, of, x);
		else
			walk(l, of, v);
	}
	if (json_is_array(o))
		json_array_foreach (o, i, x)
			walk(l, of, x);
}

static bool has_type(const struct look *l, const char *type)
{
	const char *name;
	json_t *types;

	json_object_foreach (l->providers, name, types)
		if (json_object_get(types, type))
			return true;
	return false;
}

/* --- each kind -------------------------------------------------------------------------------- */

static void keep_provider(struct look *l, const json_t *o)
{
	json_t *types = json_object(), *t;
	size_t i;

	json_array_foreach (json_at(o, "spec", "instanceTypes"), i, t)
		if (json_str_at(t, "name"))
			json_object_set_new(types, json_str_at(t, "name"), json_true());
	json_object_set_new(l->providers, json_str_at(o, "metadata", "name"), types);
}

static void keep_tenant(struct look *l, const json_t *o)
{
	struct err e;
	void *out;

	if (object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, l->a, &out, &e) < 0)
		/* no finding here, because stuck_row() reports objects that cannot be decoded */
		return;
	mem_grow(l->tenants.v, l->tenants.n + 1, l->tenants.cap);
	l->tenants.v[l->tenants.n++] = out;
}

static bool selects_any(const struct look *l, const struct node_pool *p, struct arena *a)
{
	struct selector s = object_selector(&p->spec.virtual_cluster_selector, a);

	for (size_t i = 0; i < l->tenants.n; i++)
		if (selector_matches(&s, &l->tenants.v[i]->meta.labels))
			return true;
	return false;
}

static void check_pool(struct look *l, const char *of, const json_t *o)
{
	OWN(arena) a = arena_new();
	struct node_pool *p;
	struct err e;
	void *out;

	if (object_decode(&object_kinds[OBJECT_NODE_POOL], o, a, &out, &e) < 0)
		/* no finding here, because stuck_row() reports objects that cannot be decoded */
		return;
	p = out;
	if (l->listed[OBJECT_VIRTUAL_CLUSTER] && !selects_any(l, p, a))
		findings_add(
			l->k->f, FINDING_WRONG, of,
			"create the VirtualCluster (drover tenant import), or correct its labels "
			"or the pool's selector",
			"spec.virtualClusterSelector matches no VirtualCluster");
	for (size_t i = 0; i < p->spec.template_.spec.requirements.n; i++) {
		const struct object_requirement *r = &p->spec.template_.spec.requirements.v[i];

		if (!l->listed[OBJECT_PROVIDER] || !str_eq(r->key, INSTANCE_TYPE) ||
		    r->operator!= OPERATOR_IN)
			continue;
		for (size_t j = 0; j < r->values.n; j++)
			if (!has_type(l, r->values.v[j]))
				findings_add(l->k->f, FINDING_WRONG, of,
					     "correct the name, or add the type to "
					     "spec.instanceTypes of its Provider",
					     "refers to instance type %s, which no Provider has",
					     r->values.v[j]);
	}
}

static void check_machine(struct look *l, const char *of, const json_t *o)
{
	const json_t *spec = json_object_get(o, "spec"),
		     *types = json_object_get(l->providers,
					      str_or(json_str_at(spec, "providerRef", "name"), ""));
	const char *type = json_str_at(spec, "instanceType");

	if (type && types && !json_object_get(types, type))
		findings_add(l->k->f, FINDING_WRONG, of,
			     "correct the name, or add the type to spec.instanceTypes of its "
			     "Provider",
			     "refers to instance type %s, which its Provider does not have", type);
	if (!json_object_get(spec, "identity") && !json_object_get(spec, "elastic"))
		findings_add(l->k->f, FINDING_WRONG, of,
			     "to accept the identity that its BMC reports and wipe the machine: "
			     "drover approve MACHINE",
			     "has no spec.identity, so drover does not manage it");
}

/* --- who needs an operator -------------------------------------------------------------------- */

/* Adds a finding if an operator must act on the object o. Machines are only counted, because there
 * are many; tell_machines() adds one finding for all. */
static void needs(struct look *l, const char *of, const json_t *o)
{
	enum need need;
	OWN_JSON row = stuck_row(l->kind, o, l->now, &need);
	bool wrong = row && (need == NEED_OPERATOR || need == NEED_LATE);
	const json_t *helps = json_object_get(row, "helps");

	l->person += row && need == NEED_OPERATOR;
	l->late += row && need == NEED_LATE;
	if (l->kind == OBJECT_MACHINE)
		return;
	if (wrong)
		findings_add(l->k->f, FINDING_WRONG, of,
			     str_or(json_string_value(json_array_get(helps, 0)), "drover why"),
			     "%s: %s", str_or(json_str_at(row, "reason"), "Late"),
			     str_or(json_str_at(row, "message"), "see drover why"));
	else
		findings_add(l->k->f, FINDING_OK, of, NULL, "needs no action");
}

/* Adds a warning for each condition with which a Provider reports that it works only in part. */
static void check_provider(struct look *l, const char *of, const json_t *o)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c) {
		const char *type = str_or(json_str_at(c, "type"), "");

		if (str_eq(json_str_at(c, "status"), "False") &&
		    (str_eq(type, "Isolating") || str_eq(type, "Offering")))
			findings_add(l->k->f, FINDING_WARNING, of,
				     str_eq(type, "Isolating")
					     ? "choose a network fabric (docs/network.md), then "
					       "check it: drover network check"
					     : "correct spec.instanceTypes, or wait until the "
					       "cloud offers them",
				     "not %s: %s: %s", type, str_or(json_str_at(c, "reason"), "?"),
				     str_or(json_str_at(c, "message"), ""));
	}
}

/* Adds a warning if drover cannot read all DaemonSets of the tenant. */
static void check_daemon_sets(struct look *l, const char *of, const json_t *o)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), TENANT_DAEMON_SETS_CONDITION) &&
		    str_eq(json_str_at(c, "status"), "False"))
			findings_add(l->k->f, FINDING_WARNING, of,
				     "kubectl apply -f deploy/tenant-rbac.yaml in the tenant's "
				     "cluster, unless the reason is OverBudget",
				     "not DaemonSetsRead: %s: %s",
				     str_or(json_str_at(c, "reason"), "?"),
				     str_or(json_str_at(c, "message"), ""));
}

static void tell_machines(struct look *l)
{
	if (l->person || l->late)
		findings_add(l->k->f, FINDING_WRONG, "machines", "drover why lists these machines",
			     "%zu in all; need an operator: %zu; overdue or unreachable: %zu",
			     l->seen, l->person, l->late);
	else
		findings_add(l->k->f, FINDING_OK, "machines", NULL,
			     "%zu in all; none needs an operator", l->seen);
}

static void on_object(json_t *o, void *arg)
{
	struct look *l = arg;
	OWN(arena) a = arena_new();
	const char *of = arena_printf(a, "%s/%s", object_kinds[l->kind].singular,
				      json_str_at(o, "metadata", "name"));

	l->seen++;
	needs(l, of, o);
	if (l->kind == OBJECT_PROVIDER) {
		keep_provider(l, o);
		check_provider(l, of, o);
	}
	if (l->kind == OBJECT_VIRTUAL_CLUSTER) {
		keep_tenant(l, o);
		check_daemon_sets(l, of, o);
	}
	if (l->kind == OBJECT_NODE_POOL)
		check_pool(l, of, o);
	if (l->kind == OBJECT_MACHINE)
		check_machine(l, of, o);
	walk(l, of, json_object_get(o, "spec"));
}

static void look_at(struct look *l, enum object_kind_id kind)
{
	struct err e;

	l->kind = kind;
	l->seen = l->person = l->late = 0;
	if (cli_list(l->k->c, kind, on_object, l, &e) == 0) {
		l->listed[kind] = true;
		if (kind == OBJECT_MACHINE)
			tell_machines(l);
	} else if (e.kind != ERR_NOT_FOUND) {
		/* a missing CustomResourceDefinition needs no finding here, because
		 * check_definitions() reports it */
		findings_add(l->k->f, FINDING_UNKNOWN, object_kinds[kind].plural,
			     "give your user the ClusterRole drover-view (deploy/rbac.yaml)", "%s",
			     e.text);
	}
}

/* Checks that drover may read the kubeconfig Secret of each tenant. The Secret can be in a
 * namespace where drover may only get the Secrets that a Role names. */
static void check_tenants(struct look *l)
{
	for (size_t i = 0; i < l->tenants.n && i < SECRETS_MAX; i++) {
		const struct object_secret_ref *ref = &l->tenants.v[i]->spec.kubeconfig_secret_ref;
		const struct check_right r = {.group = "",
					      .resource = "secrets",
					      .verb = "get",
					      .ns = str_or(ref->namespace, l->k->ns),
					      .name = ref->name};

		check_right(l->k, &r);
	}
	check_rights_report(l->k, "apply a Role and RoleBinding in that namespace, as in "
				  "deploy/tenant-kubeconfig.yaml");
}

/* --- Secrets ---------------------------------------------------------------------------------- */

/* Checks that a Secret exists; reads only its metadata. of: the object that refers to the Secret.
 * If the Secret does not exist, adds a finding with the text `missing`. mend: how to fix it. */
static void check_secret(struct check *k, const char *ns, const char *name, const char *of,
			 const char *missing, const char *mend)
{
	OWN(arena) a = arena_new();
	const char *secret = arena_printf(a, "Secret %s/%s", ns, name);
	struct err e;
	OWN_JSON o = cli_metadata(k->c, &KUBE_SECRETS, ns, name, &e);

	if (o)
		findings_add(k->f, FINDING_OK, secret, NULL, "exists");
	else if (e.kind == ERR_NOT_FOUND)
		findings_add(k->f, FINDING_WRONG, of, mend, "%s", missing);
	else if (e.kind == ERR_DENIED)
		findings_add(
			k->f, FINDING_UNKNOWN, secret,
			"ask an operator who may read Secrets; drover why shows machines whose "
			"Secret is missing",
			"your user may not read this Secret");
	else
		findings_add(k->f, FINDING_UNKNOWN, secret, NULL, "%s", e.text);
}

static void check_secrets(struct look *l)
{
	size_t n = 0, all = json_object_size(l->secrets);
	const char *key;
	json_t *of;

	json_object_foreach (l->secrets, key, of) {
		OWN(arena) a = arena_new();
		const char *name = strchr(key, '/') + 1,
			   *ns = arena_strndup(a, key, (size_t)(name - 1 - key));

		if (n++ == SECRETS_MAX)
			break;
		check_secret(
			l->k, ns, name, json_string_value(of),
			arena_printf(a, "refers to Secret %s/%s, which does not exist", ns, name),
			arena_printf(a,
				     "kubectl -n %s create secret generic %s, or correct the name",
				     ns, name));
	}
	if (all > SECRETS_MAX)
		findings_add(
			l->k->f, FINDING_UNKNOWN, "Secrets",
			"drover why shows SecretNotFound for each machine whose Secret is missing",
			"%zu more Secrets to which objects refer were not checked",
			all - SECRETS_MAX);
}

static void on_record(json_t *o, void *arg)
{
	(void)o;
	++*(size_t *)arg;
}

static void check_keys(struct check *k)
{
	static const char *const made[] = {KEYS_BOOT, KEYS_AGENT_CA};
	size_t records = 0;
	struct err e;

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		check_secret(k, k->ns, made[i], made[i], "missing: no machine can boot the agent",
			     "drover's leader should have created it: read the controller's logs");
	if (cli_list(k->c, OBJECT_WIPE_RECORD, on_record, &records, &e) < 0)
		records = 0;
	check_secret(
		k, k->ns, KEYS_EVIDENCE, KEYS_EVIDENCE,
		records ? "missing, although WipeRecords exist: until it is restored, no "
			  "machine is wiped, offered or claimed"
			: "missing: no wipe record can be signed",
		records ? "restore it from a backup: with a new key, existing wipe records could "
			  "not be verified"
			: "drover's leader should have created it: read the controller's logs");
}

void check_objects(struct check *k)
{
	static const enum object_kind_id kinds[] = {OBJECT_PROVIDER, OBJECT_VIRTUAL_CLUSTER,
						    OBJECT_NODE_POOL, OBJECT_MACHINE,
						    OBJECT_BURST_POLICY};
	OWN(arena) a = arena_new();
	OWN_JSON providers = json_object();
	OWN_JSON secrets = json_object();
	struct look l = {.k = k,
			 .a = a,
			 .now = loop_wall(k->c->loop),
			 .providers = providers,
			 .secrets = secrets};

	check_keys(k);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		look_at(&l, kinds[i]);
	check_tenants(&l);
	check_secrets(&l);
	free(l.tenants.v);
}
