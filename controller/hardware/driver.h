#ifndef CONTROLLER_HARDWARE_DRIVER_H
#define CONTROLLER_HARDWARE_DRIVER_H

#include "base/crypto.h"
#include "controller/core/context.h"
#include "providers/fabric.h"

/*
 * driver: the object in memory behind one Provider object: its backend (providers/provider.h), its
 * fabric, and the trust and login for each BMC.
 */
struct provider;
struct provider_machine;

struct driver {
	struct drivers *all;
	struct context *c;
	char *name;
	/* backend; NULL while the Provider object is not usable */
	struct provider *provider;
	struct fabric *fabric;
	/* digest of the spec fields whose change requires a new backend and fabric */
	char *spec_digest;
	/* why `provider` is NULL; kind ERR_NONE: no error */
	struct err error;
};

/* The drivers of all Provider objects. */
struct drivers {
	struct context *c;
	/* name of the Provider -> struct driver */
	struct map *map;
	/* Called before a driver's backend and fabric are freed. closing() must drop everything
	 * that refers to them. */
	void (*closing)(struct driver *s, void *arg);
	void *arg;
	/* Last result of driver_ca_digest(), which each step of each machine calls. ca_of: Secret,
	 * key and version of the CA whose digest is in ca_digest. */
	char ca_of[600], ca_digest[CRYPTO_DIGEST_TEXT];
};
struct drivers *drivers_new(struct context *c, void (*closing)(struct driver *s, void *arg),
			    void *arg);
void drivers_free(struct drivers *ds);
/* Creates, rebuilds or frees the driver of Provider `name` so that it matches the object in the
 * cache. Rebuilds it only if a field of the digest changed. */
void drivers_update(struct drivers *ds, const char *name);
/* Writes to `text` how the fabric describes itself, that is, what moves the machines' ports. False:
 * the fabric has no description, or there is no fabric. */
bool driver_network_about(const struct drivers *ds, const char *name, char *text, size_t size);
/* Writes to `text` a problem of the fabric that an operator must fix (providers/fabric.h). False:
 * no problem. */
bool driver_trouble(const struct drivers *ds, const char *name, char *text, size_t size);
/* Returns the driver of Provider `name`; NULL: no such Provider. */
struct driver *driver_get(const struct drivers *ds, const char *name);

/* Attaches Machine m to its backend, with the login and the trust that its spec names. Returns NULL
 * with *e on an error: ERR_UNAVAILABLE while a Secret is being read, otherwise ERR_INVALID or
 * ERR_NOT_FOUND with the name of the field. *secret_version: version of the login Secret, borrowed;
 * "" if the backend needs no login. */
struct provider_machine *driver_attach(struct driver *s, const struct machine *m,
				       const char **secret_version, struct err *e);

/* Returns the name of the Secret with the BMC's login: the Machine's own, else its Provider's.
 * NULL: neither names a Secret. */
const char *driver_login(const struct driver *s, const struct machine *m);
/* Returns the user name in that Secret, in the arena and without control characters; NULL: the
 * Secret is not loaded, or has none. */
const char *driver_login_user(const struct driver *s, const struct machine *m, struct arena *a);
/* Writes to out the digest of the CA certificate against which drover checks the BMC's certificate.
 * False: the Machine names no CA, or the Secret with the CA is not loaded. */
bool driver_ca_digest(const struct driver *s, const struct machine *m,
		      char out[static CRYPTO_DIGEST_TEXT]);

/* Makes drover read the Secret with the BMC's login every 30 s until the Secret changes. Call when
 * the BMC refuses the login. */
void driver_expect_login(struct driver *s, const struct machine *m);

#endif
