import { aFunction, aText, iterable, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isCount } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type FlowEdge, messageFlow } from "../../inspector/index.ts";
import type { RunProgress } from "../../index.ts";
import type { CellValue } from "../experiment/cell.ts";

/** A value of a round, for the option `collect` of an experiment. Null in rounds that it leaves out. */
export type Reporter = (progress: RunProgress) => CellValue;

/** How often a reporter reports. */
export interface ReportPeriod {
  /** A value every so many rounds; null in the others. Default 1. */
  readonly every?: number;
}

/** Options of a reporter of the whole run. */
export interface ModelReporterOptions extends ReportPeriod {
  readonly value: (progress: RunProgress) => CellValue;
}

/** Options of a reporter of agents. */
export interface AgentReporterOptions<V> extends ReportPeriod {
  /** Names of roles. */
  readonly agents: Iterable<string>;
  /** The value of one agent, from its state and its name. */
  readonly value: (state: { readonly [key: string]: unknown }, agent: string) => V;
  /** One value of them all, such as `gini` or `agreement`. */
  readonly summary: (values: readonly V[]) => CellValue;
}

/** Options of a reporter of edges. */
export interface EdgeReporterOptions extends ReportPeriod {
  /** One value of all pairs with messages so far. */
  readonly summary: (edges: readonly FlowEdge[]) => CellValue;
}

const modelOptions: Known<ModelReporterOptions> = { every: kinds.size, value: kinds.function };
const agentOptions: Known<AgentReporterOptions<unknown>> = {
  every: kinds.size,
  agents: kinds.iterable("names"),
  value: kinds.function,
  summary: kinds.function,
};
const edgeOptions: Known<EdgeReporterOptions> = { every: kinds.size, summary: kinds.function };

/**
 * Makes a reporter of the whole run.
 *
 * @throws UsageError `OPTION_INVALID` for a period that is no whole number of at least 1; `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { modelReporter } from "troupe/research";
 *
 * export const collect = { messages: modelReporter({ every: 10, value: ({ messages }) => messages.length }) };
 */
export function modelReporter(o: ModelReporterOptions): Reporter {
  checkGivenOptions("modelReporter", o, modelOptions);
  const { value } = o;
  takes("modelReporter", "value", value, aFunction);
  return every("modelReporter", o.every, value);
}

/**
 * Makes a reporter of the states of agents: one value of each, and one of them all.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`; in a run `AGENT_UNKNOWN` for a name that no role has
 * @example
 * import { agentReporter, gini } from "troupe/research";
 *
 * const agents = ["Ann", "Ben"];
 * export const collect = { gini: agentReporter({ agents, value: ({ coins }) => Number(coins), summary: gini }) };
 */
export function agentReporter<V>(o: AgentReporterOptions<V>): Reporter {
  checkGivenOptions("agentReporter", o, agentOptions);
  const { value, summary } = o;
  takes("agentReporter", "agents", o.agents, iterable("names of roles"));
  takes("agentReporter", "value", value, aFunction);
  takes("agentReporter", "summary", summary, aFunction);
  const agents = [...o.agents];
  for (const agent of agents) takes("agentReporter", "a name in agents", agent, aText);
  return every("agentReporter", o.every, (progress) =>
    summary(
      agents.map((agent) => {
        const state = progress.state(agent);
        if (state !== undefined) return value(state, agent);
        throw new UsageError(
          "AGENT_UNKNOWN",
          `Expected agentReporter to find a role in the run, got ${valueText(agent)}. Name hired roles.`,
        );
      }),
    ),
  );
}

/**
 * Makes a reporter of the pairs of roles with messages so far. It reads all messages at each report, so give long runs a period. Broadcasts
 * count as one edge to all.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { edgeReporter, gini } from "troupe/research";
 *
 * const load = edgeReporter({ every: 5, summary: (edges) => (edges.length === 0 ? null : gini(edges.map(({ messages }) => messages))) });
 * export const collect = { load };
 */
export function edgeReporter(o: EdgeReporterOptions): Reporter {
  checkGivenOptions("edgeReporter", o, edgeOptions);
  const { summary } = o;
  takes("edgeReporter", "summary", summary, aFunction);
  return every("edgeReporter", o.every, ({ messages }) => {
    const flow = messageFlow(messages);
    const names = new Map(flow.nodes.map(({ id, kind, name }) => [id, kind === "role" ? name : `<${kind}>`]));
    return summary(flow.edges.map((edge) => ({ ...edge, from: names.get(edge.from) ?? "", to: names.get(edge.to) ?? "" })));
  });
}

function every(caller: string, period: unknown = 1, report: Reporter): Reporter {
  if (!isCount(period) || period === 0)
    throw new UsageError(
      "OPTION_INVALID",
      `Expected the option every of ${caller} to be a whole number of at least 1, got ${valueText(period)}.`,
    );
  return (progress) => (progress.rounds % period === 0 ? report(progress) : null);
}
