#include "tests/world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/endpoint.h"
#include "tests/unit/testing.h"
#include "tests/world/invariants.h"
#include "tests/world/reason_rule.h"
#include "tests/world/world_objects.h"
#include "wipe/proto.h"

#define IMAGE SERVER_IMAGE " 1.36\nan operating system, in a few words\n"

/* --- faults ----------------------------------------------------------------------------------- */

uint64_t world_counted(const struct sim_world *w)
{
	return w->by_effect ? w->effects : w->requests;
}

/* Returns the fault for the request or effect that was counted last. */
static enum http_mem_fault_kind fate_of_this(struct sim_world *w, const char *what,
					     const char *where, const char *which)
{
	uint64_t n = world_counted(w);

	if (n == w->fault_at || n == w->kill_at)
		str_format(w->fault_on, sizeof(w->fault_on), "%s %s%s", what, where, which);
	return n == w->fault_at ? w->fault : HTTP_MEM_WELL;
}

/* --- the fabric ------------------------------------------------------------------------------- */

static void on_fabric_start(struct loop_child *c, const char *const *argv, void **state, void *arg)
{
	(void)c;
	(void)argv;
	*state = arg;
}

static json_t *move_port(struct sim_world *w, const json_t *q, json_int_t id, struct server **late)
{
	const char *op = json_str_at(q, "op");
	int64_t fence = json_int_at(q, "fence");

	for (unsigned i = 0; i < w->nboxes; i++) {
		struct server *b = &w->servers[i];

		if (!str_eq(b->name, json_str_at(q, "machine")))
			continue;
		if (str_eq(op, "observe"))
			return json_pack("{s:I,s:s,s:s}", "id", id, "segment", b->segment, "proof",
					 b->port_unproved ? "None" : "Strong");
		if (fence < b->fence)
			return json_pack("{s:I,s:{s:s,s:s}}", "id", id, "error", "kind", "conflict",
					 "message", "a newer leader was here");
		b->fence = fence;
		invariants_act_is_owned(w, b, "place ");
		if (w->port_lands_ms)
			*late = b;
		else if (!b->port_stuck)
			str_copy(b->segment, sizeof(b->segment), json_str_at(q, "segment"));
		return json_pack("{s:I}", "id", id);
	}
	return json_pack("{s:I,s:i}", "id", id, "protocol", 1);
}

static enum http_mem_fault_kind fate_of_move(struct sim_world *w, const json_t *q)
{
	if (!w->facing || !w->by_effect || !str_eq(json_str_at(q, "op"), "place"))
		return HTTP_MEM_WELL;
	w->effects++;
	return fate_of_this(w, "port of", str_or(json_str_at(q, "machine"), "?"),
			    str_or(json_str_at(q, "segment"), "?"));
}

/* An answer of the fabric, and possibly a late port move. A port moves at once, unless late is set.
 * A late move happens when the timer fires, even if the program that asked for it has ended. */
struct fabric_answer {
	struct list link;
	/* The program that gets the answer; NULL: it has ended. */
	struct loop_child *to;
	char *text;
	/* Server whose port moves late; NULL: no late move. */
	struct server *late;
	char segment[128];
	struct loop_timer timer;
};

static void answer_free(struct fabric_answer *a)
{
	list_remove(&a->link);
	loop_timer_stop(&a->timer);
	free(a->text);
	free(a);
}

static void on_fabric_answer(void *arg)
{
	struct fabric_answer *a = arg;

	if (a->late)
		str_copy(a->late->segment, sizeof(a->late->segment), a->segment);
	if (a->to)
		loop_sim_child_line(a->to, a->text, strlen(a->text));
	answer_free(a);
}

/* Ends the program. Drops its answers that were not delivered; late moves still happen. */
static void end_fabric(struct sim_world *w, struct loop_child *c, int status)
{
	list_for_each (a, &w->fabric_answers, struct fabric_answer, link)
		if (a->to == c && a->late)
			a->to = NULL;
		else if (a->to == c)
			answer_free(a);
	loop_sim_child_exit(c, status);
}

