#ifndef PROVIDERS_LIBVIRT_HOST_H
#define PROVIDERS_LIBVIRT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "providers/libvirt/domain.h"

/*
 * host: one hypervisor host, accessed by libvirt. Calls block and may run on several threads. All
 * calls share one connection, which the first call opens and which is opened again after libvirtd
 * has gone. Errors contain libvirt's text. Calls that change a domain name the wanted state, and
 * are refused if their fence is lower than the domain's last one.
 */
struct host;
struct host_spec {
	/* URI as for virConnectOpen() */
	const char *uri;
	/* Storage pool of media and of new drives */
	const char *pool;
	/* URL from which media are fetched; NULL: none */
	const char *media_url;
};
/* Creates the only host of the process. Copies the strings; opens no connection yet. */
struct host *host_new(const struct host_spec *s);
void host_free(struct host *h);

struct host_look {
	/* "On", "Off", "Changing" or "Unknown" */
	const char *power;
	struct domain_facts facts;
	/* Address from which this host fetches media; NULL: unknown */
	const char *address;
};
int host_observe(struct host *h, const char *domain, struct arena *a, struct host_look *out,
		 struct err *e);

/* The domain to change, and the caller's authority. uuid: UUID that the caller has seen, which the
 * domain must still have; NULL: not checked. */
struct host_call {
	const char *domain, *uuid;
	int64_t fence;
	/* CLOCK_MONOTONIC ms at which the caller gives up */
	int64_t deadline_ms;
};
/* on true: starts the domain with reset firmware variables and without saved state. on false: stops
 * it at once. */
int host_power(struct host *h, const struct host_call *c, bool on, struct err *e);
int host_boot(struct host *h, const struct host_call *c, bool media, struct err *e);
/* Fetches the medium completely into a volume of the pool and inserts it; url NULL: ejects. */
int host_media(struct host *h, const struct host_call *c, const char *url, struct err *e);

struct host_machine {
	const char *name, *uuid, *provider, *machine;
	int64_t cpus, memory_bytes;
	const char *network, *bridge;
	/* "kvm" or "qemu"; NULL: kvm if the host supports it */
	const char *type;
	size_t ndrives;
	struct {
		enum domain_bus bus;
		int64_t bytes;
	} drives[DOMAIN_DRIVES];
};
/* Defines a machine with its drives, switched off. ERR_CONFLICT: a domain of that name exists with
 * another owner. */
int host_define(struct host *h, const struct host_machine *m, struct err *e);
/* Undefines a domain and deletes its drives and media; deletes these also if the domain is gone
 * already. Refuses if the domain is on (ERR_UNAVAILABLE) or has another owner (ERR_CONFLICT). */
int host_undefine(struct host *h, const char *domain, const char *uuid, const char *provider,
		  const char *machine, struct err *e);

#endif
