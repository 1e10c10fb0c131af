#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "api/resources.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/api_paths.h"
#include "controller/core/claim_index.h"
#include "controller/core/counters.h"
#include "controller/core/machine_lists.h"
#include "controller/core/record_index.h"
#include "controller/core/reserved.h"
#include "controller/drain/drains.h"

#define WAIT_MS 60000
#define TOKEN "bench-token-0123456789"

static const enum object_kind_id watched[] = {
	OBJECT_NODE_POOL,   OBJECT_NODE_CLAIM,	    OBJECT_MACHINE,
	OBJECT_PROVIDER,    OBJECT_VIRTUAL_CLUSTER, OBJECT_DRAIN,
	OBJECT_WIPE_RECORD, OBJECT_BURST_LEDGER,    OBJECT_AUDIT_SEGMENT,
};
#define WATCHED (sizeof(watched) / sizeof(watched[0]))

void bench_run(struct bench *d, int64_t ms)
{
	loop_sim_run_until(d->l, loop_now(d->l) + ms);
}

json_t *bench_json(const char *text)
{
	char *copy = mem_strdup(text);
	struct err e;
	json_t *j;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	j = json_parse(copy, strlen(copy), &e);
	if (!j)
		fail_msg("%s: %s", e.text, copy);
	free(copy);
	return j;
}

/* --- API servers ------------------------------------------------------------------------------ */

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct bench *d = arg;

	d->done = true;
	d->status = e ? -1 : r->status;
	str_copy(d->text, sizeof(d->text), e ? e->text : r->body);
}

static bool is_done(void *arg)
{
	return ((struct bench *)arg)->done;
}

int bench_do(struct bench *d, struct bench_api *api, const char *method, const char *path,
	     const char *body)
{
	OWN_JSON j = body ? bench_json(body) : NULL;
	char *text = j ? json_text(j) : NULL;
	struct http_call c = {
		.method = method,
		.path = path,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type = str_eq(method, "PATCH") ? "application/merge-patch+json"
							: "application/json",
		.done = on_reply,
		.arg = d,
	};

	d->done = false;
	http_start(api->admin, &c);
	free(text);
	if (!loop_sim_run_cond(d->l, is_done, d, loop_now(d->l) + WAIT_MS))
		fail_msg("%s %s: no answer", method, path);
	return d->status;
}

void bench_must(struct bench *d, struct bench_api *api, const char *method, const char *path,
		const char *body)
{
	int status = bench_do(d, api, method, path, body);

	if (status < 200 || status > 299)
		fail_msg("%s %s: %d %s", method, path, status, d->text);
}

/* Serves GET /node/join. A request without a bearer token comes from the test itself. */
static void on_join_script(struct httpd_req *q, void *arg)
{
	static const char script[] = "#!/bin/sh\nset -e\n";
	const struct bench_api *api = arg;

	httpd_reply(q, api->join_script ? api->join_script : 404, "text/plain", script,
		    sizeof(script) - 1);
}

static const char *user_of(const struct httpd_req *q, void *arg)
{
	struct bench_api *api = arg;
	OWN(secret) shown = httpd_bearer(q);

	if (!shown)
		return "system:admin";
	api->counted += api->counted_at && strstr(httpd_path(q), api->counted_at);
	if (api->denied_at && strstr(httpd_path(q), api->denied_at)) {
		api->denials++;
		return NULL;
	}
	return !api->denied && str_eq(secret_expose(shown), TOKEN) ? "drover" : NULL;
}

static void start_api(struct bench *d, struct bench_api *api, const char *origin)
{
	struct apiserver_spec spec = {
		.version = "v1.36.2", .user_of = user_of, .arg = api, .join_endpoint = BENCH_JOIN};
	struct http_peer_spec peer = {.base_url = origin};
	struct err e;

	api->origin = origin;
	api->store = store_mem_new(d->server_g, 10000);
	api->api = apiserver_new(d->server_g, api->store, &spec);
	api->d = httpd_new(d->server_g);
	httpd_route(api->d, "GET", "/node/join", 0, on_join_script, api);
	apiserver_routes(api->api, api->d);
	http_mem_serve(d->net, origin, api->d);
	api->admin = http_peer_new(d->admin, &peer, &e);
}

static void stop_api(struct bench_api *api)
{
	http_peer_free(api->admin);
	httpd_free(api->d);
	apiserver_free(api->api);
	store_free(api->store);
}

void bench_away(struct bench *d, struct bench_api *api, bool away)
{
	http_mem_serve(d->net, api->origin, away ? NULL : api->d);
}

