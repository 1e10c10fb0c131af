#ifndef SIM_NETRIS_IMPL_H
#define SIM_NETRIS_IMPL_H

#include "base/data/json.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/netris.h"

/*
 * netris_impl: what netris.c (inventory, clusters, switches), netris_api.c (requests) and
 * netris_fault.c share; nobody else includes it.
 */
#define NT_NICS 2
/* Beside the NICs: InfiniBand and NVLink, by their managers; in clusters whose template has
 * them. */
#define NT_FABRICS 2
#define NT_LANES (NT_NICS + NT_FABRICS)
#define NT_SITE_ID 1
#define NT_TENANT_ID 1
#define NT_TEMPLATES 4
#define NT_WITH_FABRICS 2 /* the template that has them */
#define NT_OTHER_NICS 3	  /* ... whose NICs no server has */
#define NT_TEMPLATE_ID 11
#define NT_PER_LEAF 32

struct nt_server {
	int64_t id;
	char name[64];
	/* of eth1; eth2 is at the next */
	unsigned leaf;
	bool host;
	/* that it is in, not shared; NULL: none */
	struct nt_cluster *cluster;
	/* of that, by the loop */
	int64_t since;
	/* id of the cluster on the switch, as it says and as it is; 0: none */
	int64_t told[NT_LANES], really[NT_LANES];
};
struct nt_switch {
	/* seen: wall ms */
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
	/* as they were sent */
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
	/* their V-nets; 0: its template has none */
	int64_t fabric[NT_FABRICS];
	/* its V-net has 10.20.NET.0/24 */
	unsigned net;
	unsigned template_;
	char *name;
	json_t *tags;
	/* before: the last change */
	struct nt_member *v, *before;
	size_t n, nbefore;
};
struct nt_fault {
	struct list link;
	/* of the table */
	const char *what;
	char *on, *name;
	int64_t value, count;
	bool for_ever;
};
struct sim_netris {
	struct sim_netris_spec spec;
	char version[32];
	struct loop *loop;
	struct nt_server *servers;
	/* hosts included */
	size_t nservers;
	struct map *by_name;
	struct nt_switch *switches;
	size_t nswitches;
	struct list clusters, vpcs, lbs, faults, replies;
	/* cookie -> struct session of netris_api.c */
	struct map *sessions;
	int64_t next_id;
	/* given so far */
	unsigned nets;
	unsigned logins, changes, requests;
	struct loop_timer beat;
};

/* netris.c */
struct nt_cluster *nt_cluster_of(const struct sim_netris *s, int64_t id);
struct nt_cluster *nt_cluster_new(struct sim_netris *s, const char *name, int64_t vpc,
				  unsigned template_, const json_t *tags);
void nt_cluster_free(struct sim_netris *s, struct nt_cluster *c);
struct nt_vpc *nt_vpc_new(struct sim_netris *s, const char *name, const json_t *tags);
void nt_vpc_free(struct nt_vpc *v);
/* The whole list.  NULL: taken; else why not. */
const char *nt_members_set(struct sim_netris *s, struct nt_cluster *c, const json_t *servers);
bool nt_is_active(const struct sim_netris *s, const struct nt_cluster *c);
/* Is this server in the V-net of this cluster, as the controller shows it? */
bool nt_is_shown(const struct sim_netris *s, const struct nt_server *v, const struct nt_cluster *c);
struct nt_fabric {
	const char *nic, *manager, *postfix, *type;
};
extern const struct nt_fabric nt_fabrics[NT_FABRICS];
extern const char *const nt_template_names[NT_TEMPLATES];

/* netris_lb.c */
void nt_lb_free(struct nt_lb *b);
void nt_lb_routes(struct sim_netris *s, struct httpd *d);
bool nt_lb_needs(const struct sim_netris *s, int64_t vpc);

/* netris_api.c: as all requests are answered; false: it was. */
bool nt_admitted(struct sim_netris *s, struct httpd_req *q);
/* NULL: it was answered */
json_t *nt_body(struct sim_netris *s, struct httpd_req *q);
/* data: taken.  message: NULL: it went well. */
void nt_reply(struct sim_netris *s, struct httpd_req *q, int status, json_t *data,
	      const char *message);
int64_t nt_asked_id(const struct httpd_req *q);
/* netris_json.c: the form of this answer: bit 0 numbers as strings, bit 1 words for truth, bit 2
 * short lists. */
unsigned nt_form(const struct sim_netris *s);
/* in the form of this answer */
json_t *nt_number(const struct sim_netris *s, int64_t n);
json_t *nt_truth(const struct sim_netris *s, bool is);
json_t *nt_ref(const struct sim_netris *s, int64_t id, const char *name);
/* What there is, as the controller's answers have it; the caller owns the result.
 * short_: as its lists have it. */
json_t *nt_vpc_json(const struct sim_netris *s, const struct nt_vpc *v);
json_t *nt_templates_json(const struct sim_netris *s);
/* stale: as it was before the last change. */
json_t *nt_cluster_json(struct sim_netris *s, const struct nt_cluster *c, bool stale, bool short_);
json_t *nt_fabric_json(struct sim_netris *s, const struct nt_cluster *c, int f, bool short_);
json_t *nt_vnet_json(struct sim_netris *s, const struct nt_cluster *c, bool short_);
json_t *nt_server_json(const struct sim_netris *s, const struct nt_server *v);
json_t *nt_switch_json(const struct sim_netris *s, const struct nt_switch *w);
json_t *nt_links_json(const struct sim_netris *s);
json_t *nt_ports_json(const struct sim_netris *s);
json_t *nt_subnets_json(const struct sim_netris *s);

/* netris_fault.c */
/* The first of these faults that strikes this request, counted; NULL: none. */
struct nt_fault *nt_strikes(struct sim_netris *s, const char *what, const char *method,
			    const char *path);
bool nt_stands(const struct sim_netris *s, const char *what, const char *name);

#endif
