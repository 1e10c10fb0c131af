/*
 * tenant: builds a client with two caches from a VirtualCluster and its Secret.
 *
 * Secret --> kubeconfig (hostile) --> client --> /version, UID of kube-system
 *    --> caches of pods and Nodes
 *
 * Any change of the Secret, or of a spec field in spec_digest, builds all of these anew.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/tenant/tenant.h"
#include "api/annotations.h"
#include "base/address.h"
#include "base/arena.h"
#include "base/index.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/core/reserved.h"
#include "controller/core/secrets.h"
#include "controller/tenant/daemon_sets.h"
#include "controller/tenant/devices.h"
#include "controller/tenant/join_probe.h"
#include "controller/tenant/pod_ends.h"
#include "controller/tenant/projection.h"
#include "controller/tenant/sleep.h"
#include "controller/tenant/status.h"
#include "controller/tenant/tenant_impl.h"
#include "controller/tenant/pod_groups.h"
#include "controller/tenant/provisioning_requests.h"
#include "controller/tenant/volumes.h"

#define PROBE_OK_MS 60000
#define PROBE_FAILED_MS 5000
/* time for which a list must miss the same Nodes before the loss is accepted */
#define BELIEVED_MS (10 * 60 * 1000)
/* limit for a time in an operator's annotation that is in the future, because the clock of the
 * operator's computer is ahead */
#define LATE_MS 60000

/* --- health ----------------------------------------------------------------------------------- */

/* Makes drover read the Secret more often after the API server refused the kubeconfig, because an
 * operator usually writes a new kubeconfig to the Secret. */
static void expect_kubeconfig(const struct tenant *t)
{
	const struct virtual_cluster *vc =
		CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);

	if (vc && (str_eq(t->reason, "KubeconfigRefused") || str_eq(t->reason, "NotPermitted")))
		secrets_expect(t->c->secrets, vc->spec.kubeconfig_secret_ref.namespace,
			       vc->spec.kubeconfig_secret_ref.name);
}

/* Sets why the tenant is not usable (`reason`: in CamelCase, a static string); NULL: it is usable.
 * If this is a change, logs it, writes the status and notifies all that depend on it. */
__attribute__((format(printf, 3, 4))) static void tenant_say(struct tenant *t, const char *reason,
							     const char *fmt, ...)
{
	char message[sizeof(t->message)] = "";
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(message, sizeof(message), fmt, ap);
		va_end(ap);
		str_clean(message);
	}
	if (str_eq(t->reason, reason) && str_eq(t->message, message))
		return;
	t->reason = reason;
	t->usable_since = reason ? 0 : loop_wall(t->c->loop);
	str_copy(t->message, sizeof(t->message), message);
	if (!tenant_may_log(t))
		;
	else if (reason)
		log_warn("tenant is not usable", LOG_S("tenant", t->name), LOG_S("reason", reason),
			 LOG_S("message", message));
	else
		log_info("tenant is usable", LOG_S("tenant", t->name),
			 LOG_S("version", str_or(t->version, "")));
	expect_kubeconfig(t);
	tenant_status_write(t);
	tenant_sleep_kick(t->asleep);
	t->all->hooks.changed(t, t->all->hooks.arg);
	notify(t->c, NOTICE_TENANT, t->name);
}

static void take_down(struct tenant *t)
{
	/* Without a client there are no calls. The callee looks at each machine, so that 500
	 * tenants that start would be expensive. */
	if (t->client)
		t->all->hooks.closing(t, t->all->hooks.arg);
	loop_timer_stop(&t->timer);
	kube_call_cancel(t->probe);
	t->probe = NULL;
	join_probe_forget(t->joins);
	volumes_forget(t->volumes);
	devices_forget(t->devices);
	pod_groups_forget(t->groups);
	provisioning_requests_forget(t->requests);
	daemon_sets_forget(t->daemon_sets);
	pod_ends_forget(t->ends);
	kube_cache_free(t->pods);
	kube_cache_free(t->nodes);
	t->pods = t->nodes = NULL;
	map_free(t->loads);
	t->loads = NULL;
	kube_events_free(t->events);
	t->events = NULL;
	kube_client_free(t->client);
	t->client = NULL;
	t->reachable = false;
	t->unanswered_at = 0;
	t->lost = 0;
	tenant_budget_reset(t);
}

