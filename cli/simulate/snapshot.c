/*
 * snapshot: writes each object as soon as it arrives. Objects of drover are decoded and encoded
 * through their field tables, so that the file has only fields that simulate reads.
 */
#include "cli/simulate/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/buf.h"
#include "base/data/yaml.h"
#include "base/loop/loop.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/str.h"
#include "controller/tenant/pod_groups.h"
#include "controller/tenant/projection.h"
#include "kube/client.h"
#include "kube/config.h"

#define DOCUMENT_MAX ((size_t)16 << 20)
#define NO_ENVELOPE "e30="

struct shot {
	const struct snapshot_spec *s;
	FILE *out;
	/* kind of the objects that the API server is listing now */
	enum object_kind_id kind;
	/* tenant whose objects are being read now; NULL: the objects of the host cluster are being
	 * read */
	const char *tenant;
	/* set of the names of the WipeRecords to which Machines refer */
	struct map *records;
	/* VirtualClusters as the API returned them */
	json_t *tenants;
	/* for each kind of PodGroup: true if a pod of the current tenant names a PodGroup of this
	 * kind */
	bool gangs[GANG_KINDS];
	bool missing;
};

static void miss(struct shot *t, const char *what, const char *why)
{
	t->missing = true;
	(void)cli_failed(t->s->c, "%s: %s", what, why);
	fprintf(t->out, "# missing: %s: ", what);
	for (; *why; why++)
		fputc((unsigned char)*why < ' ' ? ' ' : *why, t->out);
	fputc('\n', t->out);
}

static void print(struct shot *t, const json_t *o)
{
	struct buf b;

	buf_init(&b, DOCUMENT_MAX);
	buf_puts(&b, "---\n");
	yaml_print(o, &b);
	if (b.over)
		miss(t, str_or(json_str_at(o, "metadata", "name"), "?"),
		     "the object is larger than 16 MiB");
	else
		fwrite(b.data, 1, b.len, t->out);
	buf_done(&b);
}

static json_t *document(const char *version, const char *kind, const char *tenant, json_t *body)
{
	json_t *o = json_pack("{s:s, s:s}", "apiVersion", version, "kind", kind);

	if (tenant)
		json_object_set_new(o, "tenant", json_string(tenant));
	json_object_update(o, body);
	return o;
}

/* --- the host cluster ------------------------------------------------------------------------- */

/* Removes the members of o that no plan reads, and those that must not leave the installation. */
static void strip(enum object_kind_id kind, json_t *o)
{
	static const struct {
		enum object_kind_id kind;
		const char *part, *member;
	} out[] = {
		{OBJECT_PROVIDER, "spec", "boot"},	   {OBJECT_PROVIDER, "spec", "agent"},
		{OBJECT_PROVIDER, "status", "bcm"},	   {OBJECT_MACHINE, "spec", "identity"},
		{OBJECT_MACHINE, "spec", "bmc"},	   {OBJECT_MACHINE, "spec", "provisioning"},
		{OBJECT_MACHINE, "status", "inventory"},   {OBJECT_MACHINE, "status", "identity"},
		{OBJECT_MACHINE, "status", "bmc"},	   {OBJECT_MACHINE, "status", "trustedBMC"},
		{OBJECT_MACHINE, "status", "wipeAttempt"},
	};
	static const char *const meta[] = {"annotations", "finalizers", "ownerReferences",
					   "resourceVersion", "generation"};

	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		if (out[i].kind == kind)
			json_object_del(json_object_get(o, out[i].part), out[i].member);
	for (size_t i = 0; i < sizeof(meta) / sizeof(meta[0]); i++)
		json_object_del(json_object_get(o, "metadata"), meta[i]);
	/* the command is replaced, because it may contain a password */
	if (json_at(o, "spec", "network", "exec", "command"))
		json_object_set_new(json_at(o, "spec", "network", "exec"), "command",
				    json_pack("[s]", "-"));
	if (kind == OBJECT_WIPE_RECORD)
		json_object_set_new(json_object_get(o, "spec"), "envelope",
				    json_string(NO_ENVELOPE));
}

