#include "sim/common/reply.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

struct delayed {
	struct list link;
	struct httpd_req *q;
	struct loop_timer timer;
	void (*fn)(struct httpd_req *q, void *arg);
	void *arg;
	/* Reply of sim_delay_reply(). */
	int status;
	const char *type;
	char *text;
};

void sim_delays_init(struct sim_delays *d, struct loop_group *g)
{
	d->group = g;
	list_init(&d->v);
}

static void delayed_free(void *arg)
{
	struct delayed *x = arg;

	list_remove(&x->link);
	loop_timer_stop(&x->timer);
	free(x->text);
	free(x);
}

void sim_delays_done(struct sim_delays *d)
{
	list_for_each (x, &d->v, struct delayed, link) {
		httpd_on_gone(x->q, NULL, NULL);
		delayed_free(x);
	}
}

static void on_time(void *arg)
{
	struct delayed *x = arg;

	/* The request continues without x, which is freed below; fn() may free the simulator with
	 * its list. */
	httpd_on_gone(x->q, NULL, NULL);
	list_remove(&x->link);
	x->fn(x->q, x->arg);
	delayed_free(x);
}

static struct delayed *delay(struct sim_delays *d, struct httpd_req *q, int64_t ms)
{
	struct delayed *x = mem_new(struct delayed);

	x->q = q;
	list_push_back(&d->v, &x->link);
	httpd_on_gone(q, delayed_free, x);
	loop_timer_init(&x->timer, d->group, on_time, x);
	if (ms < SIM_DELAY_NEVER)
		loop_timer_start(&x->timer, ms);
	return x;
}

void sim_delay(struct sim_delays *d, struct httpd_req *q, int64_t ms,
	       void (*fn)(struct httpd_req *q, void *arg), void *arg)
{
	struct delayed *x = delay(d, q, ms);

	x->fn = fn;
	x->arg = arg;
}

static void send_text(struct httpd_req *q, void *arg)
{
	const struct delayed *x = arg;

	httpd_reply(q, x->status, x->type, x->text, strlen(x->text));
}

void sim_delay_reply(struct sim_delays *d, struct httpd_req *q, int64_t ms, int status,
		     const char *type, const char *text)
{
	struct delayed *x = delay(d, q, ms);

	x->fn = send_text;
	x->arg = x;
	x->status = status;
	x->type = type;
	x->text = mem_strdup(text);
}

static int64_t break_off(char *out, size_t max, uint64_t pos, void *arg)
{
	(void)out;
	(void)max;
	(void)pos;
	(void)arg;
	return -2;
}

void sim_reply_lost(struct httpd_req *q, int status, const char *type)
{
	const struct httpd_reader broken = {.read = break_off, .size = -1};

	httpd_reply_stream(q, status, type, &broken);
}
