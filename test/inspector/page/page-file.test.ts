import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { createHash } from "node:crypto";
import { defineAction, defineRole, memoryJournal, Team } from "../../../src/index.ts";
import { offlineSource } from "../../../src/inspector/page/run-source.ts";
import { offlinePage, readPage } from "../../../src/inspector/page-file.ts";
import { filesBelow, root } from "../../architecture/read-house.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { eventsOf } from "../../team/recorded.ts";
import { sampleRun } from "./sample-run.ts";

/** Bytes of the page, compressed as a server sends it. */
const MAX_GZIP = 100_000;

let page: string;
beforeAll(async () => {
  page = await readPage();
});

describe("the runs that came with a page", () => {
  it("have the questions that wait", async () => {
    const journal = memoryJournal();
    const Ask = defineAction({ name: "Ask", run: (ctx) => ctx.human.ask("Which town?", { choices: ["Oslo", "Rome"] }) });
    await new Team({ roles: [defineRole({ name: "Ada", actions: [Ask] })], journal }).run("go", { id: "asks" }).result;
    const { questions } = await offlineSource([await eventsOf(journal, "asks")]).standing("asks", new AbortController().signal);
    expect(questions).toMatchObject([{ role: "Ada", text: "Which town?", form: { choices: [{ value: "Oslo" }, { value: "Rome" }] } }]);
  });
});

describe("the page of the inspector", () => {
  it("is at most 100 KB, compressed", () => {
    const { length } = gzipSync(page);
    expect(length).toBeGreaterThan(5_000);
    expect(length).toBeLessThan(MAX_GZIP);
  });

  it("loads nothing, and its policy allows its own script and style alone", () => {
    const [script, style] = [/<script type="module">([^]*)<\/script>/, /<style>([^]*?)<\/style>/].map((part) => part.exec(page)?.[1] ?? "");
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(page)?.[1] ?? "";
    expect(policy).toContain("default-src 'none'");
    for (const text of [script, style]) {
      expect(text?.length).toBeGreaterThan(10);
      expect(policy).toContain(
        `'sha256-${createHash("sha256")
          .update(text ?? "")
          .digest("base64")}'`,
      );
    }
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page).not.toMatch(/<(?:script|img|link|iframe)[^>]*\s(?:src|href)="(?!data:)/);
  });

  it("starts without schemas, which it does not have", () => {
    const [, script = ""] = /<script type="module">([^]*)<\/script>/.exec(page) ?? [];
    const document = { querySelector: () => null, documentElement: { dataset: {} } };
    const place = { document, location: { hash: "", href: "http://127.0.0.1/" }, addEventListener: () => undefined };
    const nothing = { fetch: () => Promise.reject(new Error("There is no server.")), setTimeout: () => 0, performance };
    const given = { ...place, ...nothing, URL, URLSearchParams, TextEncoder, TextDecoder, AbortController, structuredClone };
    expect(script).not.toBe("");
    expect(() => runInNewContext(script, given)).not.toThrow();
  });

  it("says that it reads before its script runs, which stands behind the runs", () => {
    expect(page.indexOf("Reading the runs")).toBeGreaterThan(0);
    expect(page.indexOf("Reading the runs")).toBeLessThan(page.indexOf('id="troupe-runs"'));
  });

  it("never takes a text for HTML", () => {
    const files = filesBelow("src/inspector/page", "").filter((path) => /\.tsx?$/.test(path));
    expect(files.length).toBeGreaterThan(5);
    const suspect =
      /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|DOMParser|srcdoc|createContextualFragment/;
    expect(files.filter((path) => suspect.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("an offline page", () => {
  it("holds its runs as inert JSON, and reaches no network", async () => {
    const hostile = `</script><script>alert(1)</script><!--<script> \u2028 \u202e`;
    const events = await sampleRun(hostile);
    let html = "";
    for await (const line of offlinePage(page, [events, events])) html += `${line}\n`;
    const block = /<script type="application\/json" id="troupe-runs">([^]*?)<\/script>/.exec(html)?.[1] ?? "";
    expect(JSON.parse(block)).toEqual([events, events]);
    expect(block).not.toContain("<");
    expect(html).toContain("connect-src 'none'");
    expect(html.replace(block, "[]").replace("connect-src 'none'", "connect-src 'self'")).toBe(page);
  });
});