static void on_object(json_t *o, void *arg)
{
	struct shot *t = arg;
	const struct object_kind *k = &object_kinds[t->kind];
	const char *name = str_or(json_str_at(o, "metadata", "name"), "?"),
		   *record = json_str_at(o, "status", "lastWipe", "record");
	OWN(arena) a = arena_new();
	OWN_JSON body = NULL;
	OWN_JSON whole = NULL;
	struct err e;
	void *object;

	if (t->kind == OBJECT_WIPE_RECORD && !map_has(t->records, name))
		return;
	if (object_decode(k, o, a, &object, &e) < 0) {
		miss(t, name, e.text);
		return;
	}
	if (t->kind == OBJECT_MACHINE && record)
		map_put(t->records, record, t);
	if (t->kind == OBJECT_VIRTUAL_CLUSTER)
		json_array_append(t->tenants, o);
	body = fields_encode(k->fields, object);
	/* mutant: snapshot-unstripped */
	strip(t->kind, body);
	whole = document(OBJECT_API_VERSION, k->kind, NULL, body);
	print(t, whole);
}

static void write_head(struct shot *t)
{
	struct err e;
	OWN_JSON version = cli_path(t->s->c, "/version", &e);
	const char *git = json_str_at(version, "gitVersion");
	char now[STR_TIME_SIZE];
	OWN_JSON head = NULL;
	char minor[16] = "";
	size_t dot;

	fprintf(t->out, "# drover snapshot, %s\n", str_time(now, loop_wall(t->s->c->loop)));
	head = json_pack("{s:s, s:s, s:{s:s}, s:{}}", "apiVersion", OBJECT_API_VERSION, "kind",
			 "Scenario", "metadata", "name", "snapshot", "spec");
	if (git && *git == 'v' && (dot = strcspn(git, ".")) < 6 && git[dot]) {
		/* minor version: v1.36.2 becomes 1.36 */
		(void)str_format(minor, sizeof(minor), "%.*s",
				 (int)(dot + strspn(git + dot + 1, "0123456789")), git + 1);
		json_object_set_new(json_object_get(head, "spec"), "hostVersion",
				    json_string(minor));
	}
	print(t, head);
}

static int write_host(struct shot *t)
{
	static const enum object_kind_id kinds[] = {OBJECT_PROVIDER,	    OBJECT_NODE_POOL,
						    OBJECT_VIRTUAL_CLUSTER, OBJECT_MACHINE,
						    OBJECT_NODE_CLAIM,	    OBJECT_WIPE_RECORD};
	struct err e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		t->kind = kinds[i];
		if (cli_list(t->s->c, t->kind, on_object, t, &e) < 0)
			return cli_report_unreadable(t->s->c, t->kind, NULL, &e);
	}
	return 0;
}

/* --- tenants ---------------------------------------------------------------------------------- */

struct listing {
	struct shot *shot;
	/* the items that have arrived; emptied if the list restarts */
	json_t *items;
	struct err e;
	bool in, good;
};

static void on_item(json_t *o, void *arg)
{
	json_object_del(json_object_get(o, "metadata"), "resourceVersion");
	json_array_append(((struct listing *)arg)->items, o);
}

static void on_restart(void *arg)
{
	json_array_clear(((struct listing *)arg)->items);
}

static void on_done(const char *rv, const struct err *e, void *arg)
{
	struct listing *l = arg;

	(void)rv;
	l->in = true;
	l->good = !e;
	if (e)
		l->e = *e;
	loop_stop(l->shot->s->c->loop);
}

static void note_gang(struct shot *t, const json_t *pod)
{
	OWN(arena) a = arena_new();
	const struct gang_name *g = gang_name_of(pod, a);

	if (g && g->kind < GANG_KINDS)
		t->gangs[g->kind] = true;
}

/* Writes all objects of one kind of a tenant, with the fields that the controller reads. version:
 * their apiVersion. False: the tenant's API server does not serve the kind. */
