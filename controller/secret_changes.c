/*
 * secret_changes: handles a changed Secret: renews the logins, drivers and keys that depend on it.
 *
 * Tests: tests/world/test_rotate.c, tests/world/test_login_guard.c
 */
#include "controller/parts.h"

#include "base/str.h"
#include "controller/core/keys.h"
#include "controller/core/secrets.h"
#include "controller/hardware/driver.h"
#include "controller/hardware/driver_cloud.h"
#include "controller/hardware/machine_index.h"
#include "controller/steps/lives.h"

struct secret_change {
	struct controller *c;
	const char *name;
	/* True: reattach_by_provider() has run, so the machines of every Provider with this Secret
	 * have been attached again */
	bool reattached;
};

static bool reattach(const char *machine, void *arg)
{
	struct controller *c = arg;

	lives_reattach(c->lives, machine);
	return true;
}

/* Attaches the Machine's BMC again if the Machine has no credentials Secret of its own and the
 * credentials Secret of its Provider has changed. */
static bool reattach_by_provider(const struct kube_entry *en, void *arg)
{
	const struct secret_change *s = arg;
	const struct machine *m = en->object;
	const struct provider_object *p =
		m->spec.bmc && !m->spec.bmc->credentials_secret_ref && m->spec.provider_ref.name
			? CTX_GET(&s->c->ctx, OBJECT_PROVIDER, provider_object,
				  m->spec.provider_ref.name)
			: NULL;

	if (p && p->spec.credentials_secret_ref &&
	    str_eq(p->spec.credentials_secret_ref->name, s->name))
		lives_reattach(s->c->lives, en->name);
	return true;
}

/* True if the Provider's network driver uses the Secret. */
static bool provider_hangs_on(const struct provider_object *p, const char *secret)
{
	const struct provider_object_netris *n = p->spec.network.netris;

	return n && (str_eq(n->credentials_secret_ref.name, secret) ||
		     (n->tls.ca_secret_ref && str_eq(n->tls.ca_secret_ref->name, secret)));
}

static bool is_providers(const struct kube_entry *en, void *arg)
{
	const struct provider_object *p = en->object;
	struct secret_change *s = arg;

	if (provider_hangs_on(p, s->name) || driver_cloud_needs(p, s->name))
		drivers_update(s->c->drivers, en->name);
	if (!p->spec.credentials_secret_ref ||
	    !str_eq(p->spec.credentials_secret_ref->name, s->name))
		return true;
	/* One scan of the Machines is enough: it attaches the machines of every Provider with the
	 * Secret. The scan of the Providers continues nevertheless, because another Provider's
	 * network driver may use the Secret. */
	if (!s->reattached)
		kube_cache_each(s->c->ctx.cache[OBJECT_MACHINE], reattach_by_provider, s);
	s->reattached = true;
	return true;
}

static bool has_manager_by(const struct kube_entry *en, void *arg)
{
	const struct provider_object *p = en->object;
	const struct provider_object_bcm *b = p->spec.bcm;
	const struct secret_change *s = arg;

	if (b && (str_eq(b->credentials_secret_ref->name, s->name) ||
		  (b->tls.ca_secret_ref && str_eq(b->tls.ca_secret_ref->name, s->name))))
		drivers_update(s->c->drivers, en->name);
	return true;
}

/* Renews only what depends on Secret ns/name. Renewing everything would be too slow, because there
 * may be one Secret for each machine and each tenant. */
void secret_changes_on(const char *ns, const char *name, void *arg)
{
	struct controller *c = arg;
	struct secret_change s = {c, name, false};

	tenants_secret(c->tenants, ns, name);
	if (!str_eq(ns, c->ctx.o.ns))
		return;
	machine_index_each(c->machine_index, MACHINE_BY_SECRET, name, reattach, c);
	kube_cache_each(c->ctx.cache[OBJECT_PROVIDER], is_providers, &s);
	kube_cache_each(c->ctx.cache[OBJECT_PROVIDER], has_manager_by, &s);
	if (keys_is_secret(name))
		loop_timer_start(&c->settle, 0);
}
