#include "tests/unit/sim/machine/aisle.h"

#include <zstd.h>
#include "base/crypto.h"
#include "controller/agent/endpoint.h"
#include "sim/machine/iso.h"
#include "wipe/proto.h"
#include "tests/data/pems.h"

/* Checks the simulated agent with drover's own side of the protocol
 * (controller/agent/endpoint.h). */
#define DROVER "https://10.1.0.5:8443"
#define MEDIA "http://10.0.8.2:8080"
#define IMAGES "http://images:80"
#define NONCE "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SECRET_TEXT "what a tenant left"

struct office {
	struct aisle *f;
	struct agent_endpoint *agents;
	struct agent_session *seat;
	char image_path[64];
	char *image;
	size_t image_len;
	unsigned served, broken;
};

static void on_seat(void *arg)
{
	(void)arg;
}

/* Creates a boot medium: 100 KiB of other data, the boot block, 100 KiB of other data. */
static void make_medium(struct office *o)
{
	char *text = mem_alloc(300000);
	FILE *out;
	int fd;

	memset(text, '{', 300000);
	memset(text + 100000, ' ', PROTO_BOOT_BLOCK);
	memcpy(text + 100000, PROTO_BOOT_MARK, strlen(PROTO_BOOT_MARK));
	str_copy(o->image_path, sizeof(o->image_path), "/tmp/drover-medium-XXXXXX");
	fd = mkstemp(o->image_path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_int_equal(fwrite(text, 1, 300000, out), 300000);
	fclose(out);
	free(text);
}

static int64_t read_image(char *out, size_t max, uint64_t pos, void *arg)
{
	struct office *o = arg;

	if (o->broken && pos > 3000) {
		o->broken--;
		return -2;
	}
	if (max > o->image_len - pos)
		max = o->image_len - pos;
	memcpy(out, o->image + pos, max);
	return (int64_t)max;
}

static void serve_image(struct httpd_req *q, void *arg)
{
	struct office *o = arg;
	struct httpd_content c = {.read = read_image, .arg = o, .size = o->image_len};

	o->served++;
	httpd_reply_content(q, &c);
}

static int setup(void **state)
{
	struct office *o = mem_new(struct office);
	OWN(secret) key = secret_from_str("boot-key");
	struct agent_session_spec seat = {.machine = "gpu-1",
					  .uid = "uid-1",
					  .endpoint = DROVER,
					  .media_url = MEDIA,
					  .changed = on_seat};
	struct agent_endpoint_spec s = {.image = o->image_path, .ca_pem = PEMS_CA, .boot_key = key};

	o->f = aisle_new(false);
	make_medium(o);
	o->agents = agent_endpoint_new(o->f->server_g);
	assert_ok(agent_endpoint_configure(o->agents, &s, &o->f->e), &o->f->e);
	agent_endpoint_api_routes(o->agents, o->f->d);
	agent_endpoint_media_routes(o->agents, o->f->d, false);
	httpd_route(o->f->d, "GET", "/image", 0, serve_image, o);
	http_mem_serve(o->f->net, DROVER, o->f->d);
	http_mem_serve(o->f->net, MEDIA, o->f->d);
	http_mem_serve(o->f->net, IMAGES, o->f->d);
	o->seat = agent_session_new(o->agents, &seat);
	*state = o;
	return 0;
}

static int teardown(void **state)
{
	struct office *o = *state;

	agent_session_free(o->seat);
	aisle_free(o->f);
	agent_endpoint_free(o->agents);
	unlink(o->image_path);
	free(o->image);
	free(o);
	return 0;
}

/* Powers the machine on with the medium and runs for 10 s, in which the agent connects. */
static void boot(struct office *o, const char *operation, int64_t fence)
{
	struct sim_machine *m = &o->f->m;

	agent_session_open(o->seat, operation, 1, fence);
	agent_session_await(o->seat, AGENT_DUE);
	agent_session_media_for(o->seat, NULL, true);
	free(m->image);
	free(m->boot_target);
	free(m->boot_enabled);
	m->image = mem_strdup(agent_session_media_url(o->seat));
	m->boot_target = mem_strdup("Cd");
	m->boot_enabled = mem_strdup("Once");
	sim_machine_power(m, true);
	aisle_run(o->f, 10000);
}

static const struct proto_report *result(struct office *o, const char *id, int64_t ms)
{
	const struct proto_report *r = NULL;

	for (int64_t t = 0; t < ms && !(r = agent_session_result(o->seat, id)); t += 100)
		aisle_run(o->f, 100);
	if (!r)
		fail_msg("%s: no result in %lld ms; the machine says: %s", id, (long long)ms,
			 o->f->m.console);
	return r;
}

static const struct proto_report *obey(struct office *o, const char *id, struct proto_order order)
{
	order.id = id;
	agent_session_order(o->seat, &order);
	return result(o, id, 60000);
}

static void scribble(struct office *o)
{
	for (unsigned i = 0; i < o->f->m.ndrives; i++)
		assert_ok(drive_write(o->f->m.drives[i], SECRET_TEXT, strlen(SECRET_TEXT),
				      500 << 20, &o->f->e),
			  &o->f->e);
}

static bool holds_secret(struct office *o)
{
	bool found = false;

	for (unsigned i = 0; i < o->f->m.ndrives; i++)
		found |= drive_holds(o->f->m.drives[i], SECRET_TEXT, strlen(SECRET_TEXT));
	return found;
}

static const struct proto_report *wipe(struct office *o)
{
	return obey(o, "op-1/wipe", (struct proto_order){.kind = PROTO_WIPE, .nonce = NONCE});
}

static const struct proto_report *verify(struct office *o)
{
	static const char *cover[] = {"SystemMemory"};
	static struct evidence ev;

	ev = (struct evidence){.machine = {"gpu-1", "uid-1", o->f->m.uuid, o->f->m.serial},
			       .tenancy = 3,
			       .attempt = 1};
	return obey(o, "op-1/verify",
		    (struct proto_order){.kind = PROTO_VERIFY,
					 .nonce = NONCE,
					 .evidence = &ev,
					 .samples = 500,
					 .cover = {cover, 1}});
}

/* --- session ---------------------------------------------------------------------------------- */

static void the_agent_of_the_medium_calls_home(void **state)
{
	struct office *o = *state;
	const struct agent_session_info *s = agent_session_info(o->seat);

	boot(o, "op-1", 17);
	assert_int_equal(o->f->m.doing, SIM_AGENT);
	assert_string_equal(s->boot_id, o->f->m.boot_id);
	assert_string_equal(s->system_uuid, o->f->m.uuid);
	assert_string_equal(s->serial, o->f->m.serial);
	assert_string_equal(o->f->m.boot_enabled, "Disabled");
}

static void an_agent_cut_off_by_the_switch_is_silent_and_comes_back(void **state)
{
	struct office *o = *state;

	aisle_move(o->f, "");
	boot(o, "op-1", 17);
	/* The agent does not run, because the firmware could not even fetch the medium. */
	assert_int_not_equal(o->f->m.doing, SIM_AGENT);
	sim_machine_cut(&o->f->m);
	aisle_move(o->f, "provisioning");
	boot(o, "op-1", 17);
	assert_non_null(agent_session_info(o->seat)->boot_id);
}

static void an_order_that_comes_after_the_port_was_moved_is_not_heard(void **state)
{
	struct office *o = *state;

	boot(o, "op-1", 17);
	aisle_move(o->f, "");
	agent_session_order(o->seat,
			    &(struct proto_order){.id = "w", .kind = PROTO_WIPE, .nonce = NONCE});
	scribble(o);
	aisle_run(o->f, 60000);
	assert_true(holds_secret(o));
	assert_null(agent_session_progress(o->seat, "w"));
	aisle_move(o->f, "provisioning");
	assert_int_equal(result(o, "w", 60000)->state, PROTO_DONE);
	assert_false(holds_secret(o));
}

static void an_inspection_shows_a_server_with_eight_h100(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	r = obey(o, "op-1/inspect", (struct proto_order){.kind = PROTO_INSPECT});
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->fence, 17);
	assert_int_equal(r->inventory->gpus.n, 8);
	assert_string_equal(r->inventory->gpus.v[7].id, "10de:2330");
	assert_int_equal(r->inventory->drives.n, 2);
	assert_string_equal(r->inventory->drives.v[0].wwn, o->f->m.wwns[0]);
	assert_string_equal(r->inventory->drives.v[0].model, MACHINE_ROOT_MODEL);
	assert_int_equal(r->inventory->drives.v[1].bytes, 1ll << 30);
	assert_null(r->inventory->drives.v[0].stamp);
	assert_string_equal(r->inventory->nics.v[0].mac, o->f->m.mac);
}

