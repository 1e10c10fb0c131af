#include "tests/world/invariants.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/str.h"
#include "api/kinds.h"
#include "api/machine_states.h"
#include "tests/world/object_log.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"
#include "wipe/evidence.h"
#include "wipe/proto.h"

__attribute__((format(printf, 2, 3))) static void complain(struct sim_world *w, const char *fmt,
							   ...)
{
	va_list ap;

	if (w->complaint[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->complaint, sizeof(w->complaint), fmt, ap);
	va_end(ap);
}

static bool one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(s, *list))
			return true;
	return false;
}

static const char *const used[] = {"imaging", "attaching", "booting",  "joining",
				   "gating",  "serving",   "draining", NULL};
static const char *const may_cut[] = {"stopping", "isolating", "leaving", "quarantined", NULL};

/* Machine states in which the agent is expected to run. If the agent's medium cannot be fetched,
 * the firmware boots the disk instead. The system of an earlier tenant then runs in quarantine,
 * reaches nobody, and may lose power. */
static const char *const agents_turn[] = {"claimed", "imaging",	  "dirty", "inspecting",
					  "wiping",  "verifying", NULL};

/* True if a port of the server is in a tenant's segment, in any fabric. */
static bool in_tenant_segment(const struct server *b)
{
	return str_starts(b->segment, "tenant/") || str_starts(b->infiniband, "tenant/") ||
	       str_starts(b->nvlink, "tenant/");
}

/* True if the power of a running system may be cut. The leftover system that booted instead of the
 * agent may lose power while the BMC shows the medium and the port is in no tenant's segment. */
static bool may_be_cut(const struct server *b)
{
	return b->button || one_of(b->state, may_cut) ||
	       (one_of(b->state, agents_turn) && b->bmc.image && !in_tenant_segment(b));
}

/* --- S1 --------------------------------------------------------------------------------------- */

static bool evidence_holds(struct sim_world *w, const struct server *b, int64_t tenancy,
			   struct err *e)
{
	OWN(arena) a = arena_new();
	OWN_JSON key = cluster_get(&w->host, "secrets/drover-system/drover-evidence-key");
	const char *name = world_at(b, "status.lastWipe.record"),
		   *b64 = json_str_at(key, "data", "private.pem");
	OWN_JSON record = cluster_get(&w->host, arena_printf(a, "wiperecords.drover.dev/%s", name));
	const char *envelope = json_str_at(record, "spec", "envelope");
	char public_key[CRYPTO_PUBLIC_TEXT];
	const char *publics[] = {public_key};
	struct evidence ev;
	size_t n;
	char *pem = b64 ? crypto_base64_decode(b64, strlen(b64), &n, e) : NULL;
	OWN(secret) s = pem ? secret_from_str(pem) : NULL;
	OWN(crypto_key) k = s ? crypto_key_from_pem(s, e) : NULL;

	free(pem);
	if (!k || !envelope)
		return err_set(e, ERR_NOT_FOUND, 0, "no record %s or no key", name) == 0;
	crypto_key_public(k, public_key);
	if (evidence_open_countersigned(envelope, publics, 1, a, &ev, e) < 0)
		return false;
	if (ev.tenancy != tenancy || !str_eq(ev.machine.name, b->name) ||
	    !str_eq(ev.machine.system_uuid, b->uuid))
		return err_set(e, ERR_DENIED, 0, "%s is of another tenancy or machine", name) == 0;
	if (ev.verdict < WIPE_CLEAR || ev.devices.n != SERVER_DRIVES)
		return err_set(e, ERR_DENIED, 0, "%s has verdict %d and %zu drives", name,
			       ev.verdict, ev.devices.n) == 0;
	for (size_t i = 0; i < ev.devices.n; i++)
		if (ev.devices.v[i].level < WIPE_CLEAR || ev.devices.v[i].reads.dirty)
			return err_set(e, ERR_DENIED, 0, "%s: drive %s was not wiped", name,
				       ev.devices.v[i].wwn) == 0;
	return true;
}

static void tenancy_begins(struct sim_world *w, const struct server *b)
{
	struct err e;

	if (!evidence_holds(w, b, b->tenancy - 1, &e))
		complain(w, "S1: %s begins tenancy %lld: %s", b->name, (long long)b->tenancy,
			 e.text);
	if (!server_is_blank(b))
		complain(w, "S1: %s begins tenancy %lld with somebody's bytes on a drive", b->name,
			 (long long)b->tenancy);
}

