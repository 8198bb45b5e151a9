import { defineAction, defineRole, type Journal, memoryJournal, Team } from "../../src/index.ts";
import { createClient, type RunClient } from "../../src/client/index.ts";
import { createServer, type RunServer, type ServerOptions } from "../../src/server/index.ts";

export const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
export const Ask = defineAction({ name: "Ask", run: async (ctx) => `You said ${String(await ctx.human.ask(`What is ${ctx.text}?`))}.` });

/** A team that answers at once. */
export function shouters(journal: Journal = memoryJournal()): Team {
  return new Team({ name: "shouters", roles: [defineRole({ name: "Sam", actions: [Shout] })], journal });
}

/** A team that asks a person. */
export function askers(journal: Journal = memoryJournal()): Team {
  return new Team({ name: "askers", roles: [defineRole({ name: "Ada", actions: [Ask] })], journal });
}

export interface Served {
  readonly server: RunServer;
  readonly client: RunClient;
}

/** A server and a client in one process. */
export function served(options: ServerOptions, token: string | undefined = options.token): Served {
  const server = createServer(options);
  const client = createClient({ url: "http://localhost", fetch: server.fetch, ...(token === undefined ? {} : { token }) });
  return { server, client };
}
