/*
 * tenant: `drover tenant import`. Finds the vClusters of the host cluster by the labels of their
 * Services. For each vCluster it prints the objects that an administrator applies to make it a
 * tenant: the VirtualCluster, and a Role and RoleBinding for the Secret with its kubeconfig. It
 * reads no Secret and writes nothing.
 *
 * A vCluster NAME has a Service NAME with labels app=vcluster and release=NAME, a StatefulSet or
 * Deployment NAME, and a Secret vc-NAME, all in one namespace (chart/templates of
 * github.com/loft-sh/vcluster). Objects that a vCluster syncs for its tenant have the label
 * vcluster.loft.sh/managed-by. A synced Service that looks like a vCluster is therefore ignored.
 * Tests: tests/unit/cli/test_tenant.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/import_args.h"
#include "cli/verbs.h"

#define CHART_LABELS "app=vcluster,release,!vcluster.loft.sh/managed-by"

struct found_cluster {
	const char *ns, *name, *server, *join;
};
struct tenant_import {
	struct cli_client *c;
	const struct cli_import *want;
	struct arena *a;
	struct {
		struct found_cluster *v;
		size_t n, cap;
	} found;
	/* "NAMESPACE/NAME" of a kubeconfig Secret -> name of the VirtualCluster that refers to the
	 * Secret */
	json_t *tenants;
	/* set of the names of all VirtualClusters */
	json_t *names;
	/* objects to print */
	json_t *objects;
	struct buf notes;
};

/* --- reading ---------------------------------------------------------------------------------- */

static void on_tenant(json_t *o, void *arg)
{
	struct tenant_import *m = arg;
	const json_t *ref = json_at(o, "spec", "kubeconfigSecretRef");
	const char *name = json_str_at(o, "metadata", "name");
	const char *key =
		arena_printf(m->a, "%s/%s", str_or(json_str_at(ref, "namespace"), m->want->ns),
			     str_or(json_str_at(ref, "name"), ""));

	json_object_set_new(m->tenants, key, json_string(name));
	json_object_set_new(m->names, name, json_true());
}

static const char *host_port(struct arena *a, const char *host, json_int_t port)
{
	return strchr(host, ':') ? arena_printf(a, "[%s]:%lld", host, (long long)port)
				 : arena_printf(a, "%s:%lld", host, (long long)port);
}

static json_int_t port_of(const json_t *service)
{
	const json_t *ports = json_at(service, "spec", "ports");
	json_t *p;
	size_t i;

	json_array_foreach (ports, i, p)
		if (str_eq(json_str_at(p, "name"), "https"))
			return json_int_at(p, "port");
	return json_int_at(json_array_get(ports, 0), "port");
}

/* True if the vCluster ns/name is the one that the caller asked for. The names are compared here,
 * because a label selector built from the argument could match other objects. */
static bool is_wanted(const struct tenant_import *m, const char *ns, const char *name)
{
	const char *of = m->want->of, *slash = of ? strchr(of, '/') : NULL;

	if (!of)
		return true;
	if (!slash)
		return str_eq(of, name);
	return strlen(ns) == (size_t)(slash - of) && str_starts(of, ns) && str_eq(slash + 1, name);
}

static void on_service(json_t *o, void *arg)
{
	struct tenant_import *m = arg;
	const char *name = json_str_at(o, "metadata", "name"),
		   *ns = json_str_at(o, "metadata", "namespace"),
		   *ip = json_str_at(o, "spec", "clusterIP");
	const json_t *balancer = json_array_get(json_at(o, "status", "loadBalancer", "ingress"), 0);
	const char *outside =
		str_or(json_str_at(balancer, "ip"), json_str_at(balancer, "hostname"));
	struct found_cluster f = {.ns = arena_strdup(m->a, ns), .name = arena_strdup(m->a, name)};

	/* Accept only the Service whose name is that of the release. The release has more Services,
	 * such as NAME-headless. */
	if (!str_eq(name, json_str_at(o, "metadata", "labels", "release")) ||
	    !str_is_dns_label(name) || !is_wanted(m, ns, name))
		return;
	if (outside)
		f.join = host_port(m->a, outside, port_of(o));
	if (outside || (!str_empty(ip) && !str_eq(ip, "None")))
		f.server = arena_printf(m->a, "https://%s",
					host_port(m->a, outside ? outside : ip, port_of(o)));
	mem_grow(m->found.v, m->found.n + 1, m->found.cap);
	m->found.v[m->found.n++] = f;
}

/* Returns the kind of the workload that runs the vCluster's control plane, "StatefulSet" or
 * "Deployment"; NULL: neither exists with the vCluster's name. */
