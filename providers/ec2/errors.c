#include "providers/ec2/errors.h"

#include <stddef.h>
#include <stdlib.h>
#include "base/str.h"

#define MINUTES 60000u

/* One error code and its meaning. after_ms: retry time if the reply contains none. clock: true if a
 * wrong clock can cause this error. */
struct row {
	const char *code;
	enum err_kind kind;
	enum err_scope scope;
	uint32_t after_ms;
	bool clock;
};

static const struct row rows[] = {
	/* No capacity in the zone; another zone, type or market may have capacity. */
	{"InsufficientInstanceCapacity", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"InsufficientHostCapacity", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"InsufficientReservedInstanceCapacity", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"InsufficientCapacity", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"InsufficientCapacityOnHost", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"UnfulfillableCapacity", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"ReservationCapacityExceeded", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"InsufficientFreeAddressesInSubnet", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"CapacityReservationNotActive", ERR_CAPACITY, ERR_ZONE, 3 * MINUTES, false},
	{"SpotMaxPriceTooLow", ERR_PRICE, ERR_ZONE, 3 * MINUTES, false},
	/* limits of the account, which an operator can raise */
	{"VcpuLimitExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	{"InstanceLimitExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	{"MaxSpotInstanceCountExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	{"MaxFleetCountExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	{"VolumeLimitExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	{"NetworkInterfaceLimitExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	{"AddressLimitExceeded", ERR_QUOTA, ERR_ACCOUNT, 15 * MINUTES, false},
	/* The zone does not offer the type at all. */
	{"Unsupported", ERR_UNSUPPORTED, ERR_ZONE, 60 * MINUTES, false},
	{"UnsupportedOperation", ERR_UNSUPPORTED, ERR_REQUEST, 0, false},
	/* too many calls */
	{"RequestLimitExceeded", ERR_UNAVAILABLE, ERR_ACCOUNT, 5000, false},
	{"Throttling", ERR_UNAVAILABLE, ERR_ACCOUNT, 5000, false},
	{"ThrottlingException", ERR_UNAVAILABLE, ERR_ACCOUNT, 5000, false},
	{"EC2ThrottledException", ERR_UNAVAILABLE, ERR_ACCOUNT, 5000, false},
	/* authentication and permissions */
	{"AuthFailure", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"SignatureDoesNotMatch", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"RequestExpired", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"RequestTimeTooSkewed", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"InvalidSignatureException", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"ExpiredToken", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"ExpiredTokenException", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"IncompleteSignature", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"MissingAuthenticationToken", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"InvalidClientTokenId", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"InvalidIdentityToken", ERR_DENIED, ERR_ACCOUNT, 0, true},
	{"UnauthorizedOperation", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"AccessDenied", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"OptInRequired", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"PendingVerification", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"Blocked", ERR_DENIED, ERR_ACCOUNT, 0, false},
	{"OperationNotPermitted", ERR_DENIED, ERR_REQUEST, 0, false},
	/* objects and their states */
	{"InvalidInstanceID.NotFound", ERR_NOT_FOUND, ERR_REQUEST, 0, false},
	{"InvalidCapacityReservationId.NotFound", ERR_NOT_FOUND, ERR_REQUEST, 0, false},
	{"IdempotentParameterMismatch", ERR_CONFLICT, ERR_REQUEST, 0, false},
	{"IdempotentInstanceTerminated", ERR_CONFLICT, ERR_REQUEST, 0, false},
	{"IncorrectInstanceState", ERR_CONFLICT, ERR_REQUEST, 0, false},
	{"IncorrectState", ERR_CONFLICT, ERR_REQUEST, 0, false},
};

static const struct row *row_of(const char *code)
{
	for (size_t i = 0; code && i < sizeof(rows) / sizeof(*rows); i++)
		if (str_eq(rows[i].code, code))
			return &rows[i];
	return NULL;
}

static int64_t distance(int64_t ms)
{
	return ms < 0 ? -ms : ms;
}

bool ec2_is_of_clock(const struct ec2_failure *f)
{
	const struct row *r = row_of(f->code);

	return distance(f->skew_ms) > EC2_SKEW_MS &&
	       (r ? r->clock : f->status == 401 || f->status == 403);
}

static struct row guess(const struct ec2_failure *f)
{
	struct row r = {.kind = ERR_INVALID, .scope = ERR_REQUEST};

	if (f->status >= 500 || f->status == 429) {
		r.kind = /* mutant: ec2-lost-reply */ f->changes && f->status != 429
				 ? ERR_TIMEOUT
				 : ERR_UNAVAILABLE;
		r.scope = ERR_PROVIDER;
		r.after_ms = 5000;
	} else if (!f->code) {
		r.kind = f->status >= 400 ? err_kind_of_http(f->status) : ERR_PROTOCOL;
	}
	return r;
}

int ec2_error(const struct ec2_failure *f, struct err *e)
{
	const struct row *known = row_of(f->code);
	struct row r = known ? *known : guess(f);

	if (ec2_is_of_clock(f)) {
		err_note(e, ERR_UNAVAILABLE, f->status,
			 "this host's clock is %lld s %s the cloud's, therefore requests are "
			 "refused (%s): correct the clock",
			 (long long)(distance(f->skew_ms) / 1000),
			 f->skew_ms > 0 ? "behind" : "ahead of", str_or(f->code, "no code"));
		e->scope = ERR_PROVIDER;
		return -1;
	}
	err_note(e, r.kind, f->status, "%.60s: %.160s", str_or(f->code, "a reply without a code"),
		 str_or(f->message, ""));
	e->scope = r.scope;
	e->retry_after_ms = f->retry_after_ms ? f->retry_after_ms : r.after_ms;
	return -1;
}

bool ec2_is_expired(const char *code)
{
	return str_eq(code, "ExpiredToken") || str_eq(code, "ExpiredTokenException") ||
	       str_eq(code, "RequestExpired");
}
