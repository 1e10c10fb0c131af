#ifndef CONTROLLER_TENANT_REQUEST_WRITER_H
#define CONTROLLER_TENANT_REQUEST_WRITER_H

#include "controller/tenant/request_objects.h"
#include "kube/cache.h"

/*
 * request_writer: writes the conditions of one ProvisioningRequest when they change.
 *
 * A merge patch replaces the whole list of conditions. The patch therefore repeats the conditions
 * of other writers, and carries the resourceVersion that was read. Only one write is in flight at a
 * time. After an error, the caller's next call some seconds later tries again.
 * Tests: tests/unit/controller/tenant/test_provisioning_requests.c, tests/world/test_requests.c
 */
struct tenant;
extern const struct kube_resource request_resource;
struct request_writer {
	struct tenant *t;
	struct kube_cache *cache;
	struct kube_call *call;
	/* loop_now() before which no write is attempted */
	int64_t not_before;
	bool denied;
};

void request_writer_init(struct request_writer *w, struct tenant *t, struct kube_cache *cache);
/* Drops the call in flight; call before the writer is freed. */
void request_writer_stop(struct request_writer *w);
/* Writes the conditions if they have changed and no write is in flight. en: the request in the
 * cache; said: what drover knows about it. Call only while this replica leads. */
void request_writer_look(struct request_writer *w, const struct kube_entry *en,
			 const struct request_result *said);

#endif
