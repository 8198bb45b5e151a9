import { sleep, systemClock } from "../kernel/clock.ts";
import { JournalError, MovedError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { masked } from "../kernel/mask.ts";
import { type Message, parseMessage } from "../message/message.ts";
import { COMMAND_TIMEOUT } from "../runtime/record/journal.ts";
import { unowned } from "../runtime/record/owners.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { hiring, publishing, retiring, type RunCommand } from "../team/publishing.ts";
import type { FollowedRun, LocalRuns, RemoteRequest, RemoteRuns } from "../team/remote-runs.ts";
import type { Run, RunEntry } from "../team/run.ts";
import { answeredUnderWay } from "../team/runs.ts";
import { executed, giveCommand } from "./command-wire.ts";
import { Follower } from "./follower.ts";

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
      case "hire": {
        const role = await local.reserve.named(command.role, { runId: id, signal: new AbortController().signal });
        await local.change(id, await hiring(role, command.name));
        return local.reserve.keep(id, command.name, role);
      }
      case "answer":
        // An owner that only makes a change is gone in a moment.
        throw local.find(id) === undefined ? unowned(id) : answeredUnderWay(id);
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
