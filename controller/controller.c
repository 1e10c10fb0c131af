/*
 * controller: creates the parts in order, passes each what it needs, and forwards events between
 * them. Makes no decisions.
 */
#include "controller/controller.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "api/resources.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "controller/claims/claims.h"
#include "controller/core/eta.h"
#include "controller/billing/held_gpus.h"
#include "controller/claims/owners.h"
#include "controller/burst/permits.h"
#include "controller/claims/provisioner.h"
#include "controller/claims/supply_status.h"
#include "controller/billing/supply_tally.h"
#include "controller/claims/drift.h"
#include "controller/claims/replacements.h"
#include "controller/claims/underused.h"
#include "controller/burst/homeward.h"
#include "controller/claims/reclaims.h"
#include "controller/claims/unwanted.h"
#include "controller/claims/warm_pool.h"
#include "controller/claims/changes.h"
#include "controller/claims/world_sync.h"
#include "controller/core/claim_index.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/host_clock.h"
#include "controller/core/counters.h"
#include "controller/core/spans.h"
#include "controller/core/keys.h"
#include "controller/core/known_series.h"
#include "controller/core/leader_service.h"
#include "controller/core/machine_lists.h"
#include "controller/burst/ledgers.h"
#include "controller/core/audit_trail.h"
#include "controller/core/record_export.h"
#include "controller/core/record_index.h"
#include "controller/core/reserved.h"
#include "base/zone.h"
#include "controller/core/secrets.h"
#include "controller/core/sweep.h"
#include "controller/core/api_paths.h"
#include "controller/core/validation.h"
#include "controller/drain/drains.h"
#include "controller/endpoints.h"
#include "controller/gauges.h"
#include "controller/hardware/discovery.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/fleet.h"
#include "controller/hardware/login_guard.h"
#include "controller/hardware/machine_index.h"
#include "controller/hardware/power_pacing.h"
#include "controller/hardware/provisioned_machines.h"
#include "controller/hardware/provider_finalizer.h"
#include "controller/hardware/segments.h"
#include "controller/hardware/api_path_checks.h"
#include "controller/parts.h"
#include "controller/steps/lives.h"
#include "controller/tenant/pending_cleanup.h"
#include "controller/tenant/tenant.h"
#include "controller/view/published.h"
#include "controller/view/tenant_list.h"
#include "controller/view/view.h"

#define IMAGE_AGAIN_MS 10000
#define REDERIVED_EACH_TURN 100
#define KICKED_EACH_TURN 100
/* Number of queued requests to the host API server above which no more machines and claims of a new
 * leader are started, and the interval at which the queue is read. Each machine sends several
 * requests at once, and all of them together would exceed KUBE_QUEUE_MAX. */
#define QUEUED_MOST 1000
#define QUEUE_MS 50
/* Longest time that a request to the host API server stays queued. A thousand machines that all
 * write at the same time need 5 s. A late write does no harm: it carries the resourceVersion that
 * it was based on, so the API server refuses it if the object has changed. */
#define HOST_LINE_MS 120000
/* HOST_BURST lets a thousand new machines begin at once. */
#define HOST_BURST 1200

struct context *controller_context(struct controller *c)
{
	return &c->ctx;
}

struct agent_endpoint *controller_agent_endpoint(struct controller *c)
{
	return c->agent_endpoint;
}

void controller_read_gauges(struct controller *c)
{
	gauges_read(c->gauges);
}

size_t controller_check_counts(struct controller *c)
{
	size_t wrong = supply_tally_check(supply_status_tally(c->supply_status));

	for (size_t i = 0; i < OBJECT_CHANGES_CHECKED; i++)
		wrong += recheck_now(&c->rechecks[i]);
	return wrong;
}

void controller_ops_routes(struct controller *c, struct httpd *d)
{
	endpoints_routes(&c->endpoints, d);
}

void controller_remote_routes(struct controller *c, struct httpd *d)
{
	endpoints_remote_routes(&c->endpoints, d);
}

void controller_view_routes(struct controller *c, struct httpd *d)
{
	view_routes(c->view, d);
}

void controller_view_publish(struct controller *c, const char *listen)
{
	char *url = view_published_url(listen);

	c->published = view_published_new(&c->ctx, c->ctx.keys, url);
	free(url);
}

void controller_leader_service(struct controller *c, const struct leader_service_spec *s)
{
	c->leader_service = leader_service_new(&c->ctx, s);
}

