import { it, TestRunner } from "vitest";
import { isSoakOver } from "../test/effort.ts";

/** Vitest's runner for the soak: once its time is over it loads no file any more, because some begin their work while they load. */
export default class SoakRunner extends TestRunner {
  importFile(path, source) {
    const isRun = source !== "collect" || !isSoakOver();
    if (isRun) return super.importFile(path, source);
    // oxlint-disable-next-line vitest/expect-expect -- a file without any test would count as failed
    it.runIf(isRun)("begins no test, because the time of the soak is over", () => undefined);
  }
}
