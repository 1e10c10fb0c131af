#ifndef TESTS_UNIT_CONTROLLER_RULES_EVIDENCE_MADE_H
#define TESTS_UNIT_CONTROLLER_RULES_EVIDENCE_MADE_H

#include "base/crypto.h"
#include "base/data/json.h"
#include "wipe/evidence.h"

/* evidence_made: WipeRecords as drover makes them, for tests of code that checks them. */
extern struct made {
	struct crypto_key *agent, *drover, *other;
	char drover_text[CRYPTO_PUBLIC_TEXT], other_text[CRYPTO_PUBLIC_TEXT];
	/* temporary folder of the test */
	char dir[64];
} made;
/* Devices of the sample that made_sample() built last */
extern struct evidence_device made_drives[2];

int made_setup(void **state);
int made_teardown(void **state);

struct evidence made_sample(void);
/* Returns the malloc'd signed envelope of *ev. If ev->unfinished is set, the envelope is one of an
 * unfinished wipe. */
char *made_envelope(const struct evidence *ev, const struct crypto_key *drover);
/* Returns a WipeRecord as the API server returns it; the caller owns the result. */
json_t *made_record_with(const struct evidence *ev, const char *envelope);
json_t *made_record(const struct evidence *ev);
/* Makes the records 40-1, 41-1 (unfinished) and 41-2 (named TENANCY-ATTEMPT), linked as drover
 * links the records of a machine. */
void made_chain(json_t *out[3]);
/* Returns a malloc'd envelope of this statement with the signatures of the genuine envelope. */
char *made_around(const json_t *envelope, const json_t *statement);
json_t *made_decoded(const char *b64);

#endif
