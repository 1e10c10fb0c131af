#ifndef CONTROLLER_VIEW_ACCESS_H
#define CONTROLLER_VIEW_ACCESS_H

#include "api/annotations.h"
#include "base/httpd/httpd.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * view_access: decides who may read the view (controller/view/view.h).
 *
 * The host cluster decides, so that access is granted by RBAC: a TokenReview authenticates the
 * caller's bearer token, then a SubjectAccessReview asks whether that user may `get` the path of
 * the request as a nonResourceURL.
 * https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
 *
 * The token is in the header Authorization, or in VIEW_TOKEN_HEADER (api/annotations.h) with the
 * same syntax. The second header is needed behind the API server's service proxy, which removes
 * Authorization from the requests that it forwards. A token is accepted if it was issued for the
 * audience VIEW_AUDIENCE (kubectl create token ACCOUNT --audience drover.dev/view) or for the API
 * server.
 *
 * A path that belongs to a tenant (view_access_check_tenant()) may also be read by users of the
 * tenant's own cluster. The host cluster is asked first, so that a token of the host cluster is
 * never sent to a tenant's API server, which may be hostile. If the host cluster does not accept
 * the token, the same two reviews are sent to the tenant's API server. Only a JWT that names the
 * audience VIEW_AUDIENCE/TENANT is sent there: if a caller takes the wrong tenant's path, the other
 * tenant's API server does not get the token, and a token that it gets is accepted only for its own
 * tenant's path. The reviews by a
 * tenant's API server end after VIEW_TENANT_MS, and VIEW_TENANT_REVIEWS callers of a tenant are
 * reviewed at a time. A review through a client that is about to be freed is ended with 503 by
 * view_access_hang_up().
 *
 * An answer is cached: a grant for VIEW_GRANT_MS, a refusal for VIEW_REFUSAL_MS. New reviews are
 * limited to VIEW_REVIEWS per second, so that callers with invalid tokens cannot slow down the
 * controller's own calls to the host cluster. A long stream is reviewed again
 * (view_access_again()), so that it ends when its caller loses the right. All functions run on the
 * loop thread.
 * Tests: tests/unit/controller/view/test_access.c
 */
#define VIEW_GRANT_MS 60000
#define VIEW_REFUSAL_MS 10000
#define VIEW_REVIEWS 10
#define VIEW_TENANT_MS 10000
#define VIEW_TENANT_REVIEWS 4
/* Maximum number of cached answers; one more replaces the oldest. */
#define VIEW_ANSWERS_MAX 4096

struct view_access;
/* tenants: must outlive the result. */
struct view_access *view_access_new(struct context *c, const struct tenants *tenants);
/* Cancels the reviews in progress. The requests that wait for them stay without a reply until their
 * httpd is freed. */
void view_access_free(struct view_access *a);
DEFINE_OWN(view_access)

/* Calls then(q, arg) if the caller of q may read the path of q: at once if the answer is cached,
 * otherwise later. Does not call then() if the caller may not read the path, or if the host cluster
 * does not answer: replies with the reason (401, 403, 429 or 503) instead. */
void view_access_check(struct view_access *a, struct httpd_req *q,
		       void (*then)(struct httpd_req *q, void *arg), void *arg);

/* Like view_access_check(), for a path that users of the cluster of tenant `tenant` may read too. A
 * tenant that does not exist has no users: its name is answered like a token that is not
 * accepted. */
void view_access_check_tenant(struct view_access *a, struct httpd_req *q, const char *tenant,
			      void (*then)(struct httpd_req *q, void *arg), void *arg);
/* Ends the reviews by this tenant's API server with 503, and forgets the cached answers about paths
 * of tenants. Call before the tenant's client is freed. */
void view_access_hang_up(struct view_access *a, const char *tenant);

/* VIEW_UNKNOWN: the host cluster did not answer. */
enum view_grant { VIEW_GRANTED, VIEW_REFUSED, VIEW_UNKNOWN };
struct view_visit;
/* Reviews the caller of q again while the reply to q is in progress, and passes the result to
 * done(), at once if the answer is cached. Replies nothing, and is not limited by VIEW_REVIEWS: the
 * caller of this function must limit the number of reviews. Returns the review in progress, valid
 * until done(); NULL: done() has been called. */
struct view_visit *view_access_again(struct view_access *a, struct httpd_req *q,
				     void (*done)(enum view_grant g, void *arg), void *arg);
/* Ends the review without done(). Required before q ends; v may be NULL. */
void view_access_cancel(struct view_visit *v);

#endif
