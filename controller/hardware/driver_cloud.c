#include "controller/hardware/driver_cloud.h"

#include <stdlib.h>
#include <string.h>
#include "base/market.h"
#include "base/data/json.h"
#include "base/money.h"
#include "base/str.h"
#include "controller/core/secrets.h"
#include "providers/ec2/provider.h"

static const char *login_name(const struct provider_object *p)
{
	return p->spec.credentials_secret_ref ? p->spec.credentials_secret_ref->name : NULL;
}

static const char *ca_name(const struct provider_object *p)
{
	return p->spec.ec2 && p->spec.ec2->ca_secret_ref ? p->spec.ec2->ca_secret_ref->name : NULL;
}

bool driver_cloud_needs(const struct provider_object *p, const char *secret)
{
	return p->spec.ec2 && (str_eq(login_name(p), secret) || str_eq(ca_name(p), secret));
}

static const char *add_secret(const struct driver *s, const char *name, const char *text,
			      struct arena *a)
{
	if (!name)
		return arena_printf(a, "%s|", text);
	return arena_printf(a, "%s|%s %d %s", text, name,
			    (int)secrets_want(s->c->secrets, NULL, name),
			    secrets_version(s->c->secrets, NULL, name));
}

const char *driver_cloud_digest(const struct driver *s, const struct provider_object *p,
				struct arena *a)
{
	OWN_JSON whole = NULL;
	const char *text;
	char *spec;

	if (!p->spec.ec2)
		return "";
	whole = fields_encode(object_kinds[OBJECT_PROVIDER].fields, p);
	spec = json_text(json_at(whole, "spec", "ec2"));
	text = arena_printf(a, "|%s", spec);
	free(spec);
	for (size_t i = 0; i < p->spec.instance_types.n; i++) {
		const struct provider_object_instance_type *t = &p->spec.instance_types.v[i];

		text = arena_printf(a, "%s|%s %lld %lld %lld %s %lld", text, t->name,
				    (long long)t->price_per_hour, (long long)t->spot_price_per_hour,
				    (long long)t->reserved_price_per_hour, str_or(t->currency, ""),
				    (long long)t->efa_interfaces);
	}
	return add_secret(s, ca_name(p), add_secret(s, login_name(p), text, a), a);
}

/* --- contents of struct provider_cloud -------------------------------------------------------- */

static const char *const *groups_of(const struct strings *from, struct arena *a)
{
	const char **v;

	if (!from->n)
		return NULL;
	v = arena_calloc(a, from->n + 1, sizeof(*v));
	for (size_t i = 0; i < from->n; i++)
		v[i] = from->v[i];
	return v;
}

static void put_zones(const struct provider_object_ec2 *c, struct arena *a,
		      struct provider_cloud *out)
{
	struct provider_cloud_zone *v = arena_calloc(a, c->zones.n + 1, sizeof(*v));

	for (size_t i = 0; i < c->zones.n; i++) {
		const struct provider_object_zone *z = &c->zones.v[i];

		v[i] = (struct provider_cloud_zone){.region = z->region,
						    .zone = z->zone,
						    .subnet = z->subnet,
						    .security_groups =
							    groups_of(&z->security_groups, a),
						    .image = z->image};
	}
	out->zones.v = v;
	out->zones.n = c->zones.n;
}

/* Sets the queues; the region of a queue is part of its host name. */
static void put_queues(const struct provider_object_ec2 *c, struct arena *a,
		       struct provider_cloud *out)
{
	struct provider_cloud_queue *v = arena_calloc(a, c->event_queues.n + 1, sizeof(*v));

	for (size_t i = 0; i < c->event_queues.n; i++) {
		const char *region = c->event_queues.v[i] + strlen("https://sqs.");

		v[i].url = c->event_queues.v[i];
		v[i].region = arena_strndup(a, region, strcspn(region, "."));
	}
	out->queues.v = v;
	out->queues.n = c->event_queues.n;
}

static void put_price(struct provider_cloud *out, struct provider_cloud_price *v,
		      const struct provider_object_instance_type *t, int64_t micros_per_hour,
		      enum market market)
{
	if (micros_per_hour < 0)
		return;
	v[out->prices.n++] = (struct provider_cloud_price){
		.type = t->name,
		.market = market,
		.micros_per_hour = micros_per_hour,
	};
	out->currency = t->currency;
}

/* Sets the instance types and prices in *out. All types are marked as available on demand, but a
 * type without a price is never launched. */
