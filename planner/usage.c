#include "planner/usage.h"

#include <stddef.h>

#define ONE ((uint64_t)1 << 62)
#define BITS 24
#define PER_LN2 1442695 /* 1 / ln 2, in millionths. */
#define LN2 693147

/* Values of 2^(-1/2), 2^(-1/4), 2^(-1/8) ..., as fractions of ONE. */
static const uint64_t root[BITS] = {
	0x2d413cccfe779921u, 0x35d13f32b5a75abdu, 0x3ab031b9f7490e4cu, 0x3d495f454921b30bu,
	0x3ea0ecb6dc8a80cfu, 0x3f4f83033d21b05du, 0x3fa784571ee3e213u, 0x3fd3b2d65447b229u,
	0x3fe9d59487236bb4u, 0x3ff4e9d4703df843u, 0x3ffa74acbdf6c9d5u, 0x3ffd3a46ffc6e30fu,
	0x3ffe9d1fa8010199u, 0x3fff4e8ede053ad5u, 0x3fffa747318376acu, 0x3fffd3a38961e6ffu,
	0x3fffe9d1c0d8fd14u, 0x3ffff4e8df7680c5u, 0x3ffffa746f7dc0ecu, 0x3ffffd3a37af8098u,
	0x3ffffe9d1bd3e854u, 0x3fffff4e8de8fe2cu, 0x3fffffa746f44197u, 0x3fffffd3a37a116bu,
};

/* Returns the decayed value of ONE after ms milliseconds; ms must be less than one half-life. */
static uint64_t rest_of(int64_t ms, int64_t half_life_ms)
{
	const uint64_t part =
		(uint64_t)(((unsigned __int128)ms << BITS) / (unsigned __int128)half_life_ms);
	uint64_t left = ONE;

	for (size_t i = 0; i < BITS; i++)
		if (part >> (BITS - 1 - i) & 1)
			left = (uint64_t)((unsigned __int128)left * root[i] / ONE);
	return left;
}

static int64_t within(__int128 n)
{
	return n < 0 ? 0 : n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

int64_t usage_after(int64_t gpu_seconds, int64_t held_milli, int64_t ms, int64_t half_life_ms)
{
	const int64_t halves = ms > 0 ? ms / half_life_ms : 0;
	const __int128 most = (__int128)within(held_milli) * half_life_ms / 1000 * PER_LN2 /
			      ((int64_t)1000 * 1000000);
	/* Difference between the sum and the value to which the sum converges if the holdings stay
	 * constant. */
	__int128 apart;
	uint64_t left;

	if (ms <= 0)
		return within(gpu_seconds);
	left = halves < 62 ? rest_of(ms % half_life_ms, half_life_ms) >> halves : 0;
	apart = (__int128)within(gpu_seconds) - within(most);
	return within(within(most) + apart * (__int128)left / (__int128)ONE);
}

int64_t usage_average(int64_t gpu_seconds, int64_t half_life_ms)
{
	return within((__int128)within(gpu_seconds) * LN2 / half_life_ms);
}