/* Routes determine from which segments an address is reachable. A probe of an address without a
 * route is reported as not asked. */
static void a_probe_answers_by_the_rack_s_routes(void **state)
{
	static const struct sim_route routes[] = {{"tenant/team-a", "https://10.20.0.10:6443"},
						  {NULL, NULL}};
	const char *asked[] = {"10.1.0.5:8443", "10.20.0.10:6443", "10.30.0.1"};
	struct office *o = *state;
	const struct proto_report *r;

	o->f->site.routes = routes;
	boot(o, "op-1", 17);
	assert_true(agent_session_info(o->seat)->probes);
	r = obey(
		o, "op-1/probe",
		(struct proto_order){.kind = PROTO_PROBE, .nonce = NONCE, .addresses = {asked, 3}});
	assert_int_equal(r->state, PROTO_DONE);
	assert_string_equal(r->nonce, NONCE);
	assert_int_equal(r->answers.n, 3);
	assert_string_equal(r->answers.v[1].address, "10.20.0.10:6443");
	assert_int_equal(r->answers.v[0].answer, PROTO_ANSWERED);
	assert_int_equal(r->answers.v[1].answer, PROTO_SILENT);
	assert_int_equal(r->answers.v[2].answer, PROTO_NOT_ASKED);
	r = obey(o, "op-1/probe-2", (struct proto_order){.kind = PROTO_PROBE, .nonce = NONCE});
	assert_string_equal(r->reason, "OrderInvalid");
}

