import { type Command, Option } from "commander";

/** Options of `troupe serve` as the command line gives them. */
export interface ServeFlags {
  readonly port?: string;
  readonly listen?: string;
  readonly tenants?: string;
  readonly totalBudget?: string;
  readonly hostName?: readonly string[];
  readonly origin?: readonly string[];
  readonly logLevel?: string;
}

const EXAMPLES = `
Examples:
  $ troupe serve
  $ troupe serve --crew research --budget 0.50 --total-budget 20 --port 8080
  $ troupe serve --listen 0.0.0.0 --host-name api.example.com --tenants tenants.json

Environment:
  TROUPE_TOKEN   the token of the one user (default: one that is kept beside the store)

A file of tenants: { "tenants": [{ "name": "acme", "token": { "env": "ACME_TOKEN" }, "budget": 20, "calls": 8 }] }, with the budget in dollars.`;

/** Adds the options of the server. */
export function withServe(command: Command): Command {
  return command
    .optionsGroup("The server:")
    .option("--port <port>", "listen on this port (default 4711); 0: a free one")
    .option("--listen <address>", "the address to listen on (default 127.0.0.1)")
    .option("--tenants <file>", "serve these tenants, each with a token, runs and a budget of its own")
    .option("--total-budget <usd>", "spend at most so many dollars for all runs of the store together, past ones included")
    .addOption(repeated("--host-name <name>", "a name of the server besides those of this machine"))
    .addOption(repeated("--origin <origin>", "a page elsewhere that may ask, such as https://app.example.com"))
    .option("--on-team-change <what>", "refuse or continue a run of another version of its team (default refuse)")
    .option("--log-level <level>", "debug, info, warn or error (default info)")
    .optionsGroup("Options:")
    .addHelpText("after", EXAMPLES);
}

function repeated(flags: string, description: string): Option {
  const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];
  return new Option(flags, `${description}; may come more than once`).argParser<readonly string[] | undefined>(collect);
}
