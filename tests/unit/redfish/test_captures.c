#include "tests/unit/testing.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/simulated/http_mem.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "redfish/redfish.h"
#include "tests/contract/fake_bmc.h"

/*
 * Captures of real BMCs (trees of index.json, packed), served read-only: in each the client must
 * find its resources and send the requests that the BMC needs. The captures are not part of this
 * repository; whatever is in the directory is replayed, and compared with the known results.
 */
#define CAPTURES "../shared/captures"
#define ORIGIN "https://10.0.8.17"
#define ISO "https://10.0.8.2:8443/boot/5f1c.iso"
#define MEDIA "http://10.0.8.2:8080/media/5f1c.iso"

struct expected {
	const char *name;
	const char *uuid;
	/* Expected requests as journal lines. off, on: switch the power; http, cd, clear: set and
	 * clear the boot override; insert: inserts a medium. cd_tag: If-Match of `cd`. */
	const char *off;
	const char *on;
	/* NULL: the BMC supports no HTTP boot. */
	const char *http;
	const char *cd, *cd_tag;
	const char *clear;
	/* NULL: the BMC has no slot. */
	const char *insert;
	/* Number of listed drives. */
	size_t drives;
	/* The first drive as text of on_drives(); NULL: drives are not checked. */
	const char *drive;
	/* Request that makes slots appear. They never appear here, because a capture does not
	 * change. */
	const char *enable;
};

