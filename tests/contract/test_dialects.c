#include "tests/unit/testing.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/bmc_check.h"
#include "providers/hardware.h"
#include "providers/provider.h"
#include "redfish/redfish.h"
#include "sim/bmc/dialect.h"
#include "sim/machine/drive.h"
#include "sim/machine/medium.h"
#include "sim/rack/rack.h"

/*
 * Runs the Redfish provider through a whole cycle with a simulated BMC of each make. The machine is
 * found, identified, switched on and off, and booted once from a medium and again from its disk;
 * the medium is inserted and ejected. The makes are the built-in ones (sim/bmc/dialects), and any
 * mockups of real BMCs in the directory of captures, which are not part of this repository.
 */
#define CAPTURES "../shared/captures"
#define ORIGIN "https://127.10.0.2:8443"
#define SHOP "http://10.0.8.2:8080"
#define MEDIA SHOP "/boot/5f1c.iso"
#define HTTP_BOOT "https://10.0.8.2:8443/boot/5f1c.iso"
/* Highest number of attempts of a call that may be repeated, as in the controller */
#define TRIES 8
#define SEEN_MS 60000

struct subject {
	char name[64];
	/* Path of a mockup's archive; "": a built-in make */
	char archive[256];
};

struct world {
	struct subject *s;
	/* Directory with the unpacked archive */
	char folder[40];
	struct loop *loop;
	struct loop_group *hardware, *group;
	struct http_mem_net *net;
	struct httpd *bmcs, *shop;
	struct http *http, *machines_http;
	struct secret *password;
	struct sim_dialects dialects;
	struct sim_rack *rack;
	struct sim_machine *m;
	/* Number of times that the medium was fetched */
	unsigned fetched;
	struct provider *provider;
	struct provider_machine *machine;
	/* Number of done() calls for the last call */
	unsigned answers;
	struct err err;
	struct provider_observation seen;
	char uuid[64], serial[64], url[256], http_url[256], session[160];
	/* True: drives() must be called again */
	bool more;
	size_t ndrives;
	/* Serial numbers of the drives */
	char drives[8][48];
};

/* --- the world -------------------------------------------------------------------------------- */

static void serve_medium(struct httpd_req *q, void *arg)
{
	struct world *w = arg;
	char image[SIM_AGENT_IMAGE_BYTES + 1];

	w->fetched++;
	sim_agent_image(image);
	httpd_reply(q, 200, "application/octet-stream", image, SIM_AGENT_IMAGE_BYTES);
}

