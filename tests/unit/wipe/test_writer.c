#include "wipe/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include "base/crypto.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/testing.h"
#include "tests/unit/wipe/flaky.h"
#include "tests/unit/wipe/machine.h"
#include "wipe/dio.h"
#include "wipe/gpt.h"
#include "wipe/target.h"

#define DRIVE (48 << 20)
#define IMAGE (24 << 20)
#define NAME "nvme0n1"
#define ORIGIN "http://images"
#define WALL 1790000000000

static struct world {
	struct machine m;
	struct loop *loop;
	struct loop_group *agent, *server;
	struct http_mem_net *net;
	struct httpd *httpd;
	struct http *http;
	struct proto_drive drive;
	uint8_t *served;
	size_t nserved;
	unsigned requests;
	/* Number of bytes after which the first reply breaks; 0: never */
	size_t cut;
	bool cut_always;
	/* True: the server ignores Range and always serves the whole file */
	bool no_range;
	/* Number of bytes by which the file is longer at later requests */
	size_t grows;
	/* True: the file changes at later requests */
	bool changes;
	/* True: after `cut` bytes the server sends one byte every 20 s */
	bool trickles;
	struct loop_timer drip;
	struct httpd_req *dripping;
	unsigned drops;
	/* HTTP status that is returned instead of the file; 0: serve the file */
	int status;
	struct writer *w;
	unsigned dones;
	const char *reason;
	struct err err;
} w;

static int64_t read_served(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)arg;
	if (w.cut && pos >= w.cut) {
		if (!w.cut_always)
			w.cut = 0;
		return -2;
	}
	if (max > w.nserved - pos)
		max = w.nserved - pos;
	if (w.cut && pos + max > w.cut)
		max = w.cut - pos;
	memcpy(out, w.served + pos, max);
	return (int64_t)max;
}

static void on_drip(void *arg)
{
	(void)arg;
	w.drops++;
	if (w.dripping)
		httpd_wake(w.dripping);
}

static void on_hung_up(void *arg)
{
	(void)arg;
	w.dripping = NULL;
	loop_timer_stop(&w.drip);
}

static int64_t read_drips(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)arg;
	if (pos < w.cut) {
		max = max < w.cut - pos ? max : w.cut - pos;
		memcpy(out, w.served + pos, max);
		return (int64_t)max;
	}
	if (!loop_timer_active(&w.drip))
		loop_timer_start(&w.drip, 20000);
	if (!w.drops)
		return 0;
	w.drops--;
	*out = (char)w.served[pos];
	return 1;
}

static void on_image(struct httpd_req *q, void *arg)
{
	struct httpd_reader whole = {.read = w.trickles ? read_drips : read_served,
				     .size = (int64_t)w.nserved};
	struct httpd_content c = {.read = read_served, .size = w.nserved, .content_type = "x/y"};

	(void)arg;
	if (w.requests++) {
		w.nserved += w.grows;
		c.size = w.nserved;
		if (w.changes)
			w.served[w.nserved / 2 + 5] ^= 1;
	}
	if (w.grows && w.requests == 1) { /* Adds the header that a real HTTP listener adds. */
		char length[24];

		str_format(length, sizeof(length), "%zu", w.nserved);
		httpd_reply_header(q, "Content-Length", length);
	}
	if (w.no_range || w.trickles) {
		w.dripping = q;
		httpd_on_gone(q, on_hung_up, NULL);
		httpd_reply_stream(q, 200, "x/y", &whole);
	} else if (w.status)
		httpd_reply(q, w.status, "text/plain", "no", 2);
	else
		httpd_reply_content(q, &c);
}

