#include "sim/rack/firmware.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "sim/agent/agent.h"
#include "sim/machine/medium.h"
#include "sim/node/node.h"
#include "wipe/proto.h"

static void boot_disk(struct sim_machine *m)
{
	struct err e;

	m->node = sim_node_new(sim_machine_group(m), m, &e);
	m->doing = m->node ? SIM_NODE : SIM_NOTHING;
	if (!m->node)
		sim_machine_say(m, "nothing to boot: %s", e.text);
	sim_machine_save(m);
}

static void on_medium(const char *block, const struct err *e, struct sim_machine *m)
{
	struct sim_medium *done = m->medium;
	struct err bad;

	m->medium = NULL;
	if (block)
		m->agent = sim_agent_new(sim_machine_group(m), m, block, PROTO_BOOT_BLOCK, &bad);
	if (m->agent) {
		m->doing = SIM_AGENT;
		sim_machine_save(m);
	} else {
		sim_machine_say(m, "cannot boot the medium: %s", block ? bad.text : e->text);
		boot_disk(m);
	}
	sim_medium_free(done);
}

/* Returns the URL of the medium that the boot override selects; NULL: none, the machine does not
 * boot a medium. */
static const char *boot_url(const struct sim_machine *m)
{
	const char *cd = m->virtual_cd;

	if (!m->boot_enabled || str_eq(m->boot_enabled, "Disabled") || m->legacy_boot)
		return NULL;
	if (str_eq(m->boot_target, str_or(cd, "Cd")) || (!cd && str_eq(m->boot_target, "UsbCd")))
		return m->image;
	return str_eq(m->boot_target, "UefiHttp") ? m->http_boot_uri : NULL;
}

static void boot(struct sim_machine *m)
{
	char *url;

	if (sim_machine_fault(m, "POST", "MediaVanishes", NULL))
		sim_text_set(&m->image, NULL);
	url = mem_strdup(boot_url(m));
	if (str_eq(m->boot_enabled, "Once")) {
		sim_text_set(&m->boot_enabled, "Disabled");
		sim_text_set(&m->boot_target, "None");
	}
	if (url && !sim_machine_fault(m, "POST", "BootsDisk", NULL))
		m->medium = sim_medium_fetch(m, url, on_medium);
	else if (m->net_boot && m->net_boot->boots(m, m->net_boot->arg))
		/* Does nothing more: the head node boots the machine, and the system that it
		 * installs is not simulated here. */
		m->doing = SIM_NOTHING;
	else
		boot_disk(m);
	free(url);
	sim_machine_changed(m);
}

static void stop(struct sim_machine *m)
{
	struct sim_agent *agent = m->agent;
	struct sim_node *node = m->node;

	sim_medium_free(m->medium);
	m->medium = NULL;
	m->agent = NULL;
	m->node = NULL;
	sim_agent_free(agent);
	sim_node_free(node);
}

const struct sim_firmware sim_firmware = {boot, boot_disk, stop};
