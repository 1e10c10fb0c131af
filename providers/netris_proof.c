#include "providers/netris_proof.h"

#include "base/str.h"

static bool has_port(const struct netris_vnet *v, int64_t port)
{
	for (size_t i = 0; i < v->ports.n; i++)
		if (v->ports.v[i].id == port)
			return true;
	return false;
}

/* Returns the ID of the first port of machine m that is in V-net v; 0: none. */
static int64_t port_in(const struct netris_vnet *v, const struct netris_machine *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (has_port(v, m->wires[i].port))
			return m->wires[i].port;
	return 0;
}

/* Returns the entry of machine m in the non-Ethernet V-net v; NULL: the machine is not in the
 * V-net. */
static const struct netris_vnet_server *server_in(const struct netris_vnet *v,
						  const struct netris_machine *m)
{
	for (size_t i = 0; i < v->servers.n; i++)
		if (v->servers.v[i].id == m->id)
			return &v->servers.v[i];
	return NULL;
}

static bool is_in(const struct netris_vnet *v, const struct netris_machine *m)
{
	return port_in(v, m) || (netris_fabric_of(v->type) != NETRIS_ETHERNET && server_in(v, m));
}

static bool is_of(const struct netris_cluster *c, int64_t vnet)
{
	for (size_t i = 0; c && i < c->vnets.n; i++)
		if (c->vnets.v[i].id == vnet)
			return true;
	return false;
}

static bool is_common(const char *const *common, const char *name)
{
	for (size_t i = 0; common && common[i]; i++)
		if (str_eq(common[i], name))
			return true;
	return false;
}

static bool links_known(const struct netris_machine *m, char *why, size_t size)
{
	if (m->n == 0 || m->more) {
		str_format(why, size, "Netris has %s of this server",
			   m->n ? "more links than drover supports" : "no link");
		return false;
	}
	for (size_t i = 0; i < m->n; i++)
		if (!m->wires[i].port || !m->wires[i].switch_) {
			str_format(why, size,
				   "a link of the server contains no switch port at its other end");
			return false;
		}
	return true;
}

static void says_not(const struct netris_vnet *v, char *why, size_t size)
{
	str_format(why, size, "Netris does not report the members of %s V-net %.60s",
		   netris_fabric_names[netris_fabric_of(v->type)], v->name);
}

/* False if the manager of a non-Ethernet fabric reports a status other than Active for the
 * machine's server. True if it reports none. */
static bool is_applied(const struct netris_vnet *v, const struct netris_machine *m, char *why,
		       size_t size)
{
	const struct netris_vnet_server *s = server_in(v, m);

	if (netris_fabric_of(v->type) == NETRIS_ETHERNET || !s || !*s->status ||
	    str_eq(s->status, "Active"))
		return true;
	str_format(why, size, "%s V-net %.60s lists the server as \"%.30s\", not Active",
		   netris_fabric_names[netris_fabric_of(v->type)], v->name, s->status);
	return false;
}

/* False if cluster c shows fewer V-nets of a fabric (such as Ethernet or InfiniBand) than its
 * template has: nothing is known about the missing V-nets. */
static bool has_all_fabrics(const struct netris_snapshot *l, const struct netris_cluster *c,
			    char *why, size_t size)
{
	const struct netris_template *t = netris_snapshot_template(l, c->template_.id);
	size_t want[NETRIS_FABRICS] = {0}, has[NETRIS_FABRICS] = {0};

	for (size_t i = 0; t && i < t->vnets.n; i++)
		want[netris_fabric_of(t->vnets.v[i].type)]++;
	for (size_t i = 0; i < c->vnets.n; i++)
		has[netris_fabric_of(netris_snapshot_vnet(l, c->vnets.v[i].id)->type)]++;
	for (int f = NETRIS_ETHERNET + 1; f < NETRIS_FABRICS; f++)
		/* mutant: netris-fabric-not-shown */
		if (has[f] < want[f]) {
			str_format(why, size,
				   "server cluster %.60s shows %zu %s V-nets, but its template has "
				   "%zu",
				   c->name, has[f], netris_fabric_names[f], want[f]);
			return false;
		}
	return true;
}

