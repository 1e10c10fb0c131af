#ifndef SIM_NETRIS_H
#define SIM_NETRIS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * netris: a simulated Netris controller with its switches, as an httpd handler; `drover sim netris`
 * runs it.
 *
 * It has one site `hall`, one tenant `Admin`, servers gpu-1 ... and host-1, host-2, each with the
 * NICs eth1 and eth2 on two leaf switches, the templates `gpu-tenant`, `isolated` and
 * `gpu-fabrics`, and the server clusters `quarantine` and `provisioning`. Whatever else there is
 * was made by requests.
 *
 * In a cluster of the template `gpu-fabrics` a server is on InfiniBand (nic ib1) and NVLink (nvl1)
 * as well, each in a V-net of its own, which their managers `ufm-1` and `nmx-1` put it into as
 * switches do. Those V-nets have servers, and no ports.
 *
 * A change of a server cluster is only what is wanted. After plan_ms the controller's V-nets show
 * it; a switch takes it with its next heartbeat, every beat_ms, which moves lastSeen and, then
 * alone, the port: on_move() tells of that. The cluster is Active when all its switches have it.
 *
 * Each V-net has a subnet of its own, and DHCP gives .100 to .199 of it: the first tenant's gateway
 * is 10.20.0.1/24, the next one's 10.20.1.1/24. A load balancer that takes a free address gets
 * SIM_NETRIS_FREE and its number. Its backends are healthy unless a fault says otherwise.
 *
 * Members of its answers change their form from request to request when `loose` is set, as they do
 * from release to release: ids as strings, booleans as "yes", lists of clusters and V-nets without
 * their members.
 */
#define SIM_NETRIS_FREE "10.90.2." /* and a number from 1 */
struct sim_netris;

struct sim_netris_move {
	const char *server, *nic, *switch_, *port, *mac;
	/* whose V-net it is in now; NULL: in none */
	const char *cluster;
};
struct sim_netris_spec {
	struct loop_group *group;
	/* 1 to 20,000 */
	unsigned servers;
	/* what their names begin with, numbers from 0 behind it; NULL: "gpu-", from 1 */
	const char *names;
	/* borrowed, as the password is: both outlive it */
	const char *user;
	const char *password;
	/* beat_ms 0: 2000 */
	int64_t latency_ms, plan_ms, beat_ms;
	/* of a session since it began; 0: 30 min */
	int64_t session_ms;
	bool loose;
	/* of its release; NULL: "4.14.0" */
	const char *version;
	/* the server cluster that every gpu-N is in at first, also on its switches; NULL: none */
	const char *begin_in;
	void (*on_move)(const struct sim_netris_move *m, void *arg);
	void *arg;
};
struct sim_netris *sim_netris_new(const struct sim_netris_spec *s);
/* its httpd first */
void sim_netris_free(struct sim_netris *s);
void sim_netris_routes(struct sim_netris *s, struct httpd *d);

/*
 * What goes wrong. on: "PUT /api/v2/server-cluster", a method and what the path begins with; NULL:
 * each request.
 *
 *   Status		answers status `value` without acting	NotSuccess	answers 200 with isSuccess false
 *   LostReply	acts, then breaks the connection	Silent		acts, and never answers
 *   Ignored		says success and does nothing		Garbage		acts, answers no JSON
 *   Slow		answers `value` ms later		Expire		every session is over
 *   StaleRead	answers as before the last change	Forget		lists leave their last element out
 *   OtherAdds	right after the answer another writer puts server `name` into the cluster that was read
 *   OtherRemoves	... takes it out of it
 *   SwitchDead	switch `name` is heard of no more	PortLie		switch `name` says that it moves ports, and does not
 *
 *   NoServers	V-nets of InfiniBand and NVLink do not say which servers they have
 *   NoShared	members of clusters do not say whether they are shared
 *   NoGateways	V-nets do not say which subnets they have
 *   BackendDown	a backend of that address, `name`, is said to be down; name NULL: each
 *   NoHealth	load balancers do not say how their backends are
 *   NoLbVPC		... in which VPC they are
 *   NoLbSubnet	IPAM has no subnet of purpose load-balancer
 *
 * count: how often; 0: for ever. Those from SwitchDead on are as long as they stand. -1: there is
 * no such fault.
 */
int sim_netris_fault(struct sim_netris *s, const char *what, const char *on, const char *name,
		     int64_t value, int64_t count);
/* no fault any more */
void sim_netris_well(struct sim_netris *s);

/* The cluster whose V-net the ports of this server are in, on the switches, whatever the controller
 * says; NULL: none, or not all in one. */
const char *sim_netris_where(const struct sim_netris *s, const char *server);
/* ... and as the controller has it. */
const char *sim_netris_wanted(const struct sim_netris *s, const char *server);
/* Is there a server cluster of this name? */
bool sim_netris_has(const struct sim_netris *s, const char *cluster);
/* How many load balancers there are. */
unsigned sim_netris_balancers(const struct sim_netris *s);
/* How often a login was tried, and how many requests that change something were acted on. */
unsigned sim_netris_logins(const struct sim_netris *s);
unsigned sim_netris_changes(const struct sim_netris *s);

#endif
