#include "sim/rack/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/http/http_curl.h"
#include "base/data/json.h"
#include "base/list.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"
#include "base/str.h"

#define LINE_MAX_BYTES (64u << 10)
#define LIMIT_MS 60000
#define RETRY_MAX_MS 300000
#define PEM_MAX (256u << 10)

struct sim_ports {
	struct http_peer *peer;
	struct list requests;
	size_t pending;
	void (*write)(const char *line, size_t len, void *arg);
	void *arg;
};

struct request {
	struct list link;
	struct sim_ports *ports;
	struct http_req *req;
	json_int_t id;
	bool observes;
};

/* --- replies ---------------------------------------------------------------------------------- */

static void reply(struct sim_ports *p, json_t *j /* takes ownership */)
{
	char *text = json_text(j);

	p->write(text, strlen(text), p->arg);
	free(text);
	json_decref(j);
}

static void reply_err(struct sim_ports *p, json_int_t id, const struct err *e)
{
	json_t *error = json_pack("{s:s, s:s}", "kind", err_kind_name(e->kind), "message", e->text);
	uint32_t again = e->retry_after_ms < RETRY_MAX_MS ? e->retry_after_ms : RETRY_MAX_MS;

	if (again)
		json_object_set_new(error, "retryAfterMs", json_integer(again));
	reply(p, json_pack("{s:I, s:o}", "id", id, "error", error));
}

static void refuse(struct sim_ports *p, json_int_t id, enum err_kind kind, const char *text)
{
	struct err e;

	err_note(&e, kind, 0, "%s", text);
	reply_err(p, id, &e);
}

/* Answers an observe request from the rack's reply. The segment "" means that the port is in no
 * segment; it is a valid observation, not an error. */
static void reply_place(struct sim_ports *p, json_int_t id, const struct http_reply *r)
{
	struct err e;
	OWN_JSON j = json_parse(r->body, r->body_len, &e);
	const char *segment = json_str_at(j, "segment");

	if (!segment)
		refuse(p, id, ERR_PROTOCOL, "the answer of the rack contains no segment");
	else
		reply(p, json_pack("{s:I, s:s?, s:s}", "id", id, "segment",
				   *segment ? segment : NULL, "proof", "Strong"));
}

static void on_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct request *q = arg;
	struct sim_ports *p = q->ports;
	struct err why;

	list_remove(&q->link);
	p->pending--;
	if (e)
		reply_err(p, q->id, e);
	else if (http_err(r, &why) < 0)
		reply_err(p, q->id, &why);
	else if (q->observes)
		reply_place(p, q->id, r);
	else
		reply(p, json_pack("{s:I}", "id", q->id));
	free(q);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool is_mac(const char *s)
{
	return strlen(s) == 17 && strspn(s, "0123456789abcdefABCDEF:") == 17;
}

/* Sends a request to the rack for the port with this MAC. segment: target to which the port is
 * moved; NULL: the port is only observed. */
static void ask(struct sim_ports *p, json_int_t id, const char *mac, const char *segment,
		const json_t *j)
{
	struct request *q = mem_new(struct request);
	json_int_t limit = json_int_at(j, "limitMs");
	OWN_JSON body = segment ? json_pack("{s:s, s:I}", "segment", segment, "fence",
					    json_int_at(j, "fence"))
				: NULL;
	char *text = body ? json_text(body) : NULL, path[64];
	struct http_call c = {
		.method = segment ? "PUT" : "GET",
		.path = path,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.timeout_ms = limit > 0 && limit < LIMIT_MS ? (uint32_t)limit : LIMIT_MS,
		.done = on_done,
		.arg = q,
	};

	str_format(path, sizeof(path), "/sim/ports/%s", mac);
	q->ports = p;
	q->id = id;
	q->observes = !segment;
	list_push_back(&p->requests, &q->link);
	p->pending++;
	q->req = http_start(p->peer, &c);
	free(text);
}

bool sim_ports_line(struct sim_ports *p, const char *line, size_t len)
{
	struct err e;
	OWN_JSON j = len <= LINE_MAX_BYTES ? json_parse(line, len, &e) : NULL;
	const char *op = json_str_at(j, "op"), *mac = json_str_at(j, "mac");
	const char *segment = json_str_at(j, "segment");
	json_int_t id = json_int_at(j, "id");

	if (id < 1 || !op)
		return false;
	if (str_eq(op, "hello"))
		reply(p, json_pack("{s:I, s:i}", "id", id, "protocol", 1));
	else if (!str_eq(op, "place") && !str_eq(op, "observe"))
		refuse(p, id, ERR_UNSUPPORTED, "op: want hello, place or observe");
	else if (!mac || !is_mac(mac))
		refuse(p, id, ERR_INVALID, "mac: want the MAC address of the port");
	else if (str_eq(op, "observe"))
		ask(p, id, mac, NULL, j);
	else if (str_empty(segment))
		refuse(p, id, ERR_INVALID, "segment: is missing");
	else
		ask(p, id, mac, segment, j);
	return true;
}

