#ifndef CLI_RUN_CONFIG_H
#define CLI_RUN_CONFIG_H

#include <argp.h>
#include "base/data/json.h"

/*
 * run_config: options of `drover run` in a file. A ConfigMap or a file below /etc contains the
 * options that an operator has to set; the systemd unit or manifest contains the others:
 *
 *   agent-name: [drover.example, 10.1.0.5]
 *   management-network: 10.0.8.0/24
 *   log-json: true
 *
 * The file is a YAML mapping of at most 64 KiB. A key is the name of an option. A value is text, a
 * number, or a list of these for an option that may be repeated; true or false for an option
 * without an argument. An unknown key and an empty value are errors that name the file and the key.
 * Secrets do not belong in the file, and no option takes one.
 * Tests: tests/unit/cli/test_run_config.c, tests/unit/cli/test_run.c
 */

/* Callback that stores one value. key: key of the option (argp_option.key); arg: the value, valid
 * as long as the tree that run_config_read() returned; to: the argument of run_config_read(). */
typedef void run_config_set(int key, char *arg, void *to);

/* Reads the file and calls set() for each value. options must end with a zeroed row. Returns a tree
 * that owns the values, and that the caller must free; NULL with *e: ERR_INVALID, or the file
 * cannot be read. */
json_t *run_config_read(const char *path, const struct argp_option *options, run_config_set *set,
			void *to, struct err *e);

/* Returns the first line of a file, at most 255 bytes, malloc'd; NULL with *e. */
char *run_config_line(const char *path, struct err *e);

#endif
