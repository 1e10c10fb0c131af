#include "redfish/internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "redfish/link.h"

/*
 * Logs in and finds the System before an operation:
 *
 *   root -> login -> delete the predecessor's sessions -> System -> r->ready
 *
 * Each part is skipped if its result is known. After a 401 in the middle of an operation the
 * sequence begins at the login and ends by sending the refused request again.
 *
 * A wrong password may lock a BMC (three tries on some), so one refusal is final: r->refused stays
 * set as long as the client exists.
 *
 * If no session is free, the predecessor's sessions, and only those that drover opened, are deleted
 * with Basic. If that frees none, Basic is used for a while, unless a session ever worked on this
 * BMC.
 */
#define SERVICE_ROOT "/redfish/v1/"
/* Path of the Sessions collection for a BMC whose root cannot be read without a login (DSP0266
 * permits to log in here). */
#define FIXED_SESSIONS "/redfish/v1/SessionService/Sessions"
/* Idle time in ms after which the session has probably expired (some BMCs: 30 s). */
#define IDLE_MS 20000
#define LENT_MS 600000 /* Time in ms for which Basic is used before a session is tried again. */

static void log_in(struct redfish *r);
static void on_root(struct redfish *r, const struct rf_reply *p);

/* Ends the operation with ERR_DENIED for a refused login. said: error of the reply to the login;
 * NULL: no such reply. */
static void refuse(struct redfish *r, const struct err *said)
{
	struct err e;

	r->refused = true;
	err_note(&e, ERR_DENIED, RF_REFUSED, "the BMC refused the login of user %.64s%s%s",
		 str_or(r->user, "(none)"), said ? ": " : "", said ? said->text : "");
	e.scope = ERR_MACHINE;
	rf_fail(r, &e);
}

static void get_root(struct redfish *r, enum rf_login login)
{
	rf_send(r, &(struct rf_request){.path = mem_strdup(SERVICE_ROOT),
					.own_login = true,
					.login = login,
					.next = on_root});
}

/* --- sessions --------------------------------------------------------------------------------- */

static void logged_in(struct redfish *r);

/* Forgets the session, which was refused in the middle of an operation, so that the operation may
 * log in once more. Each operation may do this once. */
static void drop_session(struct redfish *r)
{
	r->op->logged_in_again = true;
	secret_free(r->token);
	r->token = NULL;
	if (r->session_uri && loop_now(loop_of(r->group)) - r->used_at < IDLE_MS)
		rf_set(&r->stale_session, give(r->session_uri));
	rf_set(&r->session_uri, NULL);
}

/* Continues after the System was read in this operation. An operation may change only a machine
 * that it read itself, because the session may belong to another machine that got this address. */
static void on_proof(struct redfish *r, const struct rf_reply *p)
{
	if (p->status == 401 && r->basic) {
		rf_login_again(r);
	} else if (p->status == 401 && !r->op->logged_in_again) {
		drop_session(r);
		log_in(r);
	} else if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
	} else if (rf_learn_system(r, p)) {
		logged_in(r);
	}
}

static void start(struct redfish *r)
{
	if (r->root_known)
		rf_find_system(r);
	else
		/* The BMC refused to show the service root without a login: read it now, logged
		 * in. */
		get_root(r, r->basic ? RF_BASIC : RF_SESSION);
}

static void logged_in(struct redfish *r)
{
	if (rf_changes(r->op) && r->system_path && !r->op->proved) {
		rf_send(r, &(struct rf_request){.path = mem_strdup(r->system_path),
						.own_login = true,
						.login = r->basic ? RF_BASIC : RF_SESSION,
						.next = on_proof});
	} else if (r->resuming) {
		r->resuming = false;
		rf_resend(r);
	} else {
		start(r);
	}
}

/* Ends the operation because the BMC refused Basic. This is not a verdict on the password: Basic
 * may just be disabled. */
static void basic_not_taken(struct redfish *r)
{
	r->basic = r->lent = false;
	r->no_basic = true;
	if (r->no_service)
		rf_fail_as(r, ERR_PROTOCOL,
			   "the BMC refers to a session service that does not exist, "
			   "and refuses Basic login");
	else
		rf_fail_as(r, ERR_CAPACITY, "the BMC has no free session, and refuses Basic login");
}

