#ifndef CONTROLLER_RULES_IDENTITY_H
#define CONTROLLER_RULES_IDENTITY_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "api/kinds.h"
#include "wipe/proto.h"

/*
 * identity: decides whether a machine is the one that spec.identity names.
 *
 * The system UUID comes from four sources: the BMC, the agent (DMI), the Node (the kubelet reads
 * the same file as the agent) and the operator (spec.identity). A BMC may write the first groups of
 * the UUID in the other byte order, and may report a vendor default or no UUID (base/uuid.h). There
 * are two levels of match:
 *
 *   proof      same UUID in the same byte order. A UUID in the other byte order
 *              is accepted only with a second proof, because a different machine
 *              may rightly have the reordered UUID.
 *   conflict   a UUID in either byte order counts as the same. This is safe: a
 *              wrong conflict only makes drover refuse to act.
 *
 * If spec.identity has no UUID that distinguishes machines, its serial number must distinguish
 * them, and both the BMC and the agent must report that number. Vendor defaults ("To be filled by
 * O.E.M.") prove nothing. The second proof depends on the source of the UUID:
 *
 *   BMC, at each login    serial number
 *   agent                 serial number, or spec.bootMACAddress among its NICs; the boot secret
 *                         proves by which BMC the agent was booted, not on which machine
 *   Node that joined      none is accepted: the Node must report the UUID exactly as the agent
 *                         read it
 *   Node of an adoption   spec.providerID, which this machine's config drive contains. A tenant
 *   or pending cleanup    can forge both spec.providerID and the UUID, so an operator's approval,
 *                         or the proof that the machine is off and isolated, is required first
 *
 * Pure functions; every text may be NULL or untrusted.
 */

/* Checks whether the UUID and serial number that the BMC reports are those of spec.identity (want).
 * Returns 0 if they prove the machine, or -1 with one of these errors:
 *
 * - ERR_NOT_FOUND: spec.identity is not set.
 * - ERR_CONFLICT: the BMC is of a different machine, or its values can never prove this one.
 * - ERR_UNAVAILABLE with code IDENTITY_UNTOLD: the BMC does not report the needed values, as some
 *   BMCs do not for a while after power returns. The caller must wait and must not act. */
#define IDENTITY_UNTOLD (-2)
int identity_bmc(const struct machine_identity *want, const char *uuid, const char *serial,
		 struct err *e);

/* Checks whether the agent runs on the machine of spec.identity (want). mac:
 * spec.bootMACAddress. -1 with ERR_CONFLICT: the agent runs on a different machine, or its
 * values cannot prove this one. */
int identity_agent(const struct machine_identity *want, const char *mac,
		   const struct proto_inventory *inv, struct err *e);

/* True if a Node that joined runs on this machine. node: UUID that the Node reports. seen: UUID
 * that the agent of this boot read; NULL: an older agent did not record it, and spec.identity
 * (want) decides. */
bool identity_joined(const struct machine_identity *want, const char *seen, const char *node);

/* True if a Node is proved to run on this machine, for a Node to adopt or a Node whose cleanup is
 * pending. uuid, provider_id: those of the machine; uuid is as the BMC reports it, or from
 * spec.identity. */
bool identity_node(const char *uuid, const char *provider_id, const char *node_uuid,
		   const char *node_provider_id);

/* True if the Node may run on the machine with this UUID and providerID, so that the machine must
 * not be touched. Two usable UUIDs are compared. Otherwise the result is true if neither is usable
 * or the providerIDs are equal. */
bool identity_may_run(const char *uuid, const char *provider_id, const char *node_uuid,
		      const char *node_provider_id);

/* Returns the spec.providerID of the machine's Node, drover://PROVIDER/MACHINE; in the arena. */
const char *identity_provider_id(const struct machine *m, struct arena *a);

/* Returns the path of the field that shows that a and b are the same machine, such as
 * "spec.identity.serialNumber"; NULL: nothing shows it. */
const char *identity_twins(const struct machine_identity *a, const struct machine_identity *b);

/* True if the serial number distinguishes machines: it is not empty, not a vendor default, and not
 * one repeated character. */
bool identity_is_serial(const char *serial);

/* True if a WipeRecord with this UUID and serial number belongs to the machine in `want`. The name
 * of the machine in the record does not count. */
bool identity_of_record(const struct machine_identity *want, const char *uuid, const char *serial);

#endif
