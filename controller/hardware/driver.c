/*
 * driver: builds the backend and the fabric from a Provider object and its Secrets, and attaches
 * BMCs to the backend.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/hardware/driver.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/core/secrets.h"
#include "controller/hardware/driver_cloud.h"
#include "controller/hardware/driver_manager.h"
#include "controller/hardware/driver_netris.h"
#include "providers/bcm/provider.h"
#include "providers/ec2/provider.h"
#include "providers/exec_provider.h"
#include "providers/libvirt_provider.h"
#include "providers/provider.h"

struct driver *driver_get(const struct drivers *ds, const char *name)
{
	return map_get(ds->map, name);
}

bool driver_trouble(const struct drivers *ds, const char *name, char *text, size_t size)
{
	const struct driver *s = driver_get(ds, name);

	return s && s->fabric && fabric_trouble(s->fabric, text, size);
}

bool driver_network_about(const struct drivers *ds, const char *name, char *text, size_t size)
{
	const struct driver *s = driver_get(ds, name);

	return s && s->fabric && fabric_about(s->fabric, text, size);
}

static void take_down(struct driver *s)
{
	s->all->closing(s, s->all->arg);
	fabric_free(s->fabric);
	provider_free(s->provider);
	s->fabric = NULL;
	s->provider = NULL;
}

static void driver_free(struct driver *s)
{
	if (!s)
		return;
	take_down(s);
	free(s->spec_digest);
	free(s->name);
	free(s);
}

static const char *command_digest(const struct provider_object_exec *x, const char *text,
				  struct arena *a)
{
	for (size_t i = 0; x && i < x->command.n; i++)
		text = arena_printf(a, "%s|%s", text, x->command.v[i]);
	return text;
}

/* Returns the command of x (program and arguments) as a NULL-terminated array in the arena; NULL if
 * x is NULL. */
static const char *const *command_of(const struct provider_object_exec *x, struct arena *a)
{
	const char **argv;

	if (!x)
		return NULL;
	argv = arena_alloc(a, (x->command.n + 1) * sizeof(*argv));
	for (size_t i = 0; i < x->command.n; i++)
		argv[i] = x->command.v[i];
	argv[x->command.n] = NULL;
	return argv;
}

/* Returns a text that changes if the driver must be rebuilt. Leaves out fields that are read from
 * the object at each use, such as limits on machines and instance types. */
static const char *digest(const struct context *c, const struct provider_object *p, struct arena *a)
{
	const struct provider_object_network *n = &p->spec.network;
	const char *text = arena_printf(a, "%d|%d|%lld|%lld", p->spec.type, n->type,
					(long long)p->spec.limits.requests_per_second,
					(long long)p->spec.limits.concurrent_operations);

	text = command_digest(n->exec, text, a);
	if (p->spec.exec)
		text = command_digest(
			p->spec.exec,
			arena_printf(a, "%s|%s", text, str_or(p->spec.boot.media_url, "")), a);
	if (p->spec.libvirt)
		text = arena_printf(a, "%s|%s|%s|%s", text, p->spec.libvirt->uri,
				    p->spec.libvirt->storage_pool,
				    str_or(p->spec.boot.media_url, ""));
	return n->type == FABRIC_NETRIS ? driver_netris_digest(c, n->netris, text, a) : text;
}

static void count_call(const char *operation, int64_t ms, const struct err *e, void *arg)
{
	const struct driver *s = arg;

	counters_provider_call(s->c->counters, s->name, operation, e, ms);
}

