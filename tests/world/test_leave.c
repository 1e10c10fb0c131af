/* A machine leaves its tenant: off and cut before anything else, whatever lies, dies or is away. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/debts.h"
#include "controller/requests.h"
#include "tests/world/leaving.h"

#define GROUP "/apis/" OBJECT_API_VERSION
#define LONG_S (12 * 3600)

/* --- what the tests do and look at ---------------------------------------------------------------- */

static void leave_serving(struct earth *w, uint64_t seed)
{
	earth_start(w, seed, 1);
	w->boxes[0].beats = true;
	earth_replica(w);
	earth_pod(w, &w->tenants[0], "train");
	earth_wait_running(w, &w->tenants[0], "train", 900);
	earth_wait_state(&w->boxes[0], "serving", 60);
	earth_run(w, 15000); /* the claim's status follows */
}

static void leave_begin(struct earth *w)
{
	earth_delete_pod(w, &w->tenants[0], "train");
	earth_release(&w->boxes[0]);
}

static void leave_confirm(struct box *b, const char *id)
{
	char path[200];

	str_format(path, sizeof(path), GROUP "/machines/%s", b->name);
	earth_do(b->earth, &b->earth->host, "PATCH", path,
		 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REQUEST_CONFIRM_OFF, id));
}

static void leave_bmc(struct box *b, bool alive)
{
	http_mem_serve(b->earth->net, b->origin, alive ? b->bmc.httpd : NULL);
}

static bool leave_has(struct plane *p, const char *what, const char *name)
{
	char key[200];
	struct store_entry en;

	str_format(key, sizeof(key), "%s/%s", what, name);
	return store_get(p->store, key, &en);
}

static const char *leave_condition(struct earth *w, struct arena *a, const char *claim,
				   const char *type)
{
	OWN_JSON o = plane_get(&w->host, arena_printf(a, "nodeclaims.drover.dev/%s", claim));
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_printf(a, "%s %s", json_str_at(c, "status"),
					    json_str_at(c, "reason"));
	return "";
}

struct leave_event {
	const char *reason;
	unsigned n;
};

static bool leave_on_event(const json_t *o, void *arg)
{
	struct leave_event *ev = arg;

	ev->n += str_eq(json_str_at(o, "reason"), ev->reason);
	return true;
}

static unsigned leave_events(struct earth *w, const char *reason)
{
	struct leave_event ev = {reason, 0};

	earth_run(w, 5000);
	plane_each(&w->host, "events/", leave_on_event, &ev);
	return ev.n;
}

static size_t leave_debts(struct earth *w)
{
	OWN_JSON vc = plane_get(&w->host, "virtualclusters.drover.dev/team-a");

	return json_array_size(json_at(vc, "status", "debts"));
}

static bool leave_is_owed(void *arg)
{
	return leave_debts(arg) > 0;
}

static bool leave_is_quits(void *arg)
{
	return leave_debts(arg) == 0;
}

static bool leave_finalized(struct earth *w)
{
	OWN_JSON vc = plane_get(&w->host, "virtualclusters.drover.dev/team-a");
	json_t *f;
	size_t i;

	json_array_foreach (json_at(vc, "metadata", "finalizers"), i, f)
		if (str_eq(json_string_value(f), DEBTS_FINALIZER))
			return true;
	return false;
}

/* --- off ------------------------------------------------------------------------------------------- */

static void a_person_stands_in_for_a_dead_bmc(void **state)
{
	static const char *const states[] = {"stopping", "leaving", "quarantined"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		char id[80], claim[128];

		leave_serving(&w, 400 + i);
		str_copy(claim, sizeof(claim), b->claim);
		leave_bmc(b, false);
		leave_begin(&w);
		earth_wait_state(b, "stopping", 300);
		str_copy(id, sizeof(id), earth_at(b, "status.operation.id"));
		box_power(b, false);
		earth_wait_state(b, states[i], 1000);
		earth_run(&w, 60000);
		leave_confirm(b, "an-operation-of-yesterday");
		earth_run(&w, 60000);
		assert_string_equal(b->state, states[i]);
		assert_string_equal(b->claim, claim);
		assert_true(leave_has(&w.tenants[0], "nodes", claim));
		assert_string_equal(earth_at(b, "status.power.confirmedBy"), "");
		assert_string_equal(earth_at(b, "status.operation.id"), id);
		leave_confirm(b, id);
		earth_wait_state(b, "dirty", 120);
		assert_string_equal(earth_at(b, "status.power.confirmedBy"), id);
		assert_false(leave_has(&w.tenants[0], "nodes", claim));
		assert_false(leave_has(&w.host, "nodeclaims.drover.dev", claim));
		assert_int_equal(leave_events(&w, "OffConfirmed"), 1);
		leave_bmc(b, true);
		earth_wait_state(b, "free", LONG_S);
		earth_stop(&w);
	}
}

