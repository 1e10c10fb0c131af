# drover: `make help` lists the targets.  Variants never mix: each has a folder of its own.
#   VARIANT=rel   optimised, hardened (default)
#   VARIANT=san   AddressSanitizer and UndefinedBehaviorSanitizer
#   VARIANT=cov   coverage
#   VARIANT=fuzz  libFuzzer instrumentation (clang)
#   CC=clang      build/rel-clang and so on

VARIANT ?= rel
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX  ?= /usr/local
DESTDIR ?=
CORES   := $(shell nproc)
COMMIT  := $(shell git describe --match=NeverATag --always --abbrev=12 --dirty 2>/dev/null || echo unknown)
VERSION := $(shell git describe --tags --match='v[0-9]*' --dirty 2>/dev/null || echo 0.1.0+g$(COMMIT))

B := build/$(VARIANT)$(if $(findstring clang,$(CC)),-clang)

ROOMS := base base/data base/loop base/http base/httpd base/store base/traces kube kube/apiserver redfish netris planner planner/supply planner/gang planner/burst planner/replay \
	providers providers/bcm providers/ec2 providers/libvirt wipe \
	sim/common sim/machine sim/cluster sim/agent sim/node sim/bmc sim/rack sim/bcm sim/netris sim/ec2 sim \
	api controller/rules controller/explain controller/core controller/agent controller/hardware controller/tenant \
	controller/billing controller/burst controller/drain controller/claims controller/life controller/steps controller/view controller cli cli/burst cli/simulate cli/up
PKGS  := libuv libcurl libmicrohttpd gnutls jansson yaml-0.1 libcrypto libssl libzstd sqlite3 expat libprotobuf-c
# Only drover links ncurses, for `drover top`.
DROVER_PKGS := ncursesw
# drover, and the tests of its optimised form, allocate by jemalloc. (The sanitizers have their own malloc.)
MALLOC_PKGS_rel := jemalloc
# Only drover-libvirt links libvirt, and with it libvirt's own libcurl; and libxml2, whose libicu is larger
# than all other libraries together.
VIRT_PKGS := libvirt libxml-2.0
TEST_PKGS := cmocka

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wpointer-arith -Wvla -Wformat=2 -Wundef -Wimplicit-fallthrough -Wswitch-enum
# Hardening flags.  tests/tools/hardened checks that all of them took effect in the built programs.
X86  := $(findstring x86_64,$(shell $(CC) -dumpmachine))
HARD := -fstack-protector-strong -fstack-clash-protection -fPIE $(if $(X86),-fcf-protection=full)
OPT_rel := -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
OPT_san := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT_cov := -O0 -g --coverage
OPT_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
# Without a build ID, which depends on the path of this directory through the debugging symbols: what is
# installed must be the same in every directory. (Removing its section later also removes RELRO.)
LD_rel  := -pie -Wl,-z,relro,-z,now -Wl,--gc-sections -Wl,--build-id=none
LD_san  := -fsanitize=address,undefined
LD_cov  := --coverage -Wl,-u,__gcov_dump # test_exit() of tests/unit/testing.h

CPPFLAGS += -I. -D_GNU_SOURCE $(shell pkg-config --cflags $(PKGS) $(VIRT_PKGS) 2>/dev/null)
CFLAGS   += -std=gnu17 $(WARN) $(HARD) $(OPT_$(VARIANT)) -fvisibility=hidden -ffunction-sections \
	    -fdata-sections $(if $(WERROR),-Werror)
LDFLAGS  += $(LD_$(VARIANT))
# Only the agent uses liburing.  It is linked statically, so that no program needs the shared library.
LDLIBS    = $(shell pkg-config --libs $(PKGS)) -l:liburing.a -lpthread

