#ifndef SIM_NETRIS_NETRIS_H
#define SIM_NETRIS_NETRIS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/httpd/httpd.h"
#include "base/loop/loop.h"

/*
 * netris: a simulated Netris controller (a network controller) with its switches, as an httpd
 * handler; `drover sim netris` runs it.
 *
 * It has one site `hall`, one tenant `Admin`, servers gpu-1 and so on, host-1 and host-2, each with
 * the NICs eth1 and eth2 on two leaf switches, the templates `gpu-tenant`, `isolated`,
 * `gpu-fabrics` and `other-nics`, and the server clusters `quarantine` and `provisioning`. All
 * other objects are created by requests.
 *
 * In a cluster of the template `gpu-fabrics` a server also has InfiniBand (nic ib1) and NVLink
 * (nvl1), each in its own V-net. The fabric managers `ufm-1` and `nmx-1` move servers into these
 * V-nets as switches do for ports. These V-nets list servers instead of ports.
 *
 * A change of a server cluster at first changes only the cluster's desired state. After plan_ms the
 * controller's V-nets show the change. A switch applies the change with its next heartbeat, every
 * beat_ms. The heartbeat updates lastSeen, and only then the port moves, which on_move() reports.
 * The cluster is Active when all its switches have applied the change.
 *
 * Each V-net has its own subnet, in which DHCP assigns .100 to .199: the first tenant's gateway is
 * 10.20.0.1/24, the next one's 10.20.1.1/24. A load balancer with an automatic address gets
 * SIM_NETRIS_FREE and a number. Its backends are healthy unless a fault makes them fail.
 *
 * With `loose` the form of answers changes from request to request, as it differs between releases
 * of the real controller: ids as strings, booleans as "yes", lists of clusters and V-nets without
 * their members.
 */
#define SIM_NETRIS_FREE "10.90.2." /* Prefix of automatic addresses; a number from 1 follows. */
struct sim_netris;

struct sim_netris_move {
	const char *server, *nic, *switch_, *port, *mac;
	/* Name of the cluster in whose V-net the port is now; NULL: none. */
	const char *cluster;
};
struct sim_netris_spec {
	struct loop_group *group;
	/* Number of servers gpu-N, 1 to 20,000. */
	unsigned servers;
	/* Prefix of the servers' names; a number from 0 follows. NULL: "gpu-", with numbers from
	 * 1. */
	const char *names;
	/* User name and password for logins; borrowed, must outlive the simulator. */
	const char *user;
	const char *password;
	/* latency_ms: delay of each answer. plan_ms: time until V-nets show a change. beat_ms:
	 * interval of the switches' heartbeats; 0 means 2000. */
	int64_t latency_ms, plan_ms, beat_ms;
	/* Lifetime of a login, in ms; 0 means 30 min. */
	int64_t session_ms;
	bool loose;
	/* Reported release; NULL: "4.14.0". */
	const char *version;
	/* Server cluster that contains every gpu-N initially, also on the switches; NULL: none. */
	const char *begin_in;
	void (*on_move)(const struct sim_netris_move *m, void *arg);
	void *arg;
};
struct sim_netris *sim_netris_new(const struct sim_netris_spec *s);
/* Frees s; free the httpd that has its routes first. */
void sim_netris_free(struct sim_netris *s);
void sim_netris_routes(struct sim_netris *s, struct httpd *d);

/*
 * Adds a fault. on: "PUT /api/v2/server-cluster", a method and the beginning of the path; NULL: any
 * request.
 *
 *   Status        answers with status `value`, without executing the request
 *   NotSuccess    answers 200 with isSuccess false, without executing the request
 *   LostReply     executes the request, and closes the connection
 *   Silent        executes the request, and never answers
 *   Ignored       reports success without executing the request
 *   Garbage       executes the request, and answers something that is not JSON
 *   Slow          answers `value` ms later
 *   Expire        every session ends
 *   StaleRead     answers with the state before the last change
 *   Forget        a list omits its last element
 *   OtherAdds     another writer adds server `name` to a cluster just after the cluster was read
 *   OtherRemoves  another writer removes server `name` from a cluster just after it was read
 *   SwitchDead    switch `name` no longer reports
 *   PortLie       switch `name` reports that it moves ports, and does not move them
 *   NoServers     V-nets of InfiniBand and NVLink omit their servers
 *   NoShared      members of clusters are not marked as shared or not
 *   NoGateways    V-nets omit their subnets
 *   BackendDown   load balancers report their backend with address `name` as down; NULL: all
 *   NoHealth      load balancers omit the health of their backends
 *   NoLbVPC       load balancers omit their VPC
 *   NoLbSubnet    IPAM has no subnet with purpose load-balancer
 *
 * count: number of times; 0: no limit. count is ignored for SwitchDead and the faults after it,
 * which last until sim_netris_well(). Returns -1 if `what` is unknown.
 */
int sim_netris_fault(struct sim_netris *s, const char *what, const char *on, const char *name,
		     int64_t value, int64_t count);
/* Ends all faults. */
void sim_netris_well(struct sim_netris *s);

/* Returns the name of the cluster in whose V-net the switches really have the server's ports,
 * whatever the controller reports. NULL: the ports are in no V-net, or not all in that of one
 * cluster. */
const char *sim_netris_where(const struct sim_netris *s, const char *server);
/* Returns the name of the cluster that contains the server in the controller's desired state; NULL:
 * no cluster. */
const char *sim_netris_wanted(const struct sim_netris *s, const char *server);
/* True if a server cluster with this name exists. */
bool sim_netris_has(const struct sim_netris *s, const char *cluster);
/* Returns the number of load balancers. */
unsigned sim_netris_balancers(const struct sim_netris *s);
/* sim_netris_logins() returns the number of login attempts, sim_netris_changes() the number of
 * write requests that took effect. */
unsigned sim_netris_logins(const struct sim_netris *s);
unsigned sim_netris_changes(const struct sim_netris *s);

#endif
