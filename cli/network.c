/*
 * network: `drover network check`. Asks the network fabric of each Provider whether the fabric has
 * what drover needs, and prints what is wrong and how to fix it. The command uses drover's
 * credentials, connects from the computer on which it runs, and changes nothing.
 * Tests: tests/real/netris.py, tests/contract/test_netris_check.c
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/host_cni.h"
#include "cli/network_waits.h"
#include "providers/netris_check.h"

/* default of --wait in seconds: three heartbeats of a switch at the default interval */
#define WAIT_S 45

enum { WAIT = 0x7001 };

struct names {
	const char **v;
	size_t n, cap;
};

struct network {
	struct cli_options o;
	const char *what, *provider, *ns;
	int64_t wait_s;
	struct cli_client c;
	struct arena *a;
	struct names providers, machines, tenants;
	struct {
		/* v[0]: the quarantine segment of the Provider, v[1]: its provisioning segment;
		 * then one segment for each tenant */
		struct probe_check_segment *v;
		size_t n, cap;
	} probes;
	/* the VirtualClusters that have spec.network.apiServer */
	json_t *clusters;
	/* name of the Provider that is being checked */
	const char *of;
	/* name of a Provider -> array of findings */
	json_t *all;
	/* findings about machines of the current Provider that wait for their port */
	json_t *waits;
	/* number of such machines of all Providers that were checked */
	size_t nwaits;
	unsigned wrong;
	bool answered;
};

/* --- drover's objects ------------------------------------------------------------------------- */

static void names_add(struct names *s, const char *name)
{
	mem_grow(s->v, s->n + 1, s->cap);
	s->v[s->n++] = name;
	s->v[s->n] = NULL;
}

static void on_provider(json_t *o, void *arg)
{
	struct network *w = arg;

	names_add(&w->providers, arena_strdup(w->a, json_str_at(o, "metadata", "name")));
}

static void on_machine(json_t *o, void *arg)
{
	struct network *w = arg;

	json_t *waits;

	if (!str_eq(json_str_at(o, "spec", "providerRef", "name"), w->of))
		return;
	names_add(&w->machines, arena_strdup(w->a, json_str_at(o, "metadata", "name")));
	waits = network_waits_finding(o);
	if (waits)
		json_array_append_new(w->waits, waits);
}

static struct probe_check_segment *probes_add(struct network *w)
{
	mem_grow(w->probes.v, w->probes.n + 1, w->probes.cap);
	w->probes.v[w->probes.n] = (struct probe_check_segment){0};
	return &w->probes.v[w->probes.n++];
}

static void on_tenant(json_t *o, void *arg)
{
	struct network *w = arg;
	const char *name = json_str_at(o, "metadata", "name");
	const char *segment =
		arena_strdup(w->a, str_or(json_str_at(o, "spec", "network", "segment"), name));
	const json_t *probe = json_at(o, "spec", "network", "probe");
	const char **v = arena_calloc(w->a, json_array_size(probe) + 1, sizeof(*v));
	struct probe_check_segment *s = probes_add(w);

	names_add(&w->tenants, segment);
	for (size_t i = 0; i < json_array_size(probe); i++)
		v[i] = arena_strdup(w->a, str_or(json_string_value(json_array_get(probe, i)), ""));
	s->name = arena_printf(w->a, "tenant %s", segment);
	s->field = arena_printf(w->a, "spec.network.probe of VirtualCluster %s", name);
	s->addresses = v;
	s->naddresses = json_array_size(probe);
	if (json_at(o, "spec", "network", "apiServer"))
		json_array_append_new(w->clusters, json_deep_copy(o));
}

/* Completes w->probes for a Provider with network n. v[0] and v[1] become its quarantine and
 * provisioning segments. Each later entry, a tenant's segment, gets the name of its Netris server
 * cluster. */
static void our_probes(struct network *w, const struct provider_object_network *n)
{
	struct probe_check_segment *s = w->probes.v;

	s[0] = (struct probe_check_segment){.name = "quarantine",
					    .field =
						    "spec.network.probe.quarantine of the Provider",
					    .cluster = n->segments.quarantine,
					    .addresses = n->probe.quarantine.v,
					    .naddresses = n->probe.quarantine.n,
					    .shared = true};
	s[1] = (struct probe_check_segment){
		.name = "provisioning",
		.field = "spec.network.probe.provisioning of the Provider",
		.cluster = n->segments.provisioning,
		.addresses = n->probe.provisioning.v,
		.naddresses = n->probe.provisioning.n,
		.shared = true};
	for (size_t i = 2; i < w->probes.n; i++)
		s[i].cluster = n->netris ? arena_printf(w->a, "%s-%s", n->netris->prefix,
							w->tenants.v[i - 2])
					 : NULL;
}

