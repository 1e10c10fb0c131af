/*
 * join_seen: reads the CSRs of a tenant's cluster, tries the machine's bootstrap token, and
 * describes what both show of a machine whose Node is missing.
 * https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/
 */
#include <string.h>

#include "base/data/json.h"
#include "base/data/scan.h"
#include "base/str.h"
#include "controller/life/ask.h"
#include "controller/life/join.h"
#include "controller/life/join_seen.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"
#include "controller/tenant/tenant.h"

/* Beginning of the user name of a bootstrap token; its ID follows. */
#define BOOTSTRAP_USER "system:bootstrap:"
/* Shortest time in ms between two tries of a token. */
#define TRY_MS 60000

static const struct kube_resource csrs = {"certificates.k8s.io", "v1", "certificatesigningrequests",
					  "CertificateSigningRequest", false};

static const struct scan_want wanted_meta[] = {SCAN_PLAIN("name"), SCAN_PLAIN("creationTimestamp"),
					       SCAN_END};
static const struct scan_want wanted_spec[] = {SCAN_PLAIN("username"), SCAN_END};
static const struct scan_want wanted_condition[] = {SCAN_PLAIN("type"), SCAN_END};
static const struct scan_want wanted_status[] = {SCAN_SOME("conditions", wanted_condition),
						 SCAN_PLAIN("certificate"), SCAN_END};
static const struct scan_want wanted[] = {SCAN_SOME("metadata", wanted_meta),
					  SCAN_SOME("spec", wanted_spec),
					  SCAN_SOME("status", wanted_status), SCAN_END};

static bool has_condition(const json_t *csr, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(csr, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return true;
	return false;
}

void join_seen_csr(struct join_seen *s, const json_t *csr)
{
	const char *user = json_str_at(csr, "spec", "username");
	const char *time = str_or(json_str_at(csr, "metadata", "creationTimestamp"), "");

	if (!user || !str_starts(user, BOOTSTRAP_USER) ||
	    !str_eq(user + strlen(BOOTSTRAP_USER), s->token_id) ||
	    (s->csr_name[0] && strcmp(time, s->csr_time) < 0))
		return;
	str_copy(s->csr_name, sizeof(s->csr_name),
		 str_or(json_str_at(csr, "metadata", "name"), "?"));
	str_printable(s->csr_name);
	str_copy(s->csr_time, sizeof(s->csr_time), time);
	s->csr = has_condition(csr, "Denied") || has_condition(csr, "Failed") ? JOIN_CSR_DENIED
		 : !has_condition(csr, "Approved")			      ? JOIN_CSR_PENDING
		 : str_empty(json_str_at(csr, "status", "certificate"))	      ? JOIN_CSR_APPROVED
									      : JOIN_CSR_SIGNED;
	if (s->token == JOIN_TOKEN_REFUSED)
		s->token = JOIN_TOKEN_UNKNOWN;
}

void join_seen_listed(struct join_seen *s, const struct err *e)
{
	if (e)
		s->csr = e->kind == ERR_DENIED ? JOIN_CSR_HIDDEN : JOIN_CSR_UNKNOWN;
	else if (!s->csr_name[0])
		s->csr = JOIN_CSR_NONE;
}

static void on_csr(json_t *o, void *arg)
{
	join_seen_csr(&((struct life *)arg)->work.join, o);
}

static void forget_csrs(void *arg)
{
	struct join_seen *s = &((struct life *)arg)->work.join;

	s->csr = JOIN_CSR_UNKNOWN;
	s->csr_name[0] = s->csr_time[0] = '\0';
}

static void on_csrs(const char *rv, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)rv;
	join_seen_listed(&l->work.join, e);
	life_answer(NULL, e, l);
}

void join_seen_ask(struct life *l, struct tenant *t)
{
	struct kube_list_spec s = {.resource = &csrs,
				   .want = wanted,
				   .on_item = on_csr,
				   .on_restart = forget_csrs,
				   .done = on_csrs,
				   .arg = l};

	forget_csrs(l);
	life_asking(l, "csr", t);
	life_ask_tenant(l, kube_list(tenant_nodes_client(t), &s));
}

/* --- the token -------------------------------------------------------------------------------- */

void join_seen_tried(struct join_seen *s, const json_t *review, const struct err *e)
{
	const char *user = json_str_at(review, "status", "userInfo", "username");

	if (e && e->code == 401)
		s->token = JOIN_TOKEN_REFUSED;
	else if (!e && user && str_starts(user, BOOTSTRAP_USER) &&
		 str_eq(user + strlen(BOOTSTRAP_USER), s->token_id))
		s->token = JOIN_TOKEN_ACCEPTED;
}

