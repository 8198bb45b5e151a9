import type { Logger } from "../kernel/emit.ts";
import type { StepTry } from "../kernel/step.ts";
import { thrownText } from "../kernel/value-text.ts";

/** Which try of which step a piece of text belongs to. Pieces of one act, step and try are one answer, in their order. */
export interface DeltaInfo {
  /** The activation, as `step.started` names it. Empty outside a run. */
  readonly act: string;
  /** The step's key, as `step.started` names it: unique within the activation. Empty outside a run. */
  readonly step: string;
  /** From 1. */
  readonly try: number;
}

/** Hears the text of answers while they come. */
export interface TextListener {
  /** Text as it comes; an answer from the record comes in one piece. */
  readonly onDelta?: ((text: string, info: DeltaInfo) => void) | undefined;
  /**
   * The text told of a try counts no more: the try failed or was stopped, or its answer did not fit the schema. It comes before the first
   * text of a later try. A try of which nothing was told is not told here.
   */
  readonly onVoid?: ((info: DeltaInfo) => void) | undefined;
}

/** A try as listeners are told of it. */
export function infoOf({ act, key, try: nth }: StepTry): DeltaInfo {
  return { act, step: key, try: nth };
}

/** Tells a listener the text of one try. One that throws gets no more of that try's text; it must not cost the answer. */
export class ToldText {
  readonly #listener: TextListener;
  readonly #logger: Logger | undefined;
  readonly #of: () => DeltaInfo;
  #info: DeltaInfo | undefined;
  #isBroken = false;

  /** @param of the try; asked with its first text */
  constructor(listener: TextListener, logger: Logger | undefined, of: () => DeltaInfo) {
    this.#listener = listener;
    this.#logger = logger;
    this.#of = of;
  }

  /** Tells the next piece. */
  tell(text: string): void {
    const { onDelta } = this.#listener;
    if (onDelta === undefined || this.#isBroken) return;
    const info = (this.#info ??= this.#of());
    this.#isBroken = !guarded("onDelta", this.#logger, () => onDelta(text, info));
  }

  /** Takes back what was told, if anything was. */
  takeBack(): void {
    const { onVoid } = this.#listener;
    const info = this.#info;
    this.#info = undefined;
    if (onVoid !== undefined && info !== undefined) guarded("onVoid", this.#logger, () => onVoid(info));
  }
}

/** Remembers which try was told last, so that an answer can be taken back after it came whole. */
export class LastTold {
  readonly listener: TextListener;
  readonly #logger: Logger | undefined;
  #last: DeltaInfo | undefined;

  constructor({ onDelta, onVoid }: TextListener, logger: Logger | undefined) {
    this.#logger = logger;
    const remember = (_: string, info: DeltaInfo): void => void (this.#last = info);
    this.listener = onDelta === undefined ? {} : { onDelta: both(remember, onDelta), onVoid };
  }

  /** Takes back what was told last, if anything was. */
  takeBack(): void {
    const last = this.#last;
    const { onVoid } = this.listener;
    this.#last = undefined;
    if (last !== undefined && onVoid !== undefined) guarded("onVoid", this.#logger, () => onVoid(last));
  }
}

/** One listener of two: the first is told first. */
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

/** Whether it did not throw. */
function guarded(name: string, logger: Logger | undefined, tell: () => void): boolean {
  try {
    tell();
    return true;
  } catch (error) {
    logger?.warn(`${name} threw and gets no more of this try: ${thrownText(error)}`);
    return false;
  }
}
