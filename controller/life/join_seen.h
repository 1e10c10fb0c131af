#ifndef CONTROLLER_LIFE_JOIN_SEEN_H
#define CONTROLLER_LIFE_JOIN_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * join_seen: what a tenant's API server shows of a booting machine whose Node is missing: the
 * machine's bootstrap token, and the CertificateSigningRequest (CSR) that its kubelet creates with
 * that token. The text of the joining deadline contains both, because they tell whether the kubelet
 * never reached the API server, was refused there, or waits for the cluster to approve or sign.
 *
 *   kubelet --bootstrap token--> CSR --approved--> --signed--> Node
 *
 * Only user names, conditions and names of CSRs are read. A cluster may not serve CSRs, or not let
 * drover list them; then the text has the token alone.
 *
 * A kubelet whose token is refused leaves no CSR either, so drover also tries the token by itself.
 * Only 401 counts as a refusal, and only a reply that names the token's user as acceptance.
 * Tests: tests/unit/controller/life/test_join_seen.c, tests/world/test_join.c
 */
struct life;
struct life_token;
struct tenant;

enum join_csr {
	/* not known: not requested yet, or the API server serves no CSRs */
	JOIN_CSR_UNKNOWN,
	/* drover may not list CSRs */
	JOIN_CSR_HIDDEN,
	/* no CSR was created with the machine's token */
	JOIN_CSR_NONE,
	JOIN_CSR_PENDING,
	JOIN_CSR_DENIED,
	JOIN_CSR_APPROVED,
	JOIN_CSR_SIGNED,
};

/* Answer of the API server when drover tried the machine's bootstrap token. */
enum join_token {
	/* not known: not tried yet, or the answer shows neither */
	JOIN_TOKEN_UNKNOWN,
	JOIN_TOKEN_ACCEPTED,
	JOIN_TOKEN_REFUSED,
};

/* Initialized with zeros. */
struct join_seen {
	/* loop_now() of the last check, or of the first turn of the state; 0: no turn yet */
	int64_t checked_at;
	/* wall ms when the token was last seen to exist, and when it was missing and drover created
	 * it again; 0: never */
	int64_t token_seen, token_again;
	/* loop_now() at which the token was last tried; 0: never */
	int64_t tried_at;
	enum join_token token;
	/* ID of the token, the public part: 6 characters */
	char token_id[7];
	enum join_csr csr;
	/* name and creation time of the newest CSR that was created with the token; "": none */
	char csr_name[80], csr_time[32];
};

/* Considers one CSR of the list. A CSR of the token proves that the token was not refused. */
void join_seen_csr(struct join_seen *s, const json_t *csr);
/* Ends the list of CSRs: e is the error of the list, or NULL. */
void join_seen_listed(struct join_seen *s, const struct err *e);

/* Starts the request "csr" (life/ask.h), which lists the CSRs in the cluster of t, and stores its
 * result in l->work.join. */
void join_seen_ask(struct life *l, struct tenant *t);

/* Stores the answer to a try of the token: review is the SelfSubjectReview, NULL with an error e.
 * An answer that shows neither acceptance nor refusal changes nothing. */
void join_seen_tried(struct join_seen *s, const json_t *review, const struct err *e);
/* True if the token is to be tried now: in the second half of the time until the deadline, at most
 * once a minute, unless a CSR proves that the token was accepted. */
bool join_seen_try_due(const struct life *l);
/* Starts the request "try" (life/ask.h), which tries the token at the API server of t, and stores
 * its result in l->work.join. */
void join_seen_try(struct life *l, struct tenant *t, const struct life_token *token);
/* Reports a token that the API server of t refuses, and ends the report once the token is accepted
 * or a CSR of the token exists. t may be NULL. True: the token is refused. */
bool join_seen_report(struct life *l, const struct tenant *t);

/* Writes the text about the missing Node `node` of tenant `cluster`, and returns out. */
#define JOIN_SEEN_TEXT 360
const char *join_seen_text(const struct join_seen *s, const char *node, const char *cluster,
			   char out[static JOIN_SEEN_TEXT]);

#endif
