import { TestRunner } from "vitest";
import { isSoakOver } from "./effort.ts";

/** Skips whole files, with their hooks, once the time of the soak is over: no name matches. */
export default class SoakRunner extends TestRunner {
  override onCollectStart(): void {
    if (isSoakOver()) this.config.testNamePattern = /(?!)/;
  }
}
