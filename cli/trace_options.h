#ifndef CLI_TRACE_OPTIONS_H
#define CLI_TRACE_OPTIONS_H

#include "controller/controller.h"

/*
 * trace_options: the options --traces-* of `drover run`; `drover up` has --traces-endpoint alone.
 * Tests: tests/unit/cli/test_run.c
 */
struct trace_options {
	/* Each NULL: the option was not given. */
	const char *endpoint, *ca_file, *token_file;
};

/* Lets the controller send traces as the options say; without --traces-endpoint it sends none.
 * Reads the files once. -1 with *e, which names the option. */
int trace_options_apply(const struct trace_options *o, struct controller *c, struct err *e)
	__attribute__((warn_unused_result));

#endif
