/*
 * domain: reads and changes the XML of a libvirt domain.
 * Tests: tests/unit/providers/libvirt/test_domain.c
 */
#include "providers/libvirt/domain.h"

#include <libxml/tree.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "providers/libvirt/document.h"
#include "providers/libvirt/domain_impl.h"

const char *const domain_boot_names[] = {"disk", "media", "other"};

/* --- the tree --------------------------------------------------------------------------------- */

static bool is_named(const xmlNode *n, const char *name)
{
	return n->type == XML_ELEMENT_NODE && str_eq((const char *)n->name, name);
}

static xmlNode *child_of(const xmlNode *parent, const char *name)
{
	for (xmlNode *n = parent ? parent->children : NULL; n; n = n->next)
		if (is_named(n, name))
			return n;
	return NULL;
}

static xmlNode *next_of(const xmlNode *from, const char *name)
{
	for (xmlNode *n = from->next; n; n = n->next)
		if (is_named(n, name))
			return n;
	return NULL;
}

xmlNode *domain_add(xmlNode *parent, const char *name)
{
	return xmlNewChild(parent, NULL, (const xmlChar *)name, NULL);
}

xmlNode *domain_add_text(xmlNode *parent, const char *name, const char *text)
{
	return xmlNewTextChild(parent, NULL, (const xmlChar *)name, (const xmlChar *)text);
}

void domain_put(xmlNode *n, const char *attribute, const char *value)
{
	xmlSetProp(n, (const xmlChar *)attribute, (const xmlChar *)value);
}

static const char *text_of(const xmlNode *n, struct arena *a)
{
	xmlChar *text = n ? xmlNodeGetContent(n) : NULL;
	char *out = text && text[0] ? arena_strdup(a, (const char *)text) : NULL;

	xmlFree(text);
	if (out)
		str_clean(out);
	return out;
}

static const char *attribute_of(const xmlNode *n, const char *name, struct arena *a)
{
	xmlChar *text = n ? xmlGetNoNsProp(n, (const xmlChar *)name) : NULL;
	char *out = text && text[0] ? arena_strdup(a, (const char *)text) : NULL;

	xmlFree(text);
	if (out)
		str_clean(out);
	return out;
}

static bool attribute_is(const xmlNode *n, const char *name, const char *value)
{
	xmlChar *text = n ? xmlGetNoNsProp(n, (const xmlChar *)name) : NULL;
	bool is = str_eq((const char *)text, value);

	xmlFree(text);
	return is;
}

static void drop(xmlNode *n)
{
	xmlUnlinkNode(n);
	xmlFreeNode(n);
}

/* --- drover's own element --------------------------------------------------------------------- */

static xmlNode *root_of(const struct domain *d)
{
	return xmlDocGetRootElement(d->doc);
}

static xmlNode *own_of(const struct domain *d)
{
	const xmlNode *metadata = child_of(root_of(d), "metadata");

	for (xmlNode *n = metadata ? metadata->children : NULL; n; n = n->next)
		if (is_named(n, "machine") && n->ns && str_eq((const char *)n->ns->href, DOMAIN_NS))
			return n;
	return NULL;
}

