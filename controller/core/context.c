/* context: tells whether this replica may start an act, and sends events about drover's objects.
 * controller/controller.c fills the struct. */
#include "controller/core/context.h"

#include "base/arena.h"
#include "base/data/json.h"
#include "base/str.h"
#include "controller/core/host_clock.h"

#define DESTROY_LEASE_AGE_MS 5000

bool ctx_may_act(const struct context *c)
{
	int64_t slower = c->o.lease_slower ? c->o.lease_slower : 1;

	return c->leading &&
	       (!c->lease || /* NULL in unit tests */
		/* mutant: lease-old */ kube_lease_renewed_age(c->lease) <
			slower * DESTROY_LEASE_AGE_MS) &&
	       /* mutant: burst-wrong-clock */ host_clock_agrees(c);
}

void ctx_event(const struct context *c, enum object_kind_id kind, const struct object_meta *about,
	       const char *type, const char *reason, const char *note)
{
	struct kube_ref ref = {
		.api_version = OBJECT_API_VERSION,
		.kind = object_kinds[kind].kind,
		.name = about->name,
		.uid = about->uid,
	};

	kube_event(c->events, &ref, type, reason, "Reconcile", note);
}

/* --- drover's CustomResourceDefinitions ------------------------------------------------------- */

static const struct scan_want crd_meta[] = {KUBE_WANT_META, SCAN_PLAIN("deletionTimestamp"),
					    SCAN_END};
static const struct scan_want crd_spec[] = {SCAN_PLAIN("group"), SCAN_END};
static const struct scan_want crd[] = {SCAN_SOME("metadata", crd_meta), SCAN_SOME("spec", crd_spec),
				       SCAN_END};

static void *project_crd(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	bool *terminating;

	(void)arg;
	(void)e;
	if (!str_eq(json_str_at(o, "spec", "group"), OBJECT_GROUP))
		return NULL;
	terminating = arena_alloc(a, sizeof(*terminating));
	*terminating = json_at(o, "metadata", "deletionTimestamp") != NULL;
	return terminating;
}

static bool is_terminating(const struct kube_entry *en, void *arg)
{
	bool *any = arg;

	*any |= *(const bool *)en->object;
	return !*any;
}

int ctx_may_change(const struct context *c, struct err *e)
{
	if (!c->leading)
		return err_set(e, ERR_UNAVAILABLE, 0, "this replica is no longer the leader");
	/* mutant: token-on-an-old-lease */
	if (!ctx_may_act(c))
		return err_set(e, ERR_UNAVAILABLE, 0,
			       "the Lease was not renewed in time, or the clock differs from "
			       "that of the API server");
	return 0;
}

bool ctx_crds_terminating(const struct context *c)
{
	bool any;

	if (!c->crds) /* NULL in tests of one module */
		return false;
	any = !kube_cache_synced(c->crds);
	kube_cache_each(c->crds, is_terminating, &any);
	return any;
}

void ctx_watch_crds(struct context *c)
{
	struct kube_cache_spec s = {.client = c->host,
				    .resource = &KUBE_CRDS,
				    .want = crd,
				    .project = project_crd,
				    .arg = c};

	c->crds = kube_cache_new(c->group, &s);
}
