import { z } from "zod";
import { abortWith, throwIfAborted } from "../kernel/abort.ts";
import { sleep, systemClock, type Clock } from "../kernel/clock.ts";
import { JournalError, MovedError, ControlError, QueueFullError, type TroupeError, UsageError } from "../kernel/errors.ts";
import { type Json, jsonRoundTrip, deepFreeze } from "../kernel/json.ts";
import { masked, type Mask } from "../kernel/mask.ts";
import { shownText } from "../kernel/value-text.ts";
import { type Message, parseMessage } from "../message/message.ts";
import { apply } from "../runtime/record/apply.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { COMMAND_TIMEOUT, type CommandOptions, type Journal, readEvents } from "../runtime/record/journal.ts";
import { maskedError } from "../runtime/record/rewritten-event.ts";
import { unowned } from "../runtime/record/owners.ts";
import { RunState } from "../runtime/record/run-state.ts";
import { errorFrom } from "../runtime/run-failure.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { recordedResult } from "../team/drive.ts";
import { answering } from "../team/answering.ts";
import { hiring, publishing, retiring, type RunCommand, taking } from "../team/publishing.ts";
import type { FollowedRun, LocalRuns, RemoteRequest, RemoteRuns } from "../team/remote-runs.ts";
import type { Run, RunEntry, RunControls } from "../team/run.ts";

const MAX_TRIES = 3;

/** Milliseconds until the next look at a run whose owner neither takes commands nor lets another one claim it. */
const BETWEEN_OWNERS = 100;

export function isUnowned(error: unknown): boolean {
  return error instanceof JournalError && error.code === "RUN_UNOWNED";
}

export function remoteRuns(local: LocalRuns): RemoteRuns {
  return new CommandedRuns(local);
}

class CommandedRuns implements RemoteRuns {
  readonly #local: LocalRuns;

  constructor(local: LocalRuns) {
    this.#local = local;
  }

  async follow({ controls, news, meant, drive }: FollowedRun): Promise<RunResult> {
    const { journal, mask, options } = this.#local.parts;
    const { clock = systemClock } = options;
    const { id, signal, observers } = controls;
    let follower: Follower | undefined;
    try {
      for (;;) {
        if (await this.#published(id, news, signal)) {
          const report: ConstructorParameters<typeof Follower>[0]["report"] = (event) => this.#local.report(event, observers);
          follower ??= new Follower({ journal, clock, mask, controls, meant, report });
          const result = await follower.untilQuiet(this.#entryOf(id, signal));
          if (result !== undefined) return result;
        } else await sleep(clock, BETWEEN_OWNERS, signal);
        const driven = await drive();
        if (driven !== undefined) return driven;
      }
    } finally {
      follower?.close();
    }
  }

  async request<T>({ runId, command, resultOf, local, signal }: RemoteRequest<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return resultOf(await this.#give(runId, command, signal));
      } catch (error) {
        // The owner has left the run meanwhile.
        if (!isUnowned(error) || tries === MAX_TRIES) throw error;
      }
      await sleep(this.#local.parts.options.clock ?? systemClock, BETWEEN_OWNERS, signal);
      try {
        return await local();
      } catch (error) {
        if (!(error instanceof MovedError || (error instanceof JournalError && error.code === "RUN_OWNED"))) throw error;
      }
    }
  }

  execute(runId: string, given: Json): Promise<Json> {
    return executed(given, this.#local.parts.mask, (command) => this.#execute(runId, command));
  }

  #entryOf(id: string, signal: AbortSignal): RunEntry {
    return {
      change: async (change) => {
        try {
          return change.result(await this.#give(id, change.command(this.#local.parts.mask)));
        } catch (error) {
          throw isUnowned(error) ? new MovedError(id) : error;
        }
      },
      command: (command) => this.#give(id, command, signal),
    };
  }

  /** Has messages published by the owner of a run. @returns false when it has left the run */
  async #published(id: string, news: (Message | string)[], signal: AbortSignal): Promise<boolean> {
    for (let [next] = news; next !== undefined; [next] = news) {
      try {
        await this.#give(id, publishing(next).command(this.#local.parts.mask), signal);
      } catch (error) {
        if (isUnowned(error)) return false;
        throw error;
      }
      news.shift();
    }
    return true;
  }

  /** A change has no secrets; an answer and a reason are words of a user, and may have some. */
  #give(id: string, command: RunCommand, signal?: AbortSignal): Promise<unknown> {
    const { journal, mask, options } = this.#local.parts;
    const { commandTimeout: timeout = COMMAND_TIMEOUT } = options;
    const safe = command.do === "answer" || command.do === "stop" ? masked(mask, command) : command;
    return giveCommand(journal, id, safe, { timeout, ...(signal === undefined ? {} : { signal }) });
  }

