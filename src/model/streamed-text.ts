import type { Logger } from "../kernel/emit.ts";
import type { StepTry } from "../kernel/step.ts";
import { thrownText } from "../kernel/value-text.ts";

/** The try of a piece of text. Pieces of one act, step and try are one answer, in their order. */
export interface DeltaInfo {
  /** As `step.started` names it. Empty outside a run. */
  readonly act: string;
  /** As `step.started` names it. Empty outside a run. */
  readonly step: string;
  /** From 1. */
  readonly try: number;
}

export interface TextListener {
  /** An answer from the record comes in one piece. */
  readonly onDelta?: ((text: string, info: DeltaInfo) => void) | undefined;
  /** The text of a try is void: it failed, was stopped, or did not fit the schema. Called before the first text of a later try. */
  readonly onVoid?: ((info: DeltaInfo) => void) | undefined;
}

export interface StreamedText {
  isSent(): boolean;
  send(text: string): void;
  takeBack(): void;
}

/** Passes the text of one try to a listener. A listener that throws gets no more of that try; the answer stays. */
export function streamedText({ onDelta, onVoid }: TextListener, logger: Logger | undefined, { act, key, try: nth }: StepTry): StreamedText {
  const info: DeltaInfo = { act, step: key, try: nth };
  let [isSent, isBroken] = [false, false];
  return {
    isSent: () => isSent,
    send(text) {
      if (onDelta === undefined || isBroken) return;
      isSent = true;
      isBroken = !guarded("onDelta", logger, () => onDelta(text, info));
    },
    takeBack() {
      if (onVoid !== undefined && isSent) guarded("onVoid", logger, () => onVoid(info));
      isSent = false;
    },
  };
}

/** Remembers the tries whose texts are one answer, so that it can be taken back after it came whole. */
export function lastStreamed(
  { onDelta, onVoid }: TextListener,
  logger: Logger | undefined,
): { readonly listener: TextListener; takeBack(): void } {
  const last = new Map<string, DeltaInfo>();
  const remember = (_: string, info: DeltaInfo): void => void last.set(info.step, info);
  return {
    listener: onDelta === undefined ? {} : { onDelta: both(remember, onDelta), onVoid },
    takeBack() {
      for (const info of last.values()) if (onVoid !== undefined) guarded("onVoid", logger, () => onVoid(info));
      last.clear();
    },
  };
}

export function bothOf(first: TextListener, second: TextListener): TextListener {
  return { onDelta: both(first.onDelta, second.onDelta), onVoid: both(first.onVoid, second.onVoid) };
}

function both<A extends unknown[]>(
  first: ((...args: A) => void) | undefined,
  second: ((...args: A) => void) | undefined,
): ((...args: A) => void) | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (...args) => {
    first(...args);
    second(...args);
  };
}

function guarded(name: string, logger: Logger | undefined, call: () => void): boolean {
  try {
    call();
    return true;
  } catch (error) {
    logger?.warn(`${name} threw and gets no more of this try: ${thrownText(error)}`);
    return false;
  }
}