xmlNode *domain_own(struct domain *d)
{
	xmlNode *own = own_of(d), *metadata = child_of(root_of(d), "metadata");

	if (own)
		return own;
	if (!metadata)
		metadata = domain_add(root_of(d), "metadata");
	own = xmlNewNode(NULL, (const xmlChar *)"machine");
	xmlSetNs(own, xmlNewNs(own, (const xmlChar *)DOMAIN_NS, (const xmlChar *)"drover"));
	xmlAddChild(metadata, own);
	return own;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Parses xml. Returns the document if its root element is named `root` and it has no DTD; NULL
 * otherwise. The caller frees. */
static xmlDoc *document_of(const char *xml, size_t len, const char *root)
{
	xmlDoc *doc = document_parse(xml, len, DOMAIN_XML_MAX);

	if (doc && is_named(xmlDocGetRootElement(doc), root))
		return doc;
	xmlFreeDoc(doc);
	return NULL;
}

struct domain *domain_parse(const char *xml, size_t len, struct err *e)
{
	xmlDoc *doc = document_of(xml, len, "domain");
	struct domain *d;

	if (!doc) {
		err_note(e, ERR_PROTOCOL, 0, "libvirt's XML is not that of a domain");
		return NULL;
	}
	d = mem_new(struct domain);
	d->doc = doc;
	return d;
}

void domain_free(struct domain *d)
{
	if (!d)
		return;
	xmlFreeDoc(d->doc);
	free(d);
}

static char *dumped(const struct domain *d, xmlNode *node)
{
	xmlBuffer *b = xmlBufferCreate();
	char *text;

	xmlNodeDump(b, d->doc, node, 0, 0);
	text = mem_strdup((const char *)xmlBufferContent(b));
	xmlBufferFree(b);
	return text;
}

char *domain_text(const struct domain *d)
{
	return dumped(d, root_of(d));
}

static xmlNode *slot_of(const struct domain *d)
{
	const xmlNode *devices = child_of(root_of(d), "devices");

	for (xmlNode *n = child_of(devices, "disk"); n; n = next_of(n, "disk"))
		if (attribute_is(n, "device", "cdrom"))
			return n;
	return NULL;
}

char *domain_slot_text(const struct domain *d)
{
	xmlNode *slot = slot_of(d);

	return slot ? dumped(d, slot) : NULL;
}

static bool is_disk(const xmlNode *n)
{
	return is_named(n, "disk") && !attribute_is(n, "device", "cdrom") &&
	       !attribute_is(n, "device", "floppy");
}

/* Returns the device with the lowest <boot order>; NULL: no device has a boot order. */
static const xmlNode *first_of_order(const xmlNode *devices, struct arena *a)
{
	const xmlNode *first = NULL;
	int64_t least = INT64_MAX, order;

	for (const xmlNode *n = devices ? devices->children : NULL; n; n = n->next) {
		const xmlNode *boot = n->type == XML_ELEMENT_NODE ? child_of(n, "boot") : NULL;

		if (boot &&
		    str_to_i64(str_or(attribute_of(boot, "order", a), ""), 1, INT32_MAX, &order) &&
		    order < least) {
			least = order;
			first = n;
		}
	}
	return first;
}

/* True if every <boot order> is a positive number. libvirt numbers from 1, so any other value was
 * not written by libvirt. */
static bool orders_are_numbers(const xmlNode *devices, struct arena *a)
{
	int64_t order;

	for (const xmlNode *n = devices ? devices->children : NULL; n; n = n->next) {
		const xmlNode *boot = n->type == XML_ELEMENT_NODE ? child_of(n, "boot") : NULL;
		const char *text = attribute_of(boot, "order", a);

		if (text && !str_to_i64(text, 1, INT32_MAX, &order))
			return false;
	}
	return true;
}

static enum domain_boot boot_of(const struct domain *d, struct arena *a)
{
	const xmlNode *os = child_of(child_of(root_of(d), "os"), "boot");
	const xmlNode *device = first_of_order(child_of(root_of(d), "devices"), a);

	if (device)
		return attribute_is(device, "device", "cdrom") ? DOMAIN_BOOT_MEDIA
		       : is_disk(device)		       ? DOMAIN_BOOT_DISK
							       : DOMAIN_BOOT_OTHER;
	if (!os || attribute_is(os, "dev", "hd"))
		return DOMAIN_BOOT_DISK;
	return attribute_is(os, "dev", "cdrom") ? DOMAIN_BOOT_MEDIA : DOMAIN_BOOT_OTHER;
}

static const char *serial_of(const struct domain *d, struct arena *a)
{
	const xmlNode *system = child_of(child_of(root_of(d), "sysinfo"), "system");

	for (const xmlNode *n = child_of(system, "entry"); n; n = next_of(n, "entry"))
		if (attribute_is(n, "name", "serial"))
			return text_of(n, a);
	return NULL;
}

const char *domain_media_volume(struct arena *a, const char *uuid)
{
	return arena_printf(a, "drover-%s.iso", uuid);
}

int domain_read(const struct domain *d, struct arena *a, struct domain_facts *f, struct err *e)
{
	const xmlNode *root = root_of(d), *own = own_of(d), *slot = slot_of(d);
	const xmlNode *source = slot ? child_of(slot, "source") : NULL;
	const char *fence = attribute_of(own, "fence", a);
	struct domain_facts found = {
		.name = text_of(child_of(root, "name"), a),
		.uuid = text_of(child_of(root, "uuid"), a),
		.serial = serial_of(d, a),
		.boot = boot_of(d, a),
		.inserted = source && source->properties,
		.pool = attribute_of(source, "pool", a),
		.volume = attribute_of(source, "volume", a),
		.provider = attribute_of(own, "provider", a),
		.machine = attribute_of(own, "machine", a),
	};

	if (!found.name || !found.uuid)
		return err_set(e, ERR_PROTOCOL, 0,
			       "libvirt's XML contains a domain without a name or a UUID");
	if (fence && !str_to_i64(fence, 0, INT64_MAX, &found.fence))
		return err_set(e, ERR_PROTOCOL, 0,
			       "domain %.100s: the fence in its metadata is not a number",
			       found.name);
	if (!orders_are_numbers(child_of(root, "devices"), a))
		return err_set(e, ERR_PROTOCOL, 0,
			       "domain %.100s: the boot order of a device is not a positive number",
			       found.name);
	if (found.inserted && str_eq(found.volume, domain_media_volume(a, found.uuid)))
		found.media_url = attribute_of(own, "media", a);
	*f = found;
	return 0;
}

/* --- changing --------------------------------------------------------------------------------- */

void domain_set_fence(struct domain *d, int64_t fence)
{
	char text[24];

	str_format(text, sizeof(text), "%lld", (long long)fence);
	domain_put(domain_own(d), "fence", text);
}

/* Writes a target name that no disk uses, e.g. "sdb". */
static void free_target(const xmlNode *devices, char out[static 4])
{
	str_copy(out, 4, "sda");
	for (char letter = 'a'; letter <= 'z'; letter++) {
		bool taken = false;

		out[2] = letter;
		for (const xmlNode *n = child_of(devices, "disk"); n; n = next_of(n, "disk"))
			taken = taken || attribute_is(child_of(n, "target"), "dev", out);
		if (!taken)
			return;
	}
}

xmlNode *domain_add_slot(struct domain *d)
{
	xmlNode *devices = child_of(root_of(d), "devices"), *slot, *n;
	char target[4];

	if (!devices)
		devices = domain_add(root_of(d), "devices");
	free_target(devices, target);
	slot = domain_add(devices, "disk");
	domain_put(slot, "type", "volume");
	domain_put(slot, "device", "cdrom");
	n = domain_add(slot, "driver");
	domain_put(n, "name", "qemu");
	domain_put(n, "type", "raw");
	n = domain_add(slot, "target");
	domain_put(n, "dev", target);
	domain_put(n, "bus", "sata");
	domain_add(slot, "readonly");
	return slot;
}

void domain_eject(struct domain *d)
{
	xmlNode *own = own_of(d), *slot = slot_of(d), *source = child_of(slot, "source");

	if (own)
		xmlUnsetProp(own, (const xmlChar *)"media");
	if (source)
		drop(source);
	if (slot) {
		xmlNode *chain = child_of(slot, "backingStore");

		if (chain)
			drop(chain);
		domain_put(slot, "type", "file"); /* "file" is libvirt's type of an empty slot. */
	}
}

void domain_insert(struct domain *d, const char *pool, const char *volume, const char *url)
{
	xmlNode *slot = slot_of(d), *source, *target;

	domain_eject(d);
	if (!slot)
		slot = domain_add_slot(d);
	domain_put(slot, "type", "volume");
	source = xmlNewNode(NULL, (const xmlChar *)"source");
	domain_put(source, "pool", pool);
	domain_put(source, "volume", volume);
	target = child_of(slot, "target");
	if (target)
		xmlAddPrevSibling(target, source);
	else
		xmlAddChild(slot, source);
	domain_put(domain_own(d), "media", url);
}

/* Renumbers the <boot order> of the devices: the slot first if media is true, then disks, then
 * other devices, each group in its present order. Apart from the slot, a device without a boot
 * order gets none. The other CD-ROM drives lose their boot order; without media, the slot loses it
 * too. */
static void order_devices(struct domain *d, bool media, struct arena *a)
{
	xmlNode *devices = child_of(root_of(d), "devices");
	const xmlNode *slot = slot_of(d);
	struct turn {
		int64_t order;
		int rank;
		xmlNode *boot;
	} * turns;
	size_t n = 0, most = 0;
	char text[24];

	for (xmlNode *x = devices->children; x; x = x->next)
		most++;
	turns = arena_alloc(a, (most + 1) * sizeof(*turns));
	for (xmlNode *x = devices->children; x; x = x->next) {
		xmlNode *boot = x->type == XML_ELEMENT_NODE ? child_of(x, "boot") : NULL;
		struct turn t = {.boot = boot};

		if (attribute_is(x, "device", "cdrom") && is_named(x, "disk") &&
		    !(media && x == slot)) {
			if (boot)
				drop(boot);
			continue;
		}
		if (x == slot && !boot)
			t.boot = boot = domain_add(x, "boot");
		if (!boot)
			continue;
		t.rank = x == slot ? 0 : is_disk(x) ? 1 : 2;
		if (!str_to_i64(str_or(attribute_of(boot, "order", a), ""), 0, INT32_MAX, &t.order))
			t.order = INT32_MAX;
		size_t at = n++;
		for (; at > 0 && (turns[at - 1].rank > t.rank ||
				  (turns[at - 1].rank == t.rank && turns[at - 1].order > t.order));
		     at--)
			turns[at] = turns[at - 1];
		turns[at] = t;
	}
	for (size_t i = 0; i < n; i++) {
		str_format(text, sizeof(text), "%zu", i + 1);
		domain_put(turns[i].boot, "order", text);
	}
}

/* Sorts the <os><boot dev> elements: cdrom first (if media) or removed, then hd, then the others in
 * their present order. */
static void order_kinds(struct domain *d, bool media)
{
	xmlNode *os = child_of(root_of(d), "os"), *next, *hd = NULL, *first;

	if (!os)
		os = domain_add(root_of(d), "os");
	for (xmlNode *n = child_of(os, "boot"); n; n = next) {
		next = next_of(n, "boot");
		if (attribute_is(n, "dev", "hd"))
			hd = n;
		else if (!attribute_is(n, "dev", "cdrom"))
			continue;
		xmlUnlinkNode(n);
		if (n != hd)
			xmlFreeNode(n);
	}
	if (!hd) {
		hd = xmlNewNode(NULL, (const xmlChar *)"boot");
		domain_put(hd, "dev", "hd");
	}
	first = child_of(os, "boot");
	if (first)
		xmlAddPrevSibling(first, hd);
	else
		xmlAddChild(os, hd);
	if (media) {
		xmlNode *cdrom = xmlNewNode(NULL, (const xmlChar *)"boot");

		domain_put(cdrom, "dev", "cdrom");
		xmlAddPrevSibling(hd, cdrom);
	}
}

void domain_set_boot(struct domain *d, bool media)
{
	OWN(arena) a = arena_new();

	if (media && !slot_of(d)) {
		domain_add_slot(d);
		domain_eject(d);
	}
	if (first_of_order(child_of(root_of(d), "devices"), a))
		order_devices(d, media, a);
	else
		order_kinds(d, media);
}

/* --- capabilities ----------------------------------------------------------------------------- */

/* Parses a DAC label "+UID:+GID", e.g. "+64055:+64055", into *out. False: label has another
 * form. */
static bool user_of(const char *label, struct arena *a, struct domain_user *out)
{
	const char *colon = label && label[0] == '+' ? strstr(label, ":+") : NULL;

	return colon &&
	       str_to_i64(arena_strndup(a, label + 1, (size_t)(colon - label - 1)), 0, UINT32_MAX,
			  &out->uid) &&
	       str_to_i64(colon + 2, 0, UINT32_MAX, &out->gid);
}

bool domain_qemu_user(const char *capabilities, size_t len, struct domain_user *out)
{
	xmlDoc *doc = document_of(capabilities, len, "capabilities");
	OWN(arena) a = arena_new();
	const xmlNode *host = doc ? child_of(xmlDocGetRootElement(doc), "host") : NULL;
	struct domain_user found = {0};
	bool known = false;

	for (const xmlNode *n = child_of(host, "secmodel"); n && !known; n = next_of(n, "secmodel"))
		known = str_eq(text_of(child_of(n, "model"), a), "dac") &&
			user_of(text_of(child_of(n, "baselabel"), a), a, &found);
	xmlFreeDoc(doc);
	if (known)
		*out = found;
	return known;
}
