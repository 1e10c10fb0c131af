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
 * Expiry of another replica's lease is judged by the locally observed time of its last change,
 * never by comparing clocks. on_stopped() is called before the renew deadline of 10 s passes;
 * afterwards nothing may be written. The lease avoids contention only; the lock of a machine is the
 * compare-and-swap on its object.
 */
struct kube_lease;
struct kube_lease_spec {
	struct kube_client *client;
	/* Copied. */
	const char *ns, *name, *identity;
	/* Factor for all times above, if no other candidate waits; 0 means 1. */
	unsigned slower;
	/* leaseTransitions, part of every fence. */
	void (*on_started)(int64_t transitions, void *arg);
	void (*on_stopped)(void *arg);
	void *arg;
};
struct kube_lease *kube_lease_new(struct loop_group *g, const struct kube_lease_spec *s);
/* Does not release the lease. Allowed in its callbacks. */
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
/* Milliseconds since the last successful renewal began; INT64_MAX: not held. */
int64_t kube_lease_renewed_age(const struct kube_lease *l);

#endif
