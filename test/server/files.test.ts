import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";

const bytes = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 7]);
const hash = createHash("sha256").update(bytes).digest("hex");
const png = { name: "a <b>.png", data: Buffer.from(bytes).toString("base64") };
const page = { name: "page.html", data: Buffer.from("<script>alert(1)</script>").toString("base64") };
const pageHash = createHash("sha256").update("<script>alert(1)</script>").digest("hex");

const Count = defineAction({ name: "Count", run: (ctx) => String(ctx.news[0]?.files?.length ?? 0) });
const tenants = ["one", "two"].map((name) => ({ name, token: `token-of-tenant-${name}` }));

function served() {
  const team = new Team({
    roles: [defineRole({ name: "Ada", watch: ["UserRequirement", "UserFeedback"], actions: [Count] })],
    journal: memoryJournal(),
  });
  const server = createServer({ team, tenants });
  const client = (tenant: number) => createClient({ url: "http://localhost", token: tenants[tenant]?.token ?? "", fetch: server.fetch });
  const get = (tenant: number, path: string): Promise<Response> =>
    Promise.resolve(
      server.fetch(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${tenants[tenant]?.token}` } })),
    );
  return { client, get };
}

describe("files over HTTP", () => {
  it("come with the words of a conversation, its first ones too, and are read by their tenant alone", async () => {
    const { client, get } = served();
    const said = [];
    for (const files of [[png], [png, page], []]) said.push((await client(0).say("chat", "Look", { files })).messages.at(-1)?.content);
    expect(said).toEqual(["1", "2", "0"]);
    const image = await get(0, `/api/runs/chat/files/${hash}`);
    expect(new Uint8Array(await image.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(image.headers)).toMatchObject({ "content-type": "image/png", "x-content-type-options": "nosniff" });
    expect(image.headers.get("content-disposition")).toMatch(/^inline; filename\*=UTF-8''a%20%3Cb%3E\.png$/);
    expect((await get(1, `/api/runs/chat/files/${hash}`)).status).toBe(404);
    expect((await get(0, `/api/runs/chat/files/${"0".repeat(64)}`)).status).toBe(404);
  });

  it("that a browser could run are downloads in a sandbox", async () => {
    const { client, get } = served();
    await client(0).start({ idea: "Look", id: "run", files: [page] });
    const { headers } = await get(0, `/api/runs/run/files/${pageHash}`);
    expect(headers.get("content-disposition")).toMatch(/^attachment/);
    expect(headers.get("content-security-policy")).toMatch(/^sandbox/);
  });

  it("start one run however often they are sent, and another one with other bytes is refused", async () => {
    const { client } = served();
    const start = (files: readonly (typeof png)[]): Promise<unknown> => client(0).start({ idea: "Look", id: "run", files });
    await start([png]);
    await start([png]);
    await expect(start([page])).rejects.toMatchObject({ code: "RUN_IDEA_DIFFERS" });
  });

  it.each([
    ["a path", { name: "a.png", data: "/tmp/a.png" }, "FILE_INVALID"],
    ["another type", { name: "a.pdf", data: png.data }, "FILE_INVALID"],
    ["a path as its name", { name: "../a.png", data: png.data }, "FILE_INVALID"],
    ["more than a body may have", { name: "a.bin", data: "A".repeat(4_000_000) }, "BODY_TOO_LONG"],
  ])("are refused: %s", async (_what, file, code) => {
    const { client } = served();
    await expect(client(0).start({ idea: "Look", files: [file] })).rejects.toMatchObject({ code });
  });
});
