#include "providers/netris_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/address.h"
#include "netris/netris.h"
#include "netris/release.h"
#include "providers/netris_api_path.h"

/*
 * netris_check: reads all lists of the controller, judges them, and then waits for reports of the
 * switches.
 *
 *   all lists at once --> judged --> switches, every 2 s --> done
 */
#define LOOK_MS 2000
#define NICS_MAX 64
#define VNETS_MAX 16 /* Maximum number of V-nets of one tenant that are checked. */

static const enum netris_kind looked_at[] = {
	NETRIS_SITE,   NETRIS_TENANT, NETRIS_TEMPLATE, NETRIS_VPC,  NETRIS_CLUSTER, NETRIS_VNET,
	NETRIS_SERVER, NETRIS_LINK,   NETRIS_SWITCH,   NETRIS_L4LB, NETRIS_SUBNET};
#define LISTS (sizeof(looked_at) / sizeof(*looked_at))

/* A switch to which a machine is linked. */
struct used {
	/* lastSeen of the switch in the first read */
	int64_t first;
	bool heard;
};

struct netris_check {
	struct netris_check_spec s;
	struct netris *n;
	struct check_read {
		struct netris_check *c;
		struct netris_request *q;
		enum netris_kind kind;
	} reads[LISTS];
	struct netris_objects o[NETRIS_KINDS];
	/* Switches that serve a machine. Key: name; value: struct used */
	struct map *used;
	/* Request for the release of the controller; NULL: not in flight */
	struct netris_request *asked;
	json_t *findings;
	unsigned wrong;
	struct loop_timer look;
	int64_t until;
};

/* --- findings --------------------------------------------------------------------------------- */

static void add(struct netris_check *c, const char *result, const char *mend, const char *of,
		const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));
static void add(struct netris_check *c, const char *result, const char *mend, const char *of,
		const char *fmt, va_list ap)
{
	char says[400];

	(void)vsnprintf(says, sizeof(says), fmt, ap);
	str_clean(says);
	json_array_append_new(c->findings, json_pack("{s:s, s:s, s:s, s:s*}", "of", of, "result",
						     result, "says", says, "mend", mend));
}

static void good(struct netris_check *c, const char *of, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void good(struct netris_check *c, const char *of, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(c, "ok", NULL, of, fmt, ap);
	va_end(ap);
}

static void note(struct netris_check *c, const char *of, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void note(struct netris_check *c, const char *of, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(c, "note", NULL, of, fmt, ap);
	va_end(ap);
}

static void wrong(struct netris_check *c, const char *of, const char *mend, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void wrong(struct netris_check *c, const char *of, const char *mend, const char *fmt, ...)
{
	va_list ap;

	c->wrong++;
	va_start(ap, fmt);
	add(c, "wrong", mend, of, fmt, ap);
	va_end(ap);
}

static void end(struct netris_check *c)
{
	c->s.done(c->findings, c->wrong, c->s.arg);
}

/* --- lookup by name --------------------------------------------------------------------------- */

static const struct netris_template *template_of(const struct netris_check *c, const char *name)
{
	const struct netris_objects *o = &c->o[NETRIS_TEMPLATE];

	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->template_[i].name, name))
			return &o->template_[i];
	return NULL;
}

static const struct netris_cluster *cluster_of(const struct netris_check *c, const char *name)
{
	const struct netris_objects *o = &c->o[NETRIS_CLUSTER];

	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->cluster[i].name, name))
			return &o->cluster[i];
	return NULL;
}

static const struct netris_device *server_of(const struct netris_check *c, const char *name)
{
	const struct netris_objects *o = &c->o[NETRIS_SERVER];

	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->device[i].name, name))
			return &o->device[i];
	return NULL;
}

static bool vnet_there(const struct netris_check *c, const char *name)
{
	const struct netris_objects *o = &c->o[NETRIS_VNET];

	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->vnet[i].name, name))
			return true;
	return false;
}

