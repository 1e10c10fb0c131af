#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <argp.h>
#include <stdio.h>

#include "api/kinds.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * client: parts shared by the commands: options, the connection to the host cluster, calls that
 * wait for their answer, and reports of what was written.
 *
 * Each command is a process with nothing else on its event loop, so a call may run the loop until
 * its answer arrives. The controller does not use this module.
 * Tests: tests/unit/cli/test_verbs.c, tests/unit/cli/test_client.c
 */
struct cli_options {
	const char *kubeconfig, *context;
	bool json;
};
enum { CLI_CONTEXT = 0x6001 }; /* argp key of the option --context, which has no letter */
#define CLI_KUBECONFIG_HELP                                                                        \
	"Kubeconfig of the host cluster (default: KUBECONFIG, in a pod its own cluster, else "     \
	"~/.kube/config)"
#define CLI_CLUSTER_ROWS                                                                           \
	{"kubeconfig", 'k', "FILE", 0, CLI_KUBECONFIG_HELP, 0},                                    \
	{                                                                                          \
		"context", CLI_CONTEXT, "NAME", 0, "Context to use (default: current-context)", 0  \
	}
#define CLI_OUTPUT_ROW                                                                             \
	{                                                                                          \
		"output", 'o', "FORMAT", 0, "Output format: json", 0                               \
	}
#define CLI_OPTION_ROWS                                                                            \
	CLI_CLUSTER_ROWS, CLI_OUTPUT_ROW,                                                          \
	{                                                                                          \
		0                                                                                  \
	}
/* Handles the options of the rows above; returns ARGP_ERR_UNKNOWN for any other key. */
error_t cli_option(int key, char *arg, struct argp_state *st, struct cli_options *o);

/* Returns the kubeconfig of the host cluster, from the first of: path (NULL: not given), KUBECONFIG
 * (may be a list), the pod's own credentials, ~/.kube/config. context NULL: the current context.
 * NULL with e, which names what was tried. The caller frees the result. */
struct kube_config *cli_kubeconfig(const char *path, const char *context, struct err *e);

struct cli_client {
	/* Printed before each error, such as "drover drain". */
	const char *verb;
	bool json;
	/* True if out is a terminal. */
	bool tty;
	FILE *out;
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	struct kube_client *host;
};
/* Connects to the host cluster. Returns 0, or -1 after printing the cause on standard error. */
int cli_open(struct cli_client *c, const char *verb, const struct cli_options *o);
void cli_close(struct cli_client *c);

/* Prints c->verb and the error on standard error. Always returns 1, the exit status. */
int cli_failed(const struct cli_client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Asks the operator on the terminal to confirm what was printed on standard error. Returns 0 for
 * yes; otherwise 1, after printing that nothing was changed, or, without a terminal, that --yes is
 * required. */
int cli_confirm(const struct cli_client *c);

/* Returns the object, owned by the caller; NULL with e. */
json_t *cli_get(struct cli_client *c, enum object_kind_id kind, const char *name, struct err *e);

/* Calls on_item for each object of a kind; o is valid during the call. Returns 0, or -1 with e. */
int cli_list(struct cli_client *c, enum object_kind_id kind, void (*on_item)(json_t *o, void *arg),
	     void *arg, struct err *e);
/* Lists like cli_list(), only objects that match selector, in the form of kubectl's -l. NULL:
 * all. */
int cli_list_selected(struct cli_client *c, enum object_kind_id kind, const char *selector,
		      void (*on_item)(json_t *o, void *arg), void *arg, struct err *e);
/* Lists like cli_list_selected(), for a resource that is not drover's. ns NULL: all namespaces. */
int cli_list_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		const char *selector, void (*on_item)(json_t *o, void *arg), void *arg,
		struct err *e);
/* Prints why objects of a kind, or the object name, could not be read, and what to do: rights,
 * another cluster, missing CustomResourceDefinitions. Always returns 1. */
int cli_unread(struct cli_client *c, enum object_kind_id kind, const char *name,
	       const struct err *e);
/* Returns the JSON answer for a path of the API server, owned by the caller; NULL with e. */
json_t *cli_path(struct cli_client *c, const char *path, struct err *e);
/* Creates an object that the server answers but does not store (a review). Returns the answer,
 * owned by the caller; NULL with e. */
json_t *cli_review(struct cli_client *c, const struct kube_resource *kind, const json_t *review,
		   struct err *e);
/* Returns only the metadata of an object, so that no Secret data is sent; NULL with e. ns: NULL for
 * cluster-scoped resources. */
json_t *cli_metadata(struct cli_client *c, const struct kube_resource *kind, const char *ns,
		     const char *name, struct err *e);
/* Returns the text answer for a path of the API server as a JSON string; NULL with e. */
json_t *cli_text(struct cli_client *c, const char *path, struct err *e);
/* Returns a Secret with its data, owned by the caller; NULL with e. */
json_t *cli_secret(struct cli_client *c, const char *ns, const char *name, struct err *e);
/* Decodes a value of a Secret's data; the caller frees the result. NULL with e. */
struct secret *cli_decoded(const char *base64, struct err *e);

/* Returns the Machine of that name, or the Machine under the Node of that name, found by its
 * NodeClaim; NULL with e. */
json_t *cli_machine(struct cli_client *c, const char *node_or_machine, struct err *e);

/* Patches an object and prints text and the equivalent kubectl command. Takes ownership of
 * patch. Returns the exit status. A metadata.resourceVersion in patch makes the server refuse
 * the patch if the object has changed; the printed kubectl command omits it. text: description
 * for the operator. */
int cli_write(struct cli_client *c, enum object_kind_id kind, const char *name, json_t *patch,
	      const char *text);
/* Creates an object and prints text and the equivalent kubectl command. Takes ownership of object.
 * Returns the exit status. */
int cli_make(struct cli_client *c, enum object_kind_id kind, json_t *object, const char *text);

/* Returns a patch that sets annotation key: {"metadata": {"annotations": {key: value}}}. value
 * NULL: the current time. */
json_t *cli_annotation(struct cli_client *c, const char *key, const char *value);

#endif
