#ifndef CLI_IMPORT_ARGS_H
#define CLI_IMPORT_ARGS_H

#include "cli/client.h"

/*
 * import_args: the command line that `drover machine import` and `drover tenant import` share: the
 * subcommand import, at most one object, drover's namespace, and the options of the cluster.
 * Tests: tests/unit/cli/test_machine_import.c, tests/unit/cli/test_tenant.c
 */
struct import_args {
	struct cli_options o;
	/* drover's own namespace; the caller sets the default */
	const char *ns;
	/* NAME or NAMESPACE/NAME of the object to import; NULL: all */
	const char *of;
	/* true: the word import was given */
	bool import;
};
#define IMPORT_ARGS_DOC "import [NAME|NAMESPACE/NAME]"
/* Handles arguments, the end of the line, --namespace and the options of CLI_OPTION_ROWS. what:
 * type of the objects in errors, such as "vCluster". Returns ARGP_ERR_UNKNOWN for any other key. */
error_t import_args_parse(int key, char *arg, struct argp_state *st, struct import_args *i,
			  const char *what);

#endif