static void put_up(struct driver *s, const struct provider_object *p)
{
	const struct provider_object_network *n = &p->spec.network;
	struct provider_libvirt libvirt = {
		.uri = p->spec.libvirt ? p->spec.libvirt->uri : NULL,
		.pool = p->spec.libvirt ? p->spec.libvirt->storage_pool : NULL,
		.helper = s->c->o.libvirt_helper,
		.allowed = s->c->o.libvirt_allowed,
	};
	OWN(arena) a = arena_new();
	struct provider_exec program = {.command = command_of(p->spec.exec, a),
					.allowed = s->c->o.exec_allowed};
	const struct call_watch watch = {.ended = count_call, .arg = s};
	struct provider_spec ps = {
		.name = p->meta.name,
		.type = provider_object_type_names[p->spec.type],
		.media_url = p->spec.boot.media_url,
		.libvirt = &libvirt,
		.exec = &program,
		.requests_per_s = (double)p->spec.limits.requests_per_second,
		.concurrent = (unsigned)p->spec.limits.concurrent_operations,
		.group = s->c->group,
		.http = s->c->http,
		.plain_ok = s->c->o.plain_ok,
		.watch = watch,
	};
	struct fabric_spec fs = {.type = provider_object_fabric_names[n->type],
				 .command = command_of(n->exec, a),
				 .allowed = s->c->o.exec_allowed,
				 .group = s->c->group,
				 .watch = watch};
	struct provider_manager manager;
	struct provider_cloud cloud;

	err_clear(&s->error);
	if ((p->spec.bcm && driver_manager_of(s, p, &manager, &s->error) < 0) ||
	    (p->spec.ec2 && driver_cloud_of(s, p, a, &cloud, &s->error) < 0)) {
		if (s->error.kind != ERR_UNAVAILABLE)
			log_warn("provider is not usable", LOG_S("provider", s->name),
				 LOG_E(&s->error));
		return;
	}
	ps.manager = p->spec.bcm ? &manager : NULL;
	ps.cloud = p->spec.ec2 ? &cloud : NULL;
	s->provider = provider_new(&ps, &s->error);
	if (s->provider)
		s->fabric = n->type == FABRIC_NETRIS ? driver_netris_fabric(s, n->netris, &fs)
						     : fabric_new(&fs, &s->error);
	if (!s->fabric) {
		provider_free(s->provider);
		s->provider = NULL;
		log_warn("provider is not usable", LOG_S("provider", s->name), LOG_E(&s->error));
	}
}

void drivers_update(struct drivers *ds, const char *name)
{
	struct context *c = ds->c;
	const struct provider_object *p = CTX_GET(c, OBJECT_PROVIDER, provider_object, name);
	struct driver *s = map_get(ds->map, name);
	OWN(arena) a = arena_new();
	const char *d;

	if (!p) {
		map_del(ds->map, name);
		driver_free(s);
		notify(c, NOTICE_MACHINE, NULL);
		return;
	}
	if (!s) {
		s = mem_new(struct driver);
		s->all = ds;
		s->c = c;
		s->name = mem_strdup(name);
		map_put(ds->map, name, s);
	}
	d = arena_printf(a, "%s%s%s", digest(c, p, a), driver_manager_digest(s, p, a),
			 driver_cloud_digest(s, p, a));
	if (!str_eq(d, s->spec_digest)) {
		take_down(s);
		free(s->spec_digest);
		s->spec_digest = mem_strdup(d);
		put_up(s, p);
	}
	notify(c, NOTICE_MACHINE, NULL);
}

/* Returns the reference to the Secret with the BMC's login: the Machine's own, else its Provider's.
 * NULL: neither has a reference. */
static const struct object_secret_ref *login_of(const struct driver *s, const struct machine *m)
{
	const struct provider_object *p = CTX_GET(s->c, OBJECT_PROVIDER, provider_object, s->name);
	const struct object_secret_ref *own = m->spec.bmc->credentials_secret_ref;

	return own || !p ? own : p->spec.credentials_secret_ref;
}

const char *driver_login(const struct driver *s, const struct machine *m)
{
	const struct object_secret_ref *ref = login_of(s, m);

	return ref ? ref->name : NULL;
}

const char *driver_login_user(const struct driver *s, const struct machine *m, struct arena *a)
{
	const char *name = driver_login(s, m);
	const struct secret *user =
		name ? secrets_value(s->c->secrets, NULL, name, "username") : NULL;
	char *text = user ? arena_printf(a, "%.64s", secret_expose(user)) : NULL;

	if (text)
		str_printable(text);
	return text;
}

static const struct secret *ca_of(const struct driver *s, const struct machine *m)
{
	const struct object_secret_ref *ref = m->spec.bmc->tls.ca_secret_ref;

	return ref ? secrets_value(s->c->secrets, NULL, ref->name, str_or(ref->key, "ca.crt"))
		   : NULL;
}

bool driver_ca_digest(const struct driver *s, const struct machine *m,
		      char out[static CRYPTO_DIGEST_TEXT])
{
	const struct object_secret_ref *ref = m->spec.bmc->tls.ca_secret_ref;
	const struct secret *ca = ref ? ca_of(s, m) : NULL;
	char which[sizeof(s->all->ca_of)];
	uint8_t d[CRYPTO_SHA256];

	if (!ca)
		return false;
	str_format(which, sizeof(which), "%s|%s|%s", ref->name, str_or(ref->key, ""),
		   secrets_version(s->c->secrets, NULL, ref->name));
	if (!str_eq(which, s->all->ca_of)) {
		crypto_sha256(secret_expose(ca), secret_len(ca), d);
		crypto_digest_text(d, s->all->ca_digest);
		str_copy(s->all->ca_of, sizeof(s->all->ca_of), which);
	}
	str_copy(out, CRYPTO_DIGEST_TEXT, s->all->ca_digest);
	return true;
}

