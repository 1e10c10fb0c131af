/*
 * head_node: one node of a simulated head node: its device as text, its power, and its network
 * boot.
 *
 *   power on, no medium --> BOOTING
 *   BOOTING --> next mode FULL: INSTALLING (six texts) --> INSTALLER_CALLINGINIT --> UP
 *           '-> otherwise: UP
 *   power off --> DOWN
 *   fault InstallFails --> INSTALLER_FAILED until power off
 * Tests: tests/unit/sim/bcm/test_head.c
 */
#include "sim/bcm/head_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define BOOT_MS 3000
#define INSTALL_MS 20000

static const char *const phase_names[] = {
	"DOWN", "BOOTING", "INSTALLING", "INSTALLER_CALLINGINIT", "UP", "INSTALLER_FAILED"};
static const char *const install_texts[] = {"installer started",     "checking disks",
					    "recreating partitions", "waiting for provisioning",
					    "provisioning started",  "complete"};
#define STEPS (sizeof(install_texts) / sizeof(*install_texts))

const char *head_categories(void)
{
	return "[{\"baseType\":\"Category\","
	       "\"uuid\":\"c0000000-0000-4000-8000-000000000001\",\"name\":\"default\","
	       "\"installMode\":\"AUTO\",\"newNodeInstallMode\":\"FULL\",\"softwareImageProxy\":"
	       "{\"parentSoftwareImage\":\"50000000-0000-4000-8000-000000000001\","
	       "\"revisionID\":-1},"
	       "\"managementNetwork\":\"e0000000-0000-4000-8000-000000000001\"},"
	       "{\"baseType\":\"Category\","
	       "\"uuid\":\"c0000000-0000-4000-8000-000000000002\",\"name\":\"kubernetes\","
	       "\"installMode\":\"AUTO\",\"newNodeInstallMode\":\"FULL\",\"softwareImageProxy\":"
	       "{\"parentSoftwareImage\":\"50000000-0000-4000-8000-000000000002\","
	       "\"revisionID\":-1},"
	       "\"managementNetwork\":\"e0000000-0000-4000-8000-000000000001\"}]";
}

const char *head_images(void)
{
	return "[{\"baseType\":\"SoftwareImage\","
	       "\"uuid\":\"50000000-0000-4000-8000-000000000001\",\"name\":"
	       "\"default-image\","
	       "\"path\":\"/cm/images/default-image\",\"fileOperationInProgress\":false},"
	       "{\"baseType\":\"SoftwareImage\","
	       "\"uuid\":\"50000000-0000-4000-8000-000000000002\",\"name\":"
	       "\"kubernetes-1.36\","
	       "\"path\":\"/cm/images/kubernetes-1.36\",\"fileOperationInProgress\":false}]";
}

const char *head_networks(void)
{
	return "[{\"baseType\":\"Network\","
	       "\"uuid\":\"e0000000-0000-4000-8000-000000000001\",\"name\":"
	       "\"internalnet\"},"
	       "{\"baseType\":\"Network\",\"uuid\":\"e0000000-0000-4000-8000-000000000002\","
	       "\"name\":\"ipminet\"}]";
}

/* --- device ----------------------------------------------------------------------------------- */

const char *head_member(const struct sim_head_node *n, const char *member, struct arena *a)
{
	struct exact o;
	struct err e;

	if (exact_read(n->text, strlen(n->text), &o, &e) < 0)
		return "";
	return str_or(exact_str_at(o, member, a), "");
}

static void set_text(char **slot, const char *text)
{
	char *copy = mem_strdup(text);

	free(*slot);
	*slot = copy;
}

void head_put(struct sim_head_node *n, const char *text)
{
	set_text(&n->before, n->text);
	set_text(&n->text, text);
}

void sim_head_set(struct sim_head_node *n, const char *member, const char *json)
{
	OWN(arena) a = arena_new();
	struct exact o;
	struct err e;
	const char *text = exact_read(n->text, strlen(n->text), &o, &e) < 0
				   ? NULL
				   : exact_with(o, member, json, a, &e);

	if (text)
		set_text(&n->text, text);
}

