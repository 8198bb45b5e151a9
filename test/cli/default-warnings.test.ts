import { describe, expect, test } from "vitest";
import { inSession } from "../../src/cli/session.ts";
import { defaultLogger } from "../../src/kernel/default-logger.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import { fakeHost } from "./fake-host.ts";

/** A team of a user's module without a logger, whose role writes to an address that nobody has. */
async function strayed(): Promise<void> {
  const ann = defineRole({ name: "Ann", react: (rc) => rc.message("hello", { sendTo: "Bobb" }) });
  await new Team({ roles: [ann] }).run("go").result;
}

describe("warnings of a team without a logger", () => {
  test.each([
    ["are printed with --verbose", { verbose: true }, true],
    ["are counted without an option", {}, false],
    ["are silent with --json", { json: true }, false],
    ["are silent with --quiet", { quiet: true }, false],
  ])("%s", async (_what, flags, isPrinted) => {
    const host = fakeHost();
    const code = await inSession(host, flags, async ({ screen }) => {
      await strayed();
      expect(screen.unseenWarnings.size).toBe(isPrinted ? 0 : 1);
      return 0;
    });
    expect(code).toBe(0);
    expect(host.stderr.text.includes("Bobb")).toBe(isPrinted);
    expect(host.stdout.text).toBe("");
    defaultLogger.warn("after the session");
    expect(host.stderr.text).not.toContain("after the session");
  });
});
