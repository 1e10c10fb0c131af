/*
 * report_svg: draws two charts, one above the other, over the same time axis. The upper chart shows
 * GPUs in use and GPUs in Nodes, with a line for all GPUs. The lower chart shows the GPUs that
 * waiting jobs need. The document has no external references, and has colours for light and dark
 * mode.
 * Tests: tests/unit/cli/simulate/test_simulate.c
 */
#include "base/str.h"
#include "cli/simulate/report.h"

#define WIDTH 960
#define LEFT 72
#define RIGHT 24
#define PLOT (WIDTH - LEFT - RIGHT)
#define TOP 64
#define HIGH 240 /* heights of the upper chart (HIGH) and of the lower chart (LOW) */
#define LOW 140
#define GAP 64
#define TICKS 4

static const char style[] =
	"<style>\n"
	"svg{font:13px system-ui,sans-serif;--ink:#1b1f24;--soft:#656d76;--line:#d0d7de;"
	"--back:#fff;--use:#0969da;--node:#b6d4f5;--wait:#bc4c00}\n"
	"@media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#8d96a0;--line:#3d444d;"
	"--back:#0d1117;--use:#4493f8;--node:#1f3f66;--wait:#db6d28}}\n"
	".b{fill:var(--back)}.t{fill:var(--ink);font-size:16px;font-weight:600}"
	".l{fill:var(--soft)}.g{stroke:var(--line);stroke-width:1}\n"
	".n{fill:var(--node)}.u{fill:var(--use)}.w{fill:var(--wait)}"
	".c{stroke:var(--ink);stroke-width:1;stroke-dasharray:4 3}\n"
	"</style>\n";

static void text_escaped(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			buf_puts(out, "&lt;");
		else if (*s == '&')
			buf_puts(out, "&amp;");
		else if ((unsigned char)*s >= ' ')
			buf_put(out, s, 1);
	}
}

/* Returns the distance of the grid lines: 1, 2 or 5 times a power of ten, and large enough that
 * TICKS lines reach the value max. */
