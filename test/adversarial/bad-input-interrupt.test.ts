import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { fence } from "../actions/greeter.ts";
import { start } from "../cli/child.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { greeting } from "../cli/kept-run.ts";
import { git, playing } from "./hostile-model.ts";
import { someOf } from "../long.ts";

const cwd = scratchFolder();

/** A test of a model that hears no signal and does not end. It holds a line to us that only its death can close. */
function stubborn(port: number): string {
  const lines = [
    'import { connect } from "node:net";',
    'import { test } from "node:test";',
    'for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});',
    `test("never ends", () => new Promise(() => connect(${port}, "127.0.0.1")));`,
  ];
  return fence(`${lines.join("\n")}\n`);
}

describe("Ctrl-C while the code of a model runs and will not stop", () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => server.close());

  it.each([...someOf([["once", 1] as const], 0), ["twice", 2] as const])(
    "%s: 130, nothing of it is left running, and every file is in a commit",
    { tags: ["company", "long"] },
    async (name, times) => {
      const at = join(cwd, name);
      mkdirSync(at);
      const { port } = server.address() as AddressInfo;
      await using stub = await openaiStub({ handler: playing({ "WriteTest: tests/greet.test.mjs": stubborn(port) }) });
      const temporary = mkdtempSync(join(at, "temporary-"));
      const child = start(greeting(stub.url, "--out", "project"), { cwd: at, env: { TMPDIR: temporary } });
      const [line] = (await once(server, "connection")) as [Socket];
      line.on("error", () => {});
      const gone = once(line.resume(), "close");
      for (let n = 0; n < times; n++) child.process.kill("SIGINT");
      expect(await child.ended).toBe(130);
      await gone;
      expect(readdirSync(temporary)).toEqual([]);
      const project = join(at, "project");
      expect(git(project, "status", "--short")).toBe("");
      expect(git(project, "log", "--format=%s")).toMatch(/^Write the tests/);
      expect(git(project, "fsck", "--strict", "--no-dangling")).toBe("");
    },
  );
});
