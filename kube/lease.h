#ifndef KUBE_LEASE_H
#define KUBE_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/own.h"
#include "kube/client.h"

/*
 * kube_lease: leader election by a Lease (coordination.k8s.io/v1): duration
 * 15 s, renewed every 2 s with jitter, given up after 9.5 s without success.  Every
 * term has a number of its own (leaseTransitions), also for the same identity.
 *
 * Expiry of another's lease is judged by the locally observed time of its last
 * change, never by comparing clocks.  on_stopped comes before the renew deadline of 10 s
 * passes: from then on nothing may be written.  The lease avoids contention only; the lock of a
 * machine is the compare-and-swap on its object.
 */
struct kube_lease;
struct kube_lease_spec {
	struct kube_client *client;
	/* copied */
	const char *ns, *name, *identity;
	/* all times above, so many times as long: nobody else waits for it; 0: 1 */
	unsigned slower;
	/* leaseTransitions, part of every fence */
	void (*on_started)(int64_t transitions, void *arg);
	void (*on_stopped)(void *arg);
	void *arg;
};
struct kube_lease *kube_lease_new(struct loop_group *g, const struct kube_lease_spec *s);
/* releases nothing; allowed in its callbacks */
void kube_lease_free(struct kube_lease *l);
DEFINE_OWN(kube_lease)
/* Stop, give the lease back (holderIdentity ""), then done(arg), also when that failed: it then
 * runs out. on_stopped is not called: whoever releases has stopped writing. It is not asked for
 * again. */
void kube_lease_release(struct kube_lease *l, void (*done)(void *arg), void *arg);
bool kube_lease_held(const struct kube_lease *l);
/* Who holds it, as last seen, ourselves too; "": nobody, or it was not seen yet. Valid until the
 * loop goes on. */
const char *kube_lease_holder(const struct kube_lease *l);
/* ms since the last successful renewal began; INT64_MAX: not held */
int64_t kube_lease_renewed_age(const struct kube_lease *l);

#endif