static void delete_old(struct redfish *r);

static void on_deleted(struct redfish *r, const struct rf_reply *p)
{
	if (p->status == 401 && r->lent) {
		basic_not_taken(r);
		return;
	}
	/* Fail, because the predecessor may still act until its session is deleted, and an unknown
	 * result does not prove the deletion. */
	if (p->status == 0 || p->status >= 500 || (p->status >= 300 && p->status < 400)) {
		rf_fail(r, &p->err);
		return;
	}
	if (r->stale_session)
		rf_set(&r->stale_session, NULL);
	else
		rf_set(&r->old_session, NULL);
	delete_old(r);
}

static void delete_old(struct redfish *r)
{
	const char *old = r->stale_session ? r->stale_session : r->old_session;
	struct err e;
	char *path;

	if (!old && r->op->freeing) {
		r->op->freeing = r->basic = r->lent = false;
		log_in(r);
		return;
	}
	if (!old) {
		logged_in(r);
		return;
	}
	path = link_path(r->origin, old, &e);
	/* Do not delete a session with this client's own path: BMCs reuse session numbers, so it is
	 * the session that was just opened. */
	if (!path || (r->basic && !r->lent) || str_eq(path, r->session_uri)) {
		free(path);
		rf_set(r->stale_session ? &r->stale_session : &r->old_session, NULL);
		delete_old(r);
		return;
	}
	rf_send(r, &(struct rf_request){.method = "DELETE",
					.path = path,
					.own_login = true,
					.login = r->lent ? RF_BASIC : RF_SESSION,
					.next = on_deleted});
}

static void no_session_left(struct redfish *r, const struct err *e)
{
	bool ours = r->stale_session || r->old_session;

	if (r->no_basic || (ours ? r->op->freed : r->session_worked)) {
		rf_fail(r, e);
		return;
	}
	r->basic = r->lent = true;
	r->lent_until = loop_now(loop_of(r->group)) + LENT_MS;
	r->op->freeing = r->op->freed = ours;
	delete_old(r);
}

/* Uses Basic. Only for a BMC whose root names no sessions at all: a BMC whose session service fails
 * must not be accessed with weaker authentication. */
static void use_basic(struct redfish *r)
{
	if (r->session_worked) {
		rf_fail_as(r, ERR_PROTOCOL,
			   "the BMC supported sessions before, but now shows no session service: "
			   "drover does not fall back to Basic login");
		return;
	}
	r->basic = true;
	delete_old(r);
}

/* Uses Basic for a while, because the root names a session service that does not exist, permanently
 * or for a moment. If Basic is refused as well, that is no verdict on the password. */
static void no_service(struct redfish *r)
{
	if (r->session_worked || r->old_session) {
		rf_fail_as(r, ERR_PROTOCOL,
			   "the BMC supported sessions before, but now shows no session service: "
			   "drover does not fall back to Basic login");
		return;
	}
	r->no_service = true;
	if (r->no_basic) {
		basic_not_taken(r);
		return;
	}
	r->basic = r->lent = true;
	r->lent_until = loop_now(loop_of(r->group)) + LENT_MS;
	delete_old(r);
}

