#ifndef PROVIDERS_EXEC_CHECK_H
#define PROVIDERS_EXEC_CHECK_H

#include "base/data/json.h"
#include "base/err.h"
#include "base/loop/loop.h"

/*
 * exec_check: tests whether a program implements docs/provider-protocol.md. It sends requests for
 * one machine as drover would, and for a machine that the program cannot know. With `changes` it
 * switches the machine off and on, changes its medium and its boot device, and sends requests with
 * an older fence and with a wrong UUID. Afterwards the machine is off, without a medium, and boots
 * from its disk.
 *
 * On the loop thread; calls done() exactly once, never inside a call.
 * Tests: tests/contract/test_exec_check.c
 */
struct exec_check_spec {
	struct loop_group *group;
	/* argv, NULL-terminated, run without a shell. */
	const char *const *command;
	/* Name of the machine in the program; for a cloud: the instance type. */
	const char *machine;
	/* The program represents a cloud. With `changes` one instance is launched, at the
	 * operator's cost. */
	bool cloud;
	bool changes;
	/* Base of the fences that are sent. Must be higher than every fence that the program has
	 * seen, such as the time in seconds. */
	int64_t fence;
	/* findings: [{"of": "power On", "result": "ok" | "note" | "wrong", "says": "...", "mend":
	 * "..."}], borrowed. */
	void (*done)(const json_t *findings, unsigned wrong, void *arg);
	void *arg;
};
struct exec_check;

/* Everything in s is borrowed until done() or exec_check_free(). done() must not free the check. */
struct exec_check *exec_check_new(const struct exec_check_spec *s);
/* NULL is allowed. */
void exec_check_free(struct exec_check *c);

#endif