static void tenant_free(struct tenant *t)
{
	if (!t)
		return;
	take_down(t);
	tenant_sleep_free(t->asleep);
	join_probe_free(t->joins);
	volumes_free(t->volumes);
	devices_free(t->devices);
	pod_groups_free(t->groups);
	provisioning_requests_free(t->requests);
	daemon_sets_free(t->daemon_sets);
	pod_ends_free(t->ends);
	writer_stop(&t->status_write);
	loop_timer_stop(&t->status_timer);
	loop_defer_cancel(&t->refresh);
	free(t->name);
	free(t->uid);
	free(t->version);
	free(t->ca_pem);
	free(t->secret_version);
	free(t->spec_digest);
	free(t->cluster_uid);
	free(t);
}

/* --- caches ----------------------------------------------------------------------------------- */

/* True if an operator has confirmed that the Nodes are gone, by an annotation with a time after the
 * loss was seen. A time more than LATE_MS in the future does not count: the operator's clock is
 * wrong. */
static bool is_told_gone(const struct tenant *t)
{
	const struct virtual_cluster *vc =
		CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	const char *asked = vc ? labels_get(&vc->meta.annotations, REQUEST_RESUME) : NULL;
	int64_t at;

	return asked && str_to_time(asked, &at) && at + 1000 >= t->lost_since &&
	       at <= loop_wall(t->c->loop) + LATE_MS;
}

/* Rejects a list in which more than a fifth of the Nodes are missing (an emptied store, a wrong
 * cluster). Accepts it once the same Nodes were missing for BELIEVED_MS, or an operator confirms
 * it. A Node that is missing in a list does not prove that its machine is idle. */
static bool accept_node_loss(const struct kube_loss *loss, void *arg)
{
	struct tenant *t = arg;
	bool much = loss->before >= 5 && loss->gone * 5 > loss->before;

	if (much && t->lost != loss->which) {
		t->lost = loss->which;
		t->lost_at = loop_now(t->c->loop);
		t->lost_since = loop_wall(t->c->loop);
	}
	if (much &&
	    (t->stopped || (loop_now(t->c->loop) - t->lost_at < BELIEVED_MS && !is_told_gone(t))))
		return false;
	if (much)
		log_warn("list of Nodes accepted although many are missing",
			 LOG_S("tenant", t->name), LOG_I("gone", (int64_t)loss->gone),
			 LOG_I("of", (int64_t)loss->before));
	t->lost = 0;
	return true;
}

static void judge(struct tenant *t)
{
	bool in = t->pods && kube_cache_synced(t->pods) && kube_cache_synced(t->nodes) &&
		  daemon_sets_known(t->daemon_sets);

	if (t->stopped || tenant_secret_absent(t))
		return;
	if (t->budget.nodes_out)
		tenant_say(t, "NodesOverBudget", "drover does not read all of its Nodes");
	else if (in && t->reachable && kube_cache_healthy(t->pods) && kube_cache_healthy(t->nodes))
		tenant_say(t, NULL, NULL);
	else if (!in && t->reachable && !t->reason)
		tenant_say(t, "Syncing", "its pods and nodes are being read");
}

static void on_sync(void *arg)
{
	struct tenant *t = arg;

	judge(t);
	t->all->hooks.changed(t, t->all->hooks.arg);
}

static void on_health(const struct err *e, void *arg)
{
	struct tenant *t = arg;

	if (!e) {
		judge(t);
		return;
	}
	if (t->stopped)
		return;
	if (t->lost)
		tenant_say(
			t, "NodesLost",
			"%s; drover accepts the shorter list if it stays the same for 10 min, or "
			"after `drover resume tenant/%s`",
			e->text, t->name);
	else
		tenant_say(t, e->kind == ERR_DENIED ? "NotPermitted" : "Unreachable", "%s",
			   e->text);
}

static void on_pods_over(const json_t *pod, void *arg)
{
	const struct tenant *t = arg;

	pod_ends_lose(t->ends, json_str_at(pod, "metadata", "uid"));
	if (tenant_budget_pods_over(arg, pod))
		tenant_status_write(arg);
}

/* Makes the tenant unusable while some Nodes are not read, because they would count as deleted. */
static void on_nodes_over(const json_t *node, void *arg)
{
	struct tenant *t = arg;

	if (t->budget.nodes_out == (node != NULL))
		return;
	t->budget.nodes_out = node != NULL;
	judge(t);
	tenant_status_write(t);
}

