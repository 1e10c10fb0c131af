#ifndef PROVIDERS_EXEC_CHECK_H
#define PROVIDERS_EXEC_CHECK_H

#include "base/data/json.h"
#include "base/err.h"
#include "base/loop/loop.h"

/*
 * exec_check: does a program keep to docs/provider-protocol.md? It is asked about one machine as
 * drover would ask, and about one that it cannot know. With `changes` the machine is switched off
 * and on, its medium and its boot device are changed, and older leaders and other machines are
 * played; in the end it is off, without medium, and boots from its disk.
 *
 * On the loop thread; done() exactly once, never inside the call.
 * Tests: tests/contract/test_exec_check.c
 */
struct exec_check_spec {
	struct loop_group *group;
	/* NULL-terminated, no shell */
	const char *const *command;
	/* what the program calls it; of a cloud the instance type */
	const char *machine;
	/* it launches instances and ends them; with `changes` one is, and is paid for */
	bool cloud;
	bool changes;
	/* of the first change; higher than what the program has seen: the time in seconds */
	int64_t fence;
	/* findings: [{"of": "power On", "result": "ok" | "note" | "wrong", "says": "...", "mend":
	 * "..."}], borrowed. */
	void (*done)(const json_t *findings, unsigned wrong, void *arg);
	void *arg;
};
struct exec_check;

/* All of s is borrowed until done(), or until it is freed, which done() may not do. */
struct exec_check *exec_check_new(const struct exec_check_spec *s);
/* NULL does nothing */
void exec_check_free(struct exec_check *c);

#endif
