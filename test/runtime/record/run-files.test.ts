import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMessage, defineAction, defineRole, Environment, exportRun, importRun, memoryJournal, Team } from "../../../src/index.ts";
import type { Journal } from "../../../src/ports.ts";

const bytes = new TextEncoder().encode("%PDF-1.7 the report");
const hash = createHash("sha256").update(bytes).digest("hex");
const given = [{ name: "report.pdf", data: bytes }];
const kept = async (journal: Journal, runId: string): Promise<string> => new TextDecoder().decode(await journal.file?.(runId, hash));

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const Pass = defineAction({ name: "Pass", run: (ctx) => ctx.message("passed", { files: ctx.news[0]?.files }) });
const roles = [defineRole({ name: "Ada", actions: [Pass] })];

describe("the files of a run", () => {
  it("RunLog.W7 are in the journal before the event that names them", async () => {
    const journal = memoryJournal();
    const order: string[] = [];
    const watched: Journal = Object.assign(Object.create(journal) as Journal, {
      keepFile: async (...parts: Parameters<NonNullable<Journal["keepFile"]>>) => {
        order.push("file");
        await journal.keepFile?.(...parts);
      },
      append: async (...parts: Parameters<Journal["append"]>) => {
        order.push(...parts[3].filter(({ type }) => type === "message").map(() => "message"));
        await journal.append(...parts);
      },
    });
    for (const method of ["create", "claim", "release", "read", "runs", "info", "remove", "file"] as const)
      (watched as unknown as Record<string, unknown>)[method] = (journal[method] as () => unknown).bind(journal);
    const { runId } = await new Team({ roles, journal: watched }).run(createMessage("go", { files: given })).result;
    expect(order).toEqual(["file", "message"]);
    expect(await kept(journal, runId)).toContain("the report");
  });

  it("are passed on by a role, also into a run of another team", async () => {
    const [one, other] = [memoryJournal(), memoryJournal()];
    const { messages } = await new Team({ roles, journal: one }).run(createMessage("go", { files: given })).result;
    const passed = messages.at(-1);
    expect(passed?.files).toEqual([{ name: "report.pdf", type: "application/pdf", size: bytes.length, hash }]);
    const { runId } = await new Team({ roles, journal: other }).run(createMessage("again", { files: passed?.files })).result;
    expect(await kept(other, runId)).toContain("the report");
  });

  it("go with the run: into an export, an import and a fork, and away with its words", async () => {
    const journal = memoryJournal();
    const team = new Team({ roles, journal });
    const { runId } = await team.run(createMessage("go", { files: given }), { scope: { user: "u" } }).result;
    const fork = await team.fork(runId, {}).result;
    expect(await kept(journal, fork.runId)).toContain("the report");
    const lines: string[] = [];
    for await (const line of exportRun(journal, runId)) lines.push(line);
    const other = memoryJournal();
    await importRun(other, lines);
    expect(await kept(other, runId)).toContain("the report");
    await team.forget({ user: "u" });
    expect([await journal.file?.(runId, hash), await journal.file?.(fork.runId, hash)]).toEqual([undefined, undefined]);
    expect(JSON.stringify(await listOf(journal.read(runId, 0)))).not.toContain("report.pdf");
  });

  it("RunImport.X5 are refused when they are not what their hash names, or are missing", async () => {
    const journal = memoryJournal();
    const { runId } = await new Team({ roles, journal }).run(createMessage("go", { files: given })).result;
    const lines = await listOf(exportRun(journal, runId));
    const at = lines.findIndex((line) => line.includes('"file"') && line.includes('"troupe"'));
    const data = Buffer.from("other").toString("base64");
    const changed = lines.with(at, JSON.stringify({ ...(JSON.parse(lines[at] ?? "") as object), data }));
    await expect(importRun(memoryJournal(), changed)).rejects.toMatchObject({ code: "EXPORT_INVALID" });
    await expect(importRun(memoryJournal(), lines.toSpliced(at, 1))).rejects.toMatchObject({ code: "EXPORT_INVALID" });
  });

  it("are bounded where no journal keeps them", async () => {
    const environment = new Environment();
    environment.addRole(roles[0] as (typeof roles)[0]);
    const large = (n: number) => ({ name: `${n}.bin`, data: new Uint8Array(24 * 1024 * 1024).fill(n) });
    const publish = (n: number): unknown => environment.publishMessage(createMessage("go", { files: [large(n)] }));
    for (const n of [1, 2, 3, 4]) publish(n);
    expect(() => publish(5)).toThrow(expect.objectContaining({ code: "FILE_TOO_LARGE" }));
  });

  it("have masked names", async () => {
    const journal = memoryJournal();
    const files = [{ name: "plan of hunter2.pdf", data: bytes }];
    const { runId } = await new Team({ roles, journal, secrets: ["hunter2"] }).run(createMessage("go", { files })).result;
    expect(JSON.stringify(await listOf(journal.read(runId, 0)))).not.toContain("hunter2");
    expect(await kept(journal, runId)).toContain("the report");
  });
});