/* Returns the number of unanswered requests. */
static size_t sim_ports_pending(const struct sim_ports *p)
{
	return p->pending;
}

struct sim_ports *sim_ports_new(struct http *http, const char *rack_url, const char *ca_pem,
				void (*write)(const char *line, size_t len, void *arg), void *arg,
				struct err *e)
{
	struct sim_ports *p = mem_new(struct sim_ports);
	struct http_peer_spec s = {.base_url = rack_url, .ca_pem = ca_pem, .plain_ok = true};

	list_init(&p->requests);
	p->write = write;
	p->arg = arg;
	p->peer = http_peer_new(http, &s, e);
	if (p->peer)
		return p;
	free(p);
	return NULL;
}

void sim_ports_free(struct sim_ports *p)
{
	if (!p)
		return;
	list_for_each (q, &p->requests, struct request, link) {
		http_cancel(q->req);
		free(q);
	}
	http_peer_free(p->peer);
	free(p);
}

/* --- program ---------------------------------------------------------------------------------- */

/* State of the running driver. It reads standard input in a worker thread, a piece at a time,
 * because reads block. */
struct program {
	struct loop *loop;
	struct loop_group *group;
	struct sim_ports *ports;
	struct buf in;
	char piece[4096];
	ssize_t got;
	bool ended;
	int status;
	struct loop_timer look;
};

static void read_piece(void *arg)
{
	struct program *g = arg;

	do
		g->got = read(STDIN_FILENO, g->piece, sizeof(g->piece));
	while (g->got < 0 && errno == EINTR);
}

static void leave_piece(void *arg)
{
	(void)arg;
}

/* Ends the program with this exit status once all requests are answered. */
static void end(struct program *g, int status)
{
	g->ended = true;
	g->status = status;
	loop_timer_start(&g->look, 0);
}

static void on_piece(void *arg)
{
	struct program *g = arg;
	struct err e;
	char *newline;

	if (g->got <= 0) {
		end(g, g->got ? 1 : 0);
		return;
	}
	if (buf_add(&g->in, g->piece, (size_t)g->got, &e) < 0) {
		fprintf(stderr, "input line longer than %u bytes\n", LINE_MAX_BYTES);
		end(g, 1);
		return;
	}
	while ((newline = memchr(g->in.data, '\n', g->in.len))) {
		size_t len = (size_t)(newline - g->in.data);

		if (!sim_ports_line(g->ports, g->in.data, len)) {
			fprintf(stderr, "not a request of the protocol: %.*s\n",
				len < 200 ? (int)len : 200, g->in.data);
			end(g, 1);
			return;
		}
		buf_drop(&g->in, len + 1);
	}
	loop_work(g->group, read_piece, on_piece, leave_piece, g);
}

static void on_look(void *arg)
{
	struct program *g = arg;

	if (sim_ports_pending(g->ports))
		loop_timer_start(&g->look, 50);
	else
		loop_stop(g->loop);
}

static void print(const char *line, size_t len, void *arg)
{
	(void)arg;
	fwrite(line, 1, len, stdout);
	fputc('\n', stdout);
	fflush(stdout);
}

static char *read_pem(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;

	if (!f)
		return NULL;
	text = mem_alloc(PEM_MAX + 1);
	n = fread(text, 1, PEM_MAX, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static int run(struct program *g, const char *rack_url, const char *ca_pem)
{
	struct http *http = http_new(g->group, http_curl_new(g->group, 16), 0);
	struct err e;

	g->ports = sim_ports_new(http, rack_url, ca_pem, print, NULL, &e);
	if (g->ports) {
		loop_work(g->group, read_piece, on_piece, leave_piece, g);
		loop_run(g->loop);
	} else {
		fprintf(stderr, "%s: %s\n", rack_url, e.text);
		g->status = 1;
	}
	sim_ports_free(g->ports);
	http_free(http);
	return g->status;
}

int sim_ports_main(const char *rack_url, const char *ca_pem_file)
{
	struct program g = {.loop = loop_uv_new()};
	char *ca_pem = ca_pem_file ? read_pem(ca_pem_file) : NULL;
	int status = 1;

	g.group = loop_group_new(g.loop, "ports");
	buf_init(&g.in, LINE_MAX_BYTES + sizeof(g.piece));
	loop_timer_init(&g.look, g.group, on_look, &g);
	if (ca_pem_file && !ca_pem)
		fprintf(stderr, "%s: %s\n", ca_pem_file, strerror(errno));
	else
		status = run(&g, rack_url, ca_pem);
	loop_timer_stop(&g.look);
	buf_done(&g.in);
	free(ca_pem);
	loop_group_free(g.group);
	loop_free(g.loop);
	return status;
}
