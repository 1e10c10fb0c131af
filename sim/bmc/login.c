#include "sim/bmc/bmc_impl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_login: login by session token or HTTP Basic. A wrong password counts only against its
 * account; LOCK_AFTER wrong passwords in a row lock the account for LOCK_S seconds. An unused
 * session ends after the timeout.
 * Tests: tests/unit/sim/bmc/test_bmc.c
 */
#define LOCK_AFTER 5
#define LOCK_S 30
#define TIMEOUT_S 300
#define SESSIONS 8
#define PASSWORD_MIN 8
#define PASSWORD_MAX 40
#define ACCOUNTS "/redfish/v1/AccountService/Accounts"
#define ROLES "/redfish/v1/AccountService/Roles"

static const char *const role_names[] = {"ReadOnly", "Operator", "Administrator", NULL};

static const char *role_of(enum bmc_right right)
{
	return role_names[right - BMC_LOGIN];
}

static enum bmc_right right_of(const char *role)
{
	unsigned i = 0;

	while (!str_eq(role_names[i], role))
		i++;
	return BMC_LOGIN + i;
}

static const struct sim_quirks *quirks(const struct sim_bmc *b)
{
	return b->dialect ? &b->dialect->quirks : NULL;
}

static unsigned lock_after(const struct sim_bmc *b)
{
	return quirks(b) ? (unsigned)quirks(b)->sessions.lock_after : LOCK_AFTER;
}

static int64_t lock_ms(const struct sim_bmc *b)
{
	return quirks(b) ? quirks(b)->sessions.lock_ms : LOCK_S * 1000;
}

static size_t session_slots(const struct sim_bmc *b)
{
	return quirks(b) ? (size_t)quirks(b)->sessions.slots : SESSIONS;
}

/* Returns the text before the number in a session's id. */
static const char *session_prefix(const struct sim_bmc *b)
{
	return str_or(quirks(b) ? quirks(b)->sessions.id : NULL, "");
}

/* --- passwords and tokens --------------------------------------------------------------------- */

static struct bmc_account *account_named(struct sim_bmc *b, const char *user)
{
	for (size_t i = 0; user && i < BMC_ACCOUNTS; i++)
		if (b->accounts[i].id && str_eq(b->accounts[i].user, user))
			return &b->accounts[i];
	return NULL;
}

static struct bmc_account *account_by_id(struct sim_bmc *b, unsigned id)
{
	for (size_t i = 0; id && i < BMC_ACCOUNTS; i++)
		if (b->accounts[i].id == id)
			return &b->accounts[i];
	return NULL;
}

static bool is_locked(const struct sim_bmc *b, const struct bmc_account *a)
{
	return a->locked_until > bmc_now(b);
}

/* Returns the account. NULL: unknown user, wrong password, account disabled or locked; the answer
 * must not reveal which. */
static struct bmc_account *check_password(struct sim_bmc *b, const char *user, const char *password)
{
	struct bmc_account *a = account_named(b, user);

	if (!a || !password || !a->enabled || is_locked(b, a))
		return NULL;
	if (secret_equal_bytes(a->password, password, strlen(password))) {
		a->wrong = 0;
		return a;
	}
	if (bmc_now(b) - a->wrong_at > lock_ms(b))
		a->wrong = 0;
	a->wrong_at = bmc_now(b);
	if (++a->wrong >= lock_after(b)) {
		a->locked_until = bmc_now(b) + lock_ms(b);
		a->wrong = 0;
	}
	return NULL;
}

static struct bmc_account *check_basic(struct sim_bmc *b, const char *header)
{
	struct bmc_account *a = NULL;
	struct err ignored;
	char *text, *colon;
	size_t len;

	if (!header || strncasecmp(header, "Basic ", 6) != 0)
		return NULL;
	header += 6;
	text = crypto_base64_decode(header, strlen(header), &len, &ignored);
	if (!text)
		return NULL;
	colon = strchr(text, ':');
	if (colon) {
		*colon = '\0';
		a = check_password(b, text, colon + 1);
	}
	secret_wipe(text, len);
	free(text);
	return a;
}

static void sweep(struct sim_bmc *b)
{
	for (size_t i = 0; i < BMC_SESSIONS; i++)
		if (b->sessions[i].id &&
		    bmc_now(b) - b->sessions[i].used_at > b->session_timeout_s * 1000)
			b->sessions[i].id = 0;
}

