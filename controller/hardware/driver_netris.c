#include "controller/hardware/driver_netris.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/secrets.h"

static const char *with_names(const char *text, const struct strings *s, struct arena *a)
{
	for (size_t i = 0; i < s->n; i++)
		text = arena_printf(a, "%s,%s", text, s->v[i]);
	return arena_printf(a, "%s|", text);
}

const char *driver_netris_digest(const struct context *c, const struct provider_object_netris *n,
				 const char *text, struct arena *a)
{
	const struct object_secret_ref *ca = n->tls.ca_secret_ref;

	text = arena_printf(a, "%s|%s|%s|%s|%s|%s|%s|%s/%s", text, n->endpoint, n->site,
			    n->template_, n->admin, n->prefix, str_or(n->tls.fingerprint, ""),
			    n->credentials_secret_ref.name,
			    secrets_version(c->secrets, NULL, n->credentials_secret_ref.name));
	if (ca)
		text = arena_printf(a, "%s|%s/%s/%s", text, ca->name, str_or(ca->key, ""),
				    secrets_version(c->secrets, NULL, ca->name));
	return with_names(with_names(text, &n->host_servers, a), &n->common_vnets, a);
}

/* Returns the value of one key of Secret `name` in drover's namespace. On an error returns NULL
 * with *e; ERR_UNAVAILABLE while the Secret is being read. */
static const struct secret *secret_of(struct driver *s, const char *field, const char *name,
				      const char *key, struct err *e)
{
	enum secret_state st = secrets_want(s->c->secrets, NULL, name);
	const struct secret *v = secrets_value(s->c->secrets, NULL, name, key);

	if (v)
		return v;
	if (st == SECRET_LOADING || st == SECRET_ERROR)
		err_note(e, ERR_UNAVAILABLE, 0, "%s: Secret %s is being read", field, name);
	else
		err_note(e, ERR_NOT_FOUND, 0, "%s: Secret %s %s%s", field, name,
			 st == SECRET_LOADED   ? "has no key "
			 : st == SECRET_DENIED ? "may not be read by drover"
					       : "does not exist",
			 st == SECRET_LOADED ? key : "");
	return NULL;
}

static const char **names_of(const struct strings *s)
{
	const char **names = mem_calloc(s->n + 1, sizeof(*names));

	if (s->n)
		memcpy(names, s->v, s->n * sizeof(*names));
	return names;
}

struct fabric *driver_netris_fabric(struct driver *s, const struct provider_object_netris *n,
				    const struct fabric_spec *fs)
{
	static const char field[] = "spec.network.netris.credentialsSecretRef";
	const char *name = n->credentials_secret_ref.name, *pin = n->tls.fingerprint;
	const struct object_secret_ref *ca_ref = n->tls.ca_secret_ref;
	const struct secret *user = secret_of(s, field, name, "username", &s->error), *ca = NULL;
	const struct secret *password =
		user ? secret_of(s, field, name, "password", &s->error) : NULL;
	struct fabric_netris fn = {.http = s->c->http,
				   .url = n->endpoint,
				   .password = password,
				   .plain_ok = s->c->o.plain_ok,
				   .site = n->site,
				   .template_ = n->template_,
				   .admin = n->admin,
				   .prefix = n->prefix};
	const char **hosts, **common;
	struct fabric_spec with = *fs;
	struct fabric *f;

	if (!password ||
	    secrets_check_endpoint(s->c->secrets, field, name, n->endpoint, &s->error) < 0)
		return NULL;
	if (ca_ref && !(ca = secret_of(s, "spec.network.netris.tls.caSecretRef", ca_ref->name,
				       str_or(ca_ref->key, "ca.crt"), &s->error)))
		return NULL;
	fn.user = secret_expose(user);
	fn.ca_pem = ca ? secret_expose(ca) : NULL;
	fn.pin_sha256 = pin && str_starts(pin, "sha256:") ? pin + strlen("sha256:") : pin;
	fn.host_servers = hosts = names_of(&n->host_servers);
	fn.common_vnets = common = names_of(&n->common_vnets);
	with.netris = &fn;
	f = fabric_new(&with, &s->error);
	free(hosts);
	free(common);
	return f;
}