static void answer_in_time(struct sim_world *w, struct loop_child *c, const json_t *q,
			   const json_t *answer, struct server *late)
{
	struct fabric_answer *a = mem_new(struct fabric_answer);
	int64_t ms = late ? w->port_lands_ms : w->fabric_ms;

	a->to = c;
	a->text = json_text(answer);
	list_push_back(&w->fabric_answers, &a->link);
	loop_timer_init(&a->timer, w->hardware, on_fabric_answer, a);
	a->late = late;
	str_copy(a->segment, sizeof(a->segment), str_or(json_str_at(q, "segment"), ""));
	if (ms)
		loop_timer_start(&a->timer, ms);
	else
		on_fabric_answer(a);
}

static void on_fabric_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	struct err e;
	struct sim_world *w = state;
	OWN_JSON q = json_parse(line, len, &e);
	enum http_mem_fault_kind f = fate_of_move(w, q);
	OWN_JSON answer = NULL;
	struct server *late = NULL;

	if (f == HTTP_MEM_REFUSED) {
		end_fabric(w, c, 1);
		return;
	}
	for (unsigned i = 0; i < (f == HTTP_MEM_TWICE ? 2U : 1U); i++) {
		json_decref(answer);
		answer = move_port(w, q, json_int_at(q, "id"), &late);
	}
	if (f == HTTP_MEM_REPLY_LOST)
		end_fabric(w, c, 1);
	else if (f != HTTP_MEM_SILENT)
		answer_in_time(w, c, q, answer, late);
}

static void on_fabric_eof(struct loop_child *c, void *state)
{
	end_fabric(state, c, 0);
}

static void start_fabric(struct sim_world *w)
{
	struct loop_sim_program p = {
		.start = on_fabric_start, .line = on_fabric_line, .eof = on_fabric_eof, .arg = w};

	loop_sim_program(w->loop, WORLD_FABRIC, &p);
}

static struct fake_bmc *find_domain(const char *domain, const char **address, void *arg)
{
	struct sim_world *w = arg;

	for (unsigned i = 0; i < w->nboxes; i++) {
		if (!str_eq(w->servers[i].name, domain) || w->servers[i].undefined)
			continue;
		*address = strstr(w->servers[i].origin, "://") + 3;
		return &w->servers[i].bmc;
	}
	return NULL;
}

static void on_defined(const char *domain, const char *uuid, void *arg)
{
	struct sim_world *w = arg;

	for (unsigned i = 0; i < w->nboxes; i++) {
		struct server *b = &w->servers[i];

		if (!str_eq(b->name, domain))
			continue;
		b->undefined = !uuid;
		if (!uuid)
			continue;
		str_copy(b->uuid, sizeof(b->uuid), uuid);
		free(b->bmc.uuid);
		b->bmc.uuid = mem_strdup(uuid);
	}
}

static void start_libvirt(struct sim_world *w)
{
	fake_libvirt_init(&w->libvirt, w->hardware);
	w->libvirt.find = find_domain;
	w->libvirt.on_defined = on_defined;
	w->libvirt.arg = w;
}

/* --- time ------------------------------------------------------------------------------------- */

static void face(struct sim_world *w, struct replica *r)
{
	w->facing = r;
	http_mem_serve(w->net, WORLD_AGENT, r ? r->agent : NULL);
	http_mem_serve(w->net, WORLD_MEDIA, r && !w->media_gone ? r->media : NULL);
}

void world_media(struct sim_world *w, bool there)
{
	w->media_gone = !there;
	face(w, w->facing);
}

struct waiting {
	struct sim_world *w;
	bool (*cond)(void *arg);
	void *arg;
};

/* Routes agents to the leading replica, as a Service in front of drover does. */
static void face_leader(struct sim_world *w)
{
	struct replica *r = world_leader(w);

	if (r && !r->ready)
		r = NULL;
	if (r != w->facing)
		face(w, r);
}

