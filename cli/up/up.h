#ifndef CLI_UP_UP_H
#define CLI_UP_UP_H

#include "cli/trace_options.h"
#include "base/httpd/httpd_cert.h"
#include "base/httpd/httpd_mhd.h"
#include "controller/controller.h"
#include "cli/up/server.h"
#include "sim/faults.h"
#include "sim/scheduler.h"
#include "sim/workloads.h"

/*
 * up: declarations that the files of `drover up` share:
 *
 *   cli/up/up.c       the command line; starts and stops servers and controller
 *   cli/up/objects.c  the objects of the host cluster, and how they are applied
 *   cli/up/rack.c     the simulated machines, their BMCs, the image that they run
 *   cli/up/common.c   URLs and certificates
 *
 * Everything runs in one process on one loop. Ports count up from `port`, so that a kubeconfig
 * stays valid after a restart.
 * Tests: tests/unit/cli/up/test_up.c, tests/real/up.py, examples/demo.py
 */
#define UP_TENANTS 2
#define UP_PROVIDER "rack" /* name of the Provider, and prefix of the names of its Secrets */
/* lifetime in days of the certificates, which are issued anew at each start */
#define UP_CERT_DAYS 365

enum up_port {
	UP_PORT_HOST,
	/* first of UP_TENANTS ports, one for each tenant's API server */
	UP_PORT_TENANT,
	UP_PORT_AGENT = UP_PORT_TENANT + UP_TENANTS,
	UP_PORT_MEDIA,
	UP_PORT_OPS,
	UP_PORT_IMAGES,
	/* port of the rack's listener for operators and for the program that moves switch ports */
	UP_PORT_RACK,
	/* port of the simulated BMCs, each of which has an address of its own */
	UP_PORT_BMC,
	/* port of the view (controller/view/view.h), which the command line reads */
	UP_PORT_VIEW,
	UP_PORTS,
};

struct up_rack;
struct up_cluster {
	/* name of the cluster, and path of its kubeconfig */
	char *name, *kubeconfig;
	struct loop_group *group;
	struct up_server *server;
	/* scheduler of a tenant's cluster; NULL for the host cluster, which runs no pods */
	struct sim_scheduler *scheduler;
	/* workload controllers of a tenant's cluster; NULL for the host cluster */
	struct sim_workloads *workloads;
};

struct up {
	/* absolute path of the folder with all data */
	const char *data;
	/* file with the faults to inject; NULL: none */
	const char *faults_file;
	/* memory of the texts in `faults` */
	struct arena *arena;
	struct sim_faults faults;
	/* racks: number of racks that share the machines. port: first of the consecutive ports.
	 * Until the folder is open: the port given on the command line; 0: none given. */
	int64_t machines, racks, speed, port;
	bool debug;
	struct trace_options traces;

	struct loop *loop;
	struct loop_group *group;
	/* client of the schedulers, the workload controllers and up_apply */
	struct http *http;
	struct up_cluster host, tenants[UP_TENANTS];
	struct secret *kubelet_token, *bmc_password;
	struct up_rack *rack;
	struct up_apply *apply;

	struct loop_group *drover;
	struct http *drover_http;
	struct controller *controller;
	const char *exec_allowed[2];
	struct httpd *agent, *media, *ops, *view;
	struct httpd_cert *agent_l, *view_l;
	struct httpd_mhd *media_l, *ops_l;
	char *agent_image;
	struct loop_signal *term, *intr;
	/* timer of the check that all stores can still write; runs once `ready` is true */
	struct loop_timer disk_check;
	int64_t began;
	bool ready, stopping;
	int status;
	/* file descriptor of the lock on the folder; -1: not open */
	int lock;
	int log;
};

/* Returns the URL of a port on loopback, such as "https://127.0.0.1:16442", malloc'd. */
char *up_url(const struct up *u, const char *scheme, enum up_port port);
/* Issues a certificate for the given names (a NULL-terminated list), signed by the CA of the host
 * cluster. The caller frees *cert_pem and *key. Returns 0, or -1 with *e. */
int up_certificate(const struct up *u, const char *const *names, char **cert_pem,
		   struct secret **key, struct err *e) __attribute__((warn_unused_result));

/* --- objects ---------------------------------------------------------------------------------- */

/* Starts to create all objects of the host cluster, one after the other, then drover's namespace in
 * each tenant's cluster. An existing object is merged with the new one; existing NodePools,
 * Namespaces and Machines stay unchanged. Calls done() once; e is NULL if all objects exist now.
 * Returns NULL with *e if the creation could not start. */
struct up_apply *up_apply_new(struct up *u, void (*done)(const struct err *e, void *arg), void *arg,
			      struct err *e);
void up_apply_free(struct up_apply *a);

/* --- rack ------------------------------------------------------------------------------------- */

struct up_rack *up_rack_new(struct up *u, struct err *e);
void up_rack_free(struct up_rack *r);
/* Returns the Provider and the Machines of the rack, as a JSON array that the caller owns; NULL
 * with *e. */
json_t *up_rack_objects(const struct up_rack *r, struct err *e);
const char *up_rack_image_digest(const struct up_rack *r);
/* Returns the path of the program that moves the rack's switch ports (this executable); valid until
 * up_rack_free(). */
const char *up_rack_driver(const struct up_rack *r);

#endif
