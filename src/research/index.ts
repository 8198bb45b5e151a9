/*
 * The entry `troupe/research`: a laboratory for the coordination of roles.
 */

// Statistics.
export { bootstrapInterval, type BootstrapOptions } from "./statistics/bootstrap.ts";
export { cohensD, pairedD } from "./statistics/effect-size.ts";
export { type Interval, type IntervalOptions, shareInterval, tInterval } from "./statistics/interval.ts";
export { compareBySeed, type PairedComparison, type PairedOptions, type SeededValue } from "./statistics/paired.ts";
export { mean, standardDeviation, standardError } from "./statistics/sample.ts";
export { type PrecisionOptions, sampleSize } from "./statistics/sample-size.ts";

// Plots.
export { plotHtml, plotSvg } from "./plot/plot.ts";
export type {
  BarPlot,
  HeatMapPlot,
  HistogramPlot,
  LinePlot,
  MeanColumns,
  PlotFrame,
  PlotOptions,
  PlotRow,
  PlotScales,
  PointPlot,
} from "./plot/plot-options.ts";

// Topologies.
export {
  barabasiAlbert,
  type BarabasiAlbertOptions,
  erdosRenyi,
  type ErdosRenyiOptions,
  wattsStrogatz,
  type WattsStrogatzOptions,
} from "./graph/random-graphs.ts";
export {
  completeTopology,
  gridTopology,
  type GridOptions,
  layeredTopology,
  ringTopology,
  starTopology,
  treeTopology,
  type TreeOptions,
} from "./graph/shapes.ts";
export { graphmlText, readGraphml } from "./graph/graphml.ts";
export { alongEdges, hireOn, neighboursTold, rewiring, type TopologyNode } from "./graph/wiring.ts";
export { neighboursOf, type Neighbours, type Topology, type TopologyEdge, topologyOf, type TopologyOptions } from "./graph/topology.ts";
export { algebraicConnectivity, type DegreeMetrics, topologyMetrics, type TopologyMetrics } from "./graph/topology-metrics.ts";

// Metrics of coordination.
export { errorAmplification, overhead } from "./metrics/against-one-agent.ts";
export { type ConsensusOptions, timeToConsensus } from "./metrics/consensus.ts";
export { coordinationMetrics, type CoordinationMetrics, type CoordinationOptions } from "./metrics/coordination.ts";
export { idleShare } from "./metrics/idle-share.ts";
export { type MessageRow, type MessageRowOptions, messageRows } from "./metrics/message-rows.ts";
export {
  agentReporter,
  type AgentReporterOptions,
  edgeReporter,
  type EdgeReporterOptions,
  modelReporter,
  type ModelReporterOptions,
  type Reporter,
  type ReportPeriod,
} from "./metrics/reporters.ts";
export type { MessageSource } from "./metrics/sent-messages.ts";
export { agreement, entropy, gini, type Opinion } from "./metrics/spread.ts";
export { csvTable, jsonLinesTable, parquetTable } from "./metrics/tables.ts";

// A result of the literature beside what a study found.
export { figure, type Figure, type FigureOptions, type FigureRelation, figuresText } from "./figures/figure.ts";
export { study, type Study, type StudyFigure, type StudyOptions } from "./figures/study.ts";

// Experiments.
export {
  type CellParams,
  type CellValue,
  latinHypercube,
  type LatinHypercubeOptions,
  type ParamRange,
  type ParamSpace,
  type Seeds,
} from "./experiment/cell.ts";
export { type AnyExperiment, type Experiment, experiment, type ExperimentPlan } from "./experiment/experiment.ts";
export type {
  CellBudget,
  CellIdentity,
  CellOutcome,
  CellSetting,
  ExperimentOptions,
  ExperimentWorld,
  WorldRunOptions,
} from "./experiment/experiment-options.ts";
export { heldSeries } from "./experiment/held-series.ts";
export { type CellReplay, replayCell, type ReplayCellOptions } from "./experiment/replay.ts";
export { type FailedRun, type KeptExperiment, readExperiment } from "./experiment/results.ts";
export type { Row } from "./experiment/row.ts";
export type { ModelSpending, SweepSpending } from "./experiment/spending.ts";
export { type ExperimentResult, runExperiment, type RunExperimentOptions, type SweepProgress } from "./experiment/sweep.ts";
// Failures of coordination in the log of a run.
export { FAILURE_MODES, type FailureFinding, type FailureName } from "./detectors/finding.ts";
export { failuresIn, type FailureOptions, FailureWatch } from "./detectors/failure-watch.ts";
export { type FailureSource, watchFailures } from "./detectors/watch-failures.ts";
export type { ProcessBounds } from "./experiment/sweep-processes.ts";
export { experimentTable, type TableOptions } from "./experiment/table.ts";
export { type Verification, type VerifyDifference, verifyExperiment, type VerifyOptions } from "./experiment/verify.ts";

// Models without a provider, in the place of live ones.
export { policyModel, type Policy, type PolicyModelOptions, type PolicyReply } from "./policy/policy-model.ts";
export { noisyOracle, type OracleOptions } from "./policy/noisy-oracle.ts";
export {
  type ClassOf,
  fitSurrogate,
  type SurrogateAnswer,
  type SurrogateFit,
  surrogateModel,
  type SurrogateOptions,
} from "./policy/surrogate.ts";
