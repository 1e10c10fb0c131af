#include "tests/contract/fake_head.h"

#include "base/str.h"

static void power(void *machine, bool on)
{
	fake_bmc_switch(machine, on);
}

static void switched(void *arg)
{
	const struct fake_head_pair *p = arg;

	sim_head_powered(p->node, p->bmc->on);
	if (p->bmc->on)
		(void)sim_head_boots(p->node);
}

void fake_head_start(struct fake_head *h, struct http_mem_net *net, struct loop_group *g)
{
	struct sim_head_spec s = {.user = "drover"};

	h->n = 0;
	h->password = secret_from_str(FAKE_HEAD_PASSWORD);
	s.password = h->password;
	h->head = sim_head_new(g, &s);
	h->httpd = httpd_new(g);
	sim_head_routes(h->head, h->httpd);
	http_mem_serve(net, FAKE_HEAD, h->httpd);
	h->manager = (struct provider_manager){
		.endpoint = FAKE_HEAD, .user = "drover", .password = h->password};
}

struct sim_head_node *fake_head_add(struct fake_head *h, struct fake_bmc *b, int i)
{
	static const struct sim_head_machine ops = {.power = power};
	char name[16], mac[20], address[24];
	struct fake_head_pair *p = &h->pairs[h->n++];

	str_format(name, sizeof(name), "n%d", i);
	str_format(mac, sizeof(mac), "b8:ce:f6:00:00:%02x", i);
	str_format(address, sizeof(address), "10.0.8.%d", 17 + i);
	p->bmc = b;
	p->node = sim_head_add(h->head, name, mac, address, &ops, b);
	b->switched = switched;
	b->switched_arg = p;
	return p->node;
}

void fake_head_done(struct fake_head *h)
{
	httpd_free(h->httpd);
	sim_head_free(h->head);
	secret_free(h->password);
}
