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

/** Passes the text of one try to a listener. A listener that throws gets no more of that try; the answer stays. */
export class StreamedText {
  readonly #listener: TextListener;
  readonly #logger: Logger | undefined;
  readonly #info: DeltaInfo;
  #isSent = false;
  #isBroken = false;

  constructor(listener: TextListener, logger: Logger | undefined, { act, key, try: nth }: StepTry) {
    this.#listener = listener;
    this.#logger = logger;
    this.#info = { act, step: key, try: nth };
  }

  get isSent(): boolean {
    return this.#isSent;
  }

  send(text: string): void {
    const { onDelta } = this.#listener;
    if (onDelta === undefined || this.#isBroken) return;
    this.#isSent = true;
    this.#isBroken = !guarded("onDelta", this.#logger, () => onDelta(text, this.#info));
  }

  takeBack(): void {
    const { onVoid } = this.#listener;
    if (onVoid !== undefined && this.#isSent) guarded("onVoid", this.#logger, () => onVoid(this.#info));
    this.#isSent = false;
  }
}

/** Remembers the tries whose texts are one answer, so that it can be taken back after it came whole. */
export class LastStreamed {
  readonly listener: TextListener;
  readonly #logger: Logger | undefined;
  readonly #last = new Map<string, DeltaInfo>();

  constructor({ onDelta, onVoid }: TextListener, logger: Logger | undefined) {
    this.#logger = logger;
    const remember = (_: string, info: DeltaInfo): void => void this.#last.set(info.step, info);
    this.listener = onDelta === undefined ? {} : { onDelta: both(remember, onDelta), onVoid };
  }

  takeBack(): void {
    const { onVoid } = this.listener;
    const tries = [...this.#last.values()];
    this.#last.clear();
    for (const last of tries) if (onVoid !== undefined) guarded("onVoid", this.#logger, () => onVoid(last));
  }
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
