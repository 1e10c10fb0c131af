#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/str.h"
#include "providers/libvirt/domain.h"

#define UUID "4c4c4544-0035-3410-8050-c6c04f314733"
#define HEAD "<domain type='kvm'><name>gpu-1</name><uuid>" UUID "</uuid>"
#define SYSINFO                                                                                    \
	"<sysinfo type='smbios'><system><entry name='serial'>CN77</entry></system></sysinfo>"
#define URL "http://10.0.8.2:8080/boot/5f1c&a=<b>'\"/drover-agent.iso"

static struct domain *parsed(const char *xml)
{
	struct err e;
	struct domain *d = domain_parse(xml, strlen(xml), &e);

	if (!d)
		fail_msg("%s", e.text);
	return d;
}

/* Writes the domain as text and returns the facts that are read from this text. */
static struct domain_facts read_of(const struct domain *d, struct arena *a)
{
	char *text = domain_text(d);
	OWN(domain) again = parsed(text);
	struct domain_facts f = {0};
	struct err e;

	assert_ok(domain_read(again, a, &f, &e), &e);
	free(text);
	return f;
}

static bool says(const struct domain *d, const char *part)
{
	char *text = domain_text(d);
	bool has = strstr(text, part) != NULL;

	free(text);
	return has;
}

static void the_facts_are_read(void **state)
{
	OWN(arena) a = arena_new();
	OWN(domain) d = parsed(HEAD SYSINFO "<os><boot dev='network'/></os><devices/></domain>");
	struct domain_facts f = read_of(d, a);

	(void)state;
	assert_string_equal(f.name, "gpu-1");
	assert_string_equal(f.uuid, UUID);
	assert_string_equal(f.serial, "CN77");
	assert_int_equal(f.boot, DOMAIN_BOOT_OTHER);
	assert_false(f.inserted);
	assert_int_equal(f.fence, 0);
	assert_null(f.media_url);
	assert_null(f.provider);
}

static void a_medium_comes_and_goes_and_the_rest_stays(void **state)
{
	OWN(arena) a = arena_new();
	OWN(domain)
	d = parsed(HEAD "<metadata><x:y xmlns:x='urn:x'>theirs</x:y></metadata><devices>"
			"<disk type='file' device='disk'><source file='/a'/>"
			"<target dev='sda' bus='sata'/></disk>"
			"<disk type='file' device='cdrom'><target dev='sdb' bus='sata'/></disk>"
			"<graphics type='vnc' passwd='kept'/></devices></domain>");
	struct domain_facts f;

	(void)state;
	domain_insert(d, "default", domain_media_volume(a, UUID), URL);
	domain_set_fence(d, 7);
	f = read_of(d, a);
	assert_true(f.inserted);
	assert_string_equal(f.pool, "default");
	assert_string_equal(f.volume, "drover-" UUID ".iso");
	assert_string_equal(f.media_url, URL);
	assert_int_equal(f.fence, 7);
	domain_insert(d, "default", domain_media_volume(a, UUID), "http://other/");
	assert_string_equal(read_of(d, a).media_url, "http://other/");
	domain_eject(d);
	domain_eject(d);
	f = read_of(d, a);
	assert_false(f.inserted);
	assert_null(f.media_url);
	assert_int_equal(f.fence, 7);
	assert_true(says(d, "theirs") && says(d, "passwd=\"kept\"") && says(d, "file=\"/a\""));
}

/* A medium that an operator put into the slot has a different file, so drover's URL in the metadata
 * does not apply to it. */
static void a_medium_by_hand_has_no_address(void **state)
{
	OWN(arena) a = arena_new();
	OWN(domain)
	d = parsed(HEAD "<metadata><d:machine xmlns:d='" DOMAIN_NS "' media='"
			"http://ours/"
			"'/></metadata><devices>"
			"<disk type='file' device='cdrom'><source file='/by-hand.iso'/>"
			"<target dev='sda'/></disk></devices></domain>");
	struct domain_facts f = read_of(d, a);

	(void)state;
	assert_true(f.inserted);
	assert_null(f.media_url);
}