static void start_caches(struct tenant *t)
{
	struct kube_cache_spec s = {
		.client = t->client,
		.resource = &KUBE_PODS,
		.want = tenant_want_pod,
		.project = tenant_project_pod,
		.on_change = tenant_on_pod,
		.on_sync = on_sync,
		.on_health = on_health,
		.max_bytes = TENANT_PODS_BYTES,
		.max_objects = TENANT_PODS,
		.on_over = on_pods_over,
		.arg = t,
	};
	char selector[128];

	str_format(selector, sizeof(selector), TENANT_LABEL_CLUSTER "=%s", t->name);
	t->loads = map_new(free);
	t->counted_since = loop_wall(t->c->loop);
	t->pods = kube_cache_new(t->c->group, &s);
	s.client = tenant_nodes_client(t);
	s.label_selector = t->on_host ? selector : NULL;
	s.resource = &KUBE_NODES;
	s.want = tenant_want_node;
	s.same_untold = true;
	s.project = tenant_project_node;
	s.on_change = tenant_on_node;
	s.accept_loss = accept_node_loss;
	s.max_each = TENANT_NODE_BYTES;
	s.max_bytes = TENANT_NODES_BYTES;
	s.max_objects = TENANT_NODES;
	s.on_over = on_nodes_over;
	t->nodes = kube_cache_new(t->c->group, &s);
}

/* --- probing ---------------------------------------------------------------------------------- */

static void probe_failed(struct tenant *t, const struct err *e)
{
	t->reachable = false;
	t->unanswered_at = e->kind == ERR_DENIED ? 0 : loop_now(t->c->loop);
	tenant_say(t, e->kind == ERR_DENIED ? "NotPermitted" : "Unreachable", "%s", e->text);
	/* The status is written even if the reason is unchanged: the tenant may be seen asleep for
	 * the first time. */
	tenant_status_write(t);
	loop_timer_start(&t->timer, PROBE_FAILED_MS);
}

static void on_cluster_uid(json_t *o, const struct err *e, void *arg)
{
	struct tenant *t = arg;
	const struct virtual_cluster *vc =
		CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	const char *uid = json_str_at(o, "metadata", "uid");

	t->probe = NULL;
	if (e) {
		probe_failed(t, e);
		return;
	}
	if (!vc)
		return;
	if (str_empty(uid) || strlen(uid) > 64) {
		t->reachable = false;
		tenant_say(t, "Unreachable", "namespace kube-system has no UID of 1 to 64 bytes");
		loop_timer_start(&t->timer, PROBE_FAILED_MS);
		return;
	}
	if (!str_empty(vc->status.cluster_uid) && !str_eq(vc->status.cluster_uid, uid)) {
		t->stopped = true;
		tenant_say(t, "ClusterChanged",
			   "the kubeconfig points to a different cluster: its UID is %s, "
			   "status.clusterUID is %s",
			   str_or(uid, "(none)"), vc->status.cluster_uid);
		loop_timer_start(&t->timer, PROBE_OK_MS);
		return;
	}
	free(t->cluster_uid);
	t->cluster_uid = mem_strdup(uid);
	t->stopped = false;
	t->reachable = true;
	t->unanswered_at = 0;
	tenant_status_write(t);
	join_probe_ask(t->joins);
	if (!t->pods) {
		start_caches(t);
		daemon_sets_start(t->daemon_sets);
		provisioning_requests_start(t->requests);
	}
	judge(t);
	loop_timer_start(&t->timer, PROBE_OK_MS);
}

static void on_version(json_t *o, const struct err *e, void *arg)
{
	struct tenant *t = arg;
	const char *major = json_str_at(o, "major"), *minor = json_str_at(o, "minor");

	t->probe = NULL;
	if (e) {
		probe_failed(t, e);
		return;
	}
	free(t->version);
	t->version = mem_printf("%d.%d", atoi(str_or(major, "1")), atoi(str_or(minor, "0")));
	t->probe = kube_get(t->client, &KUBE_NAMESPACES, NULL, "kube-system", on_cluster_uid, t);
}

static void probe(void *arg)
{
	struct tenant *t = arg;

	if (t->client && !t->probe)
		t->probe = kube_get_path(t->client, "/version", on_version, t);
}

/* --- building --------------------------------------------------------------------------------- */

static bool may_reach(const char *address, int port, void *arg)
{
	const struct tenant *t = arg;

	return !reserved_owner(t->c->reserved, address, port);
}

/* True if spec.server contains an IP address. An administrator chose that address, so drover does
 * not check whether tenants may name it. */
static bool is_meant(const struct virtual_cluster *vc)
{
	const char *host = vc->spec.server ? strstr(vc->spec.server, "://") : NULL;
	char ip[ADDRESS_TEXT], text[256];

	str_format(text, sizeof(text), "%.*s", host ? (int)strcspn(host + 3, "/") : 0,
		   host ? host + 3 : "");
	return address_host(text, ip);
}

