#include "sim/bcm/head_rack.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/node/node.h"

#define PER_OCTET 250
#define KUBELET "v1.36.0" /* Version of the kubelet in each software image. */

struct sim_head_rack {
	struct sim_rack *rack;
	struct sim_head *head;
	struct sim_net_boot net;
};

static void power(void *machine, bool on)
{
	sim_machine_power(machine, on);
}

static bool reaches(void *machine)
{
	const struct sim_machine *m = machine;
	const char *segment = m->segment;

	return str_empty(segment) || str_eq(segment, "provisioning");
}

/* Erases the root drive, and writes the beginning of an image to it that the rack's machines can
 * boot. The data is the same for every image; only the console shows the image's name. */
static void installed(void *machine, const char *image)
{
	struct sim_machine *m = machine;
	char head[DRIVE_BLOCK] = "";
	struct err e;

	str_format(head, sizeof(head), SIM_NODE_MAGIC "kubelet=%s\n\n", KUBELET);
	if (drive_erase(m->drives[0], &e) < 0 ||
	    drive_write(m->drives[0], head, sizeof(head), 0, &e) < 0)
		sim_machine_say(m, "install by the head node: %s", e.text);
	else
		sim_machine_say(m, "installed by the head node: %s", image);
}

static bool boots(struct sim_machine *m, void *arg)
{
	const struct sim_head_rack *h = arg;

	return sim_head_boots(sim_head_node(h->head, m->name));
}

static void powered(struct sim_machine *m, void *arg)
{
	const struct sim_head_rack *h = arg;

	sim_head_powered(sim_head_node(h->head, m->name), m->on);
}

struct sim_head_rack *sim_head_rack_new(struct sim_rack *r, const struct sim_head_spec *s)
{
	static const struct sim_head_machine ops = {power, reaches, installed};
	struct sim_head_rack *h = mem_new(struct sim_head_rack);
	char bmc[32];

	h->rack = r;
	h->head = sim_head_new(sim_rack_group(r), s);
	h->net = (struct sim_net_boot){boots, powered, h};
	for (unsigned i = 1; i <= sim_rack_count(r); i++) {
		struct sim_machine *m = sim_rack_machine(r, i);

		str_format(bmc, sizeof(bmc), "127.10.%u.%u", i / PER_OCTET, i % PER_OCTET + 1);
		sim_head_powered(sim_head_add(h->head, m->name, m->mac, bmc, &ops, m), m->on);
		m->net_boot = &h->net;
	}
	return h;
}

struct sim_head *sim_head_rack_head(struct sim_head_rack *h)
{
	return h->head;
}

void sim_head_rack_free(struct sim_head_rack *h)
{
	if (!h)
		return;
	for (unsigned i = 1; i <= sim_rack_count(h->rack); i++)
		sim_rack_machine(h->rack, i)->net_boot = NULL;
	sim_head_free(h->head);
	free(h);
}
