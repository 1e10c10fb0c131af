#include "wipe/controllers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/str.h"
#include "wipe/dio.h"
#include "wipe/nvme.h"

#define NAP_MS 100
/* Longest wait for a controller to start, in ms. CAP.TO allows 127.5 s, but a drive that needs a
 * minute is faulty. */
#define START_MS 60000

/* True for the management port of a PCIe switch, which has the class of a storage controller and no
 * drives. */
static bool is_switch_port(const char *id)
{
	static const char *const ports[] = {
		/* Names: "PCIe Switch management endpoint" (pci.ids); "Atlas PCIe Switch Management
		 * Port" (Linux, mpt3sas_base.h) */
		"1000:00b2", "1000:02b0", /* Name: "Virtual Endpoint on PCIe Switch" (pci.ids) */
	};

	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++)
		if (str_eq(id, ports[i]))
			return true;
	return false;
}

/* Opens the controller's character device, such as /dev/nvme0. -1 with *e. */
static int open_nvme(const struct host *h, const char *name, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", h->dev, name);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(e, errno, "%s", path);
	if (fstat(fd, &st) == 0 && (S_ISCHR(st.st_mode) || h->files_are_drives))
		return fd;
	close(fd);
	return err_set(e, ERR_INVALID, 0, "%s is not a character device", path);
}

/* Returns the controller's state. Waits while the controller is being started or reset. */
static const char *settled_state(const struct host *h, struct arena *a, const char *dir)
{
	struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
	const char *state = host_line(a, "%s/state", dir);

	for (int waited = 0; h->settle && waited < START_MS; waited += NAP_MS) {
		if (!str_eq(state, "new") && !str_eq(state, "resetting") &&
		    !str_eq(state, "connecting"))
			break;
		nanosleep(&nap, NULL);
		state = host_line(a, "%s/state", dir);
	}
	return state;
}

static int wake_nvme(const struct host *h, struct arena *a, const char *address, struct err *e)
{
	const char *pci = arena_printf(a, "%s/bus/pci/devices/%s/nvme", h->sys, address);
	const char **names, *dir, *state;
	void *page;
	int fd, rc;

	if (!host_names(a, pci, &names))
		return err_set(e, ERR_NOT_FOUND, 0, "the controller did not come up");
	dir = arena_printf(a, "%s/%s", pci, names[0]);
	state = settled_state(h, a, dir);
	if (!str_eq(state, "live"))
		return err_set(e, ERR_UNAVAILABLE, 0, "the controller is %s",
			       str_or(state, "gone"));
	if (!h->nvme_admin)
		return 0;
	fd = open_nvme(h, names[0], e);
	if (fd < 0)
		return -1;
	page = dio_buffer(NVME_PAGE);
	rc = nvme_show_all(h, dir, fd, page, e);
	free(page);
	close(fd);
	return rc;
}

void controllers_scan(const struct host *h, struct arena *a, struct proto_inventory *out)
{
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/bus/pci/devices", h->sys), &names);

	out->controllers.n = 0;
	out->controllers.v = arena_calloc(a, PROTO_CONTROLLERS_MAX, sizeof(*out->controllers.v));
	for (size_t i = 0; i < n; i++) {
		const char *class = host_line(a, "%s/bus/pci/devices/%s/class", h->sys, names[i]);
		const char *vendor = host_line(a, "%s/bus/pci/devices/%s/vendor", h->sys, names[i]);
		const char *device = host_line(a, "%s/bus/pci/devices/%s/device", h->sys, names[i]);
		struct proto_controller *c = &out->controllers.v[out->controllers.n];
		struct err e;

		if (!class || !vendor || !device || !str_starts(class, "0x01") ||
		    !str_starts(vendor, "0x") || !str_starts(device, "0x"))
			continue;
		*c = (struct proto_controller){
			.address = names[i],
			.id = arena_printf(a, "%s:%s", vendor + 2, device + 2),
			.class = class + 2,
			.driver = host_link(a, "%s/bus/pci/devices/%s/driver", h->sys, names[i]),
		};
		if (is_switch_port(c->id))
			continue;
		if (str_starts(c->class, "0108") && c->driver && wake_nvme(h, a, names[i], &e) < 0)
			c->fault = arena_strdup(a, e.text);
		if (++out->controllers.n < PROTO_CONTROLLERS_MAX)
			continue;
		c->fault = "the machine has more storage controllers than an inventory can list";
		return;
	}
}

const struct proto_controller *controllers_fault(const struct proto_inventory *inv)
{
	for (size_t i = 0; i < inv->controllers.n; i++)
		if (inv->controllers.v[i].fault)
			return &inv->controllers.v[i];
	return NULL;
}
