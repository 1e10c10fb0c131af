#ifndef NETRIS_OBJECT_H
#define NETRIS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"

/*
 * object: objects of a Netris controller as structs.
 *
 * Netris' JSON is loosely typed: numbers come as strings, ids as null or "None", booleans as "yes"
 * or 0, lists as null, and releases omit members that earlier ones had. Every known form is
 * accepted. A value in an unknown form counts as not reported, which is distinct from empty:
 * NETRIS_UNSAID for a boolean, `said` false for a list, 0 for an id. An element without an id, or
 * without a name if its kind has names, is ignored. V-nets and server clusters are different: their
 * lists are written back and judged as a whole, so one such element makes the whole reply invalid.
 *
 * Strings are truncated at 253 bytes and contain no control characters; lists are bounded.
 * Everything is in the arena of the result. The forms come from netrisai/terraform-provider-netris
 * and netrisai/netriswebapi, as far as published; open questions are in docs/providers/netris.md.
 */
enum netris_bool { NETRIS_UNSAID, NETRIS_NO, NETRIS_YES };

/* A reference to another object: {"id", "name"}, or its id alone. id 0: none. */
struct netris_ref {
	int64_t id;
	/* "": not reported. */
	const char *name;
};
struct netris_refs {
	struct netris_ref *v;
	size_t n;
	bool said;
};
struct netris_texts {
	const char **v;
	size_t n;
	bool said;
};
struct netris_site {
	int64_t id;
	const char *name;
};
/* A tenant in Netris, which owns servers and ports; not a tenant of drover. */
struct netris_tenant {
	int64_t id;
	const char *name;
};
struct netris_vpc {
	int64_t id;
	const char *name;
	struct netris_texts tags;
};
/* A switch port in a V-net. */
struct netris_vnet_port {
	int64_t id;
	const char *name, *status;
};
/* A gateway address of the V-net with its prefix length, and the DHCP range of its subnet; "": not
 * reported. */
struct netris_gateway {
	const char *prefix, *dhcp_start, *dhcp_end;
	/* Value of enum netris_bool: whether DHCP is on. */
	int dhcp;
};
/* A server in a V-net other than Ethernet; status "": not reported. */
struct netris_vnet_server {
	int64_t id;
	const char *name, *status;
};
/* Network type of a V-net: l2vpn and l3vpn are Ethernet, netris-ufm is InfiniBand (a PKey),
 * netris-nvlink is NVLink (a partition). An unknown or missing type counts as Ethernet, where ports
 * prove membership. */
