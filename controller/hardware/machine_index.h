#ifndef CONTROLLER_HARDWARE_MACHINE_INDEX_H
#define CONTROLLER_HARDWARE_MACHINE_INDEX_H

#include <stdbool.h>
#include "api/kinds.h"
#include "base/own.h"

/*
 * machine_index: finds Machines by values of their spec or login status, without a scan over all
 * Machines. Used to find two Machines that record one server, the Machines that a Secret concerns,
 * and the BMCs that accepted a login.
 *
 * controller/controller.c calls machine_index_put() after each change in the cache of Machines,
 * before it notifies others of the change. On the loop thread.
 */
struct machine_index;

enum machine_key {
	/* spec.identity.systemUUID, matched in both byte orders */
	MACHINE_BY_UUID,
	/* spec.identity.serialNumber, unless a vendor gives this value to many machines */
	MACHINE_BY_SERIAL,
	/* spec.bmc.address; ignores case, doubled and trailing slashes */
	MACHINE_BY_ADDRESS,
	/* names of the Secrets in spec.bmc.credentialsSecretRef and spec.bmc.tls.caSecretRef */
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

/* Adds Machine `name` to the index, or updates its values; m NULL: removes it. Returns true if the
 * index has changed. */
bool machine_index_put(struct machine_index *x, const char *name, const struct machine *m);

/* Calls fn with the name of each Machine that has `value` for this key, until fn returns false. fn
 * must not call machine_index_put(). */
void machine_index_each(const struct machine_index *x, enum machine_key key, const char *value,
			bool (*fn)(const char *machine, void *arg), void *arg);

#endif