json_t *bench_stored(struct bench_api *api, const char *key)
{
	struct store_entry en;
	struct err e;

	return store_get(api->store, key, &en) ? json_parse(en.value, en.value_len, &e) : NULL;
}

json_t *bench_get(struct bench *d, enum object_kind_id kind, const char *name)
{
	OWN(arena) a = arena_new();

	return bench_stored(&d->host, arena_printf(a, "%s." OBJECT_GROUP "/%s",
						   object_kinds[kind].plural, name));
}

const char *bench_condition(struct bench *d, enum object_kind_id kind, const char *name,
			    const char *type)
{
	OWN_JSON o = bench_get(d, kind, name);
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_printf(d->a, "%s %s", json_str_at(c, "status"),
					    json_str_at(c, "reason"));
	return "";
}

struct count {
	const char *reason;
	size_t n;
};

static bool on_event(const struct store_entry *en, void *arg)
{
	struct count *c = arg;
	struct err e;
	OWN_JSON o = json_parse(en->value, en->value_len, &e);

	c->n += str_eq(json_str_at(o, "reason"), c->reason);
	return true;
}

size_t bench_events(struct bench_api *api, const char *reason)
{
	struct count c = {.reason = reason};

	store_list(api->store, "events/", NULL, 0, on_event, &c);
	return c.n;
}

static void install_kinds(struct bench *d)
{
	OWN(arena) a = arena_new();

	for (const struct object_kind *k = object_kinds; k < object_kinds + OBJECT_KINDS; k++)
		bench_must(d, &d->host, "POST",
			   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			   arena_printf(a,
					"{'apiVersion': 'apiextensions.k8s.io/v1', "
					"'kind': 'CustomResourceDefinition',"
					" 'metadata': {'name': '%s." OBJECT_GROUP
					"'}, 'spec': {'group': '" OBJECT_GROUP "',"
					" 'scope': 'Cluster', 'names': {'plural': '%s', "
					"'kind': '%s', 'singular': '%s'},"
					" 'versions': [{'name': '" OBJECT_VERSION
					"', 'served': true, 'storage': true%s}]}}",
					k->plural, k->plural, k->kind, k->singular,
					k->has_status ? ", 'subresources': {'status': {}}" : ""));
	bench_must(d, &d->host, "POST", "/api/v1/namespaces",
		   "{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': '" BENCH_NS
		   "'}}");
}

struct wanted {
	struct bench *d;
	const char *name, *rv;
	enum object_kind_id kind;
};

static bool is_cached(void *arg)
{
	struct wanted *w = arg;
	const struct kube_entry *en = kube_cache_get(w->d->c.cache[w->kind], "", w->name);

	return en && str_eq(en->rv, w->rv);
}

static const char *text_in(const json_t *j, struct arena *a)
{
	char *text = json_text(j);
	const char *copy = arena_strdup(a, text);

	free(text);
	return copy;
}

static void wait_cached(struct bench *d, enum object_kind_id kind, const char *name)
{
	OWN_JSON stored = bench_get(d, kind, name);
	struct wanted w = {.d = d,
			   .name = name,
			   .kind = kind,
			   .rv = json_str_at(stored, "metadata", "resourceVersion")};

	if (!loop_sim_run_cond(d->l, is_cached, &w, loop_now(d->l) + WAIT_MS))
		fail_msg("%s is refused or does not arrive", name);
}

static const char *path_of(struct arena *a, enum object_kind_id kind, const char *name)
{
	return arena_printf(a, "/apis/" OBJECT_API_VERSION "/%s%s%s", object_kinds[kind].plural,
			    name ? "/" : "", str_or(name, ""));
}

void bench_patch(struct bench *d, enum object_kind_id kind, const char *name, const char *patch)
{
	OWN(arena) a = arena_new();

	bench_must(d, &d->host, "PATCH", path_of(a, kind, name), patch);
	wait_cached(d, kind, name);
}

void bench_status(struct bench *d, enum object_kind_id kind, const char *name, const char *status)
{
	OWN(arena) a = arena_new();

	bench_must(d, &d->host, "PATCH", arena_printf(a, "%s/status", path_of(a, kind, name)),
		   arena_printf(a, "{'status': %s}", status));
	wait_cached(d, kind, name);
}

