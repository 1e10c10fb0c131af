#ifndef PROVIDERS_BMC_CHECK_H
#define PROVIDERS_BMC_CHECK_H

#include "base/data/json.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * bmc_check: reports what drover could do with a BMC, and which functions are missing. It uses
 * drover's own Redfish client. It changes nothing at the BMC, except that it opens a session and
 * always ends that session. The BMC's certificate is verified before the password is sent: by CA,
 * by fingerprint, or by the certificate of the first answer, which needs no login.
 *
 * On the loop thread; calls done() exactly once, never inside a call.
 * Tests: tests/contract/test_bmc_check.c
 */
struct bmc_check_spec {
	struct loop_group *group;
	struct http *http;
	/* BMC address in the format of spec.bmc.address of a Machine */
	const char *address;
	const char *user;
	const struct secret *password;
	/* CA certificates and fingerprint of the BMC, as in struct http_peer_spec */
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	/* True: an address with http:// is allowed, for tests */
	bool plain_ok;
	/* Called when the check has ended. told is the report, valid during the call: {"bmc":
	 * members as in status.bmc of a Machine, "systems": paths of the Systems if the address
	 * must name one of them, "findings": [{"of": "power", "result": "ok" | "note" | "wrong",
	 * "says": "...", "mend": "..."}]}. wrong: number of findings with result "wrong". */
	void (*done)(const json_t *told, unsigned wrong, void *arg);
	void *arg;
};
struct bmc_check;

/* Starts the check. Everything in s is borrowed until done(). Returns NULL with *e set on error. */
struct bmc_check *bmc_check_new(const struct bmc_check_spec *s, struct err *e);
/* Ends the check early: sends no further reads, ends the session and then calls done(). */
void bmc_check_stop(struct bmc_check *c);
/* Frees the check; NULL is allowed. Must not be called inside done(). */
void bmc_check_free(struct bmc_check *c);

#endif
