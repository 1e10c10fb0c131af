#include "controller/rules/probe_judge.h"

#include <string.h>
#include "base/address.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/str.h"

/* probe_judge: judges probe results of the agent, and of a Node's label.
 * Tests: tests/unit/controller/rules/test_probe_judge.c */

static void add(struct probe_targets *t, const char *address, const char *segment, bool own)
{
	if (t->n == PROTO_PROBES_MAX) {
		t->more = true;
		return;
	}
	t->v[t->n++] = (struct probe_target){address, segment, own};
}

void probe_targets_own(struct probe_targets *t, const struct strings *addresses,
		       const char *segment)
{
	for (size_t i = 0; i < addresses->n; i++)
		add(t, addresses->v[i], segment, true);
}

static bool is_own(const struct probe_targets *t, const char *address)
{
	for (size_t i = 0; i < t->n && t->v[i].own; i++)
		if (address_same(t->v[i].address, address))
			return true;
	return false;
}

void probe_targets_others(struct probe_targets *t, const struct strings *addresses,
			  const char *segment)
{
	for (size_t i = 0; i < addresses->n; i++)
		if (!is_own(t, addresses->v[i]))
			add(t, addresses->v[i], segment, false);
}

static int answer_of(const struct proto_report *r, const char *address)
{
	for (size_t i = 0; i < r->answers.n; i++)
		if (str_eq(r->answers.v[i].address, address))
			return r->answers.v[i].answer;
	return PROTO_NOT_ASKED;
}

static const struct probe_target *find(const struct probe_targets *t, const struct proto_report *r,
				       bool own, bool wanted, int answer)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].own == own && (answer_of(r, t->v[i].address) == answer) == wanted)
			return &t->v[i];
	return NULL;
}

void probe_judge(const struct probe_targets *t, const char *nonce, const struct proto_report *r,
		 struct probe_verdict *v)
{
	const struct probe_target *x;

	*v = (struct probe_verdict){0};
	if (r->state != PROTO_DONE) {
		str_format(v->why, sizeof(v->why), "the agent could not probe: %.150s",
			   str_or(r->message, "no reason given"));
	} else if (/* mutant: probe-old-answer */ !str_eq(r->nonce, nonce)) {
		str_format(v->why, sizeof(v->why), "the answers belong to a different probe order");
	} else if ((x = find(t, r, false, true, PROTO_ANSWERED))) {
		v->leak = x->address;
		str_format(v->why, sizeof(v->why),
			   "%.64s answered, which only segment %.100s should reach", x->address,
			   x->segment);
	} else if ((x = find(t, r, true, false, PROTO_ANSWERED))) {
		str_format(v->why, sizeof(v->why), "%.64s of segment %.100s did not answer",
			   x->address, x->segment);
	} else if (!t->n || !t->v[0].own) {
		str_format(v->why, sizeof(v->why),
			   "no address is configured that must answer in this segment");
	} else if (!find(t, r, false, true, PROTO_SILENT)) {
		str_format(v->why, sizeof(v->why),
			   "no address of another segment is configured, or none could be probed");
	} else if ((x = find(t, r, false, false, PROTO_SILENT))) {
		str_format(v->why, sizeof(v->why), "%.64s of segment %.100s could not be probed",
			   x->address, x->segment);
	} else if (t->more) {
		str_format(v->why, sizeof(v->why), "more than %d addresses are configured",
			   PROTO_PROBES_MAX);
	} else {
		v->proved = true;
	}
}

/* Writes the address to `out` as it appears in a label: '_' for ':', no brackets. */
static void label_text(const char *address, char out[static 64])
{
	size_t n = 0;

	for (const char *p = address; *p && n < 63; p++)
		if (*p != '[' && *p != ']')
			out[n++] = *p == ':' ? '_' : *p;
	out[n] = '\0';
}

/* Sets v->leak and v->why for the address in a label that reports a leak. Long labels are
 * truncated, so `said` may be only the beginning of the address. */
static void name_leak(const struct probe_targets *t, const char *said, struct probe_verdict *v)
{
	char text[64];

	v->leak = *said ? said : "unknown";
	str_format(v->why, sizeof(v->why), "%.64s answered, which the machine must not reach",
		   v->leak);
	for (size_t i = 0; i < t->n; i++) {
		label_text(t->v[i].address, text);
		if (t->v[i].own || !*said || strncmp(text, said, strlen(said)) != 0)
			continue;
		v->leak = t->v[i].address;
		str_format(v->why, sizeof(v->why),
			   "%.64s answered, which only segment %.100s should reach",
			   t->v[i].address, t->v[i].segment);
		return;
	}
}

void probe_label_mac(const char *key, const char *verdict, char out[static PROBE_MAC + 1])
{
	OWN(arena) a = arena_new();
	const char *text = arena_printf(a, "%s.%s", key, verdict);
	uint8_t digest[CRYPTO_SHA256];
	char hex[2 * CRYPTO_SHA256 + 1];

	crypto_sha256(text, strlen(text), digest);
	str_hex(hex, digest, sizeof(digest));
	str_copy(out, PROBE_MAC + 1, hex);
}

void probe_judge_label(const struct probe_targets *t, const char *key, const char *value,
		       struct probe_verdict *v)
{
	const char *said = value && strcspn(value, ".") == PROBE_MAC && value[PROBE_MAC]
				   ? value + PROBE_MAC + 1
				   : NULL;
	char mac[PROBE_MAC + 1];

	if (said) {
		probe_label_mac(key, said, mac);
		/* mutant: probe-label-unsigned */
		if (strncmp(mac, value, PROBE_MAC) != 0)
			said = NULL;
	}
	*v = (struct probe_verdict){0};
	if (!value)
		str_format(v->why, sizeof(v->why),
			   "its image does not report probe results (docs/image-contract.md)");
	else if (!said)
		str_format(v->why, sizeof(v->why),
			   "the Node's label drover.dev/probe was not written by its image in this "
			   "boot");
	else if (str_starts(said, "leak."))
		name_leak(t, said + strlen("leak."), v);
	else if (str_eq(said, "silent"))
		str_format(v->why, sizeof(v->why), "an address of its own segment did not answer");
	else if (!str_eq(said, "proved"))
		str_format(v->why, sizeof(v->why), "its image could not probe all addresses");
	else
		v->reached = true;
	if (!v->reached)
		return;
	if (t->more)
		str_format(v->why, sizeof(v->why), "more than %d addresses are configured",
			   PROTO_PROBES_MAX);
	/* the last address is an own one: no address of another segment exists, because those come
	 * last */
	else if (!t->n || t->v[t->n - 1].own)
		str_format(v->why, sizeof(v->why), "no address of another segment is configured");
	else
		v->proved = true;
}
