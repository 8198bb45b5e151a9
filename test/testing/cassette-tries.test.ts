import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { RoleContext } from "../../src/role/context.ts";
import type { ModelError } from "../../src/kernel/errors.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { type ModelErrorCode, type ModelErrorData, modelError } from "../../src/model/failure.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { saveCassette } from "../../src/testing/cassette.ts";
import { cassetteModel } from "../../src/testing/cassette-model.ts";
import { type ScriptedReply, scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { answering } from "../runtime/town.ts";
import { hasty, newPath, price, type Told, told } from "./told-run.ts";

/** A run of one role that says what it was answered. */
function toldOf(react: (rc: RoleContext) => Promise<string>, model: ChatModel, options?: TeamOptions): Promise<Told> {
  return told(async (rc) => rc.message(await react(rc)), model, options);
}

function fails(code: ModelErrorCode, data: ModelErrorData = {}): ModelError {
  return modelError(code, `Expected an answer, got ${code}.`, { data });
}

const usage = { inputTokens: 1_000, outputTokens: 200 };
const paid = (): ModelError => fails("MODEL_CUT", { usage });

/** Replies in turn. */
function replying(replies: readonly ScriptedReply[]): ChatModel {
  return scriptedModel(replies, { price, id: "m" });
}

const ask = (rc: RoleContext): Promise<string> => rc.ask("?");
const codeOf = (error: unknown): string => (error as { readonly code: string }).code;

describe("a played cassette costs what the run had cost", () => {
  test.each<[string, readonly ScriptedReply[], (rc: RoleContext) => Promise<string>]>([
    ["a try whose usage was told", [paid(), "yes"], ask],
    ["tries that held all they could cost", [fails("MODEL_SERVER"), fails("MODEL_TIMEOUT"), "yes"], ask],
    ["tries that cost nothing", [fails("MODEL_RATE_LIMIT"), fails("MODEL_SERVER", { mayHaveRun: false }), "yes"], ask],
    ["as many as there may be", [paid(), fails("MODEL_EMPTY"), fails("MODEL_RATE_LIMIT", { retryAfterMs: 9 }), "yes"], ask],
    ["a call that failed for good", [paid(), fails("MODEL_RATE_LIMIT"), paid(), fails("MODEL_SERVER")], (rc) => ask(rc).catch(codeOf)],
    ["a call that failed at once", [fails("MODEL_BAD_REQUEST", { usage })], (rc) => ask(rc).catch(codeOf)],
    [
      "equal requests, one after another",
      [paid(), "one", "two", paid(), paid(), "three"],
      async (rc) => `${await ask(rc)} ${await ask(rc)} ${await ask(rc)}`,
    ],
    [
      "a reply format that the server did not know",
      [fails("MODEL_FORMAT_UNSUPPORTED"), paid(), '{"x":1}'],
      async (rc) => String((await rc.ask("?", { schema: z.object({ x: z.number() }) })).x),
    ],
  ])("with %s", async (_what, replies, react) => {
    const first = await toldOf(react, replying(replies));
    expect(first.result.status).toBe("finished");
    const player = cassetteModel(first.cassette, { price });
    // A clock that stands still: whoever waits, waits for ever.
    const again = await toldOf(react, player, { clock: simulatedClock() });
    expect([again.result.status, again.result.cost, again.result.usage]).toEqual(["finished", first.result.cost, first.result.usage]);
    // That it might be tried again is not told of a failure that is played: it must not be.
    const plain = (events: readonly RunEvent[]): string => canonical(events).replaceAll(',"retryable":true', "");
    expect(plain(again.events)).toBe(plain(first.events));
    expect(player.unused).toEqual([]);
  });

  test("also where equal requests were made side by side, each of which gets its own answer", async () => {
    const react = async (rc: RoleContext): Promise<string> => (await Promise.all([ask(rc), ask(rc), ask(rc)])).join();
    let tries = 0;
    const shaky: ChatModel = scriptedModel(() => ((tries += 1) === 2 ? paid() : `answer ${tries}`), { price, id: "m" });
    const first = await toldOf(react, shaky);
    const again = await toldOf(react, cassetteModel(first.cassette, { price }));
    expect(again.result.output?.content).toBe(first.result.output?.content);
    expect([again.result.cost, again.result.usage]).toEqual([first.result.cost, first.result.usage]);
  });

  test("but not of tries that the end of a process cut off, and of those before", async () => {
    const journal = memoryJournal();
    const ann = answering("Ann", async (rc) => rc.message(await ask(rc)));
    const stop = new AbortController();
    const stopping = scriptedModel((_request, n) => (n === 0 ? paid() : (stop.abort(), "late")), { price, id: "m" });
    const team = new Team({ seed: "s", clock: hasty, journal, roles: [ann], model: stopping });
    const run = team.run("go", { id: "r", signal: stop.signal });
    expect((await run.result).status).toBe("stopped");
    const second = await new Team({ clock: hasty, journal, roles: [ann], model: replying([paid(), paid(), paid(), "yes"]) }).resume("r")
      .result;
    expect(second.status).toBe("finished");
    const cassette = await saveCassette(journal, "r", newPath());
    const alone = await toldOf(ask, replying([paid(), paid(), paid(), "yes"]));
    const again = await toldOf(ask, cassetteModel(cassette, { price }));
    expect([again.result.output?.content, again.result.cost]).toEqual(["yes", alone.result.cost]);
    expect(second.cost.known).toBeGreaterThan(alone.result.cost.known);
  });
});
