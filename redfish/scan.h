#ifndef REDFISH_SCAN_H
#define REDFISH_SCAN_H

#include "redfish/internal.h"

/*
 * scan: the resources that a search for the virtual CD slot (media.c) has read and will read.
 * Tests: tests/unit/redfish/test_media.c
 */
#define RF_SCAN_LOOKS 40 /* Maximum number of requests of one search. */
#define RF_SCAN_TODO 64

enum media_node { COLLECTION, MANAGERS, MANAGER, SLOT };

struct rf_scan {
	struct {
		enum media_node node;
		char *path;
	} todo[RF_SCAN_TODO];
	size_t n;
	char *seen[RF_SCAN_LOOKS];
	size_t nseen;
	/* Type of the last entry in seen. */
	enum media_node asked;
	char *second_best;
	/* The first resource that the BMC does not serve; kind ERR_NONE: none. */
	struct err lacks;
	/* Continues the operation with the chosen slot. p: reply with the slot, read just now;
	 * NULL: read the slot first. */
	void (*found)(struct redfish *r, const struct rf_reply *p);
};

/* Adds a resource to read, unless it was read already or there are too many. Takes ownership of
 * path; NULL: adds nothing. */
void rf_scan_push(struct rf_scan *s, enum media_node node, char *path);

#endif