static void put_types(const struct provider_object *p, struct arena *a, struct provider_cloud *out)
{
	size_t n = p->spec.instance_types.n;
	struct provider_cloud_type *types = arena_calloc(a, n + 1, sizeof(*types));
	struct provider_cloud_price *prices = arena_calloc(a, 3 * n + 1, sizeof(*prices));

	for (size_t i = 0; i < n; i++) {
		const struct provider_object_instance_type *t = &p->spec.instance_types.v[i];

		types[i] =
			(struct provider_cloud_type){.name = t->name,
						     .efa_interfaces = (unsigned)t->efa_interfaces,
						     .on_demand = true,
						     .spot = t->spot_price_per_hour >= 0};
		put_price(out, prices, t, t->price_per_hour, MARKET_ON_DEMAND);
		put_price(out, prices, t, t->spot_price_per_hour, MARKET_SPOT);
		put_price(out, prices, t, t->reserved_price_per_hour, MARKET_RESERVED);
	}
	out->types.v = types;
	out->types.n = n;
	out->prices.v = prices;
}

/* --- Secrets ---------------------------------------------------------------------------------- */

static int ensure_read(const struct driver *s, const char *field, const char *name, struct err *e)
{
	enum secret_state st = secrets_want(s->c->secrets, NULL, name);

	if (st == SECRET_LOADED)
		return 0;
	if (st == SECRET_LOADING || st == SECRET_ERROR)
		return err_set(e, ERR_UNAVAILABLE, 0, "Secret %s is being read", name);
	return err_set(e, ERR_NOT_FOUND, 0, "%s: Secret %s: %s", field, name,
		       st == SECRET_DENIED ? "drover may not read it" : "does not exist");
}

static int put_login(const struct driver *s, const struct provider_object *p,
		     struct provider_cloud *out, struct err *e)
{
	static const char field[] = "spec.credentialsSecretRef";
	const char *name = login_name(p);
	const struct secret *id;

	out->login = PROVIDER_LOGIN_FOUND;
	if (!name)
		return 0;
	if (ensure_read(s, field, name, e) < 0)
		return -1;
	id = secrets_value(s->c->secrets, NULL, name, "accessKeyID");
	out->login = PROVIDER_LOGIN_KEYS;
	out->secret_access_key = secrets_value(s->c->secrets, NULL, name, "secretAccessKey");
	out->session_token = secrets_value(s->c->secrets, NULL, name, "sessionToken");
	if (!id || !out->secret_access_key)
		return err_set(e, ERR_NOT_FOUND, 0,
			       "%s: Secret %s: keys accessKeyID and secretAccessKey are needed",
			       field, name);
	out->access_key_id = secret_expose(id);
	return out->endpoint ? secrets_check_endpoint(s->c->secrets, field, name, out->endpoint, e)
			     : 0;
}

static int put_ca(const struct driver *s, const struct provider_object *p,
		  struct provider_cloud *out, struct err *e)
{
	const struct object_secret_ref *ref = p->spec.ec2->ca_secret_ref;
	const char *key = ref ? str_or(ref->key, "ca.crt") : NULL;
	const struct secret *ca;

	if (!ref)
		return 0;
	if (ensure_read(s, "spec.ec2.caSecretRef", ref->name, e) < 0)
		return -1;
	ca = secrets_value(s->c->secrets, NULL, ref->name, key);
	if (!ca)
		return err_set(e, ERR_NOT_FOUND, 0, "spec.ec2.caSecretRef: Secret %s has no %s",
			       ref->name, key);
	out->ca_pem = secret_expose(ca);
	return 0;
}

int driver_cloud_of(const struct driver *s, const struct provider_object *p, struct arena *a,
		    struct provider_cloud *out, struct err *e)
{
	const struct provider_object_ec2 *c = p->spec.ec2;

	*out = (struct provider_cloud){
		.endpoint = c->endpoint,
		.image = c->image,
		.key_name = c->key_name,
		.instance_profile = c->instance_profile,
		.placement_group = c->placement_group,
		.reservations = c->reservations,
	};
	if (c->assume_role) {
		out->assume_role.arn = c->assume_role->arn;
		out->assume_role.external_id = c->assume_role->external_id;
		out->assume_role.session_name = c->assume_role->session_name;
	}
	if (c->root_device) {
		out->root_device = c->root_device->name;
		out->root_gib = c->root_device->size_gib;
	}
	put_zones(c, a, out);
	put_queues(c, a, out);
	put_types(p, a, out);
	return put_login(s, p, out, e) < 0 || put_ca(s, p, out, e) < 0 ? -1 : 0;
}
