#include "base/uuid.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/str.h"

#define BYTES 16
#define GROUP 4 /* Size of the first group of a UUID in bytes. */

/* UUIDs that many machines have, because nobody assigned one. They are recognised in both byte
 * orders. */
static const char *const defaults[] = {
	"03000200-0400-0500-0006-000700080009", /* AMI firmware, on boards of many vendors. */
	"12345678-1234-5678-90ab-cddeefaabbcc",
	"12345678-1234-5678-1234-567812345678",
	"12345678-1234-1234-1234-123456789abc",
	"00010203-0405-0607-0809-0a0b0c0d0e0f",
	"01020304-0506-0708-090a-0b0c0d0e0f10",
	"00112233-4455-6677-8899-aabbccddeeff", /* Example of the SMBIOS specification. */
	"07090201-0103-0301-0807-060504030201",
	"11111111-2222-3333-4444-555555555555",
	"deadbeef-dead-beef-dead-beefdeadbeef",
	"4c4c4544-0000-2010-8020-80c04f202020", /* Dell, for a blank service tag. */
	"4c4c4544-0020-2010-8020-a0c04f202020",
};

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static bool is_dash(size_t i)
{
	return i == 4 || i == 6 || i == 8 || i == 10;
}

static bool parse(const char *text, uint8_t out[static BYTES])
{
	size_t len = strlen(text);
	bool dashes = len == UUID_TEXT - 1;

	if (!dashes && len != 2 * BYTES)
		return false;
	for (size_t i = 0; i < BYTES; i++, text += 2) {
		int high, low;

		if (dashes && is_dash(i) && *text++ != '-')
			return false;
		high = digit(text[0]);
		low = high < 0 ? -1 : digit(text[1]);
		if (low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static void print(const uint8_t in[static BYTES], char out[static UUID_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < BYTES; i++) {
		if (is_dash(i))
			*out++ = '-';
		*out++ = digits[in[i] >> 4];
		*out++ = digits[in[i] & 15];
	}
	*out = '\0';
}

static void turn_round(const uint8_t in[static BYTES], uint8_t out[static BYTES])
{
	static const uint8_t from[] = {3, 2, 1, 0, 5, 4, 7, 6};

	memcpy(out, in, BYTES);
	for (size_t i = 0; i < sizeof(from); i++)
		out[i] = in[from[i]];
}

static bool all_the_same(const uint8_t *b, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (b[i] != b[0])
			return false;
	return true;
}

static bool is_default(const uint8_t b[static BYTES])
{
	const uint8_t *rest = b + GROUP;
	uint8_t known[BYTES], other[BYTES];

	if (all_the_same(b, BYTES) ||
	    (all_the_same(rest, BYTES - GROUP) && (rest[0] == 0 || rest[0] == 0xff)))
		return true;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++) {
		if (!parse(defaults[i], known))
			continue;
		turn_round(known, other);
		if (memcmp(b, known, BYTES) == 0 || memcmp(b, other, BYTES) == 0)
			return true;
	}
	return false;
}

static enum uuid_kind read_bytes(const char *text, uint8_t out[static BYTES])
{
	if (str_empty(text))
		return UUID_NONE;
	if (!parse(text, out))
		return UUID_NOT;
	return is_default(out) ? UUID_DEFAULT : UUID_IS;
}

enum uuid_kind uuid_read(const char *text, char out[static UUID_TEXT])
{
	uint8_t b[BYTES];
	enum uuid_kind kind = read_bytes(text, b);

	out[0] = '\0';
	if (kind == UUID_DEFAULT || kind == UUID_IS)
		print(b, out);
	return kind;
}

bool uuid_is(const char *text)
{
	uint8_t b[BYTES];

	return read_bytes(text, b) == UUID_IS;
}

enum uuid_match uuid_compare(const char *a, const char *b)
{
	uint8_t x[BYTES], y[BYTES], other[BYTES];

	if (str_empty(a) || str_empty(b) || !parse(a, x) || !parse(b, y))
		return UUID_DIFFERENT;
	turn_round(y, other);
	/* Return early, because the majority of pairs differ; only equal UUIDs need the comparison
	 * with the defaults. */
	if (memcmp(x, y, BYTES) != 0 && memcmp(x, other, BYTES) != 0)
		return UUID_DIFFERENT;
	if (is_default(x))
		return UUID_DIFFERENT;
	return memcmp(x, y, BYTES) == 0 ? UUID_EXACT : UUID_SWAPPED;
}

bool uuid_same(const char *a, const char *b)
{
	return uuid_compare(a, b) != UUID_DIFFERENT;
}

bool uuid_key(const char *text, char out[static UUID_TEXT])
{
	uint8_t b[BYTES], other[BYTES];

	out[0] = '\0';
	if (read_bytes(text, b) != UUID_IS)
		return false;
	turn_round(b, other);
	print(memcmp(b, other, BYTES) < 0 ? b : other, out);
	return true;
}
