#ifndef CONTROLLER_HARDWARE_MACHINE_INDEX_H
#define CONTROLLER_HARDWARE_MACHINE_INDEX_H

#include <stdbool.h>
#include "api/kinds.h"
#include "base/own.h"

/*
 * machine_index: which Machines have this in their spec, or said of their login? For what would
 * otherwise be a look at all of them: two Machines for one server at each act, whom a Secret or a
 * Node is about, whose BMC knows a login.
 *
 * Kept in step with the cache of Machines by whoever reads that (controller/controller.c): a
 * Machine is put before anybody else hears of its change. On the loop thread.
 */
struct machine_index;

enum machine_key {
	/* spec.identity.systemUUID, in either order of its bytes */
	MACHINE_BY_UUID,
	/* spec.identity.serialNumber; no makers' defaults */
	MACHINE_BY_SERIAL,
	/* spec.bmc.address; ignores case, doubled and trailing slashes */
	MACHINE_BY_ADDRESS,
	/* spec.bmc.credentialsSecretRef and spec.bmc.tls.caSecretRef, by name */
	MACHINE_BY_SECRET,
	/* status.bmc.secretVersion */
	MACHINE_BY_ACCEPTED,
	/* status.bmc.refusedSecretVersion */
	MACHINE_BY_REFUSED,
	MACHINE_KEYS,
};

struct machine_index *machine_index_new(void);
void machine_index_free(struct machine_index *x);
DEFINE_OWN(machine_index)

/* It is this by now; m NULL: it has gone. */
void machine_index_put(struct machine_index *x, const char *name, const struct machine *m);

/* The names of those that have it, until fn says false.  fn may not put. */
void machine_index_each(const struct machine_index *x, enum machine_key key, const char *value,
			bool (*fn)(const char *machine, void *arg), void *arg);

#endif