void bench_put(struct bench *d, const char *text)
{
	OWN_JSON o = bench_json(text);
	json_t *status = json_object_get(o, "status");
	const struct object_kind *k = object_kind_find(json_str_at(o, "kind"));
	const char *name = json_str_at(o, "metadata", "name");
	OWN(arena) a = arena_new();

	assert_non_null(k);
	json_object_set_new(o, "apiVersion", json_string(OBJECT_API_VERSION));
	bench_must(d, &d->host, "POST", path_of(a, (enum object_kind_id)(k - object_kinds), NULL),
		   text_in(o, a));
	if (status)
		bench_status(d, (enum object_kind_id)(k - object_kinds), name, text_in(status, a));
	else
		wait_cached(d, (enum object_kind_id)(k - object_kinds), name);
}

void bench_fleet(struct bench *d)
{
	bench_put(d,
		  "{'kind': 'Provider', 'metadata': {'name': 'hall-a'}, 'spec': {'type': 'redfish',"
		  " 'credentialsSecretRef': {'name': 'bmc-default'},"
		  " 'boot': {'methods': ['VirtualMedia'], 'mediaURL': 'http://10.0.8.2:8080'},"
		  " 'agent': {'endpoint': 'https://10.1.0.5:8443'}, 'network': {'type': 'none'},"
		  " 'instanceTypes': [{'name': 'hgx', "
		  "'match': {'pci': [{'id': '10de:2330', 'count': 8}]},"
		  "  'capacity': {'cpu': '192', 'memory': '2Ti', "
		  "'nvidia.com/gpu': '8', 'pods': '110'},"
		  "  'labels': {'nvidia.com/gpu.product': 'H100', 'example.com/both': 'type'}}],"
		  " 'wipe': {'minimumLevel': {'flash': 'Purge', 'hdd': 'Clear'}, "
		  "'minimumTrust': 'BootNetwork'}}}");
	bench_put(d, "{'kind': 'NodePool', 'metadata': {'name': 'h100'}, "
		     "'spec': {'virtualClusterSelector': {},"
		     " 'template': {'metadata': {'labels': {'example.com/pool': 'h100'}}, 'spec': {"
		     "  'providerRefs': [{'name': 'hall-a'}],"
		     "  'requirements': [{'key': 'node.kubernetes.io/instance-type', "
		     "'operator': 'In', 'values': ['hgx', 'old']}],"
		     "  'taints': [{'key': 'nvidia.com/gpu', 'effect': 'NoSchedule'}],"
		     "  'images': [{'kubernetesVersion': '1.36', "
		     "'url': 'https://img.example/n136.raw', 'format': 'raw',"
		     "   'digest': 'sha256:"
		     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}],"
		     "  'network': {'isolation': 'NotRequired'}, 'gate': 'G0'}},"
		     " 'wipe': {'minimumLevel': {'flash': 'Purge', 'hdd': 'Clear'}, "
		     "'minimumTrust': 'BootNetwork'}}}");
	bench_put(d,
		  "{'kind': 'VirtualCluster', 'metadata': {'name': 'team-a'}, 'spec': {"
		  " 'kubeconfigSecretRef': {'name': 'team-a'}, 'joinEndpoint': '10.20.0.10:6443',"
		  " 'quota': {'nvidia.com/gpu': '64'}, "
		  "'network': {'segment': 'team-a', 'addressing': 'DHCP'}}}");
	bench_put(d,
		  "{'kind': 'Machine', 'metadata': {'name': 'm-1'}, "
		  "'spec': {'providerRef': {'name': 'hall-a'},"
		  " 'instanceType': 'hgx', 'managementPolicy': 'Manage',"
		  " 'drives': [{'wwn': 'eui.1', 'bytes': 1000}, {'wwn': 'eui.2', 'bytes': 1000}],"
		  " 'identity': {'systemUUID': '4c4c4544-0000-1000-8000-000000000001', "
		  "'serialNumber': 'S1'},"
		  " 'bmc': {'address': 'https://10.0.8.17/redfish/v1/Systems/1', "
		  "'credentialsSecretRef': {'name': 'bmc-1'},"
		  "  'tls': {'trustOnFirstUse': true}}},"
		  " 'status': {'state': 'free', 'tenancy': 41, 'clean': true,"
		  "  'lastWipe': {'record': 'm-1-41-1', 'tenancy': 41}}}");
}

