#ifndef CLI_RUN_CONFIG_H
#define CLI_RUN_CONFIG_H

#include <argp.h>
#include "base/data/json.h"

/*
 * run_config: options of `drover run` in a file, so that a ConfigMap or a file below /etc holds
 * what an operator has to give, and unit and manifest hold the rest:
 *
 *   agent-name: [drover.example, 10.1.0.5]
 *   management-network: 10.0.8.0/24
 *   log-json: true
 *
 * A mapping in YAML, of at most 64 KiB. A key is the name of an option; a value is text, a number,
 * or a list of them for an option that may be repeated; true or false for one without an argument.
 * An unknown key and a value that is empty are errors that name the file and the key. Secrets do
 * not belong there, and no option takes one.
 * Tests: tests/unit/cli/test_run_config.c, tests/unit/cli/test_run.c
 */

/* Given once for each value, with the option's key; arg is valid as long as the returned tree. */
typedef void run_config_set(int key, char *arg, void *to);

/* NULL: ERR_INVALID, or the file cannot be read.  options end with a zeroed row. */
json_t *run_config_read(const char *path, const struct argp_option *options, run_config_set *set,
			void *to, struct err *e);

/* The first line of a file of one line, at most 255 bytes, malloc'd. */
char *run_config_line(const char *path, struct err *e);

#endif