/* Fails a queued call just before it is sent if drover may not act any more, because the decision
 * may be some seconds old (invariant S7). */
static int may_change(void *arg, struct err *e)
{
	return ctx_may_change(((const struct tenant *)arg)->c, e);
}

static void count_request(const char *method, int status, int64_t ms, void *arg)
{
	counters_request(arg, "tenant", method, status, ms);
}

static void build(struct tenant *t, const struct virtual_cluster *vc)
{
	const struct object_secret_ref *r = &vc->spec.kubeconfig_secret_ref;
	const struct secret *text =
		secrets_value(t->c->secrets, r->namespace, r->name, str_or(r->key, "config"));
	struct kube_client_spec cs = {.name = t->name,
				      .may_change = may_change,
				      .may_change_arg = t,
				      .counted = count_request,
				      .counted_arg = t->c->counters};
	const bool was_read = t->client;
	const char *whose;
	struct err e;

	take_down(t);
	tenant_say(t, "Syncing", "its kubeconfig changed");
	/* The callee looks at each pod and Node of all tenants. */
	if (was_read)
		t->all->hooks.reset(t, t->all->hooks.arg);
	t->on_host = vc->spec.nodes == VIRTUAL_CLUSTER_HOST;
	if (!text) {
		tenant_say(t, "KubeconfigRefused", "Secret %s has no key %s", r->name,
			   str_or(r->key, "config"));
		return;
	}
	OWN(kube_config)
	cfg = kube_config_parse(secret_expose(text), secret_len(text), KUBE_CONFIG_TENANT,
				vc->spec.server, NULL, &e);

	if (!cfg) {
		tenant_say(t, "KubeconfigRefused", "%s", e.text);
		return;
	}
	whose = /* mutant: tenant-to-bmc */ is_meant(vc)
			? NULL
			: reserved_owner_of(t->c->reserved, cfg->server);
	if (whose) {
		tenant_say(t, "KubeconfigRefused",
			   "%s: %.100s points to %s: not allowed in a tenant's kubeconfig",
			   vc->spec.server ? "spec.server" : "cluster.server", cfg->server, whose);
		return;
	}
	free(t->ca_pem);
	t->ca_pem = mem_strdup(cfg->ca_pem);
	cs.config = cfg;
	cs.may_reach = is_meant(vc) ? NULL : may_reach;
	cs.may_reach_arg = t;
	cs.plain_ok = t->c->o.plain_ok;
	t->client = kube_client_new(t->c->group, t->c->http, &cs, &e);
	if (!t->client) {
		tenant_say(t, "KubeconfigRefused", "%s", e.text);
		return;
	}
	t->events =
		kube_events_new(t->c->group, t->client, "drover.dev/controller", t->c->o.identity);
	probe(t);
}

static void on_refresh(void *arg)
{
	struct tenant *t = arg;
	struct context *c = t->c;
	const struct virtual_cluster *vc =
		CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	const struct object_secret_ref *r;
	const char *version;
	OWN(arena) a = arena_new();
	const char *d;

	if (!vc) {
		t->all->hooks.changed(t, t->all->hooks.arg);
		index_put(t->all->by_secret, t->name, NULL, 0);
		map_del(t->all->map, t->name);
		tenant_free(t);
		return;
	}
	tenant_sleep_kick(t->asleep);
	r = &vc->spec.kubeconfig_secret_ref;
	switch (secrets_want(c->secrets, r->namespace, r->name)) {
	case SECRET_LOADING:
		return;
	/* Keep what is known of the tenant: an absent Secret does not mean a deleted cluster. */
	case SECRET_ABSENT:
		tenant_say(t, "KubeconfigAbsent", "Secret %s/%s does not exist",
			   str_or(r->namespace, c->o.ns), r->name);
		return;
	case SECRET_DENIED:
		tenant_say(t, "KubeconfigAbsent", "drover may not read Secret %s/%s",
			   str_or(r->namespace, c->o.ns), r->name);
		return;
	case SECRET_ERROR:
		return;
	case SECRET_LOADED:
		break;
	}
	version = secrets_version(c->secrets, r->namespace, r->name);
	d = arena_printf(a, "%s|%s|%s|%s|%d", str_or(r->namespace, ""), r->name, str_or(r->key, ""),
			 str_or(vc->spec.server, ""), vc->spec.nodes);
	if (t->spec_digest && !str_eq(d, t->spec_digest))
		secrets_reread(c->secrets, r->namespace, r->name);
	if (!str_eq(version, t->secret_version) || !str_eq(d, t->spec_digest)) {
		free(t->secret_version);
		free(t->spec_digest);
		t->secret_version = mem_strdup(version);
		t->spec_digest = mem_strdup(d);
		build(t, vc);
	}
	tenant_status_write(t); /* Write the conditions, which may differ for the changed object. */
	t->all->hooks.changed(t, t->all->hooks.arg);
}

