#include "cli/redact.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

enum { TEXT_MAX = 16 << 20 };

/* --- texts ------------------------------------------------------------------------------------ */

/* Returns the length of the word at s, which ends at white space, a quote or a separator. */
static size_t word_at(const char *s)
{
	return strcspn(s, " \t\r\n\"'`<>,;");
}

/* Characters that JSON puts around a name or a value: quotes, and the backslash before them if the
 * JSON is itself the text of a JSON string. */
#define QUOTES "\"'\\"

static bool begins(const char *s, const char *word)
{
	return strncasecmp(s, word, strlen(word)) == 0;
}

/* Appends the URL at s, the text after "://", to `out` with user, password and query redacted.
 * Returns the number of bytes of s that were read. */
static size_t redact_url(const char *s, struct buf *out)
{
	size_t host = strcspn(s, "/?# \t\r\n\"'`<>"), user = 0, query, len;

	for (size_t i = 0; i < host; i++)
		/* mutant: redact-url */
		if (s[i] == '@')
			user = i + 1;
	len = user + word_at(s + user);
	if (user)
		buf_puts(out, REDACTED "@");
	for (query = user; query < len && s[query] != '?' && s[query] != '#'; query++)
		;
	buf_put(out, s + user, query - user);
	if (query < len)
		buf_puts(out, "?" REDACTED);
	return len;
}

/* If a word at s announces a credential ("token: ", "Bearer ", "--password "), returns its length
 * including the separator; 0: no such word. option: s is the name of an option, after "--".
 */
static size_t leads(const char *s, bool option)
{
	static const char *const words[] = {
		"password",	 "passwd", "passphrase", "pwd",		"token",      "secret",
		"api-key",	 "apikey", "api_key",	 "access-key",	"access_key", "accesskey",
		"authorization", "cookie", "credential", "credentials", "key-data"};
	size_t n, blanks;

	for (size_t i = 0; i < 2; i++) {
		const char *scheme = i ? "basic " : "bearer ";

		if (begins(s, scheme))
			return strlen(scheme);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!begins(s, words[i]))
			continue;
		n = strlen(words[i]);
		n += strspn(s + n, QUOTES);
		blanks = strspn(s + n, " \t");
		if (s[n + blanks] == '=' || s[n + blanks] == ':')
			n += blanks + 1;
		else if (!option || !blanks)
			continue;
		return n + strspn(s + n, " \t" QUOTES);
	}
	return 0;
}

/* Returns the length of the credential at s. before: the character before s. A credential in quotes
 * ends at the same quote, any other one at white space or a quote. */
static size_t credential_at(const char *s, char before)
{
	const char all[] = " \t\r\n\"'`", quote[] = {before, '\n', '\0'};

	return strcspn(s, before == '"' || before == '\'' ? quote : all);
}

static size_t run_of(const char *s, const char *more)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || (s[n] && strchr(more, s[n])))
		n++;
	return n;
}

/* If the text at s has the form of a token, returns the length of the token: a JWT, a kubeadm
 * bootstrap token (6 characters, '.', 16 characters), an AWS access key, or a PEM file or
 * kubeconfig in base64. 0: no token. */
static size_t token_at(const char *s)
{
	size_t n = run_of(s, ""), m;

	/* base64 of "-----BEGIN ", "apiVersion: " and "{"apiVersion": keys and kubeconfigs */
	if (str_starts(s, "LS0tLS1CRUdJTi") || str_starts(s, "YXBpVmVyc2lvbjog") ||
	    str_starts(s, "eyJhcGlWZXJzaW9u"))
		return run_of(s, "+/=-_");
	if (begins(s, "eyJ")) {
		m = run_of(s, "-_.=");
		if (m > 20 && memchr(s, '.', m))
			return m;
	}
	if (n == 6 && s[6] == '.' && run_of(s + 7, "") == 16)
		return 23;
	if (n == 20 && (strncmp(s, "AKIA", 4) == 0 || strncmp(s, "ASIA", 4) == 0))
		return 20;
	return 0;
}

/* If a PEM private key begins at s, returns its length up to its END line, or to the end of the
 * text if that line is missing. 0: no key. */
