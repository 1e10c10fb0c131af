#ifndef CONTROLLER_HARDWARE_DRIVER_H
#define CONTROLLER_HARDWARE_DRIVER_H

#include "base/crypto.h"
#include "controller/core/context.h"
#include "providers/fabric.h"
#include "providers/provider.h"

/*
 * driver: the runtime side of one Provider object: its backend (providers/provider.h), its fabric,
 * and the trust and credentials of each BMC behind it.
 */
struct driver {
	struct drivers *all;
	struct context *c;
	char *name;
	/* NULL while the Provider object is not usable */
	struct provider *provider;
	struct fabric *fabric;
	/* Digest of the spec fields whose change needs a new provider and fabric */
	char *spec_digest;
	/* Why provider is NULL; kind ERR_NONE: no error */
	struct err error;
};

/* The drivers of all Provider objects. */
struct drivers {
	struct context *c;
	/* Provider name -> struct driver */
	struct map *map;
	/* Called before a driver's provider and fabric are freed: the callee must drop everything
	 * that refers to them. */
	void (*closing)(struct driver *s, void *arg);
	void *arg;
	/* Cache of the last CA digest (driver_ca_digest() runs in each tick of each machine).
	 * ca_of: Secret, key and version of that CA. */
	char ca_of[600], ca_digest[CRYPTO_DIGEST_TEXT];
};
struct drivers *drivers_new(struct context *c, void (*closing)(struct driver *s, void *arg),
			    void *arg);
void drivers_free(struct drivers *ds);
/* Creates, rebuilds or frees the driver of Provider name, after the object in the cache. Rebuilds
 * only if the driver's digest changed. */
void drivers_update(struct drivers *ds, const char *name);
/* Writes the fabric's description of itself (what moves the machines' ports) to text. False: the
 * fabric gives none, or there is no fabric. */
bool driver_network_about(const struct drivers *ds, const char *name, char *text, size_t size);
/* Writes a problem of the fabric that an operator must fix (providers/fabric.h) to text. False: no
 * problem. */
bool driver_trouble(const struct drivers *ds, const char *name, char *text, size_t size);
/* Returns NULL if there is no such Provider. */
struct driver *driver_get(const struct drivers *ds, const char *name);

/* Attaches Machine m to its backend, with the credentials and the trust that its spec names. NULL
 * with *e: ERR_UNAVAILABLE while a Secret is loading, otherwise ERR_INVALID or ERR_NOT_FOUND naming
 * the field. *secret_version: version of the login Secret, borrowed; "" if the backend needs no
 * login. */
struct provider_machine *driver_attach(struct driver *s, const struct machine *m,
				       const char **secret_version, struct err *e);

/* Returns the name of the Secret with the BMC's login: the Machine's own, else its Provider's.
 * NULL: neither names a Secret. */
const char *driver_login(const struct driver *s, const struct machine *m);
/* Writes the digest of the CA against which the BMC's certificate is checked. False: the Machine
 * names no CA, or its Secret is not loaded. */
bool driver_ca_digest(const struct driver *s, const struct machine *m,
		      char out[static CRYPTO_DIGEST_TEXT]);

/* Call when the BMC refuses the login: its Secret is read at short intervals until the Secret
 * changes. */
void driver_expect_login(struct driver *s, const struct machine *m);

#endif