static const struct expected expected[] = {
	{
		.name = "dell-h100",
		.drives = 3,
		.drive = "61P0A06CTCD8, Dell Ent NVMe CM6 RI 1.92TB, PCIe SSD in Slot 2 "
			 "in Bay 1, 1920383410176",
		.uuid = "4c4c4544-0035-3410-8050-c6c04f314733",
		.off = "POST /redfish/v1/Systems/System.Embedded.1/Actions/ComputerSystem.Reset "
		       "{\"ResetType\":\"ForceOff\"}",
		.on = "POST /redfish/v1/Systems/System.Embedded.1/Actions/ComputerSystem.Reset "
		      "{\"ResetType\":\"On\"}",
		.cd = "PATCH /redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell"
		      "/DellAttributes/iDRAC.Embedded.1 "
		      "{\"Attributes\":{\"ServerBoot.1.BootOnce\":\"Enabled\","
		      "\"ServerBoot.1.FirstBootDevice\":\"VCD-DVD\"}}",
		.cd_tag = "",
		.clear = "PATCH /redfish/v1/Systems/System.Embedded.1 "
			 "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\","
			 "\"BootSourceOverrideTarget\":\"None\"}}",
		.insert = "POST /redfish/v1/Systems/System.Embedded.1/VirtualMedia/1"
			  "/Actions/VirtualMedia.InsertMedia "
			  "{\"Image\":\"" MEDIA "\",\"Inserted\":true,\"WriteProtected\":true}",
	},
	{
		.name = "dgx-h100",
		.drives = 15,
		.drive = "-, SAMSUNG MZ1L21T9HCLS-00A07, NVMe_Device0_NSID1, 1920383410176",
		.uuid = "b11dd4f2-bfde-1000-02bc-5cff35fbe6e9",
		.off = "POST /redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset "
		       "{\"ResetType\":\"ForceOff\"}",
		.on = "POST /redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset "
		      "{\"ResetType\":\"On\"}",
		.http = "PATCH /redfish/v1/Systems/DGX/SD "
			"{\"Boot\":{\"BootSourceOverrideTarget\":\"UefiHttp\","
			"\"BootSourceOverrideEnabled\":\"Once\","
			"\"BootSourceOverrideMode\":\"UEFI\","
			"\"HttpBootUri\":\"" ISO "\"}}",
		.cd = "PATCH /redfish/v1/Systems/DGX/SD "
		      "{\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
		      "\"BootSourceOverrideEnabled\":\"Once\","
		      "\"BootSourceOverrideMode\":\"UEFI\"}}",
		.cd_tag = "\"1720574208\"",
		.clear = "PATCH /redfish/v1/Systems/DGX/SD "
			 "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\","
			 "\"BootSourceOverrideTarget\":\"None\"}}",
		.enable = "POST /redfish/v1/Managers/BMC/Actions/Oem/AMIVirtualMedia.EnableRMedia "
			  "{\"RMediaState\":\"Enable\"}",
	},
	{
		.name = "hpe-dl385",
		.drives = 18,
		.drive = "S6C1NA0TA01511, MZXLR6T4HALA-000H3, Box 2:Bay 1, 6401252745216",
		.uuid = "34383350-3131-584d-5133-303230393953",
		.off = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "
		       "{\"ResetType\":\"ForceOff\"}",
		.on = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "
		      "{\"ResetType\":\"On\"}",
		.cd = "PATCH /redfish/v1/Systems/1 {\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
		      "\"BootSourceOverrideEnabled\":\"Once\"}}",
		.clear = "PATCH /redfish/v1/Systems/1 "
			 "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\","
			 "\"BootSourceOverrideTarget\":\"Pxe\"}}",
		.insert = "POST /redfish/v1/Managers/1/VirtualMedia/2"
			  "/Actions/VirtualMedia.InsertMedia "
			  "{\"Image\":\"" MEDIA "\",\"Inserted\":true,\"WriteProtected\":true}",
	},
	{
		.name = "lenovo-sr670",
		.drives = 4,
		.drive = "233442ABA3AB, Micron_7450_MTFDKBA960TFR, M.2 - Drive0, 960000000000",
		.uuid = "6173ecec-6ef5-11ee-834a-0a8fc3a58a71",
		.off = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "
		       "{\"ResetType\":\"ForceOff\"}",
		.on = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "
		      "{\"ResetType\":\"On\"}",
		.cd = "PATCH /redfish/v1/Systems/1 {\"Boot\":{\"BootSourceOverrideTarget\":\"Cd\","
		      "\"BootSourceOverrideEnabled\":\"Once\"}}",
		.cd_tag = "\"387fcecc167782f0b7edb1\"",
		.clear = "PATCH /redfish/v1/Systems/1 "
			 "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\","
			 "\"BootSourceOverrideTarget\":\"None\"}}",
		.insert = "PATCH /redfish/v1/Systems/1/VirtualMedia/EXT1 "
			  "{\"Image\":\"" MEDIA "\",\"Inserted\":true,\"WriteProtected\":true}",
	},
	{
		.name = "supermicro",
		.drives = 8,
		.drive = "S6CKNN0W502286, MZQL27T6HBLA-00A07, Disk.Bay.0, 7681501126656",
		.uuid = "00000000-0000-0000-0000-7cc25550a8ff",
		.off = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "
		       "{\"ResetType\":\"ForceOff\"}",
		.on = "POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset "
		      "{\"ResetType\":\"On\"}",
		.cd = "PATCH /redfish/v1/Systems/1 "
		      "{\"Boot\":{\"BootSourceOverrideTarget\":\"UsbCd\","
		      "\"BootSourceOverrideEnabled\":\"Once\","
		      "\"BootSourceOverrideMode\":\"UEFI\"}}",
		.cd_tag = "\"a0a7128477b3552049bdbf0d3286de78\"",
		.clear = "PATCH /redfish/v1/Systems/1 "
			 "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\","
			 "\"BootSourceOverrideTarget\":\"None\"}}",
		.insert = "POST /redfish/v1/Managers/1/VirtualMedia/VirtualMedia1"
			  "/Actions/VirtualMedia.InsertMedia "
			  "{\"Image\":\"" MEDIA "\"}",
	},
};

struct replay {
	struct loop *loop;
	unsigned answers;
	struct err err;
	enum redfish_power power;
	char uuid[64], target[64];
	bool inserted, more;
	size_t ndrives;
	char drive[256];
};

static void answered(struct replay *p, const struct err *e)
{
	p->answers++;
	err_clear(&p->err);
	if (e)
		p->err = *e;
}

static void on_plain(const struct err *e, void *arg)
{
	answered(arg, e);
}

static void on_system(const struct redfish_system *s, const struct err *e, void *arg)
{
	struct replay *p = arg;

	answered(p, e);
	if (s) {
		p->power = s->power;
		str_copy(p->uuid, sizeof(p->uuid), str_or(s->system_uuid, ""));
		str_copy(p->target, sizeof(p->target), str_or(s->boot_target, ""));
	}
}

static void on_media(const struct redfish_media *m, const struct err *e, void *arg)
{
	struct replay *p = arg;

	answered(p, e);
	p->inserted = m && m->inserted;
}

