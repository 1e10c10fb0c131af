#include "base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static struct {
	pthread_once_t once;
	uint64_t k[2];
} hash_key = {.once = PTHREAD_ONCE_INIT};

static void make_key(void)
{
	if (getrandom(hash_key.k, sizeof(hash_key.k), 0) != (ssize_t)sizeof(hash_key.k))
		abort();
}

static inline uint64_t rotl(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

uint64_t hash_keyed(const void *bytes, size_t len, uint64_t salt)
{
	const char *p = bytes;
	uint64_t v[4], word;

	(void)pthread_once(&hash_key.once, make_key);
	v[0] = hash_key.k[0] ^ salt ^ 0x736f6d6570736575;
	v[1] = hash_key.k[1] ^ 0x646f72616e646f6d;
	v[2] = hash_key.k[0] ^ salt ^ 0x6c7967656e657261;
	v[3] = hash_key.k[1] ^ 0x7465646279746573;
	for (size_t left = len;; p += 8, left -= 8) {
		word = 0;
		memcpy(&word, p, left < 8 ? left : 8);
		if (left < 8)
			word |= (uint64_t)len << 56;
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
		if (left < 8)
			break;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