static bool write_list(struct shot *t, struct kube_client *from, const struct kube_list_spec *what,
		       const char *version)
{
	struct listing l = {.shot = t, .items = json_array()};
	struct kube_list_spec s = *what;
	bool served;
	json_t *o;
	size_t i;

	s.on_item = on_item;
	s.on_restart = on_restart;
	s.done = on_done;
	s.arg = &l;
	(void)kube_list(from, &s);
	while (!l.in)
		loop_run(t->s->c->loop);
	served = l.good || l.e.kind != ERR_NOT_FOUND;
	if (!l.good && served)
		miss(t, t->tenant, l.e.text);
	json_array_foreach (l.items, i, o) {
		OWN_JSON whole = document(version, what->resource->kind, t->tenant, o);

		if (what->resource == &KUBE_PODS)
			note_gang(t, o);

		if (l.good)
			print(t, whole);
	}
	json_decref(l.items);
	return served;
}

/* Writes the PodGroups and Workloads of each kind that the tenant's pods name, in the first version
 * that the tenant's API server serves. */
static void write_groups(struct shot *t, struct kube_client *c)
{
	OWN(arena) a = arena_new();

	for (int k = 0; k < GANG_KINDS; k++)
		for (int i = 0; t->gangs[k]; i++) {
			const struct kube_resource *r = pod_groups_resource((enum gang_kind)k, i);
			const struct kube_list_spec s = {.resource = r, .want = gang_want_group};

			if (!r ||
			    write_list(t, c, &s, arena_printf(a, "%s/%s", r->group, r->version)))
				break;
		}
}

static struct kube_client *client_of(struct shot *t, const struct virtual_cluster *vc,
				     struct err *e)
{
	const struct object_secret_ref *r = &vc->spec.kubeconfig_secret_ref;
	struct kube_client_spec cs = {
		.name = vc->meta.name, .timeout_ms = 10000, .plain_ok = t->s->plain_ok};
	OWN_JSON secret = cli_secret(t->s->c, str_or(r->namespace, t->s->ns), r->name, e);
	const char *coded = json_str_at(secret, "data", str_or(r->key, "config"));

	if (!secret)
		return NULL;
	if (!coded) {
		err_note(e, ERR_INVALID, 0, "Secret %s has no key %s", r->name,
			 str_or(r->key, "config"));
		return NULL;
	}
	OWN(secret) text = cli_decoded(coded, e);
	OWN(kube_config)
	config = text ? kube_config_parse(secret_expose(text), secret_len(text), KUBE_CONFIG_TENANT,
					  vc->spec.server, NULL, e)
		      : NULL;
	cs.config = config;
	return config ? kube_client_new(t->s->c->group, t->s->c->http, &cs, e) : NULL;
}

static void write_tenant(struct shot *t, const json_t *o)
{
	OWN(arena) a = arena_new();
	struct kube_list_spec pods = {.resource = &KUBE_PODS,
				      .want = tenant_want_pod,
				      .field_selector =
					      "status.phase!=Succeeded,status.phase!=Failed"},
			      nodes = {.resource = &KUBE_NODES, .want = tenant_want_node};
	const struct virtual_cluster *vc;
	struct kube_client *c;
	struct err e;
	void *out;

	if (object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, a, &out, &e) < 0)
		return; /* no message here, because write_host() has reported the error */
	vc = out;
	t->tenant = vc->meta.name;
	c = client_of(t, vc, &e);
	if (!c) {
		miss(t, t->tenant, e.text);
		return;
	}
	if (vc->spec.nodes == VIRTUAL_CLUSTER_HOST)
		nodes.label_selector = arena_printf(a, TENANT_LABEL_CLUSTER "=%s", vc->meta.name);
	memset(t->gangs, 0, sizeof(t->gangs));
	(void)write_list(t, vc->spec.nodes == VIRTUAL_CLUSTER_HOST ? t->s->c->host : c, &nodes,
			 "v1");
	(void)write_list(t, c, &pods, "v1");
	write_groups(t, c);
	kube_client_free(c);
}

int snapshot_write(const struct snapshot_spec *s, FILE *out)
{
	struct shot t = {.s = s, .out = out, .records = map_new(NULL), .tenants = json_array()};
	json_t *o;
	size_t i;
	int rc;

	write_head(&t);
	rc = write_host(&t);
	json_array_foreach (t.tenants, i, o)
		if (rc == 0 && s->tenants)
			write_tenant(&t, o);
	map_free(t.records);
	json_decref(t.tenants);
	return rc || t.missing;
}