/* Handles a change of the observed sleep. */
static void on_sleep(struct tenant *t)
{
	tenant_status_write(t);
	t->all->hooks.changed(t, t->all->hooks.arg);
}

/* Handles a change of the join probe's result or of the API server path. */
static void on_joins(struct tenant *t)
{
	tenant_status_write(t);
	t->all->hooks.changed(t, t->all->hooks.arg);
	notify(t->c, NOTICE_TENANT, t->name);
}

void tenants_api_path_changed(struct tenants *ts, const char *name)
{
	struct tenant *t = map_get(ts->map, name);

	if (t)
		on_joins(t);
}

/* Handles that the DaemonSets are known now, or that whether they can be read has changed. */
static void on_daemon_sets(struct tenant *t)
{
	judge(t);
	tenant_status_write(t);
}

/* Updates the tenant's entry in the index of kubeconfig Secrets. */
static void index_secret(const struct tenant *t, const struct virtual_cluster *vc)
{
	const struct object_secret_ref *r = vc ? &vc->spec.kubeconfig_secret_ref : NULL;
	OWN(arena) a = arena_new();
	struct index_text text = {.key = 0};

	if (r)
		text.text = arena_printf(a, "%s/%s", str_or(r->namespace, t->c->o.ns),
					 str_or(r->name, ""));
	index_put(t->all->by_secret, t->name, &text, 1);
}

void tenants_update(struct tenants *ts, const char *name)
{
	struct context *c = ts->c;
	const struct virtual_cluster *vc =
		CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, name);
	struct tenant *t = map_get(ts->map, name);

	map_del(ts->bad, name);
	if (!t) {
		if (!vc)
			return;
		t = mem_new(struct tenant);
		t->all = ts;
		t->c = c;
		t->name = mem_strdup(name);
		t->uid = mem_strdup(vc->meta.uid);
		t->reason = "Starting";
		t->asleep = tenant_sleep_new(t, on_sleep);
		t->joins = join_probe_new(t, on_joins);
		t->volumes = volumes_new(t, &tenant_volumes_hooks);
		t->devices = devices_new(t, &tenant_devices_hooks);
		t->groups = pod_groups_new(t, tenant_replan_pod);
		t->requests = provisioning_requests_new(t, &tenant_requests_hooks);
		t->daemon_sets = daemon_sets_new(t, on_daemon_sets);
		t->ends = pod_ends_new(t);
		tenant_budget_init(t);
		loop_timer_init(&t->timer, c->group, probe, t);
		writer_init(&t->status_write, c, t);
		loop_timer_init(&t->status_timer, c->group, tenant_status_tick, t);
		loop_defer_init(&t->refresh, c->group, on_refresh, t);
		map_put(ts->map, name, t);
	}
	index_secret(t, vc);
	loop_defer(&t->refresh);
}

static bool refresh(const char *name, void *arg)
{
	struct tenants *ts = arg;
	struct tenant *t = map_get(ts->map, name);

	if (t)
		loop_defer(&t->refresh);
	return true;
}

void tenants_secret(struct tenants *ts, const char *ns, const char *name)
{
	OWN(arena) a = arena_new();

	index_each(ts->by_secret, 0, arena_printf(a, "%s/%s", ns, name), refresh, ts);
}

void tenants_update_all(struct tenants *ts)
{
	struct map_iter it;

	map_for_each (it, ts->map)
		tenants_update(ts, it.key);
}

void tenants_drop_queued(struct tenants *ts)
{
	struct map_iter it;

	map_for_each (it, ts->map) {
		const struct tenant *t = it.value;

		if (t->client)
			kube_client_drop_queued(t->client);
	}
}

struct tenants *tenants_new(struct context *c, const struct tenant_hooks *hooks)
{
	struct tenants *ts = mem_new(struct tenants);

	ts->c = c;
	ts->hooks = *hooks;
	ts->map = map_new(NULL);
	ts->bad = map_new(NULL);
	ts->by_secret = index_new(1);
	return ts;
}

void tenants_free(struct tenants *ts)
{
	struct map_iter it;

	if (!ts)
		return;
	map_for_each (it, ts->map)
		tenant_free(it.value);
	map_free(ts->map);
	map_free(ts->bad);
	index_free(ts->by_secret);
	free(ts);
}