static void offered(struct sim_world *w, const struct server *b)
{
	struct err e;

	if (!evidence_holds(w, b, b->tenancy, &e))
		complain(w, "S1: %s is free: %s", b->name, e.text);
	/* A free machine may still hold data if its drives forgot a wipe at power-off, because
	 * drover cannot detect this before the next power-on. tenancy_begins() allows no such
	 * exception. */
	if (!b->forgot && !server_is_blank(b))
		complain(w, "S1: %s is free with somebody's bytes on a drive", b->name);
	if (b->doing != SERVER_OFF || in_tenant_segment(b))
		complain(w, "%s became free while %s in %s", b->name,
			 b->doing != SERVER_OFF ? "on" : "off", b->segment);
}

/* --- Machines --------------------------------------------------------------------------------- */

static void claim_ended(struct sim_world *w, const struct server *b, const char *claim)
{
	if (b->doing != SERVER_OFF)
		complain(w, "S3: claim %s ended while %s is on", claim, b->name);
	if (in_tenant_segment(b))
		complain(w, "S3: claim %s ended while %s is in %s", claim, b->name, b->segment);
}

/* True if the claim was withdrawn from a warm machine before anything was written to it, so that
 * nothing of the tenant can run on it. */
static bool never_given(const struct server *b, const char *was)
{
	return str_eq(was, "claimed") && str_eq(b->state, "free") &&
	       json_true_at(b->object, "status", "clean") &&
	       world_at(b, "status.warmFor.name")[0] && b->doing != SERVER_OS &&
	       !in_tenant_segment(b) && server_is_blank(b);
}

static void look_at_machine(struct sim_world *w, struct server *b)
{
	struct store_entry en;
	char key[80], was[sizeof(b->state)], claim[sizeof(b->claim)];
	int64_t tenancy = b->tenancy, fence;
	struct err e;

	str_format(key, sizeof(key), "machines.drover.dev/%s", b->name);
	if (!store_get(w->host.store, key, &en)) {
		json_decref(b->object);
		b->object = NULL;
		b->seen_fence = 0; /* a new object with the same name starts with a new fence */
		return;
	}
	if (en.rev == b->rev)
		return;
	b->rev = en.rev;
	json_decref(b->object);
	b->object = json_parse(en.value, en.value_len, &e);
	str_copy(was, sizeof(was), b->state);
	str_copy(claim, sizeof(claim), b->claim);
	str_copy(b->state, sizeof(b->state), world_at(b, "status.state"));
	str_copy(b->claim, sizeof(b->claim), world_at(b, "status.claimRef.name"));
	b->tenancy = json_int_at(b->object, "status", "tenancy");
	fence = json_int_at(b->object, "status", "operation", "fence");
	if (fence < b->seen_fence && !w->restored)
		complain(w, "%s: the fence fell from %lld to %lld", b->name,
			 (long long)b->seen_fence, (long long)fence);
	b->seen_fence = fence;
	if (b->tenancy < tenancy && b->state[0] && !w->restored)
		complain(w, "%s: tenancy fell from %lld to %lld", b->name, (long long)tenancy,
			 (long long)b->tenancy);
	if (json_true_at(b->object, "status", "clean") &&
	    (one_of(b->state, used) ||
	     json_int_at(b->object, "status", "lastWipe", "tenancy") != b->tenancy))
		complain(w, "%s is %s in tenancy %lld and says that it is clean", b->name, b->state,
			 (long long)b->tenancy);
	if (claim[0] && !str_eq(claim, b->claim) && !w->restored && !never_given(b, was))
		claim_ended(w, b, claim);
	if (str_eq(b->state, was))
		return;
	if (str_eq(b->state, "imaging"))
		tenancy_begins(w, b);
	if (str_eq(b->state, "free") && !str_eq(was, "claimed"))
		offered(w, b);
}

static void look_at_claims(struct sim_world *w)
{
	char key[200];

	for (unsigned i = 0; i < w->nboxes; i++) {
		struct store_entry en;
		struct server *b = &w->servers[i];

		str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", b->claim);
		if (b->claim[0] && !w->restored && !store_get(w->host.store, key, &en))
			claim_ended(w, b, b->claim);
	}
}

/* --- hardware --------------------------------------------------------------------------------- */