/* Returns the network paths to API servers (spec.network.apiServer) of the tenants that name the
 * current Provider, in the arena, and sets *n to their number. Skips a VirtualCluster that cannot
 * be decoded, because the API server refuses such objects. */
static struct netris_check_api_path *api_paths_of(struct network *w, size_t *n)
{
	struct netris_check_api_path *paths =
		arena_calloc(w->a, json_array_size(w->clusters) + 1, sizeof(*paths));
	json_t *o;
	size_t i;

	*n = 0;
	json_array_foreach (w->clusters, i, o) {
		const struct virtual_cluster *vc;
		const struct virtual_cluster_api_server *s;
		const char **backends;
		struct err e;
		void *out;

		if (object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, w->a, &out, &e) < 0)
			continue;
		vc = out;
		s = vc->spec.network.api_server;
		if (!s->provider_ref || !str_eq(s->provider_ref->name, w->of))
			continue;
		backends = arena_calloc(w->a, s->backends.n + 1, sizeof(*backends));
		for (size_t k = 0; k < s->backends.n; k++)
			backends[k] = s->backends.v[k];
		paths[(*n)++] = (struct netris_check_api_path){
			.tenant = str_or(vc->spec.network.segment, vc->meta.name),
			.path = {.via = s->via == VIA_L4LB ? FABRIC_VIA_L4LB : FABRIC_VIA_VIP,
				 .uid = vc->meta.uid,
				 .address = s->address,
				 .backends = backends}};
	}
	return paths;
}

/* Returns the decoded value of a key of a Secret in drover's namespace, owned by the caller; NULL
 * with *e. */
static struct secret *value_of(struct network *w, const char *name, const char *key, struct err *e)
{
	OWN_JSON o = cli_secret(&w->c, w->ns, name, e);
	const char *coded = json_str_at(o, "data", key);

	if (!o) {
		err_note_wrap(e, "Secret %s in namespace %s", name, w->ns);
		return NULL;
	}
	if (!coded) {
		err_note(e, ERR_NOT_FOUND, 0, "Secret %s has no key %s", name, key);
		return NULL;
	}
	return cli_decoded(coded, e);
}

/* --- findings --------------------------------------------------------------------------------- */

static json_t *finding(const char *of, const char *result, const char *says, const char *mend)
{
	return json_pack("{s:s, s:s, s:s, s:s*}", "of", of, "result", result, "says", says, "mend",
			 mend);
}

static void one_wrong(struct network *w, json_t *findings, const char *of, const char *says,
		      const char *mend)
{
	w->wrong++;
	json_array_append_new(findings, finding(of, "wrong", says, mend));
}

static void on_probe(const char *of, const char *result, const char *says, const char *mend,
		     void *arg)
{
	struct network *w = arg;

	w->wrong += str_eq(result, "wrong");
	json_array_append_new(json_object_get(w->all, w->of), finding(of, result, says, mend));
}

static void on_checked(const json_t *findings, unsigned wrong, void *arg)
{
	struct network *w = arg;

	json_object_set_new(w->all, w->of, json_deep_copy(findings));
	w->wrong += wrong;
	w->answered = true;
	loop_stop(w->c.loop);
}

static void print(const struct network *w)
{
	const char *provider;
	json_t *findings, *f;
	size_t i;

	json_object_foreach (w->all, provider, findings) {
		fprintf(w->c.out, "Provider %s\n", provider);
		json_array_foreach (findings, i, f) {
			const char *mend = json_str_at(f, "mend");

			fprintf(w->c.out, "  %-5s  %s: %s\n", json_str_at(f, "result"),
				json_str_at(f, "of"), json_str_at(f, "says"));
			if (mend)
				fprintf(w->c.out, "         %s\n", mend);
		}
	}
}

/* --- one Provider ----------------------------------------------------------------------------- */

/* Returns an object of the host cluster, owned by the caller; NULL if it does not exist or cannot
 * be read. A read error adds a note to findings. */
static json_t *host_object(struct network *w, const char *path, json_t *findings)
{
	struct err e;
	json_t *o = cli_path(&w->c, path, &e);

	if (!o && e.kind != ERR_NOT_FOUND)
		json_array_append_new(findings, finding("host cluster", "note", e.text, NULL));
	return o;
}

