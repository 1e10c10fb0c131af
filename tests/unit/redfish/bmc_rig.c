#include "tests/unit/redfish/bmc_rig.h"

#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"

int bmc_setup(void **state)
{
	struct bmc_rig *f = mem_new(struct bmc_rig);

	mem_init();
	f->loop = loop_sim_new(7, 1764000000000);
	f->bmc_group = loop_group_new(f->loop, "bmc");
	f->group = loop_group_new(f->loop, "client");
	f->net = http_mem_net_new(f->loop);
	f->http = http_new(f->group, http_mem_transport(f->net, f->group, "10.0.0.1", NULL, NULL),
			   64);
	fake_bmc_init(&f->bmc, f->bmc_group);
	http_mem_serve(f->net, ORIGIN, f->bmc.httpd);
	f->password = secret_from_str("correct horse");
	f->spec = (struct redfish_spec){.system_url = ORIGIN, .learn_pin = true, .user = "drover"};
	f->spec.password = f->password;
	f->allowed = true;
	*state = f;
	return 0;
}

int bmc_teardown(void **state)
{
	struct bmc_rig *f = *state;

	redfish_free(f->r);
	secret_free(f->password);
	http_free(f->http);
	fake_bmc_done(&f->bmc);
	http_mem_net_free(f->net);
	loop_group_drop(f->group);
	loop_group_free(f->group);
	loop_group_drop(f->bmc_group);
	loop_group_free(f->bmc_group);
	loop_free(f->loop);
	free(f);
	return 0;
}

struct redfish *bmc_client(struct bmc_rig *f)
{
	struct err e;

	if (!f->r) {
		f->r = redfish_new(f->group, f->http, &f->spec, &e);
		if (!f->r)
			fail_msg("%s", e.text);
	}
	return f->r;
}

void bmc_drop_client(struct bmc_rig *f)
{
	str_copy(f->session, sizeof(f->session), str_or(redfish_session_uri(f->r), ""));
	f->spec.old_session = f->session;
	redfish_free(f->r);
	f->r = NULL;
}

void bmc_answered(struct bmc_rig *f, const struct err *e)
{
	f->answers++;
	err_clear(&f->err);
	if (e)
		f->err = *e;
}

void bmc_on_plain(const struct err *e, void *arg)
{
	bmc_answered(arg, e);
}

void bmc_on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct bmc_rig *f = arg;

	bmc_answered(f, e);
	assert_true((s == NULL) == (e != NULL));
	if (!s)
		return;
	f->power = s->power;
	f->read_at = s->read_at;
	str_copy(f->uuid, sizeof(f->uuid), str_or(s->system_uuid, "-"));
	str_copy(f->serial, sizeof(f->serial), str_or(s->serial, "-"));
	str_copy(f->target, sizeof(f->target), str_or(s->boot_target, "-"));
	f->health_reported = s->health_reported;
	str_copy(f->fault, sizeof(f->fault), s->fault);
	str_copy(f->enabled, sizeof(f->enabled), str_or(s->boot_enabled, "-"));
}

void bmc_on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct bmc_rig *f = arg;

	bmc_answered(f, e);
	if (!m)
		return;
	f->inserted = m->inserted;
	f->verifies = m && m->verifies;
	f->takes_https = m->takes_https;
	str_copy(f->image, sizeof(f->image), str_or(m->image, ""));
}

bool bmc_is_answered(void *arg)
{
	return ((struct bmc_rig *)arg)->answers > 0;
}

enum err_kind bmc_wait_answer(struct bmc_rig *f)
{
	assert_true(f->answers == 0); /* done() is never called inside the call */
	loop_sim_run_cond(f->loop, bmc_is_answered, f, loop_now(f->loop) + 120000);
	assert_true(f->answers == 1);
	f->answers = 0;
	return f->err.kind;
}

enum err_kind bmc_read_system(struct bmc_rig *f)
{
	redfish_read_system(bmc_client(f), bmc_on_system, f);
	return bmc_wait_answer(f);
}

enum err_kind bmc_power(struct bmc_rig *f, bool on)
{
	redfish_power(bmc_client(f), on, bmc_on_plain, f);
	return bmc_wait_answer(f);
}

enum err_kind bmc_boot(struct bmc_rig *f, enum redfish_boot how, const char *uri)
{
	redfish_boot(bmc_client(f), how, uri, bmc_on_plain, f);
	return bmc_wait_answer(f);
}

enum err_kind bmc_insert(struct bmc_rig *f, const char *url)
{
	redfish_insert(bmc_client(f), url, BMC_CA, bmc_on_plain, f);
	return bmc_wait_answer(f);
}

enum err_kind bmc_eject(struct bmc_rig *f)
{
	redfish_eject(bmc_client(f), bmc_on_plain, f);
	return bmc_wait_answer(f);
}

enum err_kind bmc_read_media(struct bmc_rig *f)
{
	redfish_read_media(bmc_client(f), bmc_on_media, f);
	return bmc_wait_answer(f);
}

bool bmc_select_tamper(struct httpd_req *q, unsigned n, void *arg)
{
	const struct bmc_selective *s = arg;
	char text[200];

	(void)n;
	if (!str_starts(s->bmc->journal[s->bmc->njournal - 1], s->start))
		return false;
	if (s->id)
		str_format(text, sizeof(text),
			   "{\"error\":{\"@Message.ExtendedInfo\":{\"MessageId\":\"%s\"}}}", s->id);
	httpd_reply_json(q, s->status, s->id ? text : "{}");
	return true;
}

int bmc_fits(const struct redfish_system *s, void *arg, struct err *e)
{
	const struct bmc_rig *f = arg;

	if ((s->system_uuid && !str_eq(s->system_uuid, f->uuid)) ||
	    (s->serial && !str_eq(s->serial, f->serial)))
		return err_set(e, ERR_CONFLICT, 0, "another machine");
	return 0;
}

bool bmc_may(void *arg)
{
	return ((struct bmc_rig *)arg)->allowed;
}
