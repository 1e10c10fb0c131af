#ifndef CLI_VIEW_CLIENT_H
#define CLI_VIEW_CLIENT_H

#include "cli/client.h"

/*
 * view_client: reads the leader's view (docs/view.md) for a command.
 *
 * The view is read at the first of these places that answers:
 *   1. the URL of the option --view or of the variable DROVER_VIEW; then no other place is tried
 *   2. the URL in the ConfigMap drover-view, which a leader on a fixed address writes (`drover up`)
 *   3. the API server's service proxy
 *
 * The token at 1 and 3 is the kubeconfig's own bearer token, if it has one. Otherwise, and always
 * at 2, it is a new token of the ServiceAccount drover-view for the view alone: whoever can write
 * the ConfigMap must not get a token for the API server.
 *
 * No reader hangs: a connection may take VIEW_CLIENT_MS, and so may a gap in a reply. If the view
 * cannot be read, callers show the objects of the API instead, and why.
 * Tests: tests/unit/cli/test_view_client.c
 */
#define VIEW_CLIENT_MS 3000
/* maximum number of rows of a list; a leader that sends more is not believed */
#define VIEW_CLIENT_ROWS_MAX 200000

struct view_where {
	/* drover's own namespace */
	const char *ns;
	/* URL of the view, and file with its CA; NULL: not given */
	const char *url, *ca_file;
	/* longest time in ms of all reads of one client, from the first one; a later read fails.
	 * The published URL gets half of it, so that the service proxy can still be tried. 0:
	 * each connection and each gap in a reply has its own limit, VIEW_CLIENT_MS. */
	uint32_t total_ms;
};
enum { VIEW_URL = 0x6101, VIEW_CA }; /* argp keys of the options of VIEW_CLIENT_OPTIONS */
#define VIEW_CLIENT_PLACE                                                                          \
	{"view",                                                                                   \
	 VIEW_URL,                                                                                 \
	 "URL",                                                                                    \
	 0,                                                                                        \
	 "HTTPS URL of the leader's view (default: DROVER_VIEW, else found)",                      \
	 0},                                                                                       \
	{                                                                                          \
		"view-ca", VIEW_CA, "FILE", 0,                                                     \
			"CA of --view (default: from ConfigMap drover-view)", 0                    \
	}
#define VIEW_CLIENT_OPTIONS                                                                        \
	VIEW_CLIENT_PLACE,                                                                         \
	{                                                                                          \
		"namespace", 'n', "NAMESPACE", 0, "Namespace of drover (default: drover-system)",  \
			0                                                                          \
	}
/* Handles the options of VIEW_CLIENT_OPTIONS: stores arg in *w. Returns ARGP_ERR_UNKNOWN for any
 * other key. */
error_t view_client_option(int key, char *arg, struct view_where *w);

struct view_client;
/* Creates a client for the view, without connecting to it. c, and the texts in *w, must outlive the
 * client. */
struct view_client *view_client_new(struct cli_client *c, const struct view_where *w);
void view_client_free(struct view_client *v);
DEFINE_OWN(view_client)

/* Reads all pages of a list of the view. path: path of the list without a query, such as
 * "/v1/fleet". rows: name of the member with the rows, such as "machines". Returns the list with
 * the rows of all pages, owned by the caller. NULL: *e contains the cause and what the operator can
 * do; later calls return the same error at once. */
json_t *view_client_list(struct view_client *v, const char *path, const char *rows, struct err *e);

#endif
