import { aText, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { callOptions, changeOptions, goOnOptions, listOptions, sayOptions, startOptions, watchOptions } from "./call-options.ts";

/*
 * The arguments of a client's methods. What a request holds is checked by the server, which knows its own version of it.
 */

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
  team: [options(callOptions)],
  start: [request, options(startOptions)],
  list: [options(listOptions)],
  read: [run, options(callOptions)],
  events: [run, options(watchOptions)],
  publish: [run, words, options(changeOptions)],
  say: [some("conversation"), some("text"), options(sayOptions)],
  answer: [run, some("questionId"), anything, options(goOnOptions)],
  hire: [run, words, options(changeOptions)],
  retire: [run, some("name"), options(changeOptions)],
  pause: [run, options(callOptions)],
  proceed: [run, options(goOnOptions)],
  stop: [run, options(callOptions)],
  resume: [run, maybe, options(callOptions)],
  replay: [run, options(callOptions)],
  fork: [run, maybe, options(startOptions)],
  forget: [request, options(callOptions)],
  export: [run, options(callOptions)],
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