static size_t key_at(const char *s)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ";
	const char *line, *last;

	if (!str_starts(s, begin))
		return 0;
	line = strstr(s + sizeof(begin) - 1, "-----");
	last = strstr(s, "PRIVATE KEY");
	if (!line || !last || last > line)
		return 0;
	last = strstr(line, end);
	if (!last)
		return strlen(s);
	last += sizeof(end) - 1;
	line = strstr(last, "-----");
	return line ? (size_t)(line + 5 - s) : strlen(s);
}

static void redact_clean(const char *s, struct buf *out)
{
	const char *start = s;
	bool inside = false; /* true: s is inside a word, where no key or token can begin */

	while (*s) {
		size_t n = inside ? 0 : key_at(s);

		if (!n && !inside)
			n = token_at(s);
		if (n) {
			buf_puts(out, REDACTED);
			s += n;
		} else if (str_starts(s, "://")) {
			buf_put(out, s, 3);
			s += 3;
			s += redact_url(s, out);
		} else if ((n = leads(s, s - start >= 2 && s[-1] == '-' && s[-2] == '-'))) {
			buf_put(out, s, n);
			s += n;
			if ((n = leads(s, false))) {
				/* Two such words, as in "Authorization: Bearer ...": copy the
				 * second one too, and redact only the text after it. */
				buf_put(out, s, n);
				s += n;
			}
			n = credential_at(s, s[-1]);
			if (n)
				buf_puts(out, REDACTED);
			s += n;
		} else {
			inside = isalnum((unsigned char)*s);
			buf_put(out, s++, 1);
			continue;
		}
		inside = false;
	}
}

void redact_text(const char *text, struct buf *out)
{
	char *copy = mem_strdup(text);

	str_clean(copy);
	redact_clean(copy, out);
	free(copy);
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcasecmp(s + n - m, end) == 0;
}

/* True if the name of a member tells that its value is a credential. References to Secrets have
 * names that end with Ref and do not match. */
static bool is_named_so(const char *key)
{
	static const char *const names[] = {
		"password", "passwd",	   "passphrase", "token",     "secret",
		"apikey",   "privatekey",  "accesskey",	 "secretkey", "authorization",
		"cookie",   "credentials", "kubeconfig", "userdata",  "key-data"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (ends(key, names[i]))
			return true;
	return false;
}

/* True if `key` is the value of a {name, value} pair, as in a container's environment. */
static bool is_value_of(const json_t *o, const char *key)
{
	return str_eq(key, "value") && json_object_get(o, "name");
}

static json_t *redacted(const char *text)
{
	struct buf b;
	json_t *s;

	buf_init(&b, TEXT_MAX);
	redact_text(text, &b);
	s = json_string(b.over || !b.data ? (b.over ? REDACTED : "") : b.data);
	buf_done(&b);
	return s;
}

static void redact_annotations(json_t *all)
{
	const char *key;
	json_t *v;
	void *next;

	json_object_foreach_safe(all, next, key, v)
	{
		if (str_eq(key, "kubectl.kubernetes.io/last-applied-configuration"))
			json_object_del(all, key);
		else if (!str_starts(key, "drover.dev/"))
			json_object_set_new(all, key, json_string(REDACTED));
	}
}

/* Redacts the elements of a list from index `from` on. */
static void redact_list(json_t *list, size_t from)
{
	for (size_t i = from; i < json_array_size(list); i++)
		json_array_set_new(list, i, json_string(REDACTED));
}

/* Recursive; the JSON parser limits the depth. */
void redact_object(json_t *o)
{
	const char *key;
	json_t *v;
	void *next;
	size_t i;

	json_object_del(json_object_get(o, "metadata"), "managedFields");
	json_object_foreach_safe(o, next, key, v)
	{
		if (str_eq(key, "annotations") && json_is_object(v))
			redact_annotations(v);
		if (str_eq(key, "command") && json_is_array(v))
			redact_list(v, 1); /* the program name stays */
		if (str_eq(key, "args") && json_is_array(v))
			redact_list(v, 0);
		if (json_is_string(v))
			json_object_set_new(o, key,
					    (is_named_so(key) || is_value_of(o, key)) &&
							    *json_string_value(v)
						    ? json_string(REDACTED)
						    : redacted(json_string_value(v)));
		else
			redact_object(v);
	}
	if (!json_is_array(o))
		return;
	json_array_foreach (o, i, v) {
		if (json_is_string(v))
			json_array_set_new(o, i, redacted(json_string_value(v)));
		else
			redact_object(v);
	}
}
