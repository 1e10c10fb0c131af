# drover: `make help` lists the targets.  Variants never mix: each has a folder of its own.
#   VARIANT=rel   optimised, hardened (default)
#   VARIANT=san   AddressSanitizer and UndefinedBehaviorSanitizer
#   VARIANT=cov   coverage
#   CC=clang      build/rel-clang and so on

VARIANT ?= rel
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0)

B := build/$(VARIANT)$(if $(findstring clang,$(CC)),-clang)

ROOMS := base kube kube/apiserver redfish netris planner providers wipe controller sim
PKGS  := libuv libcurl libmicrohttpd gnutls jansson yaml-0.1 libxml-2.0 libcrypto libssl libzstd liburing
TEST_PKGS := cmocka

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wpointer-arith -Wvla -Wformat=2 -Wundef -Wimplicit-fallthrough -Wswitch-enum
HARD := -fstack-protector-strong -fPIE
OPT_rel := -O2 -g -D_FORTIFY_SOURCE=2
OPT_san := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT_cov := -O0 -g --coverage
LD_rel  := -pie -Wl,-z,relro,-z,now -Wl,--gc-sections
LD_san  := -fsanitize=address,undefined
LD_cov  := --coverage

CPPFLAGS += -I. -D_GNU_SOURCE -DDROVER_VERSION='"$(VERSION)"' $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
CFLAGS   += -std=gnu17 $(WARN) $(HARD) $(OPT_$(VARIANT)) -fvisibility=hidden -ffunction-sections \
	    -fdata-sections $(if $(WERROR),-Werror)
LDFLAGS  += $(LD_$(VARIANT))
LDLIBS    = $(shell pkg-config --libs $(PKGS)) -lpthread

# --- what is built: found by name, no list to forget ---------------------------------------------
MAINS     := $(wildcard controller/main.c wipe/main.c)
SRC       := $(filter-out $(MAINS),$(foreach r,$(ROOMS),$(wildcard $(r)/*.c)))
LIBS      := $(patsubst %,$(B)/lib/%.a,$(subst /,_,$(patsubst %/,%,$(sort $(dir $(SRC))))))
OBJ       := $(SRC:%.c=$(B)/%.o)
PROGRAMS  := $(if $(wildcard controller/main.c),$(B)/drover) $(if $(wildcard wipe/main.c),$(B)/drover-agent)
UNIT_SRC  := $(shell find tests/unit tests/contract -name 'test_*.c' 2>/dev/null | sort)
UNIT      := $(UNIT_SRC:%.c=$(B)/%)
HELP_SRC  := $(shell find tests/unit tests/contract -name '*.c' ! -name 'test_*.c' 2>/dev/null)
HELP_OBJ  := $(HELP_SRC:%.c=$(B)/%.o)
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ      := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)
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

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' '$(1)' '$(2)')

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/drover: $(B)/controller/main.o $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS)

$(B)/drover-agent: $(B)/wipe/main.o $(B)/lib/wipe.a $(B)/lib/base.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/lib/wipe.a $(B)/lib/base.a -Wl,--as-needed $(LDLIBS)

$(B)/tests/%: $(B)/tests/%.o $(HELP_OBJ) $(LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(HELP_OBJ) -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS) \
		$(shell pkg-config --libs $(TEST_PKGS))

# --- tests ----------------------------------------------------------------------------------------
# `make unit T=base/test_err` builds and runs one.
unit: $(if $(T),$(filter %/$(T),$(UNIT)),$(UNIT)) ## unit and contract tests of one VARIANT (T=path/test_x: one)
	$(Q)tests/tools/run-tests $^

check: ## no network, no real parts: unit tests, sanitizers, headers, layers; under two minutes
	$(Q)$(MAKE) --no-print-directory WERROR=1 all unit
	$(Q)$(MAKE) --no-print-directory WERROR=1 VARIANT=san unit
	$(Q)$(MAKE) --no-print-directory layers headers

build/fuzz/%: tests/fuzz/%.c $(SRC)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)clang $(CPPFLAGS) -std=gnu17 -O1 -g -fsanitize=fuzzer,address,undefined -o $@ $< \
		build/san-fuzz/libdrover.a $(LDLIBS)

-include $(OBJ:.o=.d) $(UNIT:=.d) $(HELP_OBJ:.o=.d) $(MAINS:%.c=$(B)/%.d)

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

clean: ## remove build/
	rm -rf build

.PHONY: all unit check help clean
