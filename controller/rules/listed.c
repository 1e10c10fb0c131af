/*
 * listed: compares the drives that the BMC lists with those that the agent saw.
 */
#include "controller/rules/listed.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"

#define LEAST 8 /* shortest prefix that identifies a serial number, in letters and digits */
#define WORD 128

/* Copies the letters and digits of s to `out` in lower case, and returns `out`. */
static const char *bare(const char *s, char out[static WORD])
{
	size_t n = 0;

	for (; s && *s && n + 1 < WORD; s++)
		if (isalnum((unsigned char)*s))
			out[n++] = (char)tolower((unsigned char)*s);
	out[n] = '\0';
	return out;
}

static bool same_begin(const char *a, const char *b)
{
	char x[WORD], y[WORD];
	size_t n = strlen(bare(a, x)), k = strlen(bare(b, y)), least = n < k ? n : k;

	return n && k && (n == k || least >= LEAST) && !memcmp(x, y, least);
}

/* True if two durable names are equal apart from prefixes such as "eui.", "naa.", "nguid." and
 * "wwn-0x". */
static bool same_name(const char *a, const char *b)
{
	static const char *const kinds[] = {"eui", "naa", "nguid", "uuid", "wwn0x", "wwn", "0x"};
	char x[WORD], y[WORD];
	const char *p = bare(a, x), *q = bare(b, y);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (str_starts(p, kinds[i]))
			p += strlen(kinds[i]);
		if (str_starts(q, kinds[i]))
			q += strlen(kinds[i]);
	}
	return *p && str_eq(p, q);
}

static bool is_same(const struct listed_drive *d, const struct proto_drive *seen)
{
	return same_begin(d->serial, seen->serial) || same_name(d->durable, seen->wwn);
}

static bool is_seen(const struct listed_drive *d, const struct proto_inventory *inv)
{
	for (size_t i = 0; i < inv->drives.n; i++)
		if (is_same(d, &inv->drives.v[i]))
			return true;
	return false;
}

static bool is_listed(const struct listed_drive *v, size_t n, const struct proto_drive *seen)
{
	for (size_t i = 0; i < n; i++)
		if (is_same(&v[i], seen))
			return true;
	return false;
}

/* True if the agent saw the volume that contains d. The volume is recognised by its durable name,
 * or by its size in bytes if the seen drive is none of those that the BMC lists. */
static bool volume_is_seen(const struct listed_drive *v, size_t n, const struct listed_drive *d,
			   const struct proto_inventory *inv)
{
	for (size_t i = 0; d->volume && i < inv->drives.n; i++) {
		const struct proto_drive *seen = &inv->drives.v[i];

		if (same_name(d->volume_durable, seen->wwn) ||
		    (d->volume_bytes > 0 && d->volume_bytes == seen->bytes &&
		     !is_listed(v, n, seen)))
			return true;
	}
	return false;
}

static bool is_told(const struct listed_unseen *out, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(out[i].id, id))
			return true;
	return false;
}

static bool is_nameless(const struct listed_drive *d)
{
	return !d->serial && !d->durable;
}

/* True if v[i] is the Nth drive of its model among the nameless drives of the BMC's list, and the
 * agent saw at least one but fewer than N drives of that model. *nth: N. */
static bool is_one_too_many(const struct listed_drive *v, size_t i,
			    const struct proto_inventory *inv, size_t *nth)
{
	size_t seen = 0;

	*nth = 1;
	if (!v[i].model)
		return false;
	for (size_t k = 0; k < i; k++)
		*nth += is_nameless(&v[k]) && str_eq(v[k].model, v[i].model);
	for (size_t k = 0; k < inv->drives.n; k++)
		seen += same_begin(v[i].model, inv->drives.v[k].model);
	return seen && *nth > seen;
}

size_t listed_unseen(const struct listed_drive *v, size_t n, const struct proto_inventory *inv,
		     struct arena *a, struct listed_unseen *out)
{
	size_t found = 0, nth;

	for (size_t i = 0; i < n; i++) {
		const char *id = v[i].serial ? v[i].serial : v[i].durable;

		if (is_nameless(&v[i]) ? !is_one_too_many(v, i, inv, &nth)
				       : is_seen(&v[i], inv) || volume_is_seen(v, n, &v[i], inv))
			continue;
		if (!id)
			id = arena_printf(a, "%s#%zu", v[i].model, nth);
		if (!is_told(out, found, id))
			out[found++] = (struct listed_unseen){.id = id, .drive = &v[i]};
	}
	return found;
}

bool listed_accounted(const struct machine *m, const char *id)
{
	for (size_t i = 0; i < m->spec.unseen_drives.n; i++)
		if (str_eq(m->spec.unseen_drives.v[i], id))
			return true;
	return false;
}

const char *listed_text(const struct listed_unseen *u, struct arena *a)
{
	const struct listed_drive *d = u->drive;
	const char *of =
		d->volume ? arena_printf(a, "part of virtual disk %.40s", d->volume) : NULL;

	if (!d->slot && !of)
		return arena_printf(a, "%.64s", u->id);
	return arena_printf(a, "%.64s (%.40s%s%s)", u->id, str_or(d->slot, ""),
			    d->slot && of ? ", " : "", str_or(of, ""));
}