static void end_sessions(struct sim_bmc *b, unsigned account, const struct bmc_session *but)
{
	for (size_t i = 0; i < BMC_SESSIONS; i++)
		if (b->sessions[i].account == account && &b->sessions[i] != but)
			b->sessions[i].id = 0;
}

/* Identifies the login: sets c->who, and c->session if the request has a session token. A request
 * without a valid token or Basic login leaves c->who NULL. */
static void identify(struct bmc_call *c)
{
	struct sim_bmc *b = c->b;
	const char *token = httpd_header(c->q, "X-Auth-Token");

	sweep(b);
	if (!token && !(quirks(b) && quirks(b)->sessions.no_basic)) {
		c->who = check_basic(b, httpd_header(c->q, "Authorization"));
		return;
	}
	for (size_t i = 0; token && i < BMC_SESSIONS; i++) {
		struct bmc_session *s = &b->sessions[i];

		if (!s->id || !str_eq(s->token, token))
			continue;
		s->used_at = bmc_now(b);
		c->session = s;
		c->who = account_by_id(b, s->account);
	}
}

static void account_path(const struct bmc_account *a, char out[static 160])
{
	str_format(out, 160, ACCOUNTS "/%u", a->id);
}

/* True if the fault PasswordChange blocks the request. account: path of the login's own account.
 * That account and the login's session stay accessible. */
static bool wants_change(const struct bmc_call *c, const char *account)
{
	return !str_eq(c->path, account) &&
	       !(str_eq(httpd_method(c->q), "DELETE") &&
		 str_starts(c->path, bmc_sessions_path(c->b))) &&
	       bmc_fault(c->b, "PasswordChange", NULL);
}

bool bmc_admit(struct bmc_call *c, enum bmc_right right)
{
	char account[160];

	if (right == BMC_ANYBODY)
		return true;
	identify(c);
	if (!c->who) {
		httpd_reply_header(c->q, "WWW-Authenticate",
				   "Basic realm=\"drover simulated BMC\"");
		bmc_error(c, 401, "NoValidSession");
		return false;
	}
	account_path(c->who, account);
	if (wants_change(c, account)) {
		bmc_error(c, 403, "PasswordChangeRequired", account);
		return false;
	}
	if (c->who->right < right) {
		bmc_error(c, 403, "InsufficientPrivilege");
		return false;
	}
	return true;
}

/* --- sessions --------------------------------------------------------------------------------- */

json_t *bmc_get_session_service(struct bmc_call *c)
{
	return json_pack("{s:s,s:s,s:b,s:I,s:{s:s,s:s},s:o}", "Id", "SessionService", "Name",
			 "Session Service", "ServiceEnabled", 1, "SessionTimeout",
			 (json_int_t)c->b->session_timeout_s, "Status", "State", "Enabled",
			 "Health", "OK", "Sessions", bmc_link(bmc_sessions_path(c->b)));
}

void bmc_patch_session_service(struct bmc_call *c)
{
	static const struct bmc_property t[] = {
		{.name = "SessionTimeout", .kind = BMC_NUMBER, .min = 30, .max = 86400},
		{.name = NULL}};

	if (!bmc_check(c, t, NULL))
		return;
	c->b->session_timeout_s = json_int_at(c->body, "SessionTimeout");
	bmc_reply_self(c);
}

static void session_path(const struct sim_bmc *b, const struct bmc_session *s, char out[static 160])
{
	str_format(out, 160, "%s/%s%u", bmc_sessions_path(b), session_prefix(b), s->id);
}

json_t *bmc_get_sessions(struct bmc_call *c)
{
	json_t *all = json_array();
	char path[160];

	for (size_t i = 0; i < BMC_SESSIONS; i++) {
		if (!c->b->sessions[i].id)
			continue;
		session_path(c->b, &c->b->sessions[i], path);
		json_array_append_new(all, bmc_link(path));
	}
	return bmc_collection("Sessions", all);
}

static json_t *session_json(struct sim_bmc *b, const struct bmc_session *s)
{
	const struct bmc_account *a = account_by_id(b, s->account);
	char id[64], made[STR_TIME_SIZE];

	str_format(id, sizeof(id), "%s%u", session_prefix(b), s->id);
	return json_pack("{s:s,s:s,s:s,s:n,s:s,s:s,s:s}", "Id", id, "Name", "User Session",
			 "UserName", a ? a->user : "", "Password", "SessionType", "Redfish",
			 "ClientOriginIPAddress", s->address, "CreatedTime",
			 str_time(made, s->made_wall));
}