static void a_drive_that_was_pulled_is_not_seen(void **state)
{
	struct office *o = *state;

	drive_fail(o->f->m.drives[0], true);
	boot(o, "op-1", 17);
	assert_int_equal(
		obey(o, "i", (struct proto_order){.kind = PROTO_INSPECT})->inventory->drives.n, 1);
}

static void an_order_that_lacks_something_is_refused(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	r = obey(o, "w", (struct proto_order){.kind = PROTO_WIPE});
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "OrderInvalid");
	assert_string_equal(r->message, "nonce: is missing");
}

/* --- wipe ------------------------------------------------------------------------------------- */

static void a_wipe_leaves_nothing_and_tells_how_far_it_is(void **state)
{
	struct office *o = *state;
	const struct proto_report *r, *p;

	o->f->site.times.wipe_bytes_per_s = 100 << 20;
	boot(o, "op-1", 17);
	scribble(o);
	agent_session_order(
		o->seat,
		&(struct proto_order){.id = "op-1/wipe", .kind = PROTO_WIPE, .nonce = NONCE});
	aisle_run(o->f, 3500);
	p = agent_session_progress(o->seat, "op-1/wipe");
	assert_non_null(p);
	assert_string_equal(p->phase, "sanitize");
	assert_true(p->done_bytes > 200 << 20);
	assert_int_equal(p->total_bytes, 2ll << 30);
	assert_int_equal(p->bytes_per_s, 200 << 20);
	/* The secret is at 500 MiB of the drive, which the erase reaches after 5 s. */
	assert_true(holds_secret(o));
	r = result(o, "op-1/wipe", 60000);
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.n, 2);
	assert_string_equal(r->devices.v[1].technique, "SanitizeBlockErase");
	assert_int_equal(r->devices.v[1].level, WIPE_PURGE);
	assert_int_equal(r->devices.v[1].canaries.planted, 64);
	assert_int_equal(r->devices.v[1].canaries.found, 0);
	assert_false(holds_secret(o));
}