static bool is_answered(void *arg)
{
	return ((struct replay *)arg)->answers > 0;
}

static enum err_kind wait_answer(struct replay *p)
{
	loop_sim_run_cond(p->loop, is_answered, p, loop_now(p->loop) + 60000);
	assert_int_equal(p->answers, 1);
	p->answers = 0;
	return p->err.kind;
}

static const struct expected *expected_of(const char *name)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		if (str_eq(expected[i].name, name))
			return &expected[i];
	return NULL;
}

static void on_drives(const struct redfish_drives *d, const struct err *e, void *arg)
{
	struct replay *p = arg;

	answered(p, e);
	p->more = d && d->more;
	p->ndrives = d ? d->n : 0;
	if (d && d->n)
		str_format(p->drive, sizeof(p->drive), "%s, %s, %s, %lld%s%s",
			   str_or(d->v[0].serial, "-"), str_or(d->v[0].model, "-"),
			   str_or(d->v[0].slot, "-"), (long long)d->v[0].bytes,
			   d->v[0].volume ? " of " : "",
			   d->v[0].volume ? d->v[0].volume->name : "");
}

static void check_drives(struct replay *p, struct redfish *r, const struct expected *x)
{
	unsigned calls = 0;

	do {
		redfish_read_drives(r, NULL, on_drives, p);
		assert_int_equal(wait_answer(p), ERR_NONE);
	} while (p->more && ++calls < 100);
	assert_false(p->more);
	if (x && x->drive) {
		assert_int_equal(p->ndrives, x->drives);
		assert_string_equal(p->drive, x->drive);
	}
}

static void check(struct replay *p, struct redfish *r, const struct fake_bmc *bmc,
		  const struct expected *x)
{
	redfish_read_system(r, on_system, p);
	assert_int_equal(wait_answer(p), ERR_NONE);
	assert_int_equal(p->power, REDFISH_POWER_ON);
	assert_true(p->uuid[0]);
	if (x)
		assert_string_equal(p->uuid, x->uuid);
	assert_string_equal(p->target, "None");
	redfish_power(r, false, on_plain, p);
	assert_int_equal(wait_answer(p), ERR_NONE);
	if (x)
		assert_string_equal(fake_bmc_last(bmc, "POST"), x->off);
	redfish_power(r, true, on_plain, p);
	assert_int_equal(wait_answer(p), ERR_NONE);
	if (x)
		assert_string_equal(fake_bmc_last(bmc, "POST"), x->on);
	redfish_boot(r, REDFISH_BOOT_HTTP, ISO, on_plain, p);
	if (x && !x->http) {
		assert_int_equal(wait_answer(p), ERR_UNSUPPORTED);
	} else {
		assert_int_equal(wait_answer(p), ERR_NONE);
		if (x)
			assert_string_equal(fake_bmc_last(bmc, "PATCH"), x->http);
	}
	redfish_boot(r, REDFISH_BOOT_CD, NULL, on_plain, p);
	assert_int_equal(wait_answer(p), ERR_NONE);
	if (x)
		assert_string_equal(fake_bmc_last(bmc, "PATCH"), x->cd);
	if (x && x->cd_tag)
		assert_string_equal(bmc->if_match, x->cd_tag);
	redfish_boot(r, REDFISH_BOOT_NONE, NULL, on_plain, p);
	assert_int_equal(wait_answer(p), ERR_NONE);
	if (x)
		assert_string_equal(fake_bmc_last(bmc, "PATCH"), x->clear);
	redfish_insert(r, MEDIA, NULL, on_plain, p);
	if (x && !x->insert) {
		assert_int_equal(wait_answer(p), x->enable ? ERR_UNAVAILABLE : ERR_UNSUPPORTED);
		assert_string_equal(fake_bmc_last(bmc, "POST"), str_or(x->enable, x->off));
		return;
	}
	assert_int_equal(wait_answer(p), ERR_NONE);
	if (x)
		assert_string_equal(bmc->journal[bmc->njournal - 1], x->insert);
	redfish_read_media(r, on_media, p);
	assert_int_equal(wait_answer(p), ERR_NONE);
	assert_false(p->inserted); /* No medium was inserted when the BMC was captured. */
}

