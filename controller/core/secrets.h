#ifndef CONTROLLER_CORE_SECRETS_H
#define CONTROLLER_CORE_SECRETS_H

#include <stdbool.h>
#include "base/loop/loop.h"
#include "base/own.h"
#include "base/secret.h"
#include "kube/client.h"

/*
 * secrets: Kubernetes Secrets by name, read one by one (drover may get, not list or watch, them),
 * held as struct secret, and read again while somebody wants them.
 *
 * Every 30 s as long as there are 150 of them; of more, 5 a second, each in its turn: 1,500 (one
 * for each of 1,000 machines and 500 tenants) every 5 min. What somebody waits for
 * (secrets_expect()) is read every 30 s however many there are. One that is not there, or not
 * readable, is tried again after 2 s, of more than 100 50 a second.
 */
struct secrets;

enum secret_state { SECRET_LOADING, SECRET_ABSENT, SECRET_DENIED, SECRET_ERROR, SECRET_LOADED };

struct secrets *secrets_new(struct loop_group *g, struct kube_client *c, const char *own_ns,
			    void (*changed)(const char *ns, const char *name, void *arg),
			    void *arg);
void secrets_free(struct secrets *s);
DEFINE_OWN(secrets)

/* ns NULL: drover's own. The first call starts to load; changed() tells when something new is
 * known. */
enum secret_state secrets_want(struct secrets *s, const char *ns, const char *name);
/* NULL when not loaded or no such key. Borrowed until the next turn of the loop. */
const struct secret *secrets_value(struct secrets *s, const char *ns, const char *name,
				   const char *key);
/* A change of it is waited for, since it is refused or absent, or has to be followed at once: it is
 * read every 30 s until it has changed. */
void secrets_expect(struct secrets *s, const char *ns, const char *name);
/* Reads the Secret now: who names it has changed, so the Secret may have been changed with it. */
void secrets_reread(struct secrets *s, const char *ns, const char *name);
/* resourceVersion; "" when not loaded */
const char *secrets_version(struct secrets *s, const char *ns, const char *name);

/* Create it with these data if there is none (another replica may win: then theirs is taken).
 * The key appears through secrets_value(). */
void secrets_ensure(struct secrets *s, const char *name, const char *const *keys,
		    const struct secret *const *values, size_t n);

/* A login is sent only where its Secret, of drover's namespace, says so itself by the key endpoint:
 * who may write Providers does not choose that. -1 says what of it does not fit; field: whose
 * reference it is, for that text. */
int secrets_may_go(struct secrets *s, const char *field, const char *name, const char *endpoint,
		   struct err *e);

#endif