static struct bmc_session *find_session(struct bmc_call *c)
{
	const char *prefix = session_prefix(c->b);
	int64_t id;

	sweep(c->b);
	if (!str_starts(c->arg, prefix) || !str_to_i64(c->arg + strlen(prefix), 1, UINT32_MAX, &id))
		return NULL;
	for (size_t i = 0; i < BMC_SESSIONS; i++)
		if (c->b->sessions[i].id == id)
			return &c->b->sessions[i];
	return NULL;
}

json_t *bmc_get_session(struct bmc_call *c)
{
	const struct bmc_session *s = find_session(c);

	return s ? session_json(c->b, s) : NULL;
}

void bmc_delete_session(struct bmc_call *c)
{
	struct bmc_session *s = find_session(c);

	if (s->account != c->who->id && c->who->right < BMC_ALL) {
		bmc_error(c, 403, "InsufficientPrivilege");
		return;
	}
	s->id = 0;
	bmc_reply(c, 204, NULL);
}

static const struct bmc_property session_members[] = {
	{.name = "UserName", .kind = BMC_TEXT, .required = true},
	{.name = "Password", .kind = BMC_TEXT, .required = true},
	{.name = NULL}};

static void open_session(struct bmc_call *c, struct bmc_session *s, const struct bmc_account *a)
{
	struct sim_bmc *b = c->b;
	uint8_t random[(BMC_TOKEN - 1) / 2];
	char path[160], location[192], account[160];
	int how = quirks(b) ? quirks(b)->sessions.location : SIM_LOCATION_PATH;
	json_t *j;

	loop_random_bytes(loop_of(b->group), random, sizeof(random));
	*s = (struct bmc_session){.id = ++b->next_session,
				  .account = a->id,
				  .used_at = bmc_now(b),
				  .made_wall = loop_wall(loop_of(b->group))};
	str_hex(s->token, random, sizeof(random));
	str_copy(s->address, sizeof(s->address), bmc_address(c));
	s->address[strcspn(s->address, ":")] = '\0';
	session_path(b, s, path);
	str_format(location, sizeof(location), "%s%s",
		   how == SIM_LOCATION_ELSEWHERE ? "https://bmc.internal" : "", path);
	httpd_reply_header(c->q, "X-Auth-Token", s->token);
	if (how != SIM_LOCATION_NONE)
		httpd_reply_header(c->q, "Location", location);
	j = session_json(b, s);
	json_object_set_new(j, "@odata.id", json_string(path));
	json_object_set_new(j, "@odata.type", json_string("#Session.v1_7_0.Session"));
	account_path(a, account);
	if (bmc_fault(b, "PasswordChange", NULL))
		json_object_set_new(
			j, "@Message.ExtendedInfo",
			json_pack("[o]", bmc_message(NULL, "PasswordChangeRequired", account)));
	bmc_reply(c, 201, j);
}

void bmc_post_session(struct bmc_call *c)
{
	struct sim_bmc *b = c->b;
	const struct bmc_account *a;
	int64_t status;

	if (!httpd_query(c->q, "moved") && bmc_fault(b, "LoginMoved", &status)) {
		httpd_reply_header(c->q, "Location", "?moved=1");
		bmc_reply(c, (int)status, NULL);
		return;
	}
	if (!bmc_check(c, session_members, NULL))
		return;
	a = check_password(b, json_str_at(c->body, "UserName"), json_str_at(c->body, "Password"));
	if (!a) {
		bmc_error(c, 401, "NoValidSession");
		return;
	}
	sweep(b);
	for (size_t i = 0; i < session_slots(b) && !bmc_fault(b, "SessionsFull", NULL); i++) {
		if (b->sessions[i].id)
			continue;
		open_session(c, &b->sessions[i], a);
		return;
	}
	httpd_reply_header(c->q, "Retry-After", "30");
	if (quirks(b) && quirks(b)->sessions.full)
		bmc_error_as(c, 503, quirks(b)->sessions.full, "No session is free.");
	else
		bmc_error(c, 503, "SessionLimitExceeded");
}

/* --- accounts --------------------------------------------------------------------------------- */