static void on_session(struct redfish *r, const struct rf_reply *p)
{
	struct err e, in_body;
	char *path;

	if (p->err.code == REDFISH_PASSWORD_CHANGE) {
		rf_fail(r, &p->err);
		return;
	}
	if (p->status == 404 || p->status == 405 || p->status == 501) {
		no_service(r);
		return;
	}
	/* Do not count this as a refused login: a BMC without a free session has not judged the
	 * password, whatever the status. */
	if (p->err.kind == ERR_CAPACITY) {
		no_session_left(r, &p->err);
		return;
	}
	/* Do not count this as a refused login either: the reply means "not now"
	 * (InvalidOperationForSystemState and similar). */
	if (p->status != 401 && p->err.kind == ERR_UNAVAILABLE) {
		rf_fail(r, &p->err);
		return;
	}
	if (p->status == 400 || p->status == 401 || p->status == 403) {
		refuse(r, &p->err);
		return;
	}
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	if (!p->token) {
		rf_fail_as(r, ERR_PROTOCOL, "the BMC opened a session without X-Auth-Token");
		return;
	}
	/* Some BMCs put a wrong host name into Location: then use the link in the body, which names
	 * the same session. */
	path = p->location ? link_path(r->origin, p->location, &e) : NULL;
	if (!path)
		path = rf_link(r, p->json, &in_body);
	if (!path && p->location) {
		rf_fail(r, &e);
		return;
	}
	secret_free(r->token);
	r->token = secret_copy(p->token);
	rf_set(&r->session_uri, path);
	r->used_at = p->sent_at;
	r->session_worked = true;
	r->no_service = false;
	r->op->proved = false;
	r->cd_first = RF_UNKNOWN;
	if (rf_password_change(r, p->json, &e))
		rf_fail(r, &e);
	else
		delete_old(r);
}

/* Writes s as a JSON string to out; returns its length (at most 6 * strlen(s) + 2). */
static size_t quote(char *out, const char *s)
{
	char *at = out;

	*at++ = '"';
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			*at++ = '\\';
			*at++ = (char)c;
		} else if (c < 0x20) {
			memcpy(at, "\\u00", 4);
			at[4] = "01"[c >> 4];
			at[5] = "0123456789abcdef"[c & 15];
			at += 6;
		} else {
			*at++ = (char)c;
		}
	}
	*at++ = '"';
	return (size_t)(at - out);
}

/* Returns the body of the login. Built by hand in one piece, so that no copy of the password
 * remains in freed memory. */
static char *credentials_body(const struct redfish *r)
{
	static const char user_key[] = "{\"UserName\":", word_key[] = ",\"Password\":";
	const char *user = str_or(r->user, ""),
		   *word = r->password ? secret_expose(r->password) : "";
	char *body = mem_alloc(sizeof(user_key) + sizeof(word_key) +
			       6 * (strlen(user) + strlen(word)) + 8);
	size_t n = sizeof(user_key) - 1;

	memcpy(body, user_key, n);
	n += quote(body + n, user);
	memcpy(body + n, word_key, sizeof(word_key) - 1);
	n += sizeof(word_key) - 1;
	n += quote(body + n, word);
	body[n] = '}';
	return body;
}

static void on_service(struct redfish *r, const struct rf_reply *p)
{
	struct err e;

	/* Some BMCs refuse to show the session service before the login, although its link to the
	 * sessions is needed for the login; others lack the resource at this address only. In these
	 * cases FIXED_SESSIONS is used. Any other failure ends the operation. */
	if (p->err.kind != ERR_NONE && p->status != 401 && p->status != 403 && p->status != 404 &&
	    p->status != 405 && p->status != 501) {
		rf_fail(r, &p->err);
		return;
	}
	rf_set(&r->sessions_path, rf_link(r, json_at(p->json, "Sessions"), &e));
	if (!r->sessions_path)
		r->sessions_path = mem_strdup(FIXED_SESSIONS);
	log_in(r);
}

static void log_in(struct redfish *r)
{
	if (r->basic || r->token) {
		delete_old(r);
	} else if (r->sessions_path) {
		rf_send(r, &(struct rf_request){.method = "POST",
						.path = mem_strdup(r->sessions_path),
						.body = credentials_body(r),
						.secret_body = true,
						.own_login = true,
						.login = RF_NO_LOGIN,
						.next = on_session});
	} else if (r->service_path) {
		rf_send(r, &(struct rf_request){.path = mem_strdup(r->service_path),
						.own_login = true,
						.login = RF_NO_LOGIN,
						.next = on_service});
	} else {
		use_basic(r);
	}
}

static void keep(json_t *to, const json_t *from, const char *member)
{
	const char *s = json_str_at(from, member);

	if (rf_text_ok(s))
		json_object_set_new(to, member, json_string(s));
}

