#ifndef CONTROLLER_CORE_SECRETS_H
#define CONTROLLER_CORE_SECRETS_H

#include <stdbool.h>
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * secrets: reads Kubernetes Secrets by name (drover may get them, but not list or watch), stores
 * their values as struct secret, and reads each one again periodically.
 *
 * Up to 150 Secrets are read every 30 s each. If there are more, they are read in turn, 5 per
 * second: 1,500 Secrets (one for each of 1,000 machines and 500 tenants) every 5 min. A Secret for
 * which secrets_expect() was called is read every 30 s regardless of their number. A Secret that is
 * missing or unreadable is read again after 2 s; if there are more than 100 Secrets, 50 per second.
 */
struct secrets;

enum secret_state { SECRET_LOADING, SECRET_ABSENT, SECRET_DENIED, SECRET_ERROR, SECRET_LOADED };

struct secrets *secrets_new(struct loop_group *g, struct kube_client *c, const char *own_ns,
			    void (*changed)(const char *ns, const char *name, void *arg),
			    void *arg);
void secrets_free(struct secrets *s);
DEFINE_OWN(secrets)

/* Returns the state of the Secret; ns NULL: drover's own namespace. The first call for a Secret
 * starts to read it. Later, changed() is called when its state or its values change. */
enum secret_state secrets_want(struct secrets *s, const char *ns, const char *name);
/* Returns the value of one key of the Secret; NULL: the Secret is not loaded, or has no such key.
 * Borrowed until the next loop turn. */
const struct secret *secrets_value(struct secrets *s, const char *ns, const char *name,
				   const char *key);
/* Reads the Secret every 30 s until it has changed. Call for a Secret that is missing, whose login
 * was refused by its target, or whose changes must take effect soon. */
void secrets_expect(struct secrets *s, const char *ns, const char *name);
/* Reads the Secret now. Call when an object begins to refer to the Secret, because an operator may
 * have changed both at the same time. */
void secrets_reread(struct secrets *s, const char *ns, const char *name);
/* Returns the resourceVersion of the Secret; "" if it was never loaded. */
const char *secrets_version(struct secrets *s, const char *ns, const char *name);

/* Creates Secret `name` in drover's namespace with n keys and values, if it does not exist. If
 * another replica creates the Secret first, that replica's values are used. The values become
 * available through secrets_value(). */
void secrets_ensure(struct secrets *s, const char *name, const char *const *keys,
		    const struct secret *const *values, size_t n);

/* Checks whether the login in Secret `name` (in drover's namespace) may be sent to `endpoint`.
 * Returns 0 if the Secret's key `endpoint` contains the same text, so that a user who may only
 * write Providers cannot send the login elsewhere. Otherwise returns -1 and *e says what does not
 * match. field: the Provider's field that names the Secret, for the error text. */
int secrets_check_endpoint(struct secrets *s, const char *field, const char *name,
			   const char *endpoint, struct err *e);

#endif