static bool cluster_active(const struct netris_snapshot *l, const struct netris_machine *m,
			   const struct netris_cluster *c, char *why, size_t size)
{
	if (!str_eq(c->status, "Active")) {
		str_format(why, size, "server cluster %.60s is \"%.30s\", not Active", c->name,
			   c->status);
		return false;
	}
	if (!c->vnets.n) {
		str_format(why, size, "server cluster %.60s shows no V-net", c->name);
		return false;
	}
	for (size_t i = 0; i < c->vnets.n; i++) {
		const struct netris_vnet *v = netris_snapshot_vnet(l, c->vnets.v[i].id);

		if (!v || (netris_fabric_of(v->type) == NETRIS_ETHERNET && !v->ports.said)) {
			str_format(why, size, "V-net %lld of server cluster %.60s cannot be read",
				   (long long)c->vnets.v[i].id, c->name);
			return false;
		}
		if (!netris_reports_members(v)) {
			says_not(v, why, size);
			return false;
		}
		if (!str_eq(v->status, "Active") || !str_eq(v->state, "active")) {
			str_format(why, size,
				   "V-net %.60s has state \"%.30s\" and status \"%.30s\", want "
				   "active and Active",
				   v->name, v->state, v->status);
			return false;
		}
		if (!is_in(v, m)) {
			str_format(why, size,
				   netris_fabric_of(v->type) == NETRIS_ETHERNET
					   ? "V-net %.60s contains no port of the server"
					   : "V-net %.60s does not contain the server",
				   v->name);
			return false;
		}
		if (!is_applied(v, m, why, size))
			return false;
	}
	return has_all_fabrics(l, c, why, size);
}

static bool nowhere_else(const struct netris_snapshot *l, const struct netris_machine *m,
			 const struct netris_cluster *c, const char *const *common, char *why,
			 size_t size)
{
	for (size_t i = 0; i < l->nvnets; i++) {
		const struct netris_vnet *v = &l->vnets[i];

		if (is_of(c, v->id) || is_common(common, v->name))
			continue;
		if (!netris_reports_members(v)) {
			says_not(v, why, size);
			return false;
		}
		/* mutant: netris-elsewhere netris-pkey-elsewhere */
		if (is_in(v, m)) {
			str_format(why, size, "%s V-net %.60s also contains the server",
				   netris_fabric_names[netris_fabric_of(v->type)], v->name);
			return false;
		}
	}
	return true;
}

/* True if the switch of every port has reported since the first snapshot that showed the machine in
 * its present cluster. */
static bool heard_since(const struct netris_snapshot *l, const struct netris_machine *m,
			struct netris_seen *seen, char *why, size_t size)
{
	bool all = seen->based;

	if (seen->proved && seen->n == m->n)
		return true;
	if (seen->n != m->n)
		all = seen->based = false;
	for (size_t i = 0; i < m->n; i++) {
		const struct netris_device *w = netris_snapshot_switch(l, m->wires[i].switch_);
		int64_t at = w ? w->last_seen : 0;

		if (!seen->based)
			seen->since[i] = at;
		else if (/* mutant: netris-not-heard */ all && at <= seen->since[i])
			all = false;
		if (!all)
			str_format(
				why, size,
				"switch %.60s has not reported to the controller since the change",
				m->wires[i].switch_);
	}
	seen->n = m->n;
	seen->based = true;
	seen->proved = all;
	return all;
}

enum fabric_proof netris_prove(const struct netris_snapshot *l, const struct netris_machine *m,
			       const struct netris_cluster *c, const char *const *common,
			       struct netris_seen *seen, char *why, size_t size)
{
	int64_t in = c ? c->id : 0;

	*why = '\0';
	if (seen->cluster != in)
		*seen = (struct netris_seen){.cluster = in};
	if (!links_known(m, why, size) || (c && !cluster_active(l, m, c, why, size)) ||
	    !nowhere_else(l, m, c, common, why, size)) {
		/* This state is incomplete and proves nothing. Start the comparison of lastSeen
		 * again from the next complete state, because earlier reports of the switches do
		 * not count. */
		seen->based = seen->proved = false;
		return FABRIC_PROOF_NONE;
	}
	return heard_since(l, m, seen, why, size) ? FABRIC_PROOF_WEAK : FABRIC_PROOF_NONE;
}