static bool after_event(void *arg)
{
	struct waiting *wait = arg;

	if (wait->w->kill_at && world_counted(wait->w) >= wait->w->kill_at) {
		wait->w->kill_at = 0;
		world_kill(&wait->w->replicas[wait->w->nreplicas - 1]);
		world_replica(wait->w);
	}
	face_leader(wait->w);
	if (!invariants_look(wait->w))
		return true;
	return wait->cond && wait->cond(wait->arg);
}

static void say_where(struct sim_world *w)
{
	if (w->fault_on[0])
		print_message("one of %llu met fate %d, replica %u: %s\n",
			      (unsigned long long)world_counted(w), w->fault, w->nreplicas,
			      w->fault_on);
	for (unsigned i = 0; i < w->nboxes; i++) {
		struct server *b = &w->servers[i];

		print_message("%s: %s, step %s, %s: %s; %s, %s in %s; does %d\n", b->name,
			      world_at(b, "status.state"), world_at(b, "status.operation.step"),
			      world_at(b, "status.operation.lastError.reason"),
			      world_at(b, "status.operation.lastError.message"),
			      b->bmc.on ? "on" : "off", b->bmc.image ? "medium" : "no medium",
			      b->segment, b->doing);
	}
	print_message("%.*s\n", w->log_len > 4000 ? 4000 : (int)w->log_len,
		      w->log ? w->log + (w->log_len > 4000 ? w->log_len - 4000 : 0) : "");
}

static bool let_pass(struct sim_world *w, bool (*cond)(void *arg), void *arg, int64_t ms)
{
	struct waiting wait = {w, cond, arg};
	bool held = loop_sim_run_cond(w->loop, after_event, &wait, loop_now(w->loop) + ms);

	if (w->complaint[0]) {
		say_where(w);
		fail_msg("%s", w->complaint);
	}
	return held;
}

void world_run(struct sim_world *w, int64_t ms)
{
	(void)let_pass(w, NULL, NULL, ms);
}

void world_wait(struct sim_world *w, bool (*cond)(void *arg), void *arg, int64_t limit_s,
		const char *what)
{
	if (!cond(arg) && !let_pass(w, cond, arg, limit_s * 1000)) {
		say_where(w);
		fail_msg("not in %lld s: %s", (long long)limit_s, what);
	}
}

/* --- replicas --------------------------------------------------------------------------------- */

static void on_ready(void *arg)
{
	((struct replica *)arg)->ready = true;
}

struct replica *world_replica(struct sim_world *w)
{
	struct replica *r = &w->replicas[w->nreplicas++];
	struct err e;
	OWN(kube_config) cfg = NULL;
	char *text;
	static const char *const allowed[] = {WORLD_FABRIC, FAKE_EXEC, FAKE_CLOUD, NULL};
	static const char *const hosts[] = {FAKE_LIBVIRT_URI, NULL};
	struct controller_options o = {
		.context.exec_allowed = allowed,
		.context.libvirt_allowed = hosts,
		.context.libvirt_helper = FAKE_LIBVIRT,
		.context.ns = "drover-system",
		.context.identity = r->name,
		.agent_image = w->iso,
		.context.evidence_dir = w->evidence_dir,
		.context.gang_hold_ms = w->gang_hold_ms,
		.on_ready = on_ready,
		.on_ready_arg = r,
	};

	assert_true(w->nreplicas <= WORLD_REPLICAS);
	r->world = w;
	str_format(r->name, sizeof(r->name), "replica-%u", w->nreplicas);
	str_format(r->origin, sizeof(r->origin), "https://host-%u:6443", w->nreplicas);
	http_mem_serve(w->net, r->origin, w->host.httpd);
	text = cluster_kubeconfig(&w->host, r->origin, w->ca_pem);
	cfg = kube_config_parse(text, strlen(text), KUBE_CONFIG_OWN, NULL, NULL, &e);
	free(text);
	if (!cfg)
		fail_msg("%s", e.text);
	r->group = loop_group_new(w->loop, r->name);
	r->http = http_new(r->group, http_mem_transport(w->net, r->group, r->name, NULL, NULL), 0);
	r->controller = controller_new(r->group, r->http, cfg, &o, &e);
	if (!r->controller)
		fail_msg("%s", e.text);
	r->agent = httpd_new(r->group);
	r->media = httpd_new(r->group);
	agent_endpoint_api_routes(controller_agent_endpoint(r->controller), r->agent);
	agent_endpoint_media_routes(controller_agent_endpoint(r->controller), r->media, false);
	agent_endpoint_media_routes(controller_agent_endpoint(r->controller), r->agent, true);
	return r;
}