static bool site_there(const struct netris_check *c)
{
	const struct netris_objects *o = &c->o[NETRIS_SITE];

	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->site[i].name, c->s.netris->site))
			return true;
	return false;
}

static bool admin_there(const struct netris_check *c)
{
	const struct netris_objects *o = &c->o[NETRIS_TENANT];

	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->tenant[i].name, c->s.netris->admin))
			return true;
	return false;
}

/* --- the installation ------------------------------------------------------------------------- */

static void check_names(struct netris_check *c)
{
	const struct fabric_netris *n = c->s.netris;

	if (site_there(c))
		good(c, "site", "%.80s exists", n->site);
	else
		wrong(c, "site", "correct spec.network.netris.site, or let the user see that site",
		      "Netris shows this user no site %.80s", n->site);
	if (admin_there(c))
		good(c, "tenant of Netris", "%.80s exists", n->admin);
	else
		wrong(c, "tenant of Netris",
		      "set spec.network.netris.admin to the tenant that owns the servers and that "
		      "the user belongs to",
		      "Netris shows this user no tenant %.80s", n->admin);
	for (size_t i = 0; n->host_servers && n->host_servers[i]; i++)
		if (server_of(c, n->host_servers[i]))
			good(c, "host server", "%.80s exists", n->host_servers[i]);
		else
			wrong(c, "host server",
			      "correct spec.network.netris.hostServers, or add the server to the "
			      "inventory of Netris",
			      "Netris has no server %.80s", n->host_servers[i]);
	for (size_t i = 0; n->common_vnets && n->common_vnets[i]; i++)
		if (vnet_there(c, n->common_vnets[i]))
			good(c, "common V-net", "%.80s exists", n->common_vnets[i]);
		else
			wrong(c, "common V-net", "correct spec.network.netris.commonVnets",
			      "Netris has no V-net %.80s", n->common_vnets[i]);
}

static void check_template(struct netris_check *c)
{
	const struct netris_template *t = template_of(c, c->s.netris->template_);

	if (!t) {
		wrong(c, "template",
		      "correct spec.network.netris.template, or create that server-cluster "
		      "template",
		      "Netris has no server-cluster template %.80s", c->s.netris->template_);
		return;
	}
	good(c, "template", "%.80s exists, with %zu V-nets", t->name, t->vnets.n);
	for (size_t i = 0; i < t->vnets.n; i++)
		if (netris_fabric_of(t->vnets.v[i].type) != NETRIS_ETHERNET)
			good(c, "template",
			     "V-net %.60s is an %s fabric: the membership of each machine is "
			     "proved there too",
			     t->vnets.v[i].postfix,
			     netris_fabric_names[netris_fabric_of(t->vnets.v[i].type)]);
		else if (str_starts(t->vnets.v[i].type, "netris-"))
			wrong(c, "template",
			      "remove that V-net from the template: this version of drover cannot "
			      "prove who is in it",
			      "V-net %.60s is of type %.40s", t->vnets.v[i].postfix,
			      t->vnets.v[i].type);
}

static void check_segment(struct netris_check *c, const char *field, const char *name)
{
	const struct netris_cluster *k = cluster_of(c, name);
	char of[64];

	str_format(of, sizeof(of), "segment %s", field);
	if (!k) {
		wrong(c, of,
		      "create a server cluster of that name from a template whose V-net isolates "
		      "its servers from each other",
		      "Netris has no server cluster %.80s", name);
		return;
	}
	if (*k->site.name && !str_eq(k->site.name, c->s.netris->site))
		wrong(c, of, "create the server cluster at the site of the Provider",
		      "server cluster %.60s is at site %.60s", name, k->site.name);
	else if (str_eq(k->template_.name, c->s.netris->template_))
		wrong(c, of,
		      "create the server cluster from a separate template whose V-net isolates "
		      "its servers: with the tenants' template the servers reach each other",
		      "server cluster %.60s was created from %.60s, the template for tenants", name,
		      k->template_.name);
	else if (!str_eq(k->status, "Active"))
		wrong(c, of,
		      "check the server cluster in Netris: drover cannot prove that a machine is "
		      "in it until it is Active",
		      "server cluster %.60s is \"%.40s\"", name, k->status);
	else
		good(c, of, "server cluster %.60s is Active", name);
}