/* Client of a captured BMC, with a given path of the BMC's System. */
struct replayed {
	struct replay p;
	struct loop_group *g;
	struct http_mem_net *net;
	struct http *h;
	struct secret *password;
	struct fake_bmc bmc;
	struct redfish *r;
};

static void begin(struct replayed *b, const char *folder, const char *path)
{
	struct redfish_spec s = {.user = "drover"};
	char *url = mem_printf(ORIGIN "%s", path);
	struct err e;

	*b = (struct replayed){.p.loop = loop_sim_new(3, 1764000000000)};
	b->g = loop_group_new(b->p.loop, "client");
	b->net = http_mem_net_new(b->p.loop);
	b->h = http_new(b->g, http_mem_transport(b->net, b->g, "10.0.0.1", NULL, NULL), 8);
	s.password = b->password = secret_from_str("correct horse");
	s.system_url = url;
	fake_bmc_init(&b->bmc, b->g);
	b->bmc.capture = folder;
	http_mem_serve(b->net, ORIGIN, b->bmc.httpd);
	b->r = redfish_new(b->g, b->h, &s, &e);
	assert_non_null(b->r);
	free(url);
}

static void end(struct replayed *b)
{
	redfish_free(b->r);
	secret_free(b->password);
	http_free(b->h);
	fake_bmc_done(&b->bmc);
	http_mem_net_free(b->net);
	loop_group_free(b->g);
	loop_free(b->p.loop);
}

static void replay(const char *folder, const struct expected *x)
{
	struct replayed b;

	begin(&b, folder, "");
	check(&b.p, b.r, &b.bmc, x);
	/* The client must not follow every link: a crawl would take minutes. */
	assert_true(b.bmc.njournal < 40);
	check_drives(&b.p, b.r, x);
	end(&b);
}

/* Checks the resource at this path as the address of a Machine. */
static void check_address(const char *folder, const char *path, bool is_system)
{
	struct replayed b;

	begin(&b, folder, path);
	redfish_read_system(b.r, on_system, &b.p);
	assert_int_equal(wait_answer(&b.p), is_system ? ERR_NONE : ERR_INVALID);
	assert_int_equal(b.p.err.code, is_system ? 0 : REDFISH_ADDRESS);
	assert_int_equal(b.p.uuid[0] != '\0', is_system);
	end(&b);
}

/* Real BMCs list Systems, Managers and Chassis; only a System can be a Machine. */
static void check_addresses(const char *folder)
{
	static const char *const kinds[] = {"Systems", "Managers", "Chassis"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char *path = mem_printf("/redfish/v1/%s", kinds[i]),
		     *list = mem_printf("%s%s", folder, path);
		DIR *d = opendir(list);
		struct dirent *entry;

		assert_non_null(d);
		check_address(folder, path, false);
		while ((entry = readdir(d)) != NULL) {
			char *one = mem_printf("%s/%s", path, entry->d_name);

			if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
				check_address(folder, one, i == 0);
			free(one);
		}
		closedir(d);
		free(list);
		free(path);
	}
}

static void unpack(const char *archive, const char *folder)
{
	char path[256];
	int status;
	pid_t pid;

	str_format(path, sizeof(path), CAPTURES "/%s", archive);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execlp("tar", "tar", "-xJf", path, "-C", folder, "--wildcards",
		       "*/redfish/v1/index.json", "*/redfish/v1/Systems/*",
		       "*/redfish/v1/Managers/*", "*/redfish/v1/Chassis/*", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void every_capture_at_hand_is_understood(void **state)
{
	DIR *d = opendir(CAPTURES);
	struct dirent *entry;
	unsigned n = 0;

	(void)state;
	while (d && (entry = readdir(d)) != NULL) {
		char folder[] = "/tmp/drover-capture-XXXXXX", name[128], tree[256];

		if (!str_ends(entry->d_name, ".tar.xz"))
			continue;
		str_copy(name, sizeof(name), entry->d_name);
		name[strlen(name) - strlen(".tar.xz")] = '\0';
		assert_non_null(mkdtemp(folder));
		unpack(entry->d_name, folder);
		str_format(tree, sizeof(tree), "%s/%s", folder, name);
		replay(tree, expected_of(name));
		check_addresses(tree);
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		n++;
	}
	if (d)
		closedir(d);
	print_message("    %u captures replayed\n", n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_capture_at_hand_is_understood)};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