/* --- forwarding events ------------------------------------------------------------------------ */

static void on_notice(enum notice what, const char *name, void *arg)
{
	struct controller *c = arg;

	switch (what) {
	case NOTICE_MACHINE:
		lives_kick(c->lives, name);
		break;
	case NOTICE_TENANT:
		lives_kick_of_tenant(c->lives, name);
		break;
	case NOTICE_OFFER:
		world_sync_machine(c->sync, name, CTX_GET(&c->ctx, OBJECT_MACHINE, machine, name));
		break;
	case NOTICE_CLAIM:
		claims_kick(c->claims, name);
		break;
	case NOTICE_POOL:
		supply_status_kick(c->supply_status);
		break;
	}
}

static bool is_decided(const struct machine *m, const struct node_claim *n, void *arg)
{
	const struct controller *c = arg;

	return lives_giving_back(c->lives, m->meta.name) || owners_deletes(c->owners, n) ||
	       reclaims_wants(provisioner_reclaims(c->provisioner), n);
}

static void on_driver_closing(struct driver *s, void *arg)
{
	struct controller *c = arg;

	lives_detach(c->lives, s);
	provisioned_machines_closing(c->provisioned_machines, s);
	discovery_forget(c->discovery, s);
	fleet_closing(c->fleet, s);
}

static int volumes_left(const char *machine, void *arg)
{
	const struct controller *c = arg;

	return lives_volumes_left(c->lives, machine);
}

static bool try_of(const char *machine, struct login_try *out, void *arg)
{
	const struct controller *c = arg;

	return lives_login(c->lives, machine, out);
}

static bool claim_again(const struct kube_entry *en, void *arg)
{
	struct controller *c = arg;

	changes_claim(c->changes, en->name, en->object);
	return true;
}

static bool kick_claim(const struct kube_entry *en, void *arg)
{
	struct controller *c = arg;

	claims_kick(c->claims, en->name);
	return true;
}

static bool kick_machine(const struct kube_entry *en, void *arg)
{
	struct controller *c = arg;

	lives_kick(c->lives, en->name);
	return true;
}

static bool machine_again(const struct kube_entry *en, void *arg)
{
	object_changes_machine(arg, en->name, en->object);
	return true;
}

/* Configures the agent endpoint with the current image and keys. Returns -1 if the image cannot be
 * used. */
static int configure_endpoint(struct controller *c)
{
	struct agent_endpoint_spec s = {.image = c->agent_image,
					.image_key = c->agent_image_key,
					.ca_pem = keys_ca_pem(c->ctx.keys),
					.boot_key = keys_boot(c->ctx.keys)};
	struct err e;

	if (agent_endpoint_configure(c->agent_endpoint, &s, &e) == 0)
		return 0;
	log_error("the agent's image cannot be used", LOG_E(&e));
	return -1;
}

/* True if the agent endpoint is configured. If image or keys are missing, returns false and starts
 * the timer c->settle for the next try. Once configured, the endpoint remains usable if the Secret
 * with its keys is deleted. */
static bool endpoint_ready(struct controller *c)
{
	bool was = agent_endpoint_ready(c->agent_endpoint),
	     there = was ? keys_ca_pem(c->ctx.keys) != NULL : keys_ready(c->ctx.keys, NULL);

	if (there && configure_endpoint(c) < 0 && !was) {
		loop_timer_start(&c->settle, IMAGE_AGAIN_MS);
		return false;
	}
	if (!agent_endpoint_ready(c->agent_endpoint)) {
		loop_timer_start(&c->settle, 500);
		return false;
	}
	return true;
}

/* --- deriving again --------------------------------------------------------------------------- */

static void pass_over(struct pass *p)
{
	loop_timer_stop(&p->timer);
	arena_free(p->arena);
	p->arena = NULL;
}

/* Begins a pass over all Machines, which is followed by all NodeClaims. Abandons a pass that is in
 * progress. */
static void pass_begin(struct controller *c, struct pass *p)
{
	pass_over(p);
	p->arena = arena_new();
	p->claims = false;
	sweep_begin(&p->sweep, c->ctx.cache[OBJECT_MACHINE], p->arena);
}