static void evidence_is_signed_by_the_key_of_the_session(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;
	struct evidence ev;

	boot(o, "op-1", 17);
	scribble(o);
	wipe(o);
	r = verify(o);
	assert_int_equal(r->state, PROTO_DONE);
	assert_ok(evidence_open(r->envelope, agent_session_info(o->seat)->public_key, NULL, 0,
				o->f->a, &ev, &o->f->e),
		  &o->f->e);
	assert_int_equal(ev.verdict, WIPE_PURGE);
	assert_int_equal(ev.tenancy, 3);
	assert_string_equal(ev.machine.serial, o->f->m.serial);
	assert_int_equal(ev.devices.n, 2);
	assert_int_equal(ev.devices.v[0].reads.clean, 512 + 500);
	assert_int_equal(ev.devices.v[0].reads.dirty, 0);
	assert_int_equal(ev.inventory.expected, 2);
	assert_int_equal(ev.inventory.seen, 2);
	assert_true(ev.not_covered.n > 0);
	assert_true(evidence_covers(&ev, "SystemMemory"));
}

static void what_is_written_after_the_wipe_is_found_by_verification(void **state)
{
	struct office *o = *state;
	struct evidence ev;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	wipe(o);
	assert_ok(drive_write(o->f->m.drives[1], "x", 1, 12345, &o->f->e), &o->f->e);
	r = verify(o);
	assert_ok(evidence_open(r->envelope, agent_session_info(o->seat)->public_key, NULL, 0,
				o->f->a, &ev, &o->f->e),
		  &o->f->e);
	assert_int_equal(ev.verdict, WIPE_FAIL);
	assert_int_equal(ev.devices.v[0].level, WIPE_PURGE);
	assert_string_equal(ev.devices.v[1].reason, "EraseUnverified");
	assert_int_equal(ev.devices.v[1].reads.dirty, 1);
}

static void what_was_not_wiped_in_this_boot_is_neither_verified_nor_stamped(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	r = verify(o);
	assert_string_equal(r->reason, "NotWiped");
	wipe(o);
	sim_machine_cut(&o->f->m);
	agent_session_close(o->seat);
	boot(o, "op-2", 18);
	r = verify(o);
	assert_string_equal(r->reason, "NotWiped");
	r = obey(o, "s",
		 (struct proto_order){.kind = PROTO_WRITE,
				      .what = PROTO_WRITE_STAMP,
				      .record = "rec-1",
				      .stamp = "sha256:0123456789abcdef0123456789abcdef"
					       "0123456789abcdef0123456789abcdef"});
	assert_string_equal(r->reason, "NotWiped");
}

static void expected_drives_that_are_absent_fail_and_others_are_left_alone(void **state)
{
	struct office *o = *state;
	const char *expected[] = {o->f->m.wwns[0], "eui.gone"};
	const struct proto_report *r;

	boot(o, "op-1", 17);
	scribble(o);
	r = obey(o, "w",
		 (struct proto_order){
			 .kind = PROTO_WIPE, .nonce = NONCE, .expected = {expected, 2}});
	assert_int_equal(r->devices.n, 2);
	assert_int_equal(r->devices.v[0].level, WIPE_PURGE);
	assert_string_equal(r->devices.v[1].wwn, "eui.gone");
	assert_string_equal(r->devices.v[1].reason, "DriveMissing");
	assert_true(drive_holds(o->f->m.drives[1], SECRET_TEXT, strlen(SECRET_TEXT)));
	assert_false(drive_holds(o->f->m.drives[0], SECRET_TEXT, strlen(SECRET_TEXT)));
}

static void a_drive_pulled_amid_the_wipe_fails_it(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	aisle_fault(o->f, "wipe", "PullDrive", 1);
	boot(o, "op-1", 17);
	r = wipe(o);
	assert_int_equal(r->devices.v[0].level, WIPE_PURGE);
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[1].reason, "DriveMissing");
}

static void a_wipe_that_fails_says_what_the_drive_said(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	aisle_fault(o->f, "wipe", "WipeFails", 1);
	boot(o, "op-1", 17);
	r = wipe(o);
	assert_string_equal(r->devices.v[1].reason, "DriveFailed");
	assert_int_equal(r->devices.v[1].raw_status.n, 1);
	assert_true(r->devices.v[1].raw_status.v[0] != 0);
	assert_non_null(strstr(r->message, o->f->m.wwns[1]));
}