const char *sim_head_device(const struct sim_head_node *n)
{
	return n->text;
}

const char *sim_head_state(const struct sim_head_node *n)
{
	return phase_names[n->phase];
}

const char *head_status(const struct sim_head_node *n, struct arena *a)
{
	const char *text = n->phase == HEAD_INSTALLING ? install_texts[n->step]
			   : n->phase == HEAD_FAILED   ? n->failure
						       : "";

	return arena_printf(a, "{\"ref_device_uuid\":\"%s\",\"status\":\"%s%s\",\"message\":%s}",
			    n->uuid, phase_names[n->phase], n->closed ? "/CLOSED" : "",
			    exact_quote(text, a));
}

void sim_head_close(struct sim_head_node *n, bool closed)
{
	n->closed = closed;
}

/* --- power and boot --------------------------------------------------------------------------- */

static void become(struct sim_head_node *n, enum head_phase phase, int64_t ms)
{
	n->phase = phase;
	if (ms)
		loop_timer_start(&n->timer, ms);
	else
		loop_timer_stop(&n->timer);
}

static bool is_reached(const struct sim_head_node *n)
{
	return n->on && (!n->ops.reaches || n->ops.reaches(n->machine));
}

bool sim_head_boots(struct sim_head_node *n)
{
	if (!is_reached(n) || loop_timer_active(&n->head->back))
		return false;
	become(n, HEAD_BOOTING, n->head->boot_ms);
	return true;
}

void sim_head_powered(struct sim_head_node *n, bool on)
{
	n->on = on;
	become(n, HEAD_DOWN, 0);
	if (on && !n->ops.power)
		(void)sim_head_boots(n);
}

static void begin_install(struct sim_head_node *n)
{
	struct fault *f = head_fault(n->head, "InstallFails", "");

	n->step = 0;
	if (f) {
		str_copy(n->failure, sizeof(n->failure), str_or(f->text, "no disk was found"));
		become(n, HEAD_FAILED, 0);
		return;
	}
	become(n, HEAD_INSTALLING, n->head->install_ms / (int64_t)STEPS);
	if (head_fault(n->head, "InstallHangs", ""))
		become(n, HEAD_INSTALLING, 0);
}

void head_begin_again(struct sim_head_node *n)
{
	if (n->phase == HEAD_INSTALLING || n->phase == HEAD_BOOTING)
		become(n, HEAD_BOOTING, n->head->boot_ms);
}

static void install_done(struct sim_head_node *n)
{
	OWN(arena) a = arena_new();
	const char *category = head_member(n, "category", a);
	bool kubernetes = str_ends(category, "2");

	/* Clears these members, because the install mode is valid for one boot only. */
	sim_head_set(n, "nextBootInstallMode", "\"\"");
	sim_head_set(n, "blockDevicesClearedOnNextBoot", "[]");
	if (n->ops.installed)
		n->ops.installed(n->machine, kubernetes ? "kubernetes-1.36" : "default-image");
	become(n, HEAD_CALLINGINIT, n->head->boot_ms);
}

static void on_timer(void *arg)
{
	struct sim_head_node *n = arg;
	OWN(arena) a = arena_new();

	if (loop_timer_active(&n->head->back)) {
		/* Waits and tries again, because no node proceeds while the daemon is down. */
		loop_timer_start(&n->timer, n->head->boot_ms);
		return;
	}
	if (!is_reached(n)) {
		become(n, HEAD_DOWN, 0);
		return;
	}
	switch (n->phase) {
	case HEAD_BOOTING:
		if (str_eq(head_member(n, "nextBootInstallMode", a), "FULL"))
			begin_install(n);
		else
			become(n, HEAD_UP, 0);
		break;
	case HEAD_INSTALLING:
		if (++n->step < STEPS)
			become(n, HEAD_INSTALLING, n->head->install_ms / (int64_t)STEPS);
		else
			install_done(n);
		break;
	case HEAD_CALLINGINIT:
		become(n, HEAD_UP, 0);
		break;
	case HEAD_DOWN:
	case HEAD_UP:
	case HEAD_FAILED:
		break;
	}
}