  async #execute(id: string, command: RunCommand): Promise<unknown> {
    const local = this.#local;
    switch (command.do) {
      case "publish": {
        const { message } = command;
        return local.change(id, publishing(typeof message === "string" ? message : parseMessage(message)));
      }
      case "retire":
        return local.change(id, retiring(command.name));
      case "take":
        return local.change(id, taking(command.name, command));
      case "hire": {
        const role = await local.reserve.named(command.role, { runId: id, signal: new AbortController().signal });
        await local.change(id, await hiring(role, command.name));
        return local.reserve.keep(id, command.name, role);
      }
      case "answer":
        // An owner that only makes a change is gone in a moment.
        if (local.find(id) === undefined) throw unowned(id);
        return local.change(id, answering(local.parts, command.question, command.answer as Json));
      case "stop":
        return this.#find(id).stop(command.reason);
      case "pause":
        return this.#find(id).pause();
      case "proceed":
        return this.#find(id).proceed();
    }
  }

  #find(id: string): Run {
    const run = this.#local.find(id);
    if (run === undefined) throw unowned(id);
    return run;
  }
}

/*
 * Commands and their answers as JSON, which two processes exchange through a journal. Both sides check what came: the other process may
 * have another version, and others may write the journal.
 */

const MOST = 10_000;

const text = z.string().max(MOST);

const commandSchema: z.ZodType<RunCommand> = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("publish"), message: z.unknown() }),
  z.strictObject({ do: z.literal("hire"), role: text, name: text }),
  z.strictObject({ do: z.literal("retire"), name: text }),
  z.strictObject({ do: z.literal("take"), name: text, by: text.exactOptional(), back: z.literal(true).exactOptional() }),
  z.strictObject({ do: z.literal("answer"), question: text, answer: z.unknown() }),
  z.strictObject({ do: z.literal("stop"), reason: text }),
  z.strictObject({ do: z.literal("pause") }),
  z.strictObject({ do: z.literal("proceed") }),
]);

const errorSchema = z.strictObject({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  data: z.unknown().optional(),
  retryable: z.literal(true).exactOptional(),
});

const answerSchema = z.union([z.strictObject({ value: z.unknown() }), z.strictObject({ error: errorSchema })]);

/**
 * Gives a command to the owner of a run, and returns its answer.
 *
 * @throws JournalError `RUN_UNOWNED`, `RUN_OWNED` for a journal without commands, `ANSWER_INVALID`; the error of the owner; TimeoutError;
 * ControlError when the signal aborts
 */
export async function giveCommand(
  journal: Pick<Journal, "command">,
  runId: string,
  given: RunCommand,
  o: CommandOptions = {},
): Promise<unknown> {
  if (journal.command === undefined) {
    const expected = `Expected a journal that passes commands to the owner of run ${runId}, but it has no command`;
    throw new JournalError("RUN_OWNED", `${expected}. Wait for the run.`);
  }
  const answer = answerSchema.safeParse(await journal.command(runId, jsonRoundTrip(given) as Json, o));
  if (!answer.success) {
    const came = shownText(z.prettifyError(answer.error), 500);
    const expected = `Expected the answer of run ${runId}'s owner, got something else: ${came}`;
    throw new JournalError("ANSWER_INVALID", `${expected}. Is it of another version?`);
  }
  if ("error" in answer.data) throw errorOf(answer.data.error);
  return answer.data.value;
}

