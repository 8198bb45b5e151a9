// @module-tag pages
import { loadavg } from "node:os";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { readPage } from "../../../src/inspector/page-file.ts";
import { FIRST_PANEL } from "../../../src/inspector/page/route.ts";
import { PANELS } from "../../../src/inspector/page/run-page.tsx";
import { longRun } from "./long-run.ts";
import { describeInBrowser, expectSoon, offlineFile, testBrowser } from "./watched-page.ts";

/** Steps of the slider that are measured. */
const STEPS = 60;
/** The most times as long that a frame of the long run may take as one of the short run; frames as short as FRAME are not compared. */
const MOST_GROWTH = 4;
const FRAME = 40;

/** Moves the slider step by step. Returns the milliseconds from each step to the frame that shows it, sorted. */
function scrubbed(page: Page, from: number, by: number): Promise<readonly number[]> {
  return page.evaluate(
    async ({ from: start, by: stride, steps }) => {
      const slider = document.querySelector<HTMLInputElement>(".scrubber input");
      const times: number[] = [];
      for (let step = 0; step < steps && slider !== null; step += 1) {
        slider.value = String(start + step * stride);
        const began = performance.now();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        // The first frame renders, the second one is after it.
        await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
        times.push(performance.now() - began);
      }
      return times.sort((a, b) => a - b);
    },
    { from, by, steps: STEPS },
  );
}

/** Milliseconds from the beginning of the page. */
interface Reading {
  readonly painted: number;
  /** The first panel is there. */
  readonly usable: number;
  /** Another panel, which was asked for at once, is there. */
  readonly changed: number;
  /** Every event is there. */
  readonly whole: number;
}

/** Opens a run, asks for the list of events as soon as there is a panel, and waits for the whole run. */
async function reading(page: Page, url: string, within: number): Promise<Reading> {
  await page.addInitScript(() => {
    const seen: Record<string, number> = {};
    const look = (): void => {
      const note = (name: string, is: boolean): void => void (is && (seen[name] ??= performance.now()));
      note("usable", document.querySelector(".said") !== null && document.querySelector(".whole-bar") !== null);
      if (seen["usable"] !== undefined) document.querySelector<HTMLElement>('.tabs a[href$="/events"]')?.click();
      note("changed", document.querySelector(".event") !== null);
      note("whole", seen["changed"] !== undefined && document.querySelector(".reading") === null);
      if (seen["whole"] === undefined) requestAnimationFrame(look);
      else Object.assign(window, { seen });
    };
    requestAnimationFrame(look);
  });
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => "seen" in window, undefined, { timeout: within });
  return page.evaluate(() => ({
    painted: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    ...(window as unknown as { readonly seen: Omit<Reading, "painted"> }).seen,
  }));
}

const { folder, open } = testBrowser();

describeInBrowser("a long run in the page", () => {
  /** The median frame of each panel with the shorter run, which comes first. */
  const short = new Map<string, number>();
  beforeAll(async () => {
    process.stderr.write(`
The page has ${gzipSync(await readPage()).length} bytes, compressed. Load: ${loadavg()[0]?.toFixed(1)}
`);
  });

  test.each([
    [10_000, 60_000],
    [100_000, 180_000],
  ])("%i events are there, can be looked at while they are read, and can be scrubbed", async (count, within) => {
    const url = await offlineFile(folder, String(count), [longRun(count)]);
    const { page } = await open("about:blank");
    const { painted, usable, changed, whole } = await reading(page, `${url}#/runs/long-${count}/${FIRST_PANEL}`, within);
    if (count === 100_000) expect(changed).toBeLessThan(whole);
    const frames: Record<string, string> = {};
    for (const { id: panel } of PANELS) {
      await page.evaluate((hash) => (location.hash = hash), `#/runs/long-${count}/${panel}`);
      await page.locator(`.tabs a[aria-current][href$="/${panel}"]`).waitFor();
      const back = await scrubbed(page, Math.floor(count * 0.8), -37);
      const far = await scrubbed(page, 10, Math.floor(count / STEPS) - 1);
      frames[panel] = [back, far].map((times) => `${Math.round(times[STEPS / 2] ?? 0)}/${Math.round(times.at(-3) ?? 0)}`).join(" ");
      const median = back[STEPS / 2] ?? 0;
      if (count === 10_000) short.set(panel, Math.max(FRAME, median));
      else expect(median, panel).toBeLessThan(MOST_GROWTH * (short.get(panel) ?? 0));
      if (panel === "events") {
        const shown = await page.locator(".scrubber input").inputValue();
        await expectSoon(() => page.locator(".event-seq").allTextContents()).toContain(shown);
      }
      // The document has what is in view, whatever the length of the run.
      expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(3_000);
    }
    process.stderr.write(
      `\n${count} events: ms ${[painted, usable, changed, whole].map(Math.round).join(" ")} (painted, usable, changed, whole), ${JSON.stringify(frames)}\n`,
    );
  });
});
