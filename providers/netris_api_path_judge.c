#include "providers/netris_api_path_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/address.h"
#include "base/str.h"

/* netris_api_path_judge: compares objects that were already read with the wanted path; sends no
 * requests.
 * Tests: tests/unit/providers/test_netris_api_path_judge.c */

static void say(struct fabric_api_path_state *out, char *why, bool up, const char *reason,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static void say(struct fabric_api_path_state *out, char *why, bool up, const char *reason,
		const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, NETRIS_API_PATH_WHY, fmt, ap);
	va_end(ap);
	*out = (struct fabric_api_path_state){.up = up, .reason = reason, .why = why};
}

/* --- load balancers --------------------------------------------------------------------------- */

static bool is_healthy(const struct netris_backend *b)
{
	static const char *const words[] = {"healthy", "up", "ok", "active"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(b->status, words[i]))
			return b->maintenance != NETRIS_YES;
	/* mutant: way-health-guessed */
	return false;
}

static bool is_at(const char *ip, int64_t port, const char *service)
{
	char host[ADDRESS_TEXT];
	uint16_t at;

	return address_service(service, host, &at) && address_same(ip, host) && at == port;
}

static bool has_backend(const struct netris_l4lb *b, const char *service)
{
	for (size_t i = 0; i < b->backends.n; i++)
		if (is_at(b->backends.v[i].ip, b->backends.v[i].port, service))
			return true;
	return false;
}

bool netris_lb_differs(const struct netris_l4lb *b, const struct fabric_api_path *w)
{
	size_t n = 0;
	bool differs = w->address && !is_at(b->ip, b->port, w->address);

	for (; w->backends[n]; n++)
		differs = differs || !has_backend(b, w->backends[n]);
	return differs || b->backends.n != n || strcasecmp(b->protocol, "TCP") != 0 ||
	       strcasecmp(b->status, "enable") != 0;
}

/* Writes a description of the first backend that is not healthy to out, with the number of others;
 * "": all are healthy. */
static void name_unhealthy(const struct netris_l4lb *b, char *out, size_t size)
{
	const struct netris_backend *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < b->backends.n; i++) {
		if (is_healthy(&b->backends.v[i]))
			continue;
		n++;
		if (!first)
			first = &b->backends.v[i];
	}
	if (!first) {
		out[0] = '\0';
		return;
	}
	if (first->maintenance == NETRIS_YES)
		str_format(out, size, "backend %.40s:%lld is in maintenance", first->ip,
			   (long long)first->port);
	else if (str_empty(first->status))
		str_format(out, size, "Netris reports no health of backend %.40s:%lld", first->ip,
			   (long long)first->port);
	else
		str_format(out, size, "backend %.40s:%lld is \"%.24s\"%s%.40s", first->ip,
			   (long long)first->port, first->status,
			   str_empty(first->response) ? "" : ": ", first->response);
	if (n > 1)
		str_format(out + strlen(out), size - strlen(out), ", and %zu more", n - 1);
}

/* Requires only one healthy backend. The load balancer sends traffic only to healthy backends, and
 * a machine serves only after its own packets reached the API server through the load balancer. A
 * stricter rule would keep machines from a tenant whose API server answers. */
void netris_judge_lb(const struct netris_l4lb *b, int64_t vpc, const struct fabric_api_path *w,
		     struct fabric_api_path_state *out, char *why)
{
	char bad[160];
	size_t healthy = 0;

	for (size_t i = 0; i < b->backends.n; i++)
		healthy += is_healthy(&b->backends.v[i]);
	name_unhealthy(b, bad, sizeof(bad));
	/* mutant: way-every-vpc */
	if (!b->vpc.id)
		say(out, why, false, "VPCNotSaid",
		    "Netris does not report the VPC of load balancer %.80s, so every tenant might "
		    "reach it",
		    b->name);
	else if (b->vpc.id != vpc)
		say(out, why, false, "VPCDiffers",
		    "load balancer %.80s is not in the VPC of the tenant", b->name);
	else if (netris_lb_differs(b, w))
		say(out, why, false, "NotAsWanted",
		    "load balancer %.80s has address %.40s:%lld, status \"%.16s\" and %zu "
		    "backends, and Netris does not apply what spec.network.apiServer wants",
		    b->name, b->ip, (long long)b->port, b->status, b->backends.n);
	else if (str_empty(b->ip) || b->port < 1 || b->port > UINT16_MAX)
		say(out, why, false, "NoAddress", "load balancer %.80s has no address yet",
		    b->name);
	else if (!healthy)
		say(out, why, false, "BackendUnhealthy", "load balancer %.60s: %s", b->name, bad);
	else if (*bad)
		say(out, why, true, "Degraded",
		    "load balancer %.60s: %zu of %zu backends healthy; %s", b->name, healthy,
		    b->backends.n, bad);
	else
		say(out, why, true, "Healthy", "load balancer %.80s: all %zu backends are healthy",
		    b->name, healthy);
}

