#ifndef CLI_UP_RACK_H
#define CLI_UP_RACK_H

#include <jansson.h>
#include "base/arena.h"
#include "base/loop/loop.h"
#include "cli/up/ports.h"
#include "sim/machine/faults.h"

/*
 * rack: the simulated rack of `drover up`. It has the machines, TLS listeners for their BMCs, one
 * more listener for users and for the program that moves switch ports, and the server of the OS
 * image. It runs in a process of its own (rack_process.h), so that the work of machines does not
 * delay drover.
 * Tests: tests/unit/cli/up/test_rack.c, tests/real/up.py, examples/demo.py
 */
#define UP_PROVIDER "rack" /* name of the Provider, and prefix of the names of its Secrets */
#define UP_MACHINES_MAX 10000
/* Each BMC has a listener and a certificate of its own in a rack of up to UP_LISTENERS machines. A
 * larger rack has one listener on all addresses, because the listeners would need more open files
 * than a process may have; drover then trusts the certificate that it sees at first contact. */
#define UP_LISTENERS 1000

struct up_rack_spec {
	/* machines: 1 to UP_MACHINES_MAX. racks: number of racks that share them. speed: factor by
	 * which the machines are faster than usual. port: first of the ports (ports.h). */
	int64_t machines, racks, speed, port;
	/* data: folder of `drover up`. program: path of this executable, which also moves the
	 * switch ports. faults: file with the faults to inject; NULL: none. */
	const char *data, *program, *faults;
	/* Password of the BMCs, token with which joined nodes authenticate, key of the CA. */
	const char *bmc_password, *kubelet_token, *ca_key;
	/* Certificate of the CA that issues the BMCs' certificates, PEM. */
	const char *ca_pem;
	/* Name of each tenant, URL and CA certificate of its API server. */
	struct up_rack_tenant {
		const char *name, *url, *ca_pem;
	} tenants[UP_TENANTS];
};

/* Reads the faults in a file into *out, in the arena; path NULL: none. Returns 0, or -1 with *e,
 * which names the option, the file and the row. */
int up_faults_read(const char *path, struct arena *a, struct sim_faults *out, struct err *e)
	__attribute__((warn_unused_result));

struct up_rack;
/* Borrows *s and its texts until up_rack_free(). NULL with *e; ERR_CONFLICT: another process uses
 * the rack's folder. */
struct up_rack *up_rack_new(struct loop *l, const struct up_rack_spec *s, struct err *e);
void up_rack_free(struct up_rack *r);
/* Returns the Provider and the Machines of the rack, as a JSON array that the caller owns; NULL
 * with *e. */
json_t *up_rack_objects(const struct up_rack *r, struct err *e);
/* Returns the digest of the OS image; valid until up_rack_free(). */
const char *up_rack_image_digest(const struct up_rack *r);

#endif
