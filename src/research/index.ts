/* The entry `troupe/research`: a laboratory for the coordination of roles. */

// Statistics.
export { bootstrapInterval } from "./statistics/bootstrap.ts";
export { anova, compareSamples, holm } from "./statistics/groups.ts";
export { linearRegression } from "./statistics/regression.ts";
export { cohensD, compareBySeed, pairedD } from "./statistics/paired.ts";
export { sampleSize, shareInterval, tInterval } from "./statistics/interval.ts";
export { mean, standardError } from "./statistics/sample.ts";

// Plots.
export { plotHtml, plotSvg } from "./plot/plot.ts";

// Topologies.
export { barabasiAlbert, completeTopology, erdosRenyi, gridTopology, layeredTopology } from "./graph/graphs.ts";
export { ringTopology, starTopology, treeTopology, wattsStrogatz } from "./graph/graphs.ts";
export { configurationModel } from "./graph/configuration.ts";
export { randomGeometric, space } from "./graph/space.ts";
export { graphmlText, readGraphml } from "./graph/graphml.ts";
export { alongEdges, hireOn, neighboursTold, rewiring } from "./graph/wiring.ts";
export { neighboursOf, type Topology, topologyOf } from "./graph/topology.ts";
export { algebraicConnectivity, betweenness, modularity, topologyMetrics } from "./graph/topology-metrics.ts";

// Metrics of coordination.
export { agreement, entropy, errorAmplification, gini, overhead, timeToConsensus } from "./metrics/spread.ts";
export { coordinationMetrics, idleShare } from "./metrics/coordination.ts";
export { messageRows } from "./metrics/message-rows.ts";
export { agentReporter, edgeReporter, modelReporter, type Reporter } from "./metrics/reporters.ts";
export { csvTable, jsonLinesTable, parquetTable, type Row } from "./experiment/tables.ts";

// A result of the literature beside what a study found.
export { study, type Study, type StudyFigure } from "./figures/study.ts";

// Experiments.
export { latinHypercube } from "./experiment/cell.ts";
export { sensitivity } from "./experiment/sensitivity.ts";
export { type Experiment, experiment } from "./experiment/experiment.ts";
export { experimentTable, heldSeries } from "./experiment/tables.ts";
export { replayCell } from "./experiment/replay.ts";
export { readExperiment } from "./experiment/sweep-folder.ts";
export { type ExperimentResult, runExperiment } from "./experiment/sweep.ts";
// All schedules of a small team.
export { explore, type ExploreOptions, type ExploreReport, type Finding } from "./explore/explore.ts";
// Failures of coordination in the log of a run.
export type { FailureFinding } from "./detectors/detectors.ts";
export { failuresIn, FailureWatch, watchFailures } from "./detectors/failure-watch.ts";
export { type Verification, verifyExperiment } from "./experiment/verify.ts";

// The turn or the message that decided a run.
export { attribute, type Attribution, type Intervention } from "./attribution/attribute.ts";

// The memory that a population takes.
export { assertPopulationFits, populationNeed } from "./population-need.ts";

// Models without a provider, in the place of live ones.
export { noisyOracle, type Policy, policyModel } from "./policy/policy-model.ts";
export { fitSurrogate, surrogateModel } from "./policy/surrogate.ts";
