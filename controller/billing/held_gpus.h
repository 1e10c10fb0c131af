#ifndef CONTROLLER_BILLING_HELD_GPUS_H
#define CONTROLLER_BILLING_HELD_GPUS_H

#include <stdint.h>

/*
 * held_gpus: counts idle GPUs that are reserved for a tenant's gangs (gang_holds.h), as GPU seconds
 * that count as used by the tenant (used.h).
 *
 * Amounts are thousandths of a GPU, times are Unix ms. Kept in memory: a leader that stops loses
 * what VirtualCluster.status.usage does not contain yet. On the loop thread.
 * Tests: tests/unit/controller/billing/test_held_gpus.c
 */
struct held_gpus;
struct held_gpus *held_gpus_new(void);
void held_gpus_free(struct held_gpus *h);
/* Sets how many GPUs (milli: thousandths) are reserved for the tenant from now on. */
void held_gpus_set(struct held_gpus *h, const char *tenant, int64_t milli, int64_t now);
/* Returns the GPU seconds that were reserved for the tenant between Unix ms `since` and `now`. 0 if
 * h is NULL. */
int64_t held_gpus_seconds(const struct held_gpus *h, const char *tenant, int64_t since,
			  int64_t now);

#endif
