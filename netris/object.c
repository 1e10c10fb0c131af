#include "netris/object.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include "base/str.h"

/* Decodes the controller's JSON. A table for each kind of object lists the members and where they
 * are in the JSON. The functions below accept every known form of a value. */
#define MAX_ELEMENTS 65536 /* Maximum number of elements in a list at the top level. */
#define MAX_PARTS 16384	   /* Maximum number of elements in a list within an element. */
#define MAX_TEXT 253

const struct netris_kind_info netris_kinds[NETRIS_KINDS] = {
	[NETRIS_VERSION] = {"version", "/api/users/permissions", ""},
	[NETRIS_SITE] = {"site", "/api/v2/sites", ""},
	[NETRIS_TENANT] = {"tenant", "/api/tenants", ""}, /* v1: a list without an envelope. */
	[NETRIS_VPC] = {"VPC", "/api/v2/vpc", ""},
	[NETRIS_VNET] = {"V-net", "/api/v2/vnet", ""},
	[NETRIS_TEMPLATE] = {"server-cluster template", "/api/v2/server-cluster-template", ""},
	[NETRIS_CLUSTER] = {"server cluster", "/api/v2/server-cluster", ""},
	[NETRIS_SERVER] = {"server", "/api/v2/hw", "?type=server"},
	[NETRIS_SWITCH] = {"switch", "/api/v2/hw", "?type=switch&showHealth=true"},
	[NETRIS_LINK] = {"link", "/api/v2/link", ""},
	[NETRIS_PORT] = {"port", "/api/v2/ports", ""},
	[NETRIS_SUBNET] = {"subnet", "/api/v2/ipam/subnets", ""},
	[NETRIS_L4LB] = {"L4 load balancer", "/api/v2/l4lb", ""},
};

const char *const netris_fabric_names[NETRIS_FABRICS] = {"Ethernet", "InfiniBand", "NVLink"};

enum netris_fabric netris_fabric_of(const char *type)
{
	return str_eq(type, "netris-ufm")      ? NETRIS_INFINIBAND
	       : str_eq(type, "netris-nvlink") ? NETRIS_NVLINK
					       : NETRIS_ETHERNET;
}

/* --- single values ---------------------------------------------------------------------------- */

static bool number(const json_t *j, int64_t *out)
{
	double d;

	if (json_is_integer(j)) {
		*out = json_integer_value(j);
		return true;
	}
	if (json_is_real(j)) {
		d = json_real_value(j);
		if (d != floor(d) || fabs(d) > 9e15)
			return false;
		*out = (int64_t)d;
		return true;
	}
	return json_is_string(j) && str_to_i64(json_string_value(j), INT64_MIN, INT64_MAX, out);
}

int64_t netris_id(const json_t *j)
{
	int64_t n = 0;

	if (json_is_object(j))
		j = json_object_get(j, "id");
	return number(j, &n) && n > 0 ? n : 0;
}

enum netris_bool netris_truth(const json_t *j)
{
	static const char *const yes[] = {"yes", "true", "1", "on", "enabled"};
	static const char *const no[] = {"no", "false", "0", "off", "disabled"};
	const char *s = json_string_value(j);
	int64_t n;

	if (json_is_boolean(j))
		return json_is_true(j) ? NETRIS_YES : NETRIS_NO;
	for (size_t i = 0; s && i < sizeof(yes) / sizeof(*yes); i++) {
		if (!strcasecmp(s, yes[i]))
			return NETRIS_YES;
		if (!strcasecmp(s, no[i]))
			return NETRIS_NO;
	}
	if (!s && number(j, &n))
		return n ? NETRIS_YES : NETRIS_NO;
	return NETRIS_UNSAID;
}

/* Returns the text in j, copied to the arena; "" for null and for values that are not text. Control
 * characters become '?', so that the text can be quoted and compared. */
static const char *text(const json_t *j, struct arena *a)
{
	const char *s = json_string_value(j);
	char *out;

	if (json_is_integer(j))
		return arena_printf(a, "%lld", (long long)json_integer_value(j));
	if (!s)
		return "";
	out = arena_strndup(a, s, strlen(s) > MAX_TEXT ? MAX_TEXT : strlen(s));
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	/* Drop an incomplete UTF-8 character at the end, which the truncation may have left. */
	str_clean(out);
	return out;
}

