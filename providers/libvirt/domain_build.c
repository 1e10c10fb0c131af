/*
 * domain_build: builds the XML of a domain from a template, and the XML of a volume.
 * Tests: tests/unit/providers/libvirt/test_domain.c
 */
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "providers/libvirt/domain_impl.h"

#define QEMU_NS "http://libvirt.org/schemas/domain/qemu/1.0"
/* NVME_SLOT: PCI slot of the first NVMe drive; libvirt leaves this slot and the next ones of the
 * root bus free on q35. NVME_INDEX: boot index of the first NVMe drive, above the boot indices that
 * libvirt assigns. */
#define NVME_SLOT 0x10
#define NVME_INDEX 10

const char *const domain_bus_names[] = {"sata", "nvme"};

static xmlNode *add_with(xmlNode *parent, const char *name, const char *attribute,
			 const char *value)
{
	xmlNode *n = domain_add(parent, name);

	domain_put(n, attribute, value);
	return n;
}

static xmlNode *add_number(xmlNode *parent, const char *name, int64_t number)
{
	char text[24];

	str_format(text, sizeof(text), "%lld", (long long)number);
	return domain_add_text(parent, name, text);
}

const char *domain_drive_volume(struct arena *a, const char *name, size_t drive)
{
	return arena_printf(a, "%s-drive%zu.raw", name, drive);
}

/* Returns the last twelve digits of the machine's UUID, for serial numbers and the MAC address:
 * constant, and different for each machine. */
static const char *digits(const struct domain_template *t, struct arena *a)
{
	return arena_strdup(a, strlen(t->uuid) == 36 ? t->uuid + 24 : "000000000000");
}

static void put_os(xmlNode *root, bool test)
{
	xmlNode *os = domain_add(root, "os"), *n;

	if (!test)
		domain_put(os, "firmware", "efi");
	n = domain_add_text(os, "type", "hvm");
	domain_put(n, "arch", test ? "i686" : "x86_64");
	if (!test) {
		domain_put(n, "machine", "q35");
		n = domain_add(domain_add(os, "firmware"), "feature");
		domain_put(n, "enabled", "no");
		domain_put(n, "name", "secure-boot");
		add_with(os, "smbios", "mode", "sysinfo");
	}
	add_with(os, "boot", "dev", "hd");
}

static void put_sysinfo(xmlNode *root, const struct domain_template *t, struct arena *a)
{
	xmlNode *sysinfo = add_with(root, "sysinfo", "type", "smbios"), *system, *n;
	const struct {
		const char *name, *text;
	} entries[] = {{"manufacturer", "drover"},
		       {"product", "libvirt machine"},
		       {"serial", arena_printf(a, "VM%s", digits(t, a))},
		       {"uuid", t->uuid}};

	system = domain_add(sysinfo, "system");
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		n = domain_add_text(system, "entry", entries[i].text);
		domain_put(n, "name", entries[i].name);
	}
}

static void put_sata(xmlNode *devices, const struct domain_template *t, size_t i, struct arena *a)
{
	xmlNode *disk = add_with(devices, "disk", "type", "volume"), *n;
	char target[] = "sda";

	target[2] = (char)('a' + i);
	domain_put(disk, "device", "disk");
	n = add_with(disk, "driver", "name", "qemu");
	domain_put(n, "type", "raw");
	domain_put(n, "discard", "unmap");
	domain_put(n, "detect_zeroes", "unmap");
	n = add_with(disk, "source", "pool", t->pool);
	domain_put(n, "volume", domain_drive_volume(a, t->name, i));
	n = add_with(disk, "target", "dev", target);
	domain_put(n, "bus", "sata");
	domain_put(n, "rotation_rate", "1"); /* Value that solid-state drives report. */
	domain_add_text(disk, "serial", arena_printf(a, "%s%zu", digits(t, a), i));
}

static void put_argument(xmlNode *commandline, const char *text)
{
	xmlNode *n = xmlNewChild(commandline, commandline->ns, (const xmlChar *)"arg", NULL);

	domain_put(n, "value", text);
}

/* Returns path with each comma doubled, as QEMU's options require (qemu(1)). */
static const char *quoted(struct arena *a, const char *path)
{
	char *out = arena_alloc(a, 2 * strlen(path) + 1), *to = out;

	for (; *path; path++) {
		*to++ = *path;
		if (*path == ',')
			*to++ = ',';
	}
	*to = '\0';
	return out;
}

