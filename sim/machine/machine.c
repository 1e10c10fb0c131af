#include "sim/machine/machine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/data/json.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define COLD_MS 2000 /* Additional time of POST after a power loss, in ms. */
#define STATE_MAX (64 << 10)

static const char *const doing_names[] = {"Off", "POST", "Agent", "Node", "Nothing"};

const char *sim_doing_name(enum sim_doing d)
{
	return doing_names[d];
}

struct loop_group *sim_machine_group(const struct sim_machine *m)
{
	return m->site->group;
}

static struct loop *loop_here(const struct sim_machine *m)
{
	return loop_of(sim_machine_group(m));
}

void sim_text_set(char **slot, const char *text)
{
	char *old = *slot;

	*slot = mem_strdup(text);
	free(old);
}

bool sim_machine_reaches(const struct sim_machine *m, const char *origin)
{
	return sim_site_reaches(m->site, m->segment, origin);
}

bool sim_machine_fault(const struct sim_machine *m, const char *when, const char *what,
		       int64_t *value)
{
	return sim_site_fault(m->site, m->name, when, what, value);
}

void sim_machine_say(struct sim_machine *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->console, sizeof(m->console), fmt, ap);
	va_end(ap);
	str_clean(m->console);
}

/* --- times ----------------------------------------------------------------------------- */

struct sim_times sim_machine_times(const struct sim_machine *m)
{
	return sim_times_or_fast(&m->site->times);
}

/* Adds a random part of up to a tenth, so that no two machines run in lockstep. */
int64_t sim_machine_jitter(const struct sim_machine *m, int64_t ms)
{
	return ms + (int64_t)loop_random_below(loop_here(m), (uint64_t)ms / 10 + 1);
}

/* --- stored state ----------------------------------------------------------------------------- */

static char *file_of(const struct sim_machine *m, const char *rest)
{
	const char *data = m->site->data;

	return data ? mem_printf("%s/%s%s", data, m->name, rest) : NULL;
}

static json_t *state_json(const struct sim_machine *m)
{
	return json_pack("{s:b, s:s, s:I, s:s, s:s*, s:s*, s:s*, s:s*, s:b}", "on", m->on, "doing",
			 sim_doing_name(m->doing), "boots", (json_int_t)m->boots, "bootID",
			 m->boot_id, "image", m->image, "bootTarget", m->boot_target, "bootEnabled",
			 m->boot_enabled, "httpBootURI", m->http_boot_uri, "legacyBoot",
			 m->legacy_boot);
}

void sim_machine_save(struct sim_machine *m)
{
	char *path = file_of(m, ".json"), *text;
	OWN_JSON j = path ? state_json(m) : NULL;

	if (!path)
		return;
	text = json_text(j);
	(void)!file_write(path, text, strlen(text), 0666, false, &m->problem);
	free(text);
	free(path);
}

void sim_machine_changed(struct sim_machine *m)
{
	sim_machine_save(m);
	if (m->changed)
		m->changed(m->bmc);
}

static json_t *read_state(struct sim_machine *m, const char *path)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;
	json_t *j;

	if (!f) {
		if (errno != ENOENT)
			err_note_errno(&m->problem, errno, "%s", path);
		return NULL;
	}
	text = mem_alloc(STATE_MAX);
	n = fread(text, 1, STATE_MAX, f);
	fclose(f);
	j = json_parse(text, n, &m->problem);
	free(text);
	return j;
}

static void load(struct sim_machine *m)
{
	char *path = file_of(m, ".json");
	OWN_JSON j = path ? read_state(m, path) : NULL;
	const char *doing = json_str_at(j, "doing");

	free(path);
	if (!j)
		return;
	m->on = json_true_at(j, "on");
	m->boots = (unsigned)json_int_at(j, "boots");
	str_copy(m->boot_id, sizeof(m->boot_id), str_or(json_str_at(j, "bootID"), ""));
	sim_text_set(&m->image, json_str_at(j, "image"));
	sim_text_set(&m->boot_target, json_str_at(j, "bootTarget"));
	sim_text_set(&m->boot_enabled, json_str_at(j, "bootEnabled"));
	sim_text_set(&m->http_boot_uri, json_str_at(j, "httpBootURI"));
	m->legacy_boot = json_true_at(j, "legacyBoot");
	for (int i = SIM_OFF; i <= SIM_NOTHING; i++)
		if (str_eq(doing, doing_names[i]))
			m->doing = (enum sim_doing)i;
}

/* --- boot ------------------------------------------------------------------------------------- */

static void on_timer(void *arg)
{
	struct sim_machine *m = arg;

	if (sim_machine_fault(m, "POST", "Reboot", NULL))
		sim_machine_reboot(m);
	else
		m->site->firmware->boot(m);
}

static void stop_all(struct sim_machine *m)
{
	loop_timer_stop(&m->timer);
	m->site->firmware->stop(m);
	m->doing = SIM_OFF;
}

static void new_boot_id(struct sim_machine *m)
{
	uint8_t r[16];
	char h[33];

	loop_random_bytes(loop_here(m), r, sizeof(r));
	r[6] = (uint8_t)((r[6] & 0x0f) | 0x40);
	r[8] = (uint8_t)((r[8] & 0x3f) | 0x80);
	str_hex(h, r, sizeof(r));
	str_format(m->boot_id, sizeof(m->boot_id), "%.8s-%.4s-%.4s-%.4s-%.12s", h, h + 8, h + 12,
		   h + 16, h + 20);
}

