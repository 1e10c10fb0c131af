#ifndef NETRIS_RELEASE_H
#define NETRIS_RELEASE_H

#include <stdbool.h>

/*
 * release: what is known about a controller's release, by the number that it reports.
 *
 * Publications on 4.5.3 to 4.15 describe server clusters, their lists and V-nets as this client
 * expects them. According to Netris' own notes, older releases sometimes removed servers from
 * clusters without a request, so drover changes nothing on an older release. A newer release, or
 * one that reports no number, may behave differently. A reply that drover cannot interpret never
 * counts as proof.
 *
 * The number is buildVersion of GET /api/users/permissions (netrisai/netriswebapi,
 * v2/types/version). Netris does not publish in which form each release reports the number, nor
 * whether every user may read it. Pure functions.
 * Tests: tests/unit/netris/test_release.c
 */
enum netris_release {
	NETRIS_RELEASE_UNTOLD,
	/* Older than 4.5.3: drover changes nothing on this controller. */
	NETRIS_RELEASE_OLD,
	NETRIS_RELEASE_COVERED,
	/* A release from 4.5.3 to 4.15 whose release notes report problems. */
	NETRIS_RELEASE_TROUBLED,
	NETRIS_RELEASE_NEW
};
#define NETRIS_RELEASE_TEXT 240

/* Classifies the release. build: number as reported; NULL: not reported. text: description for
 * display, with the remedy if there is one. */
enum netris_release netris_release_of(const char *build, char text[static NETRIS_RELEASE_TEXT]);

#endif