static void a_domain_without_a_slot_gets_one(void **state)
{
	OWN(arena) a = arena_new();
	OWN(domain)
	d = parsed(HEAD "<devices><disk type='file' device='disk'><target dev='sda'/>"
			"</disk></devices></domain>");

	(void)state;
	domain_insert(d, "p", domain_media_volume(a, UUID), URL);
	assert_true(read_of(d, a).inserted);
	assert_true(says(d, "dev=\"sdb\""));
}

static void kinds_of_device_are_put_in_order(void **state)
{
	OWN(arena) a = arena_new();
	OWN(domain)
	d = parsed(
		HEAD
		"<os><type>hvm</type><boot dev='network'/><boot dev='hd'/></os><devices>"
		"<disk device='cdrom' type='file'><target dev='sda'/></disk></devices></domain>");

	(void)state;
	assert_int_equal(read_of(d, a).boot, DOMAIN_BOOT_OTHER);
	for (int i = 0; i < 2; i++) {
		domain_set_boot(d, true);
		domain_set_boot(d, true);
		assert_int_equal(read_of(d, a).boot, DOMAIN_BOOT_MEDIA);
		assert_true(
			says(d, "<boot dev=\"cdrom\"/><boot dev=\"hd\"/><boot dev=\"network\"/>"));
		domain_set_boot(d, false);
		assert_int_equal(read_of(d, a).boot, DOMAIN_BOOT_DISK);
		assert_true(says(d, "<type>hvm</type><boot dev=\"hd\"/><boot dev=\"network\"/>"));
	}
}

static void devices_with_an_order_keep_theirs_behind_the_slot(void **state)
{
	OWN(arena) a = arena_new();
	OWN(domain)
	d = parsed(
		HEAD
		"<os/><devices>"
		"<interface type='user'><boot order='1'/></interface>"
		"<disk type='file' device='disk'><target dev='sda'/><boot order='3'/></disk>"
		"<disk type='file' device='disk'><target dev='sdb'/><boot order='2'/></disk>"
		"<disk type='file' device='cdrom'><target dev='sdc'/></disk></devices></domain>");

	(void)state;
	assert_int_equal(read_of(d, a).boot, DOMAIN_BOOT_OTHER);
	domain_set_boot(d, true);
	assert_int_equal(read_of(d, a).boot, DOMAIN_BOOT_MEDIA);
	assert_true(says(d, "<target dev=\"sdc\"/><boot order=\"1\"/>"));
	assert_true(says(d, "<target dev=\"sdb\"/><boot order=\"2\"/>"));
	assert_true(says(d, "<target dev=\"sda\"/><boot order=\"3\"/>"));
	assert_true(says(d, "<interface type=\"user\"><boot order=\"4\"/>"));
	domain_set_boot(d, false);
	assert_int_equal(read_of(d, a).boot, DOMAIN_BOOT_DISK);
	assert_false(says(d, "order=\"4\""));
}

static void what_is_no_domain_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"<domain>",
		"<network/>",
		"<!DOCTYPE domain [<!ENTITY a 'b'>]><domain><name>&a;</name></domain>",
		"<!DOCTYPE domain SYSTEM 'http://10.0.0.1/x.dtd'><domain/>",
		"{\"not\":\"xml\"}",
	};
	OWN(arena) a = arena_new();
	struct domain_facts f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err_clear(&e);
		assert_null(domain_parse(bad[i], strlen(bad[i]), &e));
		assert_int_equal(e.kind, ERR_PROTOCOL);
	}
	{
		OWN(domain) nameless = parsed("<domain><uuid>" UUID "</uuid></domain>");
		OWN(domain)
		fence = parsed(HEAD "<metadata><d:machine xmlns:d='" DOMAIN_NS
				    "' fence='many'/></metadata></domain>");
		OWN(domain)
		order = parsed(HEAD "<devices><disk type='file' device='cdrom'><boot order='1('/>"
				    "</disk></devices></domain>");

		assert_int_equal(domain_read(nameless, a, &f, &e), -1);
		assert_int_equal(domain_read(fence, a, &f, &e), -1);
		assert_int_equal(domain_read(order, a, &f, &e), -1);
	}
}

