#ifndef CONTROLLER_HARDWARE_DRIVER_H
#define CONTROLLER_HARDWARE_DRIVER_H

#include "base/crypto.h"
#include "controller/core/context.h"
#include "providers/fabric.h"
#include "providers/provider.h"

/*
 * driver: what the controller keeps for one Provider object: the provider (providers/provider.h),
 * its fabric, and the trust and credentials of each BMC behind it.
 */
struct driver {
	struct drivers *all;
	struct context *c;
	char *name;
	/* NULL while the object is not usable */
	struct provider *provider;
	struct fabric *fabric;
	/* of the parts that need a new driver */
	char *spec_digest;
	/* why there is none; kind ERR_NONE: fine */
	struct err error;
};

/* All Providers' drivers. */
struct drivers {
	struct context *c;
	/* Provider name -> struct driver */
	struct map *map;
	/* A driver's provider and fabric are about to be freed: forget what hangs on them. */
	void (*closing)(struct driver *s, void *arg);
	void *arg;
	/* The CA that was looked at last, and its digest: it is asked for in each turn of each
	 * machine. */
	char ca_of[600], ca_digest[CRYPTO_DIGEST_TEXT];
};
struct drivers *drivers_new(struct context *c, void (*closing)(struct driver *s, void *arg),
			    void *arg);
void drivers_free(struct drivers *ds);
/* From the object in the cache; frees and rebuilds only what changed. */
void drivers_update(struct drivers *ds, const char *name);
/* What moves its machines' ports, as it says; false: it does not. */
bool driver_network_about(const struct drivers *ds, const char *name, char *text, size_t size);
/* Something about its network that a person has to mend (providers/fabric.h). */
bool driver_trouble(const struct drivers *ds, const char *name, char *text, size_t size);
/* NULL: none */
struct driver *driver_get(const struct drivers *ds, const char *name);

/* Attach a Machine: credentials and trust are looked up. NULL with *e: ERR_UNAVAILABLE while a
 * Secret is loading, ERR_INVALID or ERR_NOT_FOUND naming the field otherwise. *secret_version: of
 * the Secret used, borrowed; "" where nothing is logged in to. */
struct provider_machine *driver_attach(struct driver *s, const struct machine *m,
				       const char **secret_version, struct err *e);

/* The Secret that its BMC's password is in: the machine's own, or the Provider's; NULL: neither has
 * one. */
const char *driver_login(const struct driver *s, const struct machine *m);
/* Digest of the CA that its BMC's certificate is checked against; false: it needs none, or it was
 * not read. */
bool driver_ca_digest(const struct driver *s, const struct machine *m,
		      char out[static CRYPTO_DIGEST_TEXT]);

/* Its BMC refuses the login: the Secret of it is read closely until it is another. */
void driver_expect_login(struct driver *s, const struct machine *m);

#endif
