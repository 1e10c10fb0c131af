#ifndef CONTROLLER_CORE_SECRETS_H
#define CONTROLLER_CORE_SECRETS_H

#include <stdbool.h>
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * secrets: reads Kubernetes Secrets by name (drover may get them, but not list or watch), keeps
 * their values as struct secret, and reads each one again periodically.
 *
 * Up to 150 Secrets are read every 30 s each; more than that are read in turn, 5 per second: 1,500
 * Secrets (one for each of 1,000 machines and 500 tenants) every 5 min. A Secret with
 * secrets_expect() is read every 30 s regardless of their number. One that is missing or unreadable
 * is read again after 2 s; more than 100 of those are read in turn, 50 per second.
 */
struct secrets;

enum secret_state { SECRET_LOADING, SECRET_ABSENT, SECRET_DENIED, SECRET_ERROR, SECRET_LOADED };

struct secrets *secrets_new(struct loop_group *g, struct kube_client *c, const char *own_ns,
			    void (*changed)(const char *ns, const char *name, void *arg),
			    void *arg);
void secrets_free(struct secrets *s);
DEFINE_OWN(secrets)

/* Returns the state of the Secret; ns NULL: drover's own namespace. The first call starts the read.
 * changed() is called when the state or the values change. */
enum secret_state secrets_want(struct secrets *s, const char *ns, const char *name);
/* Returns the value of a key; NULL: not loaded, or no such key. Borrowed until the next loop
 * turn. */
const struct secret *secrets_value(struct secrets *s, const char *ns, const char *name,
				   const char *key);
/* Reads the Secret every 30 s until it has changed. For a Secret that is missing, was refused by
 * its target, or must be followed closely. */
void secrets_expect(struct secrets *s, const char *ns, const char *name);
/* Reads the Secret now. For a changed reference to it: the Secret may have been changed at the same
 * time. */
void secrets_reread(struct secrets *s, const char *ns, const char *name);
/* Returns the resourceVersion; "" if never loaded. */
const char *secrets_version(struct secrets *s, const char *ns, const char *name);

/* Creates the Secret with these values if it does not exist. If another replica creates it first,
 * that replica's values are used. The values become available through secrets_value(). */
void secrets_ensure(struct secrets *s, const char *name, const char *const *keys,
		    const struct secret *const *values, size_t n);

/* Returns 0 if the Secret name in drover's namespace permits its login to be sent to endpoint: its
 * key `endpoint` must be equal, so that whoever may write Providers cannot send the login
 * elsewhere. -1: the error text says what does not match; field: the Provider's field that names
 * the Secret, for that text. */
int secrets_may_go(struct secrets *s, const char *field, const char *name, const char *endpoint,
		   struct err *e);

#endif
