import { EXIT_CODES } from "./errors.ts";

export const EXAMPLES = `
Examples:
  $ troupe "Create a 2048 game"
  $ troupe demo todo
  $ troupe run --file idea.md --budget 1.50 --out ./my-project
  $ TROUPE_BASE_URL=http://127.0.0.1:11434/v1 troupe --model qwen3 "A word counter"
  $ troupe init my-team             a project with a team of your own
  $ troupe tell mabc1234 "make the buttons larger"
  $ troupe resume                   after a kill, a budget or a Ctrl-C: nothing is paid twice

Environment:
  OPENAI_API_KEY, TROUPE_API_KEY     the key of the model's provider
  TROUPE_BASE_URL, OPENAI_BASE_URL   an OpenAI-compatible server, such as http://127.0.0.1:11434/v1
  TROUPE_MODEL, TROUPE_DIALECT       as --model, --dialect; packages of providers read their own keys, such as ANTHROPIC_API_KEY
  TROUPE_FIRST_BYTE, TROUPE_SILENCE, TROUPE_CALL_LIMIT
                                     time limits of model calls, as --first-byte, --silence, --call-limit
  TROUPE_BUDGET, TROUPE_ROUNDS, TROUPE_SANDBOX
                                     as --budget, --rounds, --sandbox, for new runs
  TROUPE_MODELS, TROUPE_ROLE_MODELS  prices and limits by model, models by role; as JSON
  TROUPE_API_KEY_NAME                the variable that holds the key
  TROUPE_STORE, TROUPE_MEMORY        the files that keep runs and memories, as --store
  NO_COLOR, FORCE_COLOR, CI          as everywhere
  Below them: ~/.config/troupe/config.yaml; troupe.config.yaml of a folder lowers bounds. See: troupe --init-config, troupe doctor
  Without a key and a base URL the bundled ideas play from a script.

Exit codes:
${EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`).join("\n")}
`;

export const FORK_EXAMPLES = `
Examples:
  $ troupe fork mabc1234 --model gpt-5                 all of it once more with another model
  $ troupe fork mabc1234 --edit 1=other-idea.md        the same run with another idea
  $ troupe fork mabc1234 --at 17 --add wish.md         what one would say after event 17
The numbers of events and messages: troupe runs show <id>, troupe runs events <id>`;

export const COMPLETION_EXAMPLES = `
Examples:
  $ source <(troupe completion bash)        in ~/.bashrc
  $ source <(troupe completion zsh)         in ~/.zshrc
  $ troupe completion fish | source         in ~/.config/fish/config.fish`;

export const SERVE_EXAMPLES = `
Examples:
  $ troupe serve
  $ troupe serve --crew research --budget 0.50 --total-budget 20 --port 8080
  $ troupe serve --listen 0.0.0.0 --host-name api.example.com --tenants tenants.json

Environment:
  TROUPE_TOKEN   the token of the one user (default: one that is kept beside the store)

A file of tenants: { "tenants": [{ "name": "acme", "token": { "env": "ACME_TOKEN" }, "budget": 20, "calls": 8 }] }, with the budget in dollars.`;

export const WORKER_EXAMPLES = `
Examples:
  $ export TROUPE_JOURNAL=postgres://troupe@db.internal/troupe
  $ troupe worker ./teams.js --concurrency 64
  $ troupe submit --team writers "a poem about rain"
  $ troupe ps
  $ troupe logs -f mabc1234

A module of teams exports functions that return a team, and gives it the journal of the worker:
  export const writers = ({ journal }) => new Team({ name: "writers", roles, model, journal });
Each run of a software company has a folder of its own, below --folder:
  export const company = ({ journal, workspaces }) => new Team({ name: "company", model, journal,
    roles: ({ runId }) => softwareCompany({ workspace: fileWorkspace({ root: workspaces.folderOf(runId) }), sandbox }) });

A worker is two processes: one that works, and one that starts it again when it dies. SIGTERM lets it drain: it takes nothing more, waits for
the steps in flight, and gives its runs back. A second signal ends it at once.`;

export const EXPERIMENT_EXAMPLES = `
Examples:
  $ troupe experiment run coins.ts --workers 4
  $ troupe experiment table experiments/coins --by n
  $ troupe experiment plot experiments/coins --x n --y gini
  $ troupe experiment verify coins.ts --runs 10
  $ troupe experiment run coins.ts --part 3/20 && troupe experiment merge all experiments/coins-part-*
  $ troupe experiment replay coins.ts --cell 3 && troupe inspect --store experiments/coins/records/3-0.db

A module exports what experiment({ ... }) of troupe/research returns. A run that crashes, never ends or eats memory fails alone. After a kill
the same command continues; it refuses a module that was changed since.`;

export const RUNS_EXAMPLES = `
Examples:
  $ troupe runs
  $ troupe runs show mabc1234
  $ troupe runs check mabc1234
  $ troupe runs events mabc1234 --type message --from 0 --json
  $ troupe runs flow mabc1234 --format dot | dot -Tsvg > flow.svg
  $ troupe runs export mabc1234 game.ndjson
  $ troupe runs export mabc1234 --html game.html
  $ troupe runs export mabc1234 --otlp http://localhost:4318
  $ troupe runs import game.ndjson --as game
  $ troupe runs settle mabc1234 --cost 0.01
  $ troupe runs rm mabc1234 --yes
  $ troupe runs forget --user ann --yes
  $ troupe runs gc --older-than 30d --yes

An id may be abbreviated to a beginning that no other run has.`;

export const MEMORY_EXAMPLES = `
Examples:
  $ troupe memory
  $ troupe memory search "how we pay for the servers" --role Ann
  $ troupe memory show Ann
  $ troupe memory show Ann m1f3 --json
  $ troupe memory export Ann ann.json
  $ troupe memory import ann.json --as Bob
  $ troupe memory gc --older-than 90d

An id may be abbreviated to a beginning that no other one has. A program keeps memories here with sqliteStore({ path: ".troupe/memory.db" }).`;