static void begin_boot(struct sim_machine *m)
{
	m->boots++;
	m->doing = SIM_POST;
	new_boot_id(m);
	sim_machine_say(m, "POST");
	loop_timer_start(&m->timer, sim_machine_jitter(m, sim_machine_times(m).post_ms));
}

/* --- power ------------------------------------------------------------------------------------ */

static void switch_to(struct sim_machine *m, bool on)
{
	loop_timer_stop(&m->power_timer);
	if (m->on == on)
		return;
	m->on = on;
	stop_all(m);
	m->console[0] = '\0';
	if (m->net_boot)
		m->net_boot->powered(m, m->net_boot->arg);
	if (on)
		begin_boot(m);
	sim_machine_changed(m);
}

static void on_power(void *arg)
{
	struct sim_machine *m = arg;

	switch_to(m, m->power_wanted);
}

void sim_machine_power(struct sim_machine *m, bool on)
{
	m->power_wanted = on;
	if (m->on == on)
		loop_timer_stop(&m->power_timer);
	else
		loop_timer_start(&m->power_timer,
				 sim_machine_jitter(m, sim_machine_times(m).power_ms));
}

bool sim_machine_switching(const struct sim_machine *m, bool *on)
{
	*on = m->power_wanted;
	return loop_timer_active(&m->power_timer);
}

void sim_machine_cut(struct sim_machine *m)
{
	switch_to(m, false);
}

void sim_machine_reboot(struct sim_machine *m)
{
	if (!m->on)
		return;
	stop_all(m);
	begin_boot(m);
	sim_machine_changed(m);
}

/* --- start and end ---------------------------------------------------------------------------- */

static void open_drives(struct sim_machine *m, const struct sim_site *s)
{
	m->ndrives = s->drives ? s->drives : 2;
	if (m->ndrives > MACHINE_DRIVES)
		m->ndrives = MACHINE_DRIVES;
	for (unsigned i = 0; i < m->ndrives; i++) {
		char rest[16], *path;
		struct err e;

		str_format(rest, sizeof(rest), "-drive%u", i);
		path = file_of(m, rest);
		str_format(m->wwns[i], sizeof(m->wwns[i]), "eui.0025385%05x%04x", m->number, i);
		m->drives[i] = drive_open(path, s->drive_bytes ? s->drive_bytes : 16ll << 30, &e);
		free(path);
		if (!m->drives[i])
			m->problem = e;
	}
}

/* Restores the machine after the rack's process was killed. The contents of the machine's memory
 * are lost; those of its drives are not. POST takes longer than usual. A machine that ran the agent
 * boots the inserted medium again. */
static void come_back(struct sim_machine *m)
{
	bool from_medium = m->on && m->doing == SIM_AGENT && m->image;

	if (!m->on)
		m->doing = SIM_OFF;
	else if (m->doing == SIM_NODE)
		m->site->firmware->boot_disk(m);
	else if (m->doing != SIM_NOTHING)
		begin_boot(m);
	if (from_medium) {
		sim_text_set(&m->boot_target, str_or(m->virtual_cd, "Cd"));
		m->legacy_boot = false;
		sim_text_set(&m->boot_enabled, "Once");
	}
	if (m->doing == SIM_POST)
		loop_timer_start(&m->timer, COLD_MS + sim_machine_times(m).post_ms);
	sim_machine_save(m);
}

void sim_machine_init(struct sim_machine *m, const struct sim_site *s, unsigned number,
		      const char *virtual_cd)
{
	*m = (struct sim_machine){.site = s, .number = number, .virtual_cd = virtual_cd};
	m->segment = mem_strdup("");
	str_format(m->name, sizeof(m->name), "gpu-%u", number);
	str_format(m->uuid, sizeof(m->uuid), "4c4c4544-0035-3410-8050-%012x", 0xc04f3100u + number);
	str_format(m->serial, sizeof(m->serial), "SIM%07u", number);
	str_format(m->mac, sizeof(m->mac), "b8:ce:f6:%02x:%02x:%02x", number >> 16 & 255,
		   number >> 8 & 255, number & 255);
	str_copy(m->model, sizeof(m->model), "Simulated HGX H100 8-GPU");
	loop_timer_init(&m->timer, sim_machine_group(m), on_timer, m);
	loop_timer_init(&m->power_timer, sim_machine_group(m), on_power, m);
	if (s->data && mkdir(s->data, 0700) < 0 && errno != EEXIST)
		err_note_errno(&m->problem, errno, "%s", s->data);
	open_drives(m, s);
	load(m);
	if (m->problem.kind == ERR_NONE)
		come_back(m);
}

void sim_machine_done(struct sim_machine *m)
{
	stop_all(m);
	loop_timer_stop(&m->power_timer);
	for (unsigned i = 0; i < m->ndrives; i++)
		drive_close(m->drives[i]);
	free(m->segment);
	free(m->image);
	free(m->boot_target);
	free(m->boot_enabled);
	free(m->http_boot_uri);
}
