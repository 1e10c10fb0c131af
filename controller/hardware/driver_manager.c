#include "controller/hardware/driver_manager.h"

#include <string.h>
#include "base/str.h"
#include "controller/core/secrets.h"
#include "providers/bcm/provider.h"

const char *driver_manager_digest(const struct driver *s, const struct provider_object *p,
				  struct arena *a)
{
	const struct provider_object_bcm *b = p->spec.bcm;
	const struct object_secret_ref *ca = b ? b->tls.ca_secret_ref : NULL;

	if (!b)
		return "";
	(void)secrets_want(s->c->secrets, NULL, b->credentials_secret_ref->name);
	if (ca)
		(void)secrets_want(s->c->secrets, NULL, ca->name);
	return arena_printf(a, "|%s|%s|%s|%s|%s|%s", b->endpoint, str_or(b->tls.fingerprint, ""),
			    b->credentials_secret_ref->name,
			    secrets_version(s->c->secrets, NULL, b->credentials_secret_ref->name),
			    ca ? ca->name : "",
			    ca ? secrets_version(s->c->secrets, NULL, ca->name) : "");
}

static const char *text_in(struct context *c, const char *secret, const char *key)
{
	const struct secret *v = secrets_value(c->secrets, NULL, secret, key);

	return v ? secret_expose(v) : NULL;
}

static bool is_coming(const struct driver *s, const char *secret, struct err *e)
{
	enum secret_state st = secrets_want(s->c->secrets, NULL, secret);

	if (st != SECRET_LOADING && st != SECRET_ERROR)
		return false;
	err_note(e, ERR_UNAVAILABLE, 0, "Secret %s is being read", secret);
	return true;
}

int driver_manager_of(const struct driver *s, const struct provider_object *p,
		      struct provider_manager *out, struct err *e)
{
	const struct provider_object_bcm *b = p->spec.bcm;
	const struct object_secret_ref *ca = b->tls.ca_secret_ref;
	const char *name = b->credentials_secret_ref->name, *pin = b->tls.fingerprint;
	enum secret_state st = secrets_want(s->c->secrets, NULL, name);

	*out = (struct provider_manager){
		.endpoint = b->endpoint,
		.pin_sha256 = pin && str_starts(pin, "sha256:") ? pin + strlen("sha256:") : pin,
		.cert_pem = text_in(s->c, name, "tls.crt"),
		.key_pem = secrets_value(s->c->secrets, NULL, name, "tls.key"),
		.user = text_in(s->c, name, "username"),
		.password = secrets_value(s->c->secrets, NULL, name, "password"),
	};
	if (is_coming(s, name, e) || (ca && is_coming(s, ca->name, e)))
		return -1;
	if (st != SECRET_LOADED ||
	    !((out->cert_pem && out->key_pem) || (out->user && out->password)))
		return err_set(e, ERR_NOT_FOUND, 0, "spec.bcm.credentialsSecretRef: Secret %s: %s",
			       name,
			       st == SECRET_LOADED
				       ? "tls.crt and tls.key, or username and password, are needed"
			       : st == SECRET_DENIED ? "drover may not read it"
						     : "does not exist");
	if (secrets_check_endpoint(s->c->secrets, "spec.bcm.credentialsSecretRef", name,
				   b->endpoint, e) < 0)
		return -1;
	if (!ca)
		return 0;
	out->ca_pem = text_in(s->c, ca->name, str_or(ca->key, "ca.crt"));
	return out->ca_pem ? 0
			   : err_set(e, ERR_NOT_FOUND, 0,
				     "spec.bcm.tls.caSecretRef: Secret %s has no %s", ca->name,
				     str_or(ca->key, "ca.crt"));
}