void bench_secret(struct bench *d, const char *name, const char *key1, const char *value1,
		  const char *key2, const char *value2)
{
	char *one = crypto_base64(value1, strlen(value1)),
	     *two = key2 ? crypto_base64(value2, strlen(value2)) : NULL;
	OWN(arena) a = arena_new();
	const char *path = arena_printf(a, "/api/v1/namespaces/" BENCH_NS "/secrets");
	const char *body = arena_printf(a,
					"{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {"
					"'name': '%s'}, 'data': {'%s': '%s'%s%s%s%s%s}}",
					name, key1, one, key2 ? ", '" : "", str_or(key2, ""),
					key2 ? "': '" : "", str_or(two, ""), key2 ? "'" : "");
	OWN_JSON old = bench_stored(&d->host, arena_printf(a, "secrets/" BENCH_NS "/%s", name));

	if (old)
		bench_must(d, &d->host, "PATCH", arena_printf(a, "%s/%s", path, name), body);
	else
		bench_must(d, &d->host, "POST", path, body);
	free(one);
	free(two);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	struct bench_kind *k = arg;
	void *out = NULL;

	return object_decode(&object_kinds[k->kind], o, a, &out, e) < 0 ||
			       object_check(&object_kinds[k->kind], out, NULL, e) < 0
		       ? NULL
		       : out;
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct bench_kind *k = arg;

	if (k->kind == OBJECT_NODE_CLAIM)
		(void)claim_index_put(k->d->c.claim_index, new_ ? new_->name : old->name,
				      new_ ? new_->object : NULL);
	if (k->kind == OBJECT_MACHINE)
		(void)machine_lists_put(k->d->c.machine_lists, new_ ? new_->name : old->name,
					new_ ? new_->object : NULL);
	if (k->kind == OBJECT_WIPE_RECORD)
		(void)record_index_put(k->d->c.record_index, new_ ? new_->name : old->name,
				       new_ ? new_->object : NULL);
	if (k->d->on_change)
		k->d->on_change(k->d, k->kind, new_ ? new_->name : old->name,
				new_ ? new_->object : NULL);
}

static void on_bad(const json_t *o, const struct err *e, void *arg)
{
	(void)o;
	(void)arg;
	fail_msg("%s", e->text);
}

static void on_secret(const char *ns, const char *name, void *arg)
{
	struct bench *d = arg;

	(void)ns;
	d->secret_changes++;
	if (d->on_secret)
		d->on_secret(d, name);
}

/* --- events between the parts ----------------------------------------------------------------- */

static void on_notice(enum notice what, const char *name, void *arg)
{
	struct bench *d = arg;

	if (what == NOTICE_OFFER)
		world_sync_machine(d->sync, name, CTX_GET(&d->c, OBJECT_MACHINE, machine, name));
	else if (what == NOTICE_CLAIM)
		claims_kick(d->claims, name);
	else if (what == NOTICE_POOL && d->supply_status)
		supply_status_kick(d->supply_status);
}

static void on_tenant_pod(const struct tenant *t, const char *ns, const char *name,
			  const struct world_pod *p, void *arg)
{
	changes_pod(((struct bench *)arg)->changes, t->name, ns, name, p);
}

static void on_tenant_node(const struct tenant *t, const char *name, const struct tenant_node *n,
			   void *arg)
{
	world_sync_node(((struct bench *)arg)->sync, t->name, name, n);
}

static void on_tenant_changed(const struct tenant *t, void *arg)
{
	world_sync_tenant(((struct bench *)arg)->sync, t->name);
}

static void on_tenant_reset(const struct tenant *t, void *arg)
{
	world_sync_tenant_reset(((struct bench *)arg)->sync, t->name);
}

static void on_tenant_closing(const struct tenant *t, void *arg)
{
	struct bench *d = arg;

	if (d->on_closing)
		d->on_closing(d, t);
}

static void on_driver_closing(struct driver *s, void *arg)
{
	lives_detach(&((struct bench *)arg)->lives, s);
}

static int volumes_left(const char *machine, void *arg)
{
	const struct life *l = map_get(((struct bench *)arg)->lives.map, machine);

	return l ? l->volumes : -1;
}