/* Writes the number v in n bytes, little endian. */
static void put(uint8_t *p, size_t n, uint64_t v)
{
	for (size_t i = 0; i < n; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

static uint8_t *make_image(void)
{
	uint8_t *image = mem_alloc(IMAGE), *tail = mem_alloc(GPT_HEAD);
	struct gpt g = {.block = 512,
			.blocks = IMAGE / 512,
			.first_usable = 34,
			.last_usable = IMAGE / 512 - 34};

	for (size_t i = 1 << 20; i < 9 << 20; i++)
		image[i] = (uint8_t)(i * 2654435761u >> 11);
	memcpy(g.header, "EFI PART\0\0\1\0\134\0\0\0", 16);
	put(g.header + 40, 8, 34);
	put(g.header + 72, 8, 2);
	put(g.header + 80, 4, 128);
	put(g.header + 84, 4, 128);
	g.entries[0] = g.entries[16] = 1;
	put(g.entries + 32, 8, 2048);
	put(g.entries + 40, 8, IMAGE / 512 - 2048);
	gpt_write(&g, image, tail);
	free(tail);
	return image;
}

static void set_up_on(struct loop *l)
{
	memset(&w, 0, sizeof(w));
	flaky_reset();
	machine_init(&w.m);
	machine_drive(&w.m, NAME, "eui.1\n", DRIVE);
	w.drive = (struct proto_drive){.path = "/dev/" NAME, .wwn = "eui.1", .bytes = DRIVE};
	w.loop = l;
	w.agent = loop_group_new(w.loop, "agent");
	w.server = loop_group_new(w.loop, "server");
	w.net = http_mem_net_new(w.loop);
	w.httpd = httpd_new(w.server);
	httpd_route(w.httpd, "GET", "/i/img", 0, on_image, NULL);
	loop_timer_init(&w.drip, w.server, on_drip, NULL);
	http_mem_serve(w.net, ORIGIN, w.httpd);
	w.http = http_new(w.agent, http_mem_transport(w.net, w.agent, "10.1.0.17", NULL, NULL), 8);
	w.served = make_image();
	w.nserved = IMAGE;
}

static int setup(void **state)
{
	(void)state;
	set_up_on(loop_sim_new(7, WALL));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	loop_timer_stop(&w.drip);
	writer_free(w.w);
	http_free(w.http);
	http_mem_serve(w.net, ORIGIN, NULL);
	httpd_free(w.httpd);
	loop_run(w.loop);
	loop_group_free(w.agent);
	loop_group_free(w.server);
	http_mem_net_free(w.net);
	loop_free(w.loop);
	machine_done(&w.m);
	free(w.served);
	return 0;
}

static void compress(void)
{
	size_t cap = ZSTD_compressBound(w.nserved);
	uint8_t *out = mem_alloc(cap);

	w.nserved = ZSTD_compress(out, cap, w.served, w.nserved, 1);
	free(w.served);
	w.served = out;
}

static void done(const char *reason, const struct err *e, void *arg)
{
	(void)arg;
	w.dones++;
	w.reason = reason;
	if (e)
		w.err = *e;
	writer_free(w.w);
	w.w = NULL;
}

static void start(int format, const char *digest)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];
	struct writer_spec s = {
		.host = &w.m.host, .drive = &w.drive, .url = ORIGIN "/i/img", .format = format};

	crypto_sha256(w.served, w.nserved, d);
	s.digest = digest ? digest : crypto_digest_text(d, text);
	w.w = writer_start(w.agent, w.http, &s, done, NULL);
	assert_int_equal(w.dones, 0);
}

static void finish(void)
{
	loop_sim_run_until(w.loop, loop_now(w.loop) + 600000);
	assert_int_equal(w.dones, 1);
}

static void check_image(const uint8_t *image)
{
	uint8_t *got = mem_alloc(DRIVE);
	struct gpt g;
	struct err e;
	int64_t at, bytes;

	if (w.reason)
		fail_msg("%s: %s", w.reason, w.err.text);
	machine_peek(&w.m, NAME, got, DRIVE, 0);
	/* Compares everything except the tables, including runs of zeros. */
	assert_memory_equal(got + (1 << 20), image + (1 << 20), IMAGE - (2 << 20));
	assert_ok(gpt_read(&g, got, 512, DRIVE, &e), &e);
	assert_true(gpt_find(&g, TARGET_CIDATA, &at, &bytes));
	assert_int_equal(bytes, TARGET_CIDATA_BYTES);
	assert_true(at > IMAGE);
	assert_true(dio_all(got + at, (size_t)bytes, 0));
	assert_memory_equal(got + DRIVE - 512, "EFI PART", 8);
	free(got);
}

static void assert_not_bootable(void)
{
	uint8_t *got = mem_alloc(GPT_HEAD);

	machine_peek(&w.m, NAME, got, GPT_HEAD, 0);
	assert_true(dio_all(got, GPT_HEAD, 0));
	machine_peek(&w.m, NAME, got, GPT_HEAD, DRIVE - GPT_HEAD);
	assert_true(dio_all(got, GPT_HEAD, 0));
	free(got);
}

static void a_raw_image_arrives_whole_and_gets_its_config_partition(void **state)
{
	(void)state;
	start(0, NULL);
	finish();
	check_image(w.served);
	assert_int_equal(w.requests, 1);
}

