#ifndef PROVIDERS_NETRIS_CHECK_H
#define PROVIDERS_NETRIS_CHECK_H

#include "base/data/json.h"
#include "providers/fabric.h"
#include "providers/probe_check.h"

/*
 * netris_check: does a Netris controller have what drover needs of it? It reads, and changes
 * nothing.
 *
 * Every list of the controller is read once, and its switches again until each one that serves a
 * machine was heard of, at most wait_ms. Each finding says of what it is, what is so, and how to
 * mend what is wrong.
 *
 * On the loop thread; done() exactly once, never inside the call.
 * Tests: tests/contract/test_netris_check.c
 */
/* Of a tenant's machines to its API server. */
struct netris_check_way {
	/* segment without "tenant/" */
	const char *tenant;
	struct fabric_way way;
};
struct netris_check_spec {
	struct loop_group *group;
	const struct fabric_netris *netris;
	/* segments: names of server clusters */
	const char *quarantine, *provisioning;
	/* of the Provider, NULL-terminated */
	const char *const *machines;
	/* their segments without "tenant/", NULL-terminated */
	const char *const *tenants;
	/* Whose addresses machines ask; their networks (prefixes) are what the controller shows. */
	const struct probe_check_segment *probes;
	size_t nprobes;
	const struct netris_check_way *ways;
	size_t nways;
	int64_t wait_ms;
	/* findings: [{"of": "machine gpu-1", "result": "ok" | "note" | "wrong", "says": "...",
	 * "mend": "..."}], mend of what is wrong, and of notes that can be helped. Borrowed. */
	void (*done)(const json_t *findings, unsigned wrong, void *arg);
	void *arg;
};
struct netris_check;

/* All of s is borrowed until done(), or until it is freed, which done() may do. */
struct netris_check *netris_check_new(const struct netris_check_spec *s, struct err *e);
void netris_check_free(struct netris_check *c);

#endif
