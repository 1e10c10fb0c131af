#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/own.h"
#include "kube/client.h"

/*
 * kube_lease: leader election by a Lease (coordination.k8s.io/v1): duration 15 s, renewed every 2 s
 * with jitter, given up after 9.5 s without success. Every term has its own number
 * (leaseTransitions), even for the same identity.
 *
 * A replica judges whether another replica's lease has expired by its own clock: by the time since
 * it saw the last change, never by the times in the lease. on_stopped() is called before the renew
 * deadline of 10 s passes; afterwards nothing may be written. The lease only avoids that two
 * replicas compete; what protects a machine is the compare-and-swap on its object.
 */
struct kube_lease;
struct kube_lease_spec {
	struct kube_client *client;
	/* Copied. */
	const char *ns, *name, *identity;
	/* Factor for all times above, for a lease for which no other candidate waits; 0 means 1. */
	unsigned slower;
	/* Called when the replica becomes the holder. transitions: number of the term
	 * (leaseTransitions), part of every fence. */
	void (*on_started)(int64_t transitions, void *arg);
	void (*on_stopped)(void *arg);
	void *arg;
};
struct kube_lease *kube_lease_new(struct loop_group *g, const struct kube_lease_spec *s);
/* Frees l, also inside its callbacks. Does not release the lease. */
void kube_lease_free(struct kube_lease *l);
DEFINE_OWN(kube_lease)
/* Stops, releases the lease (holderIdentity ""), then calls done(arg), also if the release failed;
 * the lease then expires. on_stopped() is not called, because the caller has stopped writing. The
 * lease is not acquired again. */
void kube_lease_release(struct kube_lease *l, void (*done)(void *arg), void *arg);
bool kube_lease_held(const struct kube_lease *l);
/* Returns the holder as last seen, which may be this replica; "": no holder, or not read yet. Valid
 * until the next turn of the loop. */
const char *kube_lease_holder(const struct kube_lease *l);
/* Returns the milliseconds since the last successful renewal began; INT64_MAX: the lease is not
 * held. */
int64_t kube_lease_renewed_age(const struct kube_lease *l);

#endif
