#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <argp.h>
#include <stdio.h>

#include "api/kinds.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * client: parts that the commands share: options, the connection to the host cluster, calls that
 * wait for their answer, and reports of what was written.
 *
 * A command is a process with nothing else on its event loop, so each call runs the loop until its
 * answer arrives. The controller does not use this module.
 * Tests: tests/unit/cli/test_verbs.c, tests/unit/cli/test_client.c
 */
struct cli_options {
	const char *kubeconfig, *context;
	bool json;
};
enum { CLI_CONTEXT = 0x6001 }; /* argp key of the option --context, which has no one-letter form */
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
		"output", 'o', "json", 0, "Print JSON", 0                                          \
	}
#define CLI_NAMESPACE_ROW                                                                          \
	{                                                                                          \
		"namespace", 'n', "NAME", 0, "drover's own namespace (default: drover-system)", 0  \
	}
#define CLI_OPTION_ROWS                                                                            \
	CLI_CLUSTER_ROWS, CLI_OUTPUT_ROW,                                                          \
	{                                                                                          \
		0                                                                                  \
	}
/* Handles the options of these macros, except 'n' of CLI_NAMESPACE_ROW: stores arg in *o. Returns
 * ARGP_ERR_UNKNOWN for any other key. */
error_t cli_option(int key, char *arg, struct argp_state *st, struct cli_options *o);

/* Returns the kubeconfig of the host cluster, owned by the caller. Uses the first of: path (NULL:
 * not given), KUBECONFIG (may be a list), the pod's own credentials, ~/.kube/config. context: name
 * of the context; NULL: the current one. NULL: *e names what was tried. */
struct kube_config *cli_kubeconfig(const char *path, const char *context, struct err *e);

struct cli_client {
	/* text printed before each error, such as "drover drain" */
	const char *verb;
	bool json;
	/* true: out is a terminal */
	bool tty;
	FILE *out;
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	struct kube_client *host;
	/* How often cli_write() may still find that the object has changed since the verb read it,
	 * before that is an error; set by CLI_REPEAT() */
	int tries;
	bool outdated;
};
/* Calls a verb, and again as long as the object that it changes was changed by another writer after
 * it was read, at most CLI_TRIES times. So each try decides on what the object contains now. The
 * value is the exit status. */
#define CLI_TRIES 5
#define CLI_REPEAT(c_, call_)                                                                      \
	({                                                                                         \
		int said_;                                                                         \
                                                                                                   \
		(c_)->tries = CLI_TRIES;                                                           \
		do                                                                                 \
			said_ = (call_);                                                           \
		while (cli_is_outdated(c_));                                                       \
		said_;                                                                             \
	})
/* True, once, if the last write found that the object has changed, and may be tried again. */
bool cli_is_outdated(struct cli_client *c);
/* Connects to the host cluster. Returns 0, or -1 after printing the cause on standard error. */
int cli_open(struct cli_client *c, const char *verb, const struct cli_options *o);
void cli_close(struct cli_client *c);

/* True if c->out is a terminal that can move its cursor: TERM is set and not "dumb". */
bool cli_moves_cursor(const struct cli_client *c);
/* True if texts on c->out may have colours: cli_moves_cursor(), and NO_COLOR is not set or empty
 * (https://no-color.org). */
bool cli_colours(const struct cli_client *c);

/* Prints c->verb and the formatted error on standard error, control characters as '?'. Always
 * returns 1, the exit status. */
int cli_failed(const struct cli_client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns what the operator can do about an error of a read from the API server, such as another
 * --context or a role; NULL: nothing is known. */
const char *cli_remedy(const struct err *e);
/* Prints the error of a read from the API server, and its remedy. Always returns 1. */
int cli_failed_read(const struct cli_client *c, const struct err *e);

/* Asks the operator on the terminal to type yes; the caller has printed the question on standard
 * error. Returns 0 for yes. Otherwise returns 1 after printing that nothing was changed, and, if
 * there is no terminal, that --yes is required. */
int cli_confirm(const struct cli_client *c);

/* Returns the object of this kind and name, owned by the caller; NULL with *e. */
json_t *cli_get(struct cli_client *c, enum object_kind_id kind, const char *name, struct err *e);

/* Calls on_item() for each object of a kind; o is valid during the call. Returns 0, or -1 with
 * *e. */
int cli_list(struct cli_client *c, enum object_kind_id kind, void (*on_item)(json_t *o, void *arg),
	     void *arg, struct err *e);
/* Lists like cli_list(), but only the objects that match selector, a label selector as in `kubectl
 * -l`. NULL: all objects. */
int cli_list_selected(struct cli_client *c, enum object_kind_id kind, const char *selector,
		      void (*on_item)(json_t *o, void *arg), void *arg, struct err *e);
/* Lists like cli_list_selected(), for any resource of the API server. ns NULL: all namespaces. */
int cli_list_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		const char *selector, void (*on_item)(json_t *o, void *arg), void *arg,
		struct err *e);
