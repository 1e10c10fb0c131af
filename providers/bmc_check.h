#ifndef PROVIDERS_BMC_CHECK_H
#define PROVIDERS_BMC_CHECK_H

#include "base/data/json.h"
#include "base/err.h"
#include "base/http/http.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * bmc_check: what drover would do with a BMC, and what it would lack there. It is asked by the
 * client that drover uses, and nothing is changed but that a session is opened and ended, whatever
 * came between. The certificate is known before the password is sent: by CA, by pin, or by the
 * first answer, which needs no login.
 *
 * On the loop thread; done() exactly once, never inside a call.
 * Tests: tests/contract/test_bmc_check.c
 */
struct bmc_check_spec {
	struct loop_group *group;
	struct http *http;
	/* as spec.bmc.address of a Machine */
	const char *address;
	const char *user;
	const struct secret *password;
	/* as in http_peer_spec */
	const char *ca_pem, *pin_sha256;
	bool learn_pin;
	/* http:// (tests) */
	bool plain_ok;
	/* told, borrowed: {"bmc": {"vendor": ..., as status.bmc of a Machine}, "systems": [paths,
	 * where the address has to choose], "findings": [{"of": "power", "result": "ok" | "note" |
	 * "wrong", "says": "...", "mend": "..."}]} */
	void (*done)(const json_t *told, unsigned wrong, void *arg);
	void *arg;
};
struct bmc_check;

/* All of s is borrowed until done().  NULL with e. */
struct bmc_check *bmc_check_new(const struct bmc_check_spec *s, struct err *e);
/* No more is asked; its session is ended, and done() follows. */
void bmc_check_stop(struct bmc_check *c);
/* NULL does nothing; not inside done() */
void bmc_check_free(struct bmc_check *c);

#endif
