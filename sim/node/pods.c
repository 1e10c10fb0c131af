/*
 * node_pods: lists and watches the pods that are bound to this Node, and writes their states.
 *
 *   bound --START_MS--> Running --run-for--> Succeeded, or Failed with exit-code
 *   deleted --stop-after, at most the grace period--> deleted with grace period 0
 *
 * Only one write is in flight at a time; each tick searches for a pod that is due.
 * Tests: tests/unit/sim/node/test_node.c
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/machine/iso.h"
#include "sim/node/node_impl.h"
#include "sim/cluster/objects.h"

#define START_MS 1000
#define STOP_MS 1000
/* Run time in ms of a pod of a Job without the annotation run-for. The pod must end by itself,
 * because otherwise the Job would never complete. */
#define JOB_RUN_MS 10000
#define TICK_MS 250
#define AGAIN_MS 2000
#define WATCH_S 300
#define POD_MAX (2u << 20)
#define TRACE_AT (64ll << 20)

struct pod {
	/* path: path of the pod in the API, /api/v1/namespaces/NS/pods/NAME. */
	char *path, *uid, *name;
	/* The Pod as last read. */
	json_t *object;
	/* Loop times at which the pod was first seen and was started; began_at -1: not started. */
	int64_t seen_at, began_at;
	/* Loop time of the deletion; -1: not deleted. */
	int64_t deleted_at;
	/* True: the list that is being read contains the pod. */
	bool listed;
	unsigned ip;
};

struct node_pods {
	struct sim_node *node;
	/* Map from uid to struct pod. */
	struct map *pods;
	struct http_req *watch;
	struct scan *lines;
	struct loop_timer tick, relist;
	/* Uid of the pod whose write is in flight; NULL: none. */
	char *acting;
	char rv[32];
	bool expired;
	unsigned ips;
};

static void pod_free(void *arg)
{
	struct pod *p = arg;

	json_decref(p->object);
	free(p->path);
	free(p->uid);
	free(p->name);
	free(p);
}

static int64_t clock_of(const struct node_pods *s)
{
	return node_now(s->node);
}

/* Returns the duration in an annotation; `otherwise` if the annotation is absent or not valid. */
static int64_t duration_of(const struct pod *p, const char *annotation, int64_t otherwise)
{
	const char *text = json_str_at(p->object, "metadata", "annotations", annotation);
	int64_t ms;

	return text && str_to_duration(text, &ms) ? ms : otherwise;
}

/* Returns the exit code in the pod's annotation; 0 if the annotation is absent or not a number. */
static int64_t exit_code(const struct pod *p)
{
	const char *text = json_str_at(p->object, "metadata", "annotations", SIM_NODE_EXIT_CODE);
	int64_t code;

	return text && str_to_i64(text, 0, 255, &code) ? code : 0;
}

/* Returns the time in ms after which the pod ends by itself; -1: the pod runs until it is
 * deleted. */
static int64_t run_ms(const struct pod *p)
{
	bool of_job = str_eq(json_str_at(sim_object_controller(p->object), "kind"), "Job");

	return duration_of(p, SIM_NODE_RUN_FOR, of_job ? JOB_RUN_MS : -1);
}

static bool is_over(const struct pod *p)
{
	return sim_pod_is_over(p->object);
}

static bool is_running(const struct pod *p)
{
	return str_eq(json_str_at(p->object, "status", "phase"), "Running");
}

/* --- list and watch --------------------------------------------------------------------------- */

/* Returns the loop time at which a running pod started. It is computed from the pod's startTime,
 * because the rack may have been restarted since. -1: not running. */
static int64_t begun(const struct node_pods *s, const struct pod *p)
{
	const char *text = json_str_at(p->object, "status", "startTime");
	int64_t at;

	if (!is_running(p) || !text || !str_to_time(text, &at))
		return -1;
	return clock_of(s) - (loop_wall(loop_of(s->node->group)) - at);
}

