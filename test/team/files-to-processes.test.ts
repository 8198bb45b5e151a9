import { describe, expect, it } from "vitest";
import { startWorker } from "../../src/fleet/index.ts";
import { createMessage, defineAction, defineRole, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { Json } from "../../src/kernel/json.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { eventsOf } from "./recorded.ts";

/*
 * Files on their way to another process: what goes there is JSON, so the bytes come with it.
 */

const bytes = new TextEncoder().encode("%PDF-1.7 the report");
const report = { name: "report.pdf", data: bytes };

const Read = defineAction({
  name: "Read",
  async run(ctx) {
    const [file] = ctx.news.at(-1)?.files ?? [];
    return file === undefined ? "no file" : `${file.name}: ${new TextDecoder().decode(await ctx.file(file))}`;
  },
});
const Ask = defineAction({ name: "Ask", run: async ({ waitFor }) => JSON.stringify(await waitFor("go")) });

/** A journal whose commands reach other processes as JSON. */
function overWire(journal: Journal): Journal {
  return {
    ...journal,
    command: (id, command, o) => journal.command?.(id, JSON.parse(JSON.stringify(command)) as Json, o) as Promise<Json>,
  };
}

const rita = defineRole({ name: "Rita", watch: ["Report"], actions: [Read] });
const ann = defineRole({ name: "Ann", actions: [Ask] });

const saidIn = (events: readonly RunEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "act.ended" ? event.said.map(({ message }) => message.content) : []));

describe("a file", () => {
  it("of a message to a run that another process drives is read there", async () => {
    const kept = memoryJournal();
    const host = simulatedProcesses(kept);
    const team = (journal: Journal): Team => new Team({ roles: [rita, ann], journal });
    const run = team(host.start().journal).run("go", { id: "r", wait: true });
    await run.started;
    const away = team(overWire(host.start().journal));
    const { message } = await away.send("r", createMessage("Look", { causeBy: "Report", files: [report] }));
    expect(message.files).toMatchObject([{ name: "report.pdf", size: bytes.length }]);
    await run.signal("go", "done");
    await run.result;
    expect(saidIn(await eventsOf(kept, "r"))).toContain("report.pdf: %PDF-1.7 the report");
  });

  it("of the idea of a job is read by the worker, and kept by its journal", async () => {
    const journal = memoryJournal();
    const driver = memoryRunDriver();
    const team = new Team({ name: "readers", roles: [defineRole({ name: "Ida", actions: [Read] })], journal, driver });
    const worker = await startWorker({ driver, journal, teams: [team] });
    await team.submit(createMessage("Look", { files: [report] }), { id: "r" });
    while ((await driver.list({ limit: 1 })).length > 0) await nextMacrotask();
    await worker.drain();
    expect(saidIn(await eventsOf(journal, "r"))).toContain("report.pdf: %PDF-1.7 the report");
  });
});