bool join_seen_try_due(const struct life *l)
{
	const struct join_seen *s = &l->work.join;
	int64_t deadline = life_deadline(l), left = deadline - loop_wall(l->c->loop);

	return deadline && s->csr < JOIN_CSR_PENDING &&
	       left <= (deadline - l->m->status.state_since) / 2 &&
	       (!s->tried_at || loop_now(l->c->loop) - s->tried_at >= TRY_MS);
}

static void on_tried(json_t *review, const struct err *e, void *arg)
{
	struct life *l = arg;

	join_seen_tried(&l->work.join, review, e);
	life_answer(NULL, e, l);
}

void join_seen_try(struct life *l, struct tenant *t, const struct life_token *token)
{
	char text[sizeof(token->id) + sizeof(token->secret)];
	OWN(secret) bearer = NULL;

	str_format(text, sizeof(text), "%s.%s", token->id, token->secret);
	bearer = secret_from_str(text);
	secret_wipe(text, sizeof(text));
	l->work.join.tried_at = loop_now(l->c->loop);
	life_asking(l, "try", t);
	life_ask_tenant(l, kube_review_token(tenant_nodes_client(t), bearer, on_tried, l));
}

bool join_seen_report(struct life *l, const struct tenant *t)
{
	const struct machine_operation *op = l->m->status.operation;
	const struct join_seen *s = &l->work.join;

	if (s->token == JOIN_TOKEN_REFUSED && t) {
		(void)life_wait(l, WAITING_DEVICE, REASON_BootstrapTokenRefused,
				"the API server of %s%.64s refuses the machine's bootstrap token "
				"(401): the bootstrap token authenticator is off "
				"(--enable-bootstrap-token-auth turns it on), or the token's "
				"Secret in kube-system was changed or deleted",
				t->on_host ? "the host cluster of tenant " : "tenant ", t->name);
		return true;
	}
	if ((s->token == JOIN_TOKEN_ACCEPTED || s->csr >= JOIN_CSR_PENDING) &&
	    reason_find(op->last_error.reason) == REASON_BootstrapTokenRefused)
		life_write(l, json_pack("{s:{s:n, s:n}}", "operation", "lastError", "waitingFor"),
			   NULL);
	return false;
}

/* --- the text --------------------------------------------------------------------------------- */

/* Writes the time of day of wall ms to out, in UTC. Returns out. */
static const char *clock_text(int64_t ms, char out[static 16])
{
	char all[STR_TIME_SIZE];

	str_format(out, 16, "%.8s UTC", str_time(all, ms) + strlen("2006-01-02T"));
	return out;
}

const char *join_seen_text(const struct join_seen *s, const char *node, const char *cluster,
			   char out[static JOIN_SEEN_TEXT])
{
	static const char *const states[] = {
		[JOIN_CSR_PENDING] = "waits for approval",
		[JOIN_CSR_DENIED] = "was denied or failed",
		[JOIN_CSR_APPROVED] = "is approved, but not signed",
		[JOIN_CSR_SIGNED] = "is signed",
	};
	char csr[160] = "", token[136] = "", when[16];

	if (s->csr == JOIN_CSR_HIDDEN)
		str_copy(csr, sizeof(csr), "; drover may not list its CSRs");
	else if (s->csr >= JOIN_CSR_PENDING)
		str_format(csr, sizeof(csr), "; its CSR %s %s", s->csr_name, states[s->csr]);
	if (s->token_again)
		str_format(token, sizeof(token),
			   "; its bootstrap token was deleted, and created again at %s",
			   clock_text(s->token_again, when));
	else if (s->token_seen)
		str_format(token, sizeof(token), "; its bootstrap token existed at %s",
			   clock_text(s->token_seen, when));
	if (s->token == JOIN_TOKEN_ACCEPTED)
		str_copy(token + strlen(token), sizeof(token) - strlen(token),
			 token[0] ? ", and the API server accepts it"
				  : "; the API server accepts its bootstrap token");
	str_format(out, JOIN_SEEN_TEXT, "no Node %.80s%s in the cluster of tenant %.64s%s%s", node,
		   s->csr == JOIN_CSR_NONE ? " and no CSR of its bootstrap token" : "", cluster,
		   csr, token);
	return out;
}
