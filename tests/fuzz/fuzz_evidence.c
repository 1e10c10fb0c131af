#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/evidence.h"

/*
 * Opens the input as an envelope of a wipe record, as the JSON of one, or as a statement that the
 * agent signs; the first byte selects the form. Asserts that whatever is accepted compares equal to
 * itself, and can be signed and opened again.
 */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

/* Returns the statement with AGENT replaced by the key that signs it. */
static char *name_agent(const char *statement, const char *public)
{
	const char *at = strstr(statement, "AGENT");

	if (!at)
		return mem_strdup(statement);
	return mem_printf("%.*s%s%s", (int)(at - statement), statement, public, at + 5);
}

static char *sign(const char *statement, const struct crypto_key *key, const char *public)
{
	char *pae = mem_printf("DSSEv1 %zu %s %zu %s", strlen(EVIDENCE_PAYLOAD_TYPE),
			       EVIDENCE_PAYLOAD_TYPE, strlen(statement), statement);
	char *payload = crypto_base64(statement, strlen(statement)), *sig, *text;
	uint8_t raw[CRYPTO_SIGNATURE];

	crypto_sign(key, pae, strlen(pae), raw);
	sig = crypto_base64(raw, sizeof(raw));
	text = mem_printf("{\"payload\":\"%s\",\"payloadType\":\"%s\",\"signatures\":"
			  "[{\"keyid\":\"%s\",\"sig\":\"%s\"}]}",
			  payload, EVIDENCE_PAYLOAD_TYPE, public, sig);
	free(sig);
	free(payload);
	free(pae);
	return text;
}

static char *to_envelope(char *text)
{
	char *envelope = crypto_base64(text, strlen(text));

	free(text);
	return envelope;
}

static void check(const char *envelope, const struct crypto_key *key, const char *public)
{
	const char *const publics[] = {public};
	OWN(arena) a = arena_new();
	struct evidence ev, again;
	struct err e;
	char *text;

	if (evidence_open(envelope, public, NULL, 0, a, &ev, &e) < 0) {
		must(e.text[0] && (e.kind == ERR_PROTOCOL || e.kind == ERR_DENIED));
		text = evidence_countersign(envelope, key, &e);
		free(text);
		return;
	}
	must(evidence_compare(&ev, &ev, &e) == 0);
	text = evidence_sign(&ev, key);
	must(evidence_open(text, public, NULL, 0, a, &again, &e) == 0);
	must(evidence_compare(&ev, &again, &e) == 0);
	free(text);
	text = evidence_countersign(envelope, key, &e);
	must(text && evidence_open(text, public, publics, 1, a, &again, &e) == 0);
	must(evidence_compare(&ev, &again, &e) == 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct crypto_key *key;
	static char public[CRYPTO_PUBLIC_TEXT];
	char *input, *envelope, *statement;

	if (!key) {
		key = crypto_key_new();
		crypto_key_public(key, public);
	}
	if (size == 0)
		return 0;
	input = mem_strndup((const char *)data + 1, size - 1);
	if (data[0] % 4 == 0) {
		envelope = mem_strdup(input);
	} else if (data[0] % 4 == 1) {
		envelope = to_envelope(mem_strdup(input));
	} else {
		statement = name_agent(input, public);
		envelope = to_envelope(sign(statement, key, public));
		free(statement);
	}
	check(envelope, key, public);
	free(envelope);
	free(input);
	return 0;
}