static void see(struct node_pods *s, json_t *o)
{
	const char *uid = json_str_at(o, "metadata", "uid");
	const char *name = json_str_at(o, "metadata", "name");
	const char *ns = json_str_at(o, "metadata", "namespace");
	struct pod *p;

	if (!uid || !name || !ns || !str_is_dns_subdomain(name) || !str_is_dns_label(ns))
		return;
	p = map_get(s->pods, uid);
	if (!p) {
		p = mem_new(struct pod);
		p->path = mem_printf("/api/v1/namespaces/%s/pods/%s", ns, name);
		p->name = mem_printf("%s/%s", ns, name);
		p->uid = mem_strdup(uid);
		p->seen_at = clock_of(s);
		p->deleted_at = p->began_at = -1;
		p->ip = ++s->ips;
		map_put(s->pods, uid, p);
	}
	json_decref(p->object);
	p->object = json_incref(o);
	p->listed = true;
	if (p->began_at < 0)
		p->began_at = begun(s, p);
	if (p->deleted_at < 0 && json_at(o, "metadata", "deletionTimestamp"))
		p->deleted_at = clock_of(s);
}

static void forget(struct node_pods *s, const char *uid)
{
	if (uid)
		map_del(s->pods, uid);
}

static void relist_later(struct node_pods *s, int64_t ms)
{
	s->rv[0] = '\0';
	loop_timer_start(&s->relist, ms);
}

static int on_line(json_t *line, void *arg, struct err *e)
{
	struct node_pods *s = arg;
	json_t *o = json_at(line, "object");
	const char *type = json_str_at(line, "type"), *rv;

	if (str_eq(type, "ERROR")) {
		s->expired = true;
		return err_set(e, ERR_NOT_FOUND, 410, "the watch has expired");
	}
	rv = json_str_at(o, "metadata", "resourceVersion");
	if (rv)
		str_copy(s->rv, sizeof(s->rv), rv);
	if (str_eq(type, "DELETED"))
		forget(s, json_str_at(o, "metadata", "uid"));
	else if (!str_eq(type, "BOOKMARK"))
		see(s, o);
	return 0;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct node_pods *s = arg;

	return scan_feed(s->lines, data, len, e);
}

static void on_watch_end(const struct http_reply *r, const struct err *e, void *arg)
{
	struct node_pods *s = arg;

	s->watch = NULL;
	if (s->expired || (r && r->status >= 400) || (e && !err_is_transient(e)))
		relist_later(s, AGAIN_MS);
	else
		loop_timer_start(&s->relist, e ? AGAIN_MS : 0);
}

static void watch_pods(struct node_pods *s)
{
	static const struct scan_ops ops = {.on_value = on_line};
	char path[500];
	struct http_call c = {
		.path = path,
		.bearer = s->node->bearer,
		.no_timeout = true,
		.idle_ms = (WATCH_S + 60) * 1000,
		.on_data = on_data,
		.piece_bytes = 4 << 10,
		.done = on_watch_end,
		.arg = s,
	};

	scan_free(s->lines);
	s->lines = scan_new(&(struct scan_spec){
		.want = scan_all, .lines = true, .max_bytes = POD_MAX, .ops = &ops, .arg = s});
	s->expired = false;
	str_format(path, sizeof(path),
		   "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d"
		   "&fieldSelector=spec.nodeName%%3D%s&resourceVersion=%s",
		   WATCH_S, s->node->name, s->rv);
	s->watch = http_start(s->node->peer, &c);
}

static void on_list(struct sim_node *n, int status, const json_t *o, void *arg)
{
	struct node_pods *s = arg;
	struct map_iter it;
	json_t *v;
	size_t i;

	(void)n;
	if (status != 200) {
		relist_later(s, AGAIN_MS);
		return;
	}
	map_for_each (it, s->pods)
		((struct pod *)it.value)->listed = false;
	json_array_foreach (json_at(o, "items"), i, v)
		see(s, v);
	map_for_each (it, s->pods)
		if (!((struct pod *)it.value)->listed)
			map_del(s->pods, it.key);
	str_copy(s->rv, sizeof(s->rv), str_or(json_str_at(o, "metadata", "resourceVersion"), ""));
	watch_pods(s);
}

