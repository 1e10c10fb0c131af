#include "sim/netris/netris.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/netris/netris_impl.h"

/*
 * Inventory, server clusters and switches. A change of a server cluster takes effect in two steps:
 *
 *   PUT -- plan_ms --> V-nets show the change -- heartbeat of the switch --> the port moves, and
 *   lastSeen is updated
 *
 * Tests: tests/unit/sim/netris/test_netris.c, tests/contract/test_fabric.c
 */
#define HOSTS 2
#define BEAT_MS 2000
#define FIRST_ID 20000000
#define MEMBERS_MAX 16384

const char *const nt_template_names[NT_TEMPLATES] = {"gpu-tenant", "isolated", "gpu-fabrics",
						     "other-nics"};
const struct nt_fabric nt_fabrics[NT_FABRICS] = {
	{"ib1", "ufm-1", "ib", "netris-ufm"},
	{"nvl1", "nmx-1", "nvl", "netris-nvlink"},
};

static struct nt_server *server_of(const struct sim_netris *s, int64_t id)
{
	return id >= 1000 && id < 1000 + (int64_t)s->nservers ? &s->servers[id - 1000] : NULL;
}

struct nt_cluster *nt_cluster_of(const struct sim_netris *s, int64_t id)
{
	list_for_each (c, &s->clusters, struct nt_cluster, link)
		if (c->id == id)
			return c;
	return NULL;
}

struct nt_vpc *nt_vpc_new(struct sim_netris *s, const char *name, const json_t *tags)
{
	struct nt_vpc *v = mem_new(struct nt_vpc);

	v->id = s->next_id++;
	v->name = mem_strdup(name);
	v->tags = tags ? json_deep_copy(tags) : json_array();
	list_push_back(&s->vpcs, &v->link);
	return v;
}

void nt_vpc_free(struct nt_vpc *v)
{
	list_remove(&v->link);
	json_decref(v->tags);
	free(v->name);
	free(v);
}

void nt_lb_free(struct nt_lb *b)
{
	list_remove(&b->link);
	json_decref(b->backends);
	free(b->name);
	free(b->ip);
	free(b);
}

struct nt_cluster *nt_cluster_new(struct sim_netris *s, const char *name, int64_t vpc,
				  unsigned template_, const json_t *tags)
{
	struct nt_cluster *c = mem_new(struct nt_cluster);

	c->id = s->next_id++;
	c->vnet = s->next_id++;
	/* Assigns the last subnets to the two initial clusters, so that the first tenant gets the
	 * first subnet. */
	c->net = (s->nets++ + NT_NETS - 2) % NT_NETS;
	c->vpc = vpc;
	for (int f = 0; f < NT_FABRICS && template_ == NT_WITH_FABRICS; f++)
		c->fabric[f] = s->next_id++;
	c->template_ = template_;
	c->name = mem_strdup(name);
	c->tags = tags ? json_deep_copy(tags) : json_array();
	list_push_back(&s->clusters, &c->link);
	return c;
}

void nt_cluster_free(struct sim_netris *s, struct nt_cluster *c)
{
	for (size_t i = 0; i < s->nservers; i++)
		if (s->servers[i].cluster == c) {
			s->servers[i].cluster = NULL;
			s->servers[i].since = loop_now(s->loop);
		}
	list_remove(&c->link);
	json_decref(c->tags);
	free(c->name);
	free(c->v);
	free(c->before);
	free(c);
}

const char *nt_members_set(struct sim_netris *s, struct nt_cluster *c, const json_t *servers)
{
	size_t n = json_array_size(servers);
	struct nt_member *v;

	if (!json_is_array(servers) || n > MEMBERS_MAX)
		return "servers: want a list";
	v = mem_calloc(n + 1, sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		const json_t *j = json_array_get(servers, i);
		struct nt_server *at = server_of(s, json_int_at(j, "id"));

		v[i] = (struct nt_member){at, json_true_at(j, "shared")};
		if (!at || (!v[i].shared && at->cluster && at->cluster != c)) {
			free(v);
			return at ? "a server is in another server cluster" : "no such server";
		}
	}
	free(c->before);
	c->before = c->v;
	c->nbefore = c->n;
	c->v = v;
	c->n = n;
	for (size_t i = 0; i < s->nservers; i++) {
		struct nt_server *at = &s->servers[i];
		bool in = false;

		for (size_t k = 0; k < n && !in; k++)
			in = v[k].server == at && !v[k].shared;
		if (in == (at->cluster == c))
			continue;
		at->cluster = in ? c : NULL;
		at->since = loop_now(s->loop);
	}
	return NULL;
}

