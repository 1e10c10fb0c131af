#ifndef NETRIS_OBJECT_H
#define NETRIS_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/err.h"

/*
 * object: what a Netris controller says of its objects, as structs.
 *
 * Its JSON is loosely typed: numbers come as strings, ids as null or "None", booleans as "yes" or
 * 0, lists as null, and a release leaves out what the one before said. Each form that is known is
 * taken; what is no form of the member counts as not said, which is never the same as empty:
 * NETRIS_UNSAID, `said` of a list, id 0. An element without an id, or without a name where the kind
 * has one, is nobody's: it is left out. In V-nets and server clusters, whose lists are written back
 * and judged as a whole, it makes the reply nonsense.
 *
 * Strings are cut at 253 bytes and hold no control characters; lists are bounded. Everything is in
 * the arena. Shapes: netrisai/terraform-provider-netris and netrisai/netriswebapi, as far as those
 * are public; what these do not say is in docs/providers/netris.md.
 */
enum netris_bool { NETRIS_UNSAID, NETRIS_NO, NETRIS_YES };

/* Another object: {"id", "name"}, or its id alone.  id 0: none. */
struct netris_ref {
	int64_t id;
	/* "": not said */
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
/* A tenant of Netris: who owns servers and ports.  Not one of drover's. */
struct netris_tenant {
	int64_t id;
	const char *name;
};
struct netris_vpc {
	int64_t id;
	const char *name;
	struct netris_texts tags;
};
/* A port of a switch in a V-net. */
struct netris_vnet_port {
	int64_t id;
	const char *name, *status;
};
/* An address of the V-net's own, with the length of its prefix, and which addresses DHCP gives
 * there; "": not said. */
struct netris_gateway {
	const char *prefix, *dhcp_start, *dhcp_end;
	/* enum netris_bool */
	int dhcp;
};
/* A server in a V-net that is no Ethernet; status "": not said. */
struct netris_vnet_server {
	int64_t id;
	const char *name, *status;
};
/* Which wires a V-net is on, by its type: l2vpn and l3vpn, netris-ufm (a PKey), netris-nvlink (a
 * partition). A type that is not known, or not said, counts as Ethernet, where ports have to show
 * who is in it. */
enum netris_fabric { NETRIS_ETHERNET, NETRIS_INFINIBAND, NETRIS_NVLINK, NETRIS_FABRICS };
/* Ethernet, InfiniBand, NVLink */
extern const char *const netris_fabric_names[NETRIS_FABRICS];
enum netris_fabric netris_fabric_of(const char *type);
struct netris_vnet {
	int64_t id;
	/* state: "active", "disabled"; status: of its label */
	const char *name, *state, *status;
	/* "": not said */
	const char *type;
	struct netris_ref vpc;
	struct {
		struct netris_vnet_server *v;
		size_t n;
		bool said;
	} servers; /* where it is no Ethernet */
	struct {
		struct netris_vnet_port *v;
		size_t n;
		bool said;
	} ports;
	/* -1: not said */
	int64_t ports_count;
	struct {
		struct netris_gateway *v;
		size_t n;
		bool said;
	} gateways;
};
struct netris_template_vnet {
	/* l2vpn, l3vpn, netris-ufm, netris-nvlink */
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
	/* enum netris_bool */
	int shared;
};
struct netris_cluster {
	int64_t id;
	/* of its label; "": not said */
	const char *name, *status;
	struct netris_ref site, vpc, admin, template_;
	struct netris_texts tags;
	struct {
		struct netris_member *v;
		size_t n;
		bool said;
	} servers;
	/* that the template made */
	struct netris_refs vnets;
};
/* A server or a switch of the inventory. */
struct netris_device {
	int64_t id;
	const char *name, *type, *health, *status;
	struct netris_ref site, tenant;
	/* of no clock of ours, and in no certain unit: to be compared with itself alone; 0: not
	 * said */
	int64_t last_seen;
};
struct netris_link {
	/* ports: "eth1@gpu-1"; either id may be 0 */
	struct netris_ref local, remote;
};
struct netris_port {
	int64_t id;
	const char *name, *status;
	/* the switch or server it is of */
	struct netris_ref device;
	/* enum netris_bool */
	int admin_down;
};
struct netris_subnet {
	int64_t id;
	const char *name, *prefix, *purpose;
};
/* Where a load balancer sends connections to.  What words `status` has is not published. */
struct netris_backend {
	/* "": not said */
	const char *ip, *status, *response;
	/* -1: not said */
	int64_t port;
	/* enum netris_bool */
	int maintenance;
};
struct netris_l4lb {
	int64_t id;
	/* ip: of the front end */
	const char *name, *ip, *protocol;
	/* "enable", "disable" */
	const char *status;
	/* what people are told; "": not said */
	const char *label;
	struct netris_ref vpc;
	/* -1: not said */
	int64_t port;
	struct {
		struct netris_backend *v;
		size_t n;
		bool said;
	} backends;
};

/* The controller's own release, "4.15.0.012": "": not said. */
struct netris_version {
	const char *build;
};

enum netris_kind {
	/* one object, read by netris_read() alone */
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
/* What it is called in texts ("server cluster"), and where it is. */
struct netris_kind_info {
	/* query: of lists; "": none */
	const char *name, *path, *query;
};
extern const struct netris_kind_info netris_kinds[NETRIS_KINDS];

/* What a request answered: the elements of one kind, and the id that a create tells (0: it does
 * not). */
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
		/* NETRIS_SERVER, NETRIS_SWITCH */
		const struct netris_device *device;
		const struct netris_link *link;
		const struct netris_port *port;
		const struct netris_subnet *subnet;
		const struct netris_l4lb *l4lb;
	};
	int64_t id;
	/* of all of it, where it is handed on (netris.h) */
	struct arena *arena;
};

/* The elements in `data`: a list, or one object. What holds too many, or is nonsense as said above,
 * is ERR_PROTOCOL. Fills n and the elements of *out. */
int netris_decode(enum netris_kind kind, const json_t *data, struct arena *a,
		  struct netris_objects *out, struct err *e) __attribute__((warn_unused_result));

/* A number in any of its forms: 7, "7", {"id": 7}; 0: none. */
int64_t netris_id(const json_t *j);
/* A truth in any of its forms: true, 1, "yes", "True". */
enum netris_bool netris_truth(const json_t *j);

#endif
