#include "sim/machine/medium.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "wipe/proto.h"

#define START "{\"endpoint\""
#define ATTEMPTS 5
#define AGAIN_MS 500
#define IDLE_MS 20000

struct sim_medium {
	struct sim_machine *machine;
	void (*done)(const char *block, const struct err *e, struct sim_machine *m);
	struct http_peer *peer;
	struct http_req *req;
	struct loop_timer timer;
	char *path;
	/* Number of bytes of the image that were searched. */
	int64_t at;
	unsigned attempts;
	/* True: the reply has status 206 and begins at `at`. */
	bool partial;
	/* Number of bytes of the reply to skip, because they were received before. */
	int64_t skip;
	struct buf window;
	char *block;
	struct err err;
};

static void start(void *arg);

/* Searches the window (the latest received bytes) for a boot block. Keeps the last bytes of the
 * window for the next call, because they may be the beginning of a boot block. */
static void look(struct sim_medium *f)
{
	struct buf *w = &f->window;
	struct proto_boot boot;
	struct err e;

	for (;;) {
		const char *hit = memmem(w->data, w->len, START, sizeof(START) - 1);
		OWN(arena) a = arena_new();

		if (!hit) {
			if (w->len >= sizeof(START))
				buf_drop(w, w->len - sizeof(START) + 1);
			return;
		}
		buf_drop(w, (size_t)(hit - w->data));
		if (w->len < PROTO_BOOT_BLOCK)
			return;
		if (proto_boot_read(w->data, PROTO_BOOT_BLOCK, a, &boot, &e) == 0) {
			f->block = mem_strndup(w->data, PROTO_BOOT_BLOCK);
			return;
		}
		buf_drop(w, 1);
	}
}

static int on_head(const struct http_reply *r, void *arg, struct err *e)
{
	struct sim_medium *f = arg;

	(void)e;
	f->partial = r->status == 206;
	f->skip = f->partial ? 0 : f->at;
	return 0;
}

static int on_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct sim_medium *f = arg;
	size_t skip = f->skip < (int64_t)len ? (size_t)f->skip : len;

	f->skip -= (int64_t)skip;
	f->at += (int64_t)(len - skip);
	if (f->at > MEDIUM_MAX)
		return err_set(e, ERR_PROTOCOL, 0, "more than %lld bytes", (long long)MEDIUM_MAX);
	if (buf_add(&f->window, data + skip, len - skip, e) < 0)
		return -1;
	f->attempts = 0;
	look(f);
	return f->block ? err_set(e, ERR_NONE, 0, "found") : 0;
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct sim_medium *f = arg;

	f->req = NULL;
	if (f->block) {
		f->done(f->block, NULL, f->machine);
		return;
	}
	if (e && err_is_transient(e) && ++f->attempts < ATTEMPTS) {
		loop_timer_start(&f->timer, AGAIN_MS);
		return;
	}
	if (e)
		f->err = *e;
	else if (http_err(r, &f->err) == 0)
		err_note(&f->err, ERR_NOT_FOUND, 0, "no boot block on the medium");
	f->done(NULL, &f->err, f->machine);
}

static void start(void *arg)
{
	struct sim_medium *f = arg;
	char range[48];
	struct http_header h = {"Range", range};
	struct http_call c = {
		.path = f->path,
		.headers = &h,
		.nheaders = f->at > 0,
		.no_timeout = true,
		.idle_ms = IDLE_MS,
		.on_head = on_head,
		.on_data = on_data,
		.piece_bytes = 64 << 10,
		.max_body = MEDIUM_MAX,
		.done = on_done,
		.arg = f,
	};

	str_format(range, sizeof(range), "bytes=%lld-", (long long)f->at);
	f->req = http_start(f->peer, &c);
}

static void refused(void *arg)
{
	struct sim_medium *f = arg;

	f->done(NULL, &f->err, f->machine);
}

struct sim_medium *sim_medium_fetch(struct sim_machine *m, const char *url,
				    void (*done)(const char *block, const struct err *e,
						 struct sim_machine *m))
{
	struct sim_medium *f = mem_new(struct sim_medium);
	const char *host = strstr(url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
	char *origin = mem_strndup(url, path ? (size_t)(path - url) : strlen(url));
	struct http_peer_spec s = {.base_url = origin,
				   .plain_ok = true,
				   .learn_pin = str_eq(url, m->image),
				   .user_agent = "sim-firmware"};

	f->machine = m;
	f->done = done;
	f->path = mem_strdup(path ? path : "/");
	buf_init(&f->window, (256 << 10) + PROTO_BOOT_BLOCK + sizeof(START));
	loop_timer_init(&f->timer, sim_machine_group(m), start, f);
	f->peer = http_peer_new(m->site->http, &s, &f->err);
	if (f->peer && sim_machine_reaches(m, origin)) {
		start(f);
	} else {
		if (f->peer)
			err_note(&f->err, ERR_UNAVAILABLE, 0,
				 "%s is not reachable from "
				 "segment \"%s\"",
				 origin, m->segment);
		loop_timer_init(&f->timer, sim_machine_group(m), refused, f);
		loop_timer_start(&f->timer, 0);
	}
	free(origin);
	return f;
}

void sim_medium_free(struct sim_medium *f)
{
	if (!f)
		return;
	loop_timer_stop(&f->timer);
	http_cancel(f->req);
	http_peer_free(f->peer);
	buf_done(&f->window);
	if (f->block)
		secret_wipe(f->block, PROTO_BOOT_BLOCK);
	free(f->block);
	free(f->path);
	free(f);
}

void sim_agent_image(char out[static SIM_AGENT_IMAGE_BYTES + 1])
{
	static const char head[] = "drover-agent of simulated machines\n";
	char *at = out + sizeof(head) - 1;

	memset(out, ' ', SIM_AGENT_IMAGE_BYTES);
	memcpy(out, head, sizeof(head) - 1);
	memcpy(at, PROTO_BOOT_MARK, sizeof(PROTO_BOOT_MARK) - 1);
	memset(at + PROTO_BOOT_BLOCK, '.',
	       SIM_AGENT_IMAGE_BYTES - PROTO_BOOT_BLOCK - sizeof(head) + 1);
	out[SIM_AGENT_IMAGE_BYTES] = '\0';
}