/* The canaries that were never stored must not count as erased. */
static void a_drive_that_loses_writes_is_not_wiped(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	aisle_fault(o->f, "wipe", "DriveLies", 1);
	boot(o, "op-1", 17);
	r = wipe(o);
	assert_int_equal(r->devices.v[0].level, WIPE_PURGE);
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_string_equal(r->devices.v[1].reason, "CanaryLost");
	/* The fault was for one order: the next one finds a drive that stores what is written. */
	r = obey(o, "op-1/wipe2", (struct proto_order){.kind = PROTO_WIPE, .nonce = NONCE});
	assert_int_equal(r->devices.v[1].level, WIPE_PURGE);
}

static void a_drive_that_cannot_be_read_is_not_clean(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	aisle_fault(o->f, "verify", "DriveUnreadable", 1);
	boot(o, "op-1", 17);
	wipe(o);
	r = verify(o);
	assert_int_equal(r->devices.v[1].level, WIPE_FAIL);
	assert_true(r->devices.v[1].reads.unreadable > 0);
}

static void a_machine_that_reboots_amid_a_wipe_is_another_boot(void **state)
{
	struct office *o = *state;
	char first[40];

	aisle_fault(o->f, "wipe", "Reboot", 1);
	boot(o, "op-1", 17);
	free(o->f->m.boot_enabled);
	free(o->f->m.boot_target);
	o->f->m.boot_enabled = mem_strdup("Continuous");
	o->f->m.boot_target = mem_strdup("Cd");
	str_copy(first, sizeof(first), o->f->m.boot_id);
	agent_session_order(o->seat,
			    &(struct proto_order){.id = "w", .kind = PROTO_WIPE, .nonce = NONCE});
	aisle_run(o->f, 40000);
	assert_string_not_equal(o->f->m.boot_id, first);
	assert_int_equal(o->f->m.boots, 2);
	assert_true(agent_session_rebooted(o->seat));
}

static void a_silent_agent_says_nothing_after_hello(void **state)
{
	struct office *o = *state;

	aisle_fault(o->f, "Agent", "AgentSilent", 1);
	boot(o, "op-1", 17);
	assert_non_null(agent_session_info(o->seat)->boot_id);
	agent_session_order(o->seat, &(struct proto_order){.id = "i", .kind = PROTO_INSPECT});
	aisle_run(o->f, 60000);
	assert_null(agent_session_result(o->seat, "i"));
}

static void an_agent_of_another_version_is_refused_until_the_next_boot(void **state)
{
	struct office *o = *state;

	aisle_fault(o->f, "Agent", "AgentVersion", 1);
	boot(o, "op-1", 17);
	assert_true(agent_session_has_other_protocol(o->seat));
	sim_machine_power(&o->f->m, false);
	aisle_run(o->f, 10000);
	boot(o, "op-2", 18);
	assert_false(agent_session_has_other_protocol(o->seat));
	assert_non_null(agent_session_info(o->seat)->boot_id);
}

/* --- fences and repetition -------------------------------------------------------------------- */

static void a_lower_fence_is_refused(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	obey(o, "i", (struct proto_order){.kind = PROTO_INSPECT});
	/* The session of the previous leader, whose fence is lower. */
	agent_session_open(o->seat, "op-1", 1, 16);
	agent_session_await(o->seat, AGENT_DUE);
	r = obey(o, "j", (struct proto_order){.kind = PROTO_INSPECT});
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "StaleFence");
	agent_session_open(o->seat, "op-1", 1, 18);
	agent_session_await(o->seat, AGENT_DUE);
	agent_session_order(o->seat, &(struct proto_order){.id = "k", .kind = PROTO_INSPECT});
	assert_int_equal(result(o, "k", 10000)->state, PROTO_DONE);
}

