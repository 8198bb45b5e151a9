import type { Json } from "../../src/kernel/json.ts";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "../../src/runtime/record/event.ts";
import { sha256Of } from "../../src/workspace/recorded-files.ts";

/** A run's record being made by hand, event by event. */
export class Written {
  readonly events: RunEvent[] = [];
  #keys = 0;

  add(body: RunEventBody): this {
    const seq = this.events.length;
    this.events.push({ v: EVENT_VERSION, runId: "r", seq, time: 1_000 * seq, ...body } as RunEvent);
    return this;
  }

  /** A file begins to be written. @returns the step's key */
  begin(act: string, path: string, content: string, reused?: number): string {
    return this.#started(act, "write file", { path, content }, reused);
  }

  /** The write ends; `content` is what its request had. */
  end(act: string, key: string, content: string, o: { readonly ok?: boolean } = {}): this {
    const { ok = true } = o;
    return this.add({
      type: "step.ended",
      act,
      key,
      try: 1,
      ok,
      value: ok ? { path: "?", bytes: content.length, sha256: sha256Of(content) } : null,
      cost: 0,
      basis: "none",
      at: 5_000,
    });
  }

  /** A file is written. */
  write(act: string, path: string, content: string): this {
    return this.end(act, this.begin(act, path, content), content);
  }

  commit(act: string, request: Json): this {
    const key = this.#started(act, "commit", request);
    return this.add({ type: "step.ended", act, key, try: 1, ok: true, value: null, cost: 0, basis: "none", at: 5_000 });
  }

  /** The activation ends for good. */
  done(act: string): this {
    return this.add({ type: "act.ended", act, role: act.slice(0, act.indexOf("#")), round: 0, take: 1, said: [], memory: [], working: [] });
  }

  fails(act: string, then: "retry" | "dead" | "stop"): this {
    const error = { name: "Error", code: "X", message: "x" };
    return this.add({ type: "act.failed", act, role: act.slice(0, act.indexOf("#")), round: 0, take: 1, error, stepFailed: true, then });
  }

  #started(act: string, name: string, request: Json, reused?: number): string {
    this.#keys += 1;
    const key = `k${this.#keys}.0`;
    const taken = reused === undefined ? {} : { reused };
    this.add({ type: "step.started", act, key, kind: "step", name, asked: 0, try: 1, hold: 0, request, ...taken });
    return key;
  }
}
