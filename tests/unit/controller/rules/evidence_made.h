#ifndef TESTS_UNIT_CONTROLLER_RULES_EVIDENCE_MADE_H
#define TESTS_UNIT_CONTROLLER_RULES_EVIDENCE_MADE_H

#include "base/crypto.h"
#include "base/data/json.h"
#include "wipe/evidence.h"

/* evidence_made: wipe records as drover makes them, for tests of those who check them. */
extern struct made {
	struct crypto_key *agent, *drover, *other;
	char drover_text[CRYPTO_PUBLIC_TEXT], other_text[CRYPTO_PUBLIC_TEXT];
	/* a folder of the test's own */
	char dir[64];
} made;
/* of the sample that was made last */
extern struct evidence_device made_drives[2];

int made_setup(void **state);
int made_teardown(void **state);

struct evidence made_sample(void);
/* malloc'd; of an attempt without an end when it says so */
char *made_envelope(const struct evidence *ev, const struct crypto_key *drover);
/* A WipeRecord as the API serves it; gives. */
json_t *made_record_with(const struct evidence *ev, const char *envelope);
json_t *made_record(const struct evidence *ev);
/* Tenancy 40 attempt 1, 41-1 unfinished, 41-2: linked as drover links them. */
void made_chain(json_t *out[3]);
/* The envelope around this statement, with the signatures of the true one; malloc'd. */
char *made_around(const json_t *envelope, const json_t *statement);
json_t *made_decoded(const char *b64);

#endif