/* Processes at most `most` objects of the pass. Returns false once all have been processed. */
static bool pass_go_on(struct controller *c, struct pass *p, size_t most,
		       bool (*machine)(const struct kube_entry *en, void *arg),
		       bool (*claim)(const struct kube_entry *en, void *arg))
{
	if (sweep_go_on(&p->sweep, most, p->claims ? claim : machine, c))
		return true;
	if (p->claims) {
		pass_over(p);
		return false;
	}
	p->claims = true;
	sweep_begin(&p->sweep, c->ctx.cache[OBJECT_NODE_CLAIM], p->arena);
	return true;
}

static void kicks_on(void *arg)
{
	struct controller *c = arg;
	struct pass *p = &c->kicks;

	if (kube_client_queued(c->ctx.host) > QUEUED_MOST)
		loop_timer_start(&p->timer, QUEUE_MS);
	else if (pass_go_on(c, p, KICKED_EACH_TURN, kick_machine, kick_claim))
		loop_timer_start(&p->timer, 0);
}

/* Marks the controller as ready after a complete pass over Machines and NodeClaims, and starts all
 * work that had to wait for the complete planner's world. Machines and NodeClaims are started in
 * slices. */
static void kick_all(struct controller *c)
{
	bool first = !c->ctx.ready;

	c->ctx.ready = true;
	if (first && c->on_ready)
		c->on_ready(c->on_ready_arg);
	pass_begin(c, &c->kicks);
	kicks_on(c);
	tenants_update_all(c->tenants);
	drains_kick(c->drains, NULL);
	pending_cleanup_kick(c->pending_cleanup, NULL);
	api_path_checks_kick(c->api_path_checks, NULL);
	owners_kick(c->owners, NULL);
	provisioner_kick(c->provisioner);
	provider_finalizer_kick(c->provider_finalizer);
	provisioned_machines_kick(c->provisioned_machines);
	fleet_kick(c->fleet);
	supply_status_kick(c->supply_status);
	warm_pool_kick(c->warm_pool);
}

static void rederive_on(void *arg)
{
	struct controller *c = arg;

	if (pass_go_on(c, &c->rederive, REDERIVED_EACH_TURN, machine_again, claim_again))
		loop_timer_start(&c->rederive.timer, 0);
	else
		kick_all(c);
}

/* Starts a pass over all Machines and then all NodeClaims, in slices. The pass hands each object
 * again to the parts that depend on it, because other caches, on which the result depends, may have
 * been loading the first time. Does nothing until all caches are synced and the agent endpoint is
 * configured. */
static void rederive(void *arg)
{
	struct controller *c = arg;

	if (!object_changes_synced(c) || !endpoint_ready(c))
		return;
	keys_follow(c->ctx.keys);
	keys_publish(c->ctx.keys);
	pass_begin(c, &c->rederive);
	rederive_on(c);
}

/* --- leading ---------------------------------------------------------------------------------- */

static void on_leading(int64_t transitions, void *arg)
{
	struct controller *c = arg;
	struct audit_newest newest;

	c->ctx.leading = true;
	/* A plan made while following may have set gauges. */
	metrics_forget(c->ctx.metrics);
	known_series_lead(&c->ctx);
	log_info("leading", LOG_S("identity", c->ctx.o.identity),
		 LOG_I("transitions", transitions));
	leader_service_lead(c->leader_service);
	validation_lead(c->validation);
	discovery_lead(c->discovery);
	view_lead(c->view);
	(void)audit_newest_parse(kube_lease_annotation(c->ctx.lease, AUDIT_NEWEST), &newest);
	audit_trail_recorded(c->audit_trail, &newest);
	audit_trail_lead(c->audit_trail, transitions);
	loop_timer_start(&c->settle, 0);
}

/* Returns what the leader records in its Lease: the newest segment of the audit log, and whether it
 * can write the log's file. */
static json_t *lease_annotations(void *arg)
{
	const struct controller *c = arg;
	const struct audit_newest n = audit_trail_newest(c->audit_trail);
	const char *fails = audit_file_error(c->audit_file);
	json_t *o = json_pack("{s:s?}", AUDIT_FILE_FAILS, fails);
	char text[128];

	str_format(text, sizeof(text), AUDIT_NEWEST_FORMAT, (long long)n.number, (long long)n.seq,
		   n.digest);
	if (n.number)
		json_object_set_new(o, AUDIT_NEWEST, json_string(text));
	return o;
}