static void free_replica(struct replica *r)
{
	if (!r->group)
		return;
	if (r->world->facing == r)
		face(r->world, NULL);
	httpd_free(r->agent);
	httpd_free(r->media);
	controller_free(r->controller);
	http_free(r->http);
	loop_group_free(r->group);
	r->group = NULL;
	r->controller = NULL;
	r->ready = false;
}

void world_cut(struct replica *r, bool cut)
{
	http_mem_hang(r->world->net, r->origin, cut);
}

void world_kill(struct replica *r)
{
	loop_group_drop(r->group);
	free_replica(r);
}

struct replica *world_leader(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nreplicas; i++)
		if (w->replicas[i].group && controller_context(w->replicas[i].controller)->leading)
			return &w->replicas[i];
	return NULL;
}

/* --- the rest of the world -------------------------------------------------------------------- */

struct cluster *world_cluster_at(struct sim_world *w, const char *endpoint)
{
	static const char *const gates[] = {SERVER_TEAM_A_GATE, SERVER_TEAM_B_GATE};

	for (int i = 0; i < 2; i++)
		if (str_eq(w->tenants[i].endpoint, endpoint) || str_eq(gates[i], endpoint))
			return &w->tenants[i];
	return str_eq(w->host.endpoint, endpoint) ? &w->host : NULL;
}

static void on_image_get(struct httpd_req *q, void *arg)
{
	struct sim_world *w = arg;

	w->image_gets++;
	if (w->bad_images) {
		w->bad_images--;
		httpd_reply(q, 200, "application/octet-stream", "another image", 13);
	} else {
		httpd_reply(q, 200, "application/octet-stream", IMAGE, sizeof(IMAGE) - 1);
	}
}

/* Creates the file w->iso with one boot block in it, the only part of an ISO that the media server
 * reads. The file is in memory, so that a test that fails or is killed leaves no file behind. */
static void make_iso(struct sim_world *w)
{
	static const char head[] = "an ISO, as far as anybody here looks: ";
	char *block = mem_alloc(PROTO_BOOT_BLOCK);

	memset(block, ' ', PROTO_BOOT_BLOCK);
	memcpy(block, PROTO_BOOT_MARK, sizeof(PROTO_BOOT_MARK) - 1);
	w->iso_fd = memfd_create("iso", MFD_CLOEXEC);
	assert_true(w->iso_fd >= 0);
	assert_int_equal(write(w->iso_fd, head, sizeof(head) - 1), sizeof(head) - 1);
	assert_int_equal(write(w->iso_fd, block, PROTO_BOOT_BLOCK), PROTO_BOOT_BLOCK);
	assert_int_equal(write(w->iso_fd, "its end", 7), 7);
	str_format(w->iso, sizeof(w->iso), "/proc/self/fd/%d", w->iso_fd);
	free(block);
}

static void on_log(const char *line, size_t len, void *arg)
{
	struct sim_world *w = arg;

	while (w->log_len + len + 1 > w->log_cap) {
		w->log_cap = w->log_cap ? w->log_cap * 2 : 1 << 16;
		w->log = mem_realloc_array(w->log, w->log_cap, 1);
	}
	memcpy(w->log + w->log_len, line, len);
	w->log_len += len;
	w->log[w->log_len] = '\0';
	if (getenv("WORLD_LOG"))
		fwrite(line, 1, len, stderr);
}

/* True if the request counts as an effect. GET changes nothing, and the renewal of a lease is no
 * step of a machine. */