static void nobody_confirms_off_what_answers_on(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	char id[80];

	(void)state;
	leave_serving(&w, 410);
	b->bmc.power_lie = true;
	leave_begin(&w);
	earth_wait_state(b, "stopping", 300);
	str_copy(id, sizeof(id), earth_at(b, "status.operation.id"));
	leave_confirm(b, id);
	earth_run(&w, 60000);
	assert_string_equal(b->state, "stopping");
	assert_string_equal(earth_at(b, "status.power.confirmedBy"), "");
	assert_true(leave_events(&w, "OffNotConfirmed") > 0);
	leave_bmc(b, false); /* it dies now: what was said while it was on is void */
	earth_wait_state(b, "leaving", 600);
	earth_run(&w, 300000);
	assert_string_equal(b->state, "leaving");
	assert_true(b->claim[0]);
	b->bmc.power_lie = false;
	leave_bmc(b, true);
	earth_wait_state(b, "free", LONG_S);
	earth_stop(&w);
}

static void a_bmc_that_says_off_while_kubelet_lives_is_not_believed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	char claim[128];

	(void)state;
	leave_serving(&w, 411);
	str_copy(claim, sizeof(claim), b->claim);
	b->bmc.power_lie = true;
	leave_begin(&w);
	earth_wait_state(b, "stopping", 300);
	b->bmc.on = false; /* the BMC's word for it */
	earth_run(&w, 60000);
	assert_string_equal(b->state, "stopping");
	assert_string_equal(earth_at(b, "status.operation.lastError.reason"), "PowerNotConfirmed");
	assert_string_equal(earth_at(b, "status.power.doubted"),
			    earth_at(b, "status.operation.id"));
	earth_wait_state(b, "leaving", 600); /* the network is cut all the same */
	assert_string_equal(b->segment, "quarantine");
	earth_wait_state(b, "quarantined", 900);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), "PowerNotConfirmed");
	assert_string_equal(b->claim, claim);
	assert_true(leave_has(&w.tenants[0], "nodes", claim));
	b->bmc.on = true;
	b->bmc.power_lie = false;
	earth_wait_state(b, "free", LONG_S);
	earth_stop(&w);
}

/* The same while our agent runs on it: it writes an image, and the claim is withdrawn. */
static void a_bmc_that_says_off_while_the_agent_lives_is_not_believed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	earth_start(&w, 414, 1);
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_state(b, "imaging", 600);
	assert_int_equal(b->doing, BOX_AGENT);
	b->bmc.power_lie = true;
	leave_begin(&w);
	earth_wait_state(b, "stopping", 300);
	b->bmc.on = false;
	earth_wait_reason(b, "PowerNotConfirmed", 120);
	earth_wait_state(b, "quarantined", 1200);
	assert_true(b->claim[0]);
	b->bmc.on = true;
	b->bmc.power_lie = false;
	earth_wait_state(b, "free", LONG_S);
	earth_stop(&w);
}

/* Its board was changed, and nobody knows the password: off is off. */
static void a_person_stands_in_for_a_bmc_that_lets_nobody_in(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	unsigned logins;

	(void)state;
	leave_serving(&w, 415);
	b->bmc.password = "of the new board";
	fake_bmc_expire(&b->bmc);
	leave_begin(&w);
	earth_wait_state(b, "stopping", 300);
	earth_wait_reason(b, "BmcAuthFailed", 120);
	box_power(b, false);
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_run(&w, 60000);
	logins = b->bmc.logins;
	assert_true(b->claim[0]);
	leave_confirm(b, earth_at(b, "status.operation.id"));
	earth_wait_state(b, "dirty", 120);
	assert_string_equal(b->claim, "");
	earth_run(&w, 600000);
	assert_int_equal(b->bmc.logins, logins);
	earth_secret(&w, "drover-system", "bmc", "username", "drover", "password",
		     "of the new board");
	earth_wait_state(b, "free", LONG_S);
	earth_stop(&w);
}

