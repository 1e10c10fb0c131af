#ifndef SIM_EC2_EC2_IMPL_H
#define SIM_EC2_EC2_IMPL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/data/fields.h"
#include "base/list.h"
#include "base/map.h"
#include "sim/common/fault.h"
#include "sim/common/reply.h"
#include "sim/ec2/ec2.h"

/* ec2_impl: shared by the files of sim/ec2; not included elsewhere. */
#define E2_NEVER INT64_MAX
#define E2_ID 24
#define E2_PAGE 1000
#define E2_TAGS_MAX 50

enum e2_state { E2_PENDING, E2_RUNNING, E2_ENDING, E2_TERMINATED };

struct e2_type {
	const char *name, *gpu;
	int64_t vcpus, gpus, memory_mib;
	/* Price of an hour in millionths of the currency; spot_micros 0: not available as Spot. */
	int64_t micros, spot_micros;
	/* Zones in which the type is offered; empty: all zones. */
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
	/* past_micros: cost of the reservation up to past_until. past_until: loop time at which its
	 * size was last changed. */
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
	/* Loop times at which the instance was launched and at which its states running,
	 * shutting-down and terminated begin; E2_NEVER: never. */
	int64_t launched, running, ending, gone;
	/* Spot only: loop time of the interruption notice; E2_NEVER: none. */
	int64_t noticed;
	int64_t launched_wall;
	/* State that was last passed to on_change(). */
	enum e2_state told;
	struct e2_tag *tags;
	size_t ntags, tags_cap;
	/* Index of the instance in its launch. */
	unsigned index;
};
struct e2_token {
	char reservation[E2_ID];
	uint8_t hash[32];
	int64_t since;
};
struct sim_ec2 {
	struct sim_ec2_spec spec;
	struct loop *loop;
	/* Memory of types and zones. */
	struct arena *arena;
	const struct e2_type *types;
	size_t ntypes;
	const char *currency;
	const char *const *zones;
	struct list instances, reserved, faults;
	struct sim_delays delays;
	/* Map from id to struct e2_instance. */
	struct map *by_id;
	/* Map from account, region, zone and ClientToken to struct e2_token. */
	struct map *tokens;
	/* Map from action to the number of its calls (unsigned). */
	struct map *calls;
	uint64_t next;
	size_t launched;
	/* Cost of instances that were dropped from the list. */
	int64_t past_micros;
	/* Loop time at which e2_forget() last searched for entries whose retention time has
	 * passed. */
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
	/* HTTP status of the error in code and message; 0: success. */
	int status;
	const char *code;
	char message[400];
	int64_t retry_after_s;
	/* NextToken of the next page; NULL: no page follows. */
	char *next;
};

/* form.c. */
/* Sets the error of the request; later errors of the same request are ignored. */
void e2_fail(struct e2_call *c, int status, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Parses a form body; false: it is not valid. */
bool e2_form_parse(struct e2_form *f, const char *body, size_t len);
void e2_form_done(struct e2_form *f);
/* Returns the value of a parameter; NULL: absent. fmt: format of the parameter's name. */
const char *e2_param(const struct e2_call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets *out to the number in a parameter, or to `otherwise` if the parameter is absent. False: the
 * number is not valid; the error of the request is then set. */
bool e2_number(struct e2_call *c, const char *name, int64_t min, int64_t max, int64_t otherwise,
	       int64_t *out);
/* True if the parameter's name matches the pattern: '#' in the pattern stands for a number, '*' for
 * any rest. */
bool e2_is_param(const char *pattern, const char *name);
/* True if text matches a pattern with * and ?, as used in filters. */
bool e2_glob(const char *pattern, const char *text);
void e2_open(struct buf *b, const char *element);
void e2_close(struct buf *b, const char *element);
/* Writes an element with this text; writes nothing if text is NULL. */
void e2_text(struct buf *b, const char *element, const char *text);
void e2_int(struct buf *b, const char *element, int64_t n);
void e2_time(struct buf *b, const char *element, int64_t wall_ms);

/* types.c */
int e2_types_read(struct sim_ec2 *s, const json_t *prices, struct err *e);
const struct e2_type *e2_type_of(const struct sim_ec2 *s, const char *name);
bool e2_is_offered(const struct sim_ec2 *s, const struct e2_type *t, const char *zone);
/* Returns the zone's name as stored in s->zones; NULL: no such zone. */
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
/* Drops terminated instances and ClientTokens whose retention time has passed. */
void e2_forget(struct sim_ec2 *s);
/* Starts the timer that calls on_change() at the next change of any instance's state. */
void e2_watch(struct sim_ec2 *s);
int64_t e2_wall(const struct sim_ec2 *s);

/* sign.c. Checks the signature and sets account and region. False: the signature is refused and
 * the error of the request is set. */
bool e2_is_signed(struct e2_call *c);
/* A signed request; headers in the order of SignedHeaders, names in lower case. */
struct e2_signed {
	const char *method, *path;
	/* Query parameters, decoded; header values as received. */
	const struct e2_pair *query, *headers;
	size_t nquery, nheaders;
	const void *body;
	size_t len;
	/* Parts of the signature's scope; date has the form 20150830T123600Z. */
	const char *date, *region, *service;
};
void e2_signature(const struct e2_signed *r, const char *secret, char out[static 65]);

/* launch.c, list.c, offers.c: actions */
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
/* True if the request may see the instance: the instance has the account and region of the request,
 * and no fault Late hides an instance of that age from the action. */
bool e2_is_known(struct e2_call *c, const struct e2_instance *i);
/* True if the item passes the filters of the request. has() returns 1 if the item has a value for
 * the filter `name` that matches the pattern, and 0 if not. It returns -1 for an unknown filter,
 * which sets the error of the request. */
bool e2_filters(struct e2_call *c,
		int (*has)(const void *item, const char *name, const char *pattern),
		const void *item);

/* fault.c. Adds a fault of any kind but SpotNotice. */
int e2_fault_add(struct sim_ec2 *s, const struct sim_ec2_fault *in, struct err *e);
/* Returns an active fault of the kind `what` for the action `on`, and counts the fault
 * down; NULL: no such fault. */
struct fault *e2_strikes(struct sim_ec2 *s, const char *what, const char *on);
/* Returns an active fault for this type and zone without counting it down; NULL: none. The caller
 * must call fault_struck() if the fault had an effect. */
struct fault *e2_stands(const struct sim_ec2 *s, const char *what, const char *on, const char *type,
			const char *zone);

/* control.c */
void e2_control_routes(struct sim_ec2 *s, struct httpd *d);

#endif
