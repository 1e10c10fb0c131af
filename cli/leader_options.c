#include "cli/leader_options.h"

#include <string.h>

#include "base/address.h"
#include "base/str.h"

/* Addresses that the API server refuses in an EndpointSlice. */
static const char *const not_of_a_pod[] = {"0.0.0.0/8",	  "127.0.0.0/8", "169.254.0.0/16",
					   "224.0.0.0/4", "::/128",	 "::1/128",
					   "fe80::/10",	  "ff00::/8"};

static bool is_address(const char *text)
{
	char host[ADDRESS_TEXT];
	uint16_t port;

	/* Equal to its own spelling, so without brackets and port. */
	return address_service(text, host, &port) && !port && str_eq(text, host);
}

/* Writes the port of a listener to *port. -1 with *e: the listener does not accept connections to
 * the pod's address. */
static int reach(const char *option, const char *listen, const char *pod_ip, uint16_t *port,
		 struct err *e)
{
	char host[ADDRESS_TEXT];
	bool v6 = strchr(pod_ip, ':') != NULL;

	if (!address_service(listen, host, port) || !*port)
		return err_set(e, ERR_INVALID, 0,
			       "--leader-service needs an address and a port in %s, got %s", option,
			       listen);
	/* A listener on [::] also accepts IPv4. */
	if (str_eq(host, "::") || str_eq(host, pod_ip) || (!v6 && str_eq(host, "0.0.0.0")))
		return 0;
	return err_set(e, ERR_INVALID, 0,
		       "%s %s: does not listen on --pod-ip %s, at which machines reach the leader; "
		       "set %s to %s:%u",
		       option, listen, pod_ip, option, v6 ? "[::]" : "0.0.0.0", *port);
}

int leader_options_read(const struct leader_options *o, const char *agent_listen,
			const char *media_listen, struct leader_service_spec *s, struct err *e)
{
	*s = (struct leader_service_spec){
		.service = o->service, .pod_ip = o->pod_ip, .node_name = o->node_name};
	if (!o->service && !o->pod_ip && !o->node_name)
		return 0;
	if (!o->service)
		return err_set(e, ERR_INVALID, 0,
			       "%s needs --leader-service, the name of the Service that leads to "
			       "the leader",
			       o->pod_ip ? "--pod-ip" : "--node-name");
	if (!o->pod_ip)
		return err_set(e, ERR_INVALID, 0,
			       "--leader-service needs --pod-ip, the address of this pod "
			       "(status.podIP)");
	if (!o->node_name)
		return err_set(e, ERR_INVALID, 0,
			       "--leader-service needs --node-name, the name of this pod's node "
			       "(spec.nodeName)");
	if (!str_is_dns_label(o->service))
		return err_set(e, ERR_INVALID, 0,
			       "--leader-service: want the name of a Service, got %s", o->service);
	if (!is_address(o->pod_ip))
		return err_set(e, ERR_INVALID, 0,
			       "--pod-ip: want an IPv4 or IPv6 address such as 10.2.0.17 or "
			       "fd00::17, got %s",
			       o->pod_ip);
	if (address_in(o->pod_ip, not_of_a_pod, sizeof(not_of_a_pod) / sizeof(not_of_a_pod[0])))
		return err_set(e, ERR_INVALID, 0,
			       "--pod-ip: a Service cannot lead to the address %s; want the "
			       "pod's own (status.podIP)",
			       o->pod_ip);
	if (!str_is_dns_subdomain(o->node_name))
		return err_set(e, ERR_INVALID, 0, "--node-name: want the name of a Node, got %s",
			       o->node_name);
	if (reach("--agent-listen", agent_listen, o->pod_ip, &s->agent_port, e) < 0)
		return -1;
	return reach("--media-listen", media_listen, o->pod_ip, &s->media_port, e);
}
