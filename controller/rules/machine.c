/*
 * machine: queries on the spec and status of one Machine.
 */
#include "controller/rules/machine.h"

#include <string.h>

#include "base/arena.h"
#include "base/data/json.h"
#include "api/reasons.h"
#include "base/str.h"

#define VALUE_MAX 253 /* longest value of an annotation that status.requests can store */
#define QUARANTINE_FIRST_MS (10 * 60 * 1000)
#define QUARANTINE_CAP_MS (6 * 3600 * 1000)

enum drain_then leave_then(const struct machine *m)
{
	return m->status.leave ? (enum drain_then)m->status.leave->then : DRAIN_RELEASE;
}

int64_t quarantine_wait(const struct machine *m)
{
	int64_t wait = QUARANTINE_FIRST_MS,
		attempts = m->status.quarantine ? m->status.quarantine->attempts : 0;

	for (int64_t i = 0; i < attempts && wait < QUARANTINE_CAP_MS; i++)
		wait *= 2;
	return wait < QUARANTINE_CAP_MS ? wait : QUARANTINE_CAP_MS;
}

int64_t quarantine_due(const struct machine *m)
{
	const struct machine_quarantine *q = m->status.quarantine;

	return q && q->exit == EXIT_AUTO ? m->status.state_since + quarantine_wait(m) : 0;
}

const char *machine_wipe_required(const struct machine *m, struct arena *a)
{
	const bool deleted = m->meta.deletion_timestamp != 0,
		   rests = machine_is_in(m, MACHINE_QUARANTINED) || machine_is_in(m, MACHINE_KNOWN);

	if ((!deleted && m->spec.management_policy != MACHINE_RETIRE) || !rests ||
	    m->status.claim_ref || !machine_is_unwiped(m))
		return NULL;
	return arena_printf(
		a,
		"no wipe after tenancy %lld is proved, so the machine %s; to wipe it, run `drover "
		"approve %s --wipe`; to let it go unwiped, an administrator runs `drover retire "
		"%s`",
		(long long)m->status.tenancy, deleted ? "is not deleted" : "does not retire",
		m->meta.name, m->meta.name);
}

static json_t *reach(const struct machine *m)
{
	struct machine copy = {.spec = m->spec};

	copy.spec.drives = (struct object_drives){0};
	copy.spec.controllers = (struct object_controllers){0};
	copy.spec.unseen_drives = (struct strings){0};
	copy.spec.waivers.n = 0;
	return fields_encode(object_kinds[OBJECT_MACHINE].fields, &copy);
}

bool machine_same_reach(const struct machine *a, const struct machine *b)
{
	OWN_JSON ra = reach(a);
	OWN_JSON rb = reach(b);

	return json_equal(ra, rb);
}

bool machine_is_topology(const char *key)
{
	return str_starts(key, "topology.drover.dev/") ||
	       str_starts(key, "topology.kubernetes.io/") || str_eq(key, "nvidia.com/gpu.clique");
}

struct labels machine_topology(const struct machine *m, struct arena *a)
{
	const struct labels *all = &m->meta.labels;
	struct labels out = {.v = arena_calloc(a, all->n + 1, sizeof(*out.v))};

	for (size_t i = 0; i < all->n; i++)
		if (machine_is_topology(all->v[i].key))
			out.v[out.n++] = all->v[i];
	return out;
}

bool warm_is_ready(const struct machine *m)
{
	return machine_is_in(m, MACHINE_FREE) && m->status.warm_for && m->status.agent &&
	       m->status.agent->boot_id && m->status.agent->public_key &&
	       !m->status.agent->dismissed;
}

bool warm_is_ending(const struct machine *m)
{
	const struct machine_status *s = &m->status;

	return s->warm_for && ((s->agent && (s->agent->dismissed || !s->agent->public_key)) ||
			       (s->operation && s->operation->boot_number > WARM_POOL_BOOTS));
}

const char *request_new(const struct machine *m, const char *key, const char *acted_on)
{
	const char *v = labels_get(&m->meta.annotations, key);

	return v && v[0] && strlen(v) <= VALUE_MAX && !str_eq(v, acted_on) ? v : NULL;
}

bool machine_is_out_of_reach(const char *reason)
{
	static const enum reason reasons[] = {
		REASON_BmcNotTrusted,	  REASON_BmcAuthFailed,	     REASON_BmcUnreachable,
		REASON_BmcProtocolError,  REASON_BmcUnsupported,     REASON_BmcBusy,
		REASON_BmcAddressInvalid, REASON_BmcPasswordChange,  REASON_ManagerConflict,
		REASON_ManagerRefused,	  REASON_ManagerUnreachable, REASON_IdentityMismatch,
		REASON_IdentityNotTold,	  REASON_DuplicateIdentity,  REASON_ProviderNotReady,
		REASON_SecretNotFound};
	enum reason r = reason_find(reason);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (r == reasons[i])
			return true;
	return false;
}

static bool same(const char *a, const char *b)
{
	return str_eq(str_or(a, ""), str_or(b, ""));
}

static bool same_tls(const struct object_tls *x, const struct object_tls *y)
{
	const struct object_secret_ref *p = x->ca_secret_ref, *q = y->ca_secret_ref;

	return same(x->fingerprint, y->fingerprint) &&
	       x->trust_on_first_use == y->trust_on_first_use && !p == !q &&
	       (!p || (same(p->name, q->name) && same(p->key, q->key)));
}

const char *machine_bmc_differs(const struct machine_bmc *b, const char *login,
				const char *ca_digest, const struct machine_bmc_trust *trusted)
{
	if (!trusted || !same(b->address, trusted->address))
		return "spec.bmc.address";
	if (!same_tls(&b->tls, &trusted->tls))
		return "spec.bmc.tls";
	/* mutant: login-of-another */
	if (trusted->credentials && !same(login, trusted->credentials))
		return "the Secret with its password (credentialsSecretRef)";
	if (trusted->ca_digest && ca_digest && !str_eq(ca_digest, trusted->ca_digest))
		return "the contents of the Secret in spec.bmc.tls.caSecretRef";
	return NULL;
}
