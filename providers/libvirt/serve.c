/*
 * serve: parses requests, runs them on threads, and writes the replies.
 * Tests: tests/unit/providers/libvirt/test_serve.c
 */
#include "providers/libvirt/serve.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/data/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/libvirt/host.h"

#define QUEUE_MAX 1024
/* Part of the caller's time limit, in ms, that is left for the reply to arrive */
#define MARGIN_MS 2000

struct request {
	struct list link;
	json_t *j;
	int64_t id, asked_ms;
	/* Name of the domain, borrowed from j; NULL: the request names none */
	const char *domain;
};

struct serve {
	void (*answer)(const char *line, size_t len, void *arg);
	void *arg;
	/* Set by the request "hello"; NULL before */
	struct host *host;
	pthread_t threads[SERVE_THREADS];
	pthread_mutex_t lock, out;
	pthread_cond_t wake;
	/* Lists of request.link. queue: not started. running: a thread runs it. */
	struct list queue, running;
	unsigned queued;
	bool ending;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Passes j as one line to answer(). Takes ownership of j. */
static void say(struct serve *s, json_t *j)
{
	char *text = json_text(j);

	pthread_mutex_lock(&s->out);
	s->answer(text, strlen(text), s->arg);
	pthread_mutex_unlock(&s->out);
	free(text);
	json_decref(j);
}

static json_t *failure(int64_t id, const struct err *e)
{
	json_t *text = json_string(e->text);

	return json_pack("{s:I,s:{s:s,s:o}}", "id", (json_int_t)id, "error", "kind",
			 err_kind_name(e->kind), "message",
			 text ? text : json_string("an error whose text is not UTF-8"));
}

/* --- operations ------------------------------------------------------------------------------- */

static int text_of(const json_t *j, const char *name, const char **out, struct err *e)
{
	*out = json_str_at(j, name);
	if (str_empty(*out))
		return err_set(e, ERR_INVALID, 0, "%s: missing", name);
	return 0;
}

static int do_observe(struct serve *s, const struct request *q, json_t *reply, struct err *e)
{
	OWN(arena) a = arena_new();
	struct host_observation observation = {0};
	const struct domain_facts *f = &observation.facts;
	OWN_JSON told = NULL;

	if (host_observe(s->host, q->domain, a, &observation, e) < 0)
		return -1;
	told = json_pack("{s:s,s:s,s:s?,s:s,s:b,s:s?,s:s?,s:I}", "power", observation.power, "uuid",
			 f->uuid, "serial", f->serial, "boot", domain_boot_names[f->boot],
			 "inserted", f->inserted, "mediaURL", f->media_url, "address",
			 observation.address, "fence", (json_int_t)f->fence);
	if (!told)
		return err_set(e, ERR_PROTOCOL, 0, "the definition of domain %.100s is not UTF-8",
			       q->domain);
	json_object_update(reply, told);
	return 0;
}

static int do_change(struct serve *s, const struct request *q, const char *op, struct err *e)
{
	int64_t limit = json_int_at(q->j, "limitMs");
	struct host_call c = {
		.domain = q->domain,
		.uuid = json_str_at(q->j, "uuid"),
		.fence = json_int_at(q->j, "fence"),
		.deadline_ms = q->asked_ms + limit - MARGIN_MS,
	};

	if (now_ms() > c.deadline_ms)
		return err_set(e, ERR_TIMEOUT, 0, "the request waited too long for a thread");
	if (str_eq(op, "power"))
		return host_power(s->host, &c, json_true_at(q->j, "on"), e);
	if (str_eq(op, "boot"))
		return host_boot(s->host, &c, str_eq(json_str_at(q->j, "how"), "media"), e);
	return host_media(s->host, &c, json_str_at(q->j, "url"), e);
}

static int read_drives(const json_t *drives, struct host_machine *m, struct err *e)
{
	size_t i;
	json_t *drive;

	if (json_array_size(drives) > DOMAIN_DRIVES)
		return err_set(e, ERR_INVALID, 0, "drives: at most %d", DOMAIN_DRIVES);
	json_array_foreach (drives, i, drive) {
		const char *bus = json_str_at(drive, "bus");

		m->drives[i].bytes = json_int_at(drive, "bytes");
		m->drives[i].bus = str_eq(bus, domain_bus_names[DOMAIN_BUS_NVME]) ? DOMAIN_BUS_NVME
										  : DOMAIN_BUS_SATA;
		if (m->drives[i].bytes <= 0)
			return err_set(e, ERR_INVALID, 0, "drives[%zu]: bytes must be positive", i);
	}
	m->ndrives = json_array_size(drives);
	return 0;
}

static int do_define(struct serve *s, const struct request *q, bool define, struct err *e)
{
	struct host_machine m = {
		.name = q->domain,
		.cpus = json_int_at(q->j, "cpus"),
		.memory_bytes = json_int_at(q->j, "memoryBytes"),
		.network = json_str_at(q->j, "network"),
		.bridge = json_str_at(q->j, "bridge"),
		.type = json_str_at(q->j, "type"),
	};

	if (text_of(q->j, "uuid", &m.uuid, e) < 0 || text_of(q->j, "owner", &m.provider, e) < 0 ||
	    text_of(q->j, "machine", &m.machine, e) < 0)
		return -1;
	if (!define)
		return host_undefine(s->host, m.name, m.uuid, m.provider, m.machine, e);
	if (m.cpus <= 0 || m.memory_bytes <= 0)
		return err_set(e, ERR_INVALID, 0, "cpus and memoryBytes: must be positive");
	return read_drives(json_object_get(q->j, "drives"), &m, e) < 0
		       ? -1
		       : host_define(s->host, &m, e);
}

static int act(struct serve *s, const struct request *q, json_t *reply, struct err *e)
{
	const char *op = json_str_at(q->j, "op");

	if (!q->domain)
		return err_set(e, ERR_INVALID, 0, "domain: missing");
	if (str_eq(op, "observe"))
		return do_observe(s, q, reply, e);
	if (str_eq(op, "power") || str_eq(op, "boot") || str_eq(op, "media"))
		return do_change(s, q, op, e);
	if (str_eq(op, "define") || str_eq(op, "undefine"))
		return do_define(s, q, str_eq(op, "define"), e);
	return err_set(e, ERR_UNSUPPORTED, 0, "there is no operation %.40s", str_or(op, "(none)"));
}

/* --- threads ---------------------------------------------------------------------------------- */

static void request_free(struct request *q)
{
	list_remove(&q->link);
	json_decref(q->j);
	free(q);
}

static json_t *reply_to(struct serve *s, const struct request *q)
{
	json_t *reply = json_pack("{s:I}", "id", (json_int_t)q->id);
	struct err e;

	if (act(s, q, reply, &e) == 0)
		return reply;
	json_decref(reply);
	return failure(q->id, &e);
}

static void *run(void *arg)
{
	struct serve *s = arg;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct request *q = NULL;
		json_t *reply;

		if (s->ending)
			break;
		list_for_each (x, &s->queue, struct request, link) {
			q = x;
			break;
		}
		if (!q) {
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		list_remove(&q->link);
		s->queued--;
		list_push_back(&s->running, &q->link);
		pthread_mutex_unlock(&s->lock);
		reply = reply_to(s, q);
		pthread_mutex_lock(&s->lock);
		/* Free the request before the reply is sent: the reader of the reply may send
		 * another request about the same domain at once, which would be refused as busy. */
		request_free(q);
		pthread_mutex_unlock(&s->lock);
		say(s, reply);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static bool is_busy(const struct serve *s, const struct request *q)
{
	list_for_each (x, &s->running, struct request, link)
		if (q->domain && str_eq(x->domain, q->domain))
			return true;
	list_for_each (x, &s->queue, struct request, link)
		if (q->domain && str_eq(x->domain, q->domain))
			return true;
	return false;
}

static void put_off(struct serve *s, struct request *q)
{
	struct err e = {0};

	pthread_mutex_lock(&s->lock);
	if (is_busy(s, q)) {
		err_note(&e, ERR_TIMEOUT, 0,
			 "libvirt has not answered an earlier request about domain %.100s",
			 q->domain);
	} else if (s->queued == QUEUE_MAX) {
		err_note(&e, ERR_CAPACITY, 0, "too many requests: %d are waiting", QUEUE_MAX);
	} else {
		list_push_back(&s->queue, &q->link);
		s->queued++;
		pthread_cond_signal(&s->wake);
		q = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	if (!q)
		return;
	say(s, failure(q->id, &e));
	request_free(q);
}

static void hello(struct serve *s, const json_t *j, int64_t id)
{
	struct host_spec spec = {
		.uri = json_str_at(j, "uri"),
		.pool = json_str_at(j, "pool"),
		.media_url = json_str_at(j, "mediaURL"),
	};
	struct err e;

	if (s->host || !spec.uri || !spec.pool) {
		err_note(&e, ERR_INVALID, 0, "hello must be sent once, with uri and pool");
		say(s, failure(id, &e));
		return;
	}
	s->host = host_new(&spec);
	say(s, json_pack("{s:I,s:i}", "id", (json_int_t)id, "protocol", 1));
}

int serve_line(struct serve *s, const char *line, size_t len, struct err *e)
{
	json_t *j = json_parse(line, len, e);
	int64_t id = j ? json_int_at(j, "id") : 0;
	const char *op = j ? json_str_at(j, "op") : NULL;
	struct request *q;

	if (!j || id <= 0 || !op || (!s->host && !str_eq(op, "hello"))) {
		json_decref(j);
		return err_set(e, ERR_PROTOCOL, 0, "not a request");
	}
	if (str_eq(op, "hello") || str_eq(op, "ping")) {
		if (str_eq(op, "hello"))
			hello(s, j, id);
		else
			say(s, json_pack("{s:I}", "id", (json_int_t)id));
		json_decref(j);
		return 0;
	}
	q = mem_new(struct request);
	list_init(&q->link);
	q->j = j;
	q->id = id;
	q->asked_ms = now_ms();
	q->domain = json_str_at(j, "domain");
	put_off(s, q);
	return 0;
}

struct serve *serve_new(void (*answer_)(const char *line, size_t len, void *arg), void *arg)
{
	struct serve *s = mem_new(struct serve);

	s->answer = answer_;
	s->arg = arg;
	list_init(&s->queue);
	list_init(&s->running);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->out, NULL);
	pthread_cond_init(&s->wake, NULL);
	for (int i = 0; i < SERVE_THREADS; i++)
		if (pthread_create(&s->threads[i], NULL, run, s) != 0)
			abort();
	return s;
}

void serve_free(struct serve *s)
{
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	pthread_cond_broadcast(&s->wake);
	pthread_mutex_unlock(&s->lock);
	for (int i = 0; i < SERVE_THREADS; i++)
		pthread_join(s->threads[i], NULL);
	list_for_each (q, &s->queue, struct request, link)
		request_free(q);
	host_free(s->host);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->out);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
