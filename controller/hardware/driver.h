#ifndef CONTROLLER_HARDWARE_DRIVER_H
#define CONTROLLER_HARDWARE_DRIVER_H

#include "controller/controller.h"
#include "providers/fabric.h"
#include "providers/provider.h"

/*
 * source: what the controller keeps for one Provider object: the driver, its
 * fabric, and the trust and credentials of each BMC behind it.
 */
struct driver {
	struct controller *c;
	char *name;
	struct provider *provider; /* NULL while the object is not usable */
	struct fabric *fabric;
	char *spec_digest; /* of the parts that need a new driver */
	struct err error;  /* why there is none; kind ERR_NONE: fine */
};

/* From the object in the cache; frees and rebuilds only what changed. */
void driver_update(struct controller *c, const char *name);
void driver_free(struct driver *s);
struct driver *driver_get(struct controller *c, const char *name);
/* Attach a Machine: credentials and trust are looked up.  NULL with *e: ERR_UNAVAILABLE while a Secret is
 * loading, ERR_INVALID or ERR_NOT_FOUND naming the field otherwise.  *secret_version: of the Secret used, borrowed. */
struct provider_machine *driver_attach(struct driver *s, const struct machine *m,
				       const char **secret_version, struct err *e);

#endif
