#ifndef TESTS_UNIT_REDFISH_BMC_RIG_H
#define TESTS_UNIT_REDFISH_BMC_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include "tests/simulated/http_mem.h"
#include "base/loop/loop.h"
#include "redfish/redfish.h"
#include "tests/contract/fake_bmc.h"

/* bmc_rig: a client and a fake BMC in one simulated loop. Each operation waits for its answer,
 * checks that done() is called once and never inside the call, and returns the error kind. */
#define ORIGIN "https://10.0.8.17"
/* CA of the media server */
#define BMC_CA "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
#define MEDIA "http://10.0.8.2:8080/media/5f1c.iso"

struct bmc_rig {
	struct loop *loop;
	struct loop_group *bmc_group, *group;
	struct http_mem_net *net;
	struct http *http;
	struct fake_bmc bmc;
	struct redfish_spec spec;
	struct secret *password;
	struct redfish *r;
	/* Session of the previous client. */
	char session[256];
	bool allowed;

	/* Results of the last operation. */
	unsigned answers;
	struct err err;
	enum redfish_power power;
	bool health_reported;
	char fault[256];
	char uuid[64], serial[64], target[64], enabled[64], image[256];
	bool inserted, takes_https, verifies;
	int64_t read_at;
};

/* Makes the fake BMC answer requests whose journal line begins with `start` with this status. */
struct bmc_selective {
	const struct fake_bmc *bmc;
	const char *start;
	int status;
	/* MessageId of the answer; NULL: no message. */
	const char *id;
};

int bmc_setup(void **state);
int bmc_teardown(void **state);
struct redfish *bmc_client(struct bmc_rig *f);
/* Frees the client; the next one uses f->spec and knows the session of this one. */
void bmc_drop_client(struct bmc_rig *f);
void bmc_answered(struct bmc_rig *f, const struct err *e);
void bmc_on_plain(const struct err *e, void *arg);
void bmc_on_system(const struct redfish_system *s, const struct err *e, void *arg);
void bmc_on_media(const struct redfish_media *m, const struct err *e, void *arg);
bool bmc_is_answered(void *arg);
enum err_kind bmc_wait_answer(struct bmc_rig *f);
enum err_kind bmc_read_system(struct bmc_rig *f);
enum err_kind bmc_power(struct bmc_rig *f, bool on);
enum err_kind bmc_boot(struct bmc_rig *f, enum redfish_boot how, const char *uri);
enum err_kind bmc_insert(struct bmc_rig *f, const char *url);
enum err_kind bmc_eject(struct bmc_rig *f);
enum err_kind bmc_read_media(struct bmc_rig *f);
/* fake_bmc.tamper for a struct bmc_selective. */
bool bmc_select_tamper(struct httpd_req *q, unsigned n, void *arg);
/* redfish_spec.fits: accepts the System that bmc_read_system() read last, as far as it reports an
 * identity. */
int bmc_fits(const struct redfish_system *s, void *arg, struct err *e);
/* redfish_spec.may_act: returns f->allowed. */
bool bmc_may(void *arg);

#define assert_done(call) assert_int_equal((call), ERR_NONE)
#define bmc_test(name) cmocka_unit_test_setup_teardown(name, bmc_setup, bmc_teardown)

#endif
