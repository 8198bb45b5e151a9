import { describe, expect, it, test } from "vitest";
import { type OpenSpan, RunSpans, type SpanBeginning } from "../../src/adapters/otel-spans.ts";
import { createMessage, type RunEvent } from "../../src/index.ts";
import type { RunEventBody } from "../../src/runtime/record/event.ts";
import { tries } from "../long.ts";
import { bytesKeptBy } from "../kernel/garbage.ts";
import { named, spansOf, treeOf } from "./otel-setup.ts";

const LONG = "word ".repeat(2_000_000);
const TEXT = "text ".repeat(1_000);

/** Two roles that answer each other, four events for each hop. No event is kept. */
function* pingPong(hops: number, text: (hop: number) => string): Iterable<RunEvent> {
  let seq = 0;
  const event = (body: RunEventBody): RunEvent => ({ v: 1, runId: "run-1", seq: seq++, time: 1_000 + seq, ...body });
  const names = ["Ann", "Ben"] as const;
  const roles = names.map((name) => ({ name, fingerprint: "", traits: {}, state: {} }));
  yield event({ type: "run.started", team: "t", roles, seed: "s", scheduler: "eager" });
  yield event({ type: "message", message: createMessage(text(0), { id: "first" }), to: ["Ann"] });
  let news = "first";
  for (let hop = 0; hop < hops; hop += 1) {
    const [role, other] = hop % 2 === 0 ? names : ([names[1], names[0]] as const);
    const n = Math.floor(hop / 2);
    const act = `${role}#${n}~1`;
    const request = { model: "m", messages: [{ role: "user", content: text(hop) }] };
    yield event({ type: "act.started", act, role, n, attempt: 1, take: 1, at: 1_000 });
    yield event({ type: "step.started", act, key: "k", kind: "model", name: "m", asked: 0, try: 1, hold: 0, request });
    const value = { content: text(hop), toolCalls: [], finishReason: "stop" };
    const usage = { inputTokens: 10, outputTokens: 2 };
    yield event({ type: "step.ended", act, key: "k", try: 1, ok: true, value, cost: 3, basis: "usage", usage, at: 1_000 });
    const id = `${role}#${n}.0`;
    const message = createMessage(text(hop), { id, sentFrom: role, sendTo: other, parents: [news] });
    const state = { set: { hop, notes: text(hop) }, unset: [] };
    yield event({
      type: "act.ended",
      act,
      role,
      round: 0,
      take: 1,
      said: [{ message, to: [other] }],
      memory: [
        ["+", news],
        ["+", id],
      ],
      working: [],
      state,
    });
    news = id;
  }
  yield event({ type: "run.ended", status: "stopped" });
}

/** A target that counts spans and links, and keeps nothing. */
class Counted {
  spans = 0;
  open = 0;
  links = 0;

  begin({ links }: SpanBeginning): OpenSpan {
    this.spans += 1;
    this.open += 1;
    this.links += links.length;
    const context = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: this.spans.toString(16).padStart(16, "0"), traceFlags: 1 };
    return { context, set: () => {}, fail: () => {}, end: () => void (this.open -= 1) };
  }
}

describe("long runs and long texts", () => {
  test("RunSpans.T4, MessageOrigins.O2: what is held does not grow with the run", { tags: ["numbers", "long"] }, () => {
    const hops = tries(400, 25_000);
    const bytes = bytesKeptBy(() => {
      const counted = new Counted();
      const spans = new RunSpans(counted, { content: true, provider: "p" });
      for (const event of pingPong(hops, (hop) => `${hop} ${TEXT}`)) spans.accept(event);
      expect(counted).toMatchObject({ spans: 1 + 2 * hops, open: 0, links: hops - 1 });
      return spans;
    });
    // The texts of the run are 5 kB each, five in a hop.
    expect(bytes).toBeLessThan(500_000);
  });

  it("a text of ten million characters is cut, and stays valid JSON", { tags: "numbers" }, async () => {
    const spans = await spansOf(
      pingPong(2, () => LONG),
      { content: true },
    );
    const { attributes } = named(spans, "chat m");
    for (const name of ["gen_ai.input.messages", "gen_ai.output.messages"]) {
      const told = String(attributes[name]);
      expect(told.length).toBeLessThan(9_000);
      expect(JSON.stringify(JSON.parse(told))).toContain("9992000 more characters");
    }
    expect(treeOf(spans).length).toBe(5);
  });

  it("MessageOrigins.O3: a record that does not fit has spans without links", { tags: "numbers" }, async () => {
    const events = [...pingPong(4, () => "text")].filter(({ type }) => type !== "message");
    const spans = await spansOf(events);
    expect(treeOf(spans).length).toBe(1 + 4 * 2);
    expect(spans.flatMap(({ links }) => links)).toEqual([]);
  });

  it("a clock that goes back gives no span that ends before it began", { tags: "numbers" }, async () => {
    const back = [...pingPong(3, () => "text")].map((event) => ({ ...event, time: 10_000 - event.seq * 100 }));
    for (const { startTime, endTime } of await spansOf(back)) expect(endTime).toEqual(startTime);
  });
});