static double step_of(double max)
{
	static const double times[] = {1, 2, 5};
	double ten = 0.001;
	size_t i = 0;

	while (ten * times[i] * TICKS < max && ten < 1e15) {
		i = (i + 1) % 3;
		ten *= i ? 1 : 10;
	}
	return ten * times[i];
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

struct chart {
	/* position of the top edge, height of the chart, and value at the top edge */
	double top, height, max;
};

static struct chart chart_new(double top, double height, double max)
{
	return (struct chart){top, height, step_of(max) * TICKS};
}

static double y_of(const struct chart *c, double value)
{
	return c->top + c->height - value / c->max * c->height;
}

static void grid(const struct chart *c, const char *label, struct buf *out)
{
	buf_printf(out, "<text class=\"l\" x=\"%d\" y=\"%.0f\">%s</text>\n", LEFT, c->top - 10,
		   label);
	for (int i = 0; i <= TICKS; i++) {
		const double value = c->max / TICKS * i, y = y_of(c, value);

		buf_printf(out, "<line class=\"g\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>",
			   LEFT, WIDTH - RIGHT, y, y);
		buf_printf(out,
			   "<text class=\"l\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			   LEFT - 8, y + 4, value);
	}
}

/* Draws member `key` of the samples as a filled area with steps. class: CSS class with the
 * colour. */
static void area(const struct chart *c, const json_t *line, const char *key, const char *class,
		 struct buf *out)
{
	const double width = (double)PLOT / (double)json_array_size(line);
	json_t *x;
	size_t i;

	buf_printf(out, "<path class=\"%s\" d=\"M%d %.1f", class, LEFT, c->top + c->height);
	json_array_foreach (line, i, x)
		buf_printf(out, "V%.1fH%.2f", y_of(c, json_number_value(json_object_get(x, key))),
			   LEFT + width * (double)(i + 1));
	buf_printf(out, "V%.1fZ\"/>\n", c->top + c->height);
}

/* Labels the time axis in minutes, hours or days, with at most 12 marks. y: position of the
 * labels. */
static void times(double y, double seconds, struct buf *out)
{
	static const double units[] = {60, 600, 3600, 6 * 3600.0, 86400, 7 * 86400.0, 30 * 86400.0};
	double unit = units[0];
	bool days, hours;

	for (size_t i = 1; i < sizeof(units) / sizeof(units[0]) && seconds / unit > 12; i++)
		unit = units[i];
	while (seconds / unit > 12)
		unit *= 2;
	days = unit >= 86400;
	hours = !days && unit >= 3600;
	for (double t = 0; t <= seconds; t += unit)
		buf_printf(out,
			   "<text class=\"l\" x=\"%.1f\" y=\"%.0f\" "
			   "text-anchor=\"middle\">%g</text>\n",
			   LEFT + t / seconds * PLOT, y,
			   t / (days	? 86400
				: hours ? 3600
					: 60));
	buf_printf(out, "<text class=\"l\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n",
		   WIDTH - RIGHT, y + 20,
		   days	   ? "days"
		   : hours ? "hours"
			   : "minutes");
}

static double largest(const json_t *line, const char *key)
{
	double most = 0;
	json_t *x;
	size_t i;

	json_array_foreach (line, i, x)
		most = larger(most, json_number_value(json_object_get(x, key)));
	return most;
}

static void legend(struct buf *out)
{
	static const struct {
		const char *class, *text;
	} rows[] = {{"u", "in use"}, {"n", "in Nodes, unused"}, {"w", "waited for"}};

	for (int i = 0; i < 3; i++)
		buf_printf(out,
			   "<rect class=\"%s\" x=\"%d\" y=\"14\" width=\"12\" height=\"12\"/>"
			   "<text class=\"l\" x=\"%d\" y=\"25\">%s</text>\n",
			   rows[i].class, WIDTH - 400 + 130 * i, WIDTH - 382 + 130 * i,
			   rows[i].text);
}

bool report_svg(const json_t *report, struct buf *out)
{
	const json_t *r = json_object_get(report, "replay"), *line = json_object_get(r, "timeline");
	const double gpus = json_number_value(json_object_get(r, "gpus")),
		     seconds = json_number_value(json_object_get(r, "seconds"));
	const struct chart high = chart_new(TOP, HIGH, larger(gpus, largest(line, "used"))),
			   low = chart_new(TOP + HIGH + GAP, LOW, largest(line, "waiting"));
	const int height = TOP + HIGH + GAP + LOW + 56;

	if (!json_array_size(line))
		return false;
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\" role=\"img\" "
		   "aria-label=\"GPUs in use and GPUs that waiting jobs need, over time\">\n%s",
		   WIDTH, height, WIDTH, height, style);
	buf_printf(out,
		   "<rect class=\"b\" width=\"%d\" height=\"%d\"/>\n"
		   "<text class=\"t\" x=\"%d\" y=\"26\">",
		   WIDTH, height, LEFT);
	text_escaped(out, str_or(json_str_at(report, "scenario"), ""));
	buf_puts(out, "</text>\n");
	legend(out);
	grid(&high, "GPUs", out);
	area(&high, line, "nodes", "n", out);
	area(&high, line, "used", "u", out);
	buf_printf(out,
		   "<line class=\"c\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
		   "<text class=\"l\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">all %g</text>\n",
		   LEFT, WIDTH - RIGHT, y_of(&high, gpus), y_of(&high, gpus), WIDTH - RIGHT,
		   y_of(&high, gpus) - 4, gpus);
	grid(&low, "GPUs that waiting jobs need (queue)", out);
	area(&low, line, "waiting", "w", out);
	times(low.top + LOW + 20, seconds, out);
	buf_puts(out, "</svg>\n");
	return true;
}
