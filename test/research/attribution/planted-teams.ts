import { z } from "zod";
import { createMessage, defineRole, memoryJournal, type Message, type Role, type RunResult, Team } from "../../../src/index.ts";
import { randomStream } from "../../../src/kernel/random.ts";
import { policyModel } from "../../../src/research/policy/policy-model.ts";

/** A scripted team that fails on its recorded run because of one step. */
export interface PlantedTeam {
  readonly name: string;
  /** The step: the activation of a role, as "Ada#1". */
  readonly cause: string;
  readonly begin: Message;
  readonly roles: readonly Role[];
  /** What steps say wrongly on the recorded run, by step. */
  readonly marks: Readonly<Record<string, string>>;
  team(sample: string): Team;
  score(result: RunResult): boolean;
}

export interface Script {
  readonly name: string;
  readonly cause: string;
  /** The word that the cause adds on the recorded run. Default "bad". */
  readonly harm?: string;
  /** Steps that err on the recorded run, without harm. */
  readonly typos?: readonly string[];
  /** The share of repetitions of the cause that err again, and of those of other steps that do harm. */
  readonly again?: number;
  readonly noise?: number;
  /** The error of a step that is usual: its word, and the share of answers that have it. */
  readonly usual?: Readonly<Record<string, readonly [string, number]>>;
  readonly roles: readonly Role[];
  readonly beginTo: readonly string[];
  /** Default: no message to the outside says something bad. */
  readonly isRight?: (last: string) => boolean;
}

type Heard = readonly string[];
/** What a speaker says after it heard something: contents with their recipients; "Out" is the outside. */
type Says = (answer: string, heard: Heard, turn: number) => readonly (readonly [to: string | readonly string[], content: string])[];

/** A role that asks its model once it has heard `needs` messages. Its prompt names the step. */
export function speaker(name: string, says: Says, o: { readonly needs?: number; readonly keeps?: boolean } = {}): Role {
  return defineRole({
    name,
    watch: [],
    state: z.object({ acts: z.number().default(0), turns: z.number().default(0), heard: z.array(z.string()).default([]) }),
    react: async (rc) => {
      const heard = [...rc.state.heard, ...rc.news.map(({ content }) => content)];
      const act = rc.state.acts;
      rc.state.acts += 1;
      rc.state.heard = heard;
      if (heard.length < (o.needs ?? 1) * (o.keeps === true ? rc.state.turns + 1 : 1)) return undefined;
      const answer = await rc.ask(`${name}#${act} hears: ${heard.join(" | ")}`);
      const said = says(answer, heard, rc.state.turns);
      rc.state.turns += 1;
      if (o.keeps !== true) rc.state.heard = [];
      return said.map(([to, content]) => rc.message(content, { sendTo: to }));
    },
  });
}

/** A role without a model. */
export const clerk = (name: string, says: (heard: Heard, turn: number) => ReturnType<Says>, needs = 1): Role =>
  defineRole({
    name,
    watch: [],
    state: z.object({ turns: z.number().default(0), heard: z.array(z.string()).default([]) }),
    react: (rc) => {
      const heard = [...rc.state.heard, ...rc.news.map(({ content }) => content)];
      rc.state.heard = heard;
      if (heard.length < needs) return undefined;
      const said = says(heard, rc.state.turns);
      rc.state.turns += 1;
      return said.map(([to, content]) => rc.message(content, { sendTo: to }));
    },
  });

/** The words of an answer, with the harm of what was heard. */
export const pass = (answer: string, heard: Heard): string =>
  heard.some((one) => one.includes("bad")) && !answer.includes("bad") ? `${answer} bad` : answer;

export function plantedTeam({
  name,
  cause,
  harm = "bad",
  typos = [],
  again = 0,
  noise = 0,
  usual = {},
  roles,
  beginTo,
  isRight,
}: Script): PlantedTeam {
  const journal = memoryJournal();
  const marks = { ...Object.fromEntries(typos.map((act) => [act, "typo"])), [cause]: harm };
  const model = (sample: string) =>
    policyModel({
      seed: sample,
      answer({ messages }, random) {
        const act = String(messages.at(-1)?.content).split(" ")[0] ?? "";
        const style = `style${Math.floor(random() * 3)}`;
        const [word, share] = usual[act] ?? ["bad", noise];
        if (act === cause) return sample === "recorded" || random() < again ? `${style} ${harm}` : style;
        if (sample === "recorded")
          return [style, marks[act] ?? "", usual[act] === undefined ? "" : word].filter((one) => one !== "").join(" ");
        return random() < share ? `${style} ${word}` : style;
      },
    });
  return {
    ...{ name, cause, roles, marks },
    begin: createMessage("begin", { sendTo: beginTo }),
    team: (sample) => new Team({ roles, journal, model: model(sample), seed: 1 }),
    score({ messages }) {
      const out = messages.filter(({ sendTo }) => [...sendTo].includes("Out")).map(({ content }) => content);
      return out.length > 0 && (isRight ?? ((last) => !last.includes("bad")))(out.join(" "));
    },
  };
}

/** Draws of one team. */
export function drawsOf(name: string) {
  const random = randomStream(name, "planted team");
  return { below: (n: number): number => Math.floor(random() * n), chance: (): number => random() };
}
