import { aText, takes } from "../kernel/argument.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defined } from "../kernel/value-kind.ts";
import { createMessage, type Message, type MessageFields } from "../message/message.ts";
import { knownRun, readEvents } from "../runtime/record/journal.ts";
import { NOTICE_TYPES, type RunNotice } from "../runtime/record/event.ts";
import { signalIn } from "../runtime/record/signals.ts";
import { readTally } from "../runtime/record/run-summary.ts";
import type { Run } from "./run.ts";
import { Replies, type SayResult } from "./say-result.ts";
import type { Team } from "./team.ts";
import { resumeOptions, type ResumeOptions } from "./team-options.ts";

/** Options of a conversation. They hold for each of its turns, unless that turn has its own. */
export interface ConversationOptions extends Pick<ResumeOptions, "rounds" | "budget" | "limits" | "context" | "onTeamChange"> {
  /** The person who speaks. The first words decide whose the conversation is. Default: no one in particular. */
  readonly user?: string;
}

const { rounds, budget, limits, context, onTeamChange } = resumeOptions;

export const conversationOptions: Known<ConversationOptions> = { rounds, budget, limits, context, onTeamChange, user: kinds.text };

/** Options of one turn of a conversation. `signal` stops its run, which the next words continue. */
export interface TurnOptions extends Pick<ResumeOptions, "rounds" | "budget" | "limits" | "context" | "onTeamChange" | "signal" | "reuse"> {
  /** Called with notices, such as pieces of answers. Default: none are sent. */
  readonly onNotice?: (notice: RunNotice) => void;
  /** Files that come with the words, if they are a string: as those of a message. Default: none. */
  readonly files?: MessageFields["files"];
}

const { signal, reuse } = resumeOptions;

const answerOptions: Known<Omit<TurnOptions, "files">> = {
  rounds,
  budget,
  limits,
  context,
  onTeamChange,
  signal,
  reuse,
  onNotice: kinds.function,
};

const turnOptions: Known<TurnOptions> = { ...answerOptions, files: kinds.checked };

export interface ConversationParts {
  readonly team: Team;
  readonly underWay: (id: string) => Run | undefined;
}

/**
 * A conversation with a team, or with an agent: one run of the journal, which each turn continues. It keeps nothing itself, so a program that
 * starts again continues by the same id. Made by `team.conversation(id)` and `agent.conversation(id, { journal })`.
 *
 * Conversation.CV1 (`say`) what is said is recorded once, whoever else speaks at the same time and whether the run is new, at rest or under way.
 *
 * @example
 * import { defineAction, defineRole, Team } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
 * const team = new Team({ roles: [defineRole({ name: "Ada", actions: [Answer] })], model: scriptedModel(["Hello!", "Fine."]) });
 * const chat = team.conversation("table-4");
 * await chat.say("Hello?");
 * const { messages } = await chat.say("How are you?");
 * console.log(messages.at(-1)?.content); // Fine.
 */
export class Conversation {
  /** The id of the run. */
  readonly id: string;
  readonly #parts: ConversationParts;
  readonly #options: ConversationOptions;

  /** @internal */
  constructor(parts: ConversationParts, id: string, o: ConversationOptions) {
    this.id = id;
    this.#parts = parts;
    this.#options = o;
  }

