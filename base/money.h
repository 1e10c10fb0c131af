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
 * A text is 1 to 12 digits, and after a point 1 to 6 more ("6.50"): so every text that is allowed
 * is exact. Arithmetic that would leave the range fails and changes nothing. Who adds amounts sees
 * to it that they are of one currency.
 * Tests: tests/unit/base/test_money.c
 */
#define MONEY_UNIT INT64_C(1000000)
#define MONEY_TEXT 24 /* bytes of an amount's text */
#define MONEY_TEXT_MAX (INT64_C(1000000000000) * MONEY_UNIT - 1)

/* ERR_INVALID, naming the text; *micro is then unchanged. */
int money_parse(const char *text, int64_t *micro, struct err *e)
	__attribute__((warn_unused_result));
/* At least two digits after the point, and no zero behind them: "6.50", "0.000001", "-1.25". */
const char *money_format(int64_t micro, char out[static MONEY_TEXT]);
/* money_parse() takes it */
bool money_is_amount(const char *text);

/* *sum += more. */
bool money_add(int64_t *sum, int64_t more) __attribute__((warn_unused_result));
/* *product = micro * times. */
bool money_times(int64_t micro, int64_t times, int64_t *product)
	__attribute__((warn_unused_result));
/* What so much time costs at so much an hour; a part of a micro-unit counts as a whole one. Neither
 * is negative. */
bool money_for_ms(int64_t per_hour, int64_t ms, int64_t *micro) __attribute__((warn_unused_result));
static inline bool money_for_seconds(int64_t per_hour, int64_t seconds, int64_t *micro)
{
	int64_t ms;

	return money_times(seconds, 1000, &ms) && money_for_ms(per_hour, ms, micro);
}

/* A code of ISO 4217 that is money in use somewhere: "EUR"; not metals such as XAU, nor codes for
 * tests. */
bool money_is_currency(const char *code);

#endif
