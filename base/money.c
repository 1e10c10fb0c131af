#include "base/money.h"

#include <string.h>
#include "base/str.h"

enum { WHOLE_MAX = 12, FRACTION_MAX = 6, MS_PER_HOUR = 3600 * 1000 };

/* Currency codes of ISO 4217:2015, list one as of amendment 179, without funds, metals and codes
 * for tests. */
static const char currencies[] =
	"AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN "
	"BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP "
	"GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS "
	"KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR "
	"MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD "
	"RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP "
	"TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW "
	"ZWG ";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads at least one digit and at most `max`; *n is their number, *value the number that they
 * form. */
static bool take_digits(const char **s, size_t max, int64_t *value, size_t *n)
{
	for (*n = 0; is_digit(**s) && *n < max; (*s)++, (*n)++)
		*value = *value * 10 + (**s - '0');
	return *n > 0 && !is_digit(**s);
}

static bool parse(const char *s, int64_t *micro)
{
	int64_t value = 0;
	size_t n;

	if (!take_digits(&s, WHOLE_MAX, &value, &n))
		return false;
	n = 0;
	if (*s == '.') {
		s++;
		if (!take_digits(&s, FRACTION_MAX, &value, &n))
			return false;
	}
	for (; n < FRACTION_MAX; n++)
		value *= 10;
	*micro = value;
	return *s == '\0';
}

bool money_is_amount(const char *text)
{
	int64_t micro;

	return parse(text, &micro);
}

int money_parse(const char *text, int64_t *micro, struct err *e)
{
	int64_t value;

	if (!parse(text, &value))
		return err_set(e, ERR_INVALID, 0, "want an amount such as \"6.50\", got \"%s\"",
			       text);
	*micro = value;
	return 0;
}

const char *money_format(int64_t micro, char out[static MONEY_TEXT])
{
	uint64_t v = micro < 0 ? -(uint64_t)micro : (uint64_t)micro;
	char *end;

	str_format(out, MONEY_TEXT, "%s%llu.%06llu", micro < 0 ? "-" : "",
		   (unsigned long long)(v / MONEY_UNIT), (unsigned long long)(v % MONEY_UNIT));
	end = out + strlen(out);
	for (size_t n = 0; n < FRACTION_MAX - 2 && end[-1] == '0'; n++)
		*--end = '\0';
	return out;
}

bool money_add(int64_t *sum, int64_t more)
{
	int64_t v;

	if (__builtin_add_overflow(*sum, more, &v))
		return false;
	*sum = v;
	return true;
}

void money_add_cost(int64_t *sum, int64_t more)
{
	if (!money_add(sum, more) || *sum > MONEY_TEXT_MAX)
		*sum = MONEY_TEXT_MAX;
}

bool money_times(int64_t micro, int64_t times, int64_t *product)
{
	int64_t v;

	if (__builtin_mul_overflow(micro, times, &v))
		return false;
	*product = v;
	return true;
}

bool money_for_ms(int64_t per_hour, int64_t ms, int64_t *micro)
{
	__int128 v;

	if (per_hour < 0 || ms < 0)
		return false;
	v = ((__int128)per_hour * ms + MS_PER_HOUR - 1) / MS_PER_HOUR;
	if (v > INT64_MAX)
		return false;
	*micro = (int64_t)v;
	return true;
}

bool money_is_currency(const char *code)
{
	if (strlen(code) != 3)
		return false;
	for (const char *p = currencies; *p; p += 4)
		if (memcmp(p, code, 3) == 0)
			return true;
	return false;
}