static void on_relist(void *arg)
{
	struct node_pods *s = arg;
	char path[400];

	if (!node_reaches(s->node)) {
		relist_later(s, AGAIN_MS);
	} else if (s->rv[0]) {
		watch_pods(s);
	} else {
		str_format(path, sizeof(path), "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s",
			   s->node->name);
		node_ask(s->node, "GET", path, NULL, on_list, s);
	}
}

/* --- writes ----------------------------------------------------------------------------------- */

static void on_written(struct sim_node *n, int status, const json_t *o, void *arg)
{
	struct node_pods *s = arg;

	(void)n;
	/* Applies the result of the write at once; a failed write is repeated by a later tick. */
	if (status == 200 && str_eq(json_str_at(o, "kind"), "Pod") &&
	    map_has(s->pods, json_str_at(o, "metadata", "uid")))
		see(s, (json_t *)o);
	if (status == 404)
		forget(s, s->acting);
	free(s->acting);
	s->acting = NULL;
	loop_timer_start(&s->tick, status == 200 || status == 404 ? 0 : AGAIN_MS);
}

static json_t *container_statuses(const struct pod *p, const char *list, json_t *state)
{
	json_t *out = json_array(), *c;
	size_t i;

	json_array_foreach (json_at(p->object, "spec", list), i, c) {
		const char *image = json_str_at(c, "image");
		bool runs = json_object_get(state, "running") != NULL;

		json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:b, s:b, s:i, s:O}", "name",
						     str_or(json_str_at(c, "name"), "c"), "image",
						     str_or(image, ""), "imageID",
						     str_or(image, ""), "ready", runs, "started",
						     runs, "restartCount", 0, "state", state));
	}
	return out;
}

static json_t *pod_condition(const char *type, bool status, const char *reason, const char *now)
{
	return json_pack("{s:s, s:s, s:s*, s:s}", "type", type, "status", status ? "True" : "False",
			 "reason", reason, "lastTransitionTime", now);
}

static json_t *pod_status(struct node_pods *s, const struct pod *p, bool over)
{
	char now[STR_TIME_SIZE], ip[24], host[24];
	const struct sim_machine *m = s->node->machine;
	const char *since = str_or(json_str_at(p->object, "status", "startTime"), now);
	int64_t code = exit_code(p);
	const char *why = !over ? NULL : code ? "PodFailed" : "PodCompleted";
	OWN_JSON state = NULL;
	json_t *ip_list;

	node_time(s->node, now);
	str_format(host, sizeof(host), "10.100.%u.%u", m->number >> 8 & 255, m->number & 255);
	str_format(ip, sizeof(ip), "10.%u.%u.%u", 128 + (m->number >> 8) % 100, m->number & 255,
		   p->ip % 254 + 1);
	state = over ? json_pack("{s:{s:I, s:s, s:s, s:s}}", "terminated", "exitCode",
				 (json_int_t)code, "reason", code ? "Error" : "Completed",
				 "startedAt", since, "finishedAt", now)
		     : json_pack("{s:{s:s}}", "running", "startedAt", now);
	ip_list = json_pack("[{s:s}]", "ip", ip);
	return json_pack("{s:{s:s, s:s, s:s, s:o, s:s, s:[o, o, o, o], s:o}}", "status", "phase",
			 !over	? "Running"
			 : code ? "Failed"
				: "Succeeded",
			 "hostIP", host, "podIP", ip, "podIPs", ip_list, "startTime", since,
			 "conditions", pod_condition("PodScheduled", true, NULL, now),
			 pod_condition("Initialized", true, why, now),
			 pod_condition("ContainersReady", !over, why, now),
			 pod_condition("Ready", !over, why, now), "containerStatuses",
			 container_statuses(p, "containers", state));
}

static void act(struct node_pods *s, const struct pod *p, const char *method, const char *path,
		json_t *body)
{
	s->acting = mem_strdup(p->uid);
	node_ask(s->node, method, path, body, on_written, s);
}