static bool shares_host(const struct sim_world *w, const char *tenant)
{
	OWN(arena) a = arena_new();
	OWN_JSON vc =
		cluster_get(&w->host, arena_printf(a, "virtualclusters.drover.dev/%s", tenant));

	return str_eq(json_str_at(vc, "spec", "nodes"), "Host");
}

/* Checks S2: over all fabrics, the machine is in at most one tenant's network. */
static void look_at_fabrics(struct sim_world *w, const struct server *b)
{
	const char *const in[] = {b->segment, b->infiniband, b->nvlink};
	const char *tenant = NULL;

	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++) {
		if (!str_starts(in[i], "tenant/"))
			continue;
		if (tenant && !str_eq(tenant, in[i]))
			complain(w, "S2: %s is in %s and in %s at once", b->name, tenant, in[i]);
		tenant = in[i];
	}
	if (b->doing == SERVER_OS && b->tenant && tenant && !w->restored &&
	    !str_eq(tenant + strlen("tenant/"), b->tenant->name) &&
	    !(b->tenant == &w->host && shares_host(w, tenant + strlen("tenant/"))))
		complain(w, "S2: %s runs a system of %s in %s", b->name, b->tenant->name, tenant);
}

static void look_at_box(struct sim_world *w, struct server *b)
{
	look_at_fabrics(w, b);
	if (b->bmc.on && b->bmc.image && in_tenant_segment(b))
		complain(w, "%s is on in %s with a medium in", b->name, b->segment);
	if (b->doing == SERVER_AGENT && in_tenant_segment(b))
		complain(w, "%s runs an agent in %s", b->name, b->segment);
	if (b->doing == SERVER_OS && b->tenant && !w->restored &&
	    !str_eq(world_at(b, "status.tenant.name"), b->tenant->name) &&
	    !(b->tenant == &w->host && shares_host(w, world_at(b, "status.tenant.name"))))
		complain(w, "S2: %s runs a system of %s and is recorded for \"%s\"", b->name,
			 b->tenant->name, world_at(b, "status.tenant.name"));
	if (!w->restored && world_at(b, "status.warmFor.name")[0] && in_tenant_segment(b))
		complain(w, "%s is warm in %s", b->name, b->segment);
	if (b->switched_off) {
		b->switched_off = 0;
		if (!may_be_cut(b))
			complain(w, "%s was switched off under a running system while %s", b->name,
				 b->state);
		b->button = false;
	}
}

/* --- S2 --------------------------------------------------------------------------------------- */

struct membership {
	const struct server *b;
	unsigned n;
};

static bool is_member(const json_t *node, void *arg)
{
	struct membership *m = arg;

	m->n += str_eq(json_str_at(node, "status", "nodeInfo", "systemUUID"), m->b->uuid);
	return true;
}

static void look_at_nodes(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nboxes; i++) {
		struct membership m = {&w->servers[i], 0};

		/* A Node in a tenant's cluster counts only if no cleanup is pending there: a
		 * cluster that cannot be reached still has its old Nodes. */
		for (int k = 0; k < 2; k++)
			if (!w->tenants[k].owed)
				cluster_each(&w->tenants[k], "nodes/", is_member, &m);
		cluster_each(&w->host, "nodes/", is_member, &m);
		if (m.n > 1)
			complain(w, "S2: %s is %u Nodes at once", m.b->name, m.n);
	}
}

static void look_at_leaders(struct sim_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nreplicas; i++)
		n += w->replicas[i].group && controller_context(w->replicas[i].controller)->leading;
	if (n > 1)
		complain(w, "%u replicas lead at once", n);
}

/* --- S9 --------------------------------------------------------------------------------------- */

/* Longest time in ms between two attempts to leave quarantine. */
#define QUARANTINE_MAX_MS (6 * 3600 * 1000)

int64_t invariants_settle_ms(void)
{
	int64_t ms = QUARANTINE_MAX_MS;

	for (int s = 0; s < MACHINE_STATES; s++)
		ms += machine_state_info[s].limit_s * 1000;
	return ms;
}

/* True if the machine waits for an operator. */
static bool is_a_persons(const struct server *b)
{
	const char *policy = world_at(b, "spec.managementPolicy");

	return (str_eq(b->state, "quarantined") &&
		str_eq(world_at(b, "status.quarantine.exit"), "operator")) ||
	       str_eq(world_at(b, "status.operation.lastError.reason"), "PowerStateUnexpected") ||
	       str_eq(b->state, "retired") || str_eq(policy, "Observe");
}

