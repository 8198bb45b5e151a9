import { TestRunner } from "vitest";
import { isSoakOver } from "../test/effort.ts";

/** Vitest's runner for the soak: once its time is over it skips whole files, with their hooks, because no name matches. */
export default class SoakRunner extends TestRunner {
  onCollectStart() {
    if (isSoakOver()) this.config.testNamePattern = /(?!)/;
  }
}
