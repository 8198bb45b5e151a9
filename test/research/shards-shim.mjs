// The package as an example under `shards-preload.mjs` imports it: the first runs of its environments are compared with runs over shards.
import { canonical, Environment as House } from "../../dist/src/index.js";
import { runShards, shardedWorld } from "../../dist/src/shards/index.js";

export * from "../../dist/src/index.js";

const found = globalThis[Symbol.for("shards")];
const SHARDS = [1, 2, 3, 4, 7];
/** Environments of one size that are compared; of many roles one. */
const EACH = 2;
const MANY = 1_000;
/** Environments that are watched: an example may have thousands. */
const WATCHED = 60;
const TYPES = "run.started message act.started step.started step.ended act.ended act.failed round.ended clock.advanced".split(" ");
const compared = new Map();
let watched = 0;

export class Environment extends House {
  #options;
  #events = [];
  #messages = [];
  #isWatched = (watched += 1) <= WATCHED;
  #offs;

  constructor(options = {}) {
    super(options);
    this.#options = options;
    this.#offs = (this.#isWatched ? TYPES : []).map((type) => this.on(type, (event) => this.#events.push(event)));
  }

  publishMessage(message) {
    if (this.#isWatched) this.#messages.push(message);
    return super.publishMessage(message);
  }

  async run(o = {}) {
    if (!this.#isWatched) return super.run(o);
    this.#isWatched = false;
    const roles = this.team.map(([name, role]) => ({ role, name }));
    const messages = [...this.#messages];
    const result = await super.run(o);
    for (const off of this.#offs) off();
    const count = compared.get(roles.length) ?? 0;
    compared.set(roles.length, count + 1);
    if (count >= (roles.length > MANY ? 1 : EACH) || result.status === "failed") return result;
    const { seed: _seed, ...options } = this.#options;
    const world = shardedWorld(() => ({ roles, messages, options: { memory: undefined, ...options } }));
    found.outcomes.push(await this.#outcome(world, { rounds: result.rounds }));
    return result;
  }

  async #outcome(world, { rounds }) {
    const log = canonical(this.#events);
    const states = JSON.stringify(this.roleNames.map((name) => [name, this.getRole(name)?.state]));
    for (const shards of SHARDS) {
      found.world = world;
      try {
        const other = await runShards({ module: "the example", shards, seed: this.seed, rounds, record: true });
        if (other.failure !== undefined) return other.failure.code;
        if (JSON.stringify([...other.states]) !== states) return `another state at ${shards} shards`;
        const lines = [log, canonical(other.events)].map((text) => text.split("\n"));
        const at = lines[0].findIndex((line, place) => line !== lines[1][place]);
        if (at >= 0 || lines[0].length !== lines[1].length)
          return `another log at ${shards} shards, line ${at}: ${lines.map((of) => of[at]).join(" | ")}`;
      } catch (error) {
        return error.code ?? String(error);
      }
    }
    return "equal";
  }
}
