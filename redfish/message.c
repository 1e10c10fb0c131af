#include "redfish/internal.h"

#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * message: reads the messages in a BMC's error reply (DSP0266, error responses:
 * @Message.ExtendedInfo).
 *
 * Their texts may be arbitrary bytes: err_set() removes control characters and truncates, and
 * finish() in redfish.c redacts password and token. Texts are truncated at the end of the whole
 * error alone, because quoted_redact() finds a truncated secret only there.
 *
 * Tests: tests/unit/redfish/test_message.c, tests/unit/redfish/test_session.c
 */
/* Message ids that are more exact than the HTTP status.  Compares the last part of an id, because
 * registry prefixes differ. */
static const struct {
	const char *id;
	enum err_kind kind;
	/* Retry time in ms; 0: not known. */
	uint32_t again_ms;
} message_kinds[] = {
	/* HPE iLO: the machine is in its self-test. */
	{"UnableToModifyDuringSystemPOST", ERR_UNAVAILABLE, 5000},
	/* HPE iLO: temporary state of the machine, although iLO reports it with status 400. */
	{"InvalidOperationForSystemState", ERR_UNAVAILABLE, 5000},
	/* Dell iDRAC10: power on shortly after power off. */
	{"ActionParameterValueConflict", ERR_UNAVAILABLE, 10000},
	{"VRM0021", ERR_UNAVAILABLE, 10000}, /* Dell iDRAC: virtual media are busy. */
	/* Dell iDRAC: its data sources are temporarily unavailable. */
	{"SYS518", ERR_UNAVAILABLE, 20000},
	{"RAC0218", ERR_CAPACITY, 30000}, /* Dell iDRAC: no session is free. */
	{"SessionLimitExceeded", ERR_CAPACITY, 30000},
	{"ActionNotSupported", ERR_UNSUPPORTED, 0},
	{"PropertyNotWritable", ERR_UNSUPPORTED, 0},
	{"OperationSupportedInFutureStateURI", ERR_UNSUPPORTED,
	 0}, /* AMI: the setting must be written to the pending object. */
	{"OemLicenseNotPassed", ERR_UNSUPPORTED,
	 0}, /* Supermicro: a licence is missing, reported as an access error. */
	{"LicenseKeyRequired", ERR_UNSUPPORTED, 0}, /* HPE iLO: virtual media need a licence. */
	{"LIC501", ERR_UNSUPPORTED, 0}, /* Dell iDRAC: a licence is missing or expired. */
};

static const char *last_part(const char *id)
{
	const char *dot = id ? strrchr(id, '.') : NULL;

	return dot ? dot + 1 : id;
}

const json_t *rf_messages(const json_t *body)
{
	const json_t *messages = json_at(body, "error", "@Message.ExtendedInfo");

	return messages ? messages : json_object_get(body, "@Message.ExtendedInfo");
}

/* Returns the number of messages. iDRAC sends one object instead of an array. */
static size_t count(const json_t *messages)
{
	return json_is_object(messages) ? 1 : json_array_size(messages);
}

static const json_t *message_at(const json_t *messages, size_t i)
{
	return json_is_object(messages) ? messages : json_array_get(messages, i);
}

static const char *id_at(const json_t *messages, size_t i)
{
	return last_part(json_str_at(message_at(messages, i), "MessageId"));
}

void rf_heed(const json_t *messages, struct err *e)
{
	for (size_t i = 0; i < count(messages); i++) {
		const char *id = id_at(messages, i);

		for (size_t k = 0; k < sizeof(message_kinds) / sizeof(*message_kinds); k++) {
			if (!str_eq(message_kinds[k].id, id))
				continue;
			e->kind = message_kinds[k].kind;
			if (!e->retry_after_ms)
				e->retry_after_ms = message_kinds[k].again_ms;
		}
	}
}

/* Returns true for a general id without information; such a message often precedes the specific
 * one. */
static bool is_general(const char *id)
{
	return str_eq(id, "GeneralError") || str_eq(id, "Success");
}

static void append(char out[static RF_WORDS], const char *between, const char *text)
{
	size_t len = strlen(out);

	str_format(out + len, RF_WORDS - len, "%s%s", between, text);
}

static void append_arguments(char out[static RF_WORDS], const json_t *args)
{
	json_t *v;
	size_t i;

	json_array_foreach (args, i, v)
		if (json_is_string(v))
			append(out, i ? ", " : " ", json_string_value(v));
}

static void append_message(char out[static RF_WORDS], const json_t *m, const char *id)
{
	const char *text = json_str_at(m, "Message"), *between = *out ? "; " : "";

	/* Skip this message, because its text is already in out. */
	if (!str_empty(text) && strstr(out, text))
		return;
	if (!str_empty(id)) {
		append(out, between, id);
		between = ": ";
	}
	if (!str_empty(text))
		append(out, between, text);
	else if (!str_empty(id))
		append_arguments(out, json_object_get(m, "MessageArgs"));
}

bool rf_words(const json_t *messages, char out[static RF_WORDS])
{
	size_t n = count(messages);

	out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		if (n == 1 || !is_general(id_at(messages, i)))
			append_message(out, message_at(messages, i), id_at(messages, i));
	return out[0];
}

/* True if s consists of letters and digits only, so that it cannot quote much of a login. */
static bool is_id(const char *s)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	return s && *s && strlen(s) < 64 && !s[strspn(s, letters)];
}

bool rf_message_id(const json_t *messages, char out[static RF_WORDS])
{
	for (size_t i = 0; i < count(messages); i++) {
		const char *id = id_at(messages, i);

		if (!is_id(id) || is_general(id))
			continue;
		str_copy(out, RF_WORDS, id);
		return true;
	}
	return false;
}

/* --- a password that has to be changed -------------------------------------------------------- */

void rf_password_err(const struct redfish *r, struct err *e)
{
	err_note(e, ERR_DENIED, REDFISH_PASSWORD_CHANGE,
		 "the BMC refuses user %.64s until the password of the user is changed, at %s",
		 str_or(r->user, "(none)"), r->must_change);
	e->scope = ERR_MACHINE;
}

bool rf_password_change(struct redfish *r, const json_t *body, struct err *e)
{
	const json_t *messages = rf_messages(body);

	for (size_t i = 0; i < count(messages); i++) {
		const json_t *args = json_object_get(message_at(messages, i), "MessageArgs");
		const char *account = json_string_value(json_array_get(args, 0));

		if (!str_eq(id_at(messages, i), "PasswordChangeRequired"))
			continue;
		rf_set(&r->must_change,
		       mem_strdup(rf_text_ok(account) && *account ? account : "the BMC"));
		rf_password_err(r, e);
		return true;
	}
	return false;
}