enum netris_fabric { NETRIS_ETHERNET, NETRIS_INFINIBAND, NETRIS_NVLINK, NETRIS_FABRICS };
/* Names for display: Ethernet, InfiniBand, NVLink. */
extern const char *const netris_fabric_names[NETRIS_FABRICS];
enum netris_fabric netris_fabric_of(const char *type);
struct netris_vnet {
	int64_t id;
	/* state: "active" or "disabled"; status: text of the status label. */
	const char *name, *state, *status;
	/* l2vpn, l3vpn, netris-ufm or netris-nvlink; "": not reported. */
	const char *type;
	struct netris_ref vpc;
	/* Members of a V-net other than Ethernet. */
	struct {
		struct netris_vnet_server *v;
		size_t n;
		bool said;
	} servers;
	struct {
		struct netris_vnet_port *v;
		size_t n;
		bool said;
	} ports;
	/* Number of ports that the controller reports; -1: not reported. */
	int64_t ports_count;
	struct {
		struct netris_gateway *v;
		size_t n;
		bool said;
	} gateways;
};
struct netris_template_vnet {
	/* type: l2vpn, l3vpn, netris-ufm or netris-nvlink. */
	const char *postfix, *type;
	struct netris_texts nics;
};
struct netris_template {
	int64_t id;
	const char *name;
	struct {
		struct netris_template_vnet *v;
		size_t n;
		bool said;
	} vnets;
};
struct netris_member {
	int64_t id;
	const char *name;
	/* Value of enum netris_bool: the controller's flag that the server is shared. */
	int shared;
};
struct netris_cluster {
	int64_t id;
	/* status: text of its label; "": not reported. */
	const char *name, *status;
	struct netris_ref site, vpc, admin, template_;
	struct netris_texts tags;
	struct {
		struct netris_member *v;
		size_t n;
		bool said;
	} servers;
	/* The V-nets that the template created. */
	struct netris_refs vnets;
};
/* A server or switch of the inventory. */
struct netris_device {
	int64_t id;
	const char *name, *type, *health, *status;
	struct netris_ref site, tenant;
	/* Time at which the controller last saw the device, in an unknown clock and unit: only
	 * compare it with earlier values of the same device. 0: not reported. */
	int64_t last_seen;
};
struct netris_link {
	/* The two ports that the link connects, by name ("eth1@gpu-1"); either id may be 0. */
	struct netris_ref local, remote;
};
struct netris_port {
	int64_t id;
	const char *name, *status;
	/* The switch or server of the port. */
	struct netris_ref device;
	/* Value of enum netris_bool: whether the port is administratively down. */
	int admin_down;
};
struct netris_subnet {
	int64_t id;
	const char *name, *prefix, *purpose;
};
/* A backend of a load balancer. The possible values of `status` are not published. */
struct netris_backend {
	/* Texts; "": not reported. */
	const char *ip, *status, *response;
	/* Port number; -1: not reported. */
	int64_t port;
	/* Value of enum netris_bool: whether the backend is in maintenance. */
	int maintenance;
};
struct netris_l4lb {
	int64_t id;
	/* ip: address of the front end. */
	const char *name, *ip, *protocol;
	/* "enable" or "disable". */
	const char *status;
	/* Status text for display; "": not reported. */
	const char *label;
	struct netris_ref vpc;
	/* Port of the front end; -1: not reported. */
	int64_t port;
	struct {
		struct netris_backend *v;
		size_t n;
		bool said;
	} backends;
};

/* Release of the controller, for example "4.15.0.012"; "": not reported. */
struct netris_version {
	const char *build;
};

enum netris_kind {
	/* A single object without an id; read with netris_read() only. */
	NETRIS_VERSION,
	NETRIS_SITE,
	NETRIS_TENANT,
	NETRIS_VPC,
	NETRIS_VNET,
	NETRIS_TEMPLATE,
	NETRIS_CLUSTER,
	NETRIS_SERVER,
	NETRIS_SWITCH,
	NETRIS_LINK,
	NETRIS_PORT,
	NETRIS_SUBNET,
	NETRIS_L4LB,
	NETRIS_KINDS
};
/* Name of a kind for texts ("server cluster"), and its API path. */
struct netris_kind_info {
	/* query: added to list requests; "": none. */
	const char *name, *path, *query;
};
extern const struct netris_kind_info netris_kinds[NETRIS_KINDS];

/* Result of a request: the elements of one kind, and the id returned by a create (0: none). */
struct netris_objects {
	size_t n;
	union {
		const void *any;
		const struct netris_version *version;
		const struct netris_site *site;
		const struct netris_tenant *tenant;
		const struct netris_vpc *vpc;
		const struct netris_vnet *vnet;
		const struct netris_template *template_;
		const struct netris_cluster *cluster;
		/* For NETRIS_SERVER and NETRIS_SWITCH. */
		const struct netris_device *device;
		const struct netris_link *link;
		const struct netris_port *port;
		const struct netris_subnet *subnet;
		const struct netris_l4lb *l4lb;
	};
	int64_t id;
	/* Owns all elements. To retain them see netris_call.done (netris.h). */
	struct arena *arena;
};

/* Decodes data (a list, or one object) into the elements of *out and their number out->n. Returns
 * -1 with ERR_PROTOCOL for too many elements, for a single object that is invalid, or for an
 * invalid element in a list of V-nets or server clusters, which must be complete (see the top of
 * this file). */
int netris_decode(enum netris_kind kind, const json_t *data, struct arena *a,
		  struct netris_objects *out, struct err *e) __attribute__((warn_unused_result));

/* Returns the number in any form: 7, "7", {"id": 7}; 0: none. */
int64_t netris_id(const json_t *j);
/* Returns the boolean in any form: true, 1, "yes", "True". */
enum netris_bool netris_truth(const json_t *j);

#endif
