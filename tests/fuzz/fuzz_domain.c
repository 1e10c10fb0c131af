#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/str.h"
#include "providers/libvirt/domain.h"

/* Parses the input as the XML of a libvirt domain. Asserts that a parsed domain can be changed, and
 * then contains what was added. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define URL "http://127.0.0.1/boot/a.iso"

static void must(int ok)
{
	if (!ok)
		abort();
}

static void read_again(const struct domain *d, struct arena *a, struct domain_facts *f)
{
	char *text = domain_text(d);
	struct err e;
	struct domain *again = domain_parse(text, strlen(text), &e);

	must(again != NULL && domain_read(again, a, f, &e) == 0);
	domain_free(again);
	free(text);
}

static void change(struct domain *d, struct arena *a, const struct domain_facts *was)
{
	struct domain_facts f;

	domain_set_fence(d, 7);
	domain_insert(d, "pool", domain_media_volume(a, was->uuid), URL);
	domain_set_boot(d, true);
	read_again(d, a, &f);
	must(f.inserted && f.fence == 7 && f.boot == DOMAIN_BOOT_MEDIA);
	must(str_eq(f.uuid, was->uuid) && str_eq(f.name, was->name));
	domain_eject(d);
	domain_set_boot(d, false);
	read_again(d, a, &f);
	must(!f.inserted && !f.media_url && f.boot != DOMAIN_BOOT_MEDIA);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct arena *a = arena_new();
	struct err e;
	struct domain *d = domain_parse((const char *)data, size, &e);
	struct domain_facts f;
	struct domain_user user;

	if (d && domain_read(d, a, &f, &e) == 0)
		change(d, a, &f);
	domain_free(d);
	(void)domain_qemu_user((const char *)data, size, &user);
	arena_free(a);
	return 0;
}