static void start_parts(struct bench *d)
{
	struct context *c = &d->c;
	struct tenant_hooks hooks = {.pod = on_tenant_pod,
				     .node = on_tenant_node,
				     .changed = on_tenant_changed,
				     .reset = on_tenant_reset,
				     .closing = on_tenant_closing,
				     .arg = d};
	struct claims_spec cl = {.status = {.c = c, .volumes_left = volumes_left, .arg = d}};
	static const char *const allowed[] = {"/fake/port-move", NULL};
	OWN(kube_config) cfg = mem_new(struct kube_config);
	struct kube_client_spec cs = {.config = cfg, .name = "host", .qps = 1000, .burst = 1000};

	cfg->server = mem_strdup(BENCH_HOST);
	cfg->token = secret_from_str(TOKEN);
	*c = (struct context){.loop = d->l, .group = d->g, .leading = true};
	c->o = (struct context_options){.ns = BENCH_NS,
					.exec_allowed = allowed,
					.identity = "bench",
					.poll_ms = 1000,
					.idle_poll_ms = 120000,
					.settle_ms = 5000,
					.batch_idle_ms = 1000,
					.batch_most_ms = 10000};
	c->http = http_new(d->g, http_mem_transport(d->net, d->g, "10.0.0.1", NULL, NULL), 0);
	c->host = kube_client_new(d->g, c->http, &cs, &d->e);
	assert_non_null(c->host);
	c->events = kube_events_new(d->g, c->host, "drover.dev/controller", "bench");
	c->metrics = metrics_new();
	c->reserved = reserved_new(NULL);
	c->api_paths = api_paths_new();
	c->keys = keys_new(c);
	c->counters = counters_new(c);
	c->claim_index = claim_index_new();
	c->machine_lists = machine_lists_new();
	c->record_index = record_index_new();
	c->on_notice = on_notice;
	c->on_notice_arg = d;
	d->agent_endpoint = agent_endpoint_new(d->g);
	d->drivers = drivers_new(c, on_driver_closing, d);
	d->tenants = tenants_new(c, &hooks);
	d->drains = drains_new(c, d->tenants);
	d->eta = eta_new();
	d->provisioner = provisioner_new(c, d->tenants, d->eta, NULL, NULL);
	d->changes = provisioner_changes(d->provisioner);
	d->sync = provisioner_sync(d->provisioner);
	cl.status.tenants = d->tenants;
	cl.status.eta = d->eta;
	cl.avoided = provisioner_avoided(d->provisioner);
	d->claims = claims_new(&cl);
	d->life_parts = (struct life_parts){.c = c,
					    .tenants = d->tenants,
					    .drivers = d->drivers,
					    .agent_endpoint = d->agent_endpoint};
	d->lives = (struct lives){.spec = {.parts = d->life_parts}, .map = map_new(NULL)};
	c->secrets = secrets_new(d->g, c->host, BENCH_NS, on_secret, d);
	for (size_t i = 0; i < WATCHED; i++) {
		struct bench_kind *k = &d->kinds[watched[i]];
		struct kube_cache_spec s = {
			.client = c->host,
			.resource = &object_resources[watched[i]],
			.project = project,
			.on_change = on_change,
			.on_bad = on_bad,
			.arg = k,
		};

		*k = (struct bench_kind){d, watched[i]};
		c->cache[watched[i]] = kube_cache_new(d->g, &s);
	}
}

void bench_start(struct bench *d)
{
	*d = (struct bench){.a = arena_new()};
	d->l = loop_sim_new(3, 1764000000000);
	d->server_g = loop_group_new(d->l, "server");
	d->g = loop_group_new(d->l, "drover");
	d->net = http_mem_net_new(d->l);
	d->admin = http_new(d->server_g,
			    http_mem_transport(d->net, d->server_g, "admin", NULL, NULL), 0);
	start_api(d, &d->host, BENCH_HOST);
	start_api(d, &d->team, BENCH_TEAM);
	install_kinds(d);
	start_parts(d);
	bench_run(d, 2000);
	for (size_t i = 0; i < WATCHED; i++)
		assert_true(kube_cache_synced(d->c.cache[watched[i]]));
	d->c.ready = true;
}

void bench_stop(struct bench *d)
{
	struct context *c = &d->c;

	drivers_free(d->drivers);
	tenants_free(d->tenants);
	drains_free(d->drains);
	claims_free(d->claims);
	for (int i = 0; i < OBJECT_KINDS; i++)
		kube_cache_free(c->cache[i]);
	secrets_free(c->secrets);
	keys_free(c->keys);
	agent_endpoint_free(d->agent_endpoint);
	provisioner_free(d->provisioner);
	eta_free(d->eta);
	claim_index_free(c->claim_index);
	machine_lists_free(c->machine_lists);
	record_index_free(c->record_index);
	counters_free(c->counters);
	kube_events_free(c->events);
	kube_client_free(c->host);
	map_free(d->lives.map);
	metrics_free(c->metrics);
	reserved_free(c->reserved);
	api_paths_free(c->api_paths);
	http_free(c->http);
	stop_api(&d->host);
	stop_api(&d->team);
	http_free(d->admin);
	http_mem_net_free(d->net);
	loop_group_free(d->g);
	loop_group_free(d->server_g);
	loop_free(d->l);
	arena_free(d->a);
}

