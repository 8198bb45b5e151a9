import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { answers } from "../../src/adapters/restate-endpoint.ts";
import { restateDriver } from "../../src/adapters/restate.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { freePort } from "../kernel/free-port.ts";
import { door } from "../server/served-team.ts";
import { errorOf } from "../workspace/scratch.ts";

describe("a driver on Restate", () => {
  it.each(["127.0.0.1:8080", "http://127.0.0.1:8080/path", "http://me:secret@127.0.0.1"])("refuses %s before it connects", async (url) => {
    for (const name of ["ingress", "admin"]) {
      const error = await errorOf(async () => restateDriver({ [name]: url }));
      expect(error).toMatchObject({ code: "RESTATE_URL_INVALID", message: expect.not.stringContaining("secret") });
    }
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

  describe("with a scripted server", () => {
    const closes: (() => void)[] = [];
    afterEach(() => {
      for (const close of closes.splice(0)) close();
    });

    /** The admin interface of a server. @param answer returns the answer of a call */
    async function adminOf(answer: (path: string, body: string) => unknown): Promise<string> {
      const server = createServer((request, response) => {
        const told = text(request).then((body) => answer(request.url ?? "", body));
        void told.then((value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value)));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closes.push(() => server.close().closeAllConnections());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    it("DriverWorks.W1 refuses the start of a worker when it is closed meanwhile, and leaves none that listens or asks", async () => {
      const [asked, gate] = [door(), door()];
      const uris: string[] = [];
      const admin = await adminOf(async (path, body) => {
        if (path !== "/deployments") return { rows: [] };
        uris.push((JSON.parse(body) as { uri: string }).uri);
        asked.open();
        await gate.passed;
        return { id: "dp_1" };
      });
      const clock = simulatedClock();
      const driver = restateDriver({ admin, clock });
      const starting = codeOf(() => driver.work(async () => ({ is: "done" }), { teams: ["x"], concurrency: 1 }));
      await asked.passed;
      const closed = driver.close();
      gate.open();
      await closed;
      expect([await Promise.all(uris.map(answers)), clock.pending]).toEqual([uris.map(() => false), 0]);
      expect(await starting).toBe("DRIVER_CLOSED");
    });

    it("RestateDriver.D1 reports that a cancelled run continues when the server ends no call of it", async () => {
      const admin = await adminOf((path) => (path === "/query" ? { rows: [{ id: "inv_1", service: "troupe.eA", since: "2030" }] } : {}));
      const driver = restateDriver({ admin, timeout: 500 });
      expect(await codeOf(() => driver.cancel("a"))).toBe("DRIVER_REFUSED");
      await driver.close();
    });
  });
});