static bool is_effect(const char *method, const char *target)
{
	return !str_eq(method, "GET") && !strstr(target, "/leases/");
}

/* S4: checks that a write to a BMC is in the Machine's journal. Writes to sessions and tasks are
 * exempt, because they are no acts on the machine. */
static void look_at_order(struct sim_world *w, const char *origin, const char *method,
			  const char *target)
{
	if (str_eq(method, "GET") || strstr(target, "/SessionService") ||
	    strstr(target, "/TaskService"))
		return;
	for (unsigned i = 0; i < w->nboxes; i++)
		if (str_eq(w->servers[i].origin, origin))
			invariants_act_is_owned(w, &w->servers[i],
						strstr(target, "ComputerSystem.Reset") ? "power"
										       : "");
}

static enum http_mem_fault_kind fate(const char *origin, const char *method, const char *target,
				     void *arg)
{
	struct sim_world *w = arg;

	if (getenv("WORLD_LOG"))
		fprintf(stderr, "request %lld %s %s%s\n", (long long)loop_now(w->loop), method,
			origin, target);
	if (!w->facing ||
	    /* faults meet only requests of drover, and only while a replica leads */
	    str_ends(origin, CLUSTER_INSIDE))
		return HTTP_MEM_WELL;
	if (w->refused && strstr(target, w->refused))
		return HTTP_MEM_REFUSED;
	if (w->unanswered && strstr(target, w->unanswered))
		return HTTP_MEM_SILENT;
	if (w->lease_fails && strstr(target, "/leases/"))
		return HTTP_MEM_REFUSED;
	look_at_order(w, origin, method, target);
	for (int i = 0; i < 2; i++)
		if (str_eq(w->tenants[i].origin, origin))
			invariants_change_is_fresh(w, method, target);
	w->requests++;
	if (is_effect(method, target))
		w->effects++;
	else if (w->by_effect)
		return HTTP_MEM_WELL;
	return fate_of_this(w, method, origin, target);
}

static int64_t wall_of(void *arg)
{
	return loop_wall(arg);
}

void world_start(struct sim_world *w, uint64_t seed, unsigned servers)
{
	struct secret *key = NULL;
	uint8_t d[CRYPTO_SHA256];
	struct err e;

	*w = (struct sim_world){.nboxes = servers};
	list_init(&w->fabric_answers);
	w->loop = loop_sim_new(seed, WORLD_WALL);
	log_redirect(on_log, w);
	log_clock(wall_of, w->loop);
	log_config(LOG_DEBUG, LOG_TEXT);
	w->net = http_mem_net_new(w->loop);
	http_mem_fault(w->net, fate, w);
	w->hardware = loop_group_new(w->loop, "hardware");
	crypto_sha256(IMAGE, sizeof(IMAGE) - 1, d);
	crypto_digest_text(d, w->image_digest);
	w->images = httpd_new(w->hardware);
	httpd_route(w->images, "GET", "/node.raw", 0, on_image_get, w);
	http_mem_serve(w->net, WORLD_IMAGES, w->images);
	assert_ok(crypto_ca_new("world", WORLD_WALL, 3650, &w->ca_pem, &key, &e), &e);
	secret_free(key);
	make_iso(w);
	start_fabric(w);
	start_libvirt(w);
	cluster_init(&w->host, w->loop, w->net, "host");
	cluster_init(&w->tenants[0], w->loop, w->net, "team-a");
	cluster_init(&w->tenants[1], w->loop, w->net, "team-b");
	for (unsigned i = 0; i < servers; i++)
		server_init(&w->servers[i], w, i + 1);
	world_objects(w);
	for (int i = 0; i < 2; i++)
		cluster_start_scheduler(&w->tenants[i]);
}

/* True if no replica counted or indexed an object wrongly. */
static bool counts_are_right(struct sim_world *w)
{
	size_t wrong = 0;

	for (unsigned i = 0; i < w->nreplicas; i++)
		wrong += w->replicas[i].controller
				 ? controller_check_counts(w->replicas[i].controller)
				 : 0;
	if (wrong)
		str_format(w->complaint, sizeof(w->complaint),
			   "%zu objects are counted or indexed wrongly (billing/supply_tally.h, "
			   "core/recheck.h)",
			   wrong);
	return !wrong;
}