static void on_following(void *arg)
{
	struct controller *c = arg;

	c->ctx.leading = false;
	audit_trail_follow(c->audit_trail);
	/* Drop the queued requests: a former leader must not send them. */
	kube_client_drop_queued(c->ctx.host);
	tenants_drop_queued(c->tenants);
	claims_clear(c->claims);
	unwanted_clear(provisioner_unwanted(c->provisioner));
	underused_clear(provisioner_underused(c->provisioner));
	drift_clear(c->drift);
	replacements_clear(provisioner_replacements(c->provisioner));
	homeward_clear(provisioner_homeward(c->provisioner));
	reclaims_clear(provisioner_reclaims(c->provisioner));
	permits_clear(provisioner_permits(c->provisioner));
	warm_pool_kick(c->warm_pool);
	log_warn("no longer the leader: this replica writes "
		 "nothing more",
		 LOG_S("identity", c->ctx.o.identity),
		 LOG_S("holder", kube_lease_holder(c->ctx.lease)));
	lives_kick(c->lives, NULL);
}

/* --- start and stop --------------------------------------------------------------------------- */

static int64_t wall_of(void *arg)
{
	return loop_wall(arg);
}

static void make_context(struct controller *c, struct loop_group *g, struct http *h,
			 const struct context_options *o)
{
	struct context *x = &c->ctx;

	x->loop = loop_of(g);
	x->group = g;
	x->http = h;
	x->o = *o;
	x->o.ns = mem_strdup(o->ns);
	x->o.identity = mem_strdup(o->identity);
	x->o.image_ca_pem = mem_strdup(o->image_ca_pem);
	x->o.evidence_dir = mem_strdup(o->evidence_dir);
	x->o.audit_log = mem_strdup(o->audit_log);
	x->o.poll_ms = o->poll_ms ? o->poll_ms : 1000;
	x->o.idle_poll_ms = o->idle_poll_ms ? o->idle_poll_ms : 120000;
	x->o.settle_ms = o->settle_ms ? o->settle_ms : 5000;
	x->o.batch_idle_ms = o->batch_idle_ms ? o->batch_idle_ms : 1000;
	x->o.batch_most_ms = o->batch_most_ms ? o->batch_most_ms : 10000;
	x->on_notice = on_notice;
	x->decided = is_decided;
	x->on_notice_arg = c;
	x->began = loop_wall(x->loop);
	x->metrics = metrics_new();
	metrics_clock(x->metrics, wall_of, x->loop);
	x->reserved = reserved_new(o->management_networks);
	x->zones = zones_new();
	x->api_paths = api_paths_new();
	x->held_gpus = held_gpus_new();
	x->counters = counters_new(x);
	x->claim_index = claim_index_new();
	x->machine_lists = machine_lists_new();
	x->record_index = record_index_new();
	x->clock_jumps = clock_jumps_new(x);
	x->host_clock = host_clock_new(x);
	x->keys = keys_new(x);
}

static void on_segment(const char *tenant, void *arg)
{
	pending_cleanup_kick(((struct controller *)arg)->pending_cleanup, tenant);
}

static bool holds_segment(const struct virtual_cluster *vc, bool gone, void *arg)
{
	struct controller *c = arg;

	/* Call api_path_checks_block_deletion() first: it removes the load balancer of the tenant's
	 * API server path, which must be gone before segments_block_deletion() removes the VPC that
	 * contains it. */
	return api_path_checks_block_deletion(c->api_path_checks, vc, gone) ||
	       segments_block_deletion(c->segments, vc, gone);
}

static void on_api_path(const char *tenant, void *arg)
{
	struct controller *c = arg;

	tenants_api_path_changed(c->tenants, tenant);
	pending_cleanup_kick(c->pending_cleanup, tenant);
}

