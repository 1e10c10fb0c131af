#ifndef PROVIDERS_EXEC_CHECK_H
#define PROVIDERS_EXEC_CHECK_H

#include "base/data/json.h"
#include "base/err.h"
#include "base/loop/loop.h"

/*
 * exec_check: tests whether a program implements docs/provider-protocol.md. It sends the requests
 * that drover would send for one machine, and requests for a machine that the program cannot know.
 * With `changes` it also switches the machine off and on, changes its medium and its boot device,
 * and sends requests with an older fence and with a wrong UUID. Afterwards the machine is off,
 * without a medium, and boots from its disk.
 *
 * On the loop thread; calls done() exactly once, never inside a call.
 * Tests: tests/contract/test_exec_check.c
 */
struct exec_check_spec {
	struct loop_group *group;
	/* argv of the program, NULL-terminated, run without a shell */
	const char *const *command;
	/* Name of the machine as the program knows it; for a cloud: name of the instance type */
	const char *machine;
	/* True: the program represents a cloud. With `changes` one instance is launched, at the
	 * operator's cost. */
	bool cloud;
	bool changes;
	/* Lowest fence (number of the acting leader) that is sent. Must be higher than every fence
	 * that the program has seen; the time in seconds is suitable. */
	int64_t fence;
	/* Called when the check has ended. findings, valid during the call: [{"of": "power On",
	 * "result": "ok" | "note" | "wrong", "says": "...", "mend": "..."}]. wrong: number of
	 * findings with result "wrong". */
	void (*done)(const json_t *findings, unsigned wrong, void *arg);
	void *arg;
};
struct exec_check;

/* Starts the check. Everything in s is borrowed until done() or exec_check_free(). done() must not
 * free the check. */
struct exec_check *exec_check_new(const struct exec_check_spec *s);
/* Frees the check without calling done(). c may be NULL. */
void exec_check_free(struct exec_check *c);

#endif
