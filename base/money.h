#ifndef BASE_MONEY_H
#define BASE_MONEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/*
 * money: amounts of one currency as whole millionths (micro-units) in an int64_t, never floating
 * point.
 *
 * A text is 1 to 12 digits, optionally followed by a point and 1 to 6 digits ("6.50"), so every
 * allowed text has an exact value. Arithmetic that would overflow fails and changes nothing. The
 * caller must only add amounts of the same currency.
 * Tests: tests/unit/base/test_money.c
 */
#define MONEY_UNIT INT64_C(1000000)
#define MONEY_TEXT 24 /* Size of an amount's text in bytes. */
#define MONEY_TEXT_MAX (INT64_C(1000000000000) * MONEY_UNIT - 1)

/* Parses an amount. Fails with ERR_INVALID, naming the text; *micro is then unchanged. */
int money_parse(const char *text, int64_t *micro, struct err *e)
	__attribute__((warn_unused_result));
/* Writes the amount with two to six decimals, without trailing zeros after the second: "6.50",
 * "0.000001", "-1.25". */
const char *money_format(int64_t micro, char out[static MONEY_TEXT]);
/* True if money_parse() accepts the text. */
bool money_is_amount(const char *text);

/* Adds more to *sum. False: the sum would overflow; *sum is then unchanged. */
bool money_add(int64_t *sum, int64_t more) __attribute__((warn_unused_result));
/* Adds more to *sum, for a sum of costs that must never be too low: a sum beyond MONEY_TEXT_MAX
 * becomes MONEY_TEXT_MAX. Neither may be negative. */
void money_add_cost(int64_t *sum, int64_t more);
/* Sets *product to micro * times. False: overflow; *product is then unchanged. */
bool money_times(int64_t micro, int64_t times, int64_t *product)
	__attribute__((warn_unused_result));
/* Sets *micro to the cost of ms milliseconds at the price per_hour, rounded up to a whole
 * micro-unit. Neither argument may be negative. False: overflow. */
bool money_for_ms(int64_t per_hour, int64_t ms, int64_t *micro) __attribute__((warn_unused_result));
static inline bool money_for_seconds(int64_t per_hour, int64_t seconds, int64_t *micro)
{
	int64_t ms;

	return money_times(seconds, 1000, &ms) && money_for_ms(per_hour, ms, micro);
}

/* True for an ISO 4217 code of a currency in circulation ("EUR"); false for metals such as XAU and
 * for test codes. */
bool money_is_currency(const char *code);

#endif