void driver_expect_login(struct driver *s, const struct machine *m)
{
	const struct object_secret_ref *ref = login_of(s, m);

	if (ref)
		secrets_expect(s->c->secrets, NULL, ref->name);
}

static int type_of(const struct driver *s)
{
	const struct provider_object *p = CTX_GET(s->c, OBJECT_PROVIDER, provider_object, s->name);

	return p ? p->spec.type : -1;
}

struct provider_machine *driver_attach(struct driver *s, const struct machine *m,
				       const char **secret_version, struct err *e)
{
	struct context *c = s->c;
	const struct machine_bmc *b = m->spec.bmc;
	const struct object_secret_ref *ref = login_of(s, m);
	const struct secret *user, *password, *ca = NULL;
	const char *pin = b->tls.fingerprint;
	struct provider_machine_spec ms;
	enum secret_state st;

	*secret_version = "";
	if (type_of(s) == PROVIDER_TYPE_LIBVIRT || type_of(s) == PROVIDER_TYPE_EXEC ||
	    type_of(s) == PROVIDER_TYPE_EC2) { /* these backends need no login */
		ms = (struct provider_machine_spec){.name = m->meta.name,
						    .bmc_address = b->address};
		return provider_attach(s->provider, &ms, e);
	}
	if (!ref) {
		err_note(e, ERR_NOT_FOUND, 0,
			 "spec.bmc.credentialsSecretRef: set neither in the Machine nor in its "
			 "Provider");
		return NULL;
	}
	st = secrets_want(c->secrets, NULL, ref->name);
	if (st == SECRET_LOADING || st == SECRET_ERROR) {
		err_note(e, ERR_UNAVAILABLE, 0, "Secret %s is being read", ref->name);
		return NULL;
	}
	user = secrets_value(c->secrets, NULL, ref->name, "username");
	password = secrets_value(c->secrets, NULL, ref->name, "password");
	if (st != SECRET_LOADED || !user || !password) {
		err_note(e, ERR_NOT_FOUND, 0, "Secret %s: %s", ref->name,
			 st == SECRET_LOADED   ? "keys username and password are needed"
			 : st == SECRET_DENIED ? "drover may not read it"
					       : "does not exist");
		return NULL;
	}
	if (b->tls.ca_secret_ref) {
		st = secrets_want(c->secrets, NULL, b->tls.ca_secret_ref->name);
		ca = ca_of(s, m);
		if (!ca) {
			err_note(e,
				 st == SECRET_LOADING || st == SECRET_ERROR ? ERR_UNAVAILABLE
									    : ERR_NOT_FOUND,
				 0, "spec.bmc.tls.caSecretRef: cannot read key %s of Secret %s",
				 str_or(b->tls.ca_secret_ref->key, "ca.crt"),
				 b->tls.ca_secret_ref->name);
			return NULL;
		}
	}
	if (!pin && b->tls.trust_on_first_use)
		pin = m->status.bmc.fingerprint;
	if (pin && str_starts(pin, "sha256:"))
		pin += strlen("sha256:");
	ms = (struct provider_machine_spec){
		.name = m->meta.name,
		.uid = m->meta.uid,
		.node = m->spec.node,
		.bmc_address = b->address,
		.user = secret_expose(user),
		.password = password,
		.ca_pem = ca ? secret_expose(ca) : NULL,
		.pin_sha256 = pin,
		.learn_pin = b->tls.trust_on_first_use && !pin,
		.old_session =
			str_empty(m->status.bmc.session_uri) ? NULL : m->status.bmc.session_uri,
	};
	*secret_version = secrets_version(c->secrets, NULL, ref->name);
	return provider_attach(s->provider, &ms, e);
}

struct drivers *drivers_new(struct context *c, void (*closing)(struct driver *s, void *arg),
			    void *arg)
{
	struct drivers *ds = mem_new(struct drivers);

	*ds = (struct drivers){.c = c, .map = map_new(NULL), .closing = closing, .arg = arg};
	return ds;
}

void drivers_free(struct drivers *ds)
{
	struct map_iter it;

	if (!ds)
		return;
	map_for_each (it, ds->map)
		driver_free(it.value);
	map_free(ds->map);
	free(ds);
}
