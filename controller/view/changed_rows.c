#include <stdlib.h>
#include <string.h>

#include "controller/view/changed_rows.h"
#include "base/mem.h"
#include "base/str.h"

/* A row as the last event showed it. brief: digest of its brief form. */
struct shown_row {
	/* Zero if the reader's row is unknown */
	uint8_t digest[CRYPTO_SHA256], brief[CRYPTO_SHA256];
	/* "": none; NULL: unknown */
	char *tenant;
};

static void row_free(void *p)
{
	struct shown_row *r = p;

	free(r->tenant);
	free(r);
}

struct map *known_rows_new(void)
{
	return map_new(row_free);
}

void known_rows_add_unknown(struct map *known, const char *name)
{
	map_put(known, name, mem_new(struct shown_row));
}

static void add(struct changed_rows *x, struct row_change c)
{
	mem_grow(x->v, x->n, x->cap);
	x->v[x->n++] = c;
}

/* Returns the tenant in the last event with the row, in the arena; NULL: unknown. r NULL: there was
 * no row. */
static const char *tenant_before(const struct shown_row *r, struct arena *a)
{
	return !r ? "" : r->tenant ? arena_strdup(a, r->tenant) : NULL;
}

void changed_rows_delete(struct changed_rows *x, const char *name)
{
	/* A copy, because name may be the key that map_del() frees. */
	const char *copy = arena_strdup(x->a, name);

	add(x, (struct row_change){.name = copy,
				   .was = tenant_before(map_get(x->known, copy), x->a),
				   .is = ""});
	map_del(x->known, copy);
}

/* Writes the digest of o to out and returns the JSON of o, malloc'd. */
static char *digest_of(const json_t *o, uint8_t out[static CRYPTO_SHA256])
{
	char *text = json_text(o);

	crypto_sha256(text, strlen(text), out);
	return text;
}

/* Writes the digest of the brief form of row o to r. Returns its JSON, in the arena; NULL: it is as
 * in `old`, the row of the last event (NULL: there was none). text: JSON of o. */
static const char *brief_text(const json_t *o, const json_t *brief, const char *text,
			      const struct shown_row *old, struct shown_row *r, struct arena *a)
{
	char *own = brief == o ? NULL : digest_of(brief, r->brief);
	const char *changed = NULL;

	if (!own)
		memcpy(r->brief, r->digest, sizeof(r->brief));
	if (!old || memcmp(old->brief, r->brief, sizeof(r->brief)) != 0)
		changed = own ? arena_strdup(a, own) : text;
	free(own);
	return changed;
}

void changed_rows_compare(struct changed_rows *x, const char *name, const char *tenant,
			  const json_t *o, const json_t *brief)
{
	const struct shown_row *old = map_get(x->known, name);
	struct shown_row *r = mem_new(struct shown_row);
	char *text = digest_of(o, r->digest);
	struct row_change c = {0};

	if (old && !memcmp(old->digest, r->digest, sizeof(r->digest))) {
		free(text);
		free(r);
		return;
	}
	c.name = arena_strdup(x->a, name);
	c.was = tenant_before(old, x->a);
	c.is = arena_strdup(x->a, str_or(tenant, ""));
	c.text = arena_strdup(x->a, text);
	c.brief = brief_text(o, brief, c.text, old, r, x->a);
	free(text);
	add(x, c);
	r->tenant = mem_strdup(str_or(tenant, ""));
	map_put(x->known, name, r);
}

static void put_text(struct buf *b, const char *text)
{
	OWN_JSON o = json_string(text);
	char *dump = json_dumps(o, JSON_ENCODE_ANY);

	buf_puts(b, dump);
	free(dump);
}

/* True if a reader of the channel may have the row and must now remove it. */
static bool leaves(const struct row_change *c, const struct event_channel *ch)
{
	if (!ch->tenant)
		return !c->text;
	return (!c->was || str_eq(c->was, ch->tenant)) && !(c->text && str_eq(c->is, ch->tenant));
}

/* Encodes the changes for channel ch. False: none of them is for it. */
static bool encode(const struct changed_rows *x, const struct event_channel *ch, struct buf *b)
{
	bool first = true, any;

	buf_printf(b, "event: %s\nid: %s\ndata: {\"version\":\"%s\",\"%s\":[",
		   x->topic == EVENT_FLEET ? "fleet" : "attention", x->version, x->version,
		   x->topic == EVENT_FLEET ? "machines" : "rows");
	for (size_t i = 0; i < x->n; i++) {
		const struct row_change *c = &x->v[i];
		const char *text = ch->brief ? c->brief : c->text;

		if (!text || (ch->tenant && !str_eq(c->is, ch->tenant)))
			continue;
		buf_puts(b, first ? "" : ",");
		buf_puts(b, text);
		first = false;
	}
	any = !first;
	first = true;
	buf_puts(b, "],\"removed\":[");
	for (size_t i = 0; i < x->n; i++) {
		const struct row_change *c = &x->v[i];

		if (!leaves(c, ch))
			continue;
		buf_puts(b, first ? "" : ",");
		put_text(b, c->name);
		first = false;
	}
	buf_puts(b, "]}\n\n");
	return any || !first;
}

void changed_rows_send(const struct changed_rows *x, struct event_ring *ring)
{
	if (!x->n)
		return;
	list_for_each (ch, &ring->channels, struct event_channel, link) {
		struct buf b;

		buf_init(&b, ring->max);
		if (encode(x, ch, &b))
			event_ring_send(ring, x->topic, ch, &b);
		buf_done(&b);
	}
}

void changed_rows_done(struct changed_rows *x)
{
	free(x->v);
}