static bool is_planned(const struct sim_netris *s, const struct nt_server *v)
{
	return loop_now(s->loop) >= v->since + s->spec.plan_ms;
}

/* Until a change is planned (plan_ms), the controller shows the cluster that the switches reported
 * last. */
bool nt_is_shown(const struct sim_netris *s, const struct nt_server *v, const struct nt_cluster *c)
{
	return is_planned(s, v) ? v->cluster == c : v->told[0] == c->id;
}

/* Returns the id of the cluster to which the server's lane (NIC or fabric) must move; 0: none. */
static int64_t wanted_in(const struct nt_server *v, unsigned lane)
{
	const struct nt_cluster *c = v->cluster;

	if (!c || (lane < NT_NICS ? c->template_ == NT_OTHER_NICS : !c->fabric[lane - NT_NICS]))
		return 0;
	return c->id;
}

bool nt_is_active(const struct sim_netris *s, const struct nt_cluster *c)
{
	for (size_t i = 0; i < s->nservers; i++) {
		const struct nt_server *v = &s->servers[i];

		for (unsigned k = 0; k < NT_LANES; k++)
			if ((wanted_in(v, k) == c->id) != (v->told[k] == c->id))
				return false;
	}
	return true;
}

/* --- switches --------------------------------------------------------------------------------- */

/* Returns the name of the switch or fabric manager that moves this lane (NIC or fabric). */
static const char *mover(const struct sim_netris *s, const struct nt_server *v, unsigned lane)
{
	return lane < NT_NICS ? s->switches[v->leaf + lane].name
			      : nt_fabrics[lane - NT_NICS].manager;
}

static void move(struct sim_netris *s, struct nt_server *v, unsigned nic)
{
	char name[16], port[32], mac[18];
	unsigned n = (unsigned)(v - s->servers) + 1;
	struct sim_netris_move m = {.server = v->name, .switch_ = mover(s, v, nic)};

	if (!s->spec.on_move)
		return;
	if (nic < NT_NICS)
		str_format(name, sizeof(name), "eth%u", nic + 1);
	else
		str_copy(name, sizeof(name), nt_fabrics[nic - NT_NICS].nic);
	str_format(port, sizeof(port), "swp%u", (n - 1) % NT_PER_LEAF + 1);
	str_format(mac, sizeof(mac), "02:00:00:%02x:%02x:%02x", n >> 8 & 0xff, n & 0xff, nic);
	m.nic = name;
	m.port = port;
	m.mac = mac;
	m.cluster = wanted_in(v, nic) ? v->cluster->name : NULL;
	s->spec.on_move(&m, s->spec.arg);
}

static void on_beat(void *arg)
{
	struct sim_netris *s = arg;

	for (size_t i = 0; i < s->nservers; i++) {
		struct nt_server *v = &s->servers[i];

		for (unsigned k = 0; k < NT_LANES; k++) {
			int64_t want = wanted_in(v, k);

			if (v->told[k] == want || !is_planned(s, v) ||
			    nt_stands(s, "SwitchDead", mover(s, v, k)))
				continue;
			v->told[k] = want;
			if (nt_stands(s, "PortLie", mover(s, v, k)))
				continue;
			v->really[k] = want;
			move(s, v, k);
		}
	}
	for (size_t i = 0; i < s->nswitches; i++)
		if (!nt_stands(s, "SwitchDead", s->switches[i].name))
			s->switches[i].seen = loop_wall(s->loop);
	loop_timer_start(&s->beat, s->spec.beat_ms);
}

const char *sim_netris_where(const struct sim_netris *s, const char *server)
{
	const struct nt_server *v = map_get(s->by_name, server);
	const struct nt_cluster *c;

	for (unsigned k = 1; v && k < NT_NICS; k++)
		if (v->really[k] != v->really[0])
			return NULL;
	c = v ? nt_cluster_of(s, v->really[0]) : NULL;
	return c ? c->name : NULL;
}

const char *sim_netris_wanted(const struct sim_netris *s, const char *server)
{
	const struct nt_server *v = map_get(s->by_name, server);

	return v && v->cluster ? v->cluster->name : NULL;
}