/* Reports a release that does not return the `shared` flag of servers, because drover would never
 * write back a list without that flag. A cluster whose members are missing from this list is not
 * checked: drover will read its members with a request for the single cluster. */
static void check_members(struct netris_check *c)
{
	const struct netris_objects *o = &c->o[NETRIS_CLUSTER];

	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->cluster[i].servers.n; k++)
			if (o->cluster[i].servers.v[k].shared == NETRIS_UNSAID) {
				wrong(c, "release",
				      "use another release of Netris: drover does not write a "
				      "server list whose shared servers it does not know",
				      "Netris does not report which servers of server cluster "
				      "%.60s are shared",
				      o->cluster[i].name);
				return;
			}
}

static void check_tenants(struct netris_check *c)
{
	for (size_t i = 0; c->s.tenants && c->s.tenants[i]; i++) {
		char name[320], of[128];
		const struct netris_cluster *k;

		str_format(name, sizeof(name), "%s-%s", c->s.netris->prefix, c->s.tenants[i]);
		str_format(of, sizeof(of), "tenant %.100s", c->s.tenants[i]);
		k = cluster_of(c, name);
		if (!k)
			note(c, of,
			     "server cluster %.100s does not exist yet; drover creates it for the "
			     "first machine",
			     name);
		else if (!str_eq(k->status, "Active"))
			wrong(c, of,
			      "check the server cluster in Netris: drover cannot prove that a "
			      "machine is in it until it is Active",
			      "server cluster %.60s is \"%.40s\"", name, k->status);
		else
			good(c, of, "server cluster %.60s is Active, with %zu servers", name,
			     k->servers.n);
	}
}

/* --- probe addresses -------------------------------------------------------------------------- */

static const struct netris_vnet *vnet_of(const struct netris_check *c, int64_t id)
{
	const struct netris_objects *o = &c->o[NETRIS_VNET];

	for (size_t i = 0; i < o->n; i++)
		if (o->vnet[i].id == id)
			return &o->vnet[i];
	return NULL;
}

/* Sets s->prefixes to the networks of the V-nets of the segment's cluster, as far as the
 * controller's lists contain these V-nets. */
static void find_prefixes(const struct netris_check *c, struct probe_check_segment *s,
			  struct arena *a)
{
	const struct netris_cluster *k = s->cluster ? cluster_of(c, s->cluster) : NULL;
	size_t n = 0;
	const char **v;

	for (size_t i = 0; k && i < k->vnets.n; i++) {
		const struct netris_vnet *net = vnet_of(c, k->vnets.v[i].id);

		n += net ? net->gateways.n : 0;
	}
	v = arena_calloc(a, n + 1, sizeof(*v));
	for (size_t i = 0; k && i < k->vnets.n; i++) {
		const struct netris_vnet *net = vnet_of(c, k->vnets.v[i].id);

		for (size_t g = 0; net && g < net->gateways.n; g++)
			if (*net->gateways.v[g].prefix)
				v[s->nprefixes++] = net->gateways.v[g].prefix;
	}
	s->prefixes = v;
}

static void on_probe(const char *of, const char *result, const char *says, const char *mend,
		     void *arg)
{
	struct netris_check *c = arg;

	c->wrong += str_eq(result, "wrong");
	json_array_append_new(c->findings, json_pack("{s:s, s:s, s:s, s:s*}", "of", of, "result",
						     result, "says", says, "mend", mend));
}

