#ifndef PROVIDERS_HARDWARE_H
#define PROVIDERS_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "providers/managed.h"

/*
 * hardware: the calls of a provider about one machine behind a BMC: observation, power, boot, media
 * and drives. provider.h has the rules for all calls.
 *
 * An implementation fills struct provider_hardware_ops and names it in its struct provider_ops. A
 * slot that is NULL: the type does not have the call, which then ends with ERR_UNSUPPORTED.
 * Tests: tests/unit/providers/test_provider.c, tests/contract/test_provider.c
 */
struct err;
struct provider;
struct provider_call;
struct provider_machine;

enum provider_power {
	PROVIDER_POWER_UNKNOWN,
	PROVIDER_POWER_OFF,
	PROVIDER_POWER_ON,
	PROVIDER_POWER_CHANGING
};
/* Names of enum provider_power, by value: Unknown, Off, On, Changing. */
extern const char *const provider_power_names[];
enum provider_boot {
	/* no boot override */
	PROVIDER_BOOT_DISK,
	PROVIDER_BOOT_MEDIA,
	PROVIDER_BOOT_HTTP
};

/* Boot override: what the BMC reports that the machine boots next instead of its disk. */
enum provider_override {
	PROVIDER_OVERRIDE_NONE,
	/* virtual media */
	PROVIDER_OVERRIDE_MEDIA,
	PROVIDER_OVERRIDE_HTTP,
	/* Any override that drover does not set: network, USB, firmware setup, or a value that the
	 * BMC has no name for. */
	PROVIDER_OVERRIDE_OTHER,
};

/* A drive listed by the BMC of the machine, whether or not the agent finds it. Members that are not
 * reported are NULL or 0. */
struct provider_drive {
	const char *serial, *model;
	/* Permanent identifier (EUI, NAA or UUID) as the BMC reports it */
	const char *durable;
	/* Human-readable location of the drive */
	const char *slot;
	int64_t bytes;
	/* Name and permanent identifier of the RAID volume that contains the drive; NULL: none */
	const char *volume, *volume_durable;
	int64_t volume_bytes;
};

/* One observation of a machine. */
struct provider_observation {
	/* loop_now() when the read was sent; the reported state is from this time or later. */
	int64_t read_at;
	enum provider_power power;
	/* System UUID and serial number as the BMC reports them; NULL: not reported */
	const char *system_uuid, *serial;
	enum provider_override boot_override;
	/* True: the state of the virtual media was read, or the machine has no media slot. False:
	 * it could not be read this time. */
	bool media_known;
	bool media_inserted;
	/* URL of the inserted medium; NULL: none or unknown */
	const char *media_url;
	/* True if the media slot can fetch media by HTTPS, as far as the BMC reports it. */
	bool media_https;
	/* True if the BMC reports that the media slot checks the certificate of the HTTPS
	 * server. */
	bool media_verified;
	/* URL for HTTP boot, set for the next boot or used by the last one; NULL: none or
	 * unknown */
	const char *http_url;
	/* Network address from which the BMC answers; NULL: unknown */
	const char *address;
	/* URI of the open BMC session, which the caller must record in the journal; NULL: none */
	const char *session_uri;
	/* Fingerprint of the BMC's certificate that was accepted at first contact and must be
	 * stored; NULL: none */
	const char *learned_pin;
	/* Human-readable list of sensors in a critical state; "": none. NULL: the sensors were not
	 * read this time. */
	const char *fault;
	/* Why the last attempt to read the sensors failed; NULL: it did not fail */
	const char *unsensed;
	/* Machines of a manager only: progress of the installation named by provider_call.handle */
	enum provider_progress progress;
	/* State of the installation in the manager's words; NULL: none */
	const char *handle_state;
	/* Result of the call drives(). drives_more: true if the list is not complete yet and
	 * drives() has to be called again. */
	const struct provider_drive *drives;
	size_t ndrives;
	bool drives_more;
	/* Why `drives` is incomplete: the error of the request for the part of the list that the
	 * BMC does not serve; its code is the HTTP status. Code 0: that part was not requested
	 * (provider_call.unless_firmware). NULL: `drives` is the complete list. */
	const struct err *drives_lack;
	/* True: the BMC does not serve the full list at all, and `drives` comes from a list with
	 * less detail (SimpleStorage) */
	bool drives_simple;
};

/* Human-readable facts about the BMC of a machine. The texts belong to the provider and are valid
 * until its next call. */