/* Kubelet's last word may arrive late: it costs some seconds, and no more. */
static void a_machine_that_went_off_is_believed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	int64_t from;

	(void)state;
	leave_serving(&w, 412);
	leave_begin(&w);
	earth_wait_state(b, "stopping", 300);
	from = loop_now(w.loop);
	earth_wait_state(b, "isolating", 30);
	assert_true(loop_now(w.loop) - from < 20000);
	earth_wait_state(b, "free", 900);
	assert_string_equal(earth_at(b, "status.power.doubted"), "");
	earth_stop(&w);
}

static void off_lasts_as_long_as_its_type_wants(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	int64_t off;

	(void)state;
	earth_start(&w, 413, 1);
	earth_do(&w, &w.host, "PATCH", GROUP "/providers/rack",
		 json_pack("{s:{s:[{s:s,s:{s:s,s:s,s:s,s:s},s:{s:s},s:s}]}}", "spec",
			   "instanceTypes", "name", "gpu-8", "capacity", "cpu", "4", "memory",
			   "8Gi", "nvidia.com/gpu", "8", "pods", "110", "rootDevice", "model",
			   "ROOT", "minimumOffTime", "90s"));
	earth_replica(&w);
	earth_pod(&w, &w.tenants[0], "train");
	earth_wait_running(&w, &w.tenants[0], "train", 900);
	earth_wait_state(b, "serving", 60);
	leave_begin(&w);
	earth_wait_state(b, "stopping", 300);
	while (b->bmc.on)
		earth_run(&w, 100);
	off = loop_now(w.loop);
	earth_wait_state(b, "isolating", 300);
	assert_true(loop_now(w.loop) - off >= 89000);
	assert_true(loop_now(w.loop) - off < 110000);
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

/* --- cut ------------------------------------------------------------------------------------------- */

static void a_port_that_only_says_it_moved_holds_claim_and_node(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	OWN(arena) a = arena_new();
	char claim[128];

	(void)state;
	leave_serving(&w, 420);
	str_copy(claim, sizeof(claim), b->claim);
	b->port_stuck = true;
	leave_begin(&w);
	earth_wait_state(b, "quarantined", 1200);
	assert_string_equal(earth_at(b, "status.quarantine.reason"), "NetworkNotConfirmed");
	assert_string_equal(earth_at(b, "status.quarantine.exit"), "auto");
	earth_run(&w, 1800 * 1000); /* tried again, and no better */
	assert_string_equal(b->claim, claim);
	assert_string_equal(b->segment, "tenant/team-a");
	assert_true(leave_has(&w.tenants[0], "nodes", claim));
	assert_string_equal(leave_condition(&w, a, claim, "PoweredOff"), "True Observed");
	assert_true(str_starts(leave_condition(&w, a, claim, "Isolated"), "False"));
	b->port_stuck = false; /* nobody does anything else */
	earth_wait_state(b, "free", LONG_S);
	assert_false(leave_has(&w.tenants[0], "nodes", claim));
	earth_stop(&w);
}

static void a_pool_that_wants_no_isolation_does_not_wait_for_its_proof(void **state)
{
	(void)state;
	for (int wanted = 0; wanted < 2; wanted++) {
		struct earth w;
		struct box *b = &w.boxes[0];

		earth_start(&w, 421 + (uint64_t)wanted, 1);
		if (!wanted)
			earth_do(&w, &w.host, "PATCH", GROUP "/nodepools/gpus",
				 json_pack("{s:{s:{s:{s:{s:s}}}}}", "spec", "template", "spec",
					   "network", "isolation", "NotRequired"));
		earth_replica(&w);
		earth_pod(&w, &w.tenants[0], "train");
		earth_wait_running(&w, &w.tenants[0], "train", 900);
		earth_wait_state(b, "serving", 60);
		b->port_unproved = true;
		leave_begin(&w);
		earth_wait_state(b, "isolating", 300);
		earth_run(&w, 50000);
		assert_string_equal(b->state, "isolating");
		earth_wait_state(b, wanted ? "quarantined" : "dirty", wanted ? 300 : 30);
		assert_true(!b->claim[0] == !wanted);
		b->port_unproved = false;
		earth_wait_state(b, "free", LONG_S);
		earth_stop(&w);
	}
}

/* --- the tenant's step ----------------------------------------------------------------------------- */

static void make_token(struct earth *w, struct plane *p)
{
	OWN(arena) a = arena_new();
	OWN_JSON vc = plane_get(&w->host, "virtualclusters.drover.dev/team-a");
	const char *id = json_str_at(json_array_get(json_at(vc, "status", "debts"), 0), "tokenID");

	assert_non_null(id);
	earth_do(w, p, "POST", "/api/v1/namespaces/kube-system/secrets",
		 json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Secret", "metadata",
			   "name", arena_printf(a, "bootstrap-token-%s", id)));
}

