import { beforeEach, describe, expect, it, vi } from "vitest";
import { sandboxFor } from "../../src/cli/company.ts";
import { inSession } from "../../src/cli/session.ts";
import { refusedSandbox, type Sandbox, type SandboxMode } from "../../src/workspace/sandbox.ts";
import { fakeHost } from "./fake-host.ts";

const machine = vi.hoisted(() => ({ hasBubblewrap: true, isSlow: false, asked: [] as string[] }));

vi.mock("../../src/workspace/choose-sandbox.ts", () => ({
  chooseSandbox: (mode: SandboxMode): Promise<Sandbox> => {
    machine.asked.push(mode);
    if (mode === "none") return Promise.resolve({ ...refusedSandbox("", ""), kind: "none" });
    if (machine.isSlow) return new Promise(() => {});
    if (machine.hasBubblewrap) return Promise.resolve({ ...refusedSandbox("", ""), kind: "bubblewrap" });
    return Promise.resolve(refusedSandbox("bubblewrap is not installed", "Install it. Or: --sandbox none."));
  },
}));

vi.mock("../../src/checks/chromium.ts", () => ({ missingPageMeans: () => "there is no browser" }));

beforeEach(() => {
  machine.hasBubblewrap = true;
  machine.isSlow = false;
  machine.asked = [];
});

async function chosen(sandbox: SandboxMode, isScripted: boolean, runTests = true): Promise<{ kind: string; said: string }> {
  const host = fakeHost();
  let kind = "";
  await inSession(host, {}, async (session) => {
    kind = (await sandboxFor(session, { sandbox, runTests }, isScripted)).kind;
    return 0;
  });
  return { kind, said: host.stderr.text };
}

describe("sandboxFor", () => {
  it("says before the first call that no page can be opened", async () => {
    const said = async (stack: "page" | "node" | undefined): Promise<string> => {
      const host = fakeHost();
      await inSession(host, {}, async (session) => {
        await sandboxFor(session, { sandbox: "auto", runTests: true, crew: { kind: "software-company", stack } }, false);
        return 0;
      });
      return host.stderr.text;
    };
    // Without a stack the company may choose a page.
    for (const stack of ["page", undefined] as const)
      expect(await said(stack)).toContain("No page can be opened here, so criteria of a page are not checked: there is no browser");
    expect(await said("node")).toBe("");
  });

  it("runs nothing of a model where bubblewrap does not work, and says how to allow it", async () => {
    machine.hasBubblewrap = false;
    const { kind, said } = await chosen("auto", false);
    expect(kind).toBe("refused");
    expect(said).toContain("The project's tests will not run: bubblewrap is not installed. Install it. Or: --sandbox none.");
  });

  it("runs a bundled script's tests without it, told in one line", async () => {
    machine.hasBubblewrap = false;
    const { kind, said } = await chosen("auto", true);
    expect(kind).toBe("none");
    expect(said.trimEnd().split("\n")).toHaveLength(1);
    expect(said).toContain("run without it");
  });

  it("runs nothing where bubblewrap was demanded and does not work, scripts included", async () => {
    machine.hasBubblewrap = false;
    expect(await chosen("bubblewrap", true)).toMatchObject({ kind: "refused" });
  });

  it.each(["auto", "bubblewrap", "none"] as const)("runs nothing at all where nothing is to run, with --sandbox %s", async (mode) => {
    expect((await chosen(mode, false, false)).kind).toBe("refused");
  });

  it("warns where a model's code runs without isolation, on purpose", async () => {
    const { kind, said } = await chosen("none", false);
    expect(kind).toBe("none");
    expect(said).toContain("without isolation");
    expect((await chosen("none", true)).said).toBe("");
  });

  it("does not wait for bubblewrap once Ctrl-C was pressed", async () => {
    machine.isSlow = true;
    const host = fakeHost();
    const code = inSession(host, {}, async (session) => {
      const choice = sandboxFor(session, { sandbox: "auto", runTests: true }, false);
      host.signal("SIGINT");
      await choice;
      return 0;
    });
    expect(await code).toBe(130);
  });
});