#define PROVIDER_QUIRKS 16
struct provider_bmc {
	/* Vendor, product and firmware version of the BMC; NULL: not reported, or not read yet */
	const char *vendor, *product, *firmware;
	/* Version of the management protocol, such as Redfish 1.15.0 */
	const char *service_version;
	/* IDs of the quirks (deviations from the standard, redfish/quirks.def) that apply */
	const char *quirks[PROVIDER_QUIRKS];
	size_t nquirks;
	/* How the BMC gets boot media: HTTP, HTTPS, Disabled or None; NULL: not known yet */
	const char *media;
	/* Slot used for boot media; NULL: none, or not known yet. */
	const char *slot;
	/* Kind of the open login, Session or Basic; NULL: no login is open */
	const char *login;
	/* Smoothed latency of an answer, in ms; -1: no answer yet. */
	int64_t latency_ms;
	/* Number of requests since the machine was attached. */
	uint64_t calls;
};

/* Kind of drive interface of a machine that drover creates from a template (type libvirt). */
enum provider_bus { PROVIDER_BUS_SATA, PROVIDER_BUS_NVME };
/* Names of enum provider_bus, by value: sata, nvme. */
extern const char *const provider_bus_names[];
#define PROVIDER_DRIVES 8
struct provider_template {
	/* UID of the Provider that defines the machine; never changes */
	const char *owner;
	/* System UUID; never changes. */
	const char *uuid;
	int64_t cpus, memory_bytes;
	/* Name of the libvirt network, or of the bridge of the host; both NULL: a user network (NAT
	 * by QEMU) */
	const char *network, *bridge;
	/* Domain type: kvm or qemu; NULL: kvm if the host supports it. */
	const char *type;
	size_t ndrives;
	struct {
		enum provider_bus bus;
		int64_t bytes;
	} drives[PROVIDER_DRIVES];
};

struct provider_hardware_ops {
	void (*observe)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	void (*power)(struct provider *p, struct provider_machine *m, bool on,
		      const struct provider_call *c);
	void (*boot)(struct provider *p, struct provider_machine *m, enum provider_boot how,
		     const char *url, const struct provider_call *c);
	/* Inserts the boot medium at url; url NULL: ejects the medium */
	void (*media)(struct provider *p, struct provider_machine *m, const char *url,
		      const struct provider_call *c);
	/* define() creates the machine with its drives; afterwards it is off. undefine() deletes
	 * the machine and its drives; it refuses while the machine is on. ERR_CONFLICT: a machine
	 * of that name exists that drover does not own. t is read inside the call. */
	void (*define)(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
	void (*undefine)(struct provider *p, struct provider_machine *m,
			 const struct provider_template *t, const struct provider_call *c);
	/* Reads the list of drives from the BMC, but neither power nor media. If the BMC must be
	 * asked for each drive, several calls are needed (drives_more). */
	void (*drives)(struct provider *p, struct provider_machine *m,
		       const struct provider_call *c);
	/* Ends the open login, if any; the next call logs in again. */
	void (*log_out)(struct provider *p, struct provider_machine *m,
			const struct provider_call *c);
	/* Returns the URI of the session that is accepted and open, even while the call that opened
	 * it still runs or after that call failed; NULL: none. *only: true if no older session of
	 * drover is known to be open. */
	const char *(*session)(const struct provider_machine *m, bool *only);
	/* Writes the known facts about the BMC to *out. False: no facts are known yet, but calls
	 * and latency_ms are set. */
	bool (*bmc)(const struct provider_machine *m, struct provider_bmc *out);
	/* Passes the URI of a session that is still open but recorded in no journal, so that the
	 * next login ends it. */
	void (*inherit)(struct provider_machine *m, const char *session);
};

void provider_observe(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);
void provider_power(struct provider *p, struct provider_machine *m, bool on,
		    const struct provider_call *c);
void provider_boot(struct provider *p, struct provider_machine *m, enum provider_boot how,
		   const char *url, const struct provider_call *c);
void provider_media(struct provider *p, struct provider_machine *m, const char *url,
		    const struct provider_call *c);
void provider_define(struct provider *p, struct provider_machine *m,
		     const struct provider_template *t, const struct provider_call *c);
void provider_undefine(struct provider *p, struct provider_machine *m,
		       const struct provider_template *t, const struct provider_call *c);
void provider_drives(struct provider *p, struct provider_machine *m, const struct provider_call *c);
const char *provider_session(const struct provider *p, const struct provider_machine *m,
			     bool *only);
bool provider_bmc(const struct provider *p, const struct provider_machine *m,
		  struct provider_bmc *out);
void provider_inherit(const struct provider *p, struct provider_machine *m, const char *session);
void provider_log_out(struct provider *p, struct provider_machine *m,
		      const struct provider_call *c);

#endif