static void unpack(struct world *w)
{
	int status;
	pid_t pid;

	str_copy(w->folder, sizeof(w->folder), "/tmp/drover-capture-XXXXXX");
	assert_non_null(mkdtemp(w->folder));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execlp("tar", "tar", "-xJf", w->s->archive, "-C", w->folder, "--strip-components=1",
		       "--exclude=*/LogServices/*", "--wildcards", "*/redfish/v1/index.json",
		       "*/redfish/v1/*Service/*", "*/redfish/v1/Systems/*",
		       "*/redfish/v1/Managers/*", "*/redfish/v1/Chassis/index.json", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void attach(struct world *w)
{
	struct provider_machine_spec s = {.name = "gpu-1",
					  .bmc_address = ORIGIN,
					  .user = "admin",
					  .password = w->password,
					  .learn_pin = true};
	struct err e;

	w->machine = provider_attach(w->provider, &s, &e);
	if (!w->machine)
		fail_msg("%s", e.text);
}

static void on_plugged(const struct http_reply *r, const struct err *e, void *arg)
{
	assert_null(e);
	assert_int_equal(r->status, 200);
	((struct world *)arg)->answers++;
}

static bool is_answered(void *arg)
{
	return ((struct world *)arg)->answers > 0;
}

/* Connects the machine to the segment from which the medium is reachable. */
static void plug_in(struct world *w)
{
	static const char body[] = "{\"segment\":\"quarantine\"}";
	struct http_peer_spec spec = {.base_url = ORIGIN, .learn_pin = true};
	char path[64];
	struct http_call c = {.method = "PUT",
			      .path = path,
			      .body = body,
			      .body_len = sizeof(body) - 1,
			      .done = on_plugged,
			      .arg = w};
	struct http_peer *rack;
	struct err e;

	str_format(path, sizeof(path), "/sim/ports/%s", w->m->mac);
	rack = http_peer_new(w->http, &spec, &e);
	assert_non_null(rack);
	http_start(rack, &c);
	loop_sim_run_cond(w->loop, is_answered, w, loop_now(w->loop) + 10000);
	assert_int_equal(w->answers, 1);
	http_peer_free(rack);
}

static void begin(struct world *w, struct subject *s)
{
	struct sim_rack_spec spec = {.machines = 2, .drive_bytes = 1 << 20, .user = "admin"};
	struct provider_spec ps = {.name = "hall-a", .type = "redfish"};
	struct err e;

	*w = (struct world){.s = s, .loop = loop_sim_new(7, 1764000000000)};
	w->hardware = loop_group_new(w->loop, "hardware");
	w->group = loop_group_new(w->loop, "controller");
	w->net = http_mem_net_new(w->loop);
	w->bmcs = httpd_new(w->hardware);
	w->shop = httpd_new(w->hardware);
	httpd_route(w->shop, "GET", "/boot/{}", 0, serve_medium, w);
	http_mem_serve(w->net, SHOP, w->shop);
	http_mem_serve(w->net, "https://10.0.8.2:8443", w->shop);
	w->http = http_new(w->group, http_mem_transport(w->net, w->group, "10.0.0.1", NULL, NULL),
			   16);
	w->machines_http = http_new(
		w->hardware, http_mem_transport(w->net, w->hardware, "10.0.0.2", NULL, NULL), 0);
	w->password = secret_from_str("correct horse");
	sim_dialects_init(&w->dialects);
	if (s->archive[0])
		unpack(w);
	assert_ok(s->archive[0] ? sim_dialects_add_tree(&w->dialects, w->folder, &e)
				: sim_dialects_add(&w->dialects, s->name, &e),
		  &e);
	spec.password = w->password;
	spec.http = w->machines_http;
	spec.dialects = &w->dialects;
	spec.times = (struct sim_times){.power_ms = 2000, .post_ms = 8000};
	w->rack = sim_rack_new(w->hardware, &spec, &e);
	if (!w->rack)
		fail_msg("%s", e.text);
	w->m = sim_rack_machine(w->rack, 1);
	sim_rack_routes(w->rack, w->bmcs);
	http_mem_serve(w->net, ORIGIN, w->bmcs);
	ps.group = w->group;
	ps.http = w->http;
	w->provider = provider_new(&ps, &e);
	attach(w);
	plug_in(w);
}

static void end(struct world *w)
{
	provider_detach(w->provider, w->machine);
	provider_free(w->provider);
	http_free(w->http);
	httpd_free(w->bmcs);
	httpd_free(w->shop);
	sim_rack_free(w->rack);
	http_free(w->machines_http);
	http_mem_net_free(w->net);
	sim_dialects_done(&w->dialects);
	secret_free(w->password);
	loop_group_free(w->group);
	loop_group_free(w->hardware);
	loop_free(w->loop);
	if (w->folder[0])
		nftw(w->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct world *w = arg;

	(void)handle;
	w->answers++;
	err_clear(&w->err);
	if (e)
		w->err = *e;
	if (!o)
		return;
	w->seen = *o;
	str_copy(w->uuid, sizeof(w->uuid), str_or(o->system_uuid, ""));
	str_copy(w->serial, sizeof(w->serial), str_or(o->serial, ""));
	str_copy(w->url, sizeof(w->url), str_or(o->media_url, ""));
	str_copy(w->http_url, sizeof(w->http_url), str_or(o->http_url, ""));
	str_copy(w->session, sizeof(w->session), str_or(o->session_uri, ""));
	w->more = o->drives_more;
	w->ndrives = o->ndrives;
	for (size_t i = 0; i < o->ndrives && i < 8; i++)
		str_copy(w->drives[i], sizeof(w->drives[i]), str_or(o->drives[i].serial, ""));
}

static void pass(struct world *w, int64_t ms)
{
	loop_sim_run_until(w->loop, loop_now(w->loop) + ms);
}

/* Returns the URL of the medium; some makes accept only https. */
static const char *medium_of(const struct world *w)
{
	return w->dialects.v[0].dialect->quirks.media.tls_only ? HTTP_BOOT : MEDIA;
}

enum what { OBSERVE, DRIVES, ON, OFF, BOOT_DISK, BOOT_MEDIA, BOOT_HTTP, INSERT, EJECT, LOG_OUT };

static void ask(struct world *w, enum what what)
{
	struct provider_call c = {.op_id = "01JD", .fence = 3, .done = on_done, .arg = w};

	switch (what) {
	case OBSERVE:
		provider_observe(w->provider, w->machine, &c);
		break;
	case DRIVES:
		provider_drives(w->provider, w->machine, &c);
		break;
	case ON:
	case OFF:
		provider_power(w->provider, w->machine, what == ON, &c);
		break;
	case BOOT_DISK:
		provider_boot(w->provider, w->machine, PROVIDER_BOOT_DISK, NULL, &c);
		break;
	case BOOT_MEDIA:
		provider_boot(w->provider, w->machine, PROVIDER_BOOT_MEDIA, NULL, &c);
		break;
	case BOOT_HTTP:
		provider_boot(w->provider, w->machine, PROVIDER_BOOT_HTTP, HTTP_BOOT, &c);
		break;
	case INSERT:
	case EJECT:
		provider_media(w->provider, w->machine, what == INSERT ? medium_of(w) : NULL, &c);
		break;
	case LOG_OUT:
		provider_log_out(w->provider, w->machine, &c);
		break;
	}
}

/* Repeats a call while its error is transient; returns the kind of the last error. */
static enum err_kind try(struct world *w, enum what what)
{
	for (int i = 0; i < TRIES; i++) {
		w->answers = 0;
		ask(w, what);
		loop_sim_run_cond(w->loop, is_answered, w, loop_now(w->loop) + PROVIDER_CALL_MS);
		assert_int_equal(w->answers, 1);
		if (!err_is_transient(&w->err))
			break;
		pass(w, w->err.retry_after_ms ? w->err.retry_after_ms : 2000);
	}
	return w->err.kind;
}

static void must(struct world *w, enum what what)
{
	if (try(w, what) != ERR_NONE)
		fail_msg("%s, call %d: %s", w->s->name, (int)what, w->err.text);
}

/* Switches the machine and repeats the request as needed, until the power state is observed. */
static void power(struct world *w, bool on)
{
	int64_t until = loop_now(w->loop) + SEEN_MS;
	enum provider_power want = on ? PROVIDER_POWER_ON : PROVIDER_POWER_OFF;

	do {
		assert_true(loop_now(w->loop) < until);
		if (try(w, on ? ON : OFF) != ERR_NONE)
			print_message("      %s\n", w->err.text);
		pass(w, 6000);
		must(w, OBSERVE);
	} while (w->seen.power != want);
	assert_true(w->m->on == on);
}

/* --- the cycle -------------------------------------------------------------------------------- */

static void is_found_and_identified(struct world *w)
{
	must(w, OBSERVE);
	assert_string_equal(w->uuid, w->m->uuid);
	assert_string_equal(w->serial, w->m->serial);
	assert_int_equal(w->seen.power, PROVIDER_POWER_OFF);
	assert_int_equal(w->seen.boot_override, PROVIDER_OVERRIDE_NONE);
	assert_true(w->seen.media_known);
	assert_false(w->seen.media_inserted);
	assert_true((w->session[0] != '\0') == (w->dialects.v[0].tree->sessions != NULL));
}

/* Callback of a second client with its own session, which reads the hardware. */
static void on_hardware(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct world *w = arg;

	w->answers++;
	if (e)
		fail_msg("%s: %s", w->s->name, e->text);
	assert_non_null(s->manufacturer);
	assert_non_null(s->model);
	assert_non_null(s->bios_version);
}

static void on_closed(const struct err *e, void *arg)
{
	assert_null(e);
	((struct world *)arg)->answers++;
}

static void tells_of_its_hardware(struct world *w)
{
	struct redfish_spec spec = {.system_url = ORIGIN, .user = "admin", .learn_pin = true};
	struct redfish *r;
	struct err e;

	spec.password = w->password;
	r = redfish_new(w->group, w->http, &spec, &e);
	assert_non_null(r);
	w->answers = 0;
	redfish_read_system(r, on_hardware, w);
	loop_sim_run_cond(w->loop, is_answered, w, loop_now(w->loop) + 60000);
	w->answers = 0;
	redfish_log_out(r, on_closed, w);
	loop_sim_run_cond(w->loop, is_answered, w, loop_now(w->loop) + 60000);
	assert_int_equal(w->answers, 1);
	redfish_free(r);
}

/* Callback of `drover bmc probe`: prints the findings that are not ok. */
static void on_checked(const json_t *told, unsigned wrong, void *arg)
{
	struct world *w = arg;
	json_t *v;
	size_t i;

	json_array_foreach (json_at(told, "findings"), i, v)
		if (!str_eq(json_str_at(v, "result"), "ok"))
			print_message("      %s, %s: %s\n", json_str_at(v, "result"),
				      json_str_at(v, "of"), json_str_at(v, "says"));
	assert_non_null(json_str_at(told, "bmc", "vendor"));
	assert_non_null(json_str_at(told, "bmc", "firmwareVersion"));
	assert_string_equal(json_str_at(told, "bmc", "serialNumber"), w->m->serial);
	assert_int_equal(wrong, 0);
	w->answers++;
}

static void a_probe_finds_nothing_wrong(struct world *w)
{
	struct bmc_check_spec spec = {.group = w->group,
				      .http = w->http,
				      .address = ORIGIN,
				      .user = "admin",
				      .learn_pin = true,
				      .done = on_checked,
				      .arg = w};
	struct bmc_check *c;
	struct err e;

	spec.password = w->password;
	c = bmc_check_new(&spec, &e);
	assert_non_null(c);
	w->answers = 0;
	loop_sim_run_cond(w->loop, is_answered, w, loop_now(w->loop) + 600000);
	assert_int_equal(w->answers, 1);
	bmc_check_free(c);
}

/* Asserts that the drives that this make lists, if any, are those of the machine. */
static void lists_its_drives(struct world *w)
{
	const struct sim_tree *t = w->dialects.v[0].tree;
	bool named = t->storages[0], any = named || t->simple_storages[0];
	char serial[48];

	if (w->dialects.v[0].dialect->quirks.storage) {
		assert_int_equal(try(w, DRIVES), ERR_UNSUPPORTED);
		assert_int_equal(w->err.code, w->dialects.v[0].dialect->quirks.storage);
		return;
	}
	do
		must(w, DRIVES);
	while (w->more);
	assert_int_equal(w->ndrives, any ? w->m->ndrives : 0);
	for (size_t i = 0; i < w->ndrives; i++) {
		str_format(serial, sizeof(serial), "%sN%zu", w->m->serial, i);
		assert_string_equal(w->drives[i], named ? serial : "");
	}
	if (!any)
		return;
	drive_fail(w->m->drives[1], true);
	do
		must(w, DRIVES);
	while (w->more);
	assert_int_equal(w->ndrives, w->m->ndrives - 1);
	drive_fail(w->m->drives[1], false);
}

static void boots_once_from_the_medium(struct world *w)
{
	power(w, false);
	must(w, INSERT);
	must(w, OBSERVE);
	assert_true(w->seen.media_inserted);
	assert_string_equal(w->url, medium_of(w));
	must(w, INSERT); /* A repeated insert changes nothing. */
	must(w, BOOT_MEDIA);
	must(w, OBSERVE);
	assert_int_equal(w->seen.boot_override, PROVIDER_OVERRIDE_MEDIA);
	assert_int_equal(w->fetched, 0);
	power(w, true);
	pass(w, 60000);
	assert_int_equal(w->fetched, 1);
	must(w, OBSERVE);
	assert_int_equal(w->seen.boot_override, PROVIDER_OVERRIDE_NONE);
	power(w, false);
	must(w, EJECT);
	must(w, EJECT);
	must(w, OBSERVE);
	assert_false(w->seen.media_inserted);
	assert_null(w->m->image);
	power(w, true);
	pass(w, 60000);
	assert_int_equal(w->fetched, 1);
}

/* Sets a boot override and clears it again. */
static void an_override_is_cleared(struct world *w)
{
	power(w, false);
	must(w, INSERT);
	must(w, BOOT_MEDIA);
	must(w, BOOT_DISK);
	must(w, OBSERVE);
	assert_int_equal(w->seen.boot_override, PROVIDER_OVERRIDE_NONE);
	power(w, true);
	pass(w, 60000);
	assert_int_equal(w->fetched, 1);
	must(w, EJECT);
}

static bool boots_by_http(const struct world *w)
{
	const struct sim_tree *t = w->dialects.v[0].tree;
	bool settings = w->dialects.v[0].dialect->quirks.boot.place == SIM_PLACE_SETTINGS;
	OWN_JSON j = sim_tree_get(t, settings ? t->settings : t->system);

	return json_at(j, "Boot", "HttpBootUri");
}

static void boots_by_http_or_says_that_it_cannot(struct world *w)
{
	power(w, false);
	if (!boots_by_http(w)) {
		assert_int_equal(try(w, BOOT_HTTP), ERR_UNSUPPORTED);
		return;
	}
	must(w, BOOT_HTTP);
	must(w, OBSERVE);
	assert_int_equal(w->seen.boot_override, PROVIDER_OVERRIDE_HTTP);
	assert_string_equal(w->http_url, HTTP_BOOT);
	power(w, true);
	pass(w, 60000);
	must(w, BOOT_DISK);
	must(w, OBSERVE);
	assert_int_equal(w->seen.boot_override, PROVIDER_OVERRIDE_NONE);
	assert_string_equal(w->http_url, "");
}

static void goes_the_whole_way(void **state)
{
	struct world w;

	begin(&w, *state);
	is_found_and_identified(&w);
	tells_of_its_hardware(&w);
	a_probe_finds_nothing_wrong(&w);
	lists_its_drives(&w);
	power(&w, true);
	power(&w, false);
	if (w.dialects.v[0].dialect->quirks.media.licence) {
		assert_int_equal(try(&w, INSERT), ERR_UNSUPPORTED);
		assert_non_null(strstr(w.err.text, "licence"));
	} else {
		boots_once_from_the_medium(&w);
		an_override_is_cleared(&w);
	}
	boots_by_http_or_says_that_it_cannot(&w);
	must(&w, LOG_OUT);
	end(&w);
}

/* --- the list of cases ------------------------------------------------------------------------ */

#define MAX 64

int main(void)
{
	static struct subject subjects[MAX];
	struct CMUnitTest tests[MAX];
	DIR *d = opendir(CAPTURES);
	struct dirent *entry;
	size_t n = 0;

	mem_init();
	for (; n < MAX && sim_dialect_name(n); n++)
		str_copy(subjects[n].name, sizeof(subjects[n].name), sim_dialect_name(n));
	while (d && n < MAX && (entry = readdir(d)) != NULL) {
		if (!str_ends(entry->d_name, ".tar.xz"))
			continue;
		str_copy(subjects[n].name, sizeof(subjects[n].name), entry->d_name);
		str_format(subjects[n].archive, sizeof(subjects[n].archive), CAPTURES "/%s",
			   entry->d_name);
		n++;
	}
	if (d)
		closedir(d);
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = subjects[i].name,
					       .test_func = goes_the_whole_way,
					       .initial_state = &subjects[i]};
	return _cmocka_run_group_tests("dialects", tests, n, NULL, NULL);
}
