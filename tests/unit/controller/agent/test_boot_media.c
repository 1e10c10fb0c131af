#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/buf.h"
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/agent/boot_media.h"

#define ORIGIN "http://10.0.8.2:8080"
#define IMAGE_SIZE 100000
#define BLOCK_AT 41000

struct fixture {
	struct loop *l;
	struct loop_group *g;
	struct http_mem_net *net;
	struct httpd *d;
	struct http *h;
	struct http_peer *p;
	struct boot_media *m;
	char path[32];
	char image[IMAGE_SIZE], patched[IMAGE_SIZE];
	/* Reply of the last request */
	bool done;
	int status;
	char range[80];
	/* True: the reply closed the connection */
	bool closed;
	struct buf body;
	struct err e;
};

static const struct proto_boot boot = {
	.endpoint = "https://10.1.0.5:8443",
	.ca_pem = "-----BEGIN CERTIFICATE-----\n",
	.machine = "m-1",
	.operation = "op-1",
	.boot = 1,
	.secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	.wall_time = 1764000000000,
};

static void write_image(struct fixture *f, const char *data, size_t len)
{
	FILE *out = fopen(f->path, "wb");

	assert_non_null(out);
	assert_int_equal(fwrite(data, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

static void make_image(struct fixture *f)
{
	for (size_t i = 0; i < IMAGE_SIZE; i++)
		f->image[i] = (char)('a' + i * 31 % 23);
	memset(f->image + BLOCK_AT, ' ', PROTO_BOOT_BLOCK);
	memcpy(f->image + BLOCK_AT, PROTO_BOOT_MARK, strlen(PROTO_BOOT_MARK));
	memcpy(f->patched, f->image, IMAGE_SIZE);
	assert_ok(proto_boot_write(&boot, f->patched + BLOCK_AT, &f->e), &f->e);
	write_image(f, f->image, IMAGE_SIZE);
}

static int setup(void **state)
{
	struct fixture *f = mem_new(struct fixture);
	struct http_peer_spec peer = {.base_url = ORIGIN, .plain_ok = true};
	int fd;

	str_copy(f->path, sizeof(f->path), "/tmp/test_media.XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	close(fd);
	make_image(f);
	f->l = loop_sim_new(11, 1764000000000);
	f->g = loop_group_new(f->l, "media");
	f->net = http_mem_net_new(f->l);
	f->d = httpd_new(f->g);
	f->m = boot_media_new();
	boot_media_routes(f->m, f->d, false);
	http_mem_serve(f->net, ORIGIN, f->d);
	f->h = http_new(f->g, http_mem_transport(f->net, f->g, "10.0.8.17", NULL, NULL), 0);
	f->p = http_peer_new(f->h, &peer, &f->e);
	assert_non_null(f->p);
	buf_init(&f->body, 1 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	buf_done(&f->body);
	http_peer_free(f->p);
	http_free(f->h);
	httpd_free(f->d);
	boot_media_free(f->m);
	http_mem_net_free(f->net);
	loop_group_free(f->g);
	loop_free(f->l);
	free(f);
	return 0;
}

/* Admits only the client whose address is arg. */
static bool may_read(const char *address, void *arg)
{
	return str_eq(address, arg);
}

static const struct boot_media_readers readers = {.may_read = may_read,
						  .arg = (void *)(uintptr_t) "10.0.8.17"};

static struct boot_media_item *opened(struct fixture *f, const char *token)
{
	struct boot_media_item *i;

	assert_ok(boot_media_load(f->m, f->path, NULL, &f->e), &f->e);
	i = boot_media_open(f->m, token, &boot, &readers, &f->e);
	if (!i)
		fail_msg("%s", f->e.text);
	return i;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct fixture *f = arg;

	(void)e;
	buf_put(&f->body, data, len);
	return 0;
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct fixture *f = arg;

	f->done = true;
	f->status = e ? -1 : r->status;
	f->closed = r && str_eq(http_reply_header(r, "Connection"), "close");
	str_copy(f->range, sizeof(f->range),
		 r ? str_or(http_reply_header(r, "Content-Range"), "") : "");
	if (e)
		f->e = *e;
}

static struct http_req *start(struct fixture *f, const char *token, const char *range, bool paced)
{
	char *path = mem_printf("/boot/%s/drover-agent.iso", token);
	struct http_header h = {"Range", range};
	struct http_call c = {
		.path = path,
		.headers = &h,
		.nheaders = range ? 1 : 0,
		.on_data = on_data,
		.paced = paced,
		.piece_bytes = 4096,
		.done = on_done,
		.arg = f,
	};
	struct http_req *q;

	f->done = false;
	buf_clear(&f->body);
	q = http_start(f->p, &c);
	free(path);
	return q;
}

static int get(struct fixture *f, const char *token, const char *range)
{
	start(f, token, range, false);
	loop_sim_run_until(f->l, loop_now(f->l) + 60000);
	assert_true(f->done);
	return f->status;
}

static void assert_bytes(struct fixture *f, size_t from, size_t len)
{
	assert_int_equal(f->body.len, len);
	assert_memory_equal(f->body.data, f->patched + from, len);
}

static void refused(struct fixture *f, enum err_kind kind, const char *says)
{
	struct err e = {0};

	assert_int_equal(boot_media_load(f->m, f->path, NULL, &e), -1);
	assert_int_equal(e.kind, kind);
	if (!strstr(e.text, says))
		fail_msg("%s", e.text);
}

static void an_image_without_a_mark_is_refused(void **state)
{
	struct fixture *f = *state;

	f->image[BLOCK_AT + 3] = '?';
	write_image(f, f->image, IMAGE_SIZE);
	refused(f, ERR_INVALID, "found none");
}

static void an_image_with_two_marks_is_refused(void **state)
{
	struct fixture *f = *state;

	memcpy(f->image + 90000, PROTO_BOOT_MARK, strlen(PROTO_BOOT_MARK));
	write_image(f, f->image, IMAGE_SIZE);
	refused(f, ERR_INVALID, "found several");
}

static void an_image_whose_block_is_torn_is_refused(void **state)
{
	struct fixture *f = *state;

	f->image[BLOCK_AT + PROTO_BOOT_BLOCK - 1] = 'x';
	write_image(f, f->image, IMAGE_SIZE);
	refused(f, ERR_INVALID, "not contiguous");
	make_image(f);
	/* The file ends inside the boot block. */
	write_image(f, f->image, BLOCK_AT + PROTO_BOOT_BLOCK - 1);
	refused(f, ERR_INVALID, "boot block");
}

static void a_file_that_can_be_no_image_is_refused(void **state)
{
	struct fixture *f = *state;

	write_image(f, f->image, PROTO_BOOT_BLOCK - 1);
	refused(f, ERR_INVALID, "must be a regular file of");
	unlink(f->path);
	refused(f, ERR_NOT_FOUND, "agent image");
	str_copy(f->path, sizeof(f->path), "/tmp");
	refused(f, ERR_INVALID, "must be a regular file of");
	f->path[0] = '\0';
}

static void a_block_at_the_very_end_is_served(void **state)
{
	struct fixture *f = *state;

	write_image(f, f->image, BLOCK_AT + PROTO_BOOT_BLOCK);
	opened(f, "t1");
	assert_int_equal(get(f, "t1", NULL), 200);
	assert_bytes(f, 0, BLOCK_AT + PROTO_BOOT_BLOCK);
}

static void nothing_is_opened_without_an_image_or_with_a_block_too_large(void **state)
{
	struct fixture *f = *state;
	char *large = mem_alloc(PROTO_BOOT_BLOCK + 1);
	struct proto_boot b = boot;

	assert_null(boot_media_open(f->m, "t1", &boot, &readers, &f->e));
	assert_int_equal(f->e.kind, ERR_INVALID);
	assert_ok(boot_media_load(f->m, f->path, NULL, &f->e), &f->e);
	memset(large, 'c', PROTO_BOOT_BLOCK);
	large[PROTO_BOOT_BLOCK] = '\0';
	b.ca_pem = large;
	assert_null(boot_media_open(f->m, "t1", &b, &readers, &f->e));
	free(large);
	assert_int_equal(get(f, "t1", NULL), 404);
	assert_true(f->closed);
}

static void the_whole_image_comes_with_this_machines_block_in_it(void **state)
{
	struct fixture *f = *state;

	opened(f, "t1");
	assert_int_equal(get(f, "t1", NULL), 200);
	assert_bytes(f, 0, IMAGE_SIZE);
}

static void ranges_across_the_edges_of_the_block_are_right_to_the_byte(void **state)
{
	static const struct {
		size_t from, to;
	} ranges[] = {
		{0, 0},
		{0, BLOCK_AT - 1},
		{BLOCK_AT - 1, BLOCK_AT},
		{BLOCK_AT, BLOCK_AT},
		{BLOCK_AT - 100, BLOCK_AT + PROTO_BOOT_BLOCK + 100},
		{BLOCK_AT + 1, BLOCK_AT + 50},
		{BLOCK_AT + PROTO_BOOT_BLOCK - 1, BLOCK_AT + PROTO_BOOT_BLOCK},
		{BLOCK_AT + PROTO_BOOT_BLOCK, BLOCK_AT + PROTO_BOOT_BLOCK},
		{IMAGE_SIZE - 1, IMAGE_SIZE - 1},
	};
	struct fixture *f = *state;
	char range[64], want[80];

	opened(f, "t1");
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		str_format(range, sizeof(range), "bytes=%zu-%zu", ranges[i].from, ranges[i].to);
		str_format(want, sizeof(want), "bytes %zu-%zu/%d", ranges[i].from, ranges[i].to,
			   IMAGE_SIZE);
		assert_int_equal(get(f, "t1", range), 206);
		assert_string_equal(f->range, want);
		assert_bytes(f, ranges[i].from, ranges[i].to - ranges[i].from + 1);
	}
	assert_int_equal(get(f, "t1", "bytes=-500"), 206);
	assert_bytes(f, IMAGE_SIZE - 500, 500);
	assert_int_equal(get(f, "t1", "bytes=100000-"), 416);
}

static void a_token_that_is_unknown_or_closed_is_not_found(void **state)
{
	struct fixture *f = *state;
	struct boot_media_item *i = opened(f, "t1");

	assert_int_equal(get(f, "t2", NULL), 404);
	assert_int_equal(get(f, "t", NULL), 404);
	assert_int_equal(get(f, "t1", "bytes=0-9"), 206);
	boot_media_close(i);
	assert_int_equal(get(f, "t1", NULL), 404);
	boot_media_close(NULL);
}

static bool has_some(void *arg)
{
	return ((struct fixture *)arg)->body.len > 0;
}

static void a_download_breaks_when_its_medium_is_closed(void **state)
{
	struct fixture *f = *state;
	struct boot_media_item *i = opened(f, "t1");
	struct http_req *q = start(f, "t1", NULL, true);

	assert_true(loop_sim_run_cond(f->l, has_some, f, loop_now(f->l) + 60000));
	boot_media_close(i);
	for (int k = 0; k < 100 && !f->done; k++) {
		http_want(q);
		loop_sim_run_until(f->l, loop_now(f->l) + 1000);
	}
	assert_true(f->done);
	assert_int_equal(f->status, -1);
	assert_true(f->body.len < IMAGE_SIZE);
}

static void a_client_that_goes_away_leaves_nothing_behind(void **state)
{
	struct fixture *f = *state;
	struct boot_media_item *i = opened(f, "t1");
	struct http_req *q = start(f, "t1", NULL, true);

	assert_true(loop_sim_run_cond(f->l, has_some, f, loop_now(f->l) + 60000));
	http_cancel(q);
	loop_sim_run_until(f->l, loop_now(f->l) + 1000);
	boot_media_close(i);
	opened(f, "t1");
	assert_int_equal(get(f, "t1", NULL), 200);
	assert_bytes(f, 0, IMAGE_SIZE);
}

static void a_second_medium_of_the_same_token_outlives_the_first(void **state)
{
	struct fixture *f = *state;
	struct boot_media_item *one = opened(f, "t1");

	opened(f, "t1");
	boot_media_close(one);
	assert_int_equal(get(f, "t1", "bytes=0-9"), 206);
}

static void an_image_that_cannot_be_used_leaves_the_one_before(void **state)
{
	struct fixture *f = *state;
	struct err e;

	opened(f, "t1");
	assert_int_equal(boot_media_load(f->m, "/nonexistent/image.iso", NULL, &e), -1);
	assert_int_equal(get(f, "t1", NULL), 200);
	assert_bytes(f, 0, IMAGE_SIZE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_image_without_a_mark_is_refused),
		T(an_image_with_two_marks_is_refused),
		T(an_image_whose_block_is_torn_is_refused),
		T(a_file_that_can_be_no_image_is_refused),
		T(a_block_at_the_very_end_is_served),
		T(nothing_is_opened_without_an_image_or_with_a_block_too_large),
		T(the_whole_image_comes_with_this_machines_block_in_it),
		T(ranges_across_the_edges_of_the_block_are_right_to_the_byte),
		T(a_token_that_is_unknown_or_closed_is_not_found),
		T(a_download_breaks_when_its_medium_is_closed),
		T(a_client_that_goes_away_leaves_nothing_behind),
		T(a_second_medium_of_the_same_token_outlives_the_first),
		T(an_image_that_cannot_be_used_leaves_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