static void a_compressed_image_arrives_whole(void **state)
{
	uint8_t *image = make_image();

	(void)state;
	compress();
	start(1, NULL);
	finish();
	check_image(image);
	free(image);
}

/* Compresses the image in frames of n bytes, each after a skippable frame, as pzstd does. */
static void compress_in_frames(size_t n)
{
	size_t cap = ZSTD_compressBound(IMAGE) + IMAGE / n * 64 + 4096, len = 0;
	uint8_t *out = mem_alloc(cap);
	ZSTD_CCtx *zc = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(zc, ZSTD_c_checksumFlag, 1);
	for (size_t at = 0; at < IMAGE; at += n) {
		static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};

		memcpy(out + len, skippable, sizeof(skippable));
		len += sizeof(skippable);
		len += ZSTD_compress2(zc, out + len, cap - len, w.served + at,
				      n < IMAGE - at ? n : IMAGE - at);
	}
	ZSTD_freeCCtx(zc);
	free(w.served);
	w.served = out;
	w.nserved = len;
}

/* pzstd and `cat a.zst b.zst` create several frames. The sizes give frames of whole pieces, of odd
 * sizes, small ones that share a chunk, and large ones that cannot be unpacked in parallel. */
static void frames_one_after_another_are_one_image(void **state)
{
	static const size_t sizes[] = {2 << 20, (1 << 20) + 4096, 1234567, 5000, 20 << 20};
	uint8_t *image = make_image();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		teardown(state);
		setup(state);
		compress_in_frames(sizes[i]);
		start(1, NULL);
		finish();
		check_image(image);
	}
	free(image);
}

/* The connection breaks at many offsets, also while the writer accepts no data. */
static void frames_survive_a_broken_connection(void **state)
{
	uint8_t *image = make_image();

	for (size_t cut = 3; cut < 9 << 20; cut += 700000) {
		teardown(state);
		setup(state);
		compress_in_frames(1 << 20);
		w.cut = cut % w.nserved;
		start(1, NULL);
		finish();
		check_image(image);
		assert_int_equal(w.requests, 2);
	}
	free(image);
}

static void a_damaged_frame_among_many_is_refused(void **state)
{
	(void)state;
	compress_in_frames(1 << 20);
	/* The data was damaged before the digest was computed, so the digest matches. */
	memset(w.served + w.nserved / 2, 0xff, 64);
	start(1, NULL);
	finish();
	assert_string_equal(w.reason, "ImageMismatch");
	assert_non_null(strstr(w.err.text, "zstd"));
	assert_not_bootable();
}

static void many_frames_that_end_inside_one_are_refused(void **state)
{
	(void)state;
	compress_in_frames(1 << 20);
	w.nserved -= 5;
	start(1, NULL);
	finish();
	assert_string_equal(w.reason, "ImageMismatch");
	assert_not_bootable();
}

