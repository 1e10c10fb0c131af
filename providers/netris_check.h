#ifndef PROVIDERS_NETRIS_CHECK_H
#define PROVIDERS_NETRIS_CHECK_H

#include "base/data/json.h"
#include "providers/fabric.h"
#include "providers/probe_check.h"

/*
 * netris_check: checks whether a Netris controller has everything that drover needs. It only reads.
 *
 * It reads each list of the controller once. Then it polls the switches until each switch that
 * serves a machine has reported, for at most wait_ms. Each finding contains its subject, the result
 * and, if something is wrong, the remedy.
 *
 * On the loop thread; calls done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_check.c
 */
/* A path from a tenant's machines to the tenant's API server, to be checked. */
struct netris_check_api_path {
	/* Name of the tenant's segment without "tenant/" */
	const char *tenant;
	struct fabric_api_path path;
};
struct netris_check_spec {
	struct loop_group *group;
	const struct fabric_netris *netris;
	/* Names of the server clusters of the quarantine and the provisioning segment */
	const char *quarantine, *provisioning;
	/* Names of the Provider's Machines, NULL-terminated. */
	const char *const *machines;
	/* Names of the tenants' segments without "tenant/", NULL-terminated. */
	const char *const *tenants;
	/* Segments with their probe addresses. The caller leaves `prefixes` empty; the check sets
	 * it from the controller's V-nets. */
	const struct probe_check_segment *probes;
	size_t nprobes;
	const struct netris_check_api_path *paths;
	size_t npaths;
	int64_t wait_ms;
	/* Called when the check has ended. findings, valid during the call: [{"of": "machine
	 * gpu-1", "result": "ok" | "note" | "wrong", "says": "...", "mend": "..."}]. mend is
	 * present for "wrong", and for a note that has a remedy. wrong: number of findings with
	 * result "wrong". */
	void (*done)(const json_t *findings, unsigned wrong, void *arg);
	void *arg;
};
struct netris_check;

/* Starts the check. Everything in s is borrowed until done() or netris_check_free(). done() may
 * free the check. */
struct netris_check *netris_check_new(const struct netris_check_spec *s, struct err *e);
void netris_check_free(struct netris_check *c);

#endif
