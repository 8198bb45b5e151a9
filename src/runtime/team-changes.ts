import { defined } from "../kernel/value-kind.ts";
import { ROUTE_TO_ALL, TeamChange } from "../message/address.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { assertRoleName } from "../role/role-spec.ts";
import type { EngineParts } from "./engine.ts";
import { assertTakes, retirable } from "./hired-roles.ts";
import { fullAt } from "./record/delivery.ts";
import type { HiredRole, RoleTaken } from "./record/event.ts";
import { questionsOf } from "./record/questions.ts";
import type { RoleState } from "./record/role-state.ts";
import { roleOf } from "./record/run-state.ts";

interface Work {
  /** Returns how many messages the activation of a role under way has taken. */
  takenBy(role: RoleState): number;
  publish(message: Message): unknown;
  wake(): void;
}

/**
 * Changes the team of a run during it.
 *
 * TeamChanges.T1 (`#announce`, `announceNewest`) roles that watch `TeamChange` hear of each hire and retirement; of one after which the process
 * died, when the run continues.
 */
export class TeamChanges {
  readonly #parts: Pick<EngineParts, "log" | "hired" | "clock" | "answerer" | "announcer">;
  readonly #work: Work;

  constructor(parts: Pick<EngineParts, "log" | "hired" | "clock" | "answerer" | "announcer">, work: Work) {
    this.#parts = parts;
    this.#work = work;
  }

  /** Hires a role into a run with a journal during the run. The code of an agent must be loaded. */
  hire(role: Role, name: string): void {
    assertRoleName(name);
    const { hired, log } = this.#parts;
    log.record({ type: "role.hired", roles: [hired.admit(role, name)] });
    hired.join(role, name);
    this.#announce(name, "hired");
    this.#work.wake();
  }

  /** @throws UsageError `ROLE_UNKNOWN`, `ROLES_NONE` */
  retire(name: string): void {
    const { log } = this.#parts;
    log.record({ type: "role.retired", role: name, keeps: this.#work.takenBy(retirable(log.state, name)) });
    this.#announce(name, "retired");
    this.#askModel(name);
  }

  /** Lets a person answer what a role asks its model, or its model again. @throws UsageError `ROLE_UNKNOWN`, `ROLE_TAKEN`, `ROLE_NOT_TAKEN` */
  take(role: string, { by, back }: Omit<RoleTaken, "type" | "role">): void {
    const { hired, log } = this.#parts;
    assertTakes(hired, log.state, role, back === true);
    log.record({ type: "role.taken", role, ...defined({ by, back }) });
    this.#askModel(role);
  }

  /** Announces the newest change again, if the process died before it was announced, or the run was forked there. */
  announceNewest(): void {
    const { teamChanges, roles, team } = this.#parts.log.state;
    if (teamChanges === 0 || !this.#parts.hired.directory.isWatched(TeamChange.name)) return;
    for (const role of roles.values()) {
      const isHired = role.wasHired(teamChanges);
      if (isHired !== role.wasHired(teamChanges - 1) && isHired === isAmong(team, role.name))
        this.#announce(role.name, isHired ? "hired" : "retired");
    }
  }

  /** Announces how the team of a resumed run differs from the one before. */
  announceResumed(before: readonly HiredRole[]): void {
    const { team, seq } = this.#parts.log.state;
    const [then, now] = [new Set(before.map(({ name }) => name)), new Set(team.map(({ name }) => name))];
    for (const name of then) if (!now.has(name)) this.#announce(name, "retired", `resumed@${seq}`);
    for (const name of now) if (!then.has(name)) this.#announce(name, "hired", `resumed@${seq}`);
  }

  #announce(role: string, change: "hired" | "retired", at: string = String(this.#parts.log.state.teamChanges)): void {
    const { hired, log, clock, announcer } = this.#parts;
    const { state } = log;
    const id = `TeamChange#${at}.${change}.${role}`;
    if (!hired.directory.isWatched(TeamChange.name) || state.fromOutside.has(id)) return;
    const content = change === "hired" ? `${role} has joined the team.` : `${role} has left the team.`;
    const fields = { id, causeBy: TeamChange, sentFrom: role, instructContent: { role, change }, timestamp: clock.now() };
    const isOwn = change === "hired" && hired.specOf(role)?.watch.includes(TeamChange.name) === true;
    const all = isOwn ? [ROUTE_TO_ALL, role] : [ROUTE_TO_ALL];
    const { to } = hired.directory.route(createMessage(content, { ...fields, sendTo: all }));
    const room = to.filter((name) => fullAt(state, name) === undefined);
    for (const name of to) if (!room.includes(name)) announcer.warn(name, `${name} does not hear that ${content} Its mailbox is full.`);
    if (room.length > 0) this.#work.publish(createMessage(content, { ...fields, sendTo: room.length === to.length ? all : room }));
  }

  /** Ends the open questions to a person who has given the role back. */
  #askModel(name: string): void {
    const { log, answerer } = this.#parts;
    for (const { id } of questionsOf(log.state, roleOf(log.state, name), true)) answerer.persons.answer(id, null);
    this.#work.wake();
  }
}

function isAmong(team: readonly HiredRole[], name: string): boolean {
  return team.some((role) => role.name === name);
}
