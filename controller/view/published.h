#ifndef CONTROLLER_VIEW_PUBLISHED_H
#define CONTROLLER_VIEW_PUBLISHED_H

#include "controller/core/context.h"
#include "controller/core/keys.h"

/*
 * view_published: publishes how to reach the view in the ConfigMap VIEW_NAME (api/annotations.h):
 * `ca.crt`, the CA of its certificate, and `endpoint`, its URL, if the URL is known. Readers find
 * the view there if they have no service proxy (cli/view_client.h).
 *
 * Only the leader writes: when it begins to lead, because another replica may have published its
 * own URL before, and when the CA has changed.
 * Tests: tests/unit/controller/view/test_published.c
 */
/* interval in ms between checks, and before another attempt after an error */
#define VIEW_PUBLISHED_MS 10000

struct view_published;
/* url: URL of the view, copied; NULL: unknown, so readers must use the service proxy. */
struct view_published *view_published_new(struct context *c, struct keys *keys, const char *url);
void view_published_free(struct view_published *p);

/* Returns the URL of a listener at ADDRESS:PORT, malloc'd. NULL: unknown, because the listener is
 * on all addresses or on a port that the kernel chooses. */
char *view_published_url(const char *listen);

#endif
