#include "tests/contract/slow_bmc.h"

#include <stdlib.h>
#include "base/mem.h"

struct held {
	struct slow_bmc *of;
	struct httpd_req *q;
	struct loop_timer timer;
};

static void on_gone(void *arg)
{
	struct held *h = arg;

	loop_timer_stop(&h->timer);
	free(h);
}

static void on_timer(void *arg)
{
	struct held *h = arg;
	struct slow_bmc *s = h->of;
	struct httpd_req *q = h->q;

	httpd_on_gone(q, NULL, NULL);
	free(h);
	s->answered++;
	fake_bmc_answer(s->bmc, q);
}

static bool hold(struct httpd_req *q, unsigned n, void *arg)
{
	struct slow_bmc *s = arg;
	struct held *h = mem_new(struct held);

	(void)n;
	*h = (struct held){.of = s, .q = q};
	loop_timer_init(&h->timer, s->group, on_timer, h);
	loop_timer_start(&h->timer, s->ms);
	httpd_on_gone(q, on_gone, h);
	return true;
}

void slow_bmc_init(struct slow_bmc *s, struct fake_bmc *b, struct loop_group *g, int64_t ms)
{
	*s = (struct slow_bmc){.bmc = b, .group = g, .ms = ms};
	b->tamper = hold;
	b->tamper_arg = s;
}