static void put_nvme(xmlNode *commandline, const struct domain_template *t, size_t i,
		     struct arena *a)
{
	put_argument(commandline, "-drive");
	put_argument(commandline,
		     arena_printf(a,
				  "if=none,id=drover%zu,file=%s,format=raw,discard=unmap,"
				  "detect-zeroes=unmap",
				  i, quoted(a, t->drives[i].path)));
	put_argument(commandline, "-device");
	put_argument(commandline,
		     arena_printf(a, "nvme,serial=%s%zu,drive=drover%zu,addr=%#zx,bootindex=%zu",
				  digits(t, a), i, i, NVME_SLOT + i, NVME_INDEX + i));
}

static void put_card(xmlNode *devices, const struct domain_template *t, struct arena *a)
{
	const char *tail = digits(t, a) + 6;
	xmlNode *card = domain_add(devices, "interface");

	domain_put(card, "type", t->network ? "network" : t->bridge ? "bridge" : "user");
	add_with(card, "mac", "address",
		 arena_printf(a, "52:54:00:%.2s:%.2s:%.2s", tail, tail + 2, tail + 4));
	if (t->network)
		add_with(card, "source", "network", t->network);
	else if (t->bridge)
		add_with(card, "source", "bridge", t->bridge);
	add_with(card, "model", "type", "virtio");
	add_with(card, "rom", "enabled",
		 /* Leave out the ROM for network boot, which drover does not use here, so that the
		  * firmware starts faster. */
		 "no");
}

static void put_console(xmlNode *devices)
{
	xmlNode *serial = add_with(devices, "serial", "type", "pty"),
		*console = add_with(devices, "console", "type", "pty");

	add_with(serial, "target", "port", "0");
	add_with(console, "target", "type", "serial");
}

static void put_devices(struct domain *d, xmlNode *root, const struct domain_template *t, bool test,
			struct arena *a)
{
	xmlNode *devices = domain_add(root, "devices"), *commandline = NULL, *n;

	for (size_t i = 0; i < t->ndrives; i++) {
		if (t->drives[i].bus == DOMAIN_BUS_SATA) {
			put_sata(devices, t, i, a);
			continue;
		}
		if (!commandline) {
			commandline = domain_add(root, "commandline");
			xmlSetNs(commandline,
				 xmlNewNs(root, (const xmlChar *)QEMU_NS, (const xmlChar *)"qemu"));
		}
		put_nvme(commandline, t, i, a);
	}
	domain_add_slot(d);
	domain_eject(d);
	put_card(devices, t, a);
	put_console(devices);
	if (!test) {
		n = domain_add_text(add_with(devices, "rng", "model", "virtio"), "backend",
				    "/dev/urandom");
		domain_put(n, "model", "random");
	}
}

struct domain *domain_build(const struct domain_template *t)
{
	struct domain *d = mem_new(struct domain);
	OWN(arena) a = arena_new();
	bool test = str_eq(t->type, "test");
	xmlNode *root = xmlNewNode(NULL, (const xmlChar *)"domain"), *own, *n;

	d->doc = xmlNewDoc((const xmlChar *)"1.0");
	xmlDocSetRootElement(d->doc, root);
	domain_put(root, "type", t->type);
	domain_add_text(root, "name", t->name);
	domain_add_text(root, "uuid", t->uuid);
	own = domain_own(d);
	domain_put(own, "provider", t->provider);
	domain_put(own, "machine", t->machine);
	n = add_number(root, "memory", t->memory_bytes);
	domain_put(n, "unit", "b");
	add_number(root, "vcpu", t->cpus);
	put_sysinfo(root, t, a);
	put_os(root, test);
	if (!test) {
		n = domain_add(root, "features");
		domain_add(n, "acpi");
		domain_add(n, "apic");
		if (str_eq(t->type, "kvm"))
			add_with(root, "cpu", "mode", "host-passthrough");
	}
	add_with(root, "clock", "offset", "utc");
	put_devices(d, root, t, test, a);
	return d;
}

char *domain_volume_text(const char *name, int64_t bytes, const struct domain_user *owner)
{
	xmlNode *root = xmlNewNode(NULL, (const xmlChar *)"volume"), *n, *target;
	struct domain d = {.doc = xmlNewDoc((const xmlChar *)"1.0")};
	char *text;

	xmlDocSetRootElement(d.doc, root);
	domain_add_text(root, "name", name);
	n = add_number(root, "capacity", bytes);
	domain_put(n, "unit", "bytes");
	add_number(root, "allocation", 0);
	target = domain_add(root, "target");
	add_with(target, "format", "type", "raw");
	n = domain_add(target, "permissions");
	domain_add_text(n, "mode", "0600");
	if (owner) {
		add_number(n, "owner", owner->uid);
		add_number(n, "group", owner->gid);
	}
	text = domain_text(&d);
	xmlFreeDoc(d.doc);
	return text;
}
