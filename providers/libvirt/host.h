#ifndef PROVIDERS_LIBVIRT_HOST_H
#define PROVIDERS_LIBVIRT_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/err.h"
#include "providers/libvirt/domain.h"

/*
 * host: one hypervisor host, by libvirt. Calls block, each on a thread of its own; one connection
 * is shared, made by the first call that needs it and made anew when libvirtd has gone. Errors
 * carry libvirt's text; what changes a domain names the state that is wanted, and refuses a fence
 * that is lower than the last one.
 */
struct host;
struct host_spec {
	/* as virConnectOpen() takes it */
	const char *uri;
	/* storage pool of media and of new drives */
	const char *pool;
	/* what media are fetched from; NULL: none */
	const char *media_url;
};
/* Strings are copied; nothing is connected yet.  Once for each process. */
struct host *host_new(const struct host_spec *s);
void host_free(struct host *h);

struct host_look {
	/* On, Off, Changing */
	const char *power;
	struct domain_facts facts;
	/* that this host fetches media from; NULL: not known */
	const char *address;
};
int host_observe(struct host *h, const char *domain, struct arena *a, struct host_look *out,
		 struct err *e);

/* Which domain, and on whose behalf. uuid: that the caller has seen; the domain of that name must
 * still be it. */
struct host_call {
	const char *domain, *uuid;
	int64_t fence;
	/* CLOCK_MONOTONIC: when the caller has given it up */
	int64_t deadline_ms;
};
/* On: from its own firmware variables as they were at first, and from no saved state. Off: at
 * once. */
int host_power(struct host *h, const struct host_call *c, bool on, struct err *e);
int host_boot(struct host *h, const struct host_call *c, bool media, struct err *e);
/* url NULL: eject.  The medium is fetched whole, and put into a volume of the pool. */
int host_media(struct host *h, const struct host_call *c, const char *url, struct err *e);

struct host_machine {
	const char *name, *uuid, *provider, *machine;
	int64_t cpus, memory_bytes;
	const char *network, *bridge;
	/* kvm, qemu; NULL: kvm where the host has it */
	const char *type;
	size_t ndrives;
	struct {
		enum domain_bus bus;
		int64_t bytes;
	} drives[DOMAIN_DRIVES];
};
/* Defined and off, with its drives. One of that name that is not provider's and machine's:
 * ERR_CONFLICT. */
int host_define(struct host *h, const struct host_machine *m, struct err *e);
/* Gone, with its drives and media, which go too where the domain is gone already; one that is on,
 * or somebody else's, stays. */
int host_undefine(struct host *h, const char *domain, const char *uuid, const char *provider,
		  const char *machine, struct err *e);

#endif