static bool leave_is_token(const json_t *o, void *arg)
{
	*(unsigned *)arg += str_starts(json_str_at(o, "metadata", "name"), "bootstrap-token-");
	return true;
}

static unsigned leave_tokens(struct plane *p)
{
	unsigned n = 0;

	plane_each(p, "secrets/kube-system/", leave_is_token, &n);
	return n;
}

static void what_an_absent_tenant_is_owed_is_paid_when_it_is_back(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char claim[128];

	(void)state;
	leave_serving(&w, 430);
	str_copy(claim, sizeof(claim), b->claim);
	assert_true(leave_finalized(&w));
	leave_begin(&w);
	earth_wait_state(b, "isolating", 300);
	plane_away(team, true);
	team->owed = true;
	earth_wait_state(b, "leaving", 60);
	earth_run(&w, 100000);
	assert_string_equal(b->state, "leaving"); /* it may be back soon */
	earth_wait(&w, leave_is_owed, &w, 60, "a debt");
	earth_wait_state(b, "free", 900);
	assert_false(leave_has(&w.host, "nodeclaims.drover.dev", claim));
	make_token(&w, team);
	earth_run(&w, 3600 * 1000);
	assert_int_equal(leave_debts(&w), 1);
	assert_true(leave_finalized(&w));
	plane_away(team, false);
	earth_wait(&w, leave_is_quits, &w, 300, "the debt paid");
	assert_false(leave_has(team, "nodes", claim));
	assert_int_equal(leave_tokens(team), 0);
	earth_run(&w, 15000);
	assert_false(leave_finalized(&w));
	earth_stop(&w);
}

static void a_debt_outlives_the_leaders_that_made_it(void **state)
{
	(void)state;
	for (uint64_t seed = 431; seed < 434; seed++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		struct plane *team = &w.tenants[0];
		char claim[128];

		leave_serving(&w, seed);
		str_copy(claim, sizeof(claim), b->claim);
		leave_begin(&w);
		earth_wait_state(b, "isolating", 300);
		plane_away(team, true);
		team->owed = true;
		for (int k = 0; k < 3; k++) {
			earth_run(&w, 1 + (int64_t)loop_random_below(w.loop, 80000));
			earth_kill(&w.replicas[w.nreplicas - 1]);
			earth_replica(&w);
		}
		earth_wait_state(b, "free", LONG_S);
		assert_int_equal(leave_debts(&w), 1);
		plane_away(team, false);
		earth_run(&w, (int64_t)loop_random_below(w.loop, 4000));
		earth_kill(&w.replicas[w.nreplicas - 1]);
		earth_replica(&w);
		earth_wait(&w, leave_is_quits, &w, 300, "the debt paid");
		assert_false(leave_has(team, "nodes", claim));
		earth_stop(&w);
	}
}

static void a_node_of_the_same_name_and_another_uid_is_not_touched(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char claim[128], path[200];

	(void)state;
	leave_serving(&w, 440);
	str_copy(claim, sizeof(claim), b->claim);
	leave_begin(&w);
	earth_wait_state(b, "isolating", 300);
	plane_away(team, true);
	team->owed = true;
	earth_wait_state(b, "free", 900);
	assert_int_equal(leave_debts(&w), 1);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	earth_do(&w, team, "DELETE", path, NULL);
	earth_do(&w, team, "POST", "/api/v1/nodes",
		 json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Node", "metadata",
			   "name", claim));
	plane_away(team, false);
	earth_wait(&w, leave_is_quits, &w, 300, "the debt struck off");
	assert_true(leave_has(team, "nodes", claim));
	earth_stop(&w);
}

