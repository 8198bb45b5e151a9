import type { Message, MessageFields } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { TurnTools } from "../turn/commit.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import { StepOutbox } from "../turn/step-turn.ts";
import { ROUTE_TO_SELF } from "../../message/address.ts";
import { type Mail, messageId, NO_PARENTS, plainMessage, TO_SELF } from "./mail.ts";

type LaneTools = Pick<TurnTools, "host" | "mask" | "log">;

/**
 * The output of a step function in the lane: a text to one role goes into the columns of the mail, any other message is made and kept.
 *
 * LaneOutbox.LO1 (`say`) the message that it returns equals the one that its recipient reads.
 */
export class LaneOutbox extends StepOutbox {
  readonly #tools: LaneTools;
  readonly #mail: Mail;
  readonly #cause: string;
  /** True if the columns of the mail before have all that the role has read. */
  readonly #isPlain: boolean;
  #delayed: Sent[] | undefined;

  constructor(tools: LaneTools, spec: RoleSpec, role: RoleState, at: number, mail: Mail, isPlain: boolean) {
    super(tools, spec, role, at);
    this.#tools = tools;
    this.#mail = mail;
    this.#cause = spec.card.name;
    this.#isPlain = isPlain;
  }

  get delayed(): readonly Sent[] {
    return this.#delayed ?? none;
  }

  /** The number of messages that it has sent. */
  get sent(): number {
    return this.count;
  }

  override say<P = unknown>(content: string, fields?: MessageFields<P>): Message<P> {
    const to = this.#isPlain && this.isOpen && this.due === undefined ? this.#recipient(content, fields) : undefined;
    if (to === undefined) return super.say(content, fields);
    const { name, n, index } = this.role;
    const nth = this.count;
    this.count = nth + 1;
    this.#mail.messages += 1;
    const isOwn = fields?.sendTo === ROUTE_TO_SELF;
    this.#mail.add(index, to.index, n, isOwn ? ~nth : nth, this.at, content);
    const parents = this.parents();
    const message = plainMessage(
      messageId(name, n, nth),
      content,
      this.#cause,
      name,
      isOwn ? TO_SELF : to.alone,
      parents.length === 0 ? NO_PARENTS : parents,
      this.at,
    );
    return message as Message<P>;
  }

  /** Returns the one role that a text goes to, if its fields say nothing else. */
  #recipient(content: unknown, fields: object | undefined): RoleState | undefined {
    if (typeof content !== "string" || typeof fields !== "object" || fields === null) return undefined;
    let isAddressed = false;
    for (const key in fields) {
      if (key !== "sendTo") return undefined;
      isAddressed = true;
    }
    const { sendTo } = fields as MessageFields;
    if (!isAddressed || typeof sendTo !== "string") return undefined;
    const { mask, host } = this.#tools;
    const { messageLimit = host.messageLimit } = host.state.bounds;
    // A text with a secret is recorded without it, and a long one is refused.
    if (content.length > messageLimit || mask(content) !== content) return undefined;
    return sendTo === ROUTE_TO_SELF ? this.role : (host.directory.named(sendTo) as RoleState | undefined);
  }

  protected override send(sent: Sent): void {
    const { log, host } = this.#tools;
    const clean = log.masked(sent);
    super.send(clean);
    if (clean.due !== undefined) (this.#delayed ??= []).push(clean);
    else this.#mail.keep(this.role.index, clean, (name) => host.state.roles.get(name)?.index ?? 0);
  }
}

const none: readonly Sent[] = Object.freeze([]);