bool sim_netris_has(const struct sim_netris *s, const char *cluster)
{
	list_for_each (c, &s->clusters, struct nt_cluster, link)
		if (str_eq(c->name, cluster))
			return true;
	return false;
}

unsigned sim_netris_logins(const struct sim_netris *s)
{
	return s->logins;
}

unsigned sim_netris_changes(const struct sim_netris *s)
{
	return s->changes;
}

/* --- start and end ---------------------------------------------------------------------------- */

static void make_inventory(struct sim_netris *s)
{
	size_t leaves = (s->nservers + NT_PER_LEAF - 1) / NT_PER_LEAF * NT_NICS;

	s->servers = mem_calloc(s->nservers, sizeof(*s->servers));
	s->switches = mem_calloc(leaves, sizeof(*s->switches));
	s->nswitches = leaves;
	for (size_t i = 0; i < s->nservers; i++) {
		struct nt_server *v = &s->servers[i];

		v->id = 1000 + (int64_t)i;
		v->host = i >= s->spec.servers;
		v->since = INT64_MIN / 2;
		v->leaf = (unsigned)(i / NT_PER_LEAF) * NT_NICS;
		str_format(v->name, sizeof(v->name), "%.40s%zu",
			   v->host ? "host-" : str_or(s->spec.names, "gpu-"),
			   v->host ? i - s->spec.servers + 1 : i + !s->spec.names);
		map_put(s->by_name, v->name, v);
	}
	for (size_t i = 0; i < leaves; i++) {
		s->switches[i].id = 100 + (int64_t)i;
		s->switches[i].seen = loop_wall(s->loop);
		str_format(s->switches[i].name, sizeof(s->switches[i].name), "leaf-%zu", i + 1);
	}
}

/* Puts all gpu-N servers into the cluster, in the controller and on the switches, without reporting
 * a move. */
static void begin_in(struct sim_netris *s, const char *cluster)
{
	list_for_each (c, &s->clusters, struct nt_cluster, link) {
		if (!str_eq(c->name, cluster))
			continue;
		c->v = mem_calloc(s->spec.servers + 1, sizeof(*c->v));
		c->n = s->spec.servers;
		for (size_t i = 0; i < c->n; i++) {
			struct nt_server *v = &s->servers[i];

			c->v[i].server = v;
			v->cluster = c;
			for (unsigned k = 0; k < NT_NICS; k++)
				v->told[k] = v->really[k] = c->id;
		}
	}
}

struct sim_netris *sim_netris_new(const struct sim_netris_spec *spec)
{
	struct sim_netris *s = mem_new(struct sim_netris);
	int64_t vpc;

	s->spec = *spec;
	str_copy(s->version, sizeof(s->version), str_or(spec->version, "4.14.0"));
	s->spec.beat_ms = spec->beat_ms ? spec->beat_ms : BEAT_MS;
	s->spec.session_ms = spec->session_ms ? spec->session_ms : 1800000;
	s->loop = loop_of(spec->group);
	s->nservers = spec->servers + HOSTS;
	s->by_name = map_new(NULL);
	s->sessions = map_new(free);
	s->next_id = FIRST_ID;
	list_init(&s->clusters);
	list_init(&s->vpcs);
	list_init(&s->lbs);
	list_init(&s->faults);
	sim_delays_init(&s->delays, spec->group);
	make_inventory(s);
	vpc = nt_vpc_new(s, "vpc-1:Default", NULL)->id;
	nt_cluster_new(s, "quarantine", vpc, 1, NULL);
	nt_cluster_new(s, "provisioning", vpc, 1, NULL);
	if (spec->begin_in)
		begin_in(s, spec->begin_in);
	loop_timer_init(&s->beat, spec->group, on_beat, s);
	loop_timer_start(&s->beat, s->spec.beat_ms);
	return s;
}

void sim_netris_free(struct sim_netris *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->beat);
	sim_delays_done(&s->delays);
	sim_netris_well(s);
	list_for_each (c, &s->clusters, struct nt_cluster, link)
		nt_cluster_free(s, c);
	list_for_each (b, &s->lbs, struct nt_lb, link)
		nt_lb_free(b);
	list_for_each (v, &s->vpcs, struct nt_vpc, link)
		nt_vpc_free(v);
	map_free(s->by_name);
	map_free(s->sessions);
	free(s->servers);
	free(s->switches);
	free(s);
}