json_t *bmc_get_account_service(struct bmc_call *c)
{
	(void)c;
	return json_pack("{s:s,s:s,s:b,s:i,s:i,s:i,s:i,s:i,s:o,s:o,s:{s:s,s:s}}", "Id",
			 "AccountService", "Name", "Account Service", "ServiceEnabled", 1,
			 "MinPasswordLength", PASSWORD_MIN, "MaxPasswordLength", PASSWORD_MAX,
			 "AccountLockoutThreshold", LOCK_AFTER, "AccountLockoutDuration", LOCK_S,
			 "AccountLockoutCounterResetAfter", LOCK_S, "Accounts", bmc_link(ACCOUNTS),
			 "Roles", bmc_link(ROLES), "Status", "State", "Enabled", "Health", "OK");
}

json_t *bmc_get_accounts(struct bmc_call *c)
{
	json_t *all = json_array();
	char path[96];

	for (size_t i = 0; i < BMC_ACCOUNTS; i++) {
		if (!c->b->accounts[i].id)
			continue;
		str_format(path, sizeof(path), ACCOUNTS "/%u", c->b->accounts[i].id);
		json_array_append_new(all, bmc_link(path));
	}
	return bmc_collection("Accounts", all);
}

static struct bmc_account *find_account(struct bmc_call *c)
{
	int64_t id;

	return str_to_i64(c->arg, 1, UINT32_MAX, &id) ? account_by_id(c->b, (unsigned)id) : NULL;
}

static json_t *account_json(const struct sim_bmc *b, const struct bmc_account *a)
{
	char id[16], role[96];

	str_format(id, sizeof(id), "%u", a->id);
	str_format(role, sizeof(role), ROLES "/%s", role_of(a->right));
	return json_pack("{s:s,s:s,s:s,s:n,s:s,s:b,s:b,s:[s],s:{s:o}}", "Id", id, "Name",
			 "User Account", "UserName", a->user, "Password", "RoleId",
			 role_of(a->right), "Enabled", a->enabled, "Locked", is_locked(b, a),
			 "AccountTypes", "Redfish", "Links", "Role", bmc_link(role));
}

json_t *bmc_get_account(struct bmc_call *c)
{
	const struct bmc_account *a = find_account(c);

	if (a && a != c->who && c->who->right < BMC_ALL) {
		bmc_error(c, 403, "InsufficientPrivilege");
		return json_null();
	}
	return a ? account_json(c->b, a) : NULL;
}

static const struct bmc_property account_members[] = {
	{.name = "UserName", .kind = BMC_TEXT, .min = 1, .max = BMC_NAME - 1},
	{.name = "Password", .kind = BMC_TEXT, .min = PASSWORD_MIN, .max = PASSWORD_MAX},
	{.name = "RoleId", .kind = BMC_TEXT, .allowed = role_names},
	{.name = "Enabled", .kind = BMC_FLAG},
	{.name = "Locked", .kind = BMC_FLAG},
	{.name = NULL}};
static const struct bmc_property new_account_members[] = {
	{.name = "UserName", .kind = BMC_TEXT, .min = 1, .max = BMC_NAME - 1, .required = true},
	{.name = "Password",
	 .kind = BMC_TEXT,
	 .min = PASSWORD_MIN,
	 .max = PASSWORD_MAX,
	 .required = true},
	{.name = "RoleId", .kind = BMC_TEXT, .allowed = role_names, .required = true},
	{.name = "Enabled", .kind = BMC_FLAG},
	{.name = NULL}};
/* Members that a user without the right to manage accounts may change, in the user's own account
 * only. */
static const struct bmc_property own_members[] = {
	{.name = "Password", .kind = BMC_TEXT, .min = PASSWORD_MIN, .max = PASSWORD_MAX},
	{.name = NULL}};

static void set_account(struct bmc_account *a, const json_t *body)
{
	const char *user = json_str_at(body, "UserName"), *role = json_str_at(body, "RoleId"),
		   *password = json_str_at(body, "Password");
	const json_t *enabled = json_object_get(body, "Enabled"),
		     *locked = json_object_get(body, "Locked");

	if (user)
		str_copy(a->user, sizeof(a->user), user);
	if (role)
		a->right = right_of(role);
	if (password) {
		secret_free(a->password);
		a->password = secret_from_str(password);
	}
	if (enabled)
		a->enabled = json_is_true(enabled);
	if (json_is_false(locked))
		a->locked_until = 0;
}

/* True if the user name in the body is free, or belongs to account a itself. False: another account
 * uses the name, and the request was answered. */