/* Prints why objects of a kind, or the object with this name, could not be read, and what the
 * operator can do (rights, --context, missing CustomResourceDefinitions). e: the error of the read.
 * Always returns 1. */
int cli_report_unreadable(struct cli_client *c, enum object_kind_id kind, const char *name,
			  const struct err *e);
/* Returns the JSON answer of the API server for a URL path, owned by the caller; NULL with *e. */
json_t *cli_path(struct cli_client *c, const char *path, struct err *e);
/* Reads a URL path as cli_path() does, with a header and limits (kube/client.h). */
json_t *cli_path_with(struct cli_client *c, const char *path, const struct kube_path_options *o,
		      struct err *e);
/* Creates a token of a ServiceAccount for one audience, valid for `seconds`. Returns the token,
 * owned by the caller; NULL with *e. */
struct secret *cli_token(struct cli_client *c, const char *ns, const char *account,
			 const char *audience, int64_t seconds, struct err *e);
/* Creates a review, an object that the API server answers but does not store. Returns the answer,
 * owned by the caller; NULL with *e. */
json_t *cli_review(struct cli_client *c, const struct kube_resource *kind, const json_t *review,
		   struct err *e);
/* Returns only the metadata of an object, owned by the caller, so that the data of a Secret is not
 * sent; NULL with *e. ns NULL: for cluster-scoped resources. */
json_t *cli_metadata(struct cli_client *c, const struct kube_resource *kind, const char *ns,
		     const char *name, struct err *e);
/* Returns the text answer of the API server for a URL path as a JSON string, owned by the caller;
 * NULL with *e. */
json_t *cli_text(struct cli_client *c, const char *path, struct err *e);
/* Returns a Secret with its data, owned by the caller; NULL with *e. */
json_t *cli_secret(struct cli_client *c, const char *ns, const char *name, struct err *e);
/* Decodes a base64 value of a Secret's data. Returns the value, owned by the caller; NULL with
 * *e. */
struct secret *cli_decoded(const char *base64, struct err *e);

/* Calls for objects of any resource of the API server. ns NULL: for cluster-scoped resources.
 * cli_get_of(), cli_create_of() and cli_patch_of() return the object as the API server answered,
 * owned by the caller; NULL with *e. They print nothing. */
json_t *cli_get_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		   const char *name, struct err *e);
json_t *cli_create_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		      const json_t *object, struct err *e);
/* Merges patch into the object; with a metadata.resourceVersion in patch only if the object has not
 * changed since (ERR_CONFLICT). */
json_t *cli_patch_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		     const char *name, const json_t *patch, struct err *e);
/* Deletes the object if it has this UID. Returns 0, or -1 with *e. */
int cli_delete_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		  const char *name, const char *uid, struct err *e);

/* Returns the Machine with this name, or, if none has it, the Machine of the NodeClaim (and Node)
 * with this name. The caller owns the result; NULL with *e. */
json_t *cli_machine(struct cli_client *c, const char *node_or_machine, struct err *e);

/* cli_write() and cli_make() also set the annotation AUDIT_REQUESTED_BY (api/annotations.h) to the
 * user's name. The printed command omits the annotation. */
/* Merges patch into an object. Prints text (what was done, for the operator) and the equivalent
 * kubectl command. Takes ownership of patch. Returns the exit status. With a
 * metadata.resourceVersion in patch, the API server refuses the patch if the object has changed
 * since; the printed command omits the resourceVersion. */
int cli_write(struct cli_client *c, enum object_kind_id kind, const char *name, json_t *patch,
	      const char *text);
/* Creates an object, and prints text (what was done, for the operator) and the equivalent kubectl
 * command. Takes ownership of object. Returns the exit status. */
int cli_make(struct cli_client *c, enum object_kind_id kind, json_t *object, const char *text);

/* Returns a patch that sets an annotation: {"metadata": {"annotations": {key: value}}}; the caller
 * owns it. If value is NULL, the annotation's value is the current time. */
json_t *cli_annotation(struct cli_client *c, const char *key, const char *value);

#endif