static void learn_root(struct redfish *r, const json_t *j)
{
	struct err ignored;
	const char *name;
	json_t *v, *oem;

	rf_forget(r);
	r->root = json_object();
	keep(r->root, j, "Vendor");
	keep(r->root, j, "Product");
	keep(r->root, j, "RedfishVersion");
	oem = json_object();
	json_object_foreach (json_at(j, "Oem"), name, v)
		json_object_set_new(oem, name, json_true());
	json_object_set_new(r->root, "Oem", oem);
	r->sessions_path = rf_link(r, json_at(j, "Links", "Sessions"), &ignored);
	r->service_path = rf_link(r, json_at(j, "SessionService"), &ignored);
	r->systems_path = rf_link(r, json_at(j, "Systems"), &ignored);
	r->managers_path = rf_link(r, json_at(j, "Managers"), &ignored);
	r->updates = json_str_at(j, "UpdateService", "@odata.id");
	r->root_known = true;
}

static void on_root(struct redfish *r, const struct rf_reply *p)
{
	if (p->status == 401 && r->lent) {
		basic_not_taken(r);
		return;
	}
	if (p->status == 401 && r->basic) {
		r->basic = false;
		refuse(r, NULL);
		return;
	}
	/* The BMC does not show the service root without a login, although the root should be
	 * public: use the login method that the challenge (WWW-Authenticate) names. */
	if (p->status == 401 && !r->token && !r->root_known) {
		if (!p->challenge || !str_starts(p->challenge, "Basic") || r->session_worked) {
			rf_set(&r->sessions_path, mem_strdup(FIXED_SESSIONS));
			log_in(r);
			return;
		}
		r->basic = true;
		get_root(r, RF_BASIC);
		return;
	}
	if (p->err.kind != ERR_NONE) {
		rf_fail(r, &p->err);
		return;
	}
	learn_root(r, p->json);
	if (r->systems_path)
		log_in(r);
	else
		rf_fail_as(r, ERR_PROTOCOL, "the Redfish service root has no link to Systems");
}

/* Ends the operation after the session was deleted. A session that no longer exists (401, 404)
 * counts as deleted. */
static void on_logged_out(struct redfish *r, const struct rf_reply *p)
{
	if (p->err.kind != ERR_NONE && p->status != 401 && p->status != 404) {
		rf_fail(r, &p->err);
		return;
	}
	secret_free(r->token);
	r->token = NULL;
	rf_set(&r->session_uri, NULL);
	rf_end(r, NULL);
}

void rf_log_out(struct redfish *r)
{
	if (r->session_uri)
		rf_send(r, &(struct rf_request){.method = "DELETE",
						.path = mem_strdup(r->session_uri),
						.own_login = true,
						.login = RF_SESSION,
						.next = on_logged_out});
	else /* Nothing to delete, because Basic has no session. */
		rf_end(r, NULL);
}

void rf_ready(struct redfish *r, rf_step *then)
{
	struct err e;

	r->ready = then;
	r->resuming = false;
	/* mutant: password-change-repeated */
	if (r->must_change && r->op->kind != RF_LOG_OUT) {
		rf_password_err(r, &e);
		rf_fail(r, &e);
		return;
	}
	if (r->lent && loop_now(loop_of(r->group)) >= r->lent_until)
		r->basic = r->lent = false;
	if (r->refused)
		rf_fail_as(r, ERR_DENIED,
			   "the BMC refused these credentials before: not tried "
			   "again until they change");
	else if (!r->root_known)
		get_root(r, r->basic ? RF_BASIC : RF_NO_LOGIN);
	else
		log_in(r);
}

void rf_login_again(struct redfish *r)
{
	if (r->lent) {
		basic_not_taken(r);
		return;
	}
	if (r->basic) {
		r->basic = false;
		r->root_known = false;
		refuse(r, NULL);
		return;
	}
	if (r->op->logged_in_again) {
		rf_fail_as(r, ERR_DENIED, "the BMC refuses the request also after a new login");
		return;
	}
	r->resuming = true;
	drop_session(r);
	log_in(r);
}
