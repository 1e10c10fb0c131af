/*
 * lookup: answers queries about tenants and their Nodes from memory. Separate from tenant.c, so
 * that callers do not depend on the code that builds and probes tenants.
 * Tests: tests/unit/controller/tenant/test_tenant.c
 */
#include "base/map.h"
#include "base/str.h"
#include "controller/core/secrets.h"
#include "controller/rules/identity.h"
#include "controller/tenant/tenant.h"

#define SILENT_MS 60000

struct tenant *tenant_get(const struct tenants *ts, const char *name)
{
	return map_get(ts->map, name);
}

bool tenant_usable(const struct tenant *t)
{
	return !t->reason;
}

struct kube_client *tenant_nodes_client(const struct tenant *t)
{
	return t->client && t->on_host ? t->c->host : t->client;
}

const char *tenant_nodes_ca(const struct tenant *t)
{
	return t->on_host ? kube_client_ca_pem(t->c->host) : t->ca_pem;
}

const struct tenant_node *tenant_node_get(struct tenant *t, const char *name)
{
	return t->nodes ? KUBE_CACHE_GET(t->nodes, tenant_node, "", name) : NULL;
}

static struct tenant *tenant_of(const struct tenants *ts, const struct node_claim *n)
{
	return tenant_get(ts, str_or(n->spec.virtual_cluster_ref.name, ""));
}

const struct tenant_node *tenant_node_of(const struct tenants *ts, const struct node_claim *n)
{
	struct tenant *t = tenant_of(ts, n);

	return t ? tenant_node_get(t, n->meta.name) : NULL;
}

const struct tenant_node *tenant_node_now(const struct tenants *ts, const struct node_claim *n)
{
	struct tenant *t = tenant_of(ts, n);

	return t && tenant_usable(t) ? tenant_node_get(t, n->meta.name) : NULL;
}

struct by_identity {
	const char *uuid, *provider_id;
	const struct tenant_node *found;
};

static bool may_be_it(const struct kube_entry *en, void *arg)
{
	const struct tenant_node *n = en->object;
	struct by_identity *f = arg;

	if (identity_may_run(f->uuid, f->provider_id, n->system_uuid, n->provider_id))
		f->found = n;
	return !f->found;
}

bool tenants_may_run(const struct tenants *ts, const char *system_uuid, const char *provider_id,
		     char *out, size_t size)
{
	struct map_iter it;

	map_for_each (it, ts->map) {
		struct tenant *t = it.value;
		struct by_identity f = {.uuid = system_uuid, .provider_id = provider_id};

		if (t->nodes)
			kube_cache_each(t->nodes, may_be_it, &f);
		if (f.found) {
			str_format(out, size, "%s/%s", t->name, f.found->world.name);
			return true;
		}
	}
	return false;
}

/* True if the tenant's Nodes have been read, even if the tenant is asleep or unreachable now: the
 * Nodes in the cache still belong to the tenant, and drover has a record of each machine that
 * joined later. */
static bool was_read(const struct tenant *t)
{
	return t->nodes && kube_cache_synced(t->nodes) && !t->stopped;
}

enum tenants_are tenants_unread(const struct tenants *ts, char *out, size_t size)
{
	enum tenants_are are = TENANTS_READ;
	struct map_iter it;

	map_for_each (it, ts->bad) {
		str_format(out, size, "%s (its event names the field that cannot be read)", it.key);
		return TENANTS_UNREAD;
	}
	map_for_each (it, ts->map) {
		const struct tenant *t = it.value;

		if (was_read(t))
			continue;
		if (!str_eq(t->reason, "Starting") && !str_eq(t->reason, "Syncing")) {
			str_format(out, size, "%s (%s)", t->name,
				   t->message[0] ? t->message : str_or(t->reason, "not read"));
			return TENANTS_UNREAD;
		}
		are = TENANTS_STARTING;
	}
	return are;
}

void tenants_bad(struct tenants *ts, const char *name)
{
	map_put(ts->bad, name, ts);
}

/* The API server may still accept the old kubeconfig. The result is true nevertheless, because the
 * operator who deleted the Secret does not want drover to act in that cluster. */
bool tenant_secret_absent(const struct tenant *t)
{
	const struct virtual_cluster *vc =
		CTX_GET(t->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, t->name);
	const struct object_secret_ref *r = vc ? &vc->spec.kubeconfig_secret_ref : NULL;

	return r && secrets_want(t->c->secrets, r->namespace, r->name) == SECRET_ABSENT;
}

bool tenant_is_silent(const struct tenant *t)
{
	return t->unanswered_at && !t->reachable && !t->stopped && !tenant_secret_absent(t) &&
	       loop_now(t->c->loop) - t->unanswered_at < SILENT_MS;
}