/* Checks the CNI of the host cluster if the network path to a tenant's API server uses a VIP,
 * because the control planes that announce the VIP run in the host cluster. */
static void check_hosts(struct network *w, const struct netris_check_api_path *paths, size_t n,
			json_t *findings)
{
	bool vip = false;

	for (size_t i = 0; i < n; i++)
		vip = vip || paths[i].path.via == FABRIC_VIA_VIP;
	if (!vip)
		return;
	OWN_JSON cilium =
		host_object(w, "/api/v1/namespaces/kube-system/configmaps/cilium-config", findings);
	OWN_JSON felix = host_object(
		w, "/apis/crd.projectcalico.org/v1/felixconfigurations/default", findings);

	w->wrong += host_cni_judge(cilium, felix, findings);
}

static void ask(struct network *w, const struct provider_object_network *n,
		const struct fabric_netris *f, json_t *findings)
{
	struct netris_check_spec s = {.group = w->c.group,
				      .netris = f,
				      .quarantine = n->segments.quarantine,
				      .provisioning = n->segments.provisioning,
				      .machines = w->machines.v,
				      .tenants = w->tenants.v,
				      .probes = w->probes.v,
				      .nprobes = w->probes.n,
				      .wait_ms = w->wait_s * 1000,
				      .done = on_checked,
				      .arg = w};
	struct err e;
	struct netris_check *check;

	s.paths = api_paths_of(w, &s.npaths);
	check = netris_check_new(&s, &e);
	if (!check) {
		one_wrong(w, findings, "controller", e.text,
			  "correct spec.network.netris of the Provider");
		return;
	}
	w->answered = false;
	while (!w->answered)
		loop_run(w->c.loop);
	netris_check_free(check);
	check_hosts(w, s.paths, s.npaths, json_object_get(w->all, w->of));
}

static const char **names_of(struct network *w, const struct strings *s)
{
	const char **v = arena_calloc(w->a, s->n + 1, sizeof(*v));

	if (s->n)
		memcpy(v, s->v, s->n * sizeof(*v));
	return v;
}

/* Checks the fabric of a Provider that uses Netris. A problem with its Secrets is added to
 * findings. */
static void check_netris(struct network *w, const struct provider_object_network *n,
			 json_t *findings)
{
	const struct provider_object_netris *o = n->netris;
	const char *name = o->credentials_secret_ref.name, *pin = o->tls.fingerprint;
	const struct object_secret_ref *ca_ref = o->tls.ca_secret_ref;
	struct err e;
	OWN(secret) user = value_of(w, name, "username", &e);
	OWN(secret) password = user ? value_of(w, name, "password", &e) : NULL;
	OWN(secret) endpoint = password ? value_of(w, name, "endpoint", &e) : NULL;
	OWN(secret)
	ca = endpoint && ca_ref ? value_of(w, ca_ref->name, str_or(ca_ref->key, "ca.crt"), &e)
				: NULL;
	struct fabric_netris f = {
		.http = w->c.http,
		.url = o->endpoint,
		.user = user ? secret_expose(user) : NULL,
		.password = password,
		.ca_pem = ca ? secret_expose(ca) : NULL,
		.pin_sha256 = pin && str_starts(pin, "sha256:") ? pin + strlen("sha256:") : pin,
		.site = o->site,
		.template_ = o->template_,
		.admin = o->admin,
		.prefix = o->prefix,
		.host_servers = names_of(w, &o->host_servers),
		.common_vnets = names_of(w, &o->common_vnets)};

	if (!endpoint || (ca_ref && !ca)) {
		one_wrong(w, findings, "Secret", e.text,
			  "create it in drover's namespace with keys username, password and "
			  "endpoint; the Secret of tls.caSecretRef needs key ca.crt");
		return;
	}
	if (!secret_equal_bytes(endpoint, o->endpoint, strlen(o->endpoint))) {
		one_wrong(w, findings, "Secret",
			  "its key endpoint differs from spec.network.netris.endpoint, so drover "
			  "does not send the password to that endpoint",
			  "set both to the URL of the fabric's controller");
		return;
	}
	ask(w, n, &f, findings);
}