  /**
   * Says something, and returns what the roles say until the run is at rest, and how it ended. The first words start the run. Two who speak at
   * the same time get each other's replies. It rejects only if the words were not recorded.
   *
   * @throws UsageError `OPTION_INVALID`, `MESSAGE_INVALID`, `MESSAGE_TOO_LONG`, `USER_DIFFERS`; JournalError as {@link Team.run} and {@link Team.resume}
   */
  async say(said: string | Message, o: TurnOptions = {}): Promise<SayResult> {
    checkKnownOptions("say", o, turnOptions);
    const message = typeof said === "string" ? createMessage(said, defined({ files: o.files })) : said;
    const { events, user } = await this.#known();
    this.#assertUser(events, user);
    return heard(o, async (listen) =>
      repliesOf(await this.#begun(message, { isNew: events === 0, terms: this.#terms(o), listen }), events),
    );
  }

  /** Answers a question of a role to a person, and returns what the roles say then. @throws as {@link Team.answer} */
  async answer(questionId: string, answer: Json, o: Omit<TurnOptions, "files"> = {}): Promise<SayResult> {
    takes("answer of a conversation", "questionId", questionId, aText);
    checkKnownOptions("answer of a conversation", o, answerOptions);
    const { events } = await this.#known();
    return heard(o, async (listen) => {
      const run = await this.#parts.team.answer(this.id, questionId, answer, this.#terms(o));
      listen(run);
      return repliesOf(run, events);
    });
  }

  /** Returns all messages so far, of people and roles, in their order. */
  async history(): Promise<readonly Message[]> {
    const { journal } = this.#parts.team;
    const messages: Message[] = [];
    if ((await knownRun(journal, this.id)) === undefined) return messages;
    for await (const event of readEvents(journal, this.id)) {
      if (event.type === "message" && signalIn(event.message) === undefined) messages.push(event.message);
      if (event.type === "act.ended") messages.push(...event.said.map(({ message }) => message));
    }
    return messages;
  }

  async #known(): Promise<{ readonly events: number; readonly user: string | undefined }> {
    const { journal } = this.#parts.team;
    const info = await knownRun(journal, this.id);
    if (info === undefined || info.events === 0) return { events: 0, user: undefined };
    return { events: info.events, user: (await readTally(journal, info)).summary.scope?.user };
  }

  #assertUser(events: number, known: string | undefined): void {
    const { user } = this.#options;
    if (events === 0 || user === undefined || user === known) return;
    const whose = known === undefined ? "nobody in particular" : "another user";
    throw new UsageError(
      "USER_DIFFERS",
      `Expected the user whose words began the conversation ${this.id}, but it is of ${whose}. Begin one for each user.`,
    );
  }

  async #begun(message: Message, { isNew, terms, listen }: Beginning): Promise<Run> {
    const { team, underWay } = this.#parts;
    if (isNew) {
      const { user } = this.#options;
      const run = team.run(message, { ...terms, id: this.id, scope: { conversation: this.id, ...defined({ user }) } });
      listen(run);
      if (await isBegunBy(run, message)) return run;
    }
    const active = underWay(this.id);
    if (active === undefined) return started(team.resume(this.id, { ...terms, add: [message] }), listen);
    listen(active);
    const { waits } = await active.publish(message, defined({ onTeamChange: terms.onTeamChange }));
    if (!waits) return active;
    await active.result;
    return started(team.resume(this.id, terms), listen);
  }

  #terms({ onNotice: _onNotice, files: _files, ...o }: TurnOptions): ResumeOptions {
    const { user: _user, ...terms } = this.#options;
    return { ...terms, ...o };
  }
}

interface Beginning {
  readonly isNew: boolean;
  readonly terms: ResumeOptions;
  readonly listen: Listen;
}

type Listen = (run: Run) => void;

async function heard({ onNotice }: TurnOptions, turn: (listen: Listen) => Promise<SayResult>): Promise<SayResult> {
  const leaves: (() => void)[] = [];
  const listen = (run: Run): void => {
    if (onNotice !== undefined) leaves.push(...NOTICE_TYPES.map((type) => run.on(type, onNotice)));
  };
  try {
    return await turn(listen);
  } finally {
    for (const leave of leaves) leave();
  }
}

async function repliesOf(run: Run, from: number): Promise<SayResult> {
  const replies = new Replies();
  for await (const event of run.since(from)) replies.add(event);
  const { status, questions, error } = await run.result;
  const question = status === "waiting" ? questions.find(({ wait }) => wait === undefined) : undefined;
  return replies.result(status === "moved" ? "open" : status, question, status === "waiting" ? undefined : error);
}

async function started(run: Run, listen: Listen): Promise<Run> {
  listen(run);
  await run.started;
  return run;
}

/** False if somebody else began the run meanwhile, also with the same words. */
async function isBegunBy(run: Run, { id }: Message): Promise<boolean> {
  try {
    await run.started;
    for await (const event of run.since(0)) if (event.type === "message") return event.message.id === id;
    return true;
  } catch (error) {
    if (error instanceof JournalError && error.code === "RUN_IDEA_DIFFERS") return false;
    throw error;
  }
}
