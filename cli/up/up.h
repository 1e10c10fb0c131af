#ifndef CLI_UP_UP_H
#define CLI_UP_UP_H

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
#define UP_PROVIDER "rack" /* also the prefix of its Secrets' names */
#define UP_CERT_DAYS 365   /* certificates are issued at each start */

enum up_port {
	UP_PORT_HOST,
	/* First of UP_TENANTS ports, one for each tenant's API server */
	UP_PORT_TENANT,
	UP_PORT_AGENT = UP_PORT_TENANT + UP_TENANTS,
	UP_PORT_MEDIA,
	UP_PORT_OPS,
	UP_PORT_IMAGES,
	/* For users and the switch driver */
	UP_PORT_RACK,
	/* On each BMC's own address */
	UP_PORT_BMC,
	UP_PORTS,
};

struct up_rack;
struct up_cluster {
	/* kubeconfig: path of the file */
	char *name, *kubeconfig;
	struct loop_group *group;
	struct up_server *server;
	/* NULL for the host cluster, which runs no pods */
	struct sim_scheduler *scheduler;
	/* NULL for the host cluster */
	struct sim_workloads *workloads;
};

struct up {
	/* Absolute path of the folder */
	const char *data;
	/* NULL: no injected faults */
	const char *faults_file;
	/* Owns the texts of faults */
	struct arena *arena;
	struct sim_faults faults;
	/* port: 0 until the folder is open, unless set on the command line */
	int64_t machines, speed, port;
	bool debug;

	struct loop *loop;
	struct loop_group *group;
	/* For the schedulers, the workload controllers and up_apply */
	struct http *http;
	struct up_cluster host, tenants[UP_TENANTS];
	struct secret *kubelet_token, *bmc_password;
	struct up_rack *rack;
	struct up_apply *apply;

	struct loop_group *drover;
	struct http *drover_http;
	struct controller *controller;
	const char *exec_allowed[2];
	struct httpd *agent, *media, *ops;
	struct httpd_cert *agent_l;
	struct httpd_mhd *media_l, *ops_l;
	char *agent_image;
	struct loop_signal *term, *intr;
	/* Runs once `ready` is true */
	struct loop_timer disk_look;
	int64_t began;
	bool ready, stopping;
	int status;
	/* File descriptor of the folder's lock; -1: not open */
	int lock;
	int log;
};

/* Returns a URL on loopback such as "https://127.0.0.1:16442", malloc'd. */
char *up_url(const struct up *u, const char *scheme, enum up_port port);
/* Issues a certificate of the host cluster's CA for names (NULL-terminated). */
int up_certificate(const struct up *u, const char *const *names, char **cert_pem,
		   struct secret **key, struct err *e) __attribute__((warn_unused_result));

/* --- objects ---------------------------------------------------------------------------------- */

/* Applies all objects, one after the other. An existing object is merged, but NodePools, Namespaces
 * and Machines are left alone once created. Calls done() once; e NULL: all objects exist. */
struct up_apply *up_apply_new(struct up *u, void (*done)(const struct err *e, void *arg), void *arg,
			      struct err *e);
void up_apply_free(struct up_apply *a);

/* --- rack ------------------------------------------------------------------------------------- */

struct up_rack *up_rack_new(struct up *u, struct err *e);
void up_rack_free(struct up_rack *r);
/* Returns the Provider and the Machines, as an array that the caller owns; NULL with e. */
json_t *up_rack_objects(const struct up_rack *r, struct err *e);
const char *up_rack_image_digest(const struct up_rack *r);
/* Path of the program that moves the rack's switch ports (this executable); valid until
 * up_rack_free(). */
const char *up_rack_driver(const struct up_rack *r);

#endif