static int check(struct network *w, const char *name)
{
	struct err e;
	OWN_JSON o = cli_get(&w->c, OBJECT_PROVIDER, name, &e);
	json_t *findings = json_array();
	const struct provider_object *p;
	void *out;

	json_object_set_new(w->all, name, findings);
	w->of = name;
	w->machines.n = 0;
	json_array_clear(w->waits);
	if (!o || cli_list(&w->c, OBJECT_MACHINE, on_machine, w, &e) < 0)
		return cli_failed_read(&w->c, &e);
	if (object_decode(&object_kinds[OBJECT_PROVIDER], o, w->a, &out, &e) < 0) {
		one_wrong(w, findings, "Provider", e.text,
			  "correct the field that this message names");
		return 0;
	}
	p = out;
	our_probes(w, &p->spec.network);
	if (p->spec.network.type == FABRIC_NETRIS)
		check_netris(w, &p->spec.network, findings);
	else
		json_array_append_new(
			findings,
			finding("Provider", "note",
				p->spec.network.type == FABRIC_EXEC
					? "type exec: only drover's controller runs the fabric's "
					  "program, so this command does not check it"
					: "type none: drover neither moves switch ports nor proves "
					  "their segment",
				NULL));
	if (p->spec.network.type == FABRIC_EXEC)
		probe_check(w->probes.v, w->probes.n, on_probe, w);
	w->nwaits += json_array_size(w->waits);
	json_array_extend(json_object_get(w->all, name), w->waits);
	return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct argp_option options[] = {
	CLI_NAMESPACE_ROW,
	{"wait", WAIT, "SECONDS", 0,
	 "Wait at most this long for switches to report, 0 to 3600 (default: 45)", 0},
	CLI_OPTION_ROWS};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct network *w = st->input;

	switch (key) {
	case 'n':
		w->ns = arg;
		return 0;
	case WAIT:
		if (!str_to_i64(arg, 0, 3600, &w->wait_s))
			argp_error(st, "--wait: want 0 to 3600 seconds, got '%s'", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!w->what && !str_eq(arg, "check"))
			argp_error(st, "unknown subcommand '%s': want check", arg);
		else if (!w->what)
			w->what = arg;
		else if (w->provider)
			argp_error(st, "one Provider at a time");
		else
			w->provider = arg;
		return 0;
	case ARGP_KEY_END:
		if (!w->what)
			argp_error(st, "missing subcommand: want check");
		return 0;
	default:
		return cli_option(key, arg, st, &w->o);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "check [PROVIDER]",
	.doc = "Check that the network fabric of Providers has what drover needs: login, site, "
	       "template, server clusters, each Machine with its links, the paths to tenants' API "
	       "servers, switches. The command prints what is wrong and how to fix it, and which "
	       "machines wait for drover to move their switch port. The command changes "
	       "nothing.\vExamples:\n"
	       "  drover network check\n"
	       "  drover network check hall-a -o json\n"
	       "The command reads Providers, Machines, VirtualClusters and the Secrets that the "
	       "Provider names; if a tenant's API server is reached through a VIP, also the "
	       "settings of Cilium and Calico in the host cluster. It calls the fabric's "
	       "controller from this machine. Exit status 1: something is wrong, a machine waits "
	       "for its port, or something could not be checked.",
};

static int run(struct network *w)
{
	struct err e;
	int status = 0;

	(void)probes_add(w);
	(void)probes_add(w);
	if (w->provider)
		names_add(&w->providers, w->provider);
	else if (cli_list(&w->c, OBJECT_PROVIDER, on_provider, w, &e) < 0)
		return cli_report_unreadable(&w->c, OBJECT_PROVIDER, NULL, &e);
	if (cli_list(&w->c, OBJECT_VIRTUAL_CLUSTER, on_tenant, w, &e) < 0)
		return cli_report_unreadable(&w->c, OBJECT_VIRTUAL_CLUSTER, NULL, &e);
	for (size_t i = 0; i < w->providers.n; i++)
		status = check(w, w->providers.v[i]) || status;
	if (w->c.json) {
		json_dumpf(w->all, w->c.out, JSON_INDENT(2));
		fputc('\n', w->c.out);
	} else {
		print(w);
		network_waits_verdict(w->all, w->wrong, w->c.out);
	}
	return status || w->wrong > 0 || w->nwaits > 0;
}

int cli_network(int argc, char **argv)
{
	struct network w = {.ns = "drover-system", .wait_s = WAIT_S};
	int status;

	args_parse(&argp, argc, argv, &w);
	if (cli_open(&w.c, "drover network", &w.o) < 0)
		return 1;
	w.a = arena_new();
	w.all = json_object();
	w.clusters = json_array();
	w.waits = json_array();
	status = run(&w);
	json_decref(w.all);
	json_decref(w.clusters);
	json_decref(w.waits);
	arena_free(w.a);
	free(w.providers.v);
	free(w.machines.v);
	free(w.tenants.v);
	free(w.probes.v);
	cli_close(&w.c);
	return status;
}
