#ifndef CLI_BAREMETALHOST_H
#define CLI_BAREMETALHOST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/data/json.h"

/*
 * baremetalhost: converts BareMetalHosts of Metal3 (metal3.io/v1alpha1) to Machines of drover.
 *
 * Metal3 writes BMC addresses as SCHEME://HOST[:PORT][/SYSTEM]. Schemes redfish,
 * redfish-virtualmedia, redfish-uefihttp, idrac-redfish, idrac-virtualmedia, ilo5-redfish and
 * ilo5-virtualmedia are Redfish, over HTTPS or with the suffix +http or +https; ipmi, or no scheme
 * at all, is IPMI. Secrets of both have the keys username and password. (docs/user-guide/src/bmo of
 * github.com/metal3-io/metal3-docs)
 *
 * Secrets are never read: a Machine only refers to one by name, and a note says how to copy it.
 */
struct baremetalhost_import {
	/* provider: name of the Machines' Provider. instance_type: name of their instance type;
	 * NULL: not set. ns: drover's own namespace. */
	const char *provider, *instance_type, *ns;
	struct arena *a;
	/* name of a Secret in drover's namespace -> "NAMESPACE/NAME" of the Secret from which it is
	 * to be copied; the caller creates the object and frees it */
	json_t *secrets;
	/* set of the names of Machines that exist or were converted; the caller creates the object
	 * and frees it */
	json_t *names;
};

/* Converts a host. Returns the Machine, owned by the caller; NULL: the host cannot be converted.
 * Appends comment lines (# ...) to notes: what the operator must do first, what was ignored, and
 * why the host cannot be converted. */
json_t *baremetalhost_machine(struct baremetalhost_import *m, const json_t *host,
			      struct buf *notes);

#endif
