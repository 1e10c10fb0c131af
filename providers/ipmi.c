#include "providers/ipmi.h"

#include <ctype.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/provider.h"

#define SCHEME "ipmi://"
#define NAMED 3 /* Maximum number of critical sensors that a report names. */

int ipmi_parse_address(const char *address, char **host, char **port, struct err *e)
{
	const char *at = address && str_starts(address, SCHEME) ? address + strlen(SCHEME) : "";
	bool brackets = *at == '[';
	size_t n = brackets ? strcspn(++at, "]") : strcspn(at, ":/");
	const char *rest = at + n + (brackets && at[n] == ']');
	int64_t number = 623;

	if (n == 0 || n > 253 || at[0] == '-' ||
	    strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-") < n ||
	    (*rest == ':' ? !str_to_i64(rest + 1, 1, 65535, &number) : *rest && !str_eq(rest, "/")))
		return err_set(e, ERR_INVALID, PROVIDER_ADDRESS,
			       "spec.bmc.address: want ipmi://HOST or ipmi://HOST:PORT, got %.100s",
			       str_or(address, "nothing"));
	*host = mem_strndup(at, n);
	*port = mem_printf("%lld", (long long)number);
	return 0;
}

int ipmi_login_fits(const char *user, const struct secret *password, struct err *e)
{
	if (!str_empty(user) && strlen(user) <= IPMI_USER_MAX && password &&
	    secret_len(password) <= IPMI_PASSWORD_MAX &&
	    strcspn(secret_expose(password), "\t\r\n") == secret_len(password))
		return 0;
	return err_set(
		e, ERR_INVALID, 0,
		"spec.bmc.credentialsSecretRef: IPMI allows a user of at most %d bytes and a "
		"password of at most %d bytes without tabs and line breaks",
		IPMI_USER_MAX, IPMI_PASSWORD_MAX);
}

/* --- sensors ---------------------------------------------------------------------------------- */

enum { NAME, NUMBER, STATE, ENTITY, READING, CELLS };
struct cell {
	const char *at;
	size_t len;
};

static bool cell_is(struct cell c, const char *word)
{
	return c.len == strlen(word) && memcmp(c.at, word, c.len) == 0;
}

static struct cell trimmed(const char *at, size_t len)
{
	while (len > 0 && isspace((unsigned char)*at))
		at++, len--;
	while (len > 0 && isspace((unsigned char)at[len - 1]))
		len--;
	return (struct cell){at, len};
}

/* True if the column c of a sensor row is a sensor number such as "43h". */
static bool is_number(struct cell c)
{
	return c.len == 3 && isxdigit((unsigned char)c.at[0]) && isxdigit((unsigned char)c.at[1]) &&
	       c.at[2] == 'h';
}

static bool cut(const char *line, size_t len, struct cell cells[CELLS])
{
	const char *at = line, *end = line + len, *bar;
	int n = 0;

	for (; n < READING && (bar = memchr(at, '|', (size_t)(end - at))); at = bar + 1)
		cells[n++] = trimmed(at, (size_t)(bar - at));
	cells[READING] = trimmed(at, (size_t)(end - at));
	return n == READING && is_number(cells[NUMBER]);
}

/* Returns the first state in `reading` that means that a part does not work (discrete states of
 * IPMI 2.0, tables 42-2 and 42-3); empty: none. */
static struct cell broken_state(struct cell reading)
{
	static const char *const states[] = {
		"Failure detected", /* sensor type 08h, power supply */
		"Power Supply AC lost",
		"AC lost or out-of-range",
		"Drive Fault", /* sensor type 0Dh, drive slot */
		"In Failed Array",
		"Uncorrectable ECC", /* sensor type 0Ch, memory */
		"IERR",		     /* sensor type 07h, processor */
		"Thermal Trip",
		"Redundancy Lost", /* generic event type 0Bh */
		"Non-Redundant: Insufficient Resources",
		"Transition to Critical from less severe", /* generic event type 07h */
		"Transition to Critical from Non-recoverable",
		"Transition to Non-recoverable",
		"Transition to Non-recoverable from less severe",
	};
	const char *end = reading.at + reading.len;

	for (const char *at = reading.at; at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct cell c = trimmed(at, (size_t)((comma ? comma : end) - at));

		for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
			if (cell_is(c, states[i]))
				return c;
		at = comma ? comma + 1 : end;
	}
	return (struct cell){0};
}

/* Returns the severity that a threshold state means; NULL: not critical. A verbose ipmitool also
 * names the threshold: lcr, ucr. */
static const char *severity(struct cell state)
{
	if (cell_is(state, "cr") || cell_is(state, "lcr") || cell_is(state, "ucr"))
		return "critical";
	if (cell_is(state, "nr") || cell_is(state, "lnr") || cell_is(state, "unr"))
		return "non-recoverable";
	return NULL;
}

struct faults {
	char *text;
	size_t size, n;
};

static void add(struct faults *f, struct cell name, const char *how, struct cell what)
{
	size_t used = strlen(f->text);

	if (f->n++ < NAMED)
		str_format(f->text + used, f->size - used, "%s%.*s (%s%s%.*s)", used ? ", " : "",
			   (int)(name.len < 32 ? name.len : 32), name.at, how ? how : "",
			   how ? ": " : "", (int)(what.len < 64 ? what.len : 64), what.at);
}

static bool row(const char *line, size_t len, struct faults *f)
{
	struct cell c[CELLS], broken;
	const char *how;

	if (!cut(line, len, c))
		return false;
	how = severity(c[STATE]);
	broken = how ? c[READING] : broken_state(c[READING]);
	if (how || broken.len)
		add(f, c[NAME], how, broken);
	return true;
}

size_t ipmi_sensors(const char *text, char *fault, size_t size)
{
	struct faults f = {.text = fault, .size = size};
	size_t rows = 0, used;

	fault[0] = '\0';
	for (const char *at = text; *at;) {
		size_t len = strcspn(at, "\n");

		rows += row(at, len, &f);
		at += len + (at[len] == '\n');
	}
	used = strlen(fault);
	if (f.n > NAMED)
		str_format(fault + used, size - used, " and %zu more", f.n - NAMED);
	for (char *c = fault; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	str_clean(fault);
	return rows;
}