static void a_debt_is_written_off_after_a_day(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];

	(void)state;
	leave_serving(&w, 441);
	leave_begin(&w);
	earth_wait_state(b, "isolating", 300);
	plane_away(team, true);
	team->owed = true;
	earth_wait_state(b, "free", 900);
	earth_run(&w, 23 * 3600 * 1000);
	assert_int_equal(leave_debts(&w), 1);
	earth_run(&w, 2 * 3600 * 1000);
	assert_int_equal(leave_debts(&w), 0);
	assert_int_equal(leave_events(&w, "DebtWrittenOff"), 1);
	earth_stop(&w);
}

static void attach_volume(struct earth *w, struct plane *p, const char *name, const char *node)
{
	earth_do(w, p, "POST", "/apis/storage.k8s.io/v1/volumeattachments",
		 json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s,s:{s:s}}}", "apiVersion",
			   "storage.k8s.io/v1", "kind", "VolumeAttachment", "metadata", "name",
			   name, "spec", "attacher", "csi.example", "nodeName", node, "source",
			   "persistentVolumeName", "pv-1"));
}

static bool out_of_service(struct plane *p, const char *node)
{
	OWN(arena) a = arena_new();
	OWN_JSON o = plane_get(p, arena_printf(a, "nodes/%s", node));
	json_t *t;
	size_t i;

	json_array_foreach (json_at(o, "spec", "taints"), i, t)
		if (str_eq(json_str_at(t, "key"), "node.kubernetes.io/out-of-service"))
			return str_eq(json_str_at(t, "value"), "nodeshutdown") &&
			       str_eq(json_str_at(t, "effect"), "NoExecute");
	return false;
}

static void volumes_are_let_go_of_before_the_node_goes(void **state)
{
	(void)state;
	for (int never = 0; never < 2; never++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		struct plane *team = &w.tenants[0];
		OWN(arena) a = arena_new();
		char claim[128];

		leave_serving(&w, 450 + (uint64_t)never);
		str_copy(claim, sizeof(claim), b->claim);
		attach_volume(&w, team, "va-1", claim);
		attach_volume(&w, team, "va-2", "a-node-of-somebody");
		leave_begin(&w);
		earth_wait_state(b, "isolating", 300);
		assert_false(out_of_service(team, claim)); /* it might not be off */
		earth_wait_state(b, "leaving", 300);
		earth_run(&w, 30000);
		assert_true(out_of_service(team, claim));
		assert_string_equal(b->state, "leaving");
		assert_string_equal(leave_condition(&w, a, claim, "VolumesDetached"),
				    "False Attached");
		assert_string_equal(leave_condition(&w, a, claim, "Isolated"), "True Proved");
		if (never) {
			earth_wait_state(b, "dirty", 120); /* nothing is held up for longer */
		} else {
			earth_do(&w, team, "DELETE",
				 "/apis/storage.k8s.io/v1/volumeattachments/va-1", NULL);
			earth_wait_state(b, "dirty", 10);
			assert_int_equal(leave_debts(&w), 0);
		}
		earth_wait_state(b, "free", 900);
		assert_false(leave_has(team, "nodes", claim));
		assert_int_equal(leave_debts(&w), 0);
		earth_stop(&w);
	}
}

static void a_clean_leave_takes_nothing_out_of_service(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	int64_t from;

	(void)state;
	leave_serving(&w, 452);
	leave_begin(&w);
	earth_wait_state(b, "leaving", 300);
	from = loop_now(w.loop);
	while (str_eq(b->state, "leaving")) {
		assert_false(b->claim[0] && out_of_service(&w.tenants[0], b->claim));
		earth_run(&w, 1);
	}
	assert_true(loop_now(w.loop) - from < 3000);
	earth_wait_state(b, "free", 900);
	earth_stop(&w);
}

/* What an admission webhook of the tenant makes of drover's deletion of a Node. */
static void on_hook(struct httpd_req *q, void *arg)
{
	const int *code = arg;
	OWN_JSON o = json_pack("{s:s,s:s,s:{},s:s,s:s,s:s,s:i}", "kind", "Status", "apiVersion",
			       "v1", "metadata", "status", "Failure", "message",
			       "admission webhook \"keep\" denied the request: this one stays",
			       "reason", *code == 409 ? "Conflict" : "Forbidden", "code", *code);
	char *text = json_text(o);

	httpd_reply_json(q, *code, text);
	free(text);
}

