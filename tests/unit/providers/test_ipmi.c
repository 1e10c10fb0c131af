#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/str.h"
#include "providers/ipmi.h"

/* The rows of text are as ipmitool 1.8.19 prints them. */
static void sensors_say_what_is_critical(void **state)
{
	static const struct {
		const char *text;
		size_t rows;
		const char *fault;
	} t[] = {
		{"", 0, ""},
		{"ipmitool> sdr elist\n", 0, ""},
		{"Chassis Power is on\nBoot parameter data: 0000000000\n", 0, ""},
		{"Temp             | 01h | ok  |  3.1 | 25 degrees C\n", 1, ""},
		{"Temp             | 01h | nc  |  3.1 | 75 degrees C\n", 1, ""},
		{"Fan 3            | 43h | ns  | 29.3 | No Reading\n", 1, ""},
		{"Fan 3            | 43h | ns  | 29.3 | Disabled\r\n", 1, ""},
		{"Fan 3            | 43h | cr  | 29.3 | 0 RPM\r\n", 1, "Fan 3 (critical: 0 RPM)"},
		{"Fan 3            | 43h | lcr | 29.3 | 0 RPM", 1, "Fan 3 (critical: 0 RPM)"},
		{"12V|02h|nr|7.1|14 Volts\n", 1, "12V (non-recoverable: 14 Volts)"},
		{"PS1 Status       | C8h | ok  | 10.1 | Presence detected\n", 1, ""},
		{"PS2 Status       | c9h | ok  | 10.2 | Presence detected, Power Supply AC lost\n",
		 1, "PS2 Status (Power Supply AC lost)"},
		{"PS Redundancy    | 77h | ok  |  7.1 | Fully Redundant\n", 1, ""},
		{"PS Redundancy    | 77h | ok  |  7.1 | Redundancy Lost\n", 1,
		 "PS Redundancy (Redundancy Lost)"},
		/* "Drive Fault" is the sensor's name here, not its state. */
		{"Drive Fault      | 80h | ok  |  7.1 | Drive Present\n", 1, ""},
		{"Drive 1          | 80h | ok  |  7.1 | Drive Present, Drive Fault\n", 1,
		 "Drive 1 (Drive Fault)"},
		{"A | 01h | cr | 1.1 | 1\nB | 02h | ok | 1.1 | 1\nC | 03h | cr | 1.1 | 2\n"
		 "D | 04h | nr | 1.1 | 3\nE | 05h | cr | 1.1 | 4\nF | 06h | cr | 1.1 | 5\n",
		 6, "A (critical: 1), C (critical: 2), D (non-recoverable: 3) and 2 more"},
		/* These lines are no sensor rows. */
		{"||||\n| | | |\n", 0, ""},
		{"Temp | 01 | cr | 3.1 | 25\n", 0, ""},
		{"Temp | 1xh | cr | 3.1 | 25\n", 0, ""},
		{"Temp | 01h | cr | 3.1\n", 0, ""},
		/* Rows with arbitrary bytes. */
		{"\x1b[2J\x01 | 01h | cr | 3.1 | \x7f\xff\n", 1,
		 "?[2J? (critical: ?"
		 "?)"},
		{" | 01h | cr | 3.1 | \n", 1, " (critical: )"},
		{"a name that is longer than any record of a sensor can hold | 01h | cr | 3.1 | "
		 "x\n",
		 1, "a name that is longer than any r (critical: x)"},
	};
	char fault[256];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(ipmi_sensors(t[i].text, fault, sizeof(fault)), t[i].rows);
		assert_string_equal(fault, t[i].fault);
	}
}

/* Any input must give text that fits into the buffer. */
static void sensors_of_any_bytes_are_bounded(void **state)
{
	static const char alphabet[] = "|h, \n\r\t0cnrokPS\xc3\xa9\xff%s";
	char text[513], fault[64];
	uint32_t x = 12345;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t n = (x >> 8) % (sizeof(text) - 1), most = 2 + (x >> 20) % 62;

		for (size_t k = 0; k < n; k++) {
			x = x * 1664525 + 1013904223;
			text[k] = (x >> 9) % 5 ? alphabet[(x >> 16) % (sizeof(alphabet) - 1)]
					       : "a | 01h | cr | 1.1 | "[(x >> 16) % 21];
		}
		text[n] = '\0';
		(void)ipmi_sensors(text, fault, most);
		assert_true(strlen(fault) < most);
		for (const char *c = fault; *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
	}
}

static void a_long_list_is_cut(void **state)
{
	char fault[24];

	(void)state;
	assert_int_equal(
		ipmi_sensors("Fan 3 | 43h | cr | 29.3 | 0 RPM\nFan 4 | 44h | cr | 29.4 | 0 RPM\n",
			     fault, sizeof(fault)),
		2);
	assert_string_equal(fault, "Fan 3 (critical: 0 RPM)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sensors_say_what_is_critical),
		cmocka_unit_test(sensors_of_any_bytes_are_bounded),
		cmocka_unit_test(a_long_list_is_cut),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