bool netris_judge_lb_subnets(const struct netris_subnet *v, size_t n, const char *wanted, char *why)
{
	const struct netris_subnet *one = NULL;
	bool said = false;

	for (size_t i = 0; i < n; i++) {
		said = said || *v[i].purpose;
		if (strcasecmp(v[i].purpose, "load-balancer") != 0)
			continue;
		one = &v[i];
		if (!wanted || !*one->prefix || address_in(wanted, &one->prefix, 1))
			return true;
	}
	if (!said)
		return true;
	if (one)
		(void)snprintf(why, NETRIS_API_PATH_WHY,
			       "%.48s is in no subnet of purpose load-balancer, such as %.48s",
			       wanted, one->prefix);
	else
		(void)snprintf(why, NETRIS_API_PATH_WHY,
			       "none of %zu subnets has purpose load-balancer", n);
	return false;
}

/* --- VIPs ------------------------------------------------------------------------------------- */

/* Returns 1 if vip is in a subnet of V-net v (then *in is that subnet's gateway), 0 if it is in
 * none, -1 if the V-net reports no subnet. */
static int subnet_of(const struct netris_vnet *v, const char *vip, const struct netris_gateway **in)
{
	bool said = false;

	for (size_t i = 0; i < v->gateways.n; i++) {
		const struct netris_gateway *g = &v->gateways.v[i];

		said = said || *g->prefix;
		if (!address_in(vip, &g->prefix, 1))
			continue;
		*in = g;
		return 1;
	}
	return said ? 0 : -1;
}

static bool is_gateway(const struct netris_gateway *g, const char *vip)
{
	char host[ADDRESS_TEXT];

	str_format(host, sizeof(host), "%.*s", (int)strcspn(g->prefix, "/"), g->prefix);
	return address_same(host, vip);
}

/* Returns what DHCP of this subnet can do: "" if it cannot assign vip, "in" if its range contains
 * vip, NULL if it may assign every address of the subnet. */
static const char *dhcp_says(const struct netris_gateway *g, const char *vip)
{
	if (g->dhcp == NETRIS_NO)
		return "";
	if (!*g->dhcp_start || !*g->dhcp_end)
		return g->dhcp == NETRIS_YES ? NULL : "";
	return address_order(vip, g->dhcp_start) >= 0 && address_order(vip, g->dhcp_end) <= 0 ? "in"
											      : "";
}

static void judge_subnet(const struct netris_vnet *v, const struct netris_gateway *g,
			 const char *vip, struct fabric_api_path_state *out, char *why)
{
	const char *dhcp = dhcp_says(g, vip);

	if (str_eq(v->type, "l3vpn"))
		say(out, why, false, "NotLayer2",
		    "V-net %.80s is of type l3vpn, where machines do not receive the ARP "
		    "announcement of a VIP",
		    v->name);
	else if (is_gateway(g, vip))
		say(out, why, false, "VIPIsGateway", "%.48s is the gateway of V-net %.80s", vip,
		    v->name);
	else if (!dhcp)
		say(out, why, false, "VIPInDHCPRange",
		    "DHCP of V-net %.60s assigns all addresses of %.44s, including %.48s: set a "
		    "DHCP range without the VIP",
		    v->name, g->prefix, vip);
	else if (*dhcp)
		say(out, why, false, "VIPInDHCPRange",
		    "DHCP of V-net %.60s may assign %.48s (range %.40s to %.40s)", v->name, vip,
		    g->dhcp_start, g->dhcp_end);
	else
		say(out, why, true, "VIP",
		    "%.48s is in V-net %.80s, to which the hosts of the control plane are "
		    "connected",
		    vip, v->name);
}

static bool has_host(const struct netris_cluster *c)
{
	for (size_t i = 0; i < c->servers.n; i++)
		if (c->servers.v[i].shared == NETRIS_YES)
			return true;
	return false;
}

void netris_judge_vip(const struct netris_cluster *c, const struct netris_vnet *vnets, size_t n,
		      const char *vip, struct fabric_api_path_state *out, char *why)
{
	const struct netris_gateway *g = NULL;
	const struct netris_vnet *unsaid = NULL, *ethernet = NULL;

	if (!has_host(c)) {
		say(out, why, false, "NoHost",
		    "server cluster %.80s has no shared server, so the hosts of the control plane "
		    "are not in its V-nets: set spec.network.netris.hostServers of the Provider",
		    c->name);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct netris_vnet *v = &vnets[i];

		if (netris_fabric_of(v->type) != NETRIS_ETHERNET)
			continue;
		ethernet = v;
		switch (subnet_of(v, vip, &g)) {
		case 1:
			judge_subnet(v, g, vip, out, why);
			return;
		case -1:
			unsaid = v;
			break;
		default:
			break;
		}
	}
	if (!ethernet)
		say(out, why, false, "NoVNet", "server cluster %.80s shows no Ethernet V-net",
		    c->name);
	else if (unsaid)
		say(out, why, true, "VIPUnchecked",
		    "Netris does not report the subnet of V-net %.80s: only packets of a machine "
		    "can show whether %.48s is reachable",
		    unsaid->name, vip);
	else
		say(out, why, false, "VIPOutside", "%.48s is in no subnet of server cluster %.80s",
		    vip, c->name);
}