/* Returns the text of {"label": "Active", "value": 1}, of {"text": ...}, or of a plain text. */
static const char *label(const json_t *j, struct arena *a)
{
	if (!json_is_object(j))
		return text(j, a);
	if (json_object_get(j, "label"))
		return label(json_object_get(j, "label"), a);
	return text(json_object_get(j, json_object_get(j, "text") ? "text" : "status"), a);
}

static struct netris_ref reference(const json_t *j, struct arena *a)
{
	return (struct netris_ref){.id = netris_id(j),
				   .name = json_is_object(j) ? text(json_object_get(j, "name"), a)
							     : ""};
}

/* Returns a date as Unix milliseconds. Returns a number unchanged, because its unit is unknown.
 * Returns 0 for a value that is neither, or not positive. */
static int64_t moment(const json_t *j)
{
	const char *s = json_string_value(j);
	int64_t n = 0;

	if (number(j, &n))
		return n > 0 ? n : 0;
	return s && str_to_time(s, &n) && n > 0 ? n : 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

enum form { ID, NUMBER, TRUTH, TEXT, LABEL, REF, MOMENT, TEXTS, REFS, PARTS };

struct row {
	/* name: member. inside: name of the nested object that contains the member; NULL: the
	 * element's top level. */
	const char *name, *inside;
	/* Name of the member in other releases; NULL: no other name. */
	const char *other;
	enum form form;
	bool needed;
	size_t offset;
	/* Table of the list's elements if form is PARTS. */
	const struct row *part;
	size_t part_size;
};
#define ROW(type_, member_, name_, form_, ...)                                                     \
	{                                                                                          \
		.name = (name_), .form = (form_), .offset = offsetof(struct type_, member_),       \
		__VA_ARGS__                                                                        \
	}
#define END                                                                                        \
	{                                                                                          \
		.name = NULL                                                                       \
	}
#define NAMED(type_)                                                                               \
	ROW(type_, id, "id", ID, .needed = true), ROW(type_, name, "name", TEXT, .needed = true)

/* Common beginning of every list in the structs of object.h (v, n, said), so that parts() can fill
 * each of these lists. */
struct parts {
	void *v;
	size_t n;
	bool said;
};

static const struct row site_rows[] = {NAMED(netris_site), END};
static const struct row tenant_rows[] = {NAMED(netris_tenant), END};
static const struct row vpc_rows[] = {NAMED(netris_vpc), ROW(netris_vpc, tags, "tags", TEXTS), END};
static const struct row vnet_port_rows[] = {
	ROW(netris_vnet_port, id, "id", ID, .needed = true),
	ROW(netris_vnet_port, name, "name", TEXT),
	ROW(netris_vnet_port, status, "status", LABEL),
	END,
};
static const struct row vnet_server_rows[] = {
	ROW(netris_vnet_server, id, "id", ID, .needed = true),
	ROW(netris_vnet_server, name, "name", TEXT),
	ROW(netris_vnet_server, status, "status", LABEL),
	END,
};
static const struct row gateway_rows[] = {
	ROW(netris_gateway, prefix, "prefix", TEXT),
	ROW(netris_gateway, dhcp, "dhcpEnabled", TRUTH),
	ROW(netris_gateway, dhcp_start, "start", TEXT, .inside = "dhcp"),
	ROW(netris_gateway, dhcp_end, "end", TEXT, .inside = "dhcp"),
	END,
};
static const struct row vnet_rows[] = {
	NAMED(netris_vnet),
	ROW(netris_vnet, type, "type", LABEL),
	ROW(netris_vnet, servers, "servers", PARTS, .other = "members", .part = vnet_server_rows,
	    .part_size = sizeof(struct netris_vnet_server)),
	ROW(netris_vnet, state, "state", LABEL),
	ROW(netris_vnet, status, "status", LABEL),
	ROW(netris_vnet, vpc, "vpc", REF),
	ROW(netris_vnet, ports, "ports", PARTS, .part = vnet_port_rows,
	    .part_size = sizeof(struct netris_vnet_port)),
	ROW(netris_vnet, ports_count, "portsCount", NUMBER),
	ROW(netris_vnet, gateways, "gateways", PARTS, .part = gateway_rows,
	    .part_size = sizeof(struct netris_gateway)),
	END,
};
static const struct row template_vnet_rows[] = {
	ROW(netris_template_vnet, postfix, "postfix", TEXT),
	ROW(netris_template_vnet, type, "type", TEXT),
	ROW(netris_template_vnet, nics, "serverNics", TEXTS),
	END,
};
static const struct row template_rows[] = {
	NAMED(netris_template),
	ROW(netris_template, vnets, "vnets", PARTS, .part = template_vnet_rows,
	    .part_size = sizeof(struct netris_template_vnet)),
	END,
};
static const struct row member_rows[] = {
	ROW(netris_member, id, "id", ID, .needed = true),
	ROW(netris_member, name, "name", TEXT),
	ROW(netris_member, shared, "shared", TRUTH),
	END,
};
static const struct row cluster_rows[] = {
	NAMED(netris_cluster),
	ROW(netris_cluster, status, "status", LABEL),
	ROW(netris_cluster, site, "site", REF),
	ROW(netris_cluster, vpc, "vpc", REF),
	ROW(netris_cluster, admin, "admin", REF),
	ROW(netris_cluster, template_, "srvClusterTemplate", REF),
	ROW(netris_cluster, tags, "tags", TEXTS),
	ROW(netris_cluster, servers, "servers", PARTS, .part = member_rows,
	    .part_size = sizeof(struct netris_member)),
	ROW(netris_cluster, vnets, "vnets", REFS, .inside = "resources"),
	END,
};
static const struct row device_rows[] = {
	NAMED(netris_device),
	ROW(netris_device, type, "type", TEXT),
	ROW(netris_device, health, "health", LABEL),
	ROW(netris_device, status, "status", LABEL),
	ROW(netris_device, site, "site", REF),
	ROW(netris_device, tenant, "tenant", REF),
	ROW(netris_device, last_seen, "lastSeen", MOMENT, .other = "last_seen"),
	END,
};
static const struct row version_rows[] = {
	ROW(netris_version, build, "buildVersion", TEXT),
	END,
};
static const struct row link_rows[] = {
	ROW(netris_link, local, "local", REF),
	ROW(netris_link, remote, "remote", REF),
	END,
};
static const struct row port_rows[] = {
	NAMED(netris_port),
	ROW(netris_port, status, "status", LABEL),
	ROW(netris_port, device, "switch", REF, .other = "hw"),
	ROW(netris_port, admin_down, "adminDown", TRUTH),
	END,
};
static const struct row subnet_rows[] = {
	NAMED(netris_subnet),
	ROW(netris_subnet, prefix, "prefix", TEXT),
	ROW(netris_subnet, purpose, "purpose", TEXT),
	END,
};
static const struct row backend_rows[] = {
	ROW(netris_backend, ip, "ip", TEXT),
	ROW(netris_backend, port, "port", NUMBER),
	ROW(netris_backend, status, "status", LABEL),
	ROW(netris_backend, response, "response", TEXT),
	ROW(netris_backend, maintenance, "maintenance", TRUTH),
	END,
};
static const struct row l4lb_rows[] = {
	NAMED(netris_l4lb),
	ROW(netris_l4lb, ip, "ip", TEXT),
	ROW(netris_l4lb, port, "port", NUMBER),
	ROW(netris_l4lb, protocol, "protocol", TEXT),
	ROW(netris_l4lb, status, "status", TEXT),
	ROW(netris_l4lb, label, "label", LABEL),
	ROW(netris_l4lb, vpc, "vpc", REF),
	ROW(netris_l4lb, backends, "backendIps", PARTS, .part = backend_rows,
	    .part_size = sizeof(struct netris_backend)),
	END,
};

static const struct shape {
	const struct row *rows;
	size_t size;
	/* True: one unreadable element makes the whole reply invalid. */
	bool whole;
} shapes[NETRIS_KINDS] = {
	[NETRIS_VERSION] = {.rows = version_rows, .size = sizeof(struct netris_version)},
	[NETRIS_SITE] = {.rows = site_rows, .size = sizeof(struct netris_site)},
	[NETRIS_TENANT] = {.rows = tenant_rows, .size = sizeof(struct netris_tenant)},
	[NETRIS_VPC] = {.rows = vpc_rows, .size = sizeof(struct netris_vpc)},
	[NETRIS_VNET] = {.rows = vnet_rows, .size = sizeof(struct netris_vnet), .whole = true},
	[NETRIS_TEMPLATE] = {.rows = template_rows, .size = sizeof(struct netris_template)},
	[NETRIS_CLUSTER] = {.rows = cluster_rows,
			    .size = sizeof(struct netris_cluster),
			    .whole = true},
	[NETRIS_SERVER] = {.rows = device_rows, .size = sizeof(struct netris_device)},
	[NETRIS_SWITCH] = {.rows = device_rows, .size = sizeof(struct netris_device)},
	[NETRIS_LINK] = {.rows = link_rows, .size = sizeof(struct netris_link)},
	[NETRIS_PORT] = {.rows = port_rows, .size = sizeof(struct netris_port)},
	[NETRIS_SUBNET] = {.rows = subnet_rows, .size = sizeof(struct netris_subnet)},
	[NETRIS_L4LB] = {.rows = l4lb_rows, .size = sizeof(struct netris_l4lb)},
};

/* --- elements --------------------------------------------------------------------------------- */

static int element(const struct row *rows, const json_t *j, struct arena *a, void *out,
		   struct err *e);

/* Reads a list within an element. A value that is no list counts as not reported. A list that
 * cannot be read completely is an error, because the caller writes lists back: an incomplete list
 * would remove members from the cluster. */
static int parts(const struct row *r, const json_t *j, struct arena *a, struct parts *out,
		 struct err *e)
{
	static const size_t sizes[] = {
		[TEXTS] = sizeof(char *), [REFS] = sizeof(struct netris_ref)};
	size_t n = json_array_size(j), size = r->form == PARTS ? r->part_size : sizes[r->form];

	if (!json_is_array(j))
		return 0;
	if (n > MAX_PARTS)
		return err_set(e, ERR_PROTOCOL, 0, "%s: %zu elements, at most %d are read", r->name,
			       n, MAX_PARTS);
	out->v = arena_calloc(a, n + 1, size);
	out->n = n;
	out->said = true;
	for (size_t i = 0; i < n; i++) {
		void *at = (char *)out->v + i * size;
		const json_t *v = json_array_get(j, i);

		if (r->form == TEXTS)
			*(const char **)at = text(v, a);
		else if (r->form == REFS)
			*(struct netris_ref *)at = reference(v, a);
		else if (element(r->part, v, a, at, e) < 0)
			return err_wrap(e, "%s[%zu]", r->name, i);
	}
	return 0;
}

static int member(const struct row *r, const json_t *j, struct arena *a, void *at, struct err *e)
{
	bool good = true;

	switch (r->form) {
	case ID:
		*(int64_t *)at = netris_id(j);
		good = *(int64_t *)at > 0;
		break;
	case NUMBER:
		if (!number(j, at))
			*(int64_t *)at = -1;
		break;
	case TRUTH:
		*(int *)at = (int)netris_truth(j);
		break;
	case TEXT:
		*(const char **)at = text(j, a);
		good = **(const char **)at;
		break;
	case LABEL:
		*(const char **)at = label(j, a);
		break;
	case REF:
		*(struct netris_ref *)at = reference(j, a);
		good = ((struct netris_ref *)at)->id > 0;
		break;
	case MOMENT:
		*(int64_t *)at = moment(j);
		break;
	case TEXTS:
	case REFS:
	case PARTS:
		return parts(r, j, a, at, e);
	}
	if (r->needed && !good)
		return err_set(e, ERR_PROTOCOL, 0, "no %s", r->name);
	return 0;
}

static int element(const struct row *rows, const json_t *j, struct arena *a, void *out,
		   struct err *e)
{
	if (!json_is_object(j))
		return err_set(e, ERR_PROTOCOL, 0, "not an object");
	for (const struct row *r = rows; r->name; r++) {
		const json_t *in = r->inside ? json_object_get(j, r->inside) : j;
		const json_t *v = json_object_get(in, r->name);

		if (!v && r->other)
			v = json_object_get(in, r->other);
		if (member(r, v, a, (char *)out + r->offset, e) < 0)
			return -1;
	}
	return 0;
}

int netris_decode(enum netris_kind kind, const json_t *data, struct arena *a,
		  struct netris_objects *out, struct err *e)
{
	const struct shape *s = &shapes[kind];
	bool list = json_is_array(data);
	size_t n = list ? json_array_size(data) : 1, read = 0;
	char *v;

	if (n > MAX_ELEMENTS)
		return err_set(e, ERR_PROTOCOL, 0, "%zu elements, at most %d are read", n,
			       MAX_ELEMENTS);
	v = arena_calloc(a, n + 1, s->size);
	for (size_t i = 0; i < n; i++) {
		char *at = v + read * s->size;

		memset(at, 0, s->size);
		if (element(s->rows, list ? json_array_get(data, i) : data, a, at, e) == 0)
			read++;
		else if (/* mutant: netris-half-list */ s->whole || !list)
			return err_wrap(e, "%s %zu", netris_kinds[kind].name, i);
	}
	out->n = read;
	out->any = v;
	return 0;
}
