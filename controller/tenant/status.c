/*
 * status: converts the reason why a tenant is not usable to conditions of its VirtualCluster, and
 * writes them.
 */
#include <string.h>

#include "controller/tenant/status.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/core/host_clock.h"
#include "controller/tenant/daemon_sets.h"
#include "controller/tenant/join_probe.h"
#include "controller/tenant/sleep.h"

#define CLOCK_AGAIN_MS 10000
/* shortest interval of writes in which only lastContactTime changes */
#define CONTACT_MS (5 * 60 * 1000)
/* Delay before the reason Syncing is written: many tenants may start at the same time, and most are
 * synced sooner. */
#define SYNCING_MS 5000

static const char *const types[] = {"KubeconfigAccepted", "Permitted", "Reachable", "Ready"};

/* Returns the index in types[] of the condition that is false because of t->reason; 4: none. The
 * conditions before this index are true. Those after it are unknown, except Ready, which is
 * false. */
static int failing(const struct tenant *t)
{
	if (!t->reason)
		return 4;
	if (str_starts(t->reason, "Kubeconfig"))
		return 0;
	if (str_eq(t->reason, "NotPermitted"))
		return 1;
	if (str_eq(t->reason, "Unreachable"))
		return 2;
	return 3;
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct tenant *t = arg;

	(void)o;
	if (e && (e->kind == ERR_CONFLICT ||
		  /* retry only these errors: any other error would occur again */
		  err_is_transient(e)))
		loop_timer_start(&t->status_timer, 500);
	if (t->status_again)
		loop_timer_start(&t->status_timer, 0);
}

void tenant_status_write(struct tenant *t)
{
	if (t->c->leading)
		loop_timer_start(&t->status_timer, str_eq(t->reason, "Syncing") ? SYNCING_MS : 0);
}

void tenant_status_tick(void *arg)
{
	struct tenant *t = arg;
	const struct virtual_cluster *vc =
		CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	OWN(arena) a = arena_new();
	struct conditions cs;
	struct virtual_cluster out = {0};
	const char *reason = t->reason;
	OWN_JSON whole = NULL;
	json_t *patch;
	int64_t contact;
	bool changed;
	int f = failing(t);

	if (writer_busy(&t->status_write)) {
		t->status_again = true;
		return;
	}
	t->status_again = false;
	if (!vc || !t->c->leading)
		return;
	if (!host_clock_agrees(t->c)) {
		/* Wait: the status contains the time since when the tenant sleeps, and drover's
		 * clock differs from the host cluster's now. */
		loop_timer_start(&t->status_timer, CLOCK_AGAIN_MS);
		return;
	}
	cs.n = vc->status.conditions.n;
	cs.v = arena_calloc(a, cs.n + 8, sizeof(*cs.v));
	if (cs.n)
		memcpy(cs.v, vc->status.conditions.v, cs.n * sizeof(*cs.v));
	if (f == 2 && tenant_sleep_now(t))
		reason = TENANT_SLEEP_CONDITION;
	changed = tenant_sleep_status(t, vc, a, &cs, &out.status);
	changed |= tenant_budget_status(t, vc, a, &cs);
	changed |= daemon_sets_status(t->daemon_sets, vc, a, &cs);
	changed |= join_probe_status(t->joins, vc, a, &cs);
	changed |= join_probe_api_path_status(t->joins, vc, a, &cs);
	for (int i = 0; i < 4; i++) {
		struct condition want = {
			.type = types[i],
			.status = i < f	   ? CONDITION_TRUE
				  : i == f ? CONDITION_FALSE
				  : i == 3 ? CONDITION_FALSE
					   : CONDITION_UNKNOWN,
			.reason = i < f ? "Ok" : reason,
			.message = i < f ? "" : t->message,
			.observed_generation = vc->meta.generation,
		};

		changed |= condition_set(&cs, a, &want, loop_wall(t->c->loop));
	}
	/* the kubeconfig and the permissions stay refused until an operator changes them */
	changed |= condition_set_stalled(&cs, a, f < 2 ? condition_get(&cs, types[f]) : NULL,
					 vc->meta.generation, loop_wall(t->c->loop));
	contact = t->client ? kube_client_last_contact(t->client) : 0;
	if (!changed && vc->status.observed_generation == vc->meta.generation &&
	    contact < vc->status.last_contact_time + CONTACT_MS &&
	    str_eq(str_or(vc->status.version, ""), str_or(t->version, "")) &&
	    (!t->cluster_uid || str_eq(vc->status.cluster_uid, t->cluster_uid)))
		return;
	out.status.conditions = cs;
	out.status.observed_generation = vc->meta.generation;
	out.status.version = t->version;
	out.status.cluster_uid =
		str_empty(vc->status.cluster_uid) ? t->cluster_uid : vc->status.cluster_uid;
	out.status.last_contact_time = contact;
	whole = fields_encode(object_kinds[OBJECT_VIRTUAL_CLUSTER].fields, &out);
	patch = json_object_get(whole, "status");
	if (!out.status.asleep_since && vc->status.asleep_since)
		json_object_update_new(patch,
				       json_pack("{s:n, s:n}", "asleepSince", "asleepObject"));
	writer_status(&t->status_write, OBJECT_VIRTUAL_CLUSTER, &vc->meta, json_incref(patch),
		      on_written);
}
