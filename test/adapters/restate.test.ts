import { describe, expect, it } from "vitest";
import { restateDriver } from "../../src/adapters/restate.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { freePort } from "../kernel/free-port.ts";
import { errorOf } from "../workspace/scratch.ts";

describe("a driver on Restate", () => {
  it("refuses options that it cannot use, before it connects", async () => {
    for (const url of ["127.0.0.1:8080", "redis://127.0.0.1", "http://127.0.0.1:8080/path", "http://me:secret@127.0.0.1"]) {
      for (const name of ["ingress", "admin"]) {
        const error = await errorOf(async () => restateDriver({ [name]: url }));
        expect(error).toMatchObject({ code: "RESTATE_URL_INVALID" });
        expect(String(error)).not.toContain("secret");
      }
    }
    for (const o of [{ port: -1 }, { port: 65_536 }, { port: 1.5 }, { host: "" }, { timeout: 0 }]) {
      expect(await codeOf(() => restateDriver(o))).toBe("OPTION_INVALID");
    }
    expect(await codeOf(() => restateDriver({ ingres: "http://127.0.0.1" } as object))).toBe("OPTION_UNKNOWN");
  });

  it("says where it expected a server, and refuses jobs and work without one", async () => {
    const [ingress, admin] = [await freePort(), await freePort()];
    const driver = restateDriver({ ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}`, timeout: 50 });
    const submitted = await errorOf(() => driver.submit({ runId: "a", team: "x" }));
    expect(submitted).toMatchObject({ code: "DRIVER_UNREACHABLE", message: expect.stringContaining(`127.0.0.1:${ingress}`) });
    expect(await codeOf(() => driver.list({ limit: 1 }))).toBe("DRIVER_UNREACHABLE");
    expect(await codeOf(() => driver.list({ limit: "1; DROP TABLE runs" as unknown as number }))).toBe("OPTION_INVALID");
    expect(await codeOf(() => driver.work(async () => ({ is: "done" }), { teams: [], concurrency: 1 }))).toBe("OPTION_INVALID");
    await driver.close();
    expect(await codeOf(() => driver.cancel("a"))).toBe("DRIVER_CLOSED");
  });
});
