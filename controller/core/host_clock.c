/*
 * host_clock: compares the wall clock with the Date header of the host's API server at each call of
 * host_clock_ahead() or host_clock_agrees(), and every 10 s to report a change. clock_jumps.c
 * compares the wall clock with the monotonic clock of the same machine.
 */
#include "controller/core/host_clock.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#define LOOK_MS 10000
/* Tolerance: Date has whole seconds, and a reply may be 15 s old when it arrives. */
#define AGREE_MS 60000

struct host_clock {
	struct context *c;
	struct loop_timer timer;
	/* True: the present difference was reported; cleared when the clocks agree again */
	bool told;
};

int64_t host_clock_ahead(const struct context *c)
{
	int64_t date, at;

	if (!c->host || !kube_client_date(c->host, &date, &at))
		return 0;
	return loop_wall(c->loop) - (date + loop_now(c->loop) - at);
}

bool host_clock_agrees(const struct context *c)
{
	int64_t ahead = host_clock_ahead(c);

	return ahead <= AGREE_MS && ahead >= -AGREE_MS;
}

static void tell(struct host_clock *h, int64_t ahead)
{
	struct kube_ref lease = {.api_version = "coordination.k8s.io/v1",
				 .kind = "Lease",
				 .ns = h->c->o.ns,
				 .name = CONTROLLER_LEASE};
	char note[200];

	str_format(note, sizeof(note),
		   "the clock of %.60s is %lld s %s that of the API server: drover decides nothing "
		   "until they agree",
		   str_or(h->c->o.identity, "drover"),
		   (long long)(ahead < 0 ? -ahead : ahead) / 1000,
		   ahead < 0 ? "behind" : "ahead of");
	log_error("clocks disagree", LOG_S("message", note));
	kube_event(h->c->events, &lease, "Warning", "ClockDisagrees", "Compare", note);
}

static void on_timer(void *arg)
{
	struct host_clock *h = arg;
	bool agrees = host_clock_agrees(h->c);

	if (agrees == h->told) {
		h->told = !agrees;
		if (!agrees) {
			tell(h, host_clock_ahead(h->c));
		} else {
			log_info("clocks agree again");
			notify(h->c, NOTICE_MACHINE, NULL);
		}
	}
	loop_timer_start(&h->timer, LOOK_MS);
}

struct host_clock *host_clock_new(struct context *c)
{
	struct host_clock *h = mem_new(struct host_clock);

	h->c = c;
	loop_timer_init(&h->timer, c->group, on_timer, h);
	loop_timer_start(&h->timer, LOOK_MS);
	return h;
}

void host_clock_free(struct host_clock *h)
{
	if (!h)
		return;
	loop_timer_stop(&h->timer);
	free(h);
}
