#ifndef PROVIDERS_LIBVIRT_HOST_H
#define PROVIDERS_LIBVIRT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "providers/libvirt/domain.h"

/*
 * host: one hypervisor host, accessed by libvirt. Calls block and may run on several threads. All
 * calls share one connection; the first call opens it, and a later call opens it again after
 * libvirtd has gone. Errors contain libvirt's text.
 *
 * A call that changes a domain names the wanted state, so it may be repeated. It is refused if its
 * fence is lower than the fence of the domain's last change.
 */
struct host;
struct host_spec {
	/* URI as for virConnectOpen() */
	const char *uri;
	/* Storage pool of media and of new drives */
	const char *pool;
	/* URL from which media are fetched, used only to find the host's own address towards that
	 * server; NULL: the address stays unknown. */
	const char *media_url;
};
/* Creates the only struct host of the process. Copies the strings; opens no connection yet. */
struct host *host_new(const struct host_spec *s);
void host_free(struct host *h);

struct host_observation {
	/* Power state: "On", "Off", "Changing" or "Unknown" */
	const char *power;
	struct domain_facts facts;
	/* IP address from which this host fetches media; NULL: unknown */
	const char *address;
};
int host_observe(struct host *h, const char *domain, struct arena *a, struct host_observation *out,
		 struct err *e);

/* The domain to change, and the fence and time limit of the call. uuid: the UUID that the domain
 * must still have; NULL: not checked. */
struct host_call {
	const char *domain, *uuid;
	int64_t fence;
	/* CLOCK_MONOTONIC ms until which a medium may be fetched */
	int64_t deadline_ms;
};
/* Switches the domain on or off. On: starts it with reset firmware variables and without saved
 * state. Off: stops it at once and deletes its saved state. A domain that is on already is not
 * started again. */
int host_power(struct host *h, const struct host_call *c, bool on, struct err *e);
int host_boot(struct host *h, const struct host_call *c, bool media, struct err *e);
/* Fetches the medium at url completely into a volume of the pool, and inserts it; ERR_UNAVAILABLE
 * if the domain is on. url NULL: ejects the medium, also from a running domain. */
int host_media(struct host *h, const struct host_call *c, const char *url, struct err *e);

struct host_machine {
	const char *name, *uuid, *provider, *machine;
	int64_t cpus, memory_bytes;
	const char *network, *bridge;
	/* Type of the domain, "kvm" or "qemu"; NULL: kvm if the host supports it */
	const char *type;
	size_t ndrives;
	struct {
		enum domain_bus bus;
		int64_t bytes;
	} drives[DOMAIN_DRIVES];
};
/* Defines the domain of a machine with its drives, switched off. Success if drover has already
 * defined the domain for this Machine. ERR_CONFLICT: a domain of that name exists with another
 * owner. */
int host_define(struct host *h, const struct host_machine *m, struct err *e);
/* Undefines a domain and deletes its drives and media. If the domain does not exist any more,
 * deletes only the drives and media. Refuses if the domain is on (ERR_UNAVAILABLE) or has another
 * owner (ERR_CONFLICT). */
int host_undefine(struct host *h, const char *domain, const char *uuid, const char *provider,
		  const char *machine, struct err *e);

#endif