static void make_parts(struct controller *c)
{
	struct context *x = &c->ctx;
	struct tenant_hooks hooks = tenant_changes_hooks(c);
	struct claims_spec cs = {.status = {.c = x, .volumes_left = volumes_left, .arg = c}};
	struct lives_spec ls = {.parts = {.c = x}};

	c->agent_endpoint = ls.parts.agent_endpoint = agent_endpoint_new(x->group);
	c->drivers = drivers_new(x, on_driver_closing, c);
	c->power_pacing = ls.parts.power_pacing = power_pacing_new(x);
	c->machine_index = machine_index_new();
	ls.parts.machine_index = c->machine_index;
	c->login_guard = ls.parts.login_guard = login_guard_new(x, c->machine_index, try_of, c);
	c->tenants = tenants_new(x, &hooks);
	c->segments = segments_new(x, c->drivers, on_segment, c);
	c->api_path_checks = api_path_checks_new(x, c->drivers, on_api_path, c);
	c->pending_cleanup = pending_cleanup_new(x, c->tenants, holds_segment, c);
	c->owners = owners_new(x);
	c->drains = drains_new(x, c->tenants);
	c->eta = eta_new();
	c->fleet = ls.parts.fleet = fleet_new(x, c->drivers);
	c->provisioner = provisioner_new(x, c->tenants, c->eta, c->drivers, c->fleet);
	c->changes = provisioner_changes(c->provisioner);
	c->sync = provisioner_sync(c->provisioner);
	c->warm_pool = warm_pool_new(x, c->sync);
	c->drift = drift_new(x, c->tenants, provisioner_replacements(c->provisioner));
	c->provider_finalizer = provider_finalizer_new(x);
	c->provisioned_machines = provisioned_machines_new(x, c->drivers);
	c->discovery = discovery_new(x, c->drivers);
	c->supply_status = supply_status_new(x, c->drivers, c->warm_pool, c->eta, c->fleet,
					     provisioner_waiting(c->provisioner));
	c->record_export = record_export_new(x);
	c->audit_file = x->o.audit_log ? audit_file_new(x) : NULL;
	c->audit_trail = audit_trail_new(x, c->audit_file);
	c->ledgers = ledgers_new(x);
	c->validation = validation_new(x);
	c->view =
		view_new(x, c->tenants, provisioner_waiting(c->provisioner),
			 provisioner_last_plan(c->provisioner), provisioner_bursts(c->provisioner));
	c->tenant_list = tenant_list_new(x, c->tenants, provisioner_waiting(c->provisioner));
	c->gauges = gauges_new(x, c->tenants);
	c->endpoints = (struct endpoints){x, c->gauges};
	cs.status.tenants = ls.parts.tenants = c->tenants;
	cs.status.eta = c->eta;
	cs.avoided = provisioner_avoided(c->provisioner);
	cs.unwanted = provisioner_unwanted(c->provisioner);
	cs.status.underused = provisioner_underused(c->provisioner);
	cs.status.drift = c->drift;
	c->claims = claims_new(&cs);
	ls.parts.drivers = c->drivers;
	ls.warm_pool = c->warm_pool;
	ls.unwanted = provisioner_unwanted(c->provisioner);
	ls.underused = provisioner_underused(c->provisioner);
	ls.drift = c->drift;
	ls.homeward = provisioner_homeward(c->provisioner);
	ls.reclaims = provisioner_reclaims(c->provisioner);
	c->lives = lives_new(&ls);
}

static void count_request(const char *method, int status, int64_t ms, void *arg)
{
	counters_request(arg, "host", method, status, ms);
}

struct controller *controller_new(struct loop_group *g, struct http *h,
				  const struct kube_config *host,
				  const struct controller_options *o, struct err *e)
{
	struct controller *c = mem_new(struct controller);
	struct kube_client_spec cs = {.config = host,
				      .name = "host",
				      .qps = CONTROLLER_HOST_QPS,
				      .burst = HOST_BURST,
				      .max_in_flight = 64,
				      .queue_ms = HOST_LINE_MS,
				      .counted = count_request,
				      .plain_ok = o->context.plain_ok};
	struct kube_lease_spec ls = {
		.ns = o->context.ns,
		.name = CONTROLLER_LEASE,
		.identity = o->context.identity,
		.slower = o->context.lease_slower,
		.on_started = on_leading,
		.on_stopped = on_following,
		.annotations = lease_annotations,
		.arg = c,
	};

	mem_keep_freed(false); /* Until the first plan. */
	c->agent_image = mem_strdup(o->agent_image);
	c->agent_image_key = mem_strdup(o->agent_image_key);
	c->on_ready = o->on_ready;
	c->on_ready_arg = o->on_ready_arg;
	c->watches = mem_calloc(OBJECT_KINDS, sizeof(*c->watches));
	loop_timer_init(&c->settle, g, rederive, c);
	loop_timer_init(&c->rederive.timer, g, rederive_on, c);
	loop_timer_init(&c->kicks.timer, g, kicks_on, c);
	make_context(c, g, h, &o->context);
	make_parts(c);
	cs.counted_arg = c->ctx.counters;
	c->ctx.host = kube_client_new(g, h, &cs, e);
	if (!c->ctx.host) {
		controller_free(c);
		return NULL;
	}
	c->ctx.events = kube_events_new(g, c->ctx.host, "drover.dev/controller", c->ctx.o.identity);
	c->ctx.secrets = secrets_new(g, c->ctx.host, c->ctx.o.ns, secret_changes_on, c);
	object_changes_watch(c);
	object_changes_check(c);
	ls.client = c->ctx.host;
	c->ctx.lease = kube_lease_new(g, &ls);
	return c;
}