static void check_probes(struct netris_check *c)
{
	OWN(arena) a = arena_new();
	struct probe_check_segment *v = arena_calloc(a, c->s.nprobes + 1, sizeof(*v));

	for (size_t i = 0; i < c->s.nprobes; i++) {
		v[i] = c->s.probes[i];
		find_prefixes(c, &v[i], a);
		if (v[i].cluster && cluster_of(c, v[i].cluster) && !v[i].nprefixes)
			note(c, "probe",
			     "Netris shows no network of %.100s: probe addresses are not compared "
			     "with it",
			     v[i].name);
	}
	probe_check(v, c->s.nprobes, on_probe, c);
}

/* --- paths to API servers --------------------------------------------------------------------- */

static void report_api_path(struct netris_check *c, const char *of,
			    const struct fabric_api_path_state *seen)
{
	if (!seen->up)
		wrong(c, of,
		      "see docs/network.md, section \"The way to the API server\", for this "
		      "reason and its remedy",
		      "%s: %.250s", seen->reason, seen->why);
	else if (str_eq(seen->reason, "Degraded") || str_eq(seen->reason, "VIPUnchecked"))
		note(c, of, "%s: %.250s", seen->reason, seen->why);
	else
		good(c, of, "%.250s", seen->why);
}

static void check_balancer(struct netris_check *c, const char *of, const char *cluster,
			   const struct netris_check_api_path *w)
{
	const struct netris_cluster *k = cluster_of(c, cluster);
	const struct netris_objects *o = &c->o[NETRIS_L4LB];
	char name[NETRIS_API_PATH_NAME], why[NETRIS_API_PATH_WHY], host[ADDRESS_TEXT] = "";
	struct fabric_api_path_state seen;

	netris_api_path_name(name, cluster, w->path.uid);
	for (size_t i = 0; i < o->n; i++)
		if (str_eq(o->l4lb[i].name, name)) {
			netris_judge_lb(&o->l4lb[i], k ? k->vpc.id : 0, &w->path, &seen, why);
			report_api_path(c, of, &seen);
			return;
		}
	if (w->path.address)
		(void)address_host(w->path.address, host);
	if (!netris_judge_lb_subnets(c->o[NETRIS_SUBNET].subnet, c->o[NETRIS_SUBNET].n,
				     w->path.address ? host : NULL, why))
		wrong(c, of,
		      "create a subnet with purpose load-balancer in IPAM, at this site and in "
		      "the VPC of the tenant, or set a different address in spec.network.apiServer",
		      "%.250s", why);
	else
		note(c, of, "load balancer %.120s does not exist yet; drover creates it", name);
}

/* Judges a virtual IP address from the tenant's cluster and the V-nets of that cluster, as far as
 * the controller's lists contain them. */
static void check_vip(struct netris_check *c, const char *of, const char *cluster,
		      const struct netris_check_api_path *w)
{
	const struct netris_cluster *k = cluster_of(c, cluster);
	const struct netris_objects *o = &c->o[NETRIS_VNET];
	struct netris_vnet vnets[VNETS_MAX];
	char why[NETRIS_API_PATH_WHY], host[ADDRESS_TEXT];
	struct fabric_api_path_state seen;
	size_t n = 0;

	if (!k || !k->servers.said || !k->vnets.said) {
		note(c, of,
		     k ? "the list of server clusters does not contain the members of %.80s"
		       : "server cluster %.80s does not exist yet; drover creates it",
		     cluster);
		return;
	}
	for (size_t i = 0; i < k->vnets.n; i++)
		for (size_t v = 0; v < o->n && n < VNETS_MAX; v++)
			if (o->vnet[v].id == k->vnets.v[i].id)
				vnets[n++] = o->vnet[v];
	(void)address_host(w->path.address, host);
	netris_judge_vip(k, vnets, n, host, &seen, why);
	report_api_path(c, of, &seen);
}