void world_stop(struct sim_world *w)
{
	bool kept = counts_are_right(w) && invariants_secrets_kept(w) &&
		    invariants_nothing_leaks(w) &&
		    reason_rule_look(w, w->complaint, sizeof(w->complaint));

	for (unsigned i = 0; i < w->nreplicas; i++)
		free_replica(&w->replicas[i]);
	for (int i = 0; i < 2; i++)
		cluster_done(&w->tenants[i]);
	cluster_done(&w->host);
	list_for_each (a, &w->fabric_answers, struct fabric_answer, link)
		answer_free(a);
	for (unsigned i = 0; i < w->nboxes; i++)
		server_done(&w->servers[i]);
	httpd_free(w->images);
	loop_group_free(w->hardware);
	http_mem_net_free(w->net);
	log_redirect(NULL, NULL);
	log_clock(NULL, NULL);
	loop_free(w->loop);
	fake_libvirt_done(&w->libvirt);
	close(w->iso_fd);
	free(w->ca_pem);
	free(w->log);
	if (!kept)
		fail_msg("%s", w->complaint);
}

/* --- what tests ask --------------------------------------------------------------------------- */

const char *world_at(const struct server *b, const char *dotted)
{
	const json_t *o = b->object;
	char key[64];

	while (o && *dotted) {
		size_t n = strcspn(dotted, ".");

		str_format(key, sizeof(key), "%.*s", (int)n, dotted);
		o = json_object_get(o, key);
		dotted += dotted[n] ? n + 1 : n;
	}
	return str_or(json_string_value(o), "");
}

struct state_wait {
	struct sim_world *w;
	struct server *b;
	const char *text;
};

static bool in_state(void *arg)
{
	struct state_wait *s = arg;

	return str_eq(s->b->state, s->text);
}

void world_wait_state(struct server *b, const char *state, int64_t limit_s)
{
	struct state_wait s = {b->world, b, state};
	char what[80];

	str_format(what, sizeof(what), "%s %s", b->name, state);
	world_wait(b->world, in_state, &s, limit_s, what);
}

static bool is_settled(void *arg)
{
	return invariants_is_settled(arg);
}

void world_settle(struct sim_world *w)
{
	w->calm_at = loop_now(w->loop);
	world_wait(w, is_settled, w, invariants_settle_ms() / 1000 + 60, "S9: everything at rest");
	w->calm_at = 0;
}

static bool all_in_state(void *arg)
{
	struct state_wait *s = arg;

	for (unsigned i = 0; i < s->w->nboxes; i++)
		if (!str_eq(s->w->servers[i].state, s->text))
			return false;
	return true;
}

void world_wait_all(struct sim_world *w, const char *state, int64_t limit_s)
{
	struct state_wait s = {w, NULL, state};

	world_wait(w, all_in_state, &s, limit_s, state);
}

bool world_has_failure(const struct server *b, const char *reason)
{
	json_t *f;
	size_t i;

	json_array_foreach (json_at(b->object, "status", "failures"), i, f)
		if (str_eq(json_str_at(f, "reason"), reason))
			return true;
	return false;
}

static bool names_reason(void *arg)
{
	struct state_wait *s = arg;

	return str_eq(world_at(s->b, "status.operation.lastError.reason"), s->text) ||
	       str_eq(world_at(s->b, "status.quarantine.reason"), s->text) ||
	       world_has_failure(s->b, s->text);
}

void world_wait_reason(struct server *b, const char *reason, int64_t limit_s)
{
	struct state_wait s = {b->world, b, reason};
	char what[80];

	str_format(what, sizeof(what), "%s says %s", b->name, reason);
	world_wait(b->world, names_reason, &s, limit_s, what);
}

struct pod_wait {
	struct cluster *p;
	const char *name;
	/* Store revision at the last check. */
	uint64_t rev;
};

