#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "kube/apiserver/server.h"

/*
 * Authenticates a request, in this order: by client certificate (CN is the user, O the group), by
 * bearer token (from the list in the spec, of a ServiceAccount, of a bootstrap Secret), as
 * anonymous. A request with an unknown token is refused even if anonymous requests are accepted.
 */

/* --- tokens ----------------------------------------------------------------------------------- */

static bool is_listed(struct apiserver *a, const struct secret *token, struct user *u,
		      struct arena *m)
{
	const struct apiserver_token *found = NULL;

	/* Compare all tokens, so that the run time does not reveal which one matches. */
	for (size_t i = 0; i < a->spec.ntokens; i++)
		if (secret_equal(a->spec.tokens[i].token, token))
			found = &a->spec.tokens[i];
	if (!found)
		return false;
	u->name = arena_strdup(m, found->user);
	for (const char *const *g = found->groups; g && *g; g++)
		user_add_group(u, m, *g);
	return true;
}

/* Returns the decoded text under this key in a Secret's data, in the arena; NULL: not present. */
static const char *data_of(const json_t *secret, const char *key, struct arena *a)
{
	const char *text = json_str_at(secret, "data", key);
	struct err e;
	size_t len = 0;
	char *plain = text ? crypto_base64_decode(text, strlen(text), &len, &e) : NULL;
	const char *copy = plain ? arena_strndup(a, plain, len) : NULL;

	if (plain)
		secret_wipe(plain, len);
	free(plain);
	return copy;
}

/* True for ID.SECRET: 6 and 16 characters of a-z0-9 (kubernetes.io, Authenticating with Bootstrap
 * Tokens). */
static bool has_bootstrap_form(const char *token)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	return strspn(token, letters) == 6 && token[6] == '.' && strspn(token + 7, letters) == 16 &&
	       token[23] == '\0';
}

static void add_bootstrap_groups(struct user *u, const char *list, struct arena *a)
{
	char *rest = list ? arena_strdup(a, list) : NULL;

	user_add_group(u, a, "system:bootstrappers");
	for (char *one; rest && (one = strsep(&rest, ","));)
		if (str_starts(one, "system:bootstrappers:"))
			user_add_group(u, a, one);
}

static bool is_bootstrap(struct apiserver *a, const struct secret *token, struct user *u,
			 struct arena *m)
{
	const char *text = secret_expose(token), *known, *expiration;
	struct store_entry entry;
	int64_t until;

	if (!has_bootstrap_form(text))
		return false;

	const char *id = arena_strndup(m, text, 6);
	OWN_JSON secret = object_read(
		a, arena_printf(m, "secrets/kube-system/bootstrap-token-%s", id), &entry);

	if (!str_eq(json_str_at(secret, "type"), "bootstrap.kubernetes.io/token") ||
	    object_is_going(secret) || !str_eq(data_of(secret, "token-id", m), id) ||
	    !str_eq(data_of(secret, "usage-bootstrap-authentication", m), "true"))
		return false;
	known = data_of(secret, "token-secret", m);
	if (!known || !secret_equal_bytes(token, arena_printf(m, "%s.%s", id, known), 23))
		return false;
	expiration = data_of(secret, "expiration", m);
	if (expiration && (!str_to_time(expiration, &until) || until <= loop_wall(a->loop)))
		return false;
	u->name = arena_printf(m, "system:bootstrap:%s", id);
	add_bootstrap_groups(u, data_of(secret, "auth-extra-groups", m), m);
	return true;
}

json_t *auth_token(struct apiserver *a, const struct secret *token, const json_t *audiences,
		   struct user *u, struct arena *m)
{
	json_t *fit;

	*u = (struct user){0};
	/* As in kube-apiserver, a token that names no audience is for the server itself. */
	fit = is_listed(a, token, u, m) || is_bootstrap(a, token, u, m)
		      ? token_audiences(audiences, NULL)
		      : token_user(a, token, audiences, u, m);
	if (fit)
		user_add_group(u, m, "system:authenticated");
	return fit;
}

/* --- a request -------------------------------------------------------------------------------- */

static bool from_certificate(struct request *rq)
{
	const struct httpd_identity *id = httpd_identity(rq->q);

	if (!id || str_empty(id->cert_subject_cn))
		return false;
	rq->user.name = arena_strdup(rq->arena, id->cert_subject_cn);
	if (!str_empty(id->cert_subject_o))
		user_add_group(&rq->user, rq->arena, id->cert_subject_o);
	user_add_group(&rq->user, rq->arena, "system:authenticated");
	return true;
}

