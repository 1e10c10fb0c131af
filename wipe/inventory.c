#include "wipe/inventory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "wipe/ata.h"
#include "wipe/controllers.h"

static const char *dmi(const struct host *h, struct arena *a, const char *name)
{
	return host_line(a, "%s/class/dmi/id/%s", h->sys, name);
}

void inventory_dmi(const struct host *h, struct arena *a, struct proto_dmi *out)
{
	const char *uuid = dmi(h, a, "product_uuid");

	out->serial = dmi(h, a, "product_serial");
	out->manufacturer = dmi(h, a, "sys_vendor");
	out->product = dmi(h, a, "product_name");
	if (uuid) {
		char *lower = arena_strdup(a, uuid);

		for (char *c = lower; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		out->system_uuid = lower;
	}
}

static int64_t count_cpus(const struct host *h, struct arena *a)
{
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/devices/system/cpu", h->sys), &names);
	int64_t cpus = 0;

	for (size_t i = 0; i < n; i++)
		cpus += str_starts(names[i], "cpu") && isdigit((unsigned char)names[i][3]);
	return cpus;
}

/* Returns the size of the memory in bytes, from the first line of /proc/meminfo, "MemTotal:
 * 16307348 kB". */
static int64_t memory_bytes(const struct host *h, struct arena *a)
{
	const char *line = host_line(a, "%s/meminfo", h->proc);
	long long kib = 0;

	return line && sscanf(line, "MemTotal: %lld", &kib) == 1 && kib > 0 ? kib * 1024 : 0;
}

static void read_nics(const struct host *h, struct arena *a, struct proto_inventory *out)
{
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/class/net", h->sys), &names);

	out->nics.v = arena_calloc(a, n + 1, sizeof(*out->nics.v));
	for (size_t i = 0; i < n; i++) {
		struct proto_nic *p = &out->nics.v[out->nics.n];

		/* Skips an interface without a device, which is loopback, a bridge or a tunnel. */
		if (!host_link(a, "%s/class/net/%s/device", h->sys, names[i]))
			continue;
		p->name = names[i];
		p->mac = host_line(a, "%s/class/net/%s/address", h->sys, names[i]);
		p->driver = host_link(a, "%s/class/net/%s/device/driver", h->sys, names[i]);
		p->link = host_number(0, "%s/class/net/%s/carrier", h->sys, names[i]) == 1;
		p->mbit = host_number(0, "%s/class/net/%s/speed", h->sys, names[i]);
		if (p->mbit < 0)
			p->mbit = 0;
		out->nics.n++;
	}
}

/* True for the small display controllers of BMCs and virtual machines, which are not GPUs. */
static bool is_console(const char *vendor)
{
	static const char *const consoles[] = {"1a03" /* ASPEED */, "102b" /* Matrox */,
					       "1234" /* Bochs */, "1b36" /* QXL */,
					       "1013" /* Cirrus */};

	for (size_t i = 0; i < sizeof(consoles) / sizeof(*consoles); i++)
		if (str_eq(vendor, consoles[i]))
			return true;
	return false;
}

static void read_gpus(const struct host *h, struct arena *a, struct proto_inventory *out)
{
	const char **names;
	size_t n = host_names(a, arena_printf(a, "%s/bus/pci/devices", h->sys), &names);

	out->gpus.v = arena_calloc(a, n + 1, sizeof(*out->gpus.v));
	for (size_t i = 0; i < n; i++) {
		const char *class = host_line(a, "%s/bus/pci/devices/%s/class", h->sys, names[i]);
		const char *vendor = host_line(a, "%s/bus/pci/devices/%s/vendor", h->sys, names[i]);
		const char *device = host_line(a, "%s/bus/pci/devices/%s/device", h->sys, names[i]);

		if (!class || !vendor || !device || !str_starts(class, "0x03") ||
		    !str_starts(vendor, "0x") || !str_starts(device, "0x") ||
		    is_console(vendor + 2))
			continue;
		out->gpus.v[out->gpus.n++] =
			(struct proto_gpu){.address = names[i],
					   .id = arena_printf(a, "%s:%s", vendor + 2, device + 2)};
	}
}

void inventory_read(const struct host *h, struct arena *a, struct proto_inventory *out)
{
	struct drive_list drives;

	memset(out, 0, sizeof(*out));
	inventory_dmi(h, a, &out->dmi);
	out->cpus = count_cpus(h, a);
	out->memory_bytes = memory_bytes(h, a);
	read_nics(h, a, out);
	read_gpus(h, a, out);
	controllers_scan(h, a, out);
	ata_scan(h, a, &drives);
	out->drives.v = drives.v;
	out->drives.n = drives.n;
}
