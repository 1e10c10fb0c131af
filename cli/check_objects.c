/*
 * check_objects: what drover's objects need of a person, in the words of `drover why`, and whether
 * what they name exists.
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
enum { SECRETS_MAX = 200 }; /* asked for: more would take minutes */

struct look {
	struct check *k;
	struct arena *a;
	/* of the list under way */
	enum object_kind_id kind;
	int64_t now;
	/* whole: what is not in it does not exist */
	bool listed[OBJECT_KINDS];
	size_t seen;
	/* name: {name of an instance type: true} */
	json_t *providers;
	/* NAMESPACE/NAME: the first that names it */
	json_t *secrets;
	struct {
		const struct virtual_cluster **v;
		size_t n, cap;
	} tenants;
	size_t person, late;
};

/* --- what they name --------------------------------------------------------------------------- */

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
		findings_add(l->k->f, FINDING_WRONG, of,
			     "make it, or correct the name: drover get providers",
			     "names Provider %s, which is not there", name);
}

/* All below a spec, by what such members are called in each kind. Depth is bounded by what was
 * parsed. */
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
		return; /* stuck_row() says so */
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
		return; /* stuck_row() says so */
	p = out;
	if (l->listed[OBJECT_VIRTUAL_CLUSTER] && !selects_any(l, p, a))
		findings_add(
			l->k->f, FINDING_WRONG, of,
			"make the VirtualCluster (drover tenant import), or correct the labels "
			"of the one or the selector of the other",
			"its virtualClusterSelector matches no VirtualCluster");
	for (size_t i = 0; i < p->spec.template_.spec.requirements.n; i++) {
		const struct object_requirement *r = &p->spec.template_.spec.requirements.v[i];

		if (!l->listed[OBJECT_PROVIDER] || !str_eq(r->key, INSTANCE_TYPE) ||
		    r->operator!= OPERATOR_IN)
			continue;
		for (size_t j = 0; j < r->values.n; j++)
			if (!has_type(l, r->values.v[j]))
				findings_add(l->k->f, FINDING_WRONG, of,
					     "correct the name, or add it to spec.instanceTypes of "
					     "its Provider",
					     "names instance type %s, which no Provider has",
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
			     "correct the name, or add it to spec.instanceTypes of its Provider",
			     "names instance type %s, which its Provider does not have", type);
	if (!json_object_get(spec, "identity") && !json_object_get(spec, "elastic"))
		findings_add(
			l->k->f, FINDING_WRONG, of,
			"drover why MACHINE says which it is; drover approve MACHINE writes it",
			"has no spec.identity: drover does not know which machine it is");
}

/* --- what they need --------------------------------------------------------------------------- */

/* Machines are many: how many need something, and no line of each. */
static void needs(struct look *l, const char *of, const json_t *o)
{
	enum need need;
	OWN_JSON row = stuck_row(l->kind, o, l->now, &need);
	bool wrong = row && (need == NEED_PERSON || need == NEED_LATE);
	const json_t *helps = json_object_get(row, "helps");

	l->person += row && need == NEED_PERSON;
	l->late += row && need == NEED_LATE;
	if (l->kind == OBJECT_MACHINE)
		return;
	if (wrong)
		findings_add(l->k->f, FINDING_WRONG, of,
			     str_or(json_string_value(json_array_get(helps, 0)), "drover why"),
			     "%s: %s", str_or(json_str_at(row, "reason"), "late"),
			     str_or(json_str_at(row, "message"), "drover why tells of it"));
	else
		findings_add(l->k->f, FINDING_OK, of, NULL, "needs nothing of a person");
}

static void tell_machines(struct look *l)
{
	if (l->person || l->late)
		findings_add(l->k->f, FINDING_WRONG, "machines", "drover why lists them",
			     "of %zu, %zu need a person, and %zu are late or out of reach", l->seen,
			     l->person, l->late);
	else
		findings_add(l->k->f, FINDING_OK, "machines", NULL, "of %zu, none needs a person",
			     l->seen);
}

static void on_object(json_t *o, void *arg)
{
	struct look *l = arg;
	OWN(arena) a = arena_new();
	const char *of = arena_printf(a, "%s/%s", object_kinds[l->kind].singular,
				      json_str_at(o, "metadata", "name"));

	l->seen++;
	needs(l, of, o);
	if (l->kind == OBJECT_PROVIDER)
		keep_provider(l, o);
	if (l->kind == OBJECT_VIRTUAL_CLUSTER)
		keep_tenant(l, o);
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
	} else if (e.kind != ERR_NOT_FOUND) { /* that it is not installed was said */
		findings_add(l->k->f, FINDING_UNKNOWN, object_kinds[kind].plural,
			     "reading them takes the ClusterRole drover-view (deploy/rbac.yaml)",
			     "%s", e.text);
	}
}

/* The Secret of a tenant's kubeconfig lies elsewhere: drover may get it by its name alone. */
static void check_tenants(struct look *l)
{
	for (size_t i = 0; i < l->tenants.n && i < SECRETS_MAX; i++) {
		const struct object_secret_ref *ref = &l->tenants.v[i]->spec.kubeconfig_secret_ref;
		const struct check_right r = {.group = "",
					      .resource = "secrets",
					      .verb = "get",
					      .ns = str_or(ref->namespace, l->k->ns),
					      .name = ref->name};

		check_right(
			l->k, &r,
			"apply a Role and RoleBinding as in deploy/tenant-kubeconfig.yaml there");
	}
}

/* --- Secrets ---------------------------------------------------------------------------------- */

/* By its metadata alone.  missing: what is said, and done, where it is not there. */
static void check_secret(struct check *k, const char *ns, const char *name, const char *of,
			 const char *missing, const char *mend)
{
	OWN(arena) a = arena_new();
	const char *secret = arena_printf(a, "Secret %s/%s", ns, name);
	struct err e;
	OWN_JSON o = cli_metadata(k->c, &KUBE_SECRETS, ns, name, &e);

	if (o)
		findings_add(k->f, FINDING_OK, secret, NULL, "is there");
	else if (e.kind == ERR_NOT_FOUND)
		findings_add(k->f, FINDING_WRONG, of, mend, "%s", missing);
	else if (e.kind == ERR_DENIED)
		findings_add(k->f, FINDING_UNKNOWN, secret,
			     "whether it is there tells who may get Secrets, or drover why",
			     "you may not get it");
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
			arena_printf(a, "names Secret %s/%s, which is not there", ns, name),
			arena_printf(a,
				     "kubectl -n %s create secret generic %s, or correct the name",
				     ns, name));
	}
	if (all > SECRETS_MAX)
		findings_add(l->k->f, FINDING_UNKNOWN, "Secrets",
			     "drover why: a machine that waits for one says SecretNotFound",
			     "%zu more are named, and were not asked for", all - SECRETS_MAX);
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
		check_secret(k, k->ns, made[i], made[i],
			     "it is not there: nothing can boot an agent",
			     "the controller makes it when it leads: see why it does not");
	if (cli_list(k->c, OBJECT_WIPE_RECORD, on_record, &records, &e) < 0)
		records = 0;
	check_secret(
		k, k->ns, KEYS_EVIDENCE, KEYS_EVIDENCE,
		records ? "it is not there, and records of wipes are: nothing is wiped or claimed"
			: "it is not there: no wipe can be signed",
		records ? "restore it from a backup: with another key no record could be verified"
			: "the controller makes it when it leads: see why it does not");
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
