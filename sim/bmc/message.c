#include "sim/bmc/bmc_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/*
 * bmc_message: the messages of the Base registry (DSP8011, 1.18) that the simulator sends. The
 * texts are the simulator's own where the registry does not prescribe them; %1 and so on are the
 * arguments.
 * Tests: tests/unit/sim/bmc/test_bmc.c
 */
#define REGISTRY "Base.1.18."
#define ARGS_MAX 4

static const struct message {
	const char *id, *text, *severity, *resolution;
} messages[] = {
	{"Success", "The request completed successfully.", "OK", "None."},
	{"GeneralError",
	 "A general error has occurred.  See Resolution for information on how to resolve the "
	 "error, or @Message.ExtendedInfo if Resolution is not provided.",
	 "Critical", "None."},
	{"InternalError", "The request failed due to an internal service error.", "Critical",
	 "Resubmit the request."},
	{"MalformedJSON",
	 "The request body submitted was malformed JSON and could not be parsed by the receiving "
	 "service.",
	 "Critical", "Ensure that the request body is valid JSON and resubmit the request."},
	{"UnrecognizedRequestBody",
	 "The service detected a malformed request body that it was unable to interpret.",
	 "Warning", "Send one JSON object as application/json and resubmit the request."},
	{"EmptyJSON",
	 "The request body submitted contained an empty JSON object and the service is unable to "
	 "process it.",
	 "Warning", "Add properties in the JSON object and resubmit the request."},
	{"NoOperation",
	 "The request body submitted contain no data to act upon and no changes to the resource "
	 "took place.",
	 "Warning", "Add properties in the JSON object and resubmit the request."},
	{"HeaderInvalid", "Header '%1' is invalid.", "Critical",
	 "Send a valid header and resubmit the request."},
	{"QueryNotSupported", "Querying is not supported by the implementation.", "Warning",
	 "Remove the query parameters and resubmit the request."},
	{"OperationNotAllowed", "The HTTP method is not allowed on this resource.", "Critical",
	 "None."},
	{"ResourceMissingAtURI", "The resource at the URI '%1' was not found.", "Critical",
	 "Place a valid resource at the URI or correct the URI and resubmit the request."},
	{"ResourceInUse",
	 "The change to the requested resource failed because the resource is in use or in "
	 "transition.",
	 "Warning", "Remove the condition and resubmit the request."},
	{"ResourceCannotBeDeleted",
	 "The delete request failed because the resource requested cannot be deleted.", "Critical",
	 "Do not attempt to delete a non-deletable resource."},
	{"ResourceAlreadyExists",
	 "The requested resource of type %1 with the property %2 with the value '%3' already "
	 "exists.",
	 "Critical",
	 "Do not repeat the create operation as the resource has already been created."},
	{"CreateLimitReachedForResource",
	 "The create operation failed because the resource has reached the limit of possible "
	 "resources.",
	 "Critical", "Delete resources and resubmit the request."},
	{"PreconditionFailed",
	 "The ETag supplied did not match the ETag required to change this resource.", "Critical",
	 "Read the resource and try the operation again with its ETag."},
	{"PreconditionRequired",
	 "A precondition header or annotation is required to change this resource.", "Critical",
	 "Try the operation again with an If-Match header and the resource's ETag."},
	{"PropertyUnknown",
	 "The property '%1' is not in the list of valid properties for the resource.", "Warning",
	 "Remove the unknown property and resubmit the request."},
	{"PropertyMissing",
	 "The property '%1' is a required property and must be included in the request.", "Warning",
	 "Add the required property and resubmit the request."},
	{"PropertyNotWritable",
	 "The property '%1' is a read-only property and cannot be assigned a value.", "Warning",
	 "Remove the property and resubmit the request."},
	{"PropertyValueTypeError",
	 "The value '%1' for the property '%2' is not a type that the property can accept.",
	 "Warning", "Correct the value and resubmit the request."},
	{"PropertyValueNotInList",
	 "The value '%1' for the property '%2' is not in the list of acceptable values.", "Warning",
	 "Choose a value from the enumeration list and resubmit the request."},
	{"PropertyValueOutOfRange",
	 "The value '%1' for the property '%2' is not in the supported range of acceptable values.",
	 "Warning", "Correct the value and resubmit the request."},
	{"ActionParameterMissing",
	 "The action '%1' requires the parameter '%2' to be present in the request body.",
	 "Critical", "Supply the required parameter and resubmit the request."},
	{"ActionParameterUnknown", "The action '%1' was submitted with the invalid parameter '%2'.",
	 "Warning", "Correct the invalid parameter and resubmit the request."},
	{"ActionParameterValueTypeError",
	 "The value '%1' for the parameter '%2' in the action '%3' is not a type that the "
	 "parameter can accept.",
	 "Warning", "Correct the value and resubmit the request."},
	{"ActionParameterValueNotInList",
	 "The value '%1' for the parameter '%2' in the action '%3' is not in the list of "
	 "acceptable values.",
	 "Warning", "Choose a value from the enumeration list and resubmit the request."},
	{"ActionParameterValueOutOfRange",
	 "The value '%1' for the parameter '%2' in the action '%3' is not in the supported range "
	 "of acceptable values.",
	 "Warning", "Correct the value and resubmit the request."},
	{"ActionNotSupported", "The action %1 is not supported by the resource.", "Critical",
	 "Use an action that it supports."},
	{"PasswordChangeRequired",
	 "The password provided for this account must be changed before access is granted.  PATCH "
	 "the Password property for this account located at the target URI '%1' to complete this "
	 "process.",
	 "Critical", "Change the password of this account at the URI that is named."},
	{"NoValidSession", "There is no valid session established with the implementation.",
	 "Critical", "Establish a session before attempting any operations."},
	{"InsufficientPrivilege",
	 "There are insufficient privileges for the account or credentials associated with the "
	 "current session to perform the requested operation.",
	 "Critical", "Use an account that may do this."},
	{"SessionLimitExceeded",
	 "The session establishment failed due to the number of simultaneous sessions exceeding "
	 "the limit of the implementation.",
	 "Critical", "Delete sessions that are not used and resubmit the request."},
	{"ServiceTemporarilyUnavailable",
	 "The service is temporarily unavailable.  Retry in %1 seconds.", "Critical",
	 "Wait for the indicated retry duration and retry the operation."},
};

