import { aText, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { CallOptions, ChangeOptions, GoOnOptions, ListOptions, SayOptions, StartOptions, WatchOptions } from "./client.ts";

/*
 * The arguments of a client's methods. What a request holds is checked by the server, which knows its own version of it.
 */

const call: Known<CallOptions> = { signal: kinds.signal };
const change: Known<ChangeOptions> = { ...call, onTeamChange: kinds.oneOf("refuse", "continue") };
const goOn: Known<GoOnOptions> = { ...change, rounds: kinds.count, budget: kinds.count, reuse: kinds.oneOf("all", "none") };
const start: Known<StartOptions> = { ...call, key: kinds.text };
const list: Known<ListOptions> = { ...call, limit: kinds.size, cursor: kinds.text, status: kinds.text };
const say: Known<SayOptions> = { ...goOn, user: kinds.text };
const watch: Known<WatchOptions> = {
  ...call,
  from: kinds.count,
  follow: kinds.boolean,
  onNotice: kinds.function,
  onState: kinds.function,
};

type Check = (door: string, value: unknown) => void;

const options =
  (known: Known<Record<string, unknown>>): Check =>
  (door, value) =>
    checkKnownOptions(door, value, known);
const some =
  (name: string, shape = aText): Check =>
  (door, value) =>
    takes(door, name, value, shape);

const run = some("runId");
const request = some("request", kinds.object);
const maybe: Check = (door, value) => value === undefined || request(door, value);
const words = some("what is sent", kinds.either(aText, kinds.object));
const anything: Check = () => {};

/** The arguments of each method, in order. */
const doors: Readonly<Record<string, readonly Check[]>> = {
  team: [options(call)],
  start: [request, options(start)],
  list: [options(list)],
  read: [run, options(call)],
  events: [run, options(watch)],
  publish: [run, words, options(change)],
  say: [some("conversation"), some("text"), options(say)],
  answer: [run, some("questionId"), anything, options(goOn)],
  hire: [run, words, options(change)],
  retire: [run, some("name"), options(change)],
  pause: [run, options(call)],
  proceed: [run, options(goOn)],
  stop: [run, options(call)],
  resume: [run, maybe, options(call)],
  replay: [run, options(call)],
  fork: [run, maybe, options(start)],
  forget: [request, options(call)],
  export: [run, options(call)],
};

/** Lets each method of a client check its arguments first. @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function withChecks<T extends object>(client: T): T {
  const methods = client as { [name: string]: (...given: unknown[]) => unknown };
  for (const [name, checks] of Object.entries(doors)) {
    const method = methods[name]?.bind(client);
    const value = (...given: unknown[]): unknown => {
      for (const [place, check] of checks.entries()) check(`${name} of a client`, given[place]);
      return method?.(...given);
    };
    Object.defineProperty(client, name, { value, configurable: true, writable: true });
  }
  return client;
}