struct unrest {
	struct sim_world *w;
	/* Description of an object that is not at rest; "": everything is at rest. */
	char text[300];
};

static bool claim_rests(const json_t *claim, void *arg)
{
	const char *name = json_str_at(claim, "metadata", "name");
	struct unrest *u = arg;
	bool ready = false;
	json_t *c;
	size_t i;

	json_array_foreach (json_at(claim, "status", "conditions"), i, c)
		ready |= str_eq(json_str_at(c, "type"), "Ready") &&
			 str_eq(json_str_at(c, "status"), "True");
	if (ready && !json_at(claim, "metadata", "deletionTimestamp"))
		return true;
	for (unsigned k = 0; k < u->w->nboxes; k++)
		if (str_eq(u->w->servers[k].claim, name) && is_a_persons(&u->w->servers[k]))
			return true;
	str_format(u->text, sizeof(u->text), "claim %s is %s", name,
		   ready ? "going" : str_or(json_str_at(claim, "status", "phase"), "new"));
	return false;
}

static bool is_quits(const json_t *cluster, void *arg)
{
	struct unrest *u = arg;

	if (json_array_size(json_at(cluster, "status", "debts")))
		str_format(u->text, sizeof(u->text), "%s is owed something",
			   json_str_at(cluster, "metadata", "name"));
	return !u->text[0];
}

static struct unrest look_for_unrest(struct sim_world *w)
{
	static const char *const rest[] = {"free", "serving", NULL};
	struct unrest u = {.w = w};

	for (unsigned i = 0; i < w->nboxes && !u.text[0]; i++) {
		const struct server *b = &w->servers[i];

		if (b->object && !one_of(b->state, rest) && !is_a_persons(b))
			str_format(u.text, sizeof(u.text), "%s is %s (%s: %s)", b->name, b->state,
				   world_at(b, "status.operation.lastError.reason"),
				   world_at(b, "status.operation.lastError.message"));
	}
	if (!u.text[0])
		cluster_each(&w->host, "nodeclaims.drover.dev/", claim_rests, &u);
	if (!u.text[0])
		cluster_each(&w->host, "virtualclusters.drover.dev/", is_quits, &u);
	return u;
}

bool invariants_is_settled(struct sim_world *w)
{
	return !look_for_unrest(w).text[0];
}

static void look_at_rest(struct sim_world *w)
{
	struct unrest u;

	if (!w->calm_at || loop_now(w->loop) - w->calm_at <= invariants_settle_ms())
		return;
	u = look_for_unrest(w);
	if (u.text[0])
		complain(w, "S9: nothing has gone wrong for %lld s, and %s",
			 (long long)(loop_now(w->loop) - w->calm_at) / 1000, u.text);
}

bool invariants_look(struct sim_world *w)
{
	uint64_t rev = store_rev(w->host.store);
	bool moved = false;
	char why[200];

	look_at_leaders(w);
	if (w->sky && sky_wrong(w->sky, why, sizeof(why)))
		complain(w, "%s", why);

	if (rev != w->host_rev) {
		object_log_look(w->host.store, w->host_rev);
		w->host_rev = rev;
		for (unsigned i = 0; i < w->nboxes; i++)
			look_at_machine(w, &w->servers[i]);
		look_at_claims(w);
	}
	for (unsigned i = 0; i < w->nboxes; i++)
		look_at_box(w, &w->servers[i]);
	for (int k = 0; k < 2; k++) {
		moved |= store_rev(w->tenants[k].store) != w->tenant_rev[k];
		w->tenant_rev[k] = store_rev(w->tenants[k].store);
	}
	if (moved)
		look_at_nodes(w);
	if (!gang_rule_look(w, why))
		complain(w, "S5: %s", why);
	look_at_rest(w);
	return !w->complaint[0];
}

/* --- S8 --------------------------------------------------------------------------------------- */

static bool is_kept(const struct store_entry *en, void *arg)
{
	struct sim_world *w = arg;

	if (!str_starts(en->key, "secrets/") &&
	    memmem(en->value, en->value_len, WORLD_PASSWORD, strlen(WORLD_PASSWORD)))
		complain(w, "S8: %s holds the BMC's password", en->key);
	return true;
}