static const char *control_plane(struct tenant_import *m, const struct found_cluster *f)
{
	static const struct kube_resource *const kinds[] = {&KUBE_STATEFULSETS, &KUBE_DEPLOYMENTS};
	struct err e;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		OWN_JSON o = cli_metadata(m->c, kinds[i], f->ns, f->name, &e);

		if (o)
			return kinds[i]->kind;
	}
	return NULL;
}

/* --- objects to apply ------------------------------------------------------------------------- */

static void note(struct tenant_import *m, const char *text)
{
	char *line = mem_strdup(text);

	str_printable(line);
	buf_printf(&m->notes, "# %s\n", line);
	free(line);
}

static json_t *object_of(const char *version, const char *kind, const char *name, const char *ns)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s*}}", "apiVersion", version, "kind", kind,
			 "metadata", "name", name, "namespace", ns);
}

static json_t *tenant_of(const struct tenant_import *m, const struct found_cluster *f,
			 const char *name, const char *secret, const char *runs)
{
	json_t *o = object_of(OBJECT_API_VERSION, "VirtualCluster", name, NULL);
	json_t *spec =
		json_pack("{s:{s:s, s:s}, s:s*, s:s*, s:{s:s}}", "kubeconfigSecretRef", "namespace",
			  f->ns, "name", secret, "server", f->server, "joinEndpoint", f->join,
			  "quota", "nvidia.com/gpu", str_or(m->want->quota, "0"));

	if (runs)
		json_object_set_new(spec, "controlPlane",
				    json_pack("{s:s, s:s, s:s}", "kind", runs, "namespace", f->ns,
					      "name", f->name));
	json_object_set_new(o, "spec", spec);
	return o;
}

/* Adds a Role and a RoleBinding as in deploy/tenant-kubeconfig.yaml to the printed objects. They
 * let drover read the kubeconfig Secret, and the workload if runs is set. runs: "StatefulSet",
 * "Deployment" or NULL. */
static void add_rights(struct tenant_import *m, const struct found_cluster *f, const char *secret,
		       const char *runs)
{
	const char *name = arena_printf(m->a, "drover-kubeconfig-%s", f->name),
		   *version = "rbac.authorization.k8s.io/v1";
	json_t *role = object_of(version, "Role", name, f->ns),
	       *binding = object_of(version, "RoleBinding", name, f->ns);
	json_t *rules = json_pack("[{s:[s], s:[s], s:[s], s:[s]}]", "apiGroups", "", "resources",
				  "secrets", "resourceNames", secret, "verbs", "get");

	if (runs)
		json_array_append_new(
			rules,
			json_pack("{s:[s], s:[s], s:[s], s:[s]}", "apiGroups", "apps", "resources",
				  str_eq(runs, "Deployment") ? "deployments" : "statefulsets",
				  "resourceNames", f->name, "verbs", "get"));
	json_object_set_new(role, "rules", rules);
	json_object_set_new(binding, "roleRef",
			    json_pack("{s:s, s:s, s:s}", "apiGroup", "rbac.authorization.k8s.io",
				      "kind", "Role", "name", name));
	json_object_set_new(binding, "subjects",
			    json_pack("[{s:s, s:s, s:s}]", "kind", "ServiceAccount", "name",
				      "drover", "namespace", m->want->ns));
	json_array_append_new(m->objects, role);
	json_array_append_new(m->objects, binding);
}

static void import_one(struct tenant_import *m, const struct found_cluster *f)
{
	const char *secret = arena_printf(m->a, "vc-%s", f->name);
	const char *known = json_string_value(
		json_object_get(m->tenants, arena_printf(m->a, "%s/%s", f->ns, secret)));
	const char *name = json_object_get(m->names, f->name)
				   ? arena_printf(m->a, "%s-%s", f->ns, f->name)
				   : f->name;
	const char *runs;

	if (known) {
		note(m, arena_printf(m->a, "vCluster %s/%s is already tenant %s", f->ns, f->name,
				     known));
		return;
	}
	runs = control_plane(m, f);
	note(m, arena_printf(m->a, "vCluster %s/%s becomes tenant %s", f->ns, f->name, name));
	if (!m->want->quota)
		note(m, "  quota: 0 GPUs; set another number with --quota");
	if (!runs)
		note(m,
		     "  controlPlane: found no StatefulSet or Deployment of this name, so drover "
		     "cannot tell whether the vCluster sleeps");
	if (!f->server)
		note(m, "  server: the Service has no address yet; if the server in the kubeconfig "
			"is localhost, drover refuses the kubeconfig until you set spec.server");
	if (!f->join)
		note(m,
		     "  joinEndpoint: the Service has no address outside the cluster; nodes join "
		     "at the endpoint in the vCluster's kubeadm-config");
	json_object_set_new(m->names, name, json_true());
	json_array_append_new(m->objects, tenant_of(m, f, name, secret, runs));
	add_rights(m, f, secret, runs);
}