static bool name_is_free(struct bmc_call *c, const struct bmc_account *a)
{
	const char *user = json_str_at(c->body, "UserName");
	const struct bmc_account *other = account_named(c->b, user);

	if (!other || other == a)
		return true;
	bmc_error(c, 400, "ResourceAlreadyExists", "ManagerAccount", "UserName", user);
	return false;
}

void bmc_post_account(struct bmc_call *c)
{
	struct sim_bmc *b = c->b;
	struct bmc_account *a = b->accounts;
	char path[96];
	json_t *j;

	if (!bmc_check(c, new_account_members, NULL) || !name_is_free(c, NULL))
		return;
	while (a < b->accounts + BMC_ACCOUNTS && a->id)
		a++;
	if (a == b->accounts + BMC_ACCOUNTS) {
		bmc_error(c, 400, "CreateLimitReachedForResource");
		return;
	}
	*a = (struct bmc_account){.id = ++b->next_account, .enabled = true};
	set_account(a, c->body);
	str_format(path, sizeof(path), ACCOUNTS "/%u", a->id);
	httpd_reply_header(c->q, "Location", path);
	j = account_json(b, a);
	json_object_set_new(j, "@odata.id", json_string(path));
	json_object_set_new(j, "@odata.type",
			    json_string("#ManagerAccount.v1_12_0.ManagerAccount"));
	bmc_reply(c, 201, j);
}

void bmc_patch_account(struct bmc_call *c)
{
	struct bmc_account *a = find_account(c);
	bool all = c->who->right == BMC_ALL;

	if (!bmc_check(c, all ? account_members : own_members, NULL) || !name_is_free(c, a))
		return;
	if (json_is_true(json_object_get(c->body, "Locked"))) {
		bmc_error(c, 400, "PropertyValueNotInList", "true", "Locked");
		return;
	}
	set_account(a, c->body);
	if (!a->enabled || json_object_get(c->body, "Password"))
		end_sessions(c->b, a->id, c->session);
	bmc_reply_self(c);
}

void bmc_delete_account(struct bmc_call *c)
{
	struct bmc_account *a = find_account(c);

	if (c->who->right < BMC_ALL) {
		bmc_error(c, 403, "InsufficientPrivilege");
		return;
	}
	if (a->id == 1) {
		/* Refuses to delete the rack's own account, without which no login would be
		 * possible. */
		bmc_error(c, 405, "ResourceCannotBeDeleted");
		return;
	}
	end_sessions(c->b, a->id, NULL);
	secret_free(a->password);
	*a = (struct bmc_account){0};
	bmc_reply(c, 204, NULL);
}

/* --- roles ------------------------------------------------------------------------------------ */

json_t *bmc_get_roles(struct bmc_call *c)
{
	json_t *all = json_array();
	char path[96];

	(void)c;
	for (size_t i = 0; role_names[i]; i++) {
		str_format(path, sizeof(path), ROLES "/%s", role_names[i]);
		json_array_append_new(all, bmc_link(path));
	}
	return bmc_collection("Roles", all);
}

json_t *bmc_get_role(struct bmc_call *c)
{
	static const char *const may[] = {"Login", "ConfigureSelf", "ConfigureComponents",
					  "ConfigureManager", "ConfigureUsers"};
	static const size_t count[] = {2, 3, 5};
	json_t *rights = json_array();
	size_t i = 0;

	while (role_names[i] && !str_eq(role_names[i], c->arg))
		i++;
	if (!role_names[i]) {
		json_decref(rights);
		return NULL;
	}
	for (size_t k = 0; k < count[i]; k++)
		json_array_append_new(rights, json_string(may[k]));
	return json_pack("{s:s,s:s,s:s,s:b,s:o}", "Id", role_names[i], "Name", "User Role",
			 "RoleId", role_names[i], "IsPredefined", 1, "AssignedPrivileges", rights);
}

void bmc_login_init(struct sim_bmc *b, const char *user, const struct secret *password)
{
	struct bmc_account *a = &b->accounts[0];

	b->session_timeout_s = quirks(b) ? quirks(b)->sessions.timeout_ms / 1000 : TIMEOUT_S;
	a->id = b->next_account = 1;
	str_copy(a->user, sizeof(a->user), user);
	a->password = secret_copy(password);
	a->right = BMC_ALL;
	a->enabled = true;
}

void bmc_login_done(struct sim_bmc *b)
{
	for (size_t i = 0; i < BMC_ACCOUNTS; i++)
		secret_free(b->accounts[i].password);
	secret_wipe(b->sessions, sizeof(b->sessions));
}
