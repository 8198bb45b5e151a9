import { readForm, readYaml } from "../../src/adapters/yaml.ts";
import { defineRole, type MicroUsd, type Reaction, type Role, type RoleOptions, usd, UserRequirement } from "../../src/index.ts";
import { kinds, checkKnownOptions, type Known } from "../../src/ports.ts";
import { checkedDoneTool, manusTools, pythonTool, type SearchProvider, type WebAccess } from "../../src/tools/index.ts";
import type { Sandbox, Workspace } from "../../src/workspace/index.ts";
import { type SharedParts, sharedOf } from "./crew-board.ts";
import { causesOf, CrewSchema, modeOf, processName, watchOf, withSeat, withValues, worksIn } from "./crew-names.ts";
import { CREW_TOOLS, crewFileForm, type CrewRole, type CrewSpec } from "./crew-spec.ts";
import { declaredAction, SaidSchema } from "./declared-action.ts";
import { meetingReactions } from "./meetings.ts";
import { processReactions, withShippedProcess } from "./process.ts";
import { shippedRoles } from "./shipped-crews.ts";

/** The ports of a crew: where it works, and what its tools may reach. */
export interface CrewPorts {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Default: DuckDuckGo. An empty list: no search. */
  readonly search?: readonly SearchProvider[];
  /** False: no requests. Default: public addresses. */
  readonly web?: WebAccess | false;
}

const crewPorts: Known<CrewPorts> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  search: kinds.list(kinds.searchProvider),
  web: kinds.either(kinds.object, kinds.oneOf(false)),
};

/** `new Team({ name, roles, reserve, budget })` */
export interface Crew {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly reserve: readonly Role[];
  readonly budget: MicroUsd | undefined;
  readonly rounds: number | undefined;
  readonly model: string | undefined;
  /** By the names of roles: make them models, and give them to the team as `models`. */
  readonly models: Readonly<Record<string, string>>;
  readonly use?: string | undefined;
  /** Undefined: those that no role hears. */
  readonly output: readonly string[] | undefined;
}

/**
 * Reads a crew file, in YAML or JSON. The text is not trusted: see `readYaml`.
 *
 * @param name of the file, for errors
 * @throws UsageError `CREW_INVALID` with line and column of each fault, what was expected, what came, and the nearest known word; the
 * faults are in `data.faults` too
 * @example
 * import { readCrew } from "troupe/roles";
 *
 * const crew = await readCrew("roles: [{ name: Ada, actions: [{ name: Greet, prompt: 'Greet {{text}}.' }] }]");
 * console.log(crew.roles?.[0]?.name); // Ada
 */
export async function readCrew(text: string, name: string = "the crew"): Promise<CrewSpec> {
  const form = { name, code: "CREW_INVALID" } as const;
  const given = await readYaml(text, { schema: crewFileForm, ...form });
  if (typeof given.process !== "string") return readYaml(text, { schema: CrewSchema, ...form });
  return readForm(await withShippedProcess(given, name), { schema: CrewSchema, ...form });
}

/**
 * Makes a crew of its file. Nothing runs yet.
 *
 * @throws UsageError `CREW_INVALID`, also for an unknown shipped crew or option
 * @example
 * import { type ChatModel, Team } from "troupe";
 * import { openCrew, readCrew } from "troupe/roles";
 * import { memoryWorkspace, refusedSandbox } from "troupe/workspace";
 *
 * export async function greet(file: string, model: ChatModel): Promise<string | undefined> {
 *   const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs here", "Choose a sandbox.") };
 *   const { name, roles } = openCrew(await readCrew(file), ports);
 *   return (await new Team({ name, roles, model }).run("Ada").result).output?.content;
 * }
 */
