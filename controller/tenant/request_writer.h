#ifndef CONTROLLER_TENANT_REQUEST_WRITER_H
#define CONTROLLER_TENANT_REQUEST_WRITER_H

#include "controller/tenant/request_objects.h"
#include "kube/cache.h"

/*
 * request_writer: writes the conditions of one ProvisioningRequest, when they have to be others.
 *
 * A merge patch replaces the whole list, so it repeats the conditions of others and goes with the
 * version that was seen. One write at a time; what fails is tried again when the owner asks, some
 * seconds later at the earliest.
 * Tests: tests/unit/controller/tenant/test_provisioning_requests.c, tests/world/test_requests.c
 */
struct tenant;
extern const struct kube_resource request_resource;
struct request_writer {
	struct tenant *t;
	struct kube_cache *cache;
	struct kube_call *call;
	/* loop_now() */
	int64_t not_before;
	bool denied;
};

void request_writer_init(struct request_writer *w, struct tenant *t, struct kube_cache *cache);
/* before it is freed */
void request_writer_stop(struct request_writer *w);
/* The replica leads.  Nothing goes out where nothing is another, or a write is on its way. */
void request_writer_look(struct request_writer *w, const struct kube_entry *en,
			 const struct request_said *said);

#endif