static void other_bytes_than_promised_are_never_left_bootable(void **state)
{
	(void)state;
	start(0, "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
	finish();
	assert_string_equal(w.reason, "ImageMismatch");
	assert_not_bootable();
}

static void a_stream_that_ends_inside_a_frame_is_refused(void **state)
{
	(void)state;
	compress();
	w.nserved -= 100;
	start(1, NULL);
	finish();
	assert_string_equal(w.reason, "ImageMismatch");
	assert_not_bootable();
}

static void bytes_that_are_no_zstd_are_refused(void **state)
{
	(void)state;
	start(1, NULL);
	finish();
	assert_string_equal(w.reason, "ImageMismatch");
}

static void a_bomb_stops_at_the_end_of_the_drive(void **state)
{
	uint8_t *zeros = mem_alloc(DRIVE + (32 << 20));

	(void)state;
	free(w.served);
	w.served = zeros;
	w.nserved = DRIVE + (32 << 20);
	compress();
	start(1, NULL);
	finish();
	assert_string_equal(w.reason, "ImageUnfit");
	assert_not_bootable();
}

static void an_image_without_a_partition_table_is_refused(void **state)
{
	(void)state;
	memset(w.served, 0, 1 << 20);
	start(0, NULL);
	finish();
	assert_string_equal(w.reason, "ImageUnfit");
	assert_not_bootable();
}

static void an_empty_image_is_refused(void **state)
{
	(void)state;
	w.nserved = 0;
	start(0, NULL);
	finish();
	assert_non_null(w.reason);
}

static void a_broken_connection_is_resumed_where_it_broke(void **state)
{
	(void)state;
	w.cut = 10 << 20;
	start(0, NULL);
	finish();
	check_image(w.served);
	assert_int_equal(w.requests, 2);
}

static void assert_failed_as(const char *reason)
{
	start(0, NULL);
	finish();
	assert_string_equal(w.reason, reason);
	assert_not_bootable();
}

static void a_server_that_always_breaks_off_at_the_same_place_is_given_up(void **state)
{
	(void)state;
	w.cut = 10 << 20;
	w.cut_always = true;
	assert_failed_as("ImageUnavailable");
	assert_int_equal(w.requests, 8);
}

static void a_server_that_cannot_resume_is_given_up(void **state)
{
	(void)state;
	w.cut = 10 << 20;
	w.no_range = true;
	assert_failed_as("ImageUnavailable");
	assert_int_equal(w.requests, 2);
	assert_non_null(strstr(w.err.text, "206"));
}

static void an_image_that_changes_between_two_connections_is_refused(void **state)
{
	(void)state;
	w.cut = 10 << 20;
	w.changes = true;
	assert_failed_as("ImageMismatch");
	assert_int_equal(w.requests, 2);
}

static void more_bytes_than_were_said_are_refused(void **state)
{
	(void)state;
	w.served = realloc(w.served, IMAGE + 4096);
	assert_non_null(w.served);
	memset(w.served + IMAGE, 0, 4096);
	w.cut = 10 << 20;
	w.grows = 4096;
	assert_failed_as("ImageMismatch");
	assert_non_null(strstr(w.err.text, "more than the announced"));
}

static void an_image_cut_short_is_refused(void **state)
{
	uint8_t d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];

	(void)state;
	crypto_sha256(w.served, IMAGE, d);
	w.nserved = 20 << 20; /* The file itself is shorter, so Content-Length is, too. */
	start(0, crypto_digest_text(d, text));
	finish();
	assert_string_equal(w.reason, "ImageMismatch");
	/* the text has the digest that was wanted and, before it, the one that was computed */
	assert_non_null(strstr(w.err.text, ", not sha256:"));
	assert_non_null(strstr(w.err.text, text));
	assert_not_bootable();
}

static void a_trickle_is_given_up(void **state)
{
	(void)state;
	w.cut = 10 << 20;
	w.trickles = true;
	assert_failed_as("ImageUnavailable");
	assert_int_equal(w.requests, 1);
	assert_non_null(strstr(w.err.text, "bytes in 300 s"));
}

static void a_drive_that_breaks_or_hangs_in_the_middle_fails_and_is_named(void **state)
{
	for (int i = 0; i < 4; i++) {
		bool hangs = i & 1, frames = i & 2;

		teardown(state);
		setup(state);
		w.m.host.ring = &flaky_ops;
		w.m.host.stall_ms = MACHINE_STALL_MS;
		flaky.bad_at = hangs ? -1 : 7 << 20;
		flaky.hang_at = hangs ? 7 << 20 : -1;
		if (frames)
			compress_in_frames(2 << 20);
		start(frames, NULL);
		finish();
		assert_string_equal(w.reason, "DriveFailed");
		assert_not_bootable();
		assert_non_null(strstr(w.err.text, "write at 7340032"));
		assert_int_equal(w.err.code, hangs ? ETIMEDOUT : EIO);
	}
}

static void an_absent_image_touches_nothing(void **state)
{
	(void)state;
	w.status = 404;
	start(0, NULL);
	finish();
	assert_string_equal(w.reason, "ImageUnavailable");
	assert_int_equal(w.requests, 1);
	assert_int_equal(machine_residue(&w.m, NAME), DRIVE >> 20);
}

static void a_server_in_trouble_is_asked_again_a_limited_number_of_times(void **state)
{
	(void)state;
	w.status = 503;
	start(0, NULL);
	finish();
	assert_string_equal(w.reason, "ImageUnavailable");
	assert_int_equal(w.requests, 8);
}

static void an_https_image_without_a_ca_is_refused(void **state)
{
	struct writer_spec s = {
		.host = &w.m.host,
		.drive = &w.drive,
		.url = "https://images/i/img",
		.digest =
			"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"};

	(void)state;
	w.w = writer_start(w.agent, w.http, &s, done, NULL);
	finish();
	assert_string_equal(w.reason, "OrderInvalid");
	assert_int_equal(machine_residue(&w.m, NAME), DRIVE >> 20);
}