static struct httpd *leave_hook(struct earth *w, struct plane *p, int *code)
{
	struct httpd *d = httpd_new(p->group);

	httpd_route(d, "DELETE", "/api/v1/nodes/{}", 1 << 16, on_hook, code);
	apiserver_routes(p->api, d);
	http_mem_serve(w->net, p->origin, d);
	return d;
}

static void a_node_that_may_not_be_deleted_is_owed(void **state)
{
	static int codes[] = {403, 409}; /* a webhook says what it likes */

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		struct plane *team = &w.tenants[0];
		struct httpd *hook;
		char claim[128];

		leave_serving(&w, 453 + i);
		str_copy(claim, sizeof(claim), b->claim);
		hook = leave_hook(&w, team, &codes[i]);
		leave_begin(&w);
		earth_wait_state(b, "leaving", 300);
		earth_run(&w, 60000);
		assert_string_equal(b->state, "leaving");
		earth_wait_state(b, "dirty", 120);
		assert_int_equal(leave_debts(&w), 1);
		leaving_wait_event(&w, &w.host, "Owed", "this one stays");
		earth_wait_state(b, "free", 900);
		assert_true(leave_has(team, "nodes", claim));
		assert_int_equal(leave_debts(&w), 1);
		http_mem_serve(w.net, team->origin, team->httpd);
		httpd_free(hook);
		earth_wait(&w, leave_is_quits, &w, 600, "the debt paid");
		assert_false(leave_has(team, "nodes", claim));
		earth_stop(&w);
	}
}

static void a_node_that_a_finalizer_keeps_is_owed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char claim[128], path[200];

	(void)state;
	leave_serving(&w, 455);
	str_copy(claim, sizeof(claim), b->claim);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", claim);
	earth_do(&w, team, "PATCH", path,
		 json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/inventory"));
	leave_begin(&w);
	earth_wait_state(b, "leaving", 300);
	earth_run(&w, 60000);
	assert_string_equal(b->state, "leaving"); /* it may go soon */
	earth_kill(&w.replicas[0]);
	earth_replica(&w);
	earth_wait_state(b, "dirty", 120);
	assert_int_equal(leave_debts(&w), 1);
	leaving_wait_event(&w, &w.host, "Owed", claim);
	earth_wait_state(b, "free", 900);
	earth_run(&w, 1800 * 1000);
	assert_true(leave_has(team, "nodes", claim));
	assert_int_equal(leave_debts(&w), 1);
	earth_do(&w, team, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	earth_wait(&w, leave_is_quits, &w, 600, "the debt paid");
	assert_false(leave_has(team, "nodes", claim));
	earth_stop(&w);
}

/* A finalizer that is taken away in time leaves no debt. */
static void a_node_that_a_finalizer_keeps_for_a_while_is_not_owed(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	struct plane *team = &w.tenants[0];
	char path[200];

	(void)state;
	leave_serving(&w, 456);
	str_format(path, sizeof(path), "/api/v1/nodes/%s", b->claim);
	earth_do(&w, team, "PATCH", path,
		 json_pack("{s:{s:[s]}}", "metadata", "finalizers", "example.com/inventory"));
	leave_begin(&w);
	earth_wait_state(b, "leaving", 300);
	earth_run(&w, 30000);
	assert_string_equal(b->state, "leaving");
	earth_do(&w, team, "PATCH", path, json_pack("{s:{s:[]}}", "metadata", "finalizers"));
	earth_wait_state(b, "dirty", 10);
	assert_int_equal(leave_debts(&w), 0);
	assert_int_equal(leave_events(&w, "Owed"), 0);
	earth_stop(&w);
}

/* --- owners ---------------------------------------------------------------------------------------- */

static bool cluster_is_gone(void *arg)
{
	struct earth *w = arg;

	return !leave_has(&w->host, "virtualclusters.drover.dev", "team-a");
}

static void a_deleted_tenant_gives_its_machines_back_first(void **state)
{
	for (int away = 0; away < 2; away++) {
		struct earth w;
		struct box *b = &w.boxes[0];
		char claim[128];

		(void)state;
		leave_serving(&w, 460 + (uint64_t)away);
		str_copy(claim, sizeof(claim), b->claim);
		w.tenants[0].owed = away;
		plane_away(&w.tenants[0], away);
		earth_do(&w, &w.host, "DELETE", GROUP "/virtualclusters/team-a", NULL);
		earth_run(&w, 10000);
		assert_false(cluster_is_gone(&w));
		earth_wait_state(b, "free", away ? 6000 : 900);
		earth_wait(&w, cluster_is_gone, &w, 900, "the VirtualCluster gone");
		assert_true(leave_has(&w.tenants[0], "nodes", claim) == away);
		assert_int_equal(leave_events(&w, "DebtWrittenOff"), away);
		earth_stop(&w);
	}
}

static void the_claims_of_a_deleted_pool_leave(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];

	(void)state;
	leave_serving(&w, 470);
	earth_do(&w, &w.host, "DELETE", GROUP "/nodepools/gpus", NULL);
	earth_wait_state(b, "free", 900);
	assert_int_equal(leave_events(&w, "OwnerDeleted"), 1);
	earth_stop(&w);
}