static void the_same_id_gets_the_same_result_without_being_done_again(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	wipe(o);
	scribble(o);
	obey(o, "op-1/look", (struct proto_order){.kind = PROTO_INSPECT});
	r = wipe(o); /* A leader that does not know the result repeats the order. */
	assert_int_equal(r->state, PROTO_DONE);
	assert_int_equal(r->devices.v[0].level, WIPE_PURGE);
	assert_true(holds_secret(o));
}

static enum http_mem_fault_kind lose_reports(const char *origin, const char *method,
					     const char *target, void *arg)
{
	unsigned *left = arg;

	(void)origin;
	(void)method;
	if (!str_eq(target, PROTO_REPORT_PATH) || !*left)
		return HTTP_MEM_WELL;
	--*left;
	return *left % 2 ? HTTP_MEM_REPLY_LOST : HTTP_MEM_REFUSED;
}

static void a_lost_answer_to_a_result_loses_nothing(void **state)
{
	struct office *o = *state;
	unsigned left = 5;

	boot(o, "op-1", 17);
	http_mem_fault(o->f->net, lose_reports, &left);
	assert_int_equal(
		obey(o, "i", (struct proto_order){.kind = PROTO_INSPECT})->inventory->drives.n, 2);
	assert_int_equal(obey(o, "j", (struct proto_order){.kind = PROTO_INSPECT})->state,
			 PROTO_DONE);
	assert_true(left < 5);
}

static void poweroff_is_answered_and_done(void **state)
{
	struct office *o = *state;

	boot(o, "op-1", 17);
	o->f->changes = 0;
	assert_int_equal(obey(o, "p", (struct proto_order){.kind = PROTO_POWEROFF})->state,
			 PROTO_DONE);
	aisle_run(o->f, 2000);
	assert_false(o->f->m.on);
	assert_int_equal(o->f->m.doing, SIM_OFF);
	assert_int_equal(o->f->changes, 1);
}

static void an_agent_that_is_turned_away_for_ten_minutes_powers_off(void **state)
{
	struct office *o = *state;

	boot(o, "op-1", 17);
	agent_session_close(o->seat);
	aisle_run(o->f, 9 * 60 * 1000);
	assert_true(o->f->m.on);
	aisle_run(o->f, 3 * 60 * 1000);
	assert_false(o->f->m.on);
}

/* --- writes ----------------------------------------------------------------------------------- */

static void make_image(struct office *o, size_t len)
{
	o->image = mem_alloc(len);
	o->image_len = len;
	for (size_t i = 0; i < len; i++)
		o->image[i] = (char)(i * 2654435761u >> 13);
}

static const struct proto_report *write_image(struct office *o, int format)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];

	crypto_sha256(o->image, o->image_len, d);
	return obey(o, "op-1/image",
		    (struct proto_order){.kind = PROTO_WRITE,
					 .what = PROTO_WRITE_IMAGE,
					 .drive = o->f->m.wwns[0],
					 .url = IMAGES "/image",
					 .digest = crypto_digest_text(d, text),
					 .format = format});
}

static void assert_root_is(struct office *o, const char *want, size_t len)
{
	char *back = mem_alloc(len);

	assert_ok(drive_read(o->f->m.drives[0], back, len, 0, &o->f->e), &o->f->e);
	assert_memory_equal(back, want, len);
	free(back);
}

static void a_raw_image_is_on_the_drive_byte_for_byte(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	make_image(o, 3000001);
	r = write_image(o, 0);
	assert_int_equal(r->state, PROTO_DONE);
	assert_string_equal(r->drive, o->f->m.wwns[0]);
	assert_root_is(o, o->image, o->image_len);
}

static void a_compressed_image_is_unpacked(void **state)
{
	struct office *o = *state;
	char *raw;
	size_t n;

	boot(o, "op-1", 17);
	make_image(o, 2000000);
	raw = o->image;
	o->image = mem_alloc(ZSTD_compressBound(2000000));
	n = ZSTD_compress(o->image, ZSTD_compressBound(2000000), raw, 2000000, 3);
	o->image_len = n;
	assert_int_equal(write_image(o, 1)->state, PROTO_DONE);
	assert_root_is(o, raw, 2000000);
	free(raw);
}

