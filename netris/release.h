#ifndef NETRIS_RELEASE_H
#define NETRIS_RELEASE_H

#include <stdbool.h>

/*
 * release: what is known of a controller's release, by the number that it tells.
 *
 * Server clusters, their lists and V-nets are as this client has them in what is published of 4.5.3
 * to 4.15. An older one lost servers of clusters by itself, by Netris' own notes: nothing is
 * changed there. A newer one, and one that does not tell its number, may be otherwise, and what is
 * not understood proves nothing.
 *
 * The number is buildVersion of GET /api/users/permissions (netrisai/netriswebapi,
 * v2/types/version). Which form it has in which release, and whether each user may read it, is not
 * published. Pure.
 * Tests: tests/unit/netris/test_release.c
 */
enum netris_release {
	NETRIS_RELEASE_UNTOLD,
	/* nothing is changed there */
	NETRIS_RELEASE_OLD,
	NETRIS_RELEASE_COVERED,
	/* covered, and its notes tell of trouble */
	NETRIS_RELEASE_TROUBLED,
	NETRIS_RELEASE_NEW
};
#define NETRIS_RELEASE_TEXT 240

/* build: as told; NULL: it is not.  text: for people, with what is to be done, if anything is. */
enum netris_release netris_release_of(const char *build, char text[static NETRIS_RELEASE_TEXT]);

#endif