static void a_template_becomes_a_domain(void **state)
{
	OWN(arena) a = arena_new();
	struct domain_template t = {
		.name = "lab-0",
		.uuid = UUID,
		.provider = "1e0f",
		.machine = "lab-0",
		.type = "kvm",
		.cpus = 2,
		.memory_bytes = 3221225472,
		.pool = "default",
		.network = "default",
		.ndrives = 2,
		.drives = {{.bus = DOMAIN_BUS_SATA},
			   {.bus = DOMAIN_BUS_NVME, .path = "/pool/a,b\".raw"}},
	};
	OWN(domain) d = domain_build(&t);
	struct domain_facts f = read_of(d, a);

	(void)state;
	assert_string_equal(f.name, "lab-0");
	assert_string_equal(f.uuid, UUID);
	assert_string_equal(f.provider, "1e0f");
	assert_string_equal(f.machine, "lab-0");
	assert_string_equal(f.serial, "VMc6c04f314733");
	assert_int_equal(f.boot, DOMAIN_BOOT_DISK);
	assert_false(f.inserted);
	assert_true(says(d, "firmware=\"efi\""));
	assert_true(says(d, "volume=\"lab-0-drive0.raw\""));
	assert_true(says(d, "<serial>c6c04f3147330</serial>"));
	assert_true(says(d, "file=/pool/a,,b&quot;.raw,format=raw"));
	assert_true(says(d, "<qemu:arg value=\"nvme,serial=c6c04f3147331,"));
	assert_true(says(d, "<source network=\"default\"/>"));
	t.network = NULL;
	t.bridge = "br0";
	{
		OWN(domain) other = domain_build(&t);

		assert_true(says(other, "<source bridge=\"br0\"/>"));
	}
}

static void a_volume_has_its_size_and_nobody_elses_eyes(void **state)
{
	char *text = domain_volume_text("a<b", 4096, &(struct domain_user){64055, 108});

	(void)state;
	assert_non_null(strstr(text, "<name>a&lt;b</name>"));
	assert_non_null(strstr(text, "<capacity unit=\"bytes\">4096</capacity>"));
	assert_non_null(strstr(text, "<mode>0600</mode><owner>64055</owner><group>108</group>"));
	free(text);
	text = domain_volume_text("a", 4096, NULL);
	assert_null(strstr(text, "owner"));
	free(text);
}

static void the_host_says_whom_qemu_runs_as(void **state)
{
#define CAPS(dac)                                                                                  \
	"<capabilities><host><secmodel><model>apparmor</model>"                                    \
	"<baselabel type='kvm'>+1:+1</baselabel></secmodel>"                                       \
	"<secmodel><model>dac</model><baselabel type='kvm'>" dac                                   \
	"</baselabel></secmodel></host></capabilities>"
	static const char *const bad[] = {"",	      "<capabilities/>", CAPS("root:root"),
					  CAPS("+1"), CAPS("+-1:+1"),	 "<domain/>"};
	struct domain_user u = {7, 7};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(domain_qemu_user(bad[i], strlen(bad[i]), &u));
	assert_int_equal(u.uid, 7);
	assert_true(domain_qemu_user(CAPS("+64055:+108"), strlen(CAPS("+64055:+108")), &u));
	assert_int_equal(u.uid, 64055);
	assert_int_equal(u.gid, 108);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_facts_are_read),
		cmocka_unit_test(a_medium_comes_and_goes_and_the_rest_stays),
		cmocka_unit_test(a_medium_by_hand_has_no_address),
		cmocka_unit_test(a_domain_without_a_slot_gets_one),
		cmocka_unit_test(kinds_of_device_are_put_in_order),
		cmocka_unit_test(devices_with_an_order_keep_theirs_behind_the_slot),
		cmocka_unit_test(what_is_no_domain_is_refused),
		cmocka_unit_test(a_template_becomes_a_domain),
		cmocka_unit_test(a_volume_has_its_size_and_nobody_elses_eyes),
		cmocka_unit_test(the_host_says_whom_qemu_runs_as),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