static void a_broken_connection_is_taken_up_where_it_broke(void **state)
{
	struct office *o = *state;

	boot(o, "op-1", 17);
	make_image(o, 900000);
	o->broken = 3;
	assert_int_equal(write_image(o, 0)->state, PROTO_DONE);
	assert_int_equal(o->served, 4);
	assert_root_is(o, o->image, o->image_len);
}

static void an_image_with_another_digest_does_not_boot(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;
	char head[DRIVE_BLOCK], zeros[DRIVE_BLOCK] = {0};

	boot(o, "op-1", 17);
	make_image(o, 100000);
	r = obey(o, "op-1/image",
		 (struct proto_order){
			 .kind = PROTO_WRITE,
			 .what = PROTO_WRITE_IMAGE,
			 .drive = o->f->m.wwns[0],
			 .url = IMAGES "/image",
			 .digest = "sha256:"
				   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd"
				   "ef"});
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "ImageMismatch");
	assert_ok(drive_read(o->f->m.drives[0], head, sizeof(head), 0, &o->f->e), &o->f->e);
	assert_memory_equal(head, zeros, sizeof(head));
}

static void an_image_that_the_drive_loses_is_read_back_and_missed(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	aisle_fault(o->f, "write", "DriveLies", 1);
	boot(o, "op-1", 17);
	make_image(o, 100000);
	r = write_image(o, 0);
	assert_int_equal(r->state, PROTO_FAILED);
	assert_string_equal(r->reason, "DriveFailed");
	assert_non_null(strstr(r->message, "does not read back as written"));
}

static void an_image_that_is_not_there_is_unavailable(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;

	boot(o, "op-1", 17);
	r = obey(o, "op-1/image",
		 (struct proto_order){
			 .kind = PROTO_WRITE,
			 .what = PROTO_WRITE_IMAGE,
			 .drive = o->f->m.wwns[0],
			 .url = IMAGES "/nothing",
			 .digest = "sha256:"
				   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd"
				   "ef"});
	assert_string_equal(r->reason, "ImageUnavailable");
	r = obey(o, "x",
		 (struct proto_order){.kind = PROTO_WRITE,
				      .what = PROTO_WRITE_IMAGE,
				      .drive = "eui.none",
				      .url = IMAGES "/image",
				      .digest = "sha256:0123456789abcdef0123456789abcdef0123456789a"
						"bcdef0123456789abcdef"});
	assert_string_equal(r->reason, "DriveMissing");
}

static void an_image_larger_than_the_drive_is_unfit(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;
	char *zeros = mem_calloc(1, 64 << 20);
	size_t bound = ZSTD_compressBound(64 << 20);

	boot(o, "op-1", 17);
	drive_close(o->f->m.drives[0]);
	o->f->m.drives[0] = drive_open(NULL, 32 << 20, &o->f->e);
	o->image = mem_alloc(bound);
	o->image_len = ZSTD_compress(o->image, bound, zeros, 64 << 20, 1);
	free(zeros);
	r = write_image(o, 1);
	assert_string_equal(r->reason, "ImageUnfit");
}

static struct proto_order config_order(struct office *o)
{
	static struct proto_file files[] = {{"meta-data", "instance-id: 1\n"},
					    {"user-data", "#cloud-config\n{}\n"},
					    {"network-config", ""},
					    {"drover-join.cfg", "NODE_NAME=n-1\n"}};
	struct proto_order order = {
		.kind = PROTO_WRITE, .what = PROTO_WRITE_CONFIG, .drive = o->f->m.wwns[0]};

	order.files.v = files;
	order.files.n = 4;
	return order;
}