/* The pools went with their definition, and GitOps put both back: nobody wanted the work to stop. */
static void pools_lost_with_their_definition_take_no_claim_along(void **state)
{
	struct earth w;
	struct box *b = &w.boxes[0];
	OWN_JSON crd = NULL;
	OWN_JSON pool = NULL;
	char claim[128];

	(void)state;
	leave_serving(&w, 471);
	str_copy(claim, sizeof(claim), b->claim);
	crd = plane_get(&w.host,
			"customresourcedefinitions.apiextensions.k8s.io/nodepools.drover.dev");
	pool = plane_get(&w.host, "nodepools.drover.dev/gpus");
	assert_non_null(pool);
	if (!crd)
		crd = plane_get(&w.host, "customresourcedefinitions/nodepools.drover.dev");
	assert_non_null(crd);
	json_object_del(json_object_get(crd, "metadata"), "resourceVersion");
	json_object_del(json_object_get(pool, "metadata"), "resourceVersion");
	earth_do(&w, &w.host, "DELETE",
		 "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.drover.dev",
		 NULL);
	earth_run(&w, 120000);
	assert_string_equal(b->state, "serving");
	earth_do(&w, &w.host, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		 json_incref(crd));
	earth_run(&w, 120000);
	earth_do(&w, &w.host, "POST", GROUP "/nodepools", json_incref(pool));
	earth_run(&w, 1800 * 1000);
	assert_string_equal(b->state, "serving");
	assert_string_equal(b->claim, claim);
	assert_true(leave_events(&w, "OwnerLost") > 0);
	earth_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_person_stands_in_for_a_dead_bmc),
		cmocka_unit_test(nobody_confirms_off_what_answers_on),
		cmocka_unit_test(a_bmc_that_says_off_while_kubelet_lives_is_not_believed),
		cmocka_unit_test(a_bmc_that_says_off_while_the_agent_lives_is_not_believed),
		cmocka_unit_test(a_person_stands_in_for_a_bmc_that_lets_nobody_in),
		cmocka_unit_test(a_machine_that_went_off_is_believed),
		cmocka_unit_test(off_lasts_as_long_as_its_type_wants),
		cmocka_unit_test(a_port_that_only_says_it_moved_holds_claim_and_node),
		cmocka_unit_test(a_pool_that_wants_no_isolation_does_not_wait_for_its_proof),
		cmocka_unit_test(what_an_absent_tenant_is_owed_is_paid_when_it_is_back),
		cmocka_unit_test(a_debt_outlives_the_leaders_that_made_it),
		cmocka_unit_test(a_node_of_the_same_name_and_another_uid_is_not_touched),
		cmocka_unit_test(a_debt_is_written_off_after_a_day),
		cmocka_unit_test(volumes_are_let_go_of_before_the_node_goes),
		cmocka_unit_test(a_clean_leave_takes_nothing_out_of_service),
		cmocka_unit_test(a_node_that_may_not_be_deleted_is_owed),
		cmocka_unit_test(a_node_that_a_finalizer_keeps_is_owed),
		cmocka_unit_test(a_node_that_a_finalizer_keeps_for_a_while_is_not_owed),
		cmocka_unit_test(a_deleted_tenant_gives_its_machines_back_first),
		cmocka_unit_test(the_claims_of_a_deleted_pool_leave),
		cmocka_unit_test(pools_lost_with_their_definition_take_no_claim_along),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