async function executed(given: Json, mask: Mask, execute: (command: RunCommand) => Promise<unknown>): Promise<Json> {
  try {
    const command = commandSchema.safeParse(given);
    if (!command.success) {
      const came = shownText(z.prettifyError(command.error), 500);
      throw new UsageError("COMMAND_INVALID", `Expected a command for a run, got something else: ${came}. Is it of another version?`);
    }
    return jsonRoundTrip({ value: (await execute(command.data)) ?? null }) as Json;
  } catch (error) {
    return jsonRoundTrip({ error: maskedError(mask, error) }) as unknown as Json;
  }
}

function errorOf(given: z.infer<typeof errorSchema>): TroupeError {
  const { name, code, message, data } = given;
  if (name === "JournalError") return new JournalError(code, message, { data });
  if (name === "QueueFullError") return new QueueFullError(0, code, message, data);
  if (["ControlError", "AbortedError", "MovedError"].includes(name)) return new ControlError(code, message, { data });
  return errorFrom(given);
}

/** Milliseconds without a new event after which the owner may be gone; also the pause between two reads of a journal without `watch`. */
const PAUSE = 1_000;

interface FollowerParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly mask: Mask;
  readonly controls: RunControls;
  readonly meant: (idea: Message) => void;
  readonly report: (event: RunEvent) => void;
}

/**
 * Follows a run that another process owns. It owns a copy of the state; the owner has the run.
 *
 * Follower.F1 (`#read`) observers get every event that is recorded after the beginning, once and in order.
 * Follower.F2 (`#read`) a result is one that was recorded after the beginning: the run may continue after an older end.
 */
class Follower {
  readonly #parts: FollowerParts;
  readonly #state: RunState;
  readonly #watching = new AbortController();
  #hasBegun = false;
  #hasEnded = false;
  #hasGrown = false;
  #wake: () => void = () => undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#state = new RunState(parts.controls.id);
    void this.#watch().catch(() => undefined);
  }

  async untilQuiet(entry: RunEntry): Promise<RunResult | undefined> {
    for (let isFirst = true; ; isFirst = false) {
      const before = this.#state.seq;
      await this.#read();
      // An end that a stop brings is recorded after the beginning.
      if (isFirst) this.#parts.controls.enter(entry);
      this.#hasBegun = true;
      // This also wakes the iterators of the run.
      if (this.#state.seq > 0) this.#parts.controls.started();
      if (this.#hasEnded) return recordedResult(this.#state, this.#parts.mask);
      const isWoken = await this.#growth();
      if (!isWoken && this.#state.seq === before) return undefined;
    }
  }

  close(): void {
    this.#watching.abort();
  }

  async #read(): Promise<void> {
    const { journal, controls, meant, report } = this.#parts;
    const { id, signal } = controls;
    for await (const event of readEvents(journal, id, { from: this.#state.seq, signal })) {
      if (event.type === "message" && this.#state.outside === 0) meant(event.message);
      apply(this.#state, deepFreeze(event));
      if (!this.#hasBegun) continue;
      if (event.type === "run.ended") this.#hasEnded = true;
      if (event.type === "run.resumed") this.#hasEnded = false;
      report(event);
    }
  }

  /** Resolves when the run may have grown, with true, or when the pause is over. @throws ControlError when the signal aborts */
  async #growth(): Promise<boolean> {
    const { clock, controls } = this.#parts;
    const over = new AbortController();
    const letGo = abortWith(over, controls.signal);
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    if (!this.#hasGrown) await Promise.race([woken, sleep(clock, PAUSE, over.signal).catch(() => undefined)]);
    letGo();
    over.abort();
    throwIfAborted(controls.signal);
    const isWoken = this.#hasGrown;
    this.#hasGrown = false;
    return isWoken;
  }

  async #watch(): Promise<void> {
    const { journal, controls } = this.#parts;
    const letGo = abortWith(this.#watching, controls.signal);
    try {
      for await (const _ of journal.watch?.(controls.id, { signal: this.#watching.signal }) ?? []) {
        this.#hasGrown = true;
        this.#wake();
      }
    } finally {
      letGo();
    }
  }
}
