#ifndef CONTROLLER_RULES_IDENTITY_H
#define CONTROLLER_RULES_IDENTITY_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/err.h"
#include "api/kinds.h"
#include "wipe/proto.h"

/*
 * identity: is this the machine that spec.identity names?
 *
 * The system UUID comes from four sources: the BMC, the agent (DMI), the Node (kubelet, the same
 * file as the agent) and what a person wrote. BMCs may write its first groups in the other byte
 * order, and may have a maker's default or none (base/uuid.h). What a match is good for differs:
 *
 *   proof      same UUID, same order; in the other order only beside a second proof, since then two
 *              values pass where one did, and an honest neighbour may bear the second
 *   conflict   any order is the same: it only ever refuses more
 *
 * Where spec.identity has no UUID that tells machines apart, its serial number has to, and is
 * wanted from BMC and agent alike; makers' defaults of that ("To be filled by O.E.M.") prove
 * nothing either.
 *
 *   BMC, at each login    serial number
 *   agent                 serial number, or spec.bootMACAddress among its NICs; that it holds the boot
 *                         secret says which BMC it was booted by, not on which machine
 *   Node that joined      none is accepted: it says the UUID as the agent read it, letter for letter
 *   Node of an adoption,  spec.providerID, which the config drive of this machine gave it.  A tenant can
 *   or owed               write that, as it can write the UUID; a person's word, or off and cut, comes first
 *
 * Pure functions; every text may be NULL or foreign.
 */

/* What the BMC said. -1: ERR_NOT_FOUND (spec.identity is empty), ERR_CONFLICT (another machine, or
 * what it says can never prove this one), ERR_UNAVAILABLE with IDENTITY_UNTOLD (it does not say
 * what is needed, as some do not for a while after power came: wait, and act on nothing). */
#define IDENTITY_UNTOLD (-2)
int identity_bmc(const struct machine_identity *want, const char *uuid, const char *serial,
		 struct err *e);

/* What the agent found.  -1: ERR_CONFLICT.  mac: spec.bootMACAddress. */
int identity_agent(const struct machine_identity *want, const char *mac,
		   const struct proto_inventory *inv, struct err *e);

/* A Node that registered: seen is what the agent of this boot read; NULL (an agent of before this
 * was kept): spec.identity. */
bool identity_joined(const struct machine_identity *want, const char *seen, const char *node);

/* A Node that was there already; uuid: what the BMC says, or spec.identity. */
bool identity_node(const char *uuid, const char *provider_id, const char *node_uuid,
		   const char *node_provider_id);

/* May this Node run on the machine with this UUID? Where either has none that counts: two without
 * are one, and so is who names the same providerID. */
bool identity_may_run(const char *uuid, const char *provider_id, const char *node_uuid,
		      const char *node_provider_id);

/* What drover writes into its Nodes' spec.providerID. */
const char *identity_provider_id(const struct machine *m, struct arena *a);

/* Are these one machine?  The member that says so, or NULL. */
const char *identity_twins(const struct machine_identity *a, const struct machine_identity *b);

/* A serial number that tells machines apart, and no maker's default. */
bool identity_is_serial(const char *serial);

/* Was this record (of whatever name) made of that machine? */
bool identity_of_record(const struct machine_identity *want, const char *uuid, const char *serial);

#endif
