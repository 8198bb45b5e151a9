import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workerFolders } from "../../src/cli/fleet.ts";
import type { Session } from "../../src/cli/session.ts";
import { memoryJournal } from "../../src/index.ts";
import { S3_KEYS, s3Stub } from "../adapters/s3-stub.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";

const stub = await s3Stub();
const [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY] = [S3_KEYS.accessKeyId, S3_KEYS.secretAccessKey];

function moving(cwd: string, workspaces: string | undefined, env: Readonly<Record<string, string>> = {}) {
  const session = { host: { cwd, env } } as unknown as Session;
  return workerFolders(session, workspaces === undefined ? {} : { workspaces });
}

describe("the option --workspaces", () => {
  it("names a folder or a bucket, and the folders of runs are below the working directory", async () => {
    const cwd = scratchFolder();
    const staying = await moving(cwd, undefined);
    expect([staying.moving, staying.workspaces.folderOf("a")]).toEqual([undefined, join(cwd, ".troupe/workspaces/a")]);
    expect(staying.workspaces.folderOf("../A")).toMatch(/workspaces\/run_[0-9a-f]{64}$/);
    const { moving: shared } = await moving(cwd, "file:shared");
    expect(shared?.folderOf("a")).toBe(join(cwd, ".troupe/workspaces/a"));
    expect([await shared?.fetch("a", memoryJournal()), existsSync(join(cwd, "shared"))]).toEqual(["new", true]);
    const { moving: bucket } = await moving(scratchFolder(), `s3://runs/fleet/one?endpoint=${stub.endpoint}`, {
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
    });
    await bucket?.fetch("a", memoryJournal());
    expect([...stub.objects.keys()]).toEqual(["fleet/one/a/place.json"]);
  });

  it("is refused with what to say, and without the text that was given", async () => {
    const cwd = scratchFolder();
    for (const text of ["/shared", "s3://key:secret@runs", "https://secret@host", "file:"]) {
      const error = await errorOf(() => moving(cwd, text, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }));
      expect([error.code, error.message.includes("secret")]).toEqual(["OPTION_INVALID", false]);
    }
    expect((await errorOf(() => moving(cwd, "s3://runs"))).message).toContain("AWS_SECRET_ACCESS_KEY");
  });
});
