#ifndef REDFISH_DRIVE_LIST_H
#define REDFISH_DRIVE_LIST_H

#include "redfish/internal.h"

/*
 * drive_list: the list of drives while drives.c reads it, and the resources that it will read.
 * Tests: tests/unit/redfish/test_drives.c
 */
#define RF_DRIVES_MAX 256
#define RF_DRIVES_LOOKS 600
#define RF_DRIVES_TODO 512

enum drive_node { COLLECTION, STORAGE, DRIVE, VOLUME, SIMPLES, SIMPLE, MANAGER };

struct rf_volume {
	char *path;
	/* True: the BMC does not serve this volume. */
	bool lacking;
	struct redfish_volume of;
};

struct rf_drives {
	struct arena *strings;
	struct {
		enum drive_node node;
		char *path;
	} todo[RF_DRIVES_TODO];
	size_t n, looks;
	struct redfish_drive drives[RF_DRIVES_MAX];
	/* Index into volumes, plus 1; 0: the drive is in no volume. */
	size_t volume_of[RF_DRIVES_MAX];
	size_t ndrives;
	struct rf_volume volumes[RF_DRIVES_MAX];
	size_t nvolumes;
	/* Path of the System's SimpleStorage, read only if no Drive is listed; NULL: none. */
	char *simples;
	/* True: the BMC does not serve Storage itself (lacks has the error). */
	bool simple;
	/* Error of the first part of the list that the BMC does not serve; kind ERR_NONE: none. */
	struct err lacks;
};

/* Adds a resource to read, unless there are too many. Takes ownership of path; NULL: adds
 * nothing. */
void rf_drives_push(struct rf_drives *s, enum drive_node node, char *path);

#endif
