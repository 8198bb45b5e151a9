import { aFunction, aText, iterable, listOf, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type FlowEdge, messageFlow } from "../../inspector/index.ts";
import type { RunProgress } from "../../index.ts";
import type { CellValue } from "../experiment/cell.ts";

/** A value of a round, for the option `collect` of an experiment. Null in rounds that it leaves out. */
export type Reporter = (progress: RunProgress) => CellValue;

export interface ReportPeriod {
  /** A value every so many rounds; null in the others. Default 1. */
  readonly every?: number;
}

export interface ModelReporterOptions extends ReportPeriod {
  readonly value: (progress: RunProgress) => CellValue;
}

export interface AgentReporterOptions<V> extends ReportPeriod {
  readonly agents: Iterable<string>;
  readonly value: (state: { readonly [key: string]: unknown }, agent: string) => V;
  /** One value of them all, such as `gini` or `agreement`. */
  readonly summary: (values: readonly V[]) => CellValue;
}

export interface EdgeReporterOptions extends ReportPeriod {
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

/** Makes a reporter of the whole run. */
export function modelReporter(o: ModelReporterOptions): Reporter {
  checkGivenOptions("modelReporter", o, modelOptions);
  takes("modelReporter", "value", o.value, aFunction);
  return every(o, o.value);
}

/** Makes a reporter of the states of agents. @throws UsageError in a run, `AGENT_UNKNOWN` for a name that no role has */
export function agentReporter<V>(o: AgentReporterOptions<V>): Reporter {
  checkGivenOptions("agentReporter", o, agentOptions);
  const { value, summary } = o;
  takes("agentReporter", "agents", o.agents, iterable("names of roles"));
  takes("agentReporter", "value", value, aFunction);
  takes("agentReporter", "summary", summary, aFunction);
  const agents = [...o.agents];
  takes("agentReporter", "agents", agents, listOf(aText));
  return every(o, (progress) =>
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

/** Makes a reporter of the pairs of roles with messages so far; a broadcast is one edge. It reads all messages at each report. */
export function edgeReporter(o: EdgeReporterOptions): Reporter {
  checkGivenOptions("edgeReporter", o, edgeOptions);
  const { summary } = o;
  takes("edgeReporter", "summary", summary, aFunction);
  return every(o, ({ messages }) => {
    const flow = messageFlow(messages);
    const names = new Map(flow.nodes.map(({ id, kind, name }) => [id, kind === "role" ? name : `<${kind}>`]));
    return summary(flow.edges.map((edge) => ({ ...edge, from: names.get(edge.from) ?? "", to: names.get(edge.to) ?? "" })));
  });
}

function every({ every: period = 1 }: ReportPeriod, report: Reporter): Reporter {
  return (progress) => (progress.rounds % period === 0 ? report(progress) : null);
}