static void check_api_paths(struct netris_check *c)
{
	for (size_t i = 0; i < c->s.npaths; i++) {
		const struct netris_check_api_path *w = &c->s.paths[i];
		char name[320], of[128];

		str_format(name, sizeof(name), "%s-%s", c->s.netris->prefix, w->tenant);
		str_format(of, sizeof(of), "API server of tenant %.90s", w->tenant);
		if (w->path.via == FABRIC_VIA_L4LB)
			check_balancer(c, of, name, w);
		else
			check_vip(c, of, name, w);
	}
}

/* --- machines --------------------------------------------------------------------------------- */

struct nics {
	char names[NICS_MAX][32];
	size_t n;
	/* True: at least one link of the server does not end at a switch port. */
	bool dark;
};

/* Adds a link such as "eth1@gpu-1" of this server to nics, and the switch at its far end to
 * c->used. */
static void take_link(struct netris_check *c, const char *server, const struct netris_ref *near,
		      const struct netris_ref *far, struct nics *nics)
{
	const char *at = strrchr(near->name, '@'), *to = strrchr(far->name, '@');
	struct used *u;

	if (!at || !str_eq(at + 1, server) || nics->n == NICS_MAX)
		return;
	str_format(nics->names[nics->n++], sizeof(nics->names[0]), "%.*s",
		   (int)(at - near->name < 31 ? at - near->name : 31), near->name);
	if (!to || !to[1] || !far->id) {
		nics->dark = true;
		return;
	}
	if (map_has(c->used, to + 1))
		return;
	u = mem_new(struct used);
	u->first = -1;
	map_put(c->used, to + 1, u);
}

static bool has_nic(const struct nics *nics, const char *name)
{
	for (size_t i = 0; i < nics->n; i++)
		if (str_eq(nics->names[i], name))
			return true;
	return false;
}

/* Returns the first network interface that the template names and the server does not have; NULL:
 * none. */
static const char *missing_nic(const struct netris_check *c, const struct nics *nics)
{
	const struct netris_template *t = template_of(c, c->s.netris->template_);

	for (size_t i = 0; t && i < t->vnets.n; i++)
		for (size_t k = 0; k < t->vnets.v[i].nics.n; k++)
			if (!has_nic(nics, t->vnets.v[i].nics.v[k]))
				return t->vnets.v[i].nics.v[k];
	return NULL;
}

static void check_machine(struct netris_check *c, const char *name)
{
	const struct netris_device *d = server_of(c, name);
	const struct netris_objects *links = &c->o[NETRIS_LINK];
	struct nics nics = {0};
	const char *missing;
	char of[128];

	str_format(of, sizeof(of), "machine %.100s", name);
	if (!d) {
		wrong(c, of,
		      "add the server to the inventory of Netris under the name of the Machine",
		      "Netris has no server %.80s", name);
		return;
	}
	for (size_t i = 0; i < links->n; i++) {
		take_link(c, name, &links->link[i].local, &links->link[i].remote, &nics);
		take_link(c, name, &links->link[i].remote, &links->link[i].local, &nics);
	}
	missing = missing_nic(c, &nics);
	if (*d->site.name && !str_eq(d->site.name, c->s.netris->site))
		wrong(c, of, "assign the Machine to the Provider of that site",
		      "the server is at site %.80s", d->site.name);
	else if (*d->tenant.name && !str_eq(d->tenant.name, c->s.netris->admin))
		wrong(c, of, "make the tenant in spec.network.netris.admin the owner of the server",
		      "the server belongs to tenant %.80s", d->tenant.name);
	else if (!nics.n)
		wrong(c, of, "create links from the NICs of the server to the switches",
		      "Netris has no link of this server, so its switch ports are unknown");
	else if (nics.dark)
		wrong(c, of,
		      "create the links of the server again: \"NIC@SERVER\" to \"PORT@SWITCH\"",
		      "a link of this server contains no switch port at its other end");
	else if (missing)
		wrong(c, of,
		      "add a link for that NIC, or use a different template: every server of a "
		      "cluster must have the NICs of its template",
		      "the template wants NIC %.40s, which this server does not have", missing);
	else
		good(c, of, "server %lld with %zu links", (long long)d->id, nics.n);
}

