import fc from "fast-check";
import { tries } from "../long.ts";
import { describe, expect, it } from "vitest";
import { readHtml } from "../../src/tools/html-text.ts";
import { seenText } from "../../src/tool/shown-text.ts";

function textOf(html: string): string {
  return readHtml(html, "https://site.example/dir/page").text;
}

describe("a page as text", () => {
  it("has headings, paragraphs, lists, tables and links, and its title", () => {
    const page = `<!doctype html><html><head><title>A &amp; B
      page</title><style>p { color: red }</style></head><body><h1>Head</h1><p>One   two<br>three</p>
      <ul><li>first<li><a href="../up?a=1&amp;b=2">second</a></ul><table><tr><td>x</td><td>y</td></tr></table><img alt="a picture" src=x></body>`;
    expect(readHtml(page, "https://site.example/dir/page")).toEqual({
      title: "A & B page",
      text: "# Head\n\nOne two\nthree\n\n- first\n- [second](https://site.example/up?a=1&b=2)\n\nx | y |\n\na picture",
    });
  });

  it.each([
    "<script>alert('<p>no</p>')</script>",
    "<SCRIPT type=x>if (a </scriptx) no</SCRIPT >",
    "<style>no { }</style\n>",
    "<!-- no --><!-- no > no -->",
    "<![CDATA[no]]>",
    "<?php no ?>",
    "<template><p>no</p></template>",
    "<svg><text>no</text></svg>",
    "<iframe>no</iframe>",
    "<p title='no > no' data-x=\"no > no\">",
  ])("leaves out what is not read: %s", (html) => {
    expect(textOf(`yes${html} yes`).replace(/\s+/g, " ")).toBe("yes yes");
  });

  it.each([
    ["&lt;b&gt; &#65;&#x42; &auml; &nbsp;x", "<b> AB ä x"],
    ["&unknown; &amp &#; &#xZZ; & &;", "&unknown; &amp &#; &#xZZ; & &;"],
    ["&#0;&#xd800;&#1114112;", "\ufffd\ufffd\ufffd"],
    ["&constructor; &__proto__; &toString;", "&constructor; &__proto__; &toString;"],
    ["&amp;lt;script&amp;gt;", "&lt;script&gt;"],
  ])("reads character references once: %s", (html, text) => expect(textOf(html)).toBe(text));

  it.each(["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "#top", "http://[", "  java\nscript:alert(1)"])(
    "makes no link of %s",
    (href) => expect(textOf(`<a href="${href}">words</a>`)).toBe("words"),
  );

  it.each(["<", "<p", "<a href='", "<!--", "<script>", "a < b", "</", "<a <b>x", "<p>unclosed", "<<<>>>"])(
    "reads what is broken: %s",
    (html) => {
      expect(() => textOf(html)).not.toThrow();
    },
  );
});

it("takes time that grows with the page, whatever is on it", { tags: ["numbers", "long"] }, () => {
  const pieces = `<a|<a href='|<!--|<script>|<style|&#|&a|<p '"|<title>|</|<a href="x" href="|<td>| |<svg><svg>|<li>`.split("|");
  for (const piece of pieces) {
    const started = process.cpuUsage();
    textOf(piece.repeat(1_000_000 / piece.length));
    const { user } = process.cpuUsage(started);
    expect([piece, user < 3_000_000]).toEqual([piece, true]);
  }
});

it("never throws, and gives text that steers nothing", () => {
  const marks = `<p> </p> <script> </script> <a href= ' " > <!-- --> &#x1b; é <pre> &lt;`;
  const bits = fc.constantFrom(...marks.split(" "), "<a href=", "\u202e", "\u001b[2J");
  fc.assert(
    fc.property(fc.array(fc.oneof(bits, fc.string({ unit: "binary" }))), (parts) => {
      const { title, text } = readHtml(parts.join(""), "https://site.example/");
      expect(seenText(title + text)).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|[\u{e0000}-\u{e007f}]/u,
      );
    }),
    { numRuns: tries(20, 1_000) },
  );
});
