import { nextMacrotask } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import { namedStream, type Random, type RandomStream, randomStream } from "../../kernel/random.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { OUTSIDE, roundsOf } from "../record/run-state.ts";
import type { RoleState } from "../record/role-state.ts";
import type { Engine } from "../engine.ts";
import type { DriveEnd } from "./drive.ts";
import type { MessageInFlight, Scheduler, SchedulerView } from "./scheduler.ts";

const STEPS_PER_PAUSE = 256;

/**
 * One drive of a run whose scheduler chooses each delivery. Roles act one after the other.
 *
 * ChoiceRun.C1 (`run`) the scheduler is asked before every step, also when nothing is left to do, so a crash can come last.
 * ChoiceRun.C2 (`#view`) its random numbers follow from the choices and activations so far, so a resumed run draws the same.
 */
export class ChoiceRun {
  readonly #scheduler: Scheduler;
  readonly #host: Engine;
  readonly #aside = new Set<RoleState>();
  readonly #names: string[] = [];
  readonly #outside = new Map<string, string>();

  constructor(scheduler: Scheduler, host: Engine) {
    this.#scheduler = scheduler;
    this.#host = host;
  }

  async run(): Promise<DriveEnd> {
    const host = this.#host;
    const { state } = host;
    let mayStop = roundsOf(state) > 0 && state.turn !== "begins";
    for (let step = 1; ; step += 1) {
      if (step % STEPS_PER_PAUSE === 0) await nextMacrotask();
      const paused = host.resumed?.();
      if (paused !== undefined) await paused;
      if (host.scope.ended !== undefined) return "interrupted";
      if (mayStop && host.checkpoint?.() === true) return "checkpoint";
      mayStop = true;
      // A role that acts in each round would leave no step for a delivery.
      const ready = [...state.ready].filter((role) => role.waiting > 0 && !this.#aside.has(role) && host.mayAct(role));
      const view = this.#view(ready);
      const chosen = [...this.#scheduler.select(view)];
      if (chosen.length === 0) return this.#rest(ready.length + view.inFlight.length);
      const [choice] = chosen;
      const role = typeof choice === "number" ? ready[choice] : undefined;
      if (chosen.length > 1 || (role === undefined && !this.#choose(choice, view))) throw this.#bad(chosen, view);
      if (role === undefined) continue;
      if (host.roundsLeft() <= 0) return "rounds";
      const turn = host.turn(role);
      const end = typeof turn === "object" ? await turn : turn;
      if (end === "stopped") return "interrupted";
      if (end === "suspended" || end === "waiting") this.#aside.add(role);
    }
  }

  #rest(left: number): DriveEnd {
    if (this.#aside.size > 0) return "interrupted";
    return left === 0 ? "idle" : "checkpoint";
  }

  #choose(choice: unknown, { inFlight }: SchedulerView): boolean {
    if (!isRecord(choice)) return false;
    const { fate, index, role } = choice;
    if (fate === "crashed") {
      const known = typeof role === "string" ? this.#host.state.roles.get(role) : undefined;
      if (known === undefined || known.isCrashed || !known.isHired) return false;
      this.#host.choose({ fate, role: known.name });
      return true;
    }
    const found = typeof index === "number" ? inFlight[index] : undefined;
    if (found === undefined || (fate !== "delivered" && fate !== "lost" && fate !== "copied")) return false;
    this.#host.choose({ fate, role: found.to, id: found.message.id });
    return true;
  }

  #view(ready: readonly RoleState[]): SchedulerView {
    const { seed, activations, choices, round, stage, tick, acted } = this.#host.state;
    let [stream, streams]: [Random?, RandomStream?] = [];
    const owner = ["scheduler", activations, choices];
    return {
      ...{
        ready: Object.freeze(ready),
        count: ready.length,
        inFlight: Object.freeze(this.#inFlight()),
        choices,
        round,
        stage,
        tick,
        acted,
        running: 0,
      },
      random: () => (stream ??= randomStream(seed, ...owner))(),
      stream: (name) => (streams ??= namedStream(seed, ...owner)).split(name),
    };
  }

  #inFlight(): MessageInFlight[] {
    const channels = new Set<string>();
    return this.#host.state.pending.map(({ order, sent: { message, to, due } }) => {
      const [recipient = ""] = to;
      const channel = `${order} ${recipient}`;
      const isOrdered = due === undefined && !message.id.includes("*");
      const isNext = !isOrdered || !channels.has(channel);
      if (isOrdered) channels.add(channel);
      const id = order === OUTSIDE ? this.#outsideId(message.id) : message.id;
      return { id, message, from: this.#nameOf(order), to: recipient, ...(due === undefined ? {} : { due }), isNext };
    });
  }

  #outsideId(id: string): string {
    const { fromOutside, hasHistory } = this.#host.state;
    for (let nth = this.#outside.size; nth < fromOutside.size; nth += 1)
      this.#outside.set([...fromOutside.keys()][nth] ?? "", `outside#${nth + 1}`);
    return hasHistory ? (this.#outside.get(id) ?? id) : id;
  }

  #nameOf(order: number): string {
    if (order === OUTSIDE) return "";
    if (this.#names.length <= order) this.#names.splice(0, this.#names.length, ...this.#host.state.roles.keys());
    return this.#names[order] ?? "";
  }

  #bad(chosen: readonly unknown[], { ready, inFlight }: SchedulerView): UsageError {
    const known = `an index of ${ready.length} in ready, a fate with an index of ${inFlight.length} in inFlight, or the crash of a role`;
    return new UsageError(
      "SCHEDULER_CHOICE",
      `Expected the scheduler ${this.#scheduler.name} to make one choice or none: ${known}, got ${valueText(chosen)}. Return it in a list from select.`,
    );
  }
}
