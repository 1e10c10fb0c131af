#ifndef SIM_EC2_IMPL_H
#define SIM_EC2_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/data/fields.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/ec2.h"

/* ec2_impl: what the files of sim/ec2 share; nobody else includes it. */
#define E2_NEVER INT64_MAX
#define E2_ID 24
#define E2_PAGE 1000
#define E2_TAGS_MAX 50

enum e2_state { E2_PENDING, E2_RUNNING, E2_ENDING, E2_TERMINATED };

struct e2_type {
	const char *name, *gpu;
	int64_t vcpus, gpus, memory_mib;
	/* an hour; spot 0: not to be had */
	int64_t micros, spot_micros;
	/* none: every one */
	struct strings zones;
};
struct e2_tag {
	char *key, *value;
};
struct e2_reserved {
	struct list link;
	char *id, *account;
	const struct e2_type *type;
	const char *zone;
	int64_t count, starts, ends, upfront;
	/* what it cost until its size was changed */
	int64_t past_micros, past_until;
};
struct e2_instance {
	struct list link;
	uint64_t seq;
	char id[E2_ID], reservation[E2_ID], spot_request[E2_ID];
	const struct e2_type *type;
	const char *zone;
	const char *account;
	char *image, *subnet, *token, *user_data, *why, *profile;
	size_t user_data_len;
	bool spot;
	struct e2_reserved *reserved;
	/* moments by the loop; E2_NEVER */
	int64_t launched, running, ending, gone;
	/* spot: when it was told; E2_NEVER */
	int64_t noticed;
	int64_t launched_wall;
	/* to on_change */
	enum e2_state told;
	struct e2_tag *tags;
	size_t ntags, tags_cap;
	/* in its launch */
	unsigned index;
};
struct e2_token {
	char reservation[E2_ID];
	uint8_t hash[32];
	int64_t since;
};
struct e2_fault {
	struct list link;
	/* of the table */
	const char *what;
	char *on, *type, *zone, *name;
	int64_t value, count, from, until;
	bool for_ever;
};
struct sim_ec2 {
	struct sim_ec2_spec spec;
	struct loop *loop;
	/* types, zones */
	struct arena *arena;
	const struct e2_type *types;
	size_t ntypes;
	const char *currency;
	const char *const *zones;
	struct list instances, reserved, faults;
	/* id -> struct e2_instance */
	struct map *by_id;
	/* account, zone and token -> struct e2_token */
	struct map *tokens;
	/* action -> unsigned */
	struct map *calls;
	uint64_t next;
	size_t launched;
	/* of instances that are forgotten */
	int64_t past_micros;
	/* when it was looked last what to forget */
	int64_t forgot;
	struct loop_timer change;
};

