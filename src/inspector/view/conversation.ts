import { isRecord } from "../../kernel/value-kind.ts";
import { textIn, textsIn } from "./role-graph.ts";
import type { SentFact } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** A check or a test that its engineer hands back. `seq` is the event that decided it. */
interface Point {
  readonly why: string;
  readonly criterion: string;
  seq: number;
  outcome: "open" | "corrected" | "stays" | "answered";
}

/** A message of a conversation, or a dispute: the message that begins it, and its answers. */
interface Turn {
  readonly thread: number;
  readonly sent: SentFact;
  readonly answers: readonly SentFact[];
  /** Empty in a message that disputes nothing. */
  readonly points: readonly Point[];
}

type Growing = Turn & { readonly answers: SentFact[] };

/**
 * The messages of a run as threads: an answer is in the thread of what it answers. It grows with the record of the run, and owns the threads.
 *
 * Conversation.C1 (`#take`) each message is in one thread: it begins a turn, or is one of the answers of a dispute.
 * Conversation.C2 (`at`) what came after the shown event is left out: messages, answers and outcomes.
 */
export class Conversation {
  readonly #timeline: RunTimeline;
  readonly #threads: Growing[][] = [];
  readonly #threadOf: number[] = [];
  /** Open disputes by the messages that wait for an answer. */
  readonly #open = new Map<number, Growing>();
  #corrected: readonly string[] = [];

  constructor(timeline: RunTimeline) {
    this.#timeline = timeline;
  }

  /** The turns up to an event, thread by thread, each in the order in which it was sent. */
  at(shown: number): readonly Turn[] {
    const { sent } = this.#timeline.record;
    for (const one of sent.slice(this.#threadOf.length)) this.#take(one);
    const isPast = ({ seq }: { readonly seq: number }): boolean => seq <= shown;
    const turns = this.#threads.flatMap((thread) => thread.filter((turn) => isPast(turn.sent)));
    return turns.map((turn) => {
      if (turn.points.length === 0) return turn;
      const points = turn.points.map((point): Point => (isPast(point) ? point : { ...point, outcome: "open" }));
      return { ...turn, answers: turn.answers.filter(isPast), points };
    });
  }

  /** The messages that a message answers: its parents, or else what the activation that sent it had taken. */
  answeredBy({ index, by = -1, message }: SentFact): readonly SentFact[] {
    const { record } = this.#timeline;
    const parents = message.parents.flatMap((id) => record.sentWithId(id) ?? []);
    const causes = parents.length > 0 ? parents : (record.activations[by]?.took.flatMap((one) => record.sent[one] ?? []) ?? []);
    return causes.filter((one) => one.index < index);
  }

  recipientsOf({ deliveries, message }: SentFact): readonly string[] {
    const names = deliveries.flatMap((index) => this.#timeline.record.deliveries.at(index)?.role ?? []);
    return [...new Set(names)].filter((name) => name !== message.sentFrom);
  }

  #take(sent: SentFact): void {
    const answered = this.answeredBy(sent);
    const thread = this.#threadOf[answered.at(-1)?.index ?? -1] ?? this.#threads.push([]) - 1;
    this.#threadOf[sent.index] = thread;
    const payload = isRecord(sent.message.instructContent) ? sent.message.instructContent : {};
    const to = this.recipientsOf(sent);
    const isHandedOn = Array.isArray(payload["disputed"]);
    const isAnswer = (turn: Growing): boolean =>
      isHandedOn || [turn.sent, ...turn.answers].some(({ message }) => to.includes(message.sentFrom));
    const dispute = answered.flatMap(({ index }) => this.#open.get(index) ?? []).find(isAnswer);
    const corrected = payload["kind"] === "order" ? textsIn(payload["corrected"]) : undefined;
    if (dispute === undefined) {
      const turn: Growing = { thread, sent, answers: [], points: payload["status"] === "disputed" ? pointsIn(payload) : [] };
      this.#threads[thread]?.push(turn);
      if (turn.points.length > 0) this.#open.set(sent.index, turn);
    } else {
      dispute.answers.push(sent);
      for (const point of dispute.points)
        if (point.outcome === "open" && (point.criterion !== "" || !isHandedOn)) this.#decide(point, sent, corrected);
      if (isHandedOn) this.#open.set(sent.index, dispute);
    }
    this.#corrected = corrected ?? this.#corrected;
  }

  /** A check is corrected when the answer's order says so once more, a test when whoever answers has written a file. */
  #decide(point: Point, { seq, by }: SentFact, corrected: readonly string[] | undefined): void {
    const { files, steps } = this.#timeline.record;
    const times = (all: readonly string[] = []): number => all.filter((one) => one === point.criterion).length;
    const hasWritten = (): boolean => files.some(({ step }) => steps[step]?.activation === by);
    const isCorrected = point.criterion === "" ? hasWritten() : times(corrected) > times(this.#corrected);
    Object.assign(point, { seq, outcome: isCorrected ? "corrected" : corrected === undefined ? "answered" : "stays" });
  }
}

function pointsIn({ disputes, summary }: Readonly<Record<string, unknown>>): readonly Point[] {
  const given = Array.isArray(disputes) ? disputes.filter(isRecord) : [];
  return (given.length > 0 ? given : [{ why: summary, criterion: "" }]).map(({ why, criterion }) => {
    return { why: textIn(why), criterion: textIn(criterion), seq: Infinity, outcome: "open" };
  });
}
