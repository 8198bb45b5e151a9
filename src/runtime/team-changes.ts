import { defined } from "../kernel/value-kind.ts";
import { TeamChange } from "../message/address.ts";
import { createMessage, type Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { assertRoleName } from "../role/role-spec.ts";
import type { EngineParts } from "./engine.ts";
import { assertTakes, retirable } from "./hired-roles.ts";
import type { RoleTaken } from "./record/event.ts";
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
 * TeamChanges.T1 (`#announce`) roles that watch `TeamChange` hear of each hire and retirement, in the same turn of the event loop.
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

  #announce(role: string, change: "hired" | "retired"): void {
    const { hired, log, clock, announcer } = this.#parts;
    const { directory } = hired;
    if (!directory.isWatched(TeamChange.name)) return;
    const content = change === "hired" ? `${role} has joined the team.` : `${role} has left the team.`;
    const id = `TeamChange#${log.state.teamChanges}`;
    const said = createMessage(content, {
      id,
      causeBy: TeamChange,
      sentFrom: role,
      instructContent: { role, change },
      timestamp: clock.now(),
    });
    // Those who watched it may have been retired.
    if (directory.route(said).to.length === 0) return;
    try {
      this.#work.publish(said);
    } catch (error) {
      // The change is recorded already: a full mailbox cannot undo it.
      announcer.warn(role, `${content} Nobody hears of it: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Ends the open questions to a person who has given the role back. */
  #askModel(name: string): void {
    const { log, answerer } = this.#parts;
    for (const { id } of questionsOf(log.state, roleOf(log.state, name), true)) answerer.persons.answer(id, null);
    this.#work.wake();
  }
}
