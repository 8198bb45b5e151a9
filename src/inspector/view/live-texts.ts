import type { RunEvent, RunNotice } from "../../runtime/record/event.ts";
import type { RunRecord } from "./run-record.ts";

export interface LiveText {
  readonly act: string;
  readonly step: string;
  readonly try: number;
  readonly text: string;
  /** The beginning is missing: the page came later, or the text is longer than what is kept. */
  readonly isCut: boolean;
  readonly length: number;
}

const MAX_TEXT = 100_000;
const GAP = " … ";
const MAX_CALLS = 100;

/**
 * The texts of the model calls under way, from the notices of a run. It owns the texts.
 *
 * LiveTexts.X1 (`hear`) a text is of one try, and a mark shows where pieces are missing.
 * LiveTexts.X2 (`settle`) a text is removed when its try ends or is void, its activation ends, or its run does.
 * LiveTexts.X3 (`hear`) at most 100 texts of at most 100,000 characters are kept.
 */
export class LiveTexts {
  readonly #texts = new Map<string, LiveText>();

  /** Takes in a notice. False for one that changes nothing: of an answer that the record has, or of an earlier try. */
  hear(notice: Extract<RunNotice, { readonly type: "model.delta" | "model.void" }>, record: RunRecord): boolean {
    const { act, step, try: nth } = notice;
    const address = addressOf(act, step);
    const known = this.#texts.get(address);
    if (notice.type === "model.void") return known?.try === nth && this.#texts.delete(address);
    const indexes = record.activationNamed(act)?.steps ?? [];
    const isOver = indexes.some((index) => record.steps[index]?.key === step && record.steps[index]?.ok !== undefined);
    if (isOver || (known !== undefined && known.try > nth)) return false;
    const { at, text } = notice;
    const own = known?.try === nth && known.length <= at ? known : undefined;
    const isWhole = (own?.length ?? 0) === at;
    const whole = own === undefined ? text : own.text + (isWhole ? "" : GAP) + text;
    const isCut = (own?.isCut ?? !isWhole) || whole.length > MAX_TEXT;
    this.#texts.delete(address);
    this.#texts.set(address, { act, step, try: nth, text: whole.slice(-MAX_TEXT), isCut, length: at + text.length });
    const [oldest = ""] = this.#texts.keys();
    if (this.#texts.size > MAX_CALLS) this.#texts.delete(oldest);
    return true;
  }

  settle(event: RunEvent): boolean {
    if (event.type === "run.resumed" || event.type === "run.ended") return this.clear();
    const before = this.#texts.size;
    if (event.type === "step.ended") {
      const address = addressOf(event.act, event.key);
      if (this.#texts.get(address)?.try === event.try) this.#texts.delete(address);
    } else if (event.type === "act.ended" || event.type === "act.failed") {
      for (const [address, { act }] of this.#texts) if (act === event.act) this.#texts.delete(address);
    }
    return this.#texts.size < before;
  }

  clear(): boolean {
    const had = this.#texts.size > 0;
    this.#texts.clear();
    return had;
  }

  of(act: string, step: string): LiveText | undefined {
    return this.#texts.get(addressOf(act, step));
  }

  last(act: string): LiveText | undefined {
    return [...this.#texts.values()].findLast((one) => one.act === act);
  }
}

function addressOf(act: string, step: string): string {
  return `${act} ${step}`;
}