/* --- messages --------------------------------------------------------------------------------- */

static void expand(struct buf *out, const char *text, const char *const *args, size_t n)
{
	for (; *text; text++) {
		if (text[0] == '%' && text[1] >= '1' && (size_t)(text[1] - '1') < n)
			buf_puts(out, args[*++text - '1']);
		else
			buf_put(out, text, 1);
	}
}

static json_t *vmessage(const char *property, const char *id, va_list list)
{
	const struct message *m = messages;
	const char *args[ARGS_MAX];
	json_t *j, *values = json_array();
	char full[64], pointer[160];
	struct buf text;
	size_t n = 0;

	while (!str_eq(m->id, id))
		m++;
	while (n < ARGS_MAX && (args[n] = va_arg(list, const char *)))
		json_array_append_new(values, json_string(args[n++]));
	str_format(full, sizeof(full), "%s%s", REGISTRY, id);
	buf_init(&text, 4096);
	expand(&text, m->text, args, n);
	j = json_pack("{s:s,s:s,s:s,s:o,s:s,s:s,s:s}", "@odata.type", "#Message.v1_1_2.Message",
		      "MessageId", full, "Message", text.data, "MessageArgs", values, "Severity",
		      m->severity, "MessageSeverity", m->severity, "Resolution", m->resolution);
	buf_done(&text);
	if (property && str_format(pointer, sizeof(pointer), "#/%s", property))
		json_object_set_new(j, "RelatedProperties", json_pack("[s]", pointer));
	return j;
}

json_t *bmc_message_(const char *property, const char *id, ...)
{
	va_list args;
	json_t *j;

	va_start(args, id);
	j = vmessage(property, id, args);
	va_end(args);
	return j;
}

void bmc_complain_(struct bmc_call *c, const char *property, const char *id, ...)
{
	va_list args;

	if (!c->errors)
		c->errors = json_array();
	va_start(args, id);
	json_array_append_new(c->errors, vmessage(property, id, args));
	va_end(args);
}

static void without_registry(json_t *message)
{
	const char *id = json_str_at(message, "MessageId"), *dot = strrchr(id, '.');

	if (dot)
		json_object_set_new(message, "MessageId", json_string(dot + 1));
}

/* Returns the error messages in the form that the make uses: a list, one object, or a list of ids
 * without their registry. */
static json_t *extended_info(const struct bmc_call *c)
{
	int form = c->b->dialect ? c->b->dialect->quirks.errors : SIM_ERRORS_LIST;
	json_t *message;
	size_t i;

	if (form == SIM_ERRORS_OBJECT)
		return json_array_get(c->errors, 0);
	if (form == SIM_ERRORS_BARE)
		json_array_foreach (c->errors, i, message)
			without_registry(message);
	return c->errors;
}

/* Answers with this status and the messages in c->errors. */
static void bmc_refuse(struct bmc_call *c, int status)
{
	json_t *first = json_array_get(c->errors, 0), *info = extended_info(c);
	bool one = json_array_size(c->errors) == 1;

	bmc_reply(c, status,
		  json_pack("{s:{s:s,s:s,s:O}}", "error", "code",
			    one ? json_str_at(first, "MessageId") : REGISTRY "GeneralError",
			    "message", one ? json_str_at(first, "Message") : messages[1].text,
			    "@Message.ExtendedInfo", info));
}

void bmc_error_as(struct bmc_call *c, int status, const char *full_id, const char *text)
{
	if (!c->errors)
		c->errors = json_array();
	json_array_append_new(c->errors, json_pack("{s:s,s:s,s:[],s:s,s:s}", "MessageId", full_id,
						   "Message", text, "MessageArgs", "Severity",
						   "Warning", "Resolution", "None."));
	bmc_refuse(c, status);
}

