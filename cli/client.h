#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <argp.h>
#include <stdio.h>

#include "api/kinds.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * client: what the verbs share: options, a connection to the host cluster,
 * calls that wait for their answer, and how what was written is told.
 *
 * A verb is a program of its own with nothing else on its loop, so calls may run the loop until
 * they are answered.  Nothing here is for the daemon.
 * Tests: tests/unit/cli/test_verbs.c, tests/unit/cli/test_client.c
 */
struct cli_options {
	const char *kubeconfig, *context;
	bool json;
};
enum { CLI_CONTEXT = 0x6001 }; /* the key of an option without a letter */
#define CLI_KUBECONFIG_HELP "The host cluster (KUBECONFIG; in a pod its own; ~/.kube/config)"
#define CLI_CLUSTER_ROWS                                                                           \
	{"kubeconfig", 'k', "FILE", 0, CLI_KUBECONFIG_HELP, 0},                                    \
	{                                                                                          \
		"context", CLI_CONTEXT, "NAME", 0, "The context in it (its current-context)", 0    \
	}
#define CLI_OUTPUT_ROW                                                                             \
	{                                                                                          \
		"output", 'o', "FORMAT", 0, "json: for programs", 0                                \
	}
#define CLI_OPTION_ROWS                                                                            \
	CLI_CLUSTER_ROWS, CLI_OUTPUT_ROW,                                                          \
	{                                                                                          \
		0                                                                                  \
	}
/* The keys of those rows; ARGP_ERR_UNKNOWN for any other. */
error_t cli_option(int key, char *arg, struct argp_state *st, struct cli_options *o);

/* Of the host cluster: path (NULL: not given), else KUBECONFIG, which may be a list, else in a pod
 * its own, else ~/.kube/config. context: NULL: the current one. NULL with e, which names what was
 * tried. Caller frees. */
struct kube_config *cli_kubeconfig(const char *path, const char *context, struct err *e);

struct cli_client {
	/* "drover drain", before each error */
	const char *verb;
	bool json;
	/* out is a terminal */
	bool tty;
	FILE *out;
	struct loop *loop;
	struct loop_group *group;
	struct http *http;
	struct kube_client *host;
};
/* -1: it said why on standard error. */
int cli_open(struct cli_client *c, const char *verb, const struct cli_options *o);
void cli_close(struct cli_client *c);

/* Errors are said, after c->verb; always gives 1, the exit status. */
int cli_failed(const struct cli_client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Asks at the terminal whether what was said on standard error is so. 0: yes; else 1, and it said
 * that nothing was written (without a terminal: that --yes is wanted). */
int cli_confirm(const struct cli_client *c);

/* What the server answered, or NULL with e. */
json_t *cli_get(struct cli_client *c, enum object_kind_id kind, const char *name, struct err *e);

/* Of each object of a kind; -1 with e.  o is borrowed during the call. */
int cli_list(struct cli_client *c, enum object_kind_id kind, void (*on_item)(json_t *o, void *arg),
	     void *arg, struct err *e);
/* Those with these labels, as kubectl's -l has them; NULL: all. */
int cli_list_selected(struct cli_client *c, enum object_kind_id kind, const char *selector,
		      void (*on_item)(json_t *o, void *arg), void *arg, struct err *e);
/* The same of what is none of drover's kinds; ns: NULL: all. */
int cli_list_of(struct cli_client *c, const struct kube_resource *resource, const char *ns,
		const char *selector, void (*on_item)(json_t *o, void *arg), void *arg,
		struct err *e);
/* Says why objects of a kind, or that one (name), could not be read, and what to do: rights,
 * another cluster, no CRDs. Always 1. */
int cli_unread(struct cli_client *c, enum object_kind_id kind, const char *name,
	       const struct err *e);
/* Whatever that path answers, or NULL with e. */
json_t *cli_path(struct cli_client *c, const char *path, struct err *e);
/* Make an object that the server answers and does not keep (a review), or NULL with e. */
json_t *cli_review(struct cli_client *c, const struct kube_resource *kind, const json_t *review,
		   struct err *e);
/* Only the metadata of an object, or NULL with e: nothing secret is sent. ns: NULL for
 * cluster-scoped. */
json_t *cli_metadata(struct cli_client *c, const struct kube_resource *kind, const char *ns,
		     const char *name, struct err *e);
/* The same of a text: a JSON string, or NULL with e. */
json_t *cli_text(struct cli_client *c, const char *path, struct err *e);
/* A Secret whole, or NULL with e; cli_decoded(): a value of its data, or NULL with e. */
json_t *cli_secret(struct cli_client *c, const char *ns, const char *name, struct err *e);
struct secret *cli_decoded(const char *base64, struct err *e);

/* The Machine of that name, or that a Node of that name (its claim's) runs on. */
json_t *cli_machine(struct cli_client *c, const char *node_or_machine, struct err *e);

/* Patch it, say what was written and how kubectl writes the same; text: for people. Gives the exit
 * status. patch: taken; with metadata.resourceVersion it is compare-and-swap, which kubectl's line
 * leaves out. */
int cli_write(struct cli_client *c, enum object_kind_id kind, const char *name, json_t *patch,
	      const char *text);
/* The same for a new object (taken). */
int cli_make(struct cli_client *c, enum object_kind_id kind, json_t *object, const char *text);

/* drover.dev/retry and the like on that object: {"metadata": {"annotations": {key: now}}} */
json_t *cli_annotation(struct cli_client *c, const char *key, const char *value);

#endif