int controller_trace(struct controller *c, const struct spans_spec *s, struct err *e)
{
	c->ctx.spans = spans_new(&c->ctx, s, e);
	return c->ctx.spans ? 0 : -1;
}

static void release_lease(void *arg)
{
	struct controller *c = arg;

	kube_lease_release(c->ctx.lease, c->on_stopped, c->on_stopped_arg);
}

static void leave_service(void *arg)
{
	struct controller *c = arg;

	leader_service_stop(c->leader_service, release_lease, c);
}

void controller_stop(struct controller *c, void (*done)(void *arg), void *arg)
{
	c->on_stopped = done;
	c->on_stopped_arg = arg;
	view_stop(c->view, leave_service, c);
}

static void free_context(struct context *x)
{
	kube_cache_free(x->crds);
	for (int i = 0; i < OBJECT_KINDS; i++)
		kube_cache_free(x->cache[i]);
	secrets_free(x->secrets);
	reserved_free(x->reserved);
	zones_free(x->zones);
	api_paths_free(x->api_paths);
	held_gpus_free(x->held_gpus);
	keys_free(x->keys);
	kube_events_free(x->events);
	kube_client_free(x->host);
	claim_index_free(x->claim_index);
	machine_lists_free(x->machine_lists);
	record_index_free(x->record_index);
	spans_free(x->spans);
	counters_free(x->counters);
	host_clock_free(x->host_clock);
	clock_jumps_free(x->clock_jumps);
	metrics_free(x->metrics);
	free((char *)x->o.ns);
	free((char *)x->o.identity);
	free((char *)x->o.image_ca_pem);
	free((char *)x->o.evidence_dir);
	free((char *)x->o.audit_log);
}

/* Frees first the parts that call other parts. Freeing a part may run its callbacks; those find
 * either a member of *c that is NULL, or a part that still exists. */
void controller_free(struct controller *c)
{
	if (!c)
		return;
	c->ctx.leading = false;
	c->ctx.on_notice = NULL;
	kube_lease_free(c->ctx.lease);
	loop_timer_stop(&c->settle);
	pass_over(&c->rederive);
	pass_over(&c->kicks);
	for (size_t i = 0; i < OBJECT_CHANGES_CHECKED; i++)
		recheck_stop(&c->rechecks[i]);
	lives_free(c->lives);
	c->lives = NULL;
	provisioned_machines_free(c->provisioned_machines);
	c->provisioned_machines = NULL;
	drivers_free(c->drivers);
	fleet_free(c->fleet);
	discovery_free(c->discovery);
	tenant_list_free(c->tenant_list);
	c->tenant_list = NULL;
	tenants_free(c->tenants);
	record_export_free(c->record_export);
	audit_trail_free(c->audit_trail);
	c->audit_trail = NULL;
	audit_file_free(c->audit_file);
	c->audit_file = NULL;
	ledgers_free(c->ledgers);
	pending_cleanup_free(c->pending_cleanup);
	segments_free(c->segments);
	api_path_checks_free(c->api_path_checks);
	owners_free(c->owners);
	drains_free(c->drains);
	claims_free(c->claims);
	validation_free(c->validation);
	supply_status_free(c->supply_status);
	drift_free(c->drift);
	provider_finalizer_free(c->provider_finalizer);
	warm_pool_free(c->warm_pool);
	gauges_free(c->gauges);
	agent_endpoint_free(c->agent_endpoint);
	view_published_free(c->published);
	leader_service_free(c->leader_service);
	view_free(c->view);
	provisioner_free(c->provisioner);
	power_pacing_free(c->power_pacing);
	login_guard_free(c->login_guard);
	machine_index_free(c->machine_index);
	free_context(&c->ctx);
	eta_free(c->eta);
	free(c->watches);
	free((char *)c->agent_image);
	free((char *)c->agent_image_key);
	free(c);
}