static json_t *pod_of(const struct cluster *p, const char *name)
{
	char key[160];

	str_format(key, sizeof(key), "pods/default/%s", name);
	return cluster_get(p, key);
}

static bool runs(void *arg)
{
	struct pod_wait *s = arg;
	OWN_JSON pod = NULL;

	if (s->rev == store_rev(s->p->store))
		return false;
	s->rev = store_rev(s->p->store);
	pod = pod_of(s->p, s->name);
	return str_eq(json_str_at(pod, "status", "phase"), "Running");
}

void world_wait_running(struct sim_world *w, struct cluster *p, const char *pod, int64_t limit_s)
{
	struct pod_wait s = {p, pod, 0};
	char what[80];

	str_format(what, sizeof(what), "pod %s of %s Running", pod, p->name);
	world_wait(w, runs, &s, limit_s, what);
}

struct server *world_box_of(struct sim_world *w, struct cluster *p, const char *pod)
{
	OWN_JSON o = pod_of(p, pod);
	const char *node = json_str_at(o, "spec", "nodeName");

	for (unsigned i = 0; node && i < w->nboxes; i++)
		if (str_eq(w->servers[i].claim, node))
			return &w->servers[i];
	return NULL;
}

static bool no_token_of(const json_t *secret, void *arg)
{
	return !str_eq(json_str_at(secret, "metadata", "labels", "drover.dev/nodeclaim"),
		       *(const char **)arg) ||
	       (*(const char **)arg = NULL);
}

void world_check_serving(struct sim_world *w, struct cluster *p, const char *pod_name)
{
	OWN(arena) a = arena_new();
	OWN_JSON pod = pod_of(p, pod_name);
	const char *node_name = json_str_at(pod, "spec", "nodeName"), *left = node_name;
	struct server *b = world_box_of(w, p, pod_name);
	OWN_JSON node = cluster_get(p, arena_printf(a, "nodes/%s", str_or(node_name, "")));
	OWN_JSON claim = cluster_get(
		&w->host, arena_printf(a, "nodeclaims.drover.dev/%s", str_or(node_name, "")));
	OWN_JSON record = NULL;
	json_t *t;
	size_t i;
	bool ours = false;

	assert_non_null(b);
	assert_non_null(node);
	assert_non_null(claim);
	assert_string_equal(json_str_at(claim, "spec", "virtualClusterRef", "name"), p->name);
	assert_string_equal(json_str_at(claim, "spec", "machineRef", "name"), b->name);
	assert_string_equal(b->state, "serving");
	assert_string_equal(world_at(b, "status.tenant.name"), p->name);
	assert_false(json_true_at(b->object, "status", "clean"));
	assert_string_equal(
		json_str_at(node, "spec", "providerID"),
		arena_printf(a, "drover://%s/%s", world_at(b, "spec.providerRef.name"), b->name));
	assert_string_equal(json_str_at(node, "status", "nodeInfo", "systemUUID"), b->uuid);
	json_array_foreach (json_at(node, "spec", "taints"), i, t) {
		assert_string_not_equal(json_str_at(t, "key"), "drover.dev/unregistered");
		ours |= str_eq(json_str_at(t, "key"), "nvidia.com/gpu");
	}
	assert_true(ours);
	for (int k = 0; k < 2; k++) {
		OWN_JSON other =
			cluster_get(&w->tenants[k], arena_printf(a, "nodes/%s", node_name));

		assert_true(!other || p == &w->tenants[k]);
	}
	cluster_each(p, "secrets/kube-system/", no_token_of, &left);
	assert_ptr_equal(left, node_name);
	record = cluster_get(&w->host, arena_printf(a, "wiperecords.drover.dev/%s",
						    world_at(b, "status.lastWipe.record")));
	assert_string_equal(json_str_at(record, "spec", "verdict"), "Clear");
	assert_int_equal(b->tenancy, json_int_at(record, "spec", "tenancy") + 1);
	assert_string_equal(b->segment, arena_printf(a, "tenant/%s", p->name));
	assert_null(b->bmc.image);
}