/* --- printing --------------------------------------------------------------------------------- */

static void print(struct tenant_import *m)
{
	json_t *o;
	size_t i;

	if (m->c->json) {
		OWN_JSON all = json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List",
					 "items", m->objects);

		json_dumpf(all, m->c->out, JSON_INDENT(2));
		fputc('\n', m->c->out);
		return;
	}
	fwrite(m->notes.data, 1, m->notes.len, m->c->out);
	json_array_foreach (m->objects, i, o) {
		struct buf b;

		buf_init(&b, 1 << 20);
		yaml_print(o, &b);
		fprintf(m->c->out, "---\n%s", b.data);
		buf_done(&b);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct found_cluster *x = a, *y = b;
	int rc = strcmp(x->ns, y->ns);

	return rc ? rc : strcmp(x->name, y->name);
}

static int import(struct tenant_import *m)
{
	const char *of = m->want->of, *slash = of ? strchr(of, '/') : NULL;
	const char *in = slash ? arena_strndup(m->a, of, (size_t)(slash - of)) : NULL;
	struct err e;

	if (cli_list(m->c, OBJECT_VIRTUAL_CLUSTER, on_tenant, m, &e) < 0)
		return cli_report_unreadable(m->c, OBJECT_VIRTUAL_CLUSTER, NULL, &e);
	if (cli_list_of(m->c, &KUBE_SERVICES, in, /* mutant: import-synced */ CHART_LABELS,
			on_service, m, &e) < 0)
		return cli_failed(m->c,
				  "%s; finding vClusters needs the permission `list` on services%s",
				  e.text,
				  in ? " in that namespace"
				     : " in all namespaces; to need it in one namespace only, give "
				       "NAMESPACE/NAME");
	if (!m->found.n)
		return cli_failed(m->c,
				  "found no vCluster %s%sin this cluster (no Service with labels "
				  "app=vcluster, release=NAME)",
				  str_or(of, ""), of ? " " : "");
	qsort(m->found.v, m->found.n, sizeof(*m->found.v), by_place);
	for (size_t i = 0; i < m->found.n; i++)
		import_one(m, &m->found.v[i]);
	print(m);
	return 0;
}

int cli_do_import(struct cli_client *c, const struct cli_import *i)
{
	OWN(arena) a = arena_new();
	OWN_JSON tenants = json_object();
	OWN_JSON names = json_object();
	OWN_JSON objects = json_array();
	struct tenant_import m = {
		.c = c, .want = i, .a = a, .tenants = tenants, .names = names, .objects = objects};
	int status;

	buf_init(&m.notes, 16 << 20);
	status = import(&m);
	buf_done(&m.notes);
	free(m.found.v);
	return status;
}

/* --- the command ------------------------------------------------------------------------------ */

struct tenant_import_args {
	struct import_args all;
	const char *quota;
};

static const struct argp_option options[] = {
	{"quota", 'q', "GPUS", 0, "GPU quota of each tenant (default: 0)", 0},
	CLI_NAMESPACE_ROW,
	CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct tenant_import_args *v = st->input;
	int64_t gpus;

	if (key != 'q')
		return import_args_parse(key, arg, st, &v->all, "vCluster");
	if (!str_to_i64(arg, 0, 1000000, &gpus))
		argp_error(st, "--quota: want a number of GPUs, got '%s'", arg);
	v->quota = arg;
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = IMPORT_ARGS_DOC,
	.doc = "Find the vClusters of the host cluster by their Services. For each that is not a "
	       "tenant yet, print the objects that make it a tenant: the VirtualCluster, and a "
	       "Role and RoleBinding that let drover read the Secret with its kubeconfig.\v"
	       "Examples:\n"
	       "  drover tenant import\n"
	       "  drover tenant import team-a --quota 64 | kubectl apply -f -\n"
	       "  drover tenant import vc-team-a/team-a -o json\n"
	       "The command reads no Secret and changes nothing: review its output, then apply it. "
	       "Exit status 1: there is no vCluster, or the cluster could not be read.",
};

int cli_tenant(int argc, char **argv)
{
	struct tenant_import_args v = {.all.ns = "drover-system"};
	struct cli_client c;
	int status;

	args_parse(&argp, argc, argv, &v);
	if (cli_open(&c, "drover tenant", &v.all.o) < 0)
		return 1;
	status = cli_do_import(
		&c, &(struct cli_import){.of = v.all.of, .quota = v.quota, .ns = v.all.ns});
	cli_close(&c);
	return status;
}
