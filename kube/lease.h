#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/own.h"
#include "kube/client.h"

/*
 * kube_lease: leader election by a Lease (coordination.k8s.io/v1): duration 15 s, renewed every 2 s
 * with jitter, given up after 9.5 s without a successful renewal. Every term (the time during which
 * one replica holds the Lease) has its own number (leaseTransitions), even if the same identity
 * acquires the Lease again.
 *
 * A replica judges by its own clock whether another replica's lease has expired: by the time since
 * it saw the last change of the Lease, never by the times in the Lease. on_stopped() is called
 * before the renew deadline of 10 s passes; afterwards nothing may be written. The Lease only keeps
 * two replicas from competing; what protects a machine is the compare-and-swap on its object.
 */
struct kube_lease;
struct kube_lease_spec {
	struct kube_client *client;
	/* Copied by kube_lease_new(). */
	const char *ns, *name, *identity;
	/* Factor for all times in this file's header (15 s, 2 s, 9.5 s, 10 s), for a Lease that no
	 * other candidate wants to acquire; 0 means 1. */
	unsigned slower;
	/* Called when this replica becomes the holder. transitions: number of the term
	 * (leaseTransitions), which is part of every fence (number by which a fabric refuses an
	 * older leader). */
	void (*on_started)(int64_t transitions, void *arg);
	void (*on_stopped)(void *arg);
	/* Returns annotations that the next renewal writes to the Lease, as a new reference; a null
	 * removes one, others stay. NULL: none. The write that acquires the Lease changes no
	 * annotation. May be NULL. */
	json_t *(*annotations)(void *arg);
	void *arg;
};
struct kube_lease *kube_lease_new(struct loop_group *g, const struct kube_lease_spec *s);
/* Frees l; allowed inside l's callbacks. Does not release the Lease. */
void kube_lease_free(struct kube_lease *l);
DEFINE_OWN(kube_lease)
/* Stops renewing, releases the Lease (holderIdentity ""), then calls done(arg). If the release
 * fails, done() is called too, and the Lease expires. on_stopped() is not called, because the
 * caller must have stopped writing. l does not acquire the Lease again. */
void kube_lease_release(struct kube_lease *l, void (*done)(void *arg), void *arg);
bool kube_lease_held(const struct kube_lease *l);
/* Returns the holder as last seen, which may be this replica; "": no holder, or not read yet. Valid
 * until the next turn of the loop. */
const char *kube_lease_holder(const struct kube_lease *l);
/* Returns an annotation of the Lease as last read or written; NULL: none. Valid until the next turn
 * of the loop. */
const char *kube_lease_annotation(const struct kube_lease *l, const char *key);
/* Returns the milliseconds since the start of the last successful renewal; INT64_MAX: this replica
 * does not hold the Lease. */
int64_t kube_lease_renewed_age(const struct kube_lease *l);

#endif