/* --- switches --------------------------------------------------------------------------------- */

static bool all_heard(const struct netris_check *c)
{
	struct map_iter it;

	map_for_each (it, c->used)
		if (!((struct used *)it.value)->heard)
			return false;
	return true;
}

static void see_switches(struct netris_check *c, const struct netris_objects *o)
{
	for (size_t i = 0; i < o->n; i++) {
		struct used *u = map_get(c->used, o->device[i].name);

		if (!u)
			continue;
		if (u->first < 0)
			u->first = o->device[i].last_seen;
		else if (o->device[i].last_seen > u->first)
			u->heard = true;
	}
}

static void judge_switches(struct netris_check *c)
{
	struct map_iter it;

	map_for_each (it, c->used) {
		const struct used *u = it.value;
		char of[128];

		str_format(of, sizeof(of), "switch %.100s", it.key);
		if (u->heard)
			good(c, of, "reported to the controller");
		else if (u->first < 0)
			wrong(c, of,
			      "correct the links to this switch, or add the switch to the "
			      "inventory",
			      "Netris has no switch of this name");
		else if (u->first == 0)
			wrong(c, of,
			      "check that the agent of the switch runs: without lastSeen drover "
			      "cannot prove any move",
			      "Netris reports no lastSeen for this switch");
		else
			wrong(c, of,
			      "check that the agent of the switch runs and reaches the "
			      "controller: until then drover cannot prove moves at this switch",
			      "the switch did not report to the controller for %lld s",
			      (long long)c->s.wait_ms / 1000);
	}
	end(c);
}

static void on_switches(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_check *c = arg;

	c->reads[0].q = NULL;
	if (!e)
		see_switches(c, o);
	if (all_heard(c) || loop_now(loop_of(c->s.group)) >= c->until)
		judge_switches(c);
	else
		loop_timer_start(&c->look, LOOK_MS);
}

static void on_look(void *arg)
{
	struct netris_check *c = arg;
	const struct netris_call call = {.done = on_switches, .arg = c};

	c->reads[0].q = netris_list(c->n, NETRIS_SWITCH, &call);
}

/* --- the whole check -------------------------------------------------------------------------- */

static void judge(struct netris_check *c)
{
	good(c, "login", "as %.64s at %.100s", c->s.netris->user, c->s.netris->url);
	check_names(c);
	check_template(c);
	check_segment(c, "quarantine", c->s.quarantine);
	check_segment(c, "provisioning", c->s.provisioning);
	if (str_eq(c->s.quarantine, c->s.provisioning))
		wrong(c, "segment quarantine", "set two different server clusters",
		      "quarantine and provisioning are the same segment");
	check_members(c);
	check_tenants(c);
	check_probes(c);
	check_api_paths(c);
	for (size_t i = 0; c->s.machines && c->s.machines[i]; i++)
		check_machine(c, c->s.machines[i]);
	see_switches(c, &c->o[NETRIS_SWITCH]);
	c->until = loop_now(loop_of(c->s.group)) + c->s.wait_ms;
	if (map_size(c->used))
		loop_timer_start(&c->look, LOOK_MS);
	else
		end(c);
}

static void stop_reads(struct netris_check *c)
{
	netris_cancel(c->asked);
	c->asked = NULL;
	for (size_t i = 0; i < LISTS; i++) {
		netris_cancel(c->reads[i].q);
		c->reads[i].q = NULL;
	}
}