/* --- a request */
struct e2_pair {
	char *name, *value;
};
struct e2_form {
	struct e2_pair *v;
	size_t n;
};
struct e2_call {
	struct sim_ec2 *s;
	struct httpd_req *q;
	struct e2_form form;
	const char *action, *account;
	char region[32], id[40];
	int64_t now;
	struct buf out;
	/* of an error; 0: it went well */
	int status;
	const char *code;
	char message[400];
	int64_t retry_after_s;
	/* token of the next page */
	char *next;
};
/* An error; the first one counts. */
void e2_fail(struct e2_call *c, int status, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* ec2_form.c: false: it is no form. */
bool e2_form_parse(struct e2_form *f, const char *body, size_t len);
void e2_form_done(struct e2_form *f);
/* NULL: absent.  fmt: the parameter's name. */
const char *e2_param(const struct e2_call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* false: it has failed */
bool e2_number(struct e2_call *c, const char *name, int64_t min, int64_t max, int64_t otherwise,
	       int64_t *out);
/* '#' of a pattern is a number, '*' any end. */
bool e2_is_param(const char *pattern, const char *name);
/* * and ? as filters have them */
bool e2_glob(const char *pattern, const char *text);
void e2_open(struct buf *b, const char *element);
void e2_close(struct buf *b, const char *element);
/* NULL: nothing */
void e2_text(struct buf *b, const char *element, const char *text);
void e2_int(struct buf *b, const char *element, int64_t n);
void e2_time(struct buf *b, const char *element, int64_t wall_ms);

/* ec2_types.c */
int e2_types_read(struct sim_ec2 *s, const json_t *prices, struct err *e);
const struct e2_type *e2_type_of(const struct sim_ec2 *s, const char *name);
bool e2_is_offered(const struct sim_ec2 *s, const struct e2_type *t, const char *zone);
/* That zone as the simulator has it; NULL: none such. */
const char *e2_zone_of(const struct sim_ec2 *s, const char *name);
bool e2_in_region(const char *zone, const char *region);

/* ec2.c */
struct e2_instance *e2_instance_new(struct sim_ec2 *s, const struct e2_type *t, const char *zone,
				    const char *account);
enum e2_state e2_state_at(const struct e2_instance *i, int64_t now);
extern const char *const e2_state_names[];
extern const int e2_state_codes[];
int64_t e2_cost(const struct e2_instance *i, int64_t now);
int64_t e2_reserved_cost(const struct e2_reserved *r, int64_t now);
void e2_end(struct sim_ec2 *s, struct e2_instance *i, int64_t at, const char *why);
void e2_tag(struct e2_instance *i, const char *key, const char *value);
struct e2_reserved *e2_reserved_of(const struct sim_ec2 *s, const char *id, const char *account);
int64_t e2_reserved_used(const struct sim_ec2 *s, const struct e2_reserved *r, int64_t now);
/* what nobody asks for any more */
void e2_forget(struct sim_ec2 *s);
/* on_change() at its moments */
void e2_watch(struct sim_ec2 *s);
int64_t e2_wall(const struct sim_ec2 *s);

/* ec2_sign.c: who asks, and of which region; false: it has failed. */
bool e2_is_signed(struct e2_call *c);
/* What is signed, in the order of the client's SignedHeaders (names in lower case). */
struct e2_signed {
	const char *method, *path;
	/* decoded; values as they came */
	const struct e2_pair *query, *headers;
	size_t nquery, nheaders;
	const void *body;
	size_t len;
	/* date: 20150830T123600Z */
	const char *date, *region, *service;
};
void e2_signature(const struct e2_signed *r, const char *secret, char out[static 65]);

/* ec2_launch.c, ec2_list.c, ec2_offers.c: actions */
void e2_run_instances(struct e2_call *c);
void e2_terminate_instances(struct e2_call *c);
void e2_create_tags(struct e2_call *c);
void e2_reservation_xml(struct e2_call *c, const struct e2_instance *first);
void e2_describe_instances(struct e2_call *c);
void e2_describe_tags(struct e2_call *c);
void e2_describe_spot_requests(struct e2_call *c);
void e2_describe_regions(struct e2_call *c);
void e2_describe_zones(struct e2_call *c);
void e2_describe_types(struct e2_call *c);
void e2_describe_offerings(struct e2_call *c);
void e2_describe_spot_prices(struct e2_call *c);
void e2_describe_reservations(struct e2_call *c);
/* Is it told of to this action, account and region, and still or already? */
bool e2_is_known(struct e2_call *c, const struct e2_instance *i);
/* Do the filters of this request let it through? has: does the item have a value of that name that
 * the pattern fits; -1: no such filter. Fails then. */
bool e2_filters(struct e2_call *c,
		int (*has)(const void *item, const char *name, const char *pattern),
		const void *item);

/* ec2_fault.c */
/* The first of these faults that stands now and strikes, counted; NULL: none. */
struct e2_fault *e2_strikes(struct sim_ec2 *s, const char *what, const char *on);
/* ... that stands, of this type and zone (NULL: not of one), not counted: e2_struck() when it had
 * an effect. */
struct e2_fault *e2_stands(const struct sim_ec2 *s, const char *what, const char *on,
			   const char *type, const char *zone);
void e2_struck(struct e2_fault *f);
void e2_control_routes(struct sim_ec2 *s, struct httpd *d);

#endif