# --- libraries and programs: their sources are found by file name, not listed ---------------------
MAINS     := $(wildcard cli/main.c wipe/main.c providers/libvirt/main.c)
SRC       := $(filter-out $(MAINS),$(foreach r,$(ROOMS),$(wildcard $(r)/*.c)))
LIBS      := $(patsubst %,$(B)/lib/%.a,$(subst /,_,$(patsubst %/,%,$(sort $(dir $(SRC))))))
OBJ       := $(SRC:%.c=$(B)/%.o)
PROGRAMS  := $(if $(wildcard cli/main.c),$(B)/drover) $(if $(wildcard wipe/main.c),$(B)/drover-agent) \
	     $(if $(wildcard providers/libvirt/main.c),$(B)/drover-libvirt)
UNIT_SRC  := $(shell find tests/unit tests/contract tests/world -name 'test_*.c' 2>/dev/null | sort)
UNIT      := $(UNIT_SRC:%.c=$(B)/%)
# The simulated loop and network, also for fuzz targets.
SIMULATED := $(wildcard tests/simulated/*.c)
HELP_SRC  := $(SIMULATED) $(shell find tests/unit tests/contract tests/world -name '*.c' ! -name 'test_*.c' 2>/dev/null)
HELP_OBJ  := $(HELP_SRC:%.c=$(B)/%.o)
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ      := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
FUZZ_LIBS := $(LIBS:$(B)/%=build/fuzz-clang/%)
CORPORA   := $(FUZZ_SRC:%.c=$(B)/%)
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
BENCH     := $(BENCH_SRC:%.c=build/rel/%)
HEADERS   := $(foreach r,$(ROOMS),$(wildcard $(r)/*.h))

.DEFAULT_GOAL := all
.SECONDARY:
.DELETE_ON_ERROR:

all: $(LIBS) $(PROGRAMS) ## build the libraries and programs

define lib_rule
$(B)/lib/$(subst /,_,$(1)).a: $(patsubst %.c,$(B)/%.o,$(filter-out $(MAINS),$(wildcard $(1)/*.c)))
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && ar crs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call lib_rule,$(r))))

# --- generated code: the messages of OTLP, by protoc-c.  Compiled without our warnings --------------
OTLP := build/gen/otlp.pb-c
CPPFLAGS += -isystem build/gen
$(OTLP).c: base/traces/otlp.proto
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(OTLP).h: $(OTLP).c ;
$(B)/base/traces/otlp.o $(B)/tests/unit/base/traces/test_traces.o $(B)/tests/world/test_spans.o: | $(OTLP).h
$(B)/gen/%.o: build/gen/%.c $(B)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w -c -o $@ $<
$(B)/lib/base_traces.a: $(B)/gen/otlp.pb-c.o

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' '$(1)' '$(2)')

# Only the files that report the version are compiled with it, so a new commit recompiles no others.
$(patsubst %.c,$(B)/%.o,$(shell grep -l DROVER_VERSION --include='*.c' -r $(wildcard $(ROOMS)))): \
	CPPFLAGS += -DDROVER_VERSION='"$(VERSION)"' -DDROVER_COMMIT='"$(COMMIT)"'

# Every object depends on $(B)/flags.  Changed flags recompile everything, so that no program contains an
# object compiled with other flags, for example without hardening.
FLAGS := $(filter-out -Werror,$(CC) $(CPPFLAGS) $(CFLAGS))
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@
FORCE:

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# sim/bmc/dialect.c includes the dialects by the assembler's .incbin, which -MMD does not report.
$(B)/sim/bmc/dialect.o: $(wildcard sim/bmc/dialects/*.yaml)
$(B)/controller/view/web_page.o: $(wildcard controller/view/web/*)

VIRT_LIB := $(B)/lib/providers_libvirt.a
DROVER_LIBS := $(filter-out $(VIRT_LIB),$(LIBS))
$(B)/drover: $(B)/cli/main.o $(DROVER_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(DROVER_LIBS) -Wl,--end-group $(LDLIBS) \
		$(shell pkg-config --libs $(DROVER_PKGS) $(MALLOC_PKGS_$(VARIANT)))

VIRT_LIBS := $(VIRT_LIB) $(B)/lib/base.a $(B)/lib/base_data.a
$(B)/drover-libvirt: $(B)/providers/libvirt/main.o $(VIRT_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(VIRT_LIBS) -Wl,--end-group -Wl,--as-needed \
		$(shell pkg-config --libs $(VIRT_PKGS)) $(LDLIBS)

AGENT_LIBS := $(B)/lib/wipe.a $(filter $(B)/lib/base%,$(LIBS))
$(B)/drover-agent: $(B)/wipe/main.o $(AGENT_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(AGENT_LIBS) -Wl,--end-group -Wl,--as-needed $(LDLIBS)

# Uses mold if it is installed: it links a test program in 0.14 s; GNU ld needs 0.3 s (rel) or 0.5 s (san).
TEST_LD := $(if $(shell command -v mold),-fuse-ld=mold)
link_test = $(Q)$(CC) $(LDFLAGS) $(TEST_LD) -o $@ $(filter %.o,$^) -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS) \
	$(shell pkg-config --libs $(TEST_PKGS) $(MALLOC_PKGS_$(VARIANT))) -lm -Wl,--as-needed $(shell pkg-config --libs $(DROVER_PKGS) $(VIRT_PKGS))
$(B)/tests/%: $(B)/tests/%.o $(HELP_OBJ) $(LIBS)
	$(call say,LINK,$@)
	$(link_test)

# --- tests ----------------------------------------------------------------------------------------
# T selects tests below tests/: T=unit/base/data/test_json one program, T=unit a directory,
# T="contract world/test_api_path" a directory and a program.
unit: $(if $(T),$(foreach t,$(T),$(filter %/$(t) $(B)/tests/$(t)/%,$(UNIT))),$(UNIT)) | $(PROGRAMS) ## run unit, contract and world tests of one VARIANT (T=unit/path/test_x: one)
	$(Q)tests/tools/run-tests $^

# Runs the stages of the goal $(1).  FROM=STAGE continues at that stage; ONLY=STAGE,GROUP runs only these.
STAGES = $(Q)tests/tools/stages $(1) $(if $(FROM),FROM=$(FROM)) $(if $(ONLY),ONLY=$(ONLY))

check: ## tests without network and real components: unit, world, sanitizers, headers, layers (FROM=, ONLY=)
	$(call STAGES,check)

test: ## all that a change must pass: check, lint, and the main tests on real components (FROM=, ONLY=)
	$(call STAGES,test)

test-long: ## all tests, for hours; one group with ONLY=api, real, sim ... (FROM=, ONLY=)
	$(call STAGES,long)

status: ## list which test stages passed on this tree, on an older tree, or never
	$(Q)tests/tools/stages status

which: ## list tests to run in addition to make test, for files changed since SINCE=COMMIT
	$(Q)tests/tools/which $(SINCE)

layers: all ## check that each directory includes only what its layer allows
	$(Q)python3 tests/tools/layers

ALONE = -std=gnu17 $(WARN) -Werror -fsyntax-only
headers: ## check that each header compiles alone, with gcc and clang
	$(Q)printf '%s\n' $(HEADERS) | xargs -P $(CORES) -I{} sh -c \
		'for c in gcc clang; do $$c $(CPPFLAGS) $(ALONE) -x c -include {} /dev/null || exit 1; done'
	@echo "headers: $(words $(HEADERS)) compile alone"

CLANG_SRC = $(MAINS) $(SRC) $(UNIT_SRC) $(HELP_SRC) $(FUZZ_SRC) tests/fuzz/corpora.c $(wildcard tests/bench/*.c tests/real/*.c)
clang: $(B)/tests/fuzz/targets.def $(OTLP).h ## check all sources for clang warnings; no objects are written
	$(Q)printf '%s\n' $(CLANG_SRC) | xargs -P $(CORES) -n 16 clang $(CPPFLAGS) -I$(<D) -DDROVER_VERSION='""' -DDROVER_COMMIT='""' $(ALONE)
	@echo "clang: $(words $(CLANG_SRC)) sources, no warning"

conformance: $(B)/tests/contract/client/test_client | $(PROGRAMS) ## compare the embedded API server with kube-apiserver
	$(Q)tests/contract/apiserver/conformance

# --- demos, boot image, packages ------------------------------------------------------------------
demo: ## show drover with simulated machines, in two minutes (KEEP=1: keep it running)
	@echo "drover demo: installs missing packages and builds drover. Then GPU pods of two tenants get simulated"
	@echo "machines; when the pods end, the machines are drained and wiped, and the wipe is verified."
	$(Q)tests/tools/deps build
	$(Q)$(MAKE) --no-print-directory -j2 all
	$(Q)examples/demo.py $(if $(KEEP),--keep)

demo-real: ## show drover with two virtual machines, kube-apiserver and kubelets
	@echo "drover demo: installs missing packages, builds drover, Kubernetes and an OS image (once, cached in"
	@echo "$${DROVER_CACHE:-~/.cache/drover}). Then GPU pods of two tenants get virtual machines in turn."
	$(Q)tests/tools/deps build
	$(Q)$(MAKE) --no-print-directory -j2 all
	$(Q)tests/real/parts/build
	$(Q)$(MAKE) --no-print-directory image
	$(Q)tests/real/demo.py $(if $(KEEP),--keep)

image: $(B)/drover-agent ## build the agent's boot image, build/image/drover-agent.iso
	$(Q)tests/tools/deps image
	$(Q)wipe/image/build --release '$(VERSION)'

# Rebuilds the boot image only if the agent or wipe/image is newer.  `make image` always rebuilds it.
build/image/drover-agent.iso: $(B)/drover-agent $(wildcard wipe/image/*)
	$(Q)$(MAKE) --no-print-directory image

container: all build/image/drover-agent.iso ## build the container images: build/container/drover.tar, and smaller ones
	$(Q)tests/tools/deps container
	$(Q)deploy/container/build --release '$(VERSION)' --revision '$(COMMIT)'

deb: all man build/image/drover-agent.iso ## build the Debian packages, with a systemd unit: build/debian
	$(Q)tests/tools/deps package
	$(Q)deploy/debian/build --release '$(VERSION)'

release: ## build all files of a release into build/release (VERSION=X.Y.Z, RELEASE_KEY=FILE or UNSIGNED=1)
	$(Q)tests/tools/deps build image container package man
	$(Q)deploy/release --version '$(VERSION)' --key '$(RELEASE_KEY)' $(if $(filter 1,$(UNSIGNED)),--unsigned)

charts: $(B)/drover ## regenerate the Helm chart's copies and tables, and deploy/controller.yaml
	$(Q)tests/tools/charts --write

# --- fuzz, bench, coverage, lint ------------------------------------------------------------------
FUZZ_S ?= 4
fuzz: ## run each fuzz target for FUZZ_S seconds
	$(Q)$(MAKE) --no-print-directory CC=clang VARIANT=fuzz fuzz-targets
	$(Q)tests/tools/fuzz $(FUZZ_S) $(FUZZ)

fuzz-targets: $(FUZZ)

build/fuzz/%: tests/fuzz/%.c $(SIMULATED:%.c=build/fuzz-clang/%.o) $(FUZZ_LIBS)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)clang $(CPPFLAGS) -std=gnu17 -O1 -g -fsanitize=fuzzer,address,undefined -o $@ $< $(filter %.o,$^) \
		-Wl,--start-group $(FUZZ_LIBS) -Wl,--end-group $(LDLIBS) -Wl,--as-needed \
		$(shell pkg-config --libs $(VIRT_PKGS))

# All fuzz targets are linked into one program.  Therefore LLVMFuzzerTestOneInput of each target is renamed
# to the name of its file.
$(B)/tests/fuzz/fuzz_%.o: CPPFLAGS += -DLLVMFuzzerTestOneInput=$(notdir $*)
$(B)/tests/fuzz/corpora.o: CPPFLAGS += -I$(B)/tests/fuzz
$(B)/tests/fuzz/corpora.o: $(B)/tests/fuzz/targets.def
$(B)/tests/fuzz/targets.def: FORCE
	@mkdir -p $(@D); printf 'TARGET(%s)\n' $(notdir $(CORPORA)) | cmp -s - $@ || \
		printf 'TARGET(%s)\n' $(notdir $(CORPORA)) >$@

$(B)/tests/fuzz/corpora: $(B)/tests/fuzz/corpora.o $(CORPORA:%=%.o) $(SIMULATED:%.c=$(B)/%.o) $(LIBS)
	$(call say,LINK,$@)
	$(link_test)

$(CORPORA): $(B)/tests/fuzz/corpora
	$(Q)ln -sf corpora $@

corpora: ## run the fuzz targets' corpora under the sanitizers, without a fuzzing engine
	$(Q)$(MAKE) --no-print-directory VARIANT=san run-corpora

run-corpora: $(CORPORA)
	$(Q)tests/tools/run-tests $^

bench: all $(BENCH) build/rel/tests/bench/load_apiserver ## run the benchmarks; results in build/bench.json
	$(Q)tests/tools/deps bench
	$(Q)tests/real/parts/build
	$(Q)tests/tools/bench $(BENCH) tests/bench/bench_embedded.py

bench-peers: build/rel/tests/bench/plan_peer build/rel/tests/bench/bench_plan ## compare the planner with Karpenter's, on the same pods
	$(Q)build/rel/tests/bench/bench_plan >/dev/null
	$(Q)tests/peers/run

cover: ## measure line coverage of the unit tests; results in build/cover.txt
	$(Q)tests/tools/deps build cover
	$(Q)$(MAKE) --no-print-directory VARIANT=cov unit
	$(Q)gcovr -r . --object-directory build/cov -f 'base/|kube/|redfish/|planner/|providers/|wipe/|api/|controller/|cli/' \
		-o build/cover.txt && tail -n 3 build/cover.txt

lint: all ## run clang-format, cppcheck, codespell, shellcheck, banned functions
	$(Q)tests/tools/deps lint
	$(Q)tests/tools/lint

IMAGE := drover-agent.iso drover-agent.iso.sha256 drover-agent.iso.sig drover-agent.pub drover-agent.spdx.json

man: all ## build manual pages of drover and its verbs from --help: build/man
	$(Q)tests/tools/deps man
	$(Q)tests/tools/man $(B)/drover build/man

# tests/tools/mutants writes $(B)/mutants/TEST/NAME.c, a broken copy of one source.  The object of the copy
# is linked before the libraries, so the linker does not use the object of the original source.  Warnings are
# off, because a broken copy may leave a variable or a function unused.
$(B)/mutants/%.o: $(B)/mutants/%.c $(B)/flags
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w -DDROVER_VERSION='"mutant"' -DDROVER_COMMIT='"mutant"' -c -o $@ $<

.SECONDEXPANSION:
$(B)/mutants/%: $(B)/tests/$$(*D).o $(B)/mutants/%.o $(HELP_OBJ) $(LIBS)
	$(call say,LINK,$@)
	$(link_test)

# --- install --------------------------------------------------------------------------------------
install: all ## install drover below $(DESTDIR)$(PREFIX)
	install -D -m 755 $(B)/drover $(DESTDIR)$(PREFIX)/bin/drover
	ln -sf drover $(DESTDIR)$(PREFIX)/bin/kubectl-drover
	ln -sf drover $(DESTDIR)$(PREFIX)/bin/kubectl_complete-drover
	install -D -m 755 $(B)/drover-agent $(DESTDIR)$(PREFIX)/lib/drover/drover-agent
	install -D -m 755 $(B)/drover-libvirt $(DESTDIR)$(PREFIX)/lib/drover/drover-libvirt
	$(B)/drover completion bash | install -D -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/bash-completion/completions/drover
	$(B)/drover completion fish | install -D -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/drover.fish
	if [ -d build/man ]; then install -d $(DESTDIR)$(PREFIX)/share/man/man1 && \
		install -m 644 build/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1; fi
	if [ -f build/image/drover-agent.iso ]; then for f in $(IMAGE); do \
		install -D -m 644 build/image/$$f $(DESTDIR)$(PREFIX)/share/drover/$$f; done; fi

uninstall: ## remove what install installed
	rm -f $(DESTDIR)$(PREFIX)/bin/drover $(DESTDIR)$(PREFIX)/bin/kubectl-drover \
		$(DESTDIR)$(PREFIX)/bin/kubectl_complete-drover \
		$(DESTDIR)$(PREFIX)/lib/drover/drover-agent \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/drover \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/drover.fish \
		$(DESTDIR)$(PREFIX)/share/man/man1/drover.1 $(DESTDIR)$(PREFIX)/share/man/man1/drover-*.1 \
		$(DESTDIR)$(PREFIX)/lib/drover/drover-libvirt $(IMAGE:%=$(DESTDIR)$(PREFIX)/share/drover/%)

dist: ## build a source archive of HEAD
	mkdir -p build && git archive --prefix=drover-$(VERSION)/ -o build/drover-$(VERSION).tar.gz HEAD

-include $(OBJ:.o=.d) $(UNIT:=.d) $(CORPORA:=.d) $(B)/tests/fuzz/corpora.d $(BENCH:=.d) $(B)/tests/bench/plan_peer.d $(B)/tests/real/plan_objects.d $(B)/tests/real/ec2_drive.d $(HELP_OBJ:.o=.d) $(MAINS:%.c=$(B)/%.d)

help: ## print this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## remove build/
	rm -rf build

.PHONY: FORCE all man unit check test test-long status which layers headers clang conformance demo demo-real image container deb release charts fuzz \
	fuzz-targets corpora run-corpora bench bench-peers cover lint install uninstall dist help clean
