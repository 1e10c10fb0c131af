#include "cli/near.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Maximum length, in bytes, of a word that is compared. A longer word counts as near to no name. */
enum { WORD_MAX = 63 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the edit distance of two words of at most WORD_MAX bytes, regardless of case. A swap of
 * two neighbours counts as one edit. */
static size_t distance_of(const char *a, const char *b)
{
	const size_t n = strlen(a), m = strlen(b);
	/* d[i][k]: distance of the first i bytes of a and the first k bytes of b */
	size_t d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			const int x = i ? tolower((unsigned char)a[i - 1]) : 0;
			const int y = k ? tolower((unsigned char)b[k - 1]) : 0;

			if (!i || !k) {
				d[i][k] = i + k;
				continue;
			}
			d[i][k] = least(d[i - 1][k - 1] + (x != y),
					least(d[i - 1][k], d[i][k - 1]) + 1);
			if (i > 1 && k > 1 && x == tolower((unsigned char)b[k - 2]) &&
			    y == tolower((unsigned char)a[i - 2]))
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void near_try(struct near *near, const char *name)
{
	const size_t typed = strlen(near->word), len = strlen(name);
	size_t distance, at;

	if (!typed || typed > WORD_MAX || len > WORD_MAX)
		return;
	distance = distance_of(near->word, name);
	if (typed >= 3 && strncasecmp(near->word, name, typed) == 0)
		distance = least(distance, 2);
	if (distance > 1 + typed / 4)
		return;
	for (at = near->n; at && near->v[at - 1].distance > distance; at--)
		;
	if (at == NEAR_NAMES)
		return;
	if (near->n < NEAR_NAMES)
		near->n++;
	memmove(&near->v[at + 1], &near->v[at], (near->n - at - 1) * sizeof(near->v[0]));
	near->v[at].name = name;
	near->v[at].distance = distance;
}

void near_print(const struct near *near, const char *prefix, FILE *out)
{
	for (size_t i = 0; i < near->n; i++)
		fprintf(out, "%s%s%s",
			!i		   ? "; did you mean "
			: i + 1 == near->n ? " or "
					   : ", ",
			prefix, near->v[i].name);
	if (near->n)
		fputc('?', out);
}