static void the_config_drive_is_a_volume_that_is_read_back(void **state)
{
	struct office *o = *state;
	const struct proto_report *r;
	uint8_t *volume = mem_alloc(SIM_CIDATA_BYTES);

	boot(o, "op-1", 17);
	r = obey(o, "c0", config_order(o));
	assert_string_equal(r->reason, "NoImage");
	make_image(o, 5000);
	write_image(o, 0);
	r = obey(o, "c1", config_order(o));
	assert_int_equal(r->state, PROTO_DONE);
	assert_ok(drive_read(o->f->m.drives[0], volume, SIM_CIDATA_BYTES, sim_cidata_at(1ll << 30),
			     &o->f->e),
		  &o->f->e);
	assert_string_equal(sim_iso_read(volume, SIM_CIDATA_BYTES, "drover-join.cfg", o->f->a),
			    "NODE_NAME=n-1\n");
	assert_string_equal(sim_iso_read(volume, SIM_CIDATA_BYTES, "user-data", o->f->a),
			    "#cloud-config\n{}\n");
	assert_string_equal(sim_iso_read(volume, SIM_CIDATA_BYTES, "network-config", o->f->a), "");
	assert_null(sim_iso_read(volume, SIM_CIDATA_BYTES, "vendor-data", o->f->a));
	free(volume);
}

static void a_stamp_is_on_each_drive_until_it_is_erased(void **state)
{
	struct office *o = *state;
	struct proto_order stamp = {
		.kind = PROTO_WRITE,
		.what = PROTO_WRITE_STAMP,
		.record = "rec-1",
		.stamp = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
	const struct proto_report *r;

	boot(o, "op-1", 17);
	wipe(o);
	assert_string_equal(obey(o, "early", stamp)->reason, "NotWiped");
	verify(o);
	assert_int_equal(obey(o, "s", stamp)->state, PROTO_DONE);
	r = obey(o, "i", (struct proto_order){.kind = PROTO_INSPECT});
	for (int i = 0; i < 2; i++) {
		assert_string_equal(r->inventory->drives.v[i].stamp, stamp.stamp);
		assert_string_equal(r->inventory->drives.v[i].stamp_record, "rec-1");
	}
	r = obey(o, "u", (struct proto_order){.kind = PROTO_WRITE, .what = PROTO_WRITE_UNSTAMP});
	assert_int_equal(r->state, PROTO_DONE);
	r = obey(o, "i2", (struct proto_order){.kind = PROTO_INSPECT});
	assert_null(r->inventory->drives.v[0].stamp);
	assert_null(r->inventory->drives.v[1].stamp);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_agent_of_the_medium_calls_home),
		T(an_agent_cut_off_by_the_switch_is_silent_and_comes_back),
		T(an_order_that_comes_after_the_port_was_moved_is_not_heard),
		T(an_inspection_shows_a_server_with_eight_h100),
		T(a_probe_answers_by_the_rack_s_routes),
		T(a_drive_that_was_pulled_is_not_seen),
		T(an_order_that_lacks_something_is_refused),
		T(a_wipe_leaves_nothing_and_tells_how_far_it_is),
		T(evidence_is_signed_by_the_key_of_the_session),
		T(what_is_written_after_the_wipe_is_found_by_verification),
		T(what_was_not_wiped_in_this_boot_is_neither_verified_nor_stamped),
		T(expected_drives_that_are_absent_fail_and_others_are_left_alone),
		T(a_drive_pulled_amid_the_wipe_fails_it),
		T(a_wipe_that_fails_says_what_the_drive_said),
		T(a_drive_that_loses_writes_is_not_wiped),
		T(a_drive_that_cannot_be_read_is_not_clean),
		T(a_machine_that_reboots_amid_a_wipe_is_another_boot),
		T(a_silent_agent_says_nothing_after_hello),
		T(an_agent_of_another_version_is_refused_until_the_next_boot),
		T(a_lower_fence_is_refused),
		T(the_same_id_gets_the_same_result_without_being_done_again),
		T(a_lost_answer_to_a_result_loses_nothing),
		T(poweroff_is_answered_and_done),
		T(an_agent_that_is_turned_away_for_ten_minutes_powers_off),
		T(a_raw_image_is_on_the_drive_byte_for_byte),
		T(a_compressed_image_is_unpacked),
		T(a_broken_connection_is_taken_up_where_it_broke),
		T(an_image_with_another_digest_does_not_boot),
		T(an_image_that_the_drive_loses_is_read_back_and_missed),
		T(an_image_that_is_not_there_is_unavailable),
		T(an_image_larger_than_the_drive_is_unfit),
		T(the_config_drive_is_a_volume_that_is_read_back),
		T(a_stamp_is_on_each_drive_until_it_is_erased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
