#ifndef SIM_NETRIS_NETRIS_IMPL_H
#define SIM_NETRIS_NETRIS_IMPL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/common/fault.h"
#include "sim/common/reply.h"
#include "sim/netris/netris.h"

/*
 * netris_impl: shared by netris.c (inventory, clusters, switches), api.c (requests),
 * fault.c, json.c, lb.c and session.c; not included elsewhere.
 */
#define NT_NICS 2
/* Number of fabrics: InfiniBand and NVLink. Their fabric managers move servers, and only clusters
 * whose template includes the fabrics use them. */
#define NT_FABRICS 2
#define NT_LANES (NT_NICS + NT_FABRICS)
#define NT_SITE_ID 1
#define NT_TENANT_ID 1
#define NT_TEMPLATES 4
#define NT_WITH_FABRICS 2 /* Index of the template gpu-fabrics. */
#define NT_OTHER_NICS 3	  /* Index of the template other-nics, whose NICs no server has. */
#define NT_TEMPLATE_ID 11
#define NT_PER_LEAF 32

struct nt_server {
	int64_t id;
	char name[64];
	/* Index of the leaf switch to which eth1 is connected; eth2 is connected to the switch with
	 * the next index. */
	unsigned leaf;
	bool host;
	/* Cluster that contains the server as an unshared member; NULL: none. */
	struct nt_cluster *cluster;
	/* Loop time of the last change of `cluster`. */
	int64_t since;
	/* Id of the server's cluster for each lane (NIC or fabric), as the switch reports it (told)
	 * and as it really forwards (really); 0: none. */
	int64_t told[NT_LANES], really[NT_LANES];
};
struct nt_switch {
	/* seen: wall ms of the last heartbeat. */
	int64_t id, seen;
	char name[16];
};
struct nt_vpc {
	struct list link;
	int64_t id;
	char *name;
	json_t *tags;
};
struct nt_lb {
	struct list link;
	int64_t id, site, vpc, port;
	char *name, *ip;
	bool enabled;
	/* Backends in the form in which the last request had them. */
	json_t *backends;
};
struct nt_member {
	struct nt_server *server;
	bool shared;
};
#define NT_NETS 250
struct nt_cluster {
	struct list link;
	int64_t id, vpc, vnet;
	/* Ids of the V-nets of InfiniBand and NVLink; 0: the template has none. */
	int64_t fabric[NT_FABRICS];
	/* Number NET of the V-net's subnet 10.20.NET.0/24. */
	unsigned net;
	unsigned template_;
	char *name;
	json_t *tags;
	/* v: members. before: members before the last change. */
	struct nt_member *v, *before;
	size_t n, nbefore;
};
struct sim_netris {
	struct sim_netris_spec spec;
	char version[32];
	struct loop *loop;
	struct nt_server *servers;
	/* Number of servers, including hosts. */
	size_t nservers;
	struct map *by_name;
	struct nt_switch *switches;
	size_t nswitches;
	struct list clusters, vpcs, lbs, faults;
	struct sim_delays delays;
	/* Map from cookie to struct session of session.c. */
	struct map *sessions;
	int64_t next_id;
	/* Number of subnets that were assigned so far. */
	unsigned nets;
	unsigned logins, changes, requests;
	struct loop_timer beat;
};

/* netris.c */
struct nt_cluster *nt_cluster_of(const struct sim_netris *s, int64_t id);
struct nt_cluster *nt_cluster_new(struct sim_netris *s, const char *name, int64_t vpc,
				  unsigned template_, const json_t *tags);
void nt_cluster_free(struct sim_netris *s, struct nt_cluster *c);
void nt_lb_free(struct nt_lb *b);
struct nt_vpc *nt_vpc_new(struct sim_netris *s, const char *name, const json_t *tags);
void nt_vpc_free(struct nt_vpc *v);
/* Replaces the members of c by those in `servers`. Returns NULL if they are accepted, otherwise the
 * reason for refusal. */
const char *nt_members_set(struct sim_netris *s, struct nt_cluster *c, const json_t *servers);
bool nt_is_active(const struct sim_netris *s, const struct nt_cluster *c);
/* True if the controller shows the server's ports in the V-net of the cluster. */
bool nt_is_shown(const struct sim_netris *s, const struct nt_server *v, const struct nt_cluster *c);
struct nt_fabric {
	const char *nic, *manager, *postfix, *type;
};
extern const struct nt_fabric nt_fabrics[NT_FABRICS];
extern const char *const nt_template_names[NT_TEMPLATES];

/* lb.c */
void nt_lb_routes(struct sim_netris *s, struct httpd *d);
bool nt_lb_needs(const struct sim_netris *s, int64_t vpc);

/* session.c. Checks the login and applies the faults of requests. False: the request was
 * answered. */
bool nt_admitted(struct sim_netris *s, struct httpd_req *q);
/* Returns the request body, which the caller owns; NULL: the request was answered. */
json_t *nt_body(struct sim_netris *s, struct httpd_req *q);
/* Answers the request with data, of which it takes ownership. message: error text; NULL:
 * success. */
void nt_reply(struct sim_netris *s, struct httpd_req *q, int status, json_t *data,
	      const char *message);
/* Answers the request with this text, as the faults of answers require. */
void nt_reply_text(struct sim_netris *s, struct httpd_req *q, int status, const char *text);
int64_t nt_asked_id(const struct httpd_req *q);
/* Handles a login. */
void nt_on_auth(struct httpd_req *q, void *arg);

/* json.c. Returns the form of the present answer: bit 0 numbers as strings, bit 1 words for
 * booleans, bit 2 short lists. */
unsigned nt_form(const struct sim_netris *s);
/* nt_number(), nt_truth() and nt_ref() return a value in the form of the present answer
 * (nt_form()). */
json_t *nt_number(const struct sim_netris *s, int64_t n);
json_t *nt_truth(const struct sim_netris *s, bool is);
json_t *nt_ref(const struct sim_netris *s, int64_t id, const char *name);
/* nt_*_json() return parts of the network in the form of the controller's answers; the caller owns
 * the result. short_: omits the members that lists omit. stale: returns the state before the last
 * change. */
json_t *nt_vpc_json(const struct sim_netris *s, const struct nt_vpc *v);
json_t *nt_templates_json(const struct sim_netris *s);
json_t *nt_cluster_json(struct sim_netris *s, const struct nt_cluster *c, bool stale, bool short_);
json_t *nt_fabric_json(struct sim_netris *s, const struct nt_cluster *c, int f, bool short_);
json_t *nt_vnet_json(struct sim_netris *s, const struct nt_cluster *c, bool short_);
json_t *nt_server_json(const struct sim_netris *s, const struct nt_server *v);
json_t *nt_switch_json(const struct sim_netris *s, const struct nt_switch *w);
json_t *nt_links_json(const struct sim_netris *s);
json_t *nt_ports_json(const struct sim_netris *s);
json_t *nt_subnets_json(const struct sim_netris *s);

/* fault.c. nt_strikes() returns the first fault that applies to the request and counts it
 * down; NULL: none. nt_stands() returns true if a fault is active for `name`, without counting it
 * down. */
struct fault *nt_strikes(struct sim_netris *s, const char *what, const char *method,
			 const char *path);
bool nt_stands(const struct sim_netris *s, const char *what, const char *name);

#endif