void bmc_error_(struct bmc_call *c, int status, const char *id, ...)
{
	va_list args;

	if (!c->errors)
		c->errors = json_array();
	va_start(args, id);
	json_array_append_new(c->errors, vmessage(NULL, id, args));
	va_end(args);
	bmc_refuse(c, status);
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Adds a message about one refused value. action: name of the action of which the value is a
 * parameter; NULL: the value is that of a property. */
static void complain_value(struct bmc_call *c, const char *what, const char *path, const json_t *v,
			   const char *action)
{
	char property[64], parameter[64],
		*text = json_is_string(v) ? mem_strdup(json_string_value(v))
					  : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);

	str_format(property, sizeof(property), "PropertyValue%s", what);
	str_format(parameter, sizeof(parameter), "ActionParameterValue%s", what);
	if (text && strlen(text) > 64)
		memcpy(text + 61, "...", sizeof("..."));
	str_clean(text);
	if (action)
		bmc_complain(c, NULL, parameter, text, path, action);
	else
		bmc_complain(c, path, property, text, path);
	free(text);
}

static bool type_fits(const struct bmc_property *p, const json_t *v)
{
	switch (p->kind) {
	case BMC_TEXT:
		return json_is_string(v);
	case BMC_TEXT_OR_NULL:
		return json_is_string(v) || json_is_null(v);
	case BMC_NUMBER:
		return json_is_integer(v);
	case BMC_FLAG:
		return json_is_boolean(v);
	case BMC_OBJECT:
		return json_is_object(v);
	}
	return false;
}

static bool in_list(const struct bmc_property *p, const json_t *v)
{
	const char *const *one = p->allowed;

	if (!one || !json_is_string(v))
		return true;
	while (*one && !str_eq(*one, json_string_value(v)))
		one++;
	return *one;
}

static bool in_range(const struct bmc_property *p, const json_t *v)
{
	json_int_t n =
		json_is_string(v) ? (json_int_t)json_string_length(v) : json_integer_value(v);

	return p->max <= 0 || (!json_is_string(v) && !json_is_integer(v)) ||
	       (n >= p->min && n <= p->max);
}

static void check_object(struct bmc_call *c, const struct bmc_property *t, const json_t *body,
			 const json_t *now, const char *prefix, const char *action);

static void check_value(struct bmc_call *c, const struct bmc_property *p, const json_t *v,
			const json_t *now, const char *path, const char *action)
{
	if (!type_fits(p, v))
		complain_value(c, "TypeError", path, v, action);
	else if (!in_list(p, v))
		complain_value(c, "NotInList", path, v, action);
	else if (!in_range(p, v))
		complain_value(c, "OutOfRange", path, v, action);
	else if (p->kind == BMC_OBJECT)
		check_object(c, p->sub, v, json_object_get(now, p->name), path, action);
}

static void check_object(struct bmc_call *c, const struct bmc_property *t, const json_t *body,
			 const json_t *now, const char *prefix, const char *action)
{
	const char *name;
	char path[128];
	json_t *v;

	json_object_foreach ((json_t *)body, name, v) {
		const struct bmc_property *p = t;

		if (*name == '@' || strstr(name, "@odata.") || strstr(name, "@Redfish."))
			continue; /* Skips annotations, which are not validated. */
		while (p->name && !str_eq(p->name, name))
			p++;
		str_format(path, sizeof(path), "%s%s%s", prefix, *prefix ? "/" : "", name);
		str_clean(path);
		if (p->name)
			check_value(c, p, v, now, path, action);
		else if (action)
			bmc_complain(c, NULL, "ActionParameterUnknown", action, path);
		else
			bmc_complain(c, path,
				     json_object_get(now, name) ? "PropertyNotWritable"
								: "PropertyUnknown",
				     path);
	}
	for (const struct bmc_property *p = t; p->name; p++) {
		if (!p->required || json_object_get(body, p->name))
			continue;
		if (action)
			bmc_complain(c, NULL, "ActionParameterMissing", action, p->name);
		else
			bmc_complain(c, p->name, "PropertyMissing", p->name);
	}
}

static bool says_something(const json_t *body)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)body, name, v)
		if (*name != '@' && !strstr(name, "@odata.") && !strstr(name, "@Redfish."))
			return true;
	return false;
}

bool bmc_check(struct bmc_call *c, const struct bmc_property *t, const char *action)
{
	OWN_JSON none = json_object();

	if (!action && !c->body)
		bmc_complain(c, NULL, "MalformedJSON");
	else if (!action && !json_object_size(c->body))
		bmc_complain(c, NULL, "EmptyJSON");
	else if (!action && !says_something(c->body))
		bmc_complain(c, NULL, "NoOperation");
	else
		check_object(c, t, c->body ? c->body : none, c->now, "", action);
	if (c->errors)
		bmc_refuse(c, 400);
	return !c->errors;
}
