// SPDX-License-Identifier: GPL-2.0
/* SVG on standard output. */
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "plot/svg.h"

/*
 * Colours that people tell apart who do not see red or green; on a dark page, lighter where they
 * would drown in it.
 */
static const char style[] =
	"text{font-family:sans-serif;font-size:11px;fill:#333}\n"
	".h{font-size:16px;font-weight:bold}\n"
	"text.d{fill:#666}\n"
	".e{text-anchor:end}.m{text-anchor:middle}\n"
	".t{fill:#1a1a1a}\n"
	".p{fill:#f7f5f0}.a{fill:#fff}\n"
	".g{stroke:#dcd7cc;fill:none}.k{stroke:#222;fill:none;stroke-width:1.5}\n"
	".b0{fill:#8a8378;stroke:#8a8378}.b1{fill:#a39c91;stroke:#a39c91}"
	".b2{fill:#b9b3a9;stroke:#b9b3a9}.b3{fill:#cdc8bf;stroke:#cdc8bf}"
	".b4{fill:#ddd9d1;stroke:#ddd9d1}\n"
	".bq{fill:#d3c3dd;stroke:#d3c3dd}.bo{fill:#b8b2a7;stroke:#b8b2a7}"
	".bu{fill:#e4dccb;stroke:#e4dccb}.br{fill:#7a6f9b;stroke:#7a6f9b}\n"
	".l0{fill:#0072b2;stroke:#0072b2}.l1{fill:#56b4e9;stroke:#56b4e9}"
	".l2{fill:#e69f00;stroke:#e69f00}.l3{fill:#d55e00;stroke:#d55e00}"
	".l4{fill:#7f1d1d;stroke:#7f1d1d}.le{fill:#cc79a7;stroke:#cc79a7}\n"
	".w0{fill:#c3bdb0;stroke:#c3bdb0}.w1{fill:#444;stroke:#444}\n"
	".s0{fill:#d55e00;stroke:#d55e00}.s1{fill:#0072b2;stroke:#0072b2}"
	".s2{fill:#009e73;stroke:#009e73}.s3{fill:#cc79a7;stroke:#cc79a7}"
	".s4{fill:#e69f00;stroke:#e69f00}.s5{fill:#56b4e9;stroke:#56b4e9}"
	".s6{fill:#7a6f9b;stroke:#7a6f9b}.s7{fill:#5f5a50;stroke:#5f5a50}"
	".s8{fill:#8a6d3b;stroke:#8a6d3b}.s9{fill:#999;stroke:#999}\n"
	"path.l{fill:none}\n"
	"@media (prefers-color-scheme:dark){\n"
	"text{fill:#ddd}text.d{fill:#aaa}.t{fill:#fff}\n"
	".p{fill:#1f1e1c}.a{fill:#151413}.g{stroke:#3b3833}.k{stroke:#eee}\n"
	".b0{fill:#857e73;stroke:#857e73}.b1{fill:#716b63;stroke:#716b63}"
	".b2{fill:#605b53;stroke:#605b53}.b3{fill:#514c45;stroke:#514c45}"
	".b4{fill:#454139;stroke:#454139}\n"
	".bq{fill:#5a4a66;stroke:#5a4a66}.bo{fill:#646059;stroke:#646059}"
	".bu{fill:#4a4334;stroke:#4a4334}.br{fill:#a79dcb;stroke:#a79dcb}\n"
	".l0{fill:#1f78c8;stroke:#1f78c8}.l1{fill:#7cc8f5;stroke:#7cc8f5}"
	".l4{fill:#ff9d9d;stroke:#ff9d9d}\n"
	".w0{fill:#57534b;stroke:#57534b}.w1{fill:#ccc;stroke:#ccc}\n"
	".s1{fill:#2f9be0;stroke:#2f9be0}.s7{fill:#b5afa3;stroke:#b5afa3}\n"
	"path.l{fill:none}\n"
	"}\n";

/* What others have named may have signs in it that mean something here. */
static void escaped(const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", stdout);
			break;
		case '>':
			fputs("&gt;", stdout);
			break;
		case '&':
			fputs("&amp;", stdout);
			break;
		default:
			/* Names are ASCII; what is cut in the middle of a character is no text. */
			putchar(printable(*text));
		}
	}
}

void svg_begin(int height, const char *title, const char *about)
{
	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
	       "aria-labelledby=\"title about\">\n<title id=\"title\">",
	       SVG_WIDTH, height);
	escaped(title);
	printf("</title>\n<desc id=\"about\">");
	escaped(about);
	printf("</desc>\n<style>\n%s</style>\n", style);
	printf("<rect class=\"p\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n", SVG_WIDTH, height);
}

void svg_end(void)
{
	puts("</svg>");
}

void svg_text(double x, double y, const char *classes, const char *text)
{
	printf("<text x=\"%g\" y=\"%g\"%s%s%s>", x, y, *classes ? " class=\"" : "", classes,
	       *classes ? "\"" : "");
	escaped(text);
	puts("</text>");
}

void svg_rect(double x, double y, double width, double height, const char *classes)
{
	printf("<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" class=\"%s\"/>\n", x, y, width,
	       height, classes);
}

double svg_width_of(const char *text)
{
	return 6.1 * strlen(text);
}