static int unauthorized(struct request *rq)
{
	return fault_set(&rq->fault, FAULT_UNAUTHORIZED, "Unauthorized");
}

static int find_user(struct request *rq)
{
	const struct apiserver_spec *spec = &rq->a->spec;
	const char *name = spec->user_of ? spec->user_of(rq->q, spec->arg) : NULL;
	OWN(secret) token = NULL;

	if (name || (!spec->user_of && !spec->authenticate)) {
		rq->user.name = arena_strdup(rq->arena, str_or(name, "system:admin"));
		user_add_group(&rq->user, rq->arena, "system:authenticated");
		/* Without user_of() and `authenticate` the server checks nobody: give the user all
		 * rights. */
		if (!name)
			user_add_group(&rq->user, rq->arena, "system:masters");
		return 0;
	}
	if (!spec->authenticate)
		return unauthorized(rq);
	if (from_certificate(rq))
		return 0;
	token = httpd_bearer(rq->q);
	if (token) {
		OWN_JSON fit = auth_token(rq->a, token, NULL, &rq->user, rq->arena);

		return fit ? 0 : unauthorized(rq);
	}
	if (!spec->rbac || httpd_header(rq->q, "Authorization"))
		return unauthorized(rq);
	rq->user.name = "system:anonymous";
	user_add_group(&rq->user, rq->arena, "system:unauthenticated");
	return 0;
}

/* --- impersonation (kubectl --as) ------------------------------------------------------------- */

static int may_impersonate(struct request *rq, const char *what, const char *ns, const char *name)
{
	struct access x = {
		.verb = "impersonate", .group = "", .resource = what, .ns = ns, .name = name};

	if (!rq->a->spec.rbac || rbac_allows(rq->a, &rq->user, &x, NULL))
		return 0;
	return fault_set(&rq->fault, FAULT_FORBIDDEN,
			 "%s \"%s\" is forbidden: User \"%s\" cannot impersonate resource "
			 "\"%s\" in API group \"\"%s",
			 what, name, rq->user.name, what, ns ? "" : " at the cluster scope");
}

static int check_account(struct request *rq, const char *account)
{
	const char *colon = strchr(account, ':');

	if (!colon)
		return may_impersonate(rq, "users", NULL, account);
	return may_impersonate(rq, "serviceaccounts",
			       arena_strndup(rq->arena, account, (size_t)(colon - account)),
			       colon + 1);
}

static void add_account_groups(struct user *u, struct arena *a, const char *account)
{
	const char *colon = strchr(account, ':');

	user_add_group(u, a, "system:serviceaccounts");
	if (colon)
		user_add_group(u, a,
			       arena_printf(a, "system:serviceaccounts:%.*s",
					    (int)(colon - account), account));
}

/* Applies Impersonate-User and Impersonate-Group to rq->user. Only one group is supported, because
 * httpd returns only the first of several Impersonate-Group headers. */
static int impersonate(struct request *rq)
{
	static const char prefix[] = "system:serviceaccount:";
	const char *name = httpd_header(rq->q, "Impersonate-User");
	const char *group = httpd_header(rq->q, "Impersonate-Group");
	struct user as = {.name = name};
	bool account = name && str_starts(name, prefix);

	if (!name && !group)
		return 0;
	if (!name)
		return fault_set(&rq->fault, FAULT_BAD_REQUEST,
				 "requested [Group] without impersonating a user");
	if ((account ? check_account(rq, name + strlen(prefix))
		     : may_impersonate(rq, "users", NULL, name)) < 0 ||
	    (group && may_impersonate(rq, "groups", NULL, group) < 0))
		return -1;
	if (group)
		user_add_group(&as, rq->arena, group);
	if (account)
		add_account_groups(&as, rq->arena, name + strlen(prefix));
	user_add_group(&as, rq->arena,
		       str_eq(name, "system:anonymous") ? "system:unauthenticated"
							: "system:authenticated");
	rq->user = as;
	return 0;
}

int auth_request(struct request *rq)
{
	if (find_user(rq) < 0)
		return -1;
	return rq->a->spec.authenticate ? impersonate(rq) : 0;
}