static void switch_to(struct sim_head_node *n, bool on)
{
	if (n->ops.power)
		n->ops.power(n->machine, on);
	else
		sim_head_powered(n, on);
}

void head_power(struct sim_head_node *n, const char *operation)
{
	if (str_eq(operation, "ON") && !n->on)
		switch_to(n, true);
	else if (str_eq(operation, "OFF"))
		switch_to(n, false);
	else if (str_eq(operation, "RESET") || str_eq(operation, "CYCLE")) {
		switch_to(n, false);
		switch_to(n, true);
	}
}

/* --- start and end ---------------------------------------------------------------------------- */

/* Returns the text of a new device. It contains members that the simulator does not read, and
 * numbers that a double cannot represent: a client must write them back unchanged. */
static char *new_device(const struct sim_head_node *n, unsigned number, const char *mac,
			const char *bmc, bool is_11)
{
	return mem_printf(
		"{\"baseType\":\"Device\","
		"\"childType\":\"PhysicalNode\",\"uuid\":\"%s\",\"hostname\":\"%s\","
		"\"mac\":\"%s\","
		"\"category\":\"c0000000-0000-4000-8000-000000000001\",\"partition\":\"base\","
		"\"managementNetwork\":\"e0000000-0000-4000-8000-000000000001\","
		"\"powerControl\":\"redfish\","
		"\"bmcSettings\":{\"baseType\":\"BMCSettings\","
		"\"userName\":\"CATEGORY\",\"password\":"
		"\"bmc-password-of-bcm\",\"userID\":-1,\"powerResetDelay\":0},\"interfaces\":["
		"{\"baseType\":\"NetworkInterface\","
		"\"childType\":\"NetworkBmcInterface\",\"name\":\"rf0\","
		"\"ip\":\"%s\","
		"\"network\":\"e0000000-0000-4000-8000-000000000002\",\"dhcp\":false},"
		"{\"baseType\":\"NetworkInterface\","
		"\"childType\":\"NetworkPhysicalInterface\",\"name\":\"BOOTIF\","
		"\"mac\":\"%s\","
		"\"ip\":\"10.141.%u.%u\",\"network\":\"e0000000-0000-4000-8000-000000000001\","
		"\"dhcp\":false,"
		"\"bootable\":true}],\"provisioningInterface\":\"BOOTIF\",\"installMode\":\"\","
		"\"nextBootInstallMode\":\"\","
		"\"blockDevicesClearedOnNextBoot\":[],\"dataNode\":false,\"notes\":\"\","
		"\"extra_values\":{\"site\":\"hall-a\"},"
		"\"roles\":[],%s,\"creationTime\":1764000000,"
		"\"priority\":1.50,"
		"\"serial\":18446744073709551615,\"revision\":\"\",\"modified\":false}",
		n->uuid, n->name, str_or(mac, "00:00:00:00:00:00"), str_or(bmc, "0.0.0.0"),
		str_or(mac, "00:00:00:00:00:00"), number / 250, number % 250 + 1,
		is_11 ? "\"rackPosition\":{\"rack\":\"A1\",\"height\":8}"
		      : "\"rack\":\"A1\",\"tag\":\"00000000a000\"");
}

struct sim_head_node *sim_head_add(struct sim_head *h, const char *name, const char *mac,
				   const char *bmc, const struct sim_head_machine *m, void *machine)
{
	struct sim_head_node *n = mem_new(struct sim_head_node);
	unsigned number = (unsigned)map_size(h->nodes) + 1;

	n->head = h;
	str_copy(n->name, sizeof(n->name), name);
	str_format(n->uuid, sizeof(n->uuid), "d0000000-0000-4000-8000-%012x", number);
	if (m)
		n->ops = *m;
	n->machine = machine;
	n->text = new_device(n, number, mac, bmc, !str_starts(h->version, "10."));
	loop_timer_init(&n->timer, h->group, on_timer, n);
	map_put(h->nodes, n->name, n);
	return n;
}

void head_node_free(void *node)
{
	struct sim_head_node *n = node;

	loop_timer_stop(&n->timer);
	free(n->text);
	free(n->before);
	free(n);
}