bool invariants_secrets_kept(struct sim_world *w)
{
	struct cluster *clusters[] = {&w->host, &w->tenants[0], &w->tenants[1]};

	for (int i = 0; i < 3; i++) {
		store_list(clusters[i]->store, "", NULL, 0, is_kept, w);
		if (w->log && strstr(w->log, clusters[i]->token))
			complain(w, "S8: the log holds the token of %s", clusters[i]->name);
	}
	if (w->log && (strstr(w->log, WORLD_PASSWORD) || strstr(w->log, "PRIVATE KEY")))
		complain(w, "S8: the log holds a credential");
	return !w->complaint[0];
}

/* --- S4 --------------------------------------------------------------------------------------- */

struct leak {
	struct sim_world *w;
	const struct cluster *tenant;
	/* Object of the VirtualCluster; NULL: it is deleted, so nothing is checked. */
	json_t *cluster;
};

static bool is_owed(const struct leak *k, const char *member, const char *text)
{
	json_t *d;
	size_t i;

	json_array_foreach (json_at(k->cluster, "status", "debts"), i, d)
		if (str_eq(json_str_at(d, member), text))
			return true;
	return false;
}

static bool has_claim(const struct leak *k, const char *name)
{
	char key[300];
	struct store_entry en;

	str_format(key, sizeof(key), "nodeclaims.drover.dev/%s", name);
	return store_get(k->w->host.store, key, &en);
}

static bool node_is_kept(const json_t *node, void *arg)
{
	const struct leak *k = arg;
	const char *name = json_str_at(node, "metadata", "name");

	if (str_starts(str_or(json_str_at(node, "spec", "providerID"), ""), "drover://") &&
	    !has_claim(k, name) && !is_owed(k, "nodeName", name))
		complain(k->w, "S4: Node %s of %s has no claim", name, k->tenant->name);
	return true;
}

static bool token_is_kept(const json_t *secret, void *arg)
{
	const struct leak *k = arg;
	const char *claim = json_str_at(secret, "metadata", "labels", "drover.dev/nodeclaim");

	if (claim && !has_claim(k, claim) &&
	    !is_owed(k, "tokenID", json_str_at(secret, "data", "token-id")) &&
	    !is_owed(k, "nodeName", claim))
		complain(k->w, "S4: a token of claim %s is left in %s", claim, k->tenant->name);
	return true;
}

void invariants_act_is_owned(struct sim_world *w, const struct server *b, const char *act)
{
	OWN(arena) a = arena_new();
	OWN_JSON m = cluster_get(&w->host, arena_printf(a, "machines.drover.dev/%s", b->name));
	const char *step = str_or(json_str_at(m, "status", "operation", "step"), "");

	if (!str_starts(step, act) || !step[0])
		complain(w, "S4: something is done to %s (%s) and the journal says \"%s\"", b->name,
			 act, step);
}

/* --- S7: only the present leader changes anything -------------------------------------------- */

void invariants_change_is_fresh(struct sim_world *w, const char *method, const char *target)
{
	const struct replica *leader = world_leader(w);

	if (str_eq(method, "GET") || strstr(target, "/events/") || strstr(target, "/events?"))
		return;
	if (!leader)
		complain(w, "S7: %s %s while nobody leads", method, target);
	else if (!ctx_may_act(controller_context(leader->controller)))
		complain(w, "S7: %s %s on a lease that is %lld ms old", method, target,
			 (long long)kube_lease_renewed_age(
				 controller_context(leader->controller)->lease));
}

bool invariants_nothing_leaks(struct sim_world *w)
{
	static const char *const bare[] = {"booting",  "joining", "gating", "serving",
					   "draining", "free",	  NULL};

	for (int i = 0; i < 2 && !w->restored; i++) {
		OWN(arena) a = arena_new();
		const char *name = w->tenants[i].name;
		OWN_JSON vc = cluster_get(&w->host,
					  arena_printf(a, "virtualclusters.drover.dev/%s", name));
		struct leak k = {w, &w->tenants[i], vc};

		if (!vc || w->tenants[i].owed)
			continue;
		cluster_each(&w->tenants[i], "nodes/", node_is_kept, &k);
		cluster_each(&w->tenants[i], "secrets/kube-system/", token_is_kept, &k);
	}
	for (unsigned i = 0; i < w->nboxes; i++)
		if (w->servers[i].bmc.image && one_of(w->servers[i].state, bare) && !w->restored &&
		    !world_at(&w->servers[i], "status.warmFor.name")[0])
			complain(w, "S4: %s is %s with a medium in", w->servers[i].name,
				 w->servers[i].state);
	return !w->complaint[0];
}