static void a_drive_of_another_size_is_not_written(void **state)
{
	(void)state;
	w.drive.bytes = DRIVE / 2;
	start(0, NULL);
	finish();
	assert_string_equal(w.reason, "DriveFailed");
	assert_int_equal(machine_residue(&w.m, NAME), DRIVE >> 20);
}

/* Frees the writer at many different moments. Jobs in progress must end cleanly. */
static void a_writer_can_be_freed_at_any_moment(void **state)
{
	for (int64_t ms = 0; ms < 400; ms += 7) {
		teardown(state);
		setup(state);
		if (ms % 2)
			compress_in_frames(1 << 20);
		else
			compress();
		start(1, NULL);
		loop_sim_run_until(w.loop, loop_now(w.loop) + ms);
		writer_free(w.w);
		w.w = NULL;
		loop_sim_run_until(w.loop, loop_now(w.loop) + 1000);
		w.dones = 0;
	}
}

static struct loop_defer stop;

static void on_limit(void *arg)
{
	(void)arg;
	loop_stop(w.loop);
}

static void done_and_stop(const char *reason, const struct err *e, void *arg)
{
	done(reason, e, arg);
	loop_stop(w.loop);
}

/* On the simulated loop, jobs run one after the other; here they run in parallel on real
 * threads. */
static void write_on_threads(void **state, size_t frames)
{
	uint8_t *image = make_image(), d[CRYPTO_SHA256];
	char text[CRYPTO_DIGEST_TEXT];
	struct loop_timer limit;

	teardown(state);
	set_up_on(loop_uv_new());
	w.m.host.ring = NULL;
	if (frames)
		compress_in_frames(frames);
	else
		compress();
	crypto_sha256(w.served, w.nserved, d);
	loop_timer_init(&limit, w.agent, on_limit, NULL);
	for (int i = 0; i < 20; i++) {
		struct writer_spec s = {.host = &w.m.host,
					.drive = &w.drive,
					.url = ORIGIN "/i/img",
					.digest = crypto_digest_text(d, text),
					.format = 1};

		w.dones = 0;
		loop_timer_start(&limit, 120000);
		w.w = writer_start(w.agent, w.http, &s, done_and_stop, NULL);
		loop_run(w.loop);
		loop_timer_stop(&limit);
		assert_int_equal(w.dones, 1);
		check_image(image);
	}
	free(image);
	/* loop_run() in teardown returns only after an event stops the loop. */
	http_free(w.http);
	w.http = NULL;
	loop_defer_init(&stop, w.server, on_limit, NULL);
	loop_defer(&stop);
}

static void jobs_on_threads_of_their_own_hold_together(void **state)
{
	write_on_threads(state, 0);
}

static void frames_on_threads_of_their_own_hold_together(void **state)
{
	write_on_threads(state, 1 << 20);
}

static void odd_frames_on_threads_of_their_own_hold_together(void **state)
{
	write_on_threads(state, 1234567);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_raw_image_arrives_whole_and_gets_its_config_partition),
		T(a_compressed_image_arrives_whole),
		T(frames_one_after_another_are_one_image),
		T(frames_survive_a_broken_connection),
		T(a_damaged_frame_among_many_is_refused),
		T(many_frames_that_end_inside_one_are_refused),
		T(other_bytes_than_promised_are_never_left_bootable),
		T(a_stream_that_ends_inside_a_frame_is_refused),
		T(bytes_that_are_no_zstd_are_refused),
		T(a_bomb_stops_at_the_end_of_the_drive),
		T(an_image_without_a_partition_table_is_refused),
		T(an_empty_image_is_refused),
		T(a_broken_connection_is_resumed_where_it_broke),
		T(a_server_that_always_breaks_off_at_the_same_place_is_given_up),
		T(a_server_that_cannot_resume_is_given_up),
		T(an_image_that_changes_between_two_connections_is_refused),
		T(more_bytes_than_were_said_are_refused),
		T(an_image_cut_short_is_refused),
		T(a_trickle_is_given_up),
		T(a_drive_that_breaks_or_hangs_in_the_middle_fails_and_is_named),
		T(an_absent_image_touches_nothing),
		T(a_server_in_trouble_is_asked_again_a_limited_number_of_times),
		T(an_https_image_without_a_ca_is_refused),
		T(a_drive_of_another_size_is_not_written),
		T(a_writer_can_be_freed_at_any_moment),
		T(jobs_on_threads_of_their_own_hold_together),
		T(frames_on_threads_of_their_own_hold_together),
		T(odd_frames_on_threads_of_their_own_hold_together),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