int bench_setup(void **state)
{
	struct bench *d = mem_new(struct bench);

	bench_start(d);
	*state = d;
	return 0;
}

int bench_teardown(void **state)
{
	bench_stop(*state);
	free(*state);
	return 0;
}

static bool has_keys(void *arg)
{
	return keys_ready(((struct bench *)arg)->c.keys, NULL);
}

void bench_keys(struct bench *d)
{
	assert_true(loop_sim_run_cond(d->l, has_keys, d, loop_now(d->l) + WAIT_MS));
}

static void on_life_timer(void *arg)
{
	(void)arg; /* lives do not run here */
}

struct life *bench_life(struct bench *d, const char *machine)
{
	struct life *l = mem_new(struct life);

	l->c = &d->c;
	l->parts = &d->life_parts;
	l->all = &d->lives;
	l->name = mem_strdup(machine);
	l->m = CTX_GET(&d->c, OBJECT_MACHINE, machine, machine);
	assert_non_null(l->m);
	writer_init(&l->journal.write, &d->c, l);
	loop_timer_init(&l->timer, d->g, on_life_timer, l);
	l->state = machine_state_find(str_or(l->m->status.state, "known"));
	return l;
}

void bench_life_done(struct life *l)
{
	writer_stop(&l->journal.write);
	loop_timer_stop(&l->timer);
	life_parts_free(l);
	free(l->name);
	free(l);
}

/* --- tenants ---------------------------------------------------------------------------------- */

const char *bench_kubeconfig(struct bench *d, const char *server, const char *more)
{
	struct secret *key = NULL;
	char *pem = NULL, *ca;
	const char *text;

	assert_ok(crypto_ca_new("team", loop_wall(d->l), 10, &pem, &key, &d->e), &d->e);
	ca = crypto_base64(pem, strlen(pem));
	text = arena_printf(
		d->a,
		"{'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',"
		" 'clusters': [{'name': 'c', "
		"'cluster': {'server': '%s', 'certificate-authority-data': '%s'}}],"
		" 'users': [{'name': 'u', 'user': {'token': '" TOKEN "'%s}}],"
		" 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}]}",
		server, ca, more);
	free(ca);
	free(pem);
	secret_free(key);
	return text;
}

void bench_to_provisioner(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	const struct changes *s = d->changes;

	if (kind == OBJECT_NODE_POOL)
		changes_pool(s, name, object);
	else if (kind == OBJECT_PROVIDER)
		world_sync_provider(d->sync, name, object);
	else if (kind == OBJECT_MACHINE)
		changes_machine(s, name, object);
	else if (kind == OBJECT_NODE_CLAIM)
		changes_claim(s, name, object);
}

static void to_tenants(struct bench *d, enum object_kind_id kind, const char *name, void *object)
{
	bench_to_provisioner(d, kind, name, object);
	if (kind == OBJECT_VIRTUAL_CLUSTER)
		tenants_update(d->tenants, name);
}

static void secret_to_tenants(struct bench *d, const char *name)
{
	(void)name;
	tenants_update_all(d->tenants);
}

void bench_tenants(struct bench *d)
{
	d->on_change = to_tenants;
	d->on_secret = secret_to_tenants;
	bench_secret(d, "team-a", "config", bench_kubeconfig(d, BENCH_TEAM, ""), NULL, NULL);
}

void bench_pod(struct bench *d, const char *name, int gpus)
{
	OWN(arena) a = arena_new();

	bench_must(
		d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		arena_printf(
			a,
			"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s'}, 'spec': {"
			" 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists'}],"
			" 'containers': [{'name': 'c', "
			"'resources': {'limits': {'nvidia.com/gpu': '%d'}}}]}}",
			name, gpus));
	bench_must(d, &d->team, "PATCH",
		   arena_printf(a, "/api/v1/namespaces/default/pods/%s/status", name),
		   "{'status': {'phase': 'Pending', "
		   "'conditions': [{'type': 'PodScheduled', 'status': 'False',"
		   " 'reason': 'Unschedulable', 'lastTransitionTime': '2026-12-01T10:00:00Z'}]}}");
}

int bench_setup_fleet(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	bench_tenants(d);
	bench_fleet(d);
	bench_run(d, 5000);
	assert_true(tenant_usable(tenant_get(d->tenants, "team-a")));
	return 0;
}