export function openCrew(spec: CrewSpec, ports: CrewPorts): Crew {
  checkKnownOptions("openCrew", ports, crewPorts);
  const checked = readForm(spec, { schema: CrewSchema, name: "the crew", code: "CREW_INVALID" });
  const { name, use, with: options = {}, roles: own = [], reserve = [], models = {}, budget, rounds, model, output } = checked;
  const shipped = use === undefined ? undefined : shippedRoles(use, options, ports);
  const shared = sharedOf(checked, ports);
  const [meetings, work] = [meetingReactions(checked), processReactions(checked, shared.board)];
  const made = (role: CrewRole): Role =>
    roleOf(withSeat(role, checked), checked, { shared, meetings: meetings(role.name), work: work(role.name) });
  const roles = [...(shipped?.roles ?? []), ...own.map(made)];
  const byRole = [...own, ...reserve].flatMap((role) => (role.model === undefined ? [] : [[role.name, role.model] as const]));
  return {
    name: name ?? shipped?.name ?? "crew",
    roles,
    reserve: reserve.map(made),
    budget: budget === undefined ? undefined : usd(budget),
    rounds,
    model,
    models: { ...Object.fromEntries(byRole), ...models },
    use,
    output: output ?? (checked.process === undefined ? undefined : [processName(checked)]),
  };
}

interface RoleParts {
  readonly shared: SharedParts;
  readonly meetings: readonly Reaction[];
  readonly work: readonly Reaction[];
}

function roleOf(role: CrewRole, crew: CrewSpec, { shared, meetings, work }: RoleParts): Role {
  const { name, profile, goal, constraints, description, human, steps, timeout, instructions } = role;
  const milliseconds = timeout === undefined ? undefined : timeout * 1_000;
  const optional = withValues({ profile, goal, constraints, description, human, maxReactLoop: steps, timeout: milliseconds });
  const reactMode = modeOf(role);
  const seats = [...meetings, ...work];
  const called = [
    ...seats.flatMap(({ on }) => on as string | readonly string[]),
    ...(crew.process?.lead === name ? [UserRequirement.name] : []),
  ];
  const isAgent = reactMode === "agent";
  const isOnlyThere = ((seats.length > 0 && !isAgent) || worksIn(crew.process, name)) && (role.actions ?? []).length === 0;
  const watch = [...new Set([...(isOnlyThere ? (role.watch ?? []) : watchOf(role, Object.keys(shared.views))), ...called])];
  const base = { name, ...optional, watch, reactMode, state: SaidSchema };
  // An agent gives its work in the process one form.
  const forms = work.map(({ do: action }) => action);
  if (isAgent)
    return defineRole({ ...base, ...agentParts(role, shared), ...(forms.length === 0 ? {} : { actions: forms }), reactions: meetings });
  const declared = (role.actions ?? []).map((action) => ({ action, made: declaredAction(action, instructions, shared.views) }));
  if (reactMode !== "by_cause") return defineRole({ ...base, actions: declared.map(({ made }) => made) });
  const reactions = declared.map(({ action, made }) => ({ on: causesOf(action, role), needs: action.needs ?? [], do: made }));
  return defineRole({ ...base, reactions: [...reactions, ...seats] });
}

function agentParts(role: CrewRole, shared: SharedParts): Pick<RoleOptions, "tools" | "agent" | "actions"> {
  const { actions = [], tools: named = [], allow = [], checks, instructions } = role;
  const place = shared.placeOf(role);
  const { fork, ...ports } = place;
  const { workspace, sandbox } = ports;
  const known = [...manusTools(ports), pythonTool({ workspace, sandbox })];
  const tools = CREW_TOOLS.filter((name) => named.includes(name)).flatMap((name) => known.filter((tool) => tool.name === name));
  const done = checks === undefined ? [] : [checkedDoneTool({ workspace, sandbox, checks, ...withValues({ fork }) })];
  const permissions = { rules: allow.map((tool) => ({ tool, decide: "allow" as const })) };
  const guarded = checks === undefined ? {} : { toolChoice: "required" as const, terminate: false };
  const agent = { permissions, ...guarded, ...withValues({ systemPrompt: instructions }) };
  return { tools: [...tools, ...shared.tools(place), ...done], agent, actions: actions.map((action) => declaredAction(action, undefined)) };
}