static void write_phase(struct node_pods *s, const struct pod *p, bool over)
{
	char *path = mem_printf("%s/status", p->path);

	act(s, p, "PATCH", path, pod_status(s, p, over));
	free(path);
}

static void finish_deletion(struct node_pods *s, const struct pod *p)
{
	act(s, p, "DELETE", p->path,
	    json_pack("{s:s, s:s, s:i, s:{s:s}}", "apiVersion", "v1", "kind", "DeleteOptions",
		      "gracePeriodSeconds", 0, "preconditions", "uid", p->uid));
}

/* Writes a trace of the pod to every drive, at an offset of its own behind the image. */
static void leave_trace(struct node_pods *s, const struct pod *p)
{
	struct sim_machine *m = s->node->machine;
	char *text = mem_printf(SIM_NODE_TRACE "%s, uid %s\n", p->name, p->uid);
	uint8_t d[CRYPTO_SHA256];
	uint32_t at;
	struct err e;

	crypto_sha256(p->uid, strlen(p->uid), d);
	memcpy(&at, d, sizeof(at));
	for (unsigned i = 0; i < m->ndrives; i++) {
		int64_t room = sim_cidata_at(drive_bytes(m->drives[i])) - TRACE_AT - NODE_PKI_BYTES;

		if (room > 0)
			(void)!drive_write(m->drives[i], text, strlen(text),
					   TRACE_AT + (int64_t)(at % (room / DRIVE_BLOCK + 1)) *
							      DRIVE_BLOCK,
					   &e);
	}
	free(text);
}

static int64_t grace_ms(const struct pod *p)
{
	return json_int_at(p->object, "metadata", "deletionGracePeriodSeconds") * 1000;
}

/* Writes the next state of a pod if the write is due. Returns true if a request was sent. */
static bool look_after(struct node_pods *s, struct pod *p)
{
	int64_t now = clock_of(s), run_for = run_ms(p);

	if (p->deleted_at >= 0) {
		int64_t stop = duration_of(p, SIM_NODE_STOP_AFTER, STOP_MS), grace = grace_ms(p);

		if (is_over(p) || now >= p->deleted_at + (stop < grace ? stop : grace)) {
			finish_deletion(s, p);
			return true;
		}
		return false;
	}
	if (is_over(p))
		return false;
	if (!is_running(p) && now >= p->seen_at + START_MS) {
		leave_trace(s, p);
		write_phase(s, p, false);
		return true;
	}
	if (is_running(p) && p->began_at >= 0 && run_for >= 0 && now >= p->began_at + run_for) {
		write_phase(s, p, true);
		return true;
	}
	return false;
}

static void on_tick(void *arg)
{
	struct node_pods *s = arg;
	bool reached = node_reaches(s->node);
	struct map_iter it;

	loop_timer_start(&s->tick, TICK_MS);
	/* Closes the watch once the node no longer reaches the API server, because the switch moved
	 * the port. A real network would leave the watch open without data. */
	if (!reached && s->watch) {
		http_cancel(s->watch);
		s->watch = NULL;
		relist_later(s, AGAIN_MS);
	}
	if (!reached || s->acting)
		return;
	map_for_each (it, s->pods)
		if (look_after(s, it.value))
			return;
}

/* --- start and end ---------------------------------------------------------------------------- */

struct node_pods *node_pods_new(struct sim_node *n)
{
	struct node_pods *s = mem_new(struct node_pods);

	s->node = n;
	s->pods = map_new(pod_free);
	loop_timer_init(&s->tick, n->group, on_tick, s);
	loop_timer_init(&s->relist, n->group, on_relist, s);
	loop_timer_start(&s->tick, TICK_MS);
	loop_timer_start(&s->relist, 0);
	return s;
}

void node_pods_free(struct node_pods *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->tick);
	loop_timer_stop(&s->relist);
	http_cancel(s->watch);
	scan_free(s->lines);
	map_free(s->pods);
	free(s->acting);
	free(s);
}