/* Returns the remedy for a failed request. */
static const char *mend_of(const struct err *e)
{
	if (e->kind == ERR_DENIED && e->code == NETRIS_LOGIN_REFUSED)
		return "correct username and password in the Secret of "
		       "spec.network.netris.credentialsSecretRef";
	if (e->kind == ERR_DENIED)
		return "trust the certificate of the controller in spec.network.netris.tls, or "
		       "grant the user the missing right (docs/providers/netris.md)";
	if (e->kind == ERR_PROTOCOL || e->kind == ERR_NOT_FOUND)
		return "check that spec.network.netris.endpoint is a Netris controller of a "
		       "release listed in docs/providers/netris.md";
	return "check that spec.network.netris.endpoint is reachable from this computer";
}

/* Handles the answer to the last read, that of the controller's release. The check goes on even if
 * the release is not reported. */
static void on_release(struct netris_objects *o, const struct err *e, void *arg)
{
	struct netris_check *c = arg;
	char text[NETRIS_RELEASE_TEXT];

	c->asked = NULL;
	switch (netris_release_of(o ? o->version->build : NULL, text)) {
	case NETRIS_RELEASE_OLD:
		wrong(c, "release", "upgrade the controller", "%s", text);
		break;
	case NETRIS_RELEASE_COVERED:
		good(c, "release", "%s", text);
		break;
	case NETRIS_RELEASE_UNTOLD:
	case NETRIS_RELEASE_TROUBLED:
	case NETRIS_RELEASE_NEW:
		note(c, "release", "%s%s%.120s", text, e ? "; " : "", e ? e->text : "");
		break;
	}
	judge(c);
}

/* Requests the controller's release when all lists have been read. */
static void on_all_read(struct netris_check *c)
{
	for (size_t i = 0; i < LISTS; i++)
		if (c->reads[i].q)
			return;
	c->asked = netris_read(c->n, NETRIS_VERSION,
			       &(struct netris_call){.done = on_release, .arg = c});
}

static void on_list(struct netris_objects *o, const struct err *e, void *arg)
{
	struct check_read *r = arg;
	struct netris_check *c = r->c;

	r->q = NULL;
	if (e && r->kind == NETRIS_SUBNET) {
		/* Ignore an error of the list of subnets: the account may lack the right to read
		 * subnets, which is needed for nothing else. */
		on_all_read(c);
		return;
	}
	if (e) {
		stop_reads(c);
		wrong(c, "controller", mend_of(e), "%s", e->text);
		end(c);
		return;
	}
	c->o[r->kind] = *o;
	o->arena = NULL;
	on_all_read(c);
}

struct netris_check *netris_check_new(const struct netris_check_spec *s, struct err *e)
{
	const struct fabric_netris *f = s->netris;
	struct netris_spec spec = {.group = s->group,
				   .http = f->http,
				   .url = f->url,
				   .user = f->user,
				   .password = f->password,
				   .ca_pem = f->ca_pem,
				   .pin_sha256 = f->pin_sha256,
				   .plain_ok = f->plain_ok};
	struct netris *n = netris_new(&spec, e);
	struct netris_check *c;

	if (!n)
		return NULL;
	c = mem_new(struct netris_check);
	c->s = *s;
	c->n = n;
	c->used = map_new(free);
	c->findings = json_array();
	loop_timer_init(&c->look, s->group, on_look, c);
	for (size_t i = 0; i < LISTS; i++) {
		struct check_read *r = &c->reads[i];
		const struct netris_call call = {.done = on_list, .arg = r};

		*r = (struct check_read){c, NULL, looked_at[i]};
		r->q = netris_list(n, r->kind, &call);
	}
	return c;
}

void netris_check_free(struct netris_check *c)
{
	if (!c)
		return;
	stop_reads(c);
	loop_timer_stop(&c->look);
	for (size_t i = 0; i < NETRIS_KINDS; i++)
		arena_free(c->o[i].arena);
	netris_free(c->n);
	map_free(c->used);
	json_decref(c->findings);
	free(c);
}
