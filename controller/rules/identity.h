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
 * The system UUID comes from four sources: the BMC, the agent (DMI), the Node (kubelet, from the
 * same file as the agent) and the operator. BMCs may write its first groups in the other byte
 * order, and may have a vendor default or none (base/uuid.h). Two levels of match:
 *
 *   proof      same UUID, same byte order; in the other order only with a second proof, since two
 *              values are accepted then, and another honest machine may have the second
 *   conflict   any byte order counts as the same: this only refuses more
 *
 * Where spec.identity has no UUID that distinguishes machines, its serial number must, and BMC and
 * agent must both report it; vendor defaults ("To be filled by O.E.M.") prove nothing. The second
 * proof depends on the source:
 *
 *   BMC, at each login    serial number
 *   agent                 serial number, or spec.bootMACAddress among its NICs; the boot secret
 *                         proves by which BMC the agent was booted, not on which machine
 *   Node that joined      none is accepted: the Node must report the UUID exactly as the agent
 *                         read it
 *   Node of an adoption   spec.providerID, which this machine's config drive contains. A tenant
 *   or pending cleanup    can write it, as it can write the UUID, so an operator's approval, or
 *                         the proof that the machine is off and isolated, is required first
 *
 * Pure functions; every text may be NULL or untrusted.
 */

/* Judges what the BMC reports. -1: ERR_NOT_FOUND (spec.identity is not set), ERR_CONFLICT (another
 * machine, or the reported values can never prove this one), or ERR_UNAVAILABLE with
 * IDENTITY_UNTOLD: the BMC does not report what is needed, as some do not for a while after power
 * returns. The caller must then wait and not act. */
#define IDENTITY_UNTOLD (-2)
int identity_bmc(const struct machine_identity *want, const char *uuid, const char *serial,
		 struct err *e);

/* Judges what the agent found. -1: ERR_CONFLICT. mac: spec.bootMACAddress. */
int identity_agent(const struct machine_identity *want, const char *mac,
		   const struct proto_inventory *inv, struct err *e);

/* True if a Node that registered is this machine. seen: UUID that the agent of this boot read; NULL
 * (agent that did not record it): spec.identity decides. */
bool identity_joined(const struct machine_identity *want, const char *seen, const char *node);

/* True if a Node that existed before is this machine. uuid: as the BMC reports it, or from
 * spec.identity. */
bool identity_node(const char *uuid, const char *provider_id, const char *node_uuid,
		   const char *node_provider_id);

/* True if the Node may run on the machine with this UUID, so that the machine must not be touched.
 * If neither has a usable UUID they may be the same machine; equal providerIDs also count. */
bool identity_may_run(const char *uuid, const char *provider_id, const char *node_uuid,
		      const char *node_provider_id);

/* Returns the spec.providerID that drover gives to its Nodes. */
const char *identity_provider_id(const struct machine *m, struct arena *a);

/* Returns the path of the member by which a and b are the same machine, or NULL if they are not. */
const char *identity_twins(const struct machine_identity *a, const struct machine_identity *b);

/* True if the serial number distinguishes machines: not empty and not a vendor default. */
bool identity_is_serial(const char *serial);

/* True if a WipeRecord with this UUID and serial number was made of that machine, whatever the name
 * in it. */
bool identity_of_record(const struct machine_identity *want, const char *uuid, const char *serial);

#endif
